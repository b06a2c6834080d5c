//! Schedules: division of a kernel's work among workgroups and invocations.
//!
//! Shader generator, launch and time estimates read them. Requirements on operands and sizes depend on the kernel:
//! [`Variant::requires`](crate::Variant).

mod attention;
mod gemv;
mod reduction;
mod tile;
mod weighted_sum;

use std::fmt::{self, Display, Formatter};

use crate::{COOP_MATRIX_SUBGROUP, Features};

pub use self::{
    attention::{
        Attention, AttentionCoopMatrix, AttentionTile, DECODE_GROUPS, DECODE_KEYS, DECODE_LANES, DECODE_SPAN, Decode,
        UNSTAGED_INVOCATIONS, Unstaged,
    },
    gemv::{Gemv, GemvRhs, GemvRows},
    reduction::{Reduction, ReductionOrder, RowLoads},
    tile::{K, Mainloop, Products, SLICE_PAD, TILE_PAD, Tile},
    weighted_sum::WeightedSum,
};

/// Elements of a vector load: 16 bytes of `f32`.
pub const LANES: u32 = 4;

/// Division of a variant's work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// One value per index.
    Pointwise(Pointwise),
    /// Products, in tiles of the result.
    Tile(Tile),
    /// Products with few rows or few sums; invocations share the depth.
    Gemv(Gemv),
    /// Reductions of rows or columns.
    Reduction(Reduction),
    /// Attention.
    Attention(Attention),
    /// Sums weighted by a function of products.
    WeightedSum(WeightedSum),
}

/// Each invocation computes `lanes` neighboring elements of a domain of up to `rank` axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointwise {
    /// Elements per invocation, along the innermost axis.
    pub lanes: u32,
    /// Axes that the shader can index (1: flat).
    pub rank: u8,
}

impl Schedule {
    /// True if workgroups share the summed axis and a later pass reduces their parts.
    pub const fn is_split(&self) -> bool {
        match self {
            Self::Pointwise(_) | Self::WeightedSum(_) => false,
            Self::Tile(tile) => tile.is_split(),
            Self::Gemv(gemv) => gemv.is_split(),
            Self::Reduction(reduction) => reduction.split,
            Self::Attention(attention) => attention.is_split(),
        }
    }

    /// True if loads are vectors.
    pub const fn loads_vectors(&self) -> bool {
        match self {
            Self::Pointwise(Pointwise { lanes, .. })
            | Self::Tile(Tile { lanes, .. })
            | Self::Reduction(Reduction { lanes, .. }) => *lanes > 1,
            Self::Gemv(_) => true,
            Self::Attention(Attention::Tile(tile)) => tile.lanes > 1,
            Self::Attention(_) => true,
            Self::WeightedSum(sum) => sum.lanes > 1,
        }
    }

    /// Rows, columns and depth step of a workgroup.
    ///
    /// Pointwise: columns are an invocation's elements. Reduction: rows are kept indices, depth counts elements.
    /// Attention: rows are queries. Attention and weighted sum: a workgroup has all columns, depth counts keys.
    pub fn extents(&self) -> [u64; 3] {
        let [rows, columns, depth] = match self {
            Self::Pointwise(pointwise) => [1, pointwise.lanes, 1],
            Self::Tile(tile) => [tile.rows, tile.columns, tile.depth],
            // Four elements of depth at a time keep parts aligned for vector loads.
            Self::Gemv(gemv) => [gemv.rows(), gemv.columns, gemv.depth_lanes.saturating_mul(LANES)],
            Self::Reduction(reduction) => {
                let lanes = if reduction.is_columns() { 1 } else { reduction.lanes };
                [reduction.rows, 1, reduction.invocations.saturating_mul(lanes)]
            }
            Self::Attention(attention) => [attention.queries(), attention.head(), attention.keys()],
            Self::WeightedSum(sum) => [sum.rows, sum.columns, sum.keys()],
        };
        [rows.into(), columns.into(), depth.into()]
    }

    /// Required features except `f16`, which depends on the operands.
    pub const fn features(&self) -> Features {
        let mut features = Features { f16: false, subgroups: 0, coop_matrix: 0, int8_activations: false };
        match self {
            Self::Tile(Tile { mainloop: Mainloop::CoopMatrix(size), .. }) => {
                features.subgroups = COOP_MATRIX_SUBGROUP;
                features.coop_matrix = *size;
            }
            Self::Attention(Attention::CoopMatrix(_)) | Self::WeightedSum(WeightedSum { coop_matrix: true, .. }) => {
                features.subgroups = COOP_MATRIX_SUBGROUP;
                features.coop_matrix = AttentionCoopMatrix::SIZE;
            }
            Self::Gemv(gemv) => features.int8_activations = matches!(gemv.rhs, GemvRhs::Int8 { .. }),
            Self::Reduction(Reduction { order: ReductionOrder::Rows { subgroups: Some(smallest), .. }, .. }) => {
                features.subgroups = *smallest;
            }
            Self::Pointwise(_) | Self::Tile(_) | Self::Reduction(_) | Self::Attention(_) | Self::WeightedSum(_) => {}
        }
        features
    }
}

/// Schedule's name in tables, explanations and profiles, unique in a kernel's family.
impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pointwise(pointwise) => pointwise.fmt(f),
            Self::Tile(tile) => tile.fmt(f),
            Self::Gemv(gemv) => gemv.fmt(f),
            Self::Reduction(reduction) => reduction.fmt(f),
            Self::Attention(attention) => attention.fmt(f),
            Self::WeightedSum(sum) => sum.fmt(f),
        }
    }
}

impl Display for Pointwise {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.lanes, self.rank) {
            (1, _) => "strided",
            (_, 1) => "flat",
            (_, 2) => "rows",
            _ => "vector",
        })
    }
}

const fn split_suffix(split: bool) -> &'static str {
    if split { " split" } else { "" }
}
