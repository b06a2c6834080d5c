// Calls of imported functions with wrong arguments: the error is at the call, a note at the definition, also of another
// crate.
use fuse_gpu::fuse;

mod activations {
    use fuse_gpu::fuse;

    fuse! {
        pub fn scaled(x: f32[M, N], scale: f32) -> f32[M, N] {
            x * scale
        }
    }
}

fuse! {
    use crate::activations::scaled;
    use fuse_test_patterns::gate;

    pub fn too_few(x: f32[M, N]) -> f32[M, N] {
        scaled(x)
    }

    pub fn rank(x: f32[N]) -> f32[N] {
        scaled(x, 2.0)
    }

    pub fn dtype(x: f32[M, N], i: i32[M, N]) -> f32[M, N] {
        gate(x, i)
    }

    pub fn shape(x: f32[M, N], g: f32[M, 4]) -> f32[M, N] {
        gate(x, g)
    }

    pub fn misspelled(x: f32[M, N], g: f32[M, N]) -> f32[M, N] {
        gaet(x, g)
    }
}

fn main() {
    _ = (too_few, rank, dtype, shape, misspelled);
    let (x, y) = (1, 2);
    let _ = fuse!({ use crate::activations::scaled; scaled(x) + y });
}
