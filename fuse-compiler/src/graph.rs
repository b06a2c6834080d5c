//! Typed data-flow graph of a function, free of syntax and of scheduling decisions.
//!
//! Input: a checked `Ast` (`lower`). Output: a [`Graph`] in which every node has a dtype and a shape. `verify` lists
//! the invariants, `fusion` groups the values into kernels.
//!
//! A graph is a list of nodes. Operands precede their users, so arena order is topological. Every operation is total:
//! outside of its mathematical domain, the f64 interpreter (`interp`) defines its value. Functions are inlined, and
//! broadcasts are explicit ([`Op::Broadcast`]). Composite operations of the language (`clamp`, `dot`, `mean`,
//! `softmax`, `layer_norm`, `concat`, `gather`, `dropout`, …) are already lowered to the operations here.

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

/// Handle of a node of a [`Graph`].
pub type NodeId = Handle<Node>;

/// Function as a typed data-flow graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Function name.
    pub name: String,
    /// Parameters, in declaration order. `Op::Input` and `Op::Scalar` refer to them.
    pub params: Vec<Param>,
    /// Dimensions known at launch. Sizes in shapes refer to them.
    pub symbols: Vec<Symbol>,
    /// Relations between sizes that a launch checks.
    pub checks: Vec<Check>,
    /// Operations. Operands precede their users.
    pub nodes: Arena<Node>,
    /// Results, in order. A node may be a result more than once. The last `updates.len()` results are not returned.
    pub results: Vec<NodeId>,
    /// Tensor parameters that take the values of the last results in place, each at most once.
    pub updates: Vec<u16>,
    /// Spans of gradients. A node with such a span belongs to a backward pass.
    pub gradients: Vec<Span>,
    /// Nodes of each statement, in order, so that program generators can find their operations.
    pub statements: Vec<Lowered>,
    /// Options from the function's attributes.
    pub options: FunctionOptions,
}

/// Nodes of one statement of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// Number of nodes after the statement. Its own nodes are those since the statement before.
    pub end: usize,
    /// Node of its value, if there is exactly one.
    pub value: Option<NodeId>,
}

impl Graph {
    /// Symbol of a size parameter.
    pub fn size_param(&self, param: usize) -> Option<SymbolId> {
        let source = SymbolSource::Scalar { param: param as u16 };
        self.symbols.iter().position(|symbol| symbol.source == source).map(|symbol| symbol as SymbolId)
    }

    /// Chain of conversions that ends in a value, last conversion first.
    pub fn casts(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let operand = |node: NodeId| if let Op::Cast(x) = self.nodes[node].op { Some(x) } else { None };
        std::iter::successors(Some(node), move |&node| operand(node)).filter(move |&node| operand(node).is_some())
    }

    /// Operand of a value's chain of conversions.
    pub fn without_casts(&self, node: NodeId) -> NodeId {
        self.casts(node).last().and_then(|cast| self.nodes[cast].op.operands().first().copied()).unwrap_or(node)
    }

    /// The value behind movements.
    pub fn through_movements(&self, mut node: NodeId) -> NodeId {
        while self.nodes[node].op.is_movement() {
            node = self.nodes[node].op.operands()[0];
        }
        node
    }

    /// True if a node belongs to a backward pass.
    pub fn is_of_gradient(&self, node: NodeId) -> bool {
        self.gradients.contains(&self.nodes[node].span)
    }

    /// Results that a launch returns.
    pub fn returned(&self) -> &[NodeId] {
        &self.results[..self.results.len() - self.updates.len()]
    }

    /// Parameter that takes a result in place.
    pub fn updated_by(&self, result: usize) -> Option<u16> {
        result.checked_sub(self.returned().len()).map(|update| self.updates[update])
    }
}

/// Parameter of a graph.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name in the source.
    pub name: String,
    /// Type. A host scalar has rank 0 and `scalar` set.
    pub ty: TensorType,
    /// True for a host scalar, false for a tensor.
    pub scalar: bool,
    /// True if the caller's tensor may have fewer axes than `ty.shape`. The expression form pads shapes to rank 6 with
    /// outer axes of size 1.
    pub padded: bool,
    /// Storage of a quantized tensor, whose `ty` is then the dequantized type.
    pub quantized: Option<Quantized>,
}

