use crate::{DType, List, Size, Text};

/// Method calls of a WebNN `MLGraphBuilder` (<https://www.w3.org/TR/webnn/>) for a function with `#[webnn]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MlGraph {
    /// Operands in the order of their creation.
    pub operands: List<MlOperand>,
    /// Indices of the results in `operands`: distinct, and neither inputs nor constants.
    pub results: List<u16>,
}

/// One `MLOperand`.
#[derive(Clone, Debug, PartialEq)]
pub struct MlOperand {
    /// Constructor of the operand.
    pub op: MlOp,
    /// Element type; `bool` is WebNN's `uint8`.
    pub dtype: DType,
    /// Dimensions, outermost first.
    pub shape: List<Size>,
}

/// Constructor of an operand; arguments are indices of earlier operands.
#[derive(Clone, Debug, PartialEq)]
pub enum MlOp {
    /// `input` for the parameter of this index, at most one each: a tensor, or a host scalar of rank 0. A `bool` is
    /// passed as `u32`.
    Input(u16),
    /// `constant` of one number, in a buffer: Chromium lacks constants of numbers.
    Number(f64),
    /// `constant` of a size known at launch.
    Size(Size),
    /// `constant` of `i32` values 0, 1, 2, … along the only axis other than 1.
    Counting,
    /// A method with operands and numeric options.
    Call {
        /// Method.
        method: Text,
        /// Its operands, in order.
        operands: List<u16>,
        /// Its options.
        options: List<MlOption>,
    },
    /// `cast` to its own element type.
    Cast(u16),
    /// `reshape` to its own shape.
    Reshape(u16),
    /// `expand` to its own shape.
    Expand(u16),
    /// `transpose`.
    Transpose {
        /// Operand.
        x: u16,
        /// Axis `d` of the result is axis `permutation[d]` of the operand.
        permutation: List<u8>,
    },
    /// `slice` of one axis, to its own shape.
    Slice {
        /// Operand.
        x: u16,
        /// Axis.
        axis: u8,
        /// First index.
        start: Size,
    },
    /// `reduceSum` or the like, with `keepDimensions`.
    Reduce {
        /// Method.
        method: Text,
        /// Operand.
        x: u16,
        /// Axes.
        axes: List<u8>,
    },
    /// `gatherElements`.
    Gather {
        /// Operand.
        x: u16,
        /// Coordinates along `axis`, in bounds.
        indices: u16,
        /// Axis.
        axis: u8,
    },
}

/// An option of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct MlOption {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: f64,
}
