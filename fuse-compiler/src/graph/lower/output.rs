//! Results of lowering and inference: graphs by dtypes; classes and ranks of an expression's operands.

use fuse_artifact::DType;

use crate::{grad::pullback::Pullback, graph::Graph};

/// Called function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// Index into [`Items::functions`](crate::front::Items::functions).
    Own(usize),
    /// Index into [`Items::imported`](crate::front::Items::imported).
    Imported(usize),
}

/// Graph of a generic function or expression.
pub struct Instance {
    /// Dtype of each generic parameter or class.
    pub dtypes: Vec<DType>,
    /// Graph.
    pub graph: Graph,
    /// Derivatives of a `#[differentiable]` function.
    pub derivatives: Option<Derivatives>,
}

/// Graphs that `#[differentiable]` adds.
pub struct Derivatives {
    /// Gradients of cotangents.
    pub vjp: Graph,
    /// Value and gradients, if the only result is one float.
    pub value_and_grad: Option<Graph>,
    /// Forward graph with residuals, and backward graph.
    pub pullback: Pullback,
}

impl Derivatives {
    /// All graphs.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        let Self { vjp, value_and_grad, pullback: Pullback { forward, backward, kept: _ } } = self;
        [Some(vjp), value_and_grad.as_ref(), Some(forward), Some(backward)].into_iter().flatten()
    }
}

/// Dtype of a variable or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionDType {
    /// Fixed, for example `bool` for a condition.
    Known(DType),
    /// Index into [`Expression::classes`](crate::front::Expression::classes); the caller's types choose.
    Class(usize),
}

/// Dtypes that operations allow for a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DTypeClass {
    /// `f32` or `f16`.
    Float,
    /// `i32` or `u32`.
    Integer,
    /// `f32`, `f16` or `i32`.
    Signed,
    /// `f32`, `f16`, `i32` or `u32`.
    Number,
    /// `f32`, `i32` or `u32`: with an integer that `f16` cannot hold.
    Wide,
    /// `f32` or `i32`: with such a negative integer.
    SignedWide,
    /// `f32` or `u32`: with one that `i32` cannot hold either.
    UnsignedWide,
    /// Any dtype.
    Any,
}

/// Rank in terms of the variables' ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankExpr {
    /// Fixed rank (0 for literals; the list's length for `reshape` and `permute`).
    Known(usize),
    /// Index into [`Expression::variables`](crate::front::Expression::variables).
    Of(usize),
    /// Larger of two ranks (NumPy broadcasting).
    Broadcast(Box<RankExpr>, Box<RankExpr>),
    /// Matrix product: both at least 2, the larger of the two.
    Matmul(Box<RankExpr>, Box<RankExpr>),
    /// Rank of at least this (`transpose`, negative axes).
    AtLeast(usize, Box<RankExpr>),
    /// Rank that must be this (`permute`, vectors).
    Exactly(usize, Box<RankExpr>),
    /// Equal ranks (`concat`).
    Same(Box<RankExpr>, Box<RankExpr>),
    /// One more, at most 6 (`unsqueeze`).
    Plus1(Box<RankExpr>),
    /// One less, at least 0 (`squeeze`, reductions).
    Minus1(Box<RankExpr>),
}
