#![doc = include_str!("../README.md")]

// `fuse!` names this crate by its path, also within this crate and its doctests.
extern crate self as fuse_gpu;

#[cfg(feature = "kernels")]
#[doc(inline)]
pub use fuse_kernels as kernels;
#[doc(inline)]
pub use fuse_macros::fuse;
#[doc(inline)]
pub use fuse_runtime::*;
