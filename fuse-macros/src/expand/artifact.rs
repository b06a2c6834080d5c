//! Artifacts as Rust expressions.
//!
//! Writes a [`Function`] as statics and a constant expression, which borrows every list and string, so it can
//! initialize a `static`. It names the artifact's types through a module `a` that the caller brings into scope.
//!
//! # Invariant
//! Every `match` and destructuring is exhaustive, so a new field of the artifact fails to compile until it is written,
//! too.

use std::{collections::BTreeMap, fmt::Write as _};

use fuse_artifact::{
    Access, Binding, Check, DType, Domain, DomainKind, Features, Function, Grid, Kernel, List, MlGraph, MlOp,
    MlOperand, MlOption, Packing, Param, ParamKind, Pass, Plan, PlanGroup, QuantizedSpec, Refusal, Relation, Require,
    Schedule, Scratch, Size, Slot, Space, Symbol, SymbolSource, TensorSpec, Term, Text, Uniform, Variant, Wgsl, Work,
    schedule::{
        Attention, AttentionCoopMatrix, AttentionTile, Decode, Gemv, GemvRhs, GemvRows, K, Mainloop, Pointwise,
        Products, Reduction, ReductionOrder, RowLoads, Tile, Unstaged, WeightedSum,
    },
};
use proc_macro2::TokenStream;

/// Lists of an artifact and the expression that names them, in a block with `a` in scope.
pub(crate) fn constant(function: &Function) -> TokenStream {
    parsed(&text(function))
}

/// As [`constant`], with spans at the source, for an expression.
pub(crate) fn constant_by_place(function: &Function) -> TokenStream {
    let named = |name: &str| format!("a::Function{{name: a::Text::Borrowed({name}),");
    let place = "::core::concat!(\"fuse! at \", ::core::file!(), \":\", ::core::line!())";
    parsed(&text(function).replace(&named(&format!("{:?}", function.name)), &named(place)))
}

fn text(function: &Function) -> String {
    let mut lists = Lists::default();
    let value = function.constant(&mut lists);
    lists.items + &value
}

/// Parses all tokens at once: creating millions one by one takes seconds.
fn parsed(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("artifacts are tokens: {error}"))
}

/// Distinct lists of an artifact, each a static.
///
/// Alternatives share variants, variants share bindings and uniforms. rustc lowers a static once, but a constant at
/// each reference.
#[derive(Default)]
struct Lists {
    /// Names, by type, elements and targets.
    names: BTreeMap<(String, String, &'static str), String>,
    items: String,
    condition: &'static str,
}

impl Lists {
    fn list<T: Constant>(&mut self, list: &[T]) -> String {
        if list.is_empty() {
            return "a::List::Borrowed(&[])".to_owned();
        }
        let outer = self.condition;
        let (mut elements, mut conditional) = (String::new(), 0);
        for item in list {
            let condition = item.condition();
            conditional += usize::from(!condition.is_empty());
            self.condition = if condition.is_empty() { outer } else { condition };
            let _ = write!(elements, "{condition}{},", item.constant(self));
        }
        self.condition = outer;
        let (next, items) = (self.names.len(), &mut self.items);
        let name = self.names.entry((T::ty(), elements, outer)).or_insert_with_key(|(ty, elements, condition)| {
            let name = format!("L{next}");
            let mut length = list.len().to_string();
            if conditional > 0 {
                let _ = write!(length, "-{conditional}*cfg!(target_arch = \"wasm32\") as usize");
            }
            let _ = write!(items, "{condition}static {name}: [{ty}; {length}] = [{elements}];");
            name
        });
        format!("a::List::Borrowed(&{name})")
    }
}

trait Constant {
    fn ty() -> String;

    fn constant(&self, lists: &mut Lists) -> String;

    /// Attribute of a list element: the targets that have it.
    fn condition(&self) -> &'static str {
        ""
    }
}

impl<T: Constant + Clone> Constant for List<T> {
    fn ty() -> String {
        format!("a::List<{}>", T::ty())
    }

    fn constant(&self, lists: &mut Lists) -> String {
        lists.list(self)
    }
}

impl Constant for Text {
    fn ty() -> String {
        "a::Text".to_owned()
    }

    fn constant(&self, _: &mut Lists) -> String {
        format!("a::Text::Borrowed({self:?})")
    }
}

