// What is wrong with a definition is reported once, at the definition, however many blocks import it.
use fuse_gpu::fuse;

mod activations {
    use fuse_gpu::fuse;

    fuse! {
        pub fn wave(x: f32[M, N]) -> f32[M, N] {
            x * tahn(x)
        }

        pub fn caller(x: f32[M, N]) -> f32[M, N] {
            wave(x) + 1.0
        }
    }
}

fuse! {
    use crate::activations::{caller, wave};

    pub fn layer(x: f32[M, N]) -> f32[M, N] {
        wave(x)
    }

    pub fn another(x: f32[M, N]) -> f32[M, N] {
        caller(layer(x))
    }
}

mod further {
    use fuse_gpu::fuse;

    fuse! {
        use crate::another;

        pub fn layer(x: f32[M, N]) -> f32[M, N] {
            another(x) * 2.0
        }
    }
}

fn main() {
    _ = (layer, another, further::layer);
}
