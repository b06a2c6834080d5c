//! Artifacts as Rust expressions.
//!
//! Input: a compiled [`Function`]. Output: tokens of a constant expression of the same value, in which every
//! list and text is borrowed, so that it can initialize a `static`. The expression names the artifact's types
//! through a module `a` that the caller brings into scope.
//!
//! Every `match` and every destructuring here is exhaustive: a field added to the artifact fails to compile
//! until it is written out, too.

use fuse_artifact::{
    Access, Binding, Check, DType, Domain, DomainKind, Features, Function, Grid, Kernel, List, MlGraph, MlOp,
    MlOperand, MlOption, Packing, Param, ParamKind, Pass, Plan, PlanGroup, QuantizedSpec, Refusal, Relation, Require,
    Schedule, Scratch, Size, Slot, Space, Symbol, SymbolSource, TensorSpec, Term, Text, Uniform, Variant, Wgsl, Work,
    schedule::{
        Attention, AttentionCoopMatrix, AttentionTile, Decode, Gemv, GemvRhs, GemvRows, K, Mainloop, Pointwise,
        Products, Reduction, ReductionOrder, RowLoads, Tile, Unstaged, WeightedSum,
    },
};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// A value that can be written as a constant expression.
pub(crate) trait Constant {
    /// The expression.
    fn constant(&self) -> TokenStream;

    /// The attribute of the expression as an element of a list: for which targets it is there.
    fn condition(&self) -> TokenStream {
        TokenStream::new()
    }
}

