use crate::{DType, List, Schedule, Size, Text, Wgsl};

/// A step of a function: a fused kernel with interchangeable variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Name, unique in the function, such as `linear.1.matmul`.
    pub name: Text,
    /// Index space of the kernel.
    pub domain: Domain,
    /// Maps from domain indices to buffer offsets.
    pub accesses: List<Access>,
    /// Variants; the last requires only features and limits.
    pub variants: List<Variant>,
    /// Arithmetic besides the products.
    pub work: Work,
}

/// Arithmetic per element of each [`Space`], for estimates of time.
///
/// In simple operations: an addition counts 1, an exponential about 8. Recomputation at operand loads matters most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Work {
    /// Per output element; for reductions, per row.
    pub point: u32,
    /// Per element of the left operand or queries.
    pub lhs: u32,
    /// Per element of the right operand, summed over products, or of the keys.
    pub rhs: u32,
    /// Per score.
    pub score: u32,
    /// Per element of the values.
    pub value: u32,
    /// A mask hides half of the scores; later queries see more keys.
    pub causal: bool,
    /// Maximum visible keys per query, if the mask moves with the queries by constants.
    pub window: Option<u32>,
    /// For row prologues: per element of a row, in all passes.
    pub row: u32,
    /// For row prologues: passes over a row; else 0.
    pub row_passes: u32,
    /// A product's epilogue reduces rows of the result.
    pub row_epilogue: bool,
}

/// Index space of a kernel.
///
/// The runtime may simplify a domain numerically before it selects a variant. Pointwise: axes of extent 1 are dropped,
/// and neighboring axes merge if all strides allow it. Reduction: the same, separately for kept and reduced axes.
/// Contraction: batch axes fold into the rows if all strides allow it and right operands do not depend on them.
/// Attention and weighted sum: never.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Computation per index.
    pub kind: DomainKind,
    /// Extents, outermost first.
    ///
    /// Pointwise: output axes. Reduction: kept axes, reduced axes. Contraction: batch axes, rows M, columns N, depth K.
    /// Attention: batch axes, queries M, value columns E, keys N, depth D. Weighted sum: batch axes, rows M, columns E,
    /// keys N, depths D and F of the first and second product.
    pub extents: List<Size>,
    /// Forbids simplification: the kernel uses coordinates as values (`index`).
    pub fixed: bool,
}

/// Kind of a kernel's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainKind {
    /// One value per index.
    Pointwise,
    /// Reduced rows: one value per kept index, perhaps one per element.
    Reduction {
        /// Number of trailing reduced extents.
        axes: u8,
    },
    /// Sums of products over the depth.
    Contraction {
        /// Number of products that share their left operand, with right operands of equal extents.
        products: u8,
    },
    /// `softmax(f(q·kᵀ))·v`, with an online softmax over the keys.
    Attention,
    /// `Σ f(a·b, c·d)[m, n] · w[n, :]` over keys n, for one or more `f` and `w`. Without a second product its depth is
    /// 0.
    WeightedSum,
}

/// Domain axes that index an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Output. Pointwise and reduction: all axes. Contraction: batch axes, M, N. Attention and weighted sum: batch
    /// axes, M, E.
    Point,
    /// Left operands. Contraction: batch axes, M, K. Queries, or left operand of a weighted sum's first product: batch
    /// axes, M, D.
    Lhs,
    /// Right operands. Contraction: batch axes, K, N. Keys, or right operand of a weighted sum's first product: batch
    /// axes, D, N.
    Rhs,
    /// Left operand of a weighted sum's second product: batch axes, M, F.
    SecondLhs,
    /// Right operand of a weighted sum's second product: batch axes, F, N.
    SecondRhs,
    /// Scores, or weights of a weighted sum: batch axes, M, N.
    Score,
    /// Values, or summands of a weighted sum: batch axes, N, E.
    Value,
}

/// An affine map from the indices of a [`Space`] to elements of a buffer.
///
/// The buffer is a contiguous tensor of shape `view`. Axis `d` of the space walks along view axis `axes[d]`, or stands
/// if `None`. A view axis of extent 1 has stride 0, so it broadcasts. The element offset is `Σ starts[v]·stride[v] + Σ
/// index[d]·stride[axes[d]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Tensor.
    pub slot: Slot,
    /// Space of the indices.
    pub space: Space,
    /// Shape of the view.
    pub view: List<Size>,
    /// View axis walked by each axis of the space.
    pub axes: List<Option<u8>>,
    /// First index along each view axis (slices); empty if all are zero.
    pub starts: List<Size>,
}

