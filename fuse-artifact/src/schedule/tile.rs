//! Products in tiles: a workgroup has rows and columns of the result, and walks down the depth in steps.

use std::fmt::{self, Display, Formatter};

use super::split_suffix;
use crate::COOP_MATRIX_SUBGROUP;

/// Padding of a row of workgroup memory in elements, against bank conflicts; keeps 16-byte alignment.
pub const TILE_PAD: u32 = 4;

/// Padding of a row or column of a slice for cooperative matrices in elements: 16 bytes keep rows aligned and spread them over the
/// banks.
pub const SLICE_PAD: u32 = 8;

/// The sizes of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of a workgroup's tile.
    pub rows: u32,
    /// Columns of a workgroup's tile, a multiple of 4.
    pub columns: u32,
    /// Depth of a step, a multiple of 4.
    pub depth: u32,
    /// Rows per invocation, a multiple of 4; of cooperative matrices per subgroup, a multiple of their size.
    pub invocation_rows: u32,
    /// Columns per invocation, a multiple of 4; of cooperative matrices per subgroup, a multiple of their size.
    pub invocation_columns: u32,
    /// Elements per load: 4, or 1 for operands of any stride.
    pub lanes: u32,
    /// Whether the depth must be a multiple of the step, which spares masks on every load.
    pub k_aligned: bool,
    /// How operands reach the arithmetic.
    pub mainloop: Mainloop,
    /// Who sums over the depth.
    pub k: K,
    /// Which of several products that share their left operand a workgroup has.
    pub products: Products,
}

/// How operands reach the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mainloop {
    /// Slices of both pass through workgroup memory, and invocations multiply numbers.
    Staged,
    /// Each invocation reads what it multiplies.
    Unstaged,
    /// Slice-K: so many groups of invocations share the tile, each with its own depths of a step. Slices of the left operand
    /// pass through workgroup memory; right operands are read without keeping them.
    SliceK(u32),
    /// Slices of both pass through workgroup memory to cooperative matrices of so many rows, columns and depth.
    CoopMatrix(u32),
}

/// Who sums over the depth of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum K {
    /// A workgroup.
    Whole,
    /// Split-K: several workgroups, whose sums a second pass adds.
    Split,
    /// Stream-K: the first tiles have a workgroup each, as many as always run at a time; the others' depths, one after the
    /// other, are cut evenly, and a second pass adds the sums.
    Stream,
}

/// Which of several products that share their left operand a workgroup has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// All.
    Fused,
    /// One.
    Grouped,
}

impl Tile {
    /// A tile whose operands are staged by one workgroup.
    pub const fn new(rows: u32, columns: u32, depth: u32, [invocation_rows, invocation_columns]: [u32; 2]) -> Self {
        Self {
            rows,
            columns,
            depth,
            invocation_rows,
            invocation_columns,
            lanes: super::LANES,
            k_aligned: false,
            mainloop: Mainloop::Staged,
            k: K::Whole,
            products: Products::Fused,
        }
    }

    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        self.group_invocations() * self.k_groups()
    }

    /// Groups of invocations that share the tile, each with its own depths.
    pub const fn k_groups(&self) -> u32 {
        if let Mainloop::SliceK(groups) = self.mainloop { groups } else { 1 }
    }

    /// Invocations that have sums of the tile's, or of slice-K a part of each.
    pub const fn group_invocations(&self) -> u32 {
        let parts = (self.rows / self.invocation_rows) * (self.columns / self.invocation_columns);
        if let Mainloop::CoopMatrix(_) = self.mainloop { parts * COOP_MATRIX_SUBGROUP } else { parts }
    }

    /// Whether one of several workgroups has the sums of one product.
    pub const fn is_grouped(&self) -> bool {
        matches!(self.products, Products::Grouped)
    }

    /// Whether invocations read what they multiply.
    pub const fn is_unstaged(&self) -> bool {
        matches!(self.mainloop, Mainloop::Unstaged)
    }

    /// Whether workgroups share the depth, so that a second pass follows.
    pub const fn is_split(&self) -> bool {
        !matches!(self.k, K::Whole)
    }

    /// Whether all workgroups have even shares of the depths.
    pub const fn is_stream_k(&self) -> bool {
        matches!(self.k, K::Stream)
    }

    /// Rows and columns of the cooperative matrices.
    pub const fn coop_matrix(&self) -> Option<u32> {
        if let Mainloop::CoopMatrix(size) = self.mainloop { Some(size) } else { None }
    }

    /// Whether the last tiles of a row or column of tiles are moved so that they lie inside the result: their loads need no
    /// clamping, and the offsets of loads to one that all invocations share.
    pub const fn shifted_at_edge(&self) -> bool {
        self.coop_matrix().is_some() && self.k_aligned
    }

    /// Sums per invocation for this many products.
    pub const fn sums(&self, products: u32) -> u32 {
        let sums = self.invocation_rows * self.invocation_columns * products;
        if self.coop_matrix().is_some() { sums / COOP_MATRIX_SUBGROUP } else { sums }
    }

    /// Bytes of workgroup memory that the slices of the operands take, and what k-groups hand over or, of cooperative matrices, a
    /// matrix of sums per subgroup and product.
    pub const fn slice_bytes(&self, products: u32) -> u32 {
        let left = 4 * self.depth * (self.rows + TILE_PAD);
        match self.mainloop {
            Mainloop::Unstaged => 0,
            Mainloop::Staged => left + 4 * self.depth * (self.columns + TILE_PAD) * products,
            Mainloop::SliceK(_) => left + 16 * self.handed_vectors(products),
            Mainloop::CoopMatrix(size) => {
                let slices = matrix_slice(self.rows, self.depth) + products * matrix_slice(self.columns, self.depth);
                2 * slices + 4 * products * self.subgroups() * size * size
            }
        }
    }

    /// Vectors of four sums that half of the k-groups hand over to the other half.
    pub const fn handed_vectors(&self, products: u32) -> u32 {
        self.k_groups() / 2 * self.group_invocations() * self.sums(products) / 4
    }

    /// Subgroups of a workgroup, of cooperative matrices.
    pub const fn subgroups(&self) -> u32 {
        (self.rows / self.invocation_rows) * (self.columns / self.invocation_columns)
    }
}

/// The most elements that a slice for cooperative matrices takes, in either direction.
const fn matrix_slice(span: u32, depth: u32) -> u32 {
    let (along_depth, along_span) = (span * (depth + SLICE_PAD), depth * (span + SLICE_PAD));
    if along_depth > along_span { along_depth } else { along_span }
}

impl Display for Tile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, depth, .. } = *self;
        if self.is_grouped() {
            f.write_str("grouped ")?;
        }
        if self.lanes == 1 {
            f.write_str("scalar ")?;
        }
        match self.mainloop {
            Mainloop::Staged => write!(f, "tile {rows}x{columns}x{depth}")?,
            Mainloop::Unstaged => write!(f, "unstaged {rows}x{columns}")?,
            Mainloop::SliceK(_) => write!(f, "slice-k {rows}x{columns}x{depth}")?,
            Mainloop::CoopMatrix(size) => write!(f, "coop-matrix {size}x{size} {rows}x{columns}x{depth}")?,
        }
        f.write_str(match self.k {
            K::Whole => "",
            K::Split => split_suffix(true),
            K::Stream => " stream-k",
        })
    }
}
