//! Bodies: straight-line pointwise programs over one kernel space.

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
    /// Operands first.
    pub values: Vec<Value>,
}

/// Value of a body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// Operation.
    pub op: ValueOp,
    /// Dtype; `f16` values are computed in `f32`.
    pub dtype: DType,
}

/// Operation that computes a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueOp {
    /// Load through this kernel access.
    Load(u16),
    /// Load through a `gathered` access at computed coordinates. No space axis walks the view axes in `at`; their `i32`
    /// values, in bounds, are added to the coordinates.
    Gather {
        /// Access.
        access: u16,
        /// View axes and coordinates.
        at: Vec<(u8, ValueId)>,
    },
    /// Load and dequantization of one value.
    Dequantize(Box<Dequantize>),
    /// Accumulator of this product. In attention bodies: in `Space::Score`, the score before its prologue; in
    /// `Space::Point`, 0 normalized output, 1 largest score, 2 sum of exponentials.
    Accumulator(u8),
    /// Reduction of a row. The operand may vary along reduced axes (reduction), columns (contraction) or depth (its
    /// left operand).
    Reduce(ReduceOp, ValueId),
    /// Size as a number.
    Size(Size),
    /// `start + coordinate` along an axis.
    Coordinate {
        /// Axis, if the coordinate varies.
        axis: Option<u8>,
        /// First coordinate.
        start: Size,
    },
    /// Host scalar.
    Scalar(u16),
    /// Constant.
    Literal(Literal),
    /// Function of one value.
    Unary(UnaryOp, ValueId),
    /// Function of two values.
    Binary(BinaryOp, ValueId, ValueId),
    /// Comparison.
    Compare(CompareOp, ValueId, ValueId),
    /// `Select(condition, on_true, on_false)`.
    Select(ValueId, ValueId, ValueId),
    /// Conversion to the value's dtype.
    Cast(ValueId),
}

impl ValueOp {
    /// Accesses that the operation uses.
    pub fn accesses(&self) -> Vec<u16> {
        match self {
            Self::Load(access) | Self::Gather { access, .. } => vec![*access],
            Self::Dequantize(dequantize) => vec![dequantize.words, dequantize.scales],
            _ => vec![],
        }
    }

    /// Words of a reduction's partial result, else 0.
    pub fn state_words(&self) -> u32 {
        if let Self::Reduce(op, _) = self { op.state_words() } else { 0 }
    }
}

/// Dequantized value, `q·scale + offset`.
///
/// `q` lies in the words at `index` along the packed axis; its group is `index / group`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dequantize {
    /// Parameter.
    pub param: u16,
    /// Layout of codes.
    pub packing: Packing,
    /// Access to the words; fixed along the packed axis.
    pub words: u16,
    /// Access to pairs of scale and offset.
    pub scales: u16,
    /// Packed axis in both views.
    pub axis: u8,
    /// Coordinate along the packed axis, in bounds.
    pub index: ValueId,
    /// Axis of the space equal to that coordinate, if it starts at 0.
    pub along: Option<u8>,
    /// View axes and their computed coordinates.
    pub at: Vec<(u8, ValueId)>,
    /// Values per group.
    pub group: Size,
}

/// Access with compile-time knowledge of its strides.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelAccess {
    /// Access in the artifact.
    pub access: Access,
    /// Buffer's element type.
    pub dtype: DType,
    /// Axes that may turn out to be broadcast at launch.
    pub may_repeat: Vec<bool>,
    /// Computed coordinates ([`ValueOp::Gather`], [`ValueOp::Dequantize`]), lane by lane.
    pub gathered: bool,
}

impl KernelAccess {
    /// True if index `i` of such a space always reads element `i`.
    pub fn is_whole(&self, shape: &[Size]) -> bool {
        let identity = self.access.axes.iter().enumerate().all(|(d, axis)| *axis == Some(d as u8));
        identity && *self.access.view == *shape && self.access.starts.is_empty()
    }
}

/// Error: `node` must be materialized.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedsStorage {
    /// Value to store.
    pub node: NodeId,
    /// Consumer.
    pub consumer: NodeId,
    /// Reason.
    pub reason: &'static str,
}