/// A tensor of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// Index into `Function::params`: a tensor, or the words of a quantized one. Writable only if in
    /// `Function::updates`.
    Param(u16),
    /// Index into `Function::params`: the scales of a quantized tensor.
    Scales(u16),
    /// Index into `Function::temporaries`.
    Temporary(u16),
    /// Index into `Function::results`.
    Result(u16),
    /// Scratch buffer between a variant's passes, sized by [`Variant::scratch`], in 32-bit words.
    Scratch,
}

/// One way to run a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Readable name, such as `tile 64x64x16`.
    pub name: Text,
    /// Conditions of a correct result.
    pub requires: List<Require>,
    /// Required adapter features.
    pub features: Features,
    /// Division of the work.
    pub schedule: Schedule,
    /// Size of the scratch buffer.
    pub scratch: Scratch,
    /// Dispatches, usually one.
    pub passes: List<Pass>,
}

/// Words of scratch memory: `splits · (outputs · per_output + rows · per_row)`.
///
/// Outputs and rows are batch·M·N and batch·M for contractions, batch·M·E and batch·M for attentions. For reductions,
/// both are the kept indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Scratch {
    /// Words per output and part.
    pub per_output: u32,
    /// Words per row and part.
    pub per_row: u32,
}

/// A condition on a simplified domain.
///
/// `access` indexes `Kernel::accesses`; axes index `Domain::extents`. For reductions they index the shader's axes, kept
/// before reduced ([`Reduction::axes`](crate::schedule::Reduction)); remaining axes align to the end of each part.
#[derive(Clone, Debug, PartialEq)]
pub enum Require {
    /// Pointwise: at most this many axes remain.
    RankAtMost(u8),
    /// Pointwise: the innermost extent is a multiple of `of`, or at most one axis remains.
    InnerMultiple {
        /// Divisor.
        of: u32,
    },
    /// The stride of `access` along `axis` of its space is `stride`. Pointwise: along the innermost remaining axis. A
    /// domain of one element meets every stride.
    Stride {
        /// Access.
        access: u16,
        /// Axis of the access's space.
        axis: u8,
        /// Stride in elements.
        stride: u32,
    },
    /// Offset and all strides of `access`, except along `axis`, are multiples of `of`. Pointwise: `axis` is the
    /// innermost remaining one. A stride of 0 along `axis` (broadcast) also meets this.
    Aligned {
        /// Access.
        access: u16,
        /// Axis of the access's space.
        axis: u8,
        /// Divisor.
        of: u32,
    },
    /// The extent of the domain's axis is a multiple of `of`.
    Multiple {
        /// Axis of the domain.
        axis: u8,
        /// Divisor.
        of: u32,
    },
    /// The extent of the domain's axis is at most `value`.
    AtMost {
        /// Axis of the domain.
        axis: u8,
        /// Largest extent.
        value: u32,
    },
    /// The extent of the domain's axis is at least `value`.
    AtLeast {
        /// Axis of the domain.
        axis: u8,
        /// Smallest extent.
        value: u32,
    },
}

/// Adapter features that a variant needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Features {
    /// WGSL `enable f16`: 16-bit floats in storage and arithmetic.
    pub f16: bool,
    /// Minimum subgroup size of subgroup operations; 0 without. Shaders omit `enable subgroups`, which naga 30 refuses;
    /// the runtime adds it in browsers.
    pub subgroups: u32,
    /// Rows, columns and depth of cooperative matrices; 0 without. Operands are `f16`, accumulators `f32`, in subgroups
    /// of exactly [`COOP_MATRIX_SUBGROUP`] invocations.
    pub coop_matrix: u32,
    /// Rounds left operands to 8 bits and multiplies integers (`dot4I8Packed`). Programs must allow it.
    pub int8_activations: bool,
}

impl Features {
    /// True if an adapter with these features can run a variant that needs `needed`, for any shapes.
    pub const fn cover(&self, needed: Self) -> bool {
        (self.f16 || !needed.f16)
            && (needed.coop_matrix == 0 || needed.coop_matrix == self.coop_matrix)
            && (self.int8_activations || !needed.int8_activations)
            && needed.subgroups <= self.subgroups
    }
}

/// Declaration of the uniform block `p` in shaders; its fields are [`Pass::uniforms`].
pub const UNIFORM_BLOCK: &str = "@group(0) @binding(0) var<uniform> p: Params;";

