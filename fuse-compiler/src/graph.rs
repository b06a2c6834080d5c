//! Typed data-flow graph of a function, free of syntax and scheduling decisions.
//!
//! Input: a checked `Ast` (`lower`). Output: a [`Graph`] whose nodes have dtypes and shapes (`verify`).
//!
//! Operands precede their users, so arena order is topological. Operations are total: outside of the mathematical
//! domain, the f64 interpreter (`interp`) defines them. Functions are inlined, broadcasts explicit ([`Op::Broadcast`]),
//! and composite operations (`clamp`, `mean`, `softmax`, `concat`, …) lowered.

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

/// Node of a [`Graph`].
pub type NodeId = Handle<Node>;

/// Function as a data-flow graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Function name.
    pub name: String,
    /// Parameters, which `Op::Input` and `Op::Scalar` name.
    pub params: Vec<Param>,
    /// Dimensions known at launch, which sizes mention.
    pub symbols: Vec<Symbol>,
    /// Relations of sizes checked at launch.
    pub checks: Vec<Check>,
    /// Operations, operands first.
    pub nodes: Arena<Node>,
    /// Results, possibly repeated. The last `updates.len()` are not returned.
    pub results: Vec<NodeId>,
    /// Tensor parameters that take the last results in place, each at most once.
    pub updates: Vec<u16>,
    /// Spans of gradients; their nodes belong to a backward pass.
    pub gradients: Vec<Span>,
    /// Nodes of each statement, for program generators.
    pub statements: Vec<Lowered>,
    /// Options from attributes.
    pub options: FunctionOptions,
}

/// Nodes of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// Number of nodes up to its end.
    pub end: usize,
    /// Its only value.
    pub value: Option<NodeId>,
}

impl Graph {
    /// Symbol of a size parameter.
    pub fn size_param(&self, param: usize) -> Option<SymbolId> {
        let source = SymbolSource::Scalar { param: param as u16 };
        self.symbols.iter().position(|symbol| symbol.source == source).map(|symbol| symbol as SymbolId)
    }

    /// Conversions that end in a value, last first, then their operand.
    pub fn casts(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let operand = |node: NodeId| if let Op::Cast(x) = self.nodes[node].op { Some(x) } else { None };
        std::iter::successors(Some(node), move |&node| operand(node)).filter(move |&node| operand(node).is_some())
    }

    /// Operand of a value's conversions.
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

/// Parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Source name.
    pub name: String,
    /// Type; a host scalar has rank 0 and `scalar` set.
    pub ty: TensorType,
    /// True for a host scalar.
    pub scalar: bool,
    /// True if the caller's tensor may have fewer axes. The expression form pads shapes to rank 6 with outer axes of
    /// size 1.
    pub padded: bool,
    /// Storage of a quantized tensor; `ty` is the dequantized type.
    pub quantized: Option<Quantized>,
}

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
    /// Blocks of words along the packed axis.
    pub blocks: Size,
    /// Groups along the packed axis.
    pub groups: Size,
    /// Values per group.
    pub group: Size,
    /// Words of a group's scale and offset, 1 or 2.
    pub scale_words: Size,
}

impl Quantized {
    /// Shape of the words.
    pub fn words_shape(&self, shape: &[Size]) -> Vec<Size> {
        self.along_packed(shape, self.blocks.mul(&Size::constant(self.packing.block_words().into())))
    }

    /// Shape of the groups.
    pub fn groups_shape(&self, shape: &[Size]) -> Vec<Size> {
        self.along_packed(shape, self.groups.clone())
    }

    fn along_packed(&self, shape: &[Size], extent: Size) -> Vec<Size> {
        let mut shape = shape.to_vec();
        shape[self.axis] = extent;
        shape
    }
}

/// Options from attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionOptions {
    /// `#[no_fuse]`: a kernel per operation.
    pub no_fuse: bool,
    /// `#[webnn]`: the function can run in WebNN.
    pub webnn: bool,
    /// `#[schedule(...)]`, if given.
    pub schedule: Option<ScheduleOverride>,
    /// Values to materialize, set by programs that compile while they run.
    pub in_memory: BTreeSet<NodeId>,
}

/// `#[schedule(tile = [64, 64, 16], workgroup = 128)]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleOverride {
    /// Contraction tile: rows, columns, depth.
    pub tile: Option<[u32; 3]>,
    /// Workgroup size of pointwise kernels.
    pub workgroup: Option<u32>,
}

