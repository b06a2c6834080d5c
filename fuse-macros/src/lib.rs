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
/// # Functions of other blocks
///
/// Functions of a block call each other, and calls are inlined. A `use` at the head of a block, or of an expression in braces,
/// does the same with functions of other blocks, modules and crates:
///
/// ```text
/// mod activations {
///     fuse! { pub fn swish2(x: f32[M, N]) -> f32[M, N] { x * sigmoid(2.0 * x) } }
/// }
///
/// fuse! {
///     use crate::activations::swish2;
///     use other_crate::{gelu2, glu as my_glu};
///
///     pub fn layer(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { swish2(matmul(x, w)) }   // one dispatch
/// }
///
/// let y = fuse!({ use activations::swish2; swish2(matmul(x, w)) })?;
/// ```
///
/// Paths are those of Rust, privacy and re-exports included; imports are by name, without `*`. They are for the block
/// only: to pass a function on, write `pub use` outside of `fuse!`. In an expression, the arguments of such a call must
/// have the declared ranks, which a launch checks.
///
/// Beside each function stands a macro of the same name, through which other blocks find its definition. A function named
/// like a macro of Rust, for example `column`, hides that macro in its module.
///
/// # Building
///
/// Everything is checked while the crate builds; mistakes are compile errors at the expression that holds them.
/// Where the environment variable `FUSE_DUMP_DIR` is set while building, the graph, the fusion groups and the WGSL of
/// every function are written to that folder.
#[proc_macro]
pub fn fuse(tokens: TokenStream) -> TokenStream {
    expand::expand(tokens.into(), &context::current()).into()
}
