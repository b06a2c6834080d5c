// Each function calls the one before it twice.
use fuse_gpu::fuse;

fuse! {
    fn f0(x: f32[N]) -> f32[N] {
        exp(exp(x))
    }

    fn f1(x: f32[N]) -> f32[N] {
        f0(f0(x))
    }

    fn f2(x: f32[N]) -> f32[N] {
        f1(f1(x))
    }

    fn f3(x: f32[N]) -> f32[N] {
        f2(f2(x))
    }

    fn f4(x: f32[N]) -> f32[N] {
        f3(f3(x))
    }

    fn f5(x: f32[N]) -> f32[N] {
        f4(f4(x))
    }

    fn f6(x: f32[N]) -> f32[N] {
        f5(f5(x))
    }

    fn f7(x: f32[N]) -> f32[N] {
        f6(f6(x))
    }

    fn f8(x: f32[N]) -> f32[N] {
        f7(f7(x))
    }

    fn f9(x: f32[N]) -> f32[N] {
        f8(f8(x))
    }

    fn f10(x: f32[N]) -> f32[N] {
        f9(f9(x))
    }

    fn f11(x: f32[N]) -> f32[N] {
        f10(f10(x))
    }

    fn f12(x: f32[N]) -> f32[N] {
        f11(f11(x))
    }

    fn f13(x: f32[N]) -> f32[N] {
        f12(f12(x))
    }
}

fn main() {}
