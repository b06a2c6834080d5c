//! The typed graph: what a function computes, free of syntax and of any choice about kernels.
//!
//! Input: a checked `Ast` (`lower`). Output: a [`Graph`] in which every node has a dtype and a shape.
//!
//! A graph is a list of nodes in which operands come before their users, so arena order is topological.
//! Every operation is total: where it is defined mathematically only on part of its domain, the f64
//! interpreter (`interp`) says what it yields elsewhere. Functions are already inlined, broadcasting is
//! explicit ([`Op::Broadcast`]), and composite operations of the language (`clamp`, `leaky_relu`, `elu`,
//! `dot`, `outer`, `mean`, `softmax`, `layer_norm`, `concat`, `gather`, `dropout`, …) are already written in terms of
//! the operations here. `verify` lists the invariants.
//!
//! Not here: how values are grouped into kernels (`fusion`).

#[cfg(feature = "syntax")]
pub(crate) mod infer;
#[cfg(feature = "syntax")]
pub(crate) mod lower;
pub mod print;
pub mod softmax;
pub mod types;
pub mod verify;

use std::collections::BTreeSet;

use fuse_artifact::{Check, Packing, Size, Symbol, SymbolId, SymbolSource};

use crate::{
    arena::{Arena, Handle},
    operations::{BinaryOp, UnaryOp},
    span::Span,
};
pub use types::{CompareOp, Literal, ReduceOp, TensorType};

/// Names a node of a [`Graph`].
pub type NodeId = Handle<Node>;

/// A function as a typed data-flow graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The function's name.
    pub name: String,
    /// The parameters, in declaration order; `Op::Input` and `Op::Scalar` refer to them.
    pub params: Vec<Param>,
    /// The dimensions known at launch; sizes in shapes refer to them.
    pub symbols: Vec<Symbol>,
    /// Relations between sizes to check at launch.
    pub checks: Vec<Check>,
    /// The operations; operands come before users.
    pub nodes: Arena<Node>,
    /// The results, in order. A node may be a result more than once. The last of them, as many as `updates`, are not returned.
    pub results: Vec<NodeId>,
    /// The tensor parameters that take the values of the last results in place, each once.
    pub updates: Vec<u16>,
    /// The places of gradients: a node that is written there belongs to a backward pass.
    pub gradients: Vec<Span>,
    /// What the statements of the body became, in order: whoever generates programs finds their operations again.
    pub statements: Vec<Lowered>,
    /// What the user asked of the compiler for this function.
    pub options: FunctionOptions,
}

/// What a statement of a body became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The number of nodes behind it: its own are those since the statement before.
    pub end: usize,
    /// Its value, if that is one node.
    pub value: Option<NodeId>,
}

impl Graph {
    /// The symbol of a parameter that is a size.
    pub fn size_param(&self, param: usize) -> Option<SymbolId> {
        let source = SymbolSource::Scalar { param: param as u16 };
        self.symbols.iter().position(|symbol| symbol.source == source).map(|symbol| symbol as SymbolId)
    }

    /// The conversions that a value is the result of, the last first.
    pub fn casts(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let operand = |node: NodeId| if let Op::Cast(x) = self.nodes[node].op { Some(x) } else { None };
        std::iter::successors(Some(node), move |&node| operand(node)).filter(move |&node| operand(node).is_some())
    }

    /// What a value is before conversions.
    pub fn without_casts(&self, node: NodeId) -> NodeId {
        self.casts(node).last().and_then(|cast| self.nodes[cast].op.operands().first().copied()).unwrap_or(node)
    }

    /// Whether a node belongs to a backward pass.
    pub fn is_of_gradient(&self, node: NodeId) -> bool {
        self.gradients.contains(&self.nodes[node].span)
    }

    /// The results that a launch returns.
    pub fn returned(&self) -> &[NodeId] {
        &self.results[..self.results.len() - self.updates.len()]
    }

    /// The parameter that takes a result in place.
    pub fn updated_by(&self, result: usize) -> Option<u16> {
        result.checked_sub(self.returned().len()).map(|update| self.updates[update])
    }
}

/// A parameter of a graph.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name in the source.
    pub name: String,
    /// Its type; a host scalar has rank 0 and `scalar` set.
    pub ty: TensorType,
    /// Whether it is a number of the host rather than a tensor.
    pub scalar: bool,
    /// Whether the caller's tensor may have fewer axes than `ty.shape` (expression form: shapes are padded
    /// with outer axes of size 1 to rank 6).
    pub padded: bool,
    /// How it is stored, if it is a quantized tensor; `ty` is then what its values mean.
    pub quantized: Option<Quantized>,
}

