// A function of a crate that was built with a version of `fuse!` that writes definitions in another way.
use fuse_gpu::fuse;

mod activations {
    macro_rules! from_the_future {
        (@fuse [$($callback:tt)*] $($state:tt)*) => {
            $($callback)*! { @fuse { 99 something else } $($state)* }
        };
    }
    pub(crate) mod wave {
        pub(crate) use from_the_future as __fuse;
    }
}

fuse! {
    use crate::activations::wave;

    pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
        wave(x + b)
    }
}

fn main() {
    _ = layer;
}
