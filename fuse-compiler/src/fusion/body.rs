//! Bodies: straight-line pointwise programs over one kernel space, with memory accesses resolved.

use fuse_artifact::{Access, DType, Packing, Size};

use crate::{
    graph::{CompareOp, Literal, NodeId, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};

/// Index of a value in a [`Body`].
pub type ValueId = usize;

/// A pointwise program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Values, operands first.
    pub values: Vec<Value>,
}

/// One value of a body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// The operation.
    pub op: ValueOp,
    /// Its dtype; `f16` values are computed in `f32`.
    pub dtype: DType,
}

/// Operation that computes a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueOp {
    /// Load through the kernel access of this index.
    Load(u16),
    /// Load through a `gathered` access at computed coordinates. Each view axis in `at` is walked by no axis of the
    /// space; its `i32` value, in bounds, is added to the coordinate.
    Gather {
        /// The access.
        access: u16,
        /// View axes and coordinates.
        at: Vec<(u8, ValueId)>,
    },
    /// Load and dequantization of one value of a quantized tensor.
    Dequantize(Box<Dequantize>),
    /// Accumulator of the product with this number. In attention bodies: in `Space::Score`, the score before its
    /// prologue. In `Space::Point`: 0 the normalized output, 1 the row's largest score, 2 its sum of exponentials.
    Accumulator(u8),
    /// Reduction of a row to one value. The operand may vary along the reduced axes (reduction), the columns
    /// (contraction) or the depth (its left operand).
    Reduce(ReduceOp, ValueId),
    /// A size as a number.
    Size(Size),
    /// `start + coordinate` along an axis of the space.
    Coordinate {
        /// The axis, if the coordinate varies.
        axis: Option<u8>,
        /// The first coordinate.
        start: Size,
    },
    /// A host scalar.
    Scalar(u16),
    /// A constant.
    Literal(Literal),
    /// A function of one value.
    Unary(UnaryOp, ValueId),
    /// A function of two values.
    Binary(BinaryOp, ValueId, ValueId),
    /// A comparison.
    Compare(CompareOp, ValueId, ValueId),
    /// `Select(condition, on_true, on_false)`.
    Select(ValueId, ValueId, ValueId),
    /// A conversion to the value's dtype.
    Cast(ValueId),
}

impl ValueOp {
    /// Accesses that the operation reads through.
    pub fn accesses(&self) -> Vec<u16> {
        match self {
            Self::Load(access) | Self::Gather { access, .. } => vec![*access],
            Self::Dequantize(dequantize) => vec![dequantize.words, dequantize.scales],
            _ => vec![],
        }
    }

    /// Words of a reduction's partial result; 0 for other operations.
    pub fn state_words(&self) -> u32 {
        if let Self::Reduce(op, _) = self { op.state_words() } else { 0 }
    }
}

/// A dequantized value, `q·scale + offset`.
///
/// `q` lies in the words at `index` along the packed axis; scale and offset belong to group `index / group`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dequantize {
    /// The parameter.
    pub param: u16,
    /// Layout of codes in words.
    pub packing: Packing,
    /// Access to the words along every axis but the packed one.
    pub words: u16,
    /// Access to the pairs of scale and offset, along the same axes.
    pub scales: u16,
    /// The packed axis in both views.
    pub axis: u8,
    /// Coordinate along the packed axis, in bounds.
    pub index: ValueId,
    /// Axis of the space equal to that coordinate, if there is one and it starts at 0.
    pub along: Option<u8>,
    /// View axes and their computed coordinates.
    pub at: Vec<(u8, ValueId)>,
    /// Values per group.
    pub group: Size,
}

/// An access of a kernel with the compiler's knowledge of its strides.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelAccess {
    /// The access in the artifact.
    pub access: Access,
    /// Element type of the buffer.
    pub dtype: DType,
    /// Per axis of the space: may turn out to be broadcast at launch.
    pub may_repeat: Vec<bool>,
    /// Read at computed coordinates ([`ValueOp::Gather`], [`ValueOp::Dequantize`]), lane by lane.
    pub gathered: bool,
}

impl KernelAccess {
    /// True if index `i` of a space of this shape always reads element `i`.
    pub fn is_whole(&self, shape: &[Size]) -> bool {
        let identity = self.access.axes.iter().enumerate().all(|(d, axis)| *axis == Some(d as u8));
        identity && *self.access.view == *shape && self.access.starts.is_empty()
    }
}

/// Error of building a body: `node` must be materialized.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedsStorage {
    /// The value to store.
    pub node: NodeId,
    /// Its consumer.
    pub consumer: NodeId,
    /// The reason.
    pub reason: &'static str,
}
