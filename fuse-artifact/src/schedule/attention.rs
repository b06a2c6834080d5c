//! Attention schedules: a workgroup keeps queries and steps over the keys.

use std::fmt::{self, Display, Formatter};

use super::{LANES, SLICE_PAD, split_suffix};
use crate::COOP_MATRIX_SUBGROUP;

/// Schedule of an attention. With `split`, workgroups share the keys and a second pass combines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Queries, keys and values are staged in workgroup memory.
    Tile(AttentionTile),
    /// Staged, multiplied in cooperative matrices.
    CoopMatrix(AttentionCoopMatrix),
    /// Few queries: groups of invocations read whole rows of keys and values.
    Decode(Decode),
    /// Invocations have their own queries and use no workgroup memory.
    Unstaged(Unstaged),
}

/// A tile of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionTile {
    /// Queries per workgroup.
    pub queries: u32,
    /// Keys per step.
    pub keys: u32,
    /// Queries per invocation, a multiple of 4.
    pub rows: u32,
    /// Neighboring invocations that share a query.
    pub across: u32,
    /// Depth per load of keys, a multiple of 4.
    pub depth_step: u32,
    /// Keys per load of values, a multiple of 4 that divides `keys`.
    pub value_step: u32,
    /// Maximum depth, a multiple of `depth_step`.
    pub depth: u32,
    /// Maximum number of value columns, a multiple of `4·across`.
    pub columns: u32,
    /// Elements per load: 4 or 1.
    pub lanes: u32,
    /// Keeps queries in workgroup memory instead of reloading them with the keys.
    pub resident: bool,
    /// Workgroups share the keys.
    pub split: bool,
}

/// A tile of cooperative matrices, for exactly its depth and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionCoopMatrix {
    /// Queries per subgroup, a multiple of 16.
    pub rows: u32,
    /// Subgroups per workgroup.
    pub subgroups: u32,
    /// Keys per step, a multiple of 16.
    pub keys: u32,
    /// Depth.
    pub depth: u32,
    /// Number of value columns.
    pub columns: u32,
    /// Gives slices of values memory of their own, apart from that of keys.
    pub own_values: bool,
    /// Workgroups share the keys.
    pub split: bool,
}

/// A schedule for few queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decode {
    /// Queries per workgroup.
    pub queries: u32,
    /// Maximum depth, a multiple of [`DECODE_SPAN`].
    pub depth: u32,
    /// Maximum number of value columns, a multiple of [`DECODE_SPAN`].
    pub columns: u32,
    /// Workgroups share the keys.
    pub split: bool,
}

/// Invocations that share a key of [`Decode`].
pub const DECODE_LANES: u32 = 8;

/// Elements that a key's invocations read at once.
pub const DECODE_SPAN: u32 = DECODE_LANES * LANES;

/// Groups of invocations per workgroup, each with its own keys.
pub const DECODE_GROUPS: u32 = 16;

/// Keys per step: four for each group.
pub const DECODE_KEYS: u32 = DECODE_GROUPS * LANES;

/// A schedule whose invocations have their own queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unstaged {
    /// Queries per invocation.
    pub queries: u32,
    /// Maximum depth.
    pub depth: u32,
    /// Maximum number of value columns, a multiple of 4.
    pub columns: u32,
}

/// Invocations per workgroup of [`Unstaged`]: few, so that all cores of a CPU have work.
pub const UNSTAGED_INVOCATIONS: u32 = 16;

impl Attention {
    /// True if workgroups share the keys.
    pub const fn is_split(&self) -> bool {
        match self {
            Self::Tile(tile) => tile.split,
            Self::CoopMatrix(tile) => tile.split,
            Self::Decode(decode) => decode.split,
            Self::Unstaged(_) => false,
        }
    }

    /// Queries per workgroup.
    pub const fn queries(&self) -> u32 {
        match self {
            Self::Tile(tile) => tile.queries,
            Self::CoopMatrix(tile) => tile.queries(),
            Self::Decode(decode) => decode.queries,
            Self::Unstaged(unstaged) => unstaged.rows(),
        }
    }

    /// Keys per step.
    pub const fn keys(&self) -> u32 {
        match self {
            Self::Tile(tile) => tile.keys,
            Self::CoopMatrix(tile) => tile.keys,
            Self::Decode(_) => DECODE_KEYS,
            Self::Unstaged(_) => LANES,
        }
    }

    /// Larger of maximum depth and maximum value columns.
    pub const fn head(&self) -> u32 {
        let [depth, columns] = self.sides();
        if depth > columns { depth } else { columns }
    }

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
    /// Invocations per workgroup.
    pub const fn invocations(&self) -> u32 {
        self.queries / self.rows * self.across
    }

    /// Scores per invocation and query, a multiple of 4.
    pub const fn scores(&self) -> u32 {
        self.keys / self.across
    }

    /// Columns per invocation, a multiple of 4.
    pub const fn outputs(&self) -> u32 {
        self.columns / self.across
    }

    /// Elements of queries in workgroup memory at a time.
    pub const fn query_elements(&self) -> u32 {
        self.queries * if self.resident { self.depth } else { self.depth_step }
    }

    /// Elements of exponentials in workgroup memory at a time: a vector per query and invocation.
    pub const fn weight_elements(&self) -> u32 {
        self.queries * self.across * LANES
    }

    /// True if row statistics pass through the memory of the exponentials.
    pub const fn parts_share_weights(&self) -> bool {
        !self.resident
    }

    /// Elements of the memory shared by keys and values.
    pub const fn stage_elements(&self) -> u32 {
        let (keys, values) = (self.keys * self.depth_step, self.value_step * self.columns);
        if keys > values { keys } else { values }
    }
}

impl AttentionCoopMatrix {
    /// Rows, columns and depth of a matrix.
    pub const SIZE: u32 = 16;

    /// 4-vectors of a matrix of scores or outputs.
    pub const VECTORS: u32 = Self::SIZE * Self::SIZE / 4;

    /// Queries per workgroup.
    pub const fn queries(&self) -> u32 {
        self.rows * self.subgroups
    }

    /// Invocations per workgroup.
    pub const fn invocations(&self) -> u32 {
        self.subgroups * COOP_MATRIX_SUBGROUP
    }

    /// 4-vectors between lines of a slice or of probabilities, for lines of `elements`.
    pub const fn line_vectors(elements: u32) -> u32 {
        (elements + SLICE_PAD) / 4
    }

    /// 4-vectors of a slice of keys, a slice of values, and all subgroups' probabilities.
    pub const fn slice_vectors(&self) -> [u32; 3] {
        let (keys, values) = (self.keys * Self::line_vectors(self.depth), self.keys * Self::line_vectors(self.columns));
        let shared = if keys > values { keys } else { values };
        let weights = self.queries() * Self::line_vectors(self.keys);
        if self.own_values { [keys, values, weights] } else { [shared, 0, weights] }
    }

    /// 4-vectors of all subgroups' strips.
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
    /// Queries per workgroup.
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
            // Scalar tiles serve any depth.
            Self::Tile(AttentionTile { lanes: 1, .. }) => write!(f, " head {columns}")?,
            // Both are rounded up for most square heads.
            _ if 2 * depth.min(columns) > self.head() => write!(f, " head {}", self.head())?,
            _ => write!(f, " head {depth}x{columns}")?,
        }
        f.write_str(split_suffix(self.is_split()))
    }
}
