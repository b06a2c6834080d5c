use crate::{DType, Kernel, List, MlGraph, Packing, Plan, Size, SymbolId, Text};

/// One compiled `fuse!` function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The function's name, used in every message.
    pub name: Text,
    /// Arguments of the caller, in declaration order.
    pub params: List<Param>,
    /// Returned tensors, in order.
    pub results: List<TensorSpec>,
    /// Parameters updated in place, as indices into `params`. Kernels write them; they are results of the launch but
    /// not returned.
    pub updates: List<u16>,
    /// Dimensions known at launch. A symbol's source refers to parameters or earlier symbols only.
    pub symbols: List<Symbol>,
    /// Relations between dimensions, besides the parameters' declared shapes.
    pub checks: List<Check>,
    /// Intermediate tensors, live from their producer to their last reader.
    pub temporaries: List<TensorSpec>,
    /// Kernels in launch order.
    pub kernels: List<Kernel>,
    /// Human-readable plan.
    pub plan: Plan,
    /// Assumptions of `kernels` on shapes, beyond `checks`.
    pub assumes: List<Check>,
    /// Other plans with the same parameters, symbols and results, and no alternatives of their own. A launch considers
    /// plans whose assumptions hold and whose kernels the device can run. It selects the one with the least estimated
    /// time, the earlier one on ties. The last alternative has no assumptions and runs on every device.
    pub alternatives: List<Function>,
    /// WebNN graph of a function with `#[webnn]`; alternatives have none.
    pub webnn: Option<MlGraph>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name in the source.
    pub name: Text,
    /// A tensor or a host scalar.
    pub kind: ParamKind,
}

/// Kind of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// A tensor in a storage buffer.
    Tensor(TensorSpec),
    /// A host scalar (`f32`, `f16`, `i32`, `u32` or `bool`), passed in the uniform block.
    Scalar(DType),
    /// A host `u32` that is the source of a symbol ([`SymbolSource::Scalar`]). Kernels may also read it as a number.
    Size,
    /// A quantized tensor in two `u32` buffers. These are codes ([`Slot::Param`](crate::Slot::Param)), and scales and
    /// offsets of their groups ([`Slot::Scales`](crate::Slot::Scales)).
    Quantized(QuantizedSpec),
}

/// Type of a quantized tensor parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedSpec {
    /// Layout of codes in words.
    pub packing: Packing,
    /// The packed axis.
    pub axis: u8,
    /// Dimensions, outermost first, then groups along the packed axis, then words per group of scale and offset. These
    /// words are 1 (two `f16`) or 2 (two `f32`).
    pub shape: List<Size>,
}

/// Dtype and shape of a parameter, temporary or result. Elements are contiguous, last axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSpec {
    /// The element type.
    pub dtype: DType,
    /// Dimensions, outermost first.
    pub shape: List<Size>,
    /// Accepts tensors with fewer axes, as if their missing outer axes had size 1. Set in the expression form, where
    /// only the caller's type checker knows ranks.
    pub padded: bool,
}

/// A dimension known at launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Name in messages, for example `M`.
    pub name: Text,
    /// Source of its value.
    pub source: SymbolSource,
}

/// Source of a symbol's value.
#[derive(Clone, Debug, PartialEq)]
pub enum SymbolSource {
    /// Extent of a tensor parameter's axis, counted in `TensorSpec::shape`.
    Axis {
        /// Index into `Function::params`.
        param: u16,
        /// Axis of the declared shape; for quantized tensors, of [`QuantizedSpec::shape`].
        axis: u8,
    },
    /// Value of a size parameter ([`ParamKind::Size`]).
    Scalar {
        /// Index into `Function::params`.
        param: u16,
    },
    /// Broadcast of several sizes: those other than 1 must agree. Only in the expression form.
    Broadcast(List<Size>),
    /// Quotient rounded down; a check requires exactness where needed. Division by 0 is an error.
    Quotient {
        /// The dividend.
        dividend: Size,
        /// The divisor.
        divisor: Size,
    },
}

/// A relation between sizes, checked at launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The required relation.
    pub relation: Relation,
    /// The left size.
    pub left: Size,
    /// The right size.
    pub right: Size,
    /// Subject of the error message, for example ``inner dimension of `matmul` ``.
    pub what: Text,
}

/// A relation between two sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `left == right`.
    Equal,
    /// `left <= right`.
    AtMost,
}

impl Function {
    /// Name of a symbol.
    pub fn symbol_name(&self, id: SymbolId) -> &str {
        &self.symbols[usize::from(id)].name
    }
}
