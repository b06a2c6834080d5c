//! The `fuse!` macro: tensor expressions compiled to validated, fused WGSL while a crate builds.
//!
//! This crate only connects rustc with `fuse-compiler`: tokens go in, and wrappers around compiled artifacts, or
//! compile errors, come out. Everything but this file works on `proc_macro2` tokens and so outside rustc, too.

mod context;
mod expand;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Compiles tensor mathematics to GPU kernels.
///
/// With functions, `fuse! { pub fn f(x: f32[M, K]) -> f32[M, K] { relu(x) } }` makes a Rust function `f` that takes
/// and returns tensors, and a module `f` with its kernels (`f::KERNELS`), its plan (`f::PLAN`) and
/// `f::launch_into`. With an expression, `fuse!(relu(x + b))` launches on the variables in scope and is a `Result`.
///
/// Everything is checked while the crate builds; mistakes are compile errors at the expression that holds them.
/// Where the environment variable `FUSE_DUMP_DIR` is set while building, the graph, the fusion groups and the WGSL of
/// every function are written to that folder.
#[proc_macro]
pub fn fuse(tokens: TokenStream) -> TokenStream {
    expand::expand(tokens.into(), &context::current()).into()
}
