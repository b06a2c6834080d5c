// Imports with the name of something else.
use fuse_gpu::fuse;

mod activations {
    use fuse_gpu::fuse;

    fuse! {
        pub fn wave(x: f32[N]) -> f32[N] {
            x * tanh(x)
        }
    }
}

fuse! {
    use crate::activations::wave;

    pub fn wave(x: f32[N]) -> f32[N] {
        x * 2.0
    }

    pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
        wave(x + b)
    }
}

mod operation {
    use fuse_gpu::fuse;

    fuse! {
        use crate::activations::wave as relu;

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            relu(x + b)
        }
    }
}

mod twice {
    use fuse_gpu::fuse;

    fuse! {
        use crate::{activations::wave, wave};

        pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
            wave(x + b)
        }
    }
}

fn main() {
    _ = (wave, layer, operation::layer, twice::layer);
}