impl Constant for Wgsl {
    fn ty() -> String {
        "a::Wgsl".to_owned()
    }

    fn constant(&self, lists: &mut Lists) -> String {
        match self {
            Self::Whole(text) => format!("a::Wgsl::Whole({})", text.constant(lists)),
            Self::Shared { texts: _, number } => format!("a::shared_wgsl!(__FUSE_TEXTS, {number})"),
            Self::Made { .. } => format!("a::Wgsl::Whole(a::Text::Borrowed({:?}))", self.text()),
        }
    }
}

impl<T: Constant> Constant for Option<T> {
    fn ty() -> String {
        format!("::core::option::Option<{}>", T::ty())
    }

    fn constant(&self, lists: &mut Lists) -> String {
        match self {
            Some(value) => format!("::core::option::Option::Some({})", value.constant(lists)),
            None => "::core::option::Option::None".to_owned(),
        }
    }
}

impl<T: Constant, const N: usize> Constant for [T; N] {
    fn ty() -> String {
        format!("[{}; {N}]", T::ty())
    }

    fn constant(&self, lists: &mut Lists) -> String {
        let items: Vec<String> = self.iter().map(|item| item.constant(lists)).collect();
        format!("[{}]", items.join(","))
    }
}

impl Constant for f64 {
    fn ty() -> String {
        "f64".to_owned()
    }

    fn constant(&self, _: &mut Lists) -> String {
        // Float literals must be finite.
        format!("f64::from_bits({})", self.to_bits())
    }
}

/// Literals need no suffix: their fields have a type.
macro_rules! literals {
    ($($ty:ident)*) => {
        $(impl Constant for $ty {
            fn ty() -> String {
                stringify!($ty).to_owned()
            }

            fn constant(&self, _: &mut Lists) -> String {
                self.to_string()
            }
        })*
    };
}

literals! { bool u8 u16 u32 i64 }

/// True if pages omit a variant's shaders by default: few browsers have cooperative matrices.
pub(crate) fn only_outside_browsers(variant: &Variant) -> bool {
    cfg!(not(feature = "subgroup-matrix")) && variant.features.coop_matrix > 0
}

fn outside_browsers(variant: &Variant) -> &'static str {
    if only_outside_browsers(variant) { "#[cfg(not(target_arch = \"wasm32\"))]" } else { "" }
}

macro_rules! structs {
    ($($ty:ident { $($field:ident),* } $(=> $condition:ident)?)*) => {
        $(impl Constant for $ty {
            fn ty() -> String {
                concat!("a::", stringify!($ty)).to_owned()
            }

            fn constant(&self, lists: &mut Lists) -> String {
                let Self { $($field),* } = self;
                let fields = [$(concat!(stringify!($field), ": ").to_owned() + &$field.constant(lists)),*];
                format!("a::{}{{{}}}", stringify!($ty), fields.join(","))
            }

            $(fn condition(&self) -> &'static str {
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
        rows, columns, depth, invocation_rows, invocation_columns, lanes, k_aligned, mainloop, k, products
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
            fn ty() -> String {
                concat!("a::", stringify!($ty)).to_owned()
            }

            fn constant(&self, _lists: &mut Lists) -> String {
                match self {
                    $(Self::$variant $(($value))? $({ $($field),* })? => {
                        let _fields = "";
                        $(let _fields = format!("({})", $value.constant(_lists));)?
                        $(let _fields = [$(concat!(stringify!($field), ": ").to_owned() + &$field.constant(_lists)),*];
                        let _fields = format!("{{{}}}", _fields.join(","));)?
                        format!("a::{}::{}{_fields}", stringify!($ty), stringify!($variant))
                    })*
                }
            }
        })*
    };
}

enums! {
    DType { F32, F16, I32, U32, Bool, }
    ParamKind { Tensor(spec), Scalar(dtype), Size, Quantized(spec), }
    Packing { Q8, Q4, Q3, Q2, Q1, }
    SymbolSource { Axis { param, axis }, Scalar { param }, Broadcast(sizes), Quotient { dividend, divisor }, }
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
    GemvRhs { Elements { k_aligned }, Packed { bits }, Int8 { bits }, }
    ReductionOrder { Rows { loads, subgroups }, Columns, Scatter { axis }, }
    RowLoads { Held(loads), Streamed, }
    Attention { Tile(sizes), CoopMatrix(sizes), Decode(sizes), Unstaged(sizes), }
}
