//! Tiles of cooperative matrices: subgroups multiply queries with keys, and probabilities with values, all `f16` of 16×16,
//! and sum in `f32`.
//!
//! A subgroup keeps its queries in matrices from the first key to the last. Keys and values pass through workgroup memory in
//! slices that all subgroups share; scores leave their matrices through a strip of it, one matrix per subgroup at a time, and
//! come back as probabilities.

use fuse_artifact::MATRIX_SUBGROUP;

use crate::schedule::contraction::matrices::{SHARED_UNIT_BYTES, SLICE_PAD};

/// Rows, columns and depth of the matrices.
pub(crate) const SIZE: u32 = 16;

/// Vectors of four of a matrix of scores or outputs.
pub(crate) const MATRIX_VECTORS: u32 = SIZE * SIZE / 4;

/// Sizes of a member. Depth and columns are those of every launch that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixTile {
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
}

/// Rows and subgroups of the members: the best for many queries, and half as many queries for fewer. Slices of 32 keys leave
/// two workgroups room on a compute unit (`docs/experiments.md`).
const TILES: [(u32, u32); 2] = [(32, 4), (16, 4)];

const KEYS: u32 = 32;

/// Depths and columns that whole rows of invocations load.
const SIDES: std::ops::RangeInclusive<u32> = SIZE..=128;

/// The members for a depth and a number of value columns.
pub(super) fn tiles(depth: u32, columns: u32) -> Vec<MatrixTile> {
    let loads = |side: u32| SIDES.contains(&side) && side.is_power_of_two();
    if !loads(depth) || !loads(columns) {
        return vec![];
    }
    let tile = |(rows, subgroups)| {
        let apart = MatrixTile { rows, subgroups, keys: KEYS, depth, columns, own_values: true };
        MatrixTile { own_values: apart.bytes() <= SHARED_UNIT_BYTES, ..apart }
    };
    TILES.into_iter().map(tile).collect()
}

impl MatrixTile {
    /// Queries of a workgroup.
    pub const fn queries(&self) -> u32 {
        self.rows * self.subgroups
    }

    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        self.subgroups * MATRIX_SUBGROUP
    }

    /// Vectors of four from one line of a slice or of probabilities to the next, for lines of `elements`.
    pub(crate) const fn line_vectors(elements: u32) -> u32 {
        (elements + SLICE_PAD) / 4
    }

    /// Vectors of four of a slice of keys, of one of values, and of the probabilities of all subgroups.
    pub(crate) const fn slice_vectors(&self) -> [u32; 3] {
        let (keys, values) = (self.keys * Self::line_vectors(self.depth), self.keys * Self::line_vectors(self.columns));
        let shared = if keys > values { keys } else { values };
        let weights = self.queries() * Self::line_vectors(self.keys);
        if self.own_values { [keys, values, weights] } else { [shared, 0, weights] }
    }

    /// Vectors of four of all subgroups' strips.
    pub(crate) const fn strip_vectors(&self) -> u32 {
        self.subgroups * MATRIX_VECTORS
    }

    /// Bytes of workgroup memory.
    const fn bytes(&self) -> u32 {
        let [keys, values, weights] = self.slice_vectors();
        8 * (keys + values + weights) + 16 * self.strip_vectors() + 16
    }
}