/// Expression for [`Uniform::Workgroups`] in shaders.
pub const UNIFORM_WORKGROUPS: &str = "p.workgroups";

/// Subgroup size of cooperative matrices.
pub const COOP_MATRIX_SUBGROUP: u32 = 32;

/// One dispatch of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// Shader with entry point `main`. Binding 0 is the uniform block (absent without `uniforms`); `bindings` follow in
    /// order.
    pub wgsl: Wgsl,
    /// Storage buffers.
    pub bindings: List<Binding>,
    /// Words of the uniform block, in order.
    pub uniforms: List<Uniform>,
    /// Number of workgroups.
    pub grid: Grid,
    /// Invocations per workgroup (one-dimensional).
    pub workgroup_size: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Binds all buffers as writable, although most are only read. Drivers may sink loads of read-only buffers below
    /// barriers; loads of writable ones stay.
    pub pins_loads: bool,
}

/// A storage buffer of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Tensor.
    pub slot: Slot,
    /// Element type.
    pub dtype: DType,
    /// The pass writes the buffer.
    pub writable: bool,
}

/// Number of workgroups of a pass.
///
/// The runtime distributes them over x and y within the adapter's limits. Shaders compute `id = workgroup_id.x +
/// workgroup_id.y * num_workgroups.x` and return if `id` is not below `Uniform::Workgroups`.
#[derive(Clone, Debug, PartialEq)]
pub enum Grid {
    /// `ceil(elements / per_workgroup)`. Elements are those of the domain; reduction: kept indices; contraction:
    /// batch·M·N; attention: batch·M·E.
    Elements {
        /// Elements per workgroup.
        per_workgroup: u32,
    },
    /// `batch · ceil(M / rows) · ceil(N / columns) · splits`, for grouped schedules times the products. Stream-K: one
    /// per unshared tile, then one per share of the others.
    ///
    /// Tiles of a row of tiles are neighbors. Products and splits vary slowest, then batches.
    Tiles {
        /// Rows of a tile.
        rows: u32,
        /// Columns of a tile.
        columns: u32,
    },
    /// Contraction, stream-K: workgroups per tile whose depth is shared.
    SharedTiles {
        /// Workgroups per tile.
        workgroups: u32,
    },
    /// Contraction: `batch · ceil(M / rows)`, for any number of splits.
    WholeRows {
        /// Rows per workgroup.
        rows: u32,
    },
    /// Reduction: `ceil(kept indices / rows) · splits`; splits vary slowest.
    Rows {
        /// Kept indices per workgroup.
        rows: u32,
    },
}

/// Content of a 32-bit word of the uniform block.
#[derive(Clone, Debug, PartialEq)]
pub enum Uniform {
    /// Number of workgroups that have work.
    Workgroups,
    /// Elements, as in [`Grid::Elements`].
    Count,
    /// Product of a reduction's reduced extents.
    RowLength,
    /// Extent of an axis of the simplified domain. Pointwise: axes align to the end of the variant's rank, and missing
    /// outer ones count as 1. Reduction: as in [`Require`]. Otherwise: as `Domain::extents`.
    Extent {
        /// Axis.
        axis: u8,
    },
    /// Element offset of an access.
    Offset {
        /// Access.
        access: u16,
    },
    /// Stride in elements of an access along an axis of its space (pointwise: aligned like `Extent`).
    Stride {
        /// Access.
        access: u16,
        /// Axis of its space.
        axis: u8,
    },
    /// Stride in elements along an axis of an access's view. 0 if the view is empty, so that computed coordinates stay
    /// at its first element.
    ViewStride {
        /// Access.
        access: u16,
        /// Axis of its view.
        axis: u8,
    },
    /// Bits of a host scalar: `f32` (also for `f16`), `i32` or `u32`; 0 or 1 for `bool`.
    Scalar {
        /// Index into `Function::params`.
        param: u16,
    },
    /// Contraction, attention: tiles along the rows.
    RowTiles,
    /// Contraction, attention: tiles along the columns.
    ColumnTiles,
    /// Splits of the depth (contraction), keys (attention) or row (reduction). Stream-K: maximum parts of a shared
    /// tile's depth.
    Splits,
    /// Depth, keys or elements per split, a multiple of the schedule's step.
    SplitDepth,
    /// Contraction, stream-K: tiles with a workgroup each; later tiles share their depths.
    WholeTiles,
    /// A size in elements: a slice start for coordinates used as values, or a count.
    Size {
        /// Size.
        size: Size,
    },
}