/// The name, or one with a number behind it that no other parameter has.
pub(crate) fn free_name(name: &str, taken: &[String]) -> String {
    let numbered = (1..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// How a quantized parameter is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// How values lie in words.
    pub packing: Packing,
    /// The packed axis.
    pub axis: usize,
    /// Blocks of words along the packed axis.
    pub blocks: Size,
    /// Groups along the packed axis.
    pub groups: Size,
    /// Values of a group.
    pub group: Size,
    /// Words of a group's scale and offset, 1 or 2.
    pub scale_words: Size,
}

impl Quantized {
    /// The shape of the words, for a tensor of `shape`.
    pub fn words_shape(&self, shape: &[Size]) -> Vec<Size> {
        self.along_packed(shape, self.blocks.mul(&Size::constant(self.packing.block_words().into())))
    }

    /// The shape of the groups, for a tensor of `shape`.
    pub fn groups_shape(&self, shape: &[Size]) -> Vec<Size> {
        self.along_packed(shape, self.groups.clone())
    }

    fn along_packed(&self, shape: &[Size], extent: Size) -> Vec<Size> {
        let mut shape = shape.to_vec();
        shape[self.axis] = extent;
        shape
    }
}

/// Attributes of a function that later stages obey.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionOptions {
    /// `#[no_fuse]`: every operation becomes a kernel of its own.
    pub no_fuse: bool,
    /// `#[webnn]`: it can run in WebNN, too.
    pub webnn: bool,
    /// `#[schedule(...)]`, if given.
    pub schedule: Option<ScheduleOverride>,
    /// Values that go through memory whatever the planner thinks of it; set by programs that compile while they run.
    pub in_memory: BTreeSet<NodeId>,
}

/// `#[schedule(tile = [64, 64, 16], workgroup = 128)]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleOverride {
    /// Contraction tile: rows, columns, depth.
    pub tile: Option<[u32; 3]>,
    /// Invocations per workgroup of pointwise kernels.
    pub workgroup: Option<u32>,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// The dtype and shape of its value.
    pub ty: TensorType,
    /// Where it was written.
    pub span: Span,
}

/// An operation. Unless said otherwise, operands of a pointwise operation have exactly the node's shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The tensor parameter with this index.
    Input(u16),
    /// What the quantized parameter with this index means; `f32`.
    Dequantize(u16),
    /// The host scalar parameter with this index; rank 0.
    Scalar(u16),
    /// A number or truth value; rank 0.
    Literal(Literal),
    /// A size as a number (the count of a mean); rank 0; `f32`, `i32` or `u32`.
    Size(Size),
    /// `f(x)` per element; dtype of `x`.
    Unary(UnaryOp, NodeId),
    /// `f(x, y)` per element; both of the node's dtype.
    Binary(BinaryOp, NodeId, NodeId),
    /// `x < y` and so on per element; operands of one dtype, result `bool`.
    Compare(CompareOp, NodeId, NodeId),
    /// `on_true` where `condition` (bool) holds, `on_false` elsewhere.
    Select {
        /// The truth values.
        condition: NodeId,
        /// Taken where `condition` holds.
        on_true: NodeId,
        /// Taken elsewhere.
        on_false: NodeId,
    },
    /// Conversion to the node's dtype, as Rust's `as` (float to integer truncates and saturates, NaN
    /// becomes 0; to `f16` rounds to nearest even; from `bool` gives 0 or 1; to `bool` is `!= 0`).
    Cast(NodeId),
    /// The coordinate along `axis` of the node's own shape; dtype `i32`.
    Index {
        /// The axis.
        axis: usize,
    },
    /// `[.., M, K] × [.., K, N] → [.., M, N]`: batch axes equal (already broadcast by shape rules: a batch
    /// axis of an operand is the node's or the literal 1 or, in the expression form, may be 1 at launch;
    /// both operands have the node's rank). Sums in f32 for floats; float dtypes and integers.
    Matmul {
        /// The left operand.
        lhs: NodeId,
        /// The right operand.
        rhs: NodeId,
    },
    /// Axis `d` of the value is axis `permutation[d]` of the operand.
    Permute {
        /// The operand.
        x: NodeId,
        /// A permutation of the axes.
        permutation: Vec<usize>,
    },
    /// The same elements in the same (row-major) order with the node's shape.
    Reshape(NodeId),
    /// Elements `start .. start + extent` of `axis`, where `extent` is the node's extent there.
    Slice {
        /// The operand.
        x: NodeId,
        /// The axis.
        axis: usize,
        /// The first index.
        start: Size,
    },
    /// All elements along `axes` (sorted, not empty) taken together. The node has the operand's rank, with extent 1 at
    /// `axes`; dtype of the operand, but `i32` for `argmax` and `argmin`. Over no elements: the neutral element
    /// (`sum` 0, `prod` 1, `max` -inf or the least integer, `min` +inf or the largest, `any` false, `all` true; for
    /// `argmax` and `argmin`, which a check keeps from it, 0). Floats are computed in f32.
    Reduce {
        /// How.
        op: ReduceOp,
        /// The operand.
        x: NodeId,
        /// The axes.
        axes: Vec<usize>,
    },
    /// `x` at computed coordinates along one axis: element `[.., i, ..]` is `x[.., clamp(index[.., i, ..], 0, E - 1), ..]`
    /// where `E` is the operand's extent of `axis`. The operand has the node's rank and its extents but along `axis`;
    /// `index` has the node's shape, dtype `i32`. Where `E` is 0 the value is 0 (such a node is empty, or guarded by a
    /// `select` that never takes it).
    Take {
        /// The operand.
        x: NodeId,
        /// The axis.
        axis: usize,
        /// The coordinates.
        index: NodeId,
    },
    /// The operand, of the same rank, repeated along axes where its extent is 1 (or, in the expression
    /// form, may be 1 at launch). Rank-0 operands broadcast to any rank.
    Broadcast(NodeId),
}