/// Operation with type and span.
#[derive(Clone, Debug)]
pub struct Node {
    /// Operation.
    pub op: Op,
    /// Type of its value.
    pub ty: TensorType,
    /// Source position.
    pub span: Span,
}

/// Operation of a node. Operands of pointwise operations have the node's exact shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Tensor parameter.
    Input(u16),
    /// Dequantized value of a parameter; `f32`.
    Dequantize(u16),
    /// Host scalar; rank 0.
    Scalar(u16),
    /// Number or boolean; rank 0.
    Literal(Literal),
    /// Size as a number; rank 0; `f32`, `i32` or `u32`.
    Size(Size),
    /// `f(x)` per element; dtype of `x`.
    Unary(UnaryOp, NodeId),
    /// `f(x, y)` per element; all of one dtype.
    Binary(BinaryOp, NodeId, NodeId),
    /// `x < y` and so on; operands of one dtype, result `bool`.
    Compare(CompareOp, NodeId, NodeId),
    /// Per-element selection.
    Select {
        /// `bool`.
        condition: NodeId,
        /// Value where `condition` holds.
        on_true: NodeId,
        /// Value elsewhere.
        on_false: NodeId,
    },
    /// Conversion to the node's dtype, as Rust's `as`.
    ///
    /// Float to integer truncates and saturates, NaN becomes 0. To `f16` rounds to nearest even. `bool` becomes 0 or 1;
    /// to `bool` is `!= 0`.
    Cast(NodeId),
    /// Coordinate along `axis` of the node's own shape; dtype `i32`.
    Index {
        /// Axis.
        axis: usize,
    },
    /// Matrix product `[.., M, K] × [.., K, N] → [.., M, N]` of floats (accumulated in f32) or integers.
    ///
    /// Operands have the node's rank. Each of their batch axes is the node's, or the literal 1, or (expression form)
    /// may be 1 at launch.
    Matmul {
        /// Left operand.
        lhs: NodeId,
        /// Right operand.
        rhs: NodeId,
    },
    /// Permutation: axis `d` is axis `permutation[d]` of the operand.
    Permute {
        /// Operand.
        x: NodeId,
        /// Source axis of each axis.
        permutation: Vec<usize>,
    },
    /// Same elements in row-major order, with the node's shape.
    Reshape(NodeId),
    /// Elements `start ..` of `axis`, as many as the node's extent.
    Slice {
        /// Operand.
        x: NodeId,
        /// Sliced axis.
        axis: usize,
        /// First index.
        start: Size,
    },
    /// Reduction along `axes` (sorted, not empty), which stay with extent 1.
    ///
    /// The dtype is the operand's; `argmax` and `argmin` yield `i32`. Floats are computed in f32. Empty reductions
    /// yield the neutral element: `sum` 0, `prod` 1, `max` -inf or the least integer, `min` +inf or the largest, `any`
    /// false, `all` true. A launch check excludes empty `argmax` and `argmin`.
    Reduce {
        /// Operator.
        op: ReduceOp,
        /// Operand.
        x: NodeId,
        /// Reduced axes.
        axes: Vec<usize>,
    },
    /// Gather along one axis: element `[.., i, ..]` is `x[.., clamp(index[.., i, ..], 0, E - 1), ..]` with the
    /// operand's extent `E`.
    ///
    /// The operand has the node's shape except along `axis`; `index` has the node's shape and dtype `i32`. If `E` is 0,
    /// the value is 0: the node is empty, or behind a `select` that never takes it.
    Take {
        /// Operand.
        x: NodeId,
        /// Gathered axis.
        axis: usize,
        /// Coordinates.
        index: NodeId,
    },
    /// Broadcast along axes where the operand's extent is 1, or (expression form) may be 1 at launch. Ranks are equal,
    /// or the operand's is 0.
    Broadcast(NodeId),
}

impl Op {
    /// True if an element depends only on the operands' elements at its coordinates.
    pub const fn is_pointwise(&self) -> bool {
        matches!(self, Self::Unary(..) | Self::Binary(..) | Self::Compare(..) | Self::Select { .. } | Self::Cast(_))
    }

    /// True if it starts a kernel.
    pub const fn is_anchor(&self) -> bool {
        matches!(self, Self::Matmul { .. } | Self::Reduce { .. })
    }

    /// True if it only renames coordinates.
    pub const fn is_movement(&self) -> bool {
        matches!(self, Self::Permute { .. } | Self::Reshape(_) | Self::Slice { .. } | Self::Broadcast(_))
    }

    /// True if storing its values may pay.
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

    /// Mutable operands.
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

    /// Name in prints and plans.
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
