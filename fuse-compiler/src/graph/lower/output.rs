//! Results of the lowering and of inference: graphs by dtypes, and the classes and ranks of an expression's operands.

use fuse_artifact::DType;

use crate::{grad::pullback::Pullback, graph::Graph};

/// A function that another one calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// One of the block: an index into [`Items::functions`](crate::front::Items::functions).
    Own(usize),
    /// One of another block: an index into [`Items::imported`](crate::front::Items::imported).
    Imported(usize),
}

/// One graph of a generic function or expression.
pub struct Instance {
    /// The dtype of each generic parameter or dtype class, in order.
    pub dtypes: Vec<DType>,
    /// The graph.
    pub graph: Graph,
    /// Derivative graphs, if the function has `#[differentiable]`.
    pub derivatives: Option<Derivatives>,
}

/// The graphs that `#[differentiable]` adds to a function's.
pub struct Derivatives {
    /// Gradients of cotangents.
    pub vjp: Graph,
    /// The value and its gradients, where the function's only result is one float.
    pub value_and_grad: Option<Graph>,
    /// The function with what is kept, and gradients of cotangents and what was kept.
    pub pullback: Pullback,
}

impl Derivatives {
    /// All of them.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        let Self { vjp, value_and_grad, pullback: Pullback { forward, backward, kept: _ } } = self;
        [Some(vjp), value_and_grad.as_ref(), Some(forward), Some(backward)].into_iter().flatten()
    }
}

/// The dtype of a variable or result of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionDType {
    /// Fixed by the expression, for example `bool` for a condition.
    Known(DType),
    /// That of a class (index into [`Expression::classes`](crate::front::Expression::classes)), chosen by the caller's types.
    Class(usize),
}

/// Dtypes that the operations allow for a class of variables.
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
    /// `f32`, `i32` or `u32`: an integer meets it that `f16` does not hold.
    Wide,
    /// `f32` or `i32`: such a negative integer.
    SignedWide,
    /// `f32` or `u32`: one that `i32` does not hold either.
    UnsignedWide,
    /// Any dtype.
    Any,
}

/// A rank in terms of the ranks of an expression's variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankExpr {
    /// A rank fixed by the expression (0 for literals; the length of a `reshape`'s or `permute`'s list).
    Known(usize),
    /// The rank of a variable (index into [`Expression::variables`](crate::front::Expression::variables)).
    Of(usize),
    /// The larger of two ranks (NumPy broadcasting).
    Broadcast(Box<RankExpr>, Box<RankExpr>),
    /// The rank of a matrix product: both at least 2, the larger of the two.
    Matmul(Box<RankExpr>, Box<RankExpr>),
    /// The rank, which must be at least this (`transpose`, negative axes).
    AtLeast(usize, Box<RankExpr>),
    /// The rank, which must be this (`permute`, vectors).
    Exactly(usize, Box<RankExpr>),
    /// Two ranks that must be equal (`concat`).
    Same(Box<RankExpr>, Box<RankExpr>),
    /// One more, at most 6 (`unsqueeze`).
    Plus1(Box<RankExpr>),
    /// One less, at least 0 (`squeeze`, reductions).
    Minus1(Box<RankExpr>),
}
