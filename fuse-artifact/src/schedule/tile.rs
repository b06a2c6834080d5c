//! Tile schedules of products: a workgroup has a tile of the result and steps along the depth.

use std::fmt::{self, Display, Formatter};

use super::split_suffix;
use crate::COOP_MATRIX_SUBGROUP;

/// Padding of a row in workgroup memory, in elements: avoids bank conflicts and keeps 16-byte alignment.
pub const TILE_PAD: u32 = 4;

/// Padding of a slice line for cooperative matrices, in elements: 16 bytes keep alignment and spread lines over banks.
pub const SLICE_PAD: u32 = 8;

/// A tile of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of a workgroup's tile.
    pub rows: u32,
    /// Columns of a workgroup's tile, a multiple of 4.
    pub columns: u32,
    /// Depth per step, a multiple of 4.
    pub depth: u32,
    /// Rows per invocation, a multiple of 4; with cooperative matrices per subgroup, a multiple of their size.
    pub invocation_rows: u32,
    /// Columns per invocation or subgroup, as [`invocation_rows`](Self::invocation_rows).
    pub invocation_columns: u32,
    /// Elements per load: 4, or 1 for operands of any stride.
    pub lanes: u32,
    /// Requires a depth of whole steps, which needs no masks on loads.
    pub k_aligned: bool,
    /// Path of operands to the arithmetic.
    pub mainloop: Mainloop,
    /// Division of the depth.
    pub k: K,
    /// Assignment of sibling products to workgroups.
    pub products: Products,
}

/// Main loop: the path of operands to the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mainloop {
    /// Both operands are staged in workgroup memory; invocations multiply scalars.
    Staged,
    /// Each invocation loads its operands from storage.
    Unstaged,
    /// Slice-K: this many k-groups of invocations share the tile, each with its own depths of a step. The left operand
    /// is staged in workgroup memory, right operands are streamed.
    SliceK(u32),
    /// Both operands are staged for cooperative matrices of this size in rows, columns and depth.
    CoopMatrix(u32),
}

/// Division of a tile's depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum K {
    /// One workgroup per tile.
    Whole,
    /// Split-K: several workgroups; a second pass adds their sums.
    Split,
    /// Stream-K: the first tiles have one workgroup each, as many as always run at a time. The depths of the others are
    /// concatenated and cut evenly; a second pass adds the sums.
    Stream,
}

/// Assignment of products that share their left operand to workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// Each workgroup computes all products.
    Fused,
    /// Each workgroup computes one product.
    Grouped,
}

impl Tile {
    /// A tile staged by one workgroup.
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

    /// Invocations per workgroup.
    pub const fn invocations(&self) -> u32 {
        self.group_invocations() * self.k_groups()
    }

    /// k-groups: groups of invocations that share the tile, each with its own depths.
    pub const fn k_groups(&self) -> u32 {
        if let Mainloop::SliceK(groups) = self.mainloop { groups } else { 1 }
    }

    /// Invocations of a k-group.
    pub const fn group_invocations(&self) -> u32 {
        let parts = (self.rows / self.invocation_rows) * (self.columns / self.invocation_columns);
        if let Mainloop::CoopMatrix(_) = self.mainloop { parts * COOP_MATRIX_SUBGROUP } else { parts }
    }

    /// True if each workgroup computes one of the products.
    pub const fn is_grouped(&self) -> bool {
        matches!(self.products, Products::Grouped)
    }

    /// True if invocations load operands from storage.
    pub const fn is_unstaged(&self) -> bool {
        matches!(self.mainloop, Mainloop::Unstaged)
    }

    /// True if workgroups share the depth and a second pass follows.
    pub const fn is_split(&self) -> bool {
        !matches!(self.k, K::Whole)
    }

    /// True if all workgroups have even shares of the depths.
    pub const fn is_stream_k(&self) -> bool {
        matches!(self.k, K::Stream)
    }

    /// Rows and columns of the cooperative matrices.
    pub const fn coop_matrix(&self) -> Option<u32> {
        if let Mainloop::CoopMatrix(size) = self.mainloop { Some(size) } else { None }
    }

    /// True if edge tiles are shifted inside the result: loads need no clamping, and their offsets are uniform.
    pub const fn shifted_at_edge(&self) -> bool {
        self.coop_matrix().is_some() && self.k_aligned
    }

    /// Accumulators per invocation for this many products.
    pub const fn sums(&self, products: u32) -> u32 {
        let sums = self.invocation_rows * self.invocation_columns * products;
        if self.coop_matrix().is_some() { sums / COOP_MATRIX_SUBGROUP } else { sums }
    }

    /// Bytes of workgroup memory: operand slices, and sums handed over by k-groups or cooperative matrices.
    ///
    /// Cooperative matrices hand over one matrix per subgroup and product.
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

    /// 4-vectors of sums that one half of the k-groups hands over to the other.
    pub const fn handed_vectors(&self, products: u32) -> u32 {
        self.k_groups() / 2 * self.group_invocations() * self.sums(products) / 4
    }

    /// Subgroups per workgroup, for cooperative matrices.
    pub const fn subgroups(&self) -> u32 {
        (self.rows / self.invocation_rows) * (self.columns / self.invocation_columns)
    }
}

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
