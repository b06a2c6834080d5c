use crate::{DType, List, Size, Text};

/// A function as calls of the methods of a WebNN `MLGraphBuilder` (<https://www.w3.org/TR/webnn/>): for functions with the
/// attribute `#[webnn]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MlGraph {
    /// The operands in the order in which they are made.
    pub operands: List<MlOperand>,
    /// The results: indices into `operands`, no two of them equal, none of them an input or a constant.
    pub results: List<u16>,
}

/// One `MLOperand`.
#[derive(Clone, Debug, PartialEq)]
pub struct MlOperand {
    /// How it is made.
    pub op: MlOp,
    /// Its element type; truth values are WebNN's `uint8`.
    pub dtype: DType,
    /// Its dimensions, outermost first.
    pub shape: List<Size>,
}

/// How an operand is made. Operands of an operation are indices of earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum MlOp {
    /// `input`, at most one of each parameter: the one with this index, a tensor, or a number of the host of rank 0. A `bool`
    /// comes as `u32`.
    Input(u16),
    /// `constant` of one number. With a buffer: Chromium has no constants of numbers.
    Number(f64),
    /// `constant` of a size that is known at launch.
    Size(Size),
    /// `constant` of 0, 1, 2, … along the only axis that is not 1; `i32`.
    Counting,
    /// A method of operands and of options, which are numbers.
    Call {
        /// The method.
        method: Text,
        /// Its operands, in order.
        operands: List<u16>,
        /// Its options.
        options: List<MlOption>,
    },
    /// `cast` to the operand's own element type.
    Cast(u16),
    /// `reshape` to the operand's own shape.
    Reshape(u16),
    /// `expand` to the operand's own shape.
    Expand(u16),
    /// `transpose`.
    Transpose {
        /// The operand.
        x: u16,
        /// Axis `d` of the result is axis `permutation[d]` of the operand.
        permutation: List<u8>,
    },
    /// `slice` of one axis, to the operand's own shape.
    Slice {
        /// The operand.
        x: u16,
        /// The axis.
        axis: u8,
        /// The first index.
        start: Size,
    },
    /// `reduceSum` and its like, with `keepDimensions`.
    Reduce {
        /// The method.
        method: Text,
        /// The operand.
        x: u16,
        /// The axes.
        axes: List<u8>,
    },
    /// `gatherElements`.
    Gather {
        /// The operand.
        x: u16,
        /// The coordinates along `axis`, inside of the operand.
        indices: u16,
        /// The axis.
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
