// Paths that lead nowhere, or not to a function of `fuse!`: rustc says so, at the path.
use fuse_gpu::fuse;

mod activations {
    use fuse_gpu::fuse;

    fuse! {
        pub fn wave(x: f32[N]) -> f32[N] {
            x * tanh(x)
        }

        fn hidden(x: f32[N]) -> f32[N] {
            x * 2.0
        }
    }

    pub fn plain() {}
}

mod misspelled {
    use fuse_gpu::fuse;

    fuse! {
        use crate::activations::waev;

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            waev(x + b)
        }
    }
}

mod no_module {
    use fuse_gpu::fuse;

    fuse! {
        use crate::activation::wave;

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            wave(x + b)
        }
    }
}

mod private {
    use fuse_gpu::fuse;

    fuse! {
        use crate::activations::hidden;

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            hidden(x + b)
        }
    }
}

fn main() {
    let x = 1;
    let _ = fuse!({ use crate::activations::waev; waev(x) });
}
