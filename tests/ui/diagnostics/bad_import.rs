// Imports that do not name functions.
use fuse_gpu::fuse;

mod activations {
    use fuse_gpu::fuse;

    fuse! {
        pub fn wave(x: f32[N]) -> f32[N] {
            x * tanh(x)
        }
    }
}

mod glob {
    use fuse_gpu::fuse;

    fuse! {
        use crate::activations::*;

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            wave(x + b)
        }
    }
}

mod unnamed {
    use fuse_gpu::fuse;

    fuse! {
        use crate::activations::wave as _;

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            x + b
        }
    }
}

mod public {
    use fuse_gpu::fuse;

    fuse! {
        pub use crate::activations::wave;

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            wave(x + b)
        }
    }
}

mod attribute {
    use fuse_gpu::fuse;

    fuse! {
        #[cfg(unix)]
        use crate::activations::wave;

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            wave(x + b)
        }
    }
}

mod syntax {
    use fuse_gpu::fuse;

    fuse! {
        use crate::activations::wave

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            wave(x + b)
        }
    }
}

mod below {
    use fuse_gpu::fuse;

    fuse! {
        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            x + b
        }

        use crate::activations::wave;
    }
}

fn main() {
    _ = (glob::layer, unnamed::layer, public::layer, attribute::layer, below::layer);
    let x = 1;
    let _ = fuse!({ use crate::activations::*; wave(x) });
    let _ = fuse!(use crate::activations::wave; wave(x));
}
