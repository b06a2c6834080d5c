use crate::{DType, Kernel, List, MlGraph, Packing, Plan, Size, SymbolId, Text};

/// One compiled `fuse!` function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name in messages.
    pub name: Text,
    /// Arguments in declaration order.
    pub params: List<Param>,
    /// Returned tensors, in order.
    pub results: List<TensorSpec>,
    /// Parameters updated in place, as indices into `params`. They are results of the launch but not returned.
    pub updates: List<u16>,
    /// Dimensions known at launch. Sources refer to parameters or earlier symbols only.
    pub symbols: List<Symbol>,
    /// Relations between dimensions, besides the parameters' shapes.
    pub checks: List<Check>,
    /// Intermediate tensors, live from producer to last reader.
    pub temporaries: List<TensorSpec>,
    /// Kernels in launch order.
    pub kernels: List<Kernel>,
    /// Human-readable plan.
    pub plan: Plan,
    /// Assumptions of `kernels` on shapes, beyond `checks`.
    pub assumes: List<Check>,
    /// Other plans with the same parameters, symbols and results, without alternatives of their own.
    ///
    /// A launch takes the plan with the least estimated time (the earlier on ties) whose assumptions hold and whose
    /// kernels the device can run. The last alternative has no assumptions and runs on every device.
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
    /// A host scalar, passed in the uniform block.
    Scalar(DType),
    /// A host `u32`, the source of a symbol ([`SymbolSource::Scalar`]). Kernels may also read it as a number.
    Size,
    /// A quantized tensor in two `u32` buffers: codes ([`Slot::Param`](crate::Slot::Param)), and scales and offsets of
    /// groups ([`Slot::Scales`](crate::Slot::Scales)).
    Quantized(QuantizedSpec),
}

/// Type of a quantized tensor parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedSpec {
    /// Layout of codes in words.
    pub packing: Packing,
    /// Packed axis.
    pub axis: u8,
    /// Dimensions, outermost first, then groups along the packed axis, then words per scale and offset: 1 (two `f16`)
    /// or 2 (two `f32`).
    pub shape: List<Size>,
}

/// Dtype and shape of a tensor. Elements are contiguous, last axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSpec {
    /// Element type.
    pub dtype: DType,
    /// Dimensions, outermost first.
    pub shape: List<Size>,
    /// Accepts tensors with fewer axes, as if outer axes had size 1. For the expression form, where only the caller's
    /// type checker knows ranks.
    pub padded: bool,
}

/// A dimension known at launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Name in messages, such as `M`.
    pub name: Text,
    /// Source of its value.
    pub source: SymbolSource,
}

/// Source of a symbol's value.
#[derive(Clone, Debug, PartialEq)]
pub enum SymbolSource {
    /// Extent of a tensor parameter's axis.
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
    /// Broadcast of sizes: those other than 1 must agree. Only in the expression form.
    Broadcast(List<Size>),
    /// Quotient rounded down; a check requires exactness where needed. Division by 0 is an error.
    Quotient {
        /// Dividend.
        dividend: Size,
        /// Divisor.
        divisor: Size,
    },
}

/// A relation between sizes, checked at launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Required relation.
    pub relation: Relation,
    /// Left size.
    pub left: Size,
    /// Right size.
    pub right: Size,
    /// Subject of the error message, such as ``inner dimension of `matmul` ``.
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
