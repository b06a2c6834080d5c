//! Attention: a workgroup keeps queries and walks over the keys.

use std::fmt::{self, Display, Formatter};

use super::{LANES, SLICE_PAD, split_suffix};
use crate::COOP_MATRIX_SUBGROUP;

/// How an attention is computed. Where it is split, several workgroups share the keys, and a second pass combines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Queries, keys and values pass through workgroup memory.
    Tile(AttentionTile),
    /// The same, multiplied in cooperative matrices.
    CoopMatrix(AttentionCoopMatrix),
    /// Few queries: groups of invocations read whole rows of keys and values.
    Decode(Decode),
    /// Invocations have queries of their own and keep nothing in workgroup memory.
    Unstaged(Unstaged),
}

/// Sizes of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionTile {
    /// Queries of a workgroup.
    pub queries: u32,
    /// Keys of one step.
    pub keys: u32,
    /// Queries per invocation, a multiple of 4.
    pub rows: u32,
    /// Invocations that share a query; they are neighbors.
    pub across: u32,
    /// Depth of one load of keys into workgroup memory, a multiple of 4.
    pub depth_step: u32,
    /// Keys of one load of values into workgroup memory, a multiple of 4 that divides `keys`.
    pub value_step: u32,
    /// The largest depth, a multiple of `depth_step`.
    pub depth: u32,
    /// The largest number of value columns, a multiple of `4·across`.
    pub columns: u32,
    /// Elements per load, 4 or 1.
    pub lanes: u32,
    /// Whether the queries stay in workgroup memory; else they are loaded with the keys.
    pub resident: bool,
    /// Whether workgroups share the keys.
    pub split: bool,
}

/// Sizes of a tile of cooperative matrices. Depth and columns are those of every launch that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionCoopMatrix {
    /// Queries of a subgroup, a multiple of 16.
    pub rows: u32,
    /// Subgroups of a workgroup.
    pub subgroups: u32,
    /// Keys of one step, a multiple of 16.
    pub keys: u32,
    /// The depth.
    pub depth: u32,
    /// The number of value columns.
    pub columns: u32,
    /// Whether slices of values have memory of their own; else they take turns with those of keys.
    pub own_values: bool,
    /// Whether workgroups share the keys.
    pub split: bool,
}

/// Sizes for few queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decode {
    /// Queries of a workgroup.
    pub queries: u32,
    /// The largest depth, a multiple of [`DECODE_SPAN`].
    pub depth: u32,
    /// The largest number of value columns, a multiple of [`DECODE_SPAN`].
    pub columns: u32,
    /// Whether workgroups share the keys.
    pub split: bool,
}

/// Invocations that share a key of [`Decode`].
pub const DECODE_LANES: u32 = 8;

/// Elements that the invocations of a key read at once.
pub const DECODE_SPAN: u32 = DECODE_LANES * LANES;

/// Groups of invocations of a workgroup; each has its own keys.
pub const DECODE_GROUPS: u32 = 16;

/// Keys of a step: four for each group.
pub const DECODE_KEYS: u32 = DECODE_GROUPS * LANES;

/// Sizes where invocations have queries of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unstaged {
    /// Queries of an invocation.
    pub queries: u32,
    /// The largest depth.
    pub depth: u32,
    /// The largest number of value columns, a multiple of 4.
    pub columns: u32,
}

/// Invocations of a workgroup of [`Unstaged`]: few, so that a processor's cores all have some.
pub const UNSTAGED_INVOCATIONS: u32 = 16;

impl Attention {
    /// Whether workgroups share the keys.
    pub const fn is_split(&self) -> bool {
        match self {
            Self::Tile(tile) => tile.split,
            Self::CoopMatrix(tile) => tile.split,
            Self::Decode(decode) => decode.split,
            Self::Unstaged(_) => false,
        }
    }

    /// Queries of a workgroup.
    pub const fn queries(&self) -> u32 {
        match self {
            Self::Tile(tile) => tile.queries,
            Self::CoopMatrix(tile) => tile.queries(),
            Self::Decode(decode) => decode.queries,
            Self::Unstaged(unstaged) => unstaged.rows(),
        }
    }

    /// Keys of one step.
    pub const fn keys(&self) -> u32 {
        match self {
            Self::Tile(tile) => tile.keys,
            Self::CoopMatrix(tile) => tile.keys,
            Self::Decode(_) => DECODE_KEYS,
            Self::Unstaged(_) => LANES,
        }
    }

