//! Functions that the tests of `fuse-gpu` import from another crate, which depends on [`fuse_runtime`] and
//! [`fuse_macros`] only.

/// Activations.
pub mod activations {
    use fuse_macros::fuse;

    fuse! {
        /// x·sigmoid(1.5·x), through a helper of its own.
        pub fn swish_fast<T: Float>(x: T[M, N]) -> T[M, N] {
            x * helper(x)
        }

        /// sigmoid(1.5·x); other modules have a `helper`, too.
        fn helper<T: Float>(x: T[M, N]) -> T[M, N] {
            sigmoid(x * 1.5)
        }
    }
}

/// Gates, made of activations.
pub mod gates {
    use fuse_macros::fuse;

    fuse! {
        use super::activations::swish_fast;

        /// swish_fast(x)·g − helper(x): calls an import and a helper of its own.
        pub fn gate(x: f32[M, N], g: f32[M, N]) -> f32[M, N] {
            swish_fast(x) * g - helper(x)
        }

        fn helper(x: f32[M, N]) -> f32[M, N] {
            x / 4.0
        }

        /// The halves of a sum and a difference.
        pub fn both<T: Float>(a: T[N], b: T[N]) -> (T[N], T[N]) {
            ((a + b) / 2.0, (a - b) / 2.0)
        }
    }
}

/// The functions, under the name that users see.
pub use gates::gate;