impl<T: Constant + Clone> Constant for List<T> {
    fn constant(&self) -> TokenStream {
        let items = self.iter().map(Constant::constant);
        let conditions = self.iter().map(Constant::condition);
        quote!(a::List::Borrowed(&[#(#conditions #items),*]))
    }
}

impl Constant for Text {
    fn constant(&self) -> TokenStream {
        let text = Literal::string(self);
        quote!(a::Text::Borrowed(#text))
    }
}

impl Constant for Wgsl {
    fn constant(&self) -> TokenStream {
        match self {
            Self::Whole(text) => {
                let text = text.constant();
                quote!(a::Wgsl::Whole(#text))
            }
            Self::Shared { texts: _, number } => {
                let number = number.constant();
                quote!(a::shared_wgsl!(__FUSE_TEXTS, #number))
            }
        }
    }
}

impl<T: Constant> Constant for Option<T> {
    fn constant(&self) -> TokenStream {
        match self.as_ref().map(Constant::constant) {
            Some(value) => quote!(::core::option::Option::Some(#value)),
            None => quote!(::core::option::Option::None),
        }
    }
}

impl<T: Constant, const N: usize> Constant for [T; N] {
    fn constant(&self) -> TokenStream {
        let items = self.iter().map(Constant::constant);
        quote!([#(#items),*])
    }
}

impl Constant for bool {
    fn constant(&self) -> TokenStream {
        quote!(#self)
    }
}

impl Constant for f64 {
    fn constant(&self) -> TokenStream {
        // Literals of tokens must be finite.
        let bits = Literal::u64_unsuffixed(self.to_bits());
        quote!(f64::from_bits(#bits))
    }
}

/// Integers need no suffix: their fields have a type.
macro_rules! integers {
    ($($ty:ident => $literal:ident,)*) => {
        $(impl Constant for $ty {
            fn constant(&self) -> TokenStream {
                let literal = Literal::$literal(*self);
                quote!(#literal)
            }
        })*
    };
}

integers! { u8 => u8_unsuffixed, u16 => u16_unsuffixed, u32 => u32_unsuffixed, i64 => i64_unsuffixed, }

/// Browsers have no cooperative matrices: pages do not carry their shaders.
pub(crate) fn only_outside_browsers(variant: &Variant) -> bool {
    variant.features.coop_matrix > 0
}

fn outside_browsers(variant: &Variant) -> TokenStream {
    if only_outside_browsers(variant) { quote!(#[cfg(not(target_arch = "wasm32"))]) } else { TokenStream::new() }
}

macro_rules! structs {
    ($($ty:ident { $($field:ident),* } $(=> $condition:ident)?)*) => {
        $(impl Constant for $ty {
            fn constant(&self) -> TokenStream {
                let Self { $($field),* } = self;
                $(let $field = $field.constant();)*
                quote!(a::$ty { $($field: #$field),* })
            }

            $(fn condition(&self) -> TokenStream {
                $condition(self)
            })?
        })*
    };
}

structs! {
    Function { name, params, results, updates, symbols, checks, temporaries, kernels, plan, assumes, alternatives, webnn }
    MlGraph { operands, results }
    MlOperand { op, dtype, shape }
    MlOption { name, value }
    Param { name, kind }
    TensorSpec { dtype, shape, padded }
    QuantizedSpec { packing, axis, shape }
    Symbol { name, source }
    Check { relation, left, right, what }
    Size { terms }
    Term { symbols, coefficient }
    Kernel { name, domain, accesses, variants, work }
    Work { point, lhs, rhs, score, value, causal, window, row, row_passes, row_epilogue }
    Domain { kind, extents, fixed }
    Access { slot, space, view, axes, starts }
    Variant { name, requires, features, schedule, scratch, passes } => outside_browsers
    Scratch { per_output, per_row }
    Features { f16, subgroups, coop_matrix, int8_activations }
    Pass { wgsl, bindings, uniforms, grid, workgroup_size, workgroup_bytes, pins_loads }
    Binding { slot, dtype, writable }
    Plan {
        signature, groups, refusals, alternatives, kept, kept_bytes, unfused_dispatches, fused_bytes, unfused_bytes
    }
    PlanGroup { kernel, kind, operations, reads, writes, saves, variants }
    Refusal { producer, consumer, reason }
}

structs! {
    Pointwise { lanes, rank }
    Tile {
        rows, columns, depth, invocation_rows, invocation_columns, lanes, whole_steps, mainloop, k, products
    }
    Gemv { rows, columns, depth_lanes, rhs }
    Reduction { order, rows, invocations, lanes, axes, merged, split }
    AttentionTile {
        queries, keys, rows, across, depth_step, value_step, depth, columns, lanes, resident, split
    }
    AttentionCoopMatrix { rows, subgroups, keys, depth, columns, own_values, split }
    Decode { queries, depth, columns, split }
    Unstaged { queries, depth, columns }
    WeightedSum {
        rows, invocation_rows, across, depth_step, value_step, columns, lanes, coop_matrix
    }
}

macro_rules! enums {
    ($($ty:ident { $($variant:ident $(($value:ident))? $({ $($field:ident),* })?,)* })*) => {
        $(impl Constant for $ty {
            fn constant(&self) -> TokenStream {
                match self {
                    $(Self::$variant $(($value))? $({ $($field),* })? => {
                        $(let $value = $value.constant();)?
                        $($(let $field = $field.constant();)*)?
                        quote!(a::$ty::$variant $((#$value))? $({ $($field: #$field),* })?)
                    })*
                }
            }
        })*
    };
}

enums! {
    DType { F32, F16, I32, U32, Bool, }
    ParamKind { Tensor(spec), Scalar(dtype), Quantized(spec), }
    Packing { Q8, Q4, Q3, Q2, Q1, }
    SymbolSource { Axis { param, axis }, Broadcast(sizes), Quotient { dividend, divisor }, }
    Relation { Equal, AtMost, }
    DomainKind { Pointwise, Reduction { axes }, Contraction { products }, Attention, WeightedSum, }
    Space { Point, Lhs, Rhs, SecondLhs, SecondRhs, Score, Value, }
    Slot { Param(index), Scales(index), Temporary(index), Result(index), Scratch, }
    MlOp {
        Input(index),
        Number(value),
        Size(size),
        Counting,
        Call { method, operands, options },
        Cast(x),
        Reshape(x),
        Expand(x),
        Transpose { x, permutation },
        Slice { x, axis, start },
        Reduce { method, x, axes },
        Gather { x, indices, axis },
    }
    Require {
        RankAtMost(rank),
        InnerMultiple { of },
        Stride { access, axis, stride },
        Aligned { access, axis, of },
        Multiple { axis, of },
        AtMost { axis, value },
        AtLeast { axis, value },
    }
    Schedule {
        Pointwise(sizes), Tile(sizes), Gemv(sizes), Reduction(sizes), Attention(sizes), WeightedSum(sizes),
    }
    Grid { Elements { per_workgroup }, Tiles { rows, columns }, SharedTiles { workgroups }, WholeRows { rows }, Rows { rows }, }
    Uniform {
        Workgroups,
        Count,
        RowLength,
        Extent { axis },
        Offset { access },
        Stride { access, axis },
        ViewStride { access, axis },
        Scalar { param },
        RowTiles,
        ColumnTiles,
        Splits,
        SplitDepth,
        WholeTiles,
        Size { size },
    }
}

enums! {
    Mainloop { Staged, Unstaged, SliceK(groups), CoopMatrix(size), }
    K { Whole, Split, Stream, }
    Products { Fused, Grouped, }
    GemvRows { AtMost { rows, along_depth, split }, One, }
    GemvRhs { Elements { whole_steps }, Packed { bits }, Int8 { bits }, }
    ReductionOrder { Rows { loads, subgroups }, Columns, Scatter { axis }, }
    RowLoads { Held(loads), Streamed, }
    Attention { Tile(sizes), CoopMatrix(sizes), Decode(sizes), Unstaged(sizes), }
}
