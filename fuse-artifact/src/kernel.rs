use crate::{DType, List, Schedule, Size, Text, Wgsl};

/// One step of a function: a fused kernel with interchangeable variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// A name that is unique in its function, for example `linear.1.matmul`.
    pub name: Text,
    /// The space of indices that the kernel visits.
    pub domain: Domain,
    /// How indices of the domain become offsets into buffers.
    pub accesses: List<Access>,
    /// Ways to run the kernel. The last one has no requirement but features and limits.
    pub variants: List<Variant>,
    /// What it computes beside sums and products.
    pub work: Work,
}

/// Arithmetic per element of each [`Space`] of a kernel, in simple operations (an addition is one, an exponential about
/// eight): what estimates of time count, above all what a kernel computes again each time it loads an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Work {
    /// Per element of the output; of a reduction, per element of the rows.
    pub point: u32,
    /// Per element of the left operand or of the queries.
    pub lhs: u32,
    /// Per element of the right operand, of several products the sum; or of the keys.
    pub rhs: u32,
    /// Per score.
    pub score: u32,
    /// Per element of the values.
    pub value: u32,
    /// Whether a mask hides half of the scores, and later queries see more keys.
    pub causal: bool,
    /// The most keys that a mask leaves to any query, where it is a number of the text that goes along with the queries.
    pub window: Option<u32>,
    /// Of a product that reduces the rows of its left operand before it multiplies: per element of a row, in all passes.
    pub row: u32,
    /// How often it reads a row for that; 0 without.
    pub row_passes: u32,
    /// Of a product: whether what follows it reduces rows of its result.
    pub row_epilogue: bool,
}

/// The space of indices of a kernel.
///
/// The runtime may simplify a domain numerically before it picks a variant. Pointwise: axes of extent 1 are
/// dropped, and neighbouring axes merge where every access's strides allow. Reduction: the same, among the kept axes and
/// among the reduced ones. Contraction: batch axes fold into the rows where every access's strides allow and the right
/// operands do not depend on them. Attention and weighted sum: stay as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// What is computed per index.
    pub kind: DomainKind,
    /// Outermost first. Pointwise: the axes of the output. Reduction: kept axes, then reduced axes. Contraction: batch
    /// axes, then rows M, columns N, depth K. Attention: batch axes, then queries M, value columns E, keys N, depth D. Weighted
    /// sum: batch axes, then rows M, columns E, keys N, depth D of the first product, depth F of the second.
    pub extents: List<Size>,
    /// Set when the kernel uses coordinates as values (`index`), so that the domain must stay as it is.
    pub fixed: bool,
}

/// The kind of a kernel's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainKind {
    /// One value per index.
    Pointwise,
    /// Rows of elements taken together: one value per index of the kept axes, and possibly one per element.
    Reduction {
        /// How many of the last extents are reduced.
        axes: u8,
    },
    /// Sums of products over the depth.
    Contraction {
        /// Products that share their left operand: each has its own right operand of the same extents.
        products: u8,
    },
    /// `softmax(f(q·kᵀ))·v`, with an online softmax over the keys.
    Attention,
    /// `Σ f(a·b, c·d)[m, n] · w[n, :]` over the keys n, for one or more `f` and `w`; without a second product, its depth is 0.
    WeightedSum,
}

/// Which axes of the domain an access is indexed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The output. All axes of a pointwise or reduction domain; batch axes, M, N of a contraction; batch axes, M, E of
    /// an attention or weighted sum.
    Point,
    /// The left operand of a contraction: batch axes, M, K. The queries of an attention, or the left operand of a weighted sum's
    /// first product: batch axes, M, D.
    Lhs,
    /// A right operand of a contraction: batch axes, K, N. The keys of an attention, or the right operand of a weighted sum's first
    /// product: batch axes, D, N.
    Rhs,
    /// The left operand of a weighted sum's second product: batch axes, M, F.
    SecondLhs,
    /// The right operand of a weighted sum's second product: batch axes, F, N.
    SecondRhs,
    /// The scores of an attention, the weights of a weighted sum: batch axes, M, N.
    Score,
    /// The values of an attention, what a weighted sum adds up: batch axes, N, E.
    Value,
}

