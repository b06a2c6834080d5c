//! Stream-K: tiles whose depths are shared evenly by as many workgroups as run at a time.
//!
//! With 288 tiles and 132 workgroups at a time, the third round would leave most of a machine without work. So only the first
//! tiles have a workgroup each; the steps of the others, one tile after the other, are cut into shares of the same length, and a
//! workgroup walks through its share: the end of a tile, perhaps whole ones, the beginning of another. Whole tiles go through
//! the epilogue at once, sums of parts to scratch memory, which a second pass adds up. After Osama, Merrill, Cecka, Garland and
//! Owens, "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU" (PPoPP 2023), where
//! workgroups wait for each other instead; WGSL does not promise that they run at the same time.

use crate::kernel::{Block, Val};
use fuse_artifact::{Slot, Uniform, schedule::Tile};

use super::MatmulKernel;
use crate::wgsl::{epilogue::Axes, shader::Shader};

/// Vectors of four sums of a tile.
pub(in crate::wgsl) const fn vectors(tile: Tile) -> u32 {
    tile.rows * tile.columns / 4
}

/// What `finish` does before all else: it keeps the sums of a part of a depth. The parts of a tile follow each other in scratch
/// memory, and in each its products.
pub(super) fn keep_parts<'k>(
    shader: &mut Shader<'k>,
    axes: &Axes<'k>,
    sum: fuse_artifact::DType,
    tile: Tile,
) -> Block<'k> {
    let scratch = shader.buffer(Slot::Scratch, sum, tile.lanes, true);
    let mut module = Block::new();
    module.line("var<private> is_part: bool;");
    module.line("var<private> part_at: u32;");
    module.line("var<private> part_row: u32;");
    module.line("var<private> part_column: u32;");
    shader.text(&module);
    let mut lines = Block::new();
    lines.line("if is_part {");
    let across = tile.columns / 4;
    lines.line(format!("let vector = part_at + (row - part_row) * {across}u + (column - part_column) / 4u;"));
    for (product, sum) in axes.sum_names().iter().enumerate() {
        lines.line(format!("{scratch}[vector + {}u] = {sum};", product as u32 * vectors(tile)));
    }
    lines.line("return;");
    lines.line("}");
    lines
}

impl<'k> MatmulKernel<'k> {
    /// Opens the loop over the tiles of this workgroup's share.
    pub(super) fn open_stream(&mut self) {
        let tile = self.tile;
        Shares::bind(&mut self.shader, &mut self.main, &self.axes, tile);
        let whole = self.shader.uniform(Uniform::WholeTiles);
        let splits = self.shader.uniform(Uniform::Splits);
        let batches = self.axes.batches(&mut self.shader);
        self.main.line(format!("var at = select({whole} * steps + (id - {whole}) * share, id * steps, id < {whole});"));
        self.main.line(format!("let end = min(at + select(share, steps, id < {whole}), tiles * {batches} * steps);"));
        self.main.line("while at < end {");
        self.main.line("let place = at / steps;");
        self.main.line("let first = at - place * steps;");
        self.main.line("let last = min(steps, first + end - at);");
        self.main.line(format!("let k_begin = first * {}u;", tile.depth));
        self.main.line(format!("let k_end = last * {}u;", tile.depth));
        self.main.line("is_part = last - first < steps;");
        self.main.line("if is_part {");
        self.main.line(format!("let cut = place - {whole};"));
        self.main.line(format!("let part = id - {whole} - cut * steps / share;"));
        let size = self.axes.products * vectors(tile);
        self.main.line(format!("part_at = (cut * {splits} + part) * {size}u;"));
        self.main.line("}");
        self.main.line("let tile = place % tiles;");
        self.main.line("let batch = place / tiles;");
    }

    /// Where the tile begins whose sums `finish` may have to keep.
    pub(super) fn place_part(&mut self) {
        let [row, column] = self.origin();
        self.main.line(format!("part_row = {row};"));
        self.main.line(format!("part_column = {column};"));
    }

    pub(super) fn close_stream(&mut self) {
        self.main.line("at += last - first;");
        self.main.line("}");
    }
}

/// Steps of a tile, those of a share, and the tiles of a batch.
pub(in crate::wgsl) struct Shares<'k> {
    pub(in crate::wgsl) steps: Val<'k>,
    pub(in crate::wgsl) share: Val<'k>,
    pub(in crate::wgsl) tiles: Val<'k>,
}

impl<'k> Shares<'k> {
    /// Binds them.
    pub(in crate::wgsl) fn bind(shader: &mut Shader<'k>, b: &mut Block<'k>, axes: &Axes<'k>, tile: Tile) -> Self {
        let share = shader.uniform(Uniform::SplitDepth);
        let (row_tiles, column_tiles) = (shader.uniform(Uniform::RowTiles), shader.uniform(Uniform::ColumnTiles));
        let steps = b.bind("steps", axes.depth / tile.depth);
        let share = b.bind("share", share / tile.depth);
        let tiles = b.bind("tiles", row_tiles * column_tiles);
        Self { steps, share, tiles }
    }
}