/// Returns the name, with a number appended if it is taken.
pub(crate) fn free_name(name: &str, taken: &[String]) -> String {
    let numbered = (1..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// Storage of a quantized parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// Layout of values in words.
    pub packing: Packing,
    /// Packed axis.
    pub axis: usize,
    /// Number of blocks of words along the packed axis.
    pub blocks: Size,
    /// Number of groups along the packed axis.
    pub groups: Size,
    /// Number of values of a group.
    pub group: Size,
    /// Words of a group's scale and offset, 1 or 2.
    pub scale_words: Size,
}

impl Quantized {
    /// Shape of the words of a tensor of `shape`.
    pub fn words_shape(&self, shape: &[Size]) -> Vec<Size> {
        self.along_packed(shape, self.blocks.mul(&Size::constant(self.packing.block_words().into())))
    }

    /// Shape of the groups of a tensor of `shape`.
    pub fn groups_shape(&self, shape: &[Size]) -> Vec<Size> {
        self.along_packed(shape, self.groups.clone())
    }

    fn along_packed(&self, shape: &[Size], extent: Size) -> Vec<Size> {
        let mut shape = shape.to_vec();
        shape[self.axis] = extent;
        shape
    }
}

/// Options from a function's attributes, for later stages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionOptions {
    /// `#[no_fuse]`: every operation becomes a separate kernel.
    pub no_fuse: bool,
    /// `#[webnn]`: the function can run in WebNN, too.
    pub webnn: bool,
    /// `#[schedule(...)]`, if given.
    pub schedule: Option<ScheduleOverride>,
    /// Values materialized regardless of the planner's estimate. Set by programs that compile while they run.
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

/// Operation with its type and span.
#[derive(Clone, Debug)]
pub struct Node {
    /// Operation and operands.
    pub op: Op,
    /// Dtype and shape of its value.
    pub ty: TensorType,
    /// Position in the source.
    pub span: Span,
}

/// Operation of a node. Operands of a pointwise operation have the node's exact shape, unless stated otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Tensor parameter with this index.
    Input(u16),
    /// Dequantized value of the quantized parameter with this index; `f32`.
    Dequantize(u16),
    /// Host scalar parameter with this index; rank 0.
    Scalar(u16),
    /// Number or boolean; rank 0.
    Literal(Literal),
    /// Size as a number (the count of a mean); rank 0; `f32`, `i32` or `u32`.
    Size(Size),
    /// `f(x)` per element; dtype of `x`.
    Unary(UnaryOp, NodeId),
    /// `f(x, y)` per element; both of the node's dtype.
    Binary(BinaryOp, NodeId, NodeId),
    /// `x < y` and so on per element; operands of one dtype, result `bool`.
    Compare(CompareOp, NodeId, NodeId),
    /// `on_true` where `condition` (bool) holds, `on_false` elsewhere.
    Select {
        /// Boolean operand.
        condition: NodeId,
        /// Value where `condition` holds.
        on_true: NodeId,
        /// Value elsewhere.
        on_false: NodeId,
    },
    /// Conversion to the node's dtype, as Rust's `as`.
    ///
    /// Float to integer truncates and saturates, NaN becomes 0. Conversion to `f16` rounds to nearest even. From `bool`
    /// gives 0 or 1; to `bool` is `!= 0`.
    Cast(NodeId),
    /// Coordinate along `axis` of the node's own shape; dtype `i32`.
    Index {
        /// Axis of the coordinate.
        axis: usize,
    },
    /// Matrix product `[.., M, K] × [.., K, N] → [.., M, N]` of floats or integers. Floats accumulate in f32.
    ///
    /// Both operands have the node's rank. Each batch axis of an operand is the node's, or the literal 1, or
    /// (expression form) may be 1 at launch.
    Matmul {
        /// Left operand.
        lhs: NodeId,
        /// Right operand.
        rhs: NodeId,
    },
    /// Permutation: axis `d` of the value is axis `permutation[d]` of the operand.
    Permute {
        /// Operand.
        x: NodeId,
        /// Source axis of each axis.
        permutation: Vec<usize>,
    },
    /// Same elements in the same (row-major) order, with the node's shape.
    Reshape(NodeId),
    /// Elements `start .. start + extent` of `axis`, where `extent` is the node's extent there.
    Slice {
        /// Operand.
        x: NodeId,
        /// Sliced axis.
        axis: usize,
        /// First index.
        start: Size,
    },
    /// Reduction along `axes` (sorted, not empty). The node keeps the operand's rank, with extent 1 at `axes`.
    ///
    /// The dtype is the operand's, but `i32` for `argmax` and `argmin`. Floats are computed in f32. Empty reductions
    /// yield the neutral element: `sum` 0, `prod` 1, `max` -inf or the least integer, `min` +inf or the largest, `any`
    /// false, `all` true. For `argmax` and `argmin` it would be 0, but a launch check excludes that case.
    Reduce {
        /// Reduction operator.
        op: ReduceOp,
        /// Operand.
        x: NodeId,
        /// Reduced axes.
        axes: Vec<usize>,
    },
    /// Gather along one axis: element `[.., i, ..]` is `x[.., clamp(index[.., i, ..], 0, E - 1), ..]`, where `E` is the
    /// operand's extent of `axis`.
    ///
    /// The operand has the node's rank, and its extents except along `axis`. `index` has the node's shape and dtype
    /// `i32`. If `E` is 0, the value is 0: such a node is empty, or guarded by a `select` that never takes it.
    Take {
        /// Operand.
        x: NodeId,
        /// Gathered axis.
        axis: usize,
        /// Coordinates.
        index: NodeId,
    },
    /// Broadcast of an operand of the same rank along axes where its extent is 1, or (expression form) may be 1 at
    /// launch. Rank-0 operands broadcast to any rank.
    Broadcast(NodeId),
}

impl Op {
    /// True if each element depends only on the operands' elements at the same coordinates.
    pub const fn is_pointwise(&self) -> bool {
        matches!(self, Self::Unary(..) | Self::Binary(..) | Self::Compare(..) | Self::Select { .. } | Self::Cast(_))
    }

    /// True if it starts a kernel of its own kind.
    pub const fn is_anchor(&self) -> bool {
        matches!(self, Self::Matmul { .. } | Self::Reduce { .. })
    }

    /// True if it only renames coordinates.
    pub const fn is_movement(&self) -> bool {
        matches!(self, Self::Permute { .. } | Self::Reshape(_) | Self::Slice { .. } | Self::Broadcast(_))
    }

    /// True if its values may be worth storing.
    pub const fn is_computed(&self) -> bool {
        self.is_pointwise() || matches!(self, Self::Take { .. })
    }

    /// Operands, in order.
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

    /// Mutable operands, in order.
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

    /// Name of the operation in prints and plans.
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