/// An affine map from the indices of a [`Space`] to elements of a buffer.
///
/// The buffer is seen as a contiguous tensor of shape `view`. Axis `d` of the space walks along view axis
/// `axes[d]` (not at all if `None`); a view axis of extent 1 has stride 0, which is what broadcasts.
/// The element offset is `Σ starts[v]·stride[v] + Σ index[d]·stride[axes[d]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The tensor.
    pub slot: Slot,
    /// The axes that index it.
    pub space: Space,
    /// The shape that the buffer is seen as.
    pub view: List<Size>,
    /// For each axis of the space, the view axis it walks along.
    pub axes: List<Option<u8>>,
    /// For each view axis, the first index (slices). Empty when all are zero.
    pub starts: List<Size>,
}

/// A tensor of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// Index into `Function::params` (a tensor, or the words of a quantized one). A pass writes it only if it is one of
    /// `Function::updates`.
    Param(u16),
    /// Index into `Function::params`: the scales of a quantized tensor.
    Scales(u16),
    /// Index into `Function::temporaries`.
    Temporary(u16),
    /// Index into `Function::results`.
    Result(u16),
    /// What the passes of one variant hand over: 32-bit words, as many as [`Variant::scratch`] says.
    Scratch,
}

/// One way to run a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// A readable name, for example `tile 64x64x16`.
    pub name: Text,
    /// What must hold for the variant to compute the right result.
    pub requires: List<Require>,
    /// What the adapter must have.
    pub features: Features,
    /// How it divides its work.
    pub schedule: Schedule,
    /// The size of the scratch buffer.
    pub scratch: Scratch,
    /// The dispatches, usually one.
    pub passes: List<Pass>,
}

/// Words of scratch memory: `splits · (outputs · per_output + rows · per_row)`. Outputs and rows are, of a contraction,
/// batch·M·N and batch·M; of an attention batch·M·E and batch·M; of a reduction both the number of kept indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Scratch {
    /// Words per output and part.
    pub per_output: u32,
    /// Words per row and part.
    pub per_row: u32,
}

/// A condition on a simplified domain; `access` counts in `Kernel::accesses`. Axis numbers count in `Domain::extents`
/// or, of a reduction, in the axes of the variant's text: kept axes, then reduced ones
/// ([`Reduction::axes`](crate::schedule::Reduction)), to which the axes that are left are aligned at the end of each part.
#[derive(Clone, Debug, PartialEq)]
pub enum Require {
    /// Pointwise: at most this many axes are left.
    RankAtMost(u8),
    /// Pointwise: the innermost extent is a multiple of `of`, or the domain has at most one axis left.
    InnerMultiple {
        /// The divisor.
        of: u32,
    },
    /// The stride of `access` along its space's axis `axis` is `stride` (pointwise: `axis` is ignored, the
    /// innermost axis left is meant; a domain of a single element meets every stride).
    Stride {
        /// The access.
        access: u16,
        /// The axis of the access's space.
        axis: u8,
        /// The stride in elements.
        stride: u32,
    },
    /// Every stride of `access` but the one along `axis` (pointwise: the innermost left), and its offset, is
    /// a multiple of `of`; or its stride along `axis` is 0, since what is broadcast needs no alignment.
    Aligned {
        /// The access.
        access: u16,
        /// The axis of the access's space.
        axis: u8,
        /// The divisor.
        of: u32,
    },
    /// The extent of the domain's axis is a multiple of `of`.
    Multiple {
        /// The axis of the domain.
        axis: u8,
        /// The divisor.
        of: u32,
    },
    /// The extent of the domain's axis is at most `value`.
    AtMost {
        /// The axis of the domain.
        axis: u8,
        /// The largest extent.
        value: u32,
    },
    /// The extent of the domain's axis is at least `value`.
    AtLeast {
        /// The axis of the domain.
        axis: u8,
        /// The smallest extent.
        value: u32,
    },
}

