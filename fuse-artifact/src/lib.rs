//! The contract between the `fuse!` compiler and the runtime.
//!
//! A [`Function`] is everything to launch a compiled `fuse!` function: bindings of shapes to dimensions, buffers, and
//! validated WGSL variants with their uniform words. It is plain data without dependencies: the macro writes it as a
//! `static`, tests build it at run time, and neither side links the other. Not here: compilation (`fuse-compiler`) and
//! launches (`fuse-runtime`).
//!
//! [`operations`] has the signatures of the language's operations, shared by the compiler and lazy tensors.

pub mod constants;
mod dtype;
mod function;
mod kernel;
pub mod operations;
mod packing;
mod plan;
pub mod schedule;
mod size;
mod webnn;
#[doc(hidden)]
pub mod wgsl;

use std::borrow::Cow;

pub use dtype::{DType, DTypes};
pub use function::{Check, Function, Param, ParamKind, QuantizedSpec, Relation, Symbol, SymbolSource, TensorSpec};
pub use kernel::{
    Access, Binding, COOP_MATRIX_SUBGROUP, Domain, DomainKind, Features, Grid, Kernel, Pass, Require, Scratch, Slot,
    Space, UNIFORM_BLOCK, UNIFORM_WORKGROUPS, Uniform, Variant, Work,
};
pub use packing::Packing;
pub use plan::{Plan, PlanGroup, Refusal};
pub use schedule::Schedule;
pub use size::{Size, SymbolId, Term};
pub use webnn::{MlGraph, MlOp, MlOperand, MlOption};
pub use wgsl::{MadeTexts, SharedLines, SharedTexts, Wgsl};

/// A list: borrowed in the macro's `static`s, owned at run time.
pub type List<T> = Cow<'static, [T]>;

/// A string: borrowed in the macro's `static`s, owned at run time.
pub type Text = Cow<'static, str>;
