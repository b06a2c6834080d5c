//! Schedules: how the work of a kernel is divided among workgroups and invocations.
//!
//! A schedule is data that the generator of its text, the choice at launch and the estimates of time all read. What a
//! schedule needs of operands and sizes depends on the kernel: [`Variant::requires`](crate::Variant).

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

/// How a variant divides its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// One value per index.
    Pointwise(Pointwise),
    /// Products, in tiles of the result.
    Tile(Tile),
    /// Products with few rows, or with few sums: invocations share the depth.
    Gemv(Gemv),
    /// Reductions of rows or columns.
    Reduction(Reduction),
    /// Attention.
    Attention(Attention),
    /// Sums weighted with a function of products.
    WeightedSum(WeightedSum),
}

/// Each invocation computes `lanes` neighbouring elements of a domain of up to `rank` axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointwise {
    /// Elements per invocation, along the innermost axis.
    pub lanes: u32,
    /// Axes that the text can index (1: flat).
    pub rank: u8,
}

impl Schedule {
    /// Whether several workgroups share what is summed over, and a later pass takes their parts together.
    pub const fn is_split(&self) -> bool {
        match self {
            Self::Pointwise(_) | Self::WeightedSum(_) => false,
            Self::Tile(tile) => tile.is_split(),
            Self::Gemv(gemv) => gemv.is_split(),
            Self::Reduction(reduction) => reduction.split,
            Self::Attention(attention) => attention.is_split(),
        }
    }

    /// Whether several elements are loaded at once.
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

    /// Rows, columns and step of depth of a workgroup. Of pointwise kernels the columns are elements of an invocation; of
    /// reductions rows are kept indices, and of attentions queries; of these and of weighted sums, the depth are keys,
    /// and a workgroup has all columns.
    pub fn extents(&self) -> [u64; 3] {
        let [rows, columns, depth] = match self {
            Self::Pointwise(pointwise) => [1, pointwise.lanes, 1],
            Self::Tile(tile) => [tile.rows, tile.columns, tile.depth],
            // Four elements of depth at a time, so that parts stay aligned for vector loads.
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

    /// What an adapter must have, but for `f16`, which depends on the operands.
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

/// Names: what tables, explanations and profiles call a schedule. They are unique in a kernel's family.
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

/// What names of schedules end with whose workgroups share what is summed over.
const fn split_suffix(split: bool) -> &'static str {
    if split { " split" } else { "" }
}