/// What an adapter must have for a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Features {
    /// WGSL `enable f16` (16-bit floats in storage and arithmetic).
    pub f16: bool,
    /// The smallest subgroup, in invocations, that the variant's subgroup operations work with; 0 if it has none. Texts do
    /// not say `enable subgroups`, which naga 30 refuses: the runtime adds it where a browser compiles them.
    pub subgroups: u32,
    /// Rows, columns and depth of the cooperative matrices that the variant multiplies, with `f16` operands and `f32` sums, in
    /// subgroups of exactly [`COOP_MATRIX_SUBGROUP`] invocations; 0 if it has none.
    pub coop_matrix: u32,
    /// Whether the variant rounds left operands to 8 bits and multiplies integers (`dot4I8Packed`): programs have to allow it.
    pub int8_activations: bool,
}

impl Features {
    /// Whether a variant that needs `needed` may run on an adapter that has these. What is refused here, no shapes allow.
    pub const fn cover(&self, needed: Self) -> bool {
        (self.f16 || !needed.f16)
            && (needed.coop_matrix == 0 || needed.coop_matrix == self.coop_matrix)
            && (self.int8_activations || !needed.int8_activations)
            && needed.subgroups <= self.subgroups
    }
}

/// How texts declare the uniform block `p`, whose fields are the words of [`Pass::uniforms`] in order.
pub const UNIFORM_BLOCK: &str = "@group(0) @binding(0) var<uniform> p: Params;";

/// How texts read [`Uniform::Workgroups`].
pub const UNIFORM_WORKGROUPS: &str = "p.workgroups";

/// How texts with functions that have a fast form, which is less exact, say that they use the exact one.
pub const EXACT_MATH: &str = "const fuse_fast_math = false;";

/// What takes the place of [`EXACT_MATH`] where a program asks for fast functions.
pub const FAST_MATH: &str = "const fuse_fast_math = true;";

/// How texts that read a quantized parameter say that scales and offsets of its groups are `f16`, two in a word; what follows
/// is the parameter's number and [`NARROW_SCALES_END`].
pub const NARROW_SCALES: &str = "const fuse_wide_scales_";

/// The end of that line.
pub const NARROW_SCALES_END: &str = " = false;";

/// What takes the place of [`NARROW_SCALES_END`] where they are `f32`, in a word each.
pub const WIDE_SCALES_END: &str = " = true;";

/// The line before a loop whose rounds may be done several at a time: `for (var i = first; i < end; i += step) {`, which closes
/// at its own indentation. Neither do its rounds wait for other invocations, nor does its body change the counter or leave the
/// loop.
pub const UNROLL: &str = "// unroll";

/// How the line before one `if x == 0u {` after another starts, which may become a `switch`; what follows is `x {`.
pub const CHAIN: &str = "// switch ";

/// The line after such a chain.
pub const CHAIN_END: &str = "// default: {} }";

/// Invocations of the subgroups that share cooperative matrices.
pub const COOP_MATRIX_SUBGROUP: u32 = 32;

/// One dispatch of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The shader; its entry point is `main`. Binding 0 is the uniform block (absent when `uniforms` is
    /// empty), bindings 1.. are `bindings` in order.
    pub wgsl: Wgsl,
    /// The storage buffers.
    pub bindings: List<Binding>,
    /// The 32-bit words of the uniform block, in order.
    pub uniforms: List<Uniform>,
    /// How many workgroups.
    pub grid: Grid,
    /// Invocations of a workgroup (one-dimensional).
    pub workgroup_size: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Whether all buffers are bound as writable, although the shader only reads most of them. Drivers may move loads of
    /// read-only buffers behind barriers, to just before their first use; those of writable ones they leave where they are.
    pub pins_loads: bool,
}

