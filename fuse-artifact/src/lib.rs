//! The contract between the `fuse!` compiler and the runtime.
//!
//! A [`Function`] is everything the runtime needs to launch one compiled `fuse!` function: how tensor
//! shapes bind to named dimensions, which buffers the launch needs, and for each kernel its validated
//! WGSL variants with the words of their uniform block. It is plain data without dependencies, so that
//! the macro can write it as a `static`, tests can build it at run time, and neither side links the other.
//!
//! Not here: how an artifact is made (`fuse-compiler`), and how it is launched (`fuse-runtime`).

mod dtype;
mod function;
mod kernel;
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
    Access, Binding, CHAIN, CHAIN_END, COOP_MATRIX_SUBGROUP, Domain, DomainKind, EXACT_MATH, FAST_MATH, Features, Grid,
    Kernel, NARROW_SCALES, NARROW_SCALES_END, Pass, Require, Scratch, Slot, Space, UNIFORM_BLOCK, UNIFORM_WORKGROUPS,
    UNROLL, Uniform, Variant, WIDE_SCALES_END, Work,
};
pub use packing::Packing;
pub use plan::{Plan, PlanGroup, Refusal};
pub use schedule::Schedule;
pub use size::{Size, SymbolId, Term};
pub use webnn::{MlGraph, MlOp, MlOperand, MlOption};
pub use wgsl::{MadeTexts, SharedLines, SharedTexts, Wgsl};

/// A list that is borrowed in a `static` made by the macro and owned when built at run time.
pub type List<T> = Cow<'static, [T]>;

/// A text that is borrowed in a `static` made by the macro and owned when built at run time.
pub type Text = Cow<'static, str>;
