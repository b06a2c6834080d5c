//! The sizes of a tiled member, and what follows from them: invocations, sums of each, workgroup memory, its name.

use fuse_artifact::MATRIX_SUBGROUP;

use super::matrices;

/// Sums per invocation, of its at most 255 registers on the GPUs that were measured.
const MAX_SUMS: u32 = 128;

/// Workgroup memory that large adapters have.
pub(super) const MAX_SLICE_BYTES: u32 = 48 * 1024;

/// Sizes of a tiled member.
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
    /// Elements per load, 4 or 1.
    pub lanes: u32,
    /// Whether the depth must be a multiple of the step, which spares masks on every load.
    pub whole_steps: bool,
    /// Whether slices of the operands go through workgroup memory; otherwise each invocation reads what it multiplies.
    pub staged: bool,
    /// Groups of invocations that share the tile, each with its own depths of a step, and read the right operands from
    /// memory without keeping them. With 1, all invocations share slices of both operands.
    pub layers: u32,
    /// Whether a workgroup has the sums of one product, instead of all that share the left operand.
    pub stacked: bool,
    /// Whether all workgroups have the same share of all depths; the member then is `split`.
    pub stream_k: bool,
    /// Rows, columns and depth of the cooperative matrices that subgroups multiply; 0 where invocations multiply numbers.
    pub matrices: u32,
}

impl Tile {
    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        self.layer_invocations() * self.layers
    }

    /// Invocations that have one sum each of the tile's, or a part of one.
    pub const fn layer_invocations(&self) -> u32 {
        let parts = (self.rows / self.invocation_rows) * (self.columns / self.invocation_columns);
        if self.matrices > 0 { parts * MATRIX_SUBGROUP } else { parts }
    }

    pub(super) const fn new(rows: u32, columns: u32, depth: u32, invocation: [u32; 2], lanes: u32) -> Self {
        let [invocation_rows, invocation_columns] = invocation;
        Self {
            rows,
            columns,
            depth,
            invocation_rows,
            invocation_columns,
            lanes,
            whole_steps: false,
            staged: true,
            layers: 1,
            stacked: false,
            stream_k: false,
            matrices: 0,
        }
    }

    pub(super) const fn in_layers(self, layers: u32) -> Self {
        Self { layers, ..self }
    }

    pub(super) const fn in_whole_steps(self) -> Self {
        Self { whole_steps: true, ..self }
    }

    pub(super) const fn stacked(self) -> Self {
        Self { stacked: true, ..self }
    }

    pub(super) const fn in_streams(self) -> Self {
        Self { stream_k: true, ..self }
    }

    /// Sums per invocation for this many products.
    pub(super) const fn sums(&self, products: u32) -> u32 {
        let sums = self.invocation_rows * self.invocation_columns * products;
        if self.matrices > 0 { sums / MATRIX_SUBGROUP } else { sums }
    }

    /// Bytes of workgroup memory that the slices of the operands take, and what layers hand over.
    pub(super) const fn slice_bytes(&self, products: u32) -> u32 {
        if !self.staged {
            return 0;
        }
        if self.matrices > 0 {
            return matrices::bytes(self, products);
        }
        let right = if self.layers > 1 { 0 } else { (self.columns + PAD) * products };
        4 * self.depth * (self.rows + PAD + right) + 16 * self.handed_vectors(products)
    }

    /// Vectors of four sums that half of the layers hand over to the other half.
    pub const fn handed_vectors(&self, products: u32) -> u32 {
        self.layers / 2 * self.layer_invocations() * self.sums(products) / 4
    }

    /// Halves the depth of a step until the slices of so many products and `others`, what else is in workgroup memory, take at
    /// most `bytes`, or the depth is 1.
    pub(super) fn shrink_steps(&mut self, products: u32, others: u32, bytes: u32) {
        while self.depth > 1 && self.slice_bytes(products) + others > bytes {
            self.depth /= 2;
        }
    }

    /// The name of the member with these sizes.
    pub(super) fn name(&self) -> String {
        let Self { rows, columns, depth, matrices, .. } = *self;
        let stacked = if self.stacked { "stacked " } else { "" };
        let stream_k = if self.stream_k { " stream-k" } else { "" };
        match (self.staged, matrices) {
            (false, _) if self.lanes == 1 => format!("direct any {rows}x{columns}"),
            (false, _) => format!("{stacked}direct {rows}x{columns}"),
            (true, 0) if self.lanes == 1 => format!("unaligned {rows}x{columns}x{depth}"),
            (true, 0) => format!("{stacked}tile {rows}x{columns}x{depth}{stream_k}"),
            (true, _) => format!("{stacked}matrices {matrices}x{matrices} {rows}x{columns}x{depth}{stream_k}"),
        }
    }

    /// Whether the last tiles of a row or column of tiles are moved so that they lie inside the result: their loads need no
    /// clamping, and the offsets of loads to one that all invocations share.
    pub const fn is_moved_inside(&self) -> bool {
        self.matrices > 0 && self.whole_steps
    }

    /// Whether so many products side by side leave registers for the rest of the kernel, and workgroup memory.
    pub(super) const fn holds(&self, products: u32) -> bool {
        self.holds_beside(products, 0)
    }

    /// The same, with `others`, what else is in workgroup memory.
    pub(super) const fn holds_beside(&self, products: u32, others: u32) -> bool {
        self.sums(products) <= MAX_SUMS && self.slice_bytes(products) + others <= MAX_SLICE_BYTES
    }
}

/// Padding of a row of workgroup memory in elements, against bank conflicts; keeps 16-byte alignment.
pub const PAD: u32 = 4;