/// A storage buffer of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The tensor.
    pub slot: Slot,
    /// Its element type.
    pub dtype: DType,
    /// Whether the pass writes it.
    pub writable: bool,
}

/// How many workgroups a pass needs. The runtime lays them out in x and y so that no dimension passes the
/// adapter's limit; shaders compute `id = workgroup_id.x + workgroup_id.y * num_workgroups.x` and return
/// when `id` is not below `Uniform::Workgroups`.
#[derive(Clone, Debug, PartialEq)]
pub enum Grid {
    /// `ceil(elements / per_workgroup)`, over all elements of the domain (reduction: kept indices; contraction:
    /// batch·M·N; attention: batch·M·E).
    Elements {
        /// Elements per workgroup.
        per_workgroup: u32,
    },
    /// `batch · ceil(M / rows) · ceil(N / columns) · splits` (stream-K: one for each tile that is not shared, then one for each
    /// share of the others), and, where the schedule is grouped, as many for each
    /// product: of one batch and split, the tiles of a row of tiles are neighbours; products and splits vary slowest,
    /// then batches.
    Tiles {
        /// Rows of a tile.
        rows: u32,
        /// Columns of a tile.
        columns: u32,
    },
    /// Contraction, stream-K: so many for each tile whose depth is shared.
    SharedTiles {
        /// Workgroups per tile.
        workgroups: u32,
    },
    /// Contraction: `batch · ceil(M / rows)`, whatever the number of splits.
    WholeRows {
        /// Rows of a workgroup.
        rows: u32,
    },
    /// Reduction: `ceil(kept indices / rows) · splits`; splits vary slowest.
    Rows {
        /// Kept indices per workgroup.
        rows: u32,
    },
}

/// What a 32-bit word of the uniform block holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Uniform {
    /// Number of workgroups that have work.
    Workgroups,
    /// Elements of the domain (reduction: kept indices; contraction: batch·M·N; attention: batch·M·E).
    Count,
    /// Elements of a row of a reduction: the product of the reduced extents.
    RowLength,
    /// Extent of an axis of the simplified domain. Pointwise: axes are aligned at the end of the variant's
    /// rank, missing outer ones count as 1. Reduction: as in [`Require`]. Otherwise: as `Domain::extents`.
    Extent {
        /// The axis.
        axis: u8,
    },
    /// Element offset of an access.
    Offset {
        /// The access.
        access: u16,
    },
    /// Stride in elements of an access along an axis of its space (pointwise: aligned as `Extent`).
    Stride {
        /// The access.
        access: u16,
        /// The axis of its space.
        axis: u8,
    },
    /// Elements between neighbours along an axis of an access's view; 0 if the view has none, so that computed coordinates
    /// stay at its first element.
    ViewStride {
        /// The access.
        access: u16,
        /// The axis of its view.
        axis: u8,
    },
    /// A host scalar: bits of an `f32` (an `f16` is widened), `i32` or `u32`; a `bool` is 0 or 1.
    Scalar {
        /// Index into `Function::params`.
        param: u16,
    },
    /// Contraction, attention: number of tiles along the rows.
    RowTiles,
    /// Contraction, attention: number of tiles along the columns.
    ColumnTiles,
    /// In how many parts the depth (contraction), the keys (attention) or the row (reduction) is split; stream-K: in how many
    /// parts the depth of a shared tile is cut at most.
    Splits,
    /// Depth, keys or elements of one part, a multiple of the schedule's step.
    SplitDepth,
    /// Contraction, stream-K: tiles that have a workgroup each; the depths of those after them are shared.
    WholeTiles,
    /// A size in elements (the start of a slice where coordinates are used as values, a count).
    Size {
        /// The size.
        size: Size,
    },
}
