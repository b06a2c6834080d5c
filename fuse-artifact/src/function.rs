use crate::{DType, Kernel, List, MlGraph, Packing, Plan, Size, SymbolId, Text};

/// One compiled `fuse!` function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The function's name, used in every message.
    pub name: Text,
    /// What the caller passes, in declaration order.
    pub params: List<Param>,
    /// What the launch returns, in order.
    pub results: List<TensorSpec>,
    /// Tensor parameters that are updated in place, as indices into `params`: kernels write them, and they are results of the
    /// launch as well, without being returned.
    pub updates: List<u16>,
    /// The dimensions that become known at launch. A symbol's source refers to parameters or to earlier symbols only.
    pub symbols: List<Symbol>,
    /// What must hold between dimensions besides the parameters' declared shapes.
    pub checks: List<Check>,
    /// Intermediate tensors that live from their producer to their last reader.
    pub temporaries: List<TensorSpec>,
    /// The dispatches, in order.
    pub kernels: List<Kernel>,
    /// How the function was cut into kernels, for people.
    pub plan: Plan,
    /// What `kernels` assume of shapes beyond what `checks` require.
    pub assumes: List<Check>,
    /// Other ways to compute the same function, with the same parameters, symbols and results (and no alternatives of
    /// their own). A launch takes, of the function and its alternatives, those whose assumptions hold and whose kernels
    /// can all run on the device, and of these the one with the least estimated time; the earlier if they are equal.
    /// The last has no assumptions and runs on every device.
    pub alternatives: List<Function>,
    /// The function for WebNN, if it has the attribute `#[webnn]`; alternatives have none.
    pub webnn: Option<MlGraph>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name in the source.
    pub name: Text,
    /// A tensor or a host scalar.
    pub kind: ParamKind,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// A tensor in a storage buffer.
    Tensor(TensorSpec),
    /// A number of the host (`f32`, `f16`, `i32`, `u32` or `bool`), passed in the uniform block.
    Scalar(DType),
    /// A `u32` of the host that is a size: the source of a symbol ([`SymbolSource::Scalar`]). Kernels may read it as a number, too.
    Size,
    /// A quantized tensor in two storage buffers, both of `u32`: packed values ([`Slot::Param`](crate::Slot::Param)) and
    /// the scales and offsets of their groups ([`Slot::Scales`](crate::Slot::Scales)).
    Quantized(QuantizedSpec),
}

/// What a parameter takes that is a quantized tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedSpec {
    /// How values lie in words.
    pub packing: Packing,
    /// The packed axis.
    pub axis: u8,
    /// The dimensions, outermost first, and after them the number of groups along the packed axis and the words that a
    /// scale and its offset take: 1, two `f16`, or 2, two `f32`.
    pub shape: List<Size>,
}

/// The dtype and shape of a parameter, a temporary or a result. Elements are contiguous, last axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSpec {
    /// The element type.
    pub dtype: DType,
    /// The dimensions, outermost first.
    pub shape: List<Size>,
    /// Set in the expression form, whose ranks are known only to the caller's type checker: a tensor may
    /// have fewer axes than `shape`, and then counts as if its missing outer axes had size 1.
    pub padded: bool,
}

/// A dimension that becomes known at launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Its name in messages, for example `M`.
    pub name: Text,
    /// Where its value comes from.
    pub source: SymbolSource,
}

/// Where the value of a symbol comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum SymbolSource {
    /// The extent of an axis of a tensor parameter (counted in `TensorSpec::shape`).
    Axis {
        /// Index into `Function::params`.
        param: u16,
        /// Axis of the declared shape (of a quantized tensor, of [`QuantizedSpec::shape`]).
        axis: u8,
    },
    /// The value of a parameter that is a size ([`ParamKind::Size`]).
    Scalar {
        /// Index into `Function::params`.
        param: u16,
    },
    /// The broadcast of several sizes: those that are not 1 must agree. Only in the expression form.
    Broadcast(List<Size>),
    /// How often one size goes into another, rounded down (a check says where it has to be exact). By 0 it is an error.
    Quotient {
        /// What is divided.
        dividend: Size,
        /// By what.
        divisor: Size,
    },
}

/// A relation between sizes that a launch checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What is required.
    pub relation: Relation,
    /// The left size.
    pub left: Size,
    /// The right size.
    pub right: Size,
    /// What it is about, for the message, for example ``inner dimension of `matmul` ``.
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
    /// The name of a symbol.
    pub fn symbol_name(&self, id: SymbolId) -> &str {
        &self.symbols[usize::from(id)].name
    }
}
