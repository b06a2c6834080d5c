// Imports that no function of the block calls.
#![deny(unused_imports)]

use fuse_gpu::fuse;

mod activations {
    use fuse_gpu::fuse;

    fuse! {
        pub fn wave(x: f32[N]) -> f32[N] {
            x * tanh(x)
        }

        pub fn twice(x: f32[N]) -> f32[N] {
            x * 2.0
        }
    }
}

fuse! {
    use crate::activations::{twice, wave as unused};

    pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
        twice(x + b)
    }
}

mod alone {
    use fuse_gpu::fuse;

    fuse! {
        use crate::activations::wave;

        pub fn layer(wave: f32[N], b: f32[N]) -> f32[N] {
            wave + b
        }
    }
}

fn main() {
    _ = (layer, alone::layer);
}