impl Op {
    /// Whether it is computed element by element from operands of its own shape.
    pub const fn is_pointwise(&self) -> bool {
        matches!(self, Self::Unary(..) | Self::Binary(..) | Self::Compare(..) | Self::Select { .. } | Self::Cast(_))
    }

    /// The operands, in order.
    pub fn operands(&self) -> Vec<NodeId> {
        match *self {
            Self::Input(_)
            | Self::Dequantize(_)
            | Self::Scalar(_)
            | Self::Literal(_)
            | Self::Size(_)
            | Self::Index { .. } => vec![],
            Self::Unary(_, x)
            | Self::Cast(x)
            | Self::Reshape(x)
            | Self::Broadcast(x)
            | Self::Permute { x, .. }
            | Self::Reduce { x, .. }
            | Self::Slice { x, .. } => vec![x],
            Self::Binary(_, x, y)
            | Self::Compare(_, x, y)
            | Self::Matmul { lhs: x, rhs: y }
            | Self::Take { x, index: y, .. } => vec![x, y],
            Self::Select { condition, on_true, on_false } => vec![condition, on_true, on_false],
        }
    }

    /// The operands, in order, to be replaced.
    pub fn operands_mut(&mut self) -> Vec<&mut NodeId> {
        match self {
            Self::Input(_)
            | Self::Dequantize(_)
            | Self::Scalar(_)
            | Self::Literal(_)
            | Self::Size(_)
            | Self::Index { .. } => vec![],
            Self::Unary(_, x)
            | Self::Cast(x)
            | Self::Reshape(x)
            | Self::Broadcast(x)
            | Self::Permute { x, .. }
            | Self::Reduce { x, .. }
            | Self::Slice { x, .. } => vec![x],
            Self::Binary(_, x, y)
            | Self::Compare(_, x, y)
            | Self::Matmul { lhs: x, rhs: y }
            | Self::Take { x, index: y, .. } => vec![x, y],
            Self::Select { condition, on_true, on_false } => vec![condition, on_true, on_false],
        }
    }

    /// The operation's name in prints and plans.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Dequantize(_) => "dequantize",
            Self::Scalar(_) => "scalar",
            Self::Literal(_) => "literal",
            Self::Size(_) => "size",
            Self::Unary(op, _) => op.name(),
            Self::Binary(op, ..) => op.name(),
            Self::Compare(op, ..) => op.name(),
            Self::Select { .. } => "select",
            Self::Cast(_) => "cast",
            Self::Index { .. } => "index",
            Self::Matmul { .. } => "matmul",
            Self::Reduce { op, .. } => op.name(),
            Self::Take { .. } => "take",
            Self::Permute { .. } => "permute",
            Self::Reshape(_) => "reshape",
            Self::Slice { .. } => "slice",
            Self::Broadcast(_) => "broadcast",
        }
    }
}