    /// The largest depth and number of value columns, whichever is larger.
    pub const fn head(&self) -> u32 {
        let [depth, columns] = self.sides();
        if depth > columns { depth } else { columns }
    }

    /// The largest depth, and the largest number of value columns.
    const fn sides(&self) -> [u32; 2] {
        match self {
            Self::Tile(tile) => [tile.depth, tile.columns],
            Self::CoopMatrix(tile) => [tile.depth, tile.columns],
            Self::Decode(decode) => [decode.depth, decode.columns],
            Self::Unstaged(unstaged) => [unstaged.depth, unstaged.columns],
        }
    }
}

impl AttentionTile {
    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        self.queries / self.rows * self.across
    }

    /// Scores of an invocation per query, a multiple of 4.
    pub const fn scores(&self) -> u32 {
        self.keys / self.across
    }

    /// Columns of an invocation, a multiple of 4.
    pub const fn outputs(&self) -> u32 {
        self.columns / self.across
    }

    /// Elements of the queries that are in workgroup memory at a time.
    pub const fn query_elements(&self) -> u32 {
        self.queries * if self.resident { self.depth } else { self.depth_step }
    }

    /// Elements of the exponentials that are in workgroup memory at a time: for each query a vector of each invocation.
    pub const fn weight_elements(&self) -> u32 {
        self.queries * self.across * LANES
    }

    /// Whether what invocations know of their rows passes through the memory of the exponentials.
    pub const fn parts_share_weights(&self) -> bool {
        !self.resident
    }

    /// Elements of the memory that keys and values take turns in.
    pub const fn stage_elements(&self) -> u32 {
        let (keys, values) = (self.keys * self.depth_step, self.value_step * self.columns);
        if keys > values { keys } else { values }
    }
}

impl AttentionCoopMatrix {
    /// Rows, columns and depth of the matrices.
    pub const SIZE: u32 = 16;

    /// Vectors of four of a matrix of scores or outputs.
    pub const VECTORS: u32 = Self::SIZE * Self::SIZE / 4;

    /// Queries of a workgroup.
    pub const fn queries(&self) -> u32 {
        self.rows * self.subgroups
    }

    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        self.subgroups * COOP_MATRIX_SUBGROUP
    }

    /// Vectors of four from one line of a slice or of probabilities to the next, for lines of `elements`.
    pub const fn line_vectors(elements: u32) -> u32 {
        (elements + SLICE_PAD) / 4
    }

    /// Vectors of four of a slice of keys, of one of values, and of the probabilities of all subgroups.
    pub const fn slice_vectors(&self) -> [u32; 3] {
        let (keys, values) = (self.keys * Self::line_vectors(self.depth), self.keys * Self::line_vectors(self.columns));
        let shared = if keys > values { keys } else { values };
        let weights = self.queries() * Self::line_vectors(self.keys);
        if self.own_values { [keys, values, weights] } else { [shared, 0, weights] }
    }

    /// Vectors of four of all subgroups' strips.
    pub const fn strip_vectors(&self) -> u32 {
        self.subgroups * Self::VECTORS
    }

    /// Bytes of workgroup memory.
    pub const fn bytes(&self) -> u32 {
        let [keys, values, weights] = self.slice_vectors();
        8 * (keys + values + weights) + 16 * self.strip_vectors() + 16
    }
}

impl Unstaged {
    /// Queries of a workgroup.
    pub const fn rows(&self) -> u32 {
        self.queries * UNSTAGED_INVOCATIONS
    }
}

impl Display for Attention {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [depth, columns] = self.sides();
        match self {
            Self::Tile(tile) => {
                let scalar = if tile.lanes == 1 { "scalar " } else { "" };
                write!(f, "{scalar}tile {}x{} {}x{}", tile.queries, tile.keys, tile.rows, tile.scores())?;
            }
            Self::CoopMatrix(tile) => {
                write!(f, "coop-matrix {}x{} {}x{}", tile.queries(), tile.keys, tile.rows, tile.keys)?;
            }
            Self::Decode(decode) => write!(f, "decode {}", decode.queries)?,
            Self::Unstaged(unstaged) => write!(f, "unstaged {}", unstaged.queries)?,
        }
        match self {
            // Those serve any depth.
            Self::Tile(AttentionTile { lanes: 1, .. }) => write!(f, " head {columns}")?,
            // Both are rounded up for most heads that are square.
            _ if 2 * depth.min(columns) > self.head() => write!(f, " head {}", self.head())?,
            _ => write!(f, " head {depth}x{columns}")?,
        }
        f.write_str(split_suffix(self.is_split()))
    }
}
