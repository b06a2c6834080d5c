//! Stream-K: tiles whose depths are shared evenly by as many workgroups as run at a time.
//!
//! With 288 tiles and 132 workgroups at a time, the third round would leave most of a machine without work. So only the first
//! tiles have a workgroup each; the steps of the others, one tile after the other, are cut into shares of the same length, and a
//! workgroup walks through its share: the end of a tile, perhaps whole ones, the beginning of another. Whole tiles go through
//! the epilogue at once, sums of parts to scratch memory, which a second pass adds up. After Osama, Merrill, Cecka, Garland and
//! Owens, "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU" (PPoPP 2023), where
//! workgroups wait for each other instead; WGSL does not promise that they run at the same time.

use fuse_artifact::{Grid, Pass, Slot, Space, Uniform, schedule::Tile};

use super::{TileText, locate_tile};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::Member,
    wgsl::{
        builtins::vector_type,
        epilogue::{Axes, Epilogue, sum_dtype},
        names::Names,
        shader::{Lines, Shader},
    },
};

/// Invocations of a workgroup of the second pass, each with a vector of sums.
const FINISH_WORKGROUP: u32 = 256;

/// Vectors of four sums of a tile.
const fn vectors(tile: Tile) -> u32 {
    tile.rows * tile.columns / 4
}

/// Workgroups of the second pass per tile.
const fn finish_workgroups(tile: Tile) -> u32 {
    vectors(tile) / FINISH_WORKGROUP
}

/// What `finish` does before all else: it keeps the sums of a part of a depth. The parts of a tile follow each other in scratch
/// memory, and in each its products.
pub(super) fn keep_parts(shader: &mut Shader<'_>, axes: &Axes, sum: fuse_artifact::DType, tile: Tile) -> Lines {
    let scratch = shader.buffer(Slot::Scratch, sum, tile.lanes, true);
    let mut module = Lines::default();
    module.line("var<private> is_part: bool;");
    module.line("var<private> part_at: u32;");
    module.line("var<private> part_row: u32;");
    module.line("var<private> part_column: u32;");
    shader.module.append(&module);
    let mut lines = Lines::default();
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

impl TileText<'_> {
    /// Opens the loop over the tiles of this workgroup's share.
    pub(super) fn open_stream(&mut self) {
        let tile = self.tile;
        declare_shares(&mut self.shader, &mut self.main, &self.axes, tile);
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

/// Declares the steps of a tile, those of a share, and the tiles of a batch.
fn declare_shares(shader: &mut Shader<'_>, main: &mut Lines, axes: &Axes, tile: Tile) {
    let share = shader.uniform(Uniform::SplitDepth);
    let (row_tiles, column_tiles) = (shader.uniform(Uniform::RowTiles), shader.uniform(Uniform::ColumnTiles));
    main.line(format!("let steps = {} / {}u;", axes.depth, tile.depth));
    main.line(format!("let share = {share} / {}u;", tile.depth));
    main.line(format!("let tiles = {row_tiles} * {column_tiles};"));
}

/// The second pass: adds the parts of the tiles that were cut, and applies the epilogue.
pub fn finish_streams(group: &Group, contraction: &Contraction, names: &Names, member: &Member, tile: Tile) -> Pass {
    debug_assert!(
        member.schedule.is_split() && vectors(tile).is_multiple_of(FINISH_WORKGROUP),
        "tiles have whole workgroups"
    );
    let mut shader = Shader::new(names);
    let sum = sum_dtype(group, contraction);
    for access in group.accesses.iter().filter(|access| access.access.space == Space::Point) {
        shader.buffer(access.access.slot, access.dtype, tile.lanes, false);
    }
    let scratch = shader.buffer(Slot::Scratch, sum, tile.lanes, false);
    let axes = Axes::new(&mut shader, group, contraction);
    Epilogue::new(group, &axes, sum, tile.lanes, tile.lanes).declare(&mut shader);
    let mut main = Lines::indented();
    shader.number_workgroups(&mut main);
    declare_shares(&mut shader, &mut main, &axes, tile);
    let of_tile = finish_workgroups(tile);
    main.line(format!("let cut = id / {of_tile}u;"));
    main.line("let first = cut * steps / share;");
    main.line("let parts = (cut * steps + steps - 1u) / share - first + 1u;");
    main.line("if parts == 1u {");
    main.line("return;");
    main.line("}");
    let (whole, splits) = (shader.uniform(Uniform::WholeTiles), shader.uniform(Uniform::Splits));
    main.line(format!("let place = {whole} + cut;"));
    main.line("let tile = place % tiles;");
    main.line("let batch = place / tiles;");
    axes.decode_batch(&mut shader, &mut main);
    locate_tile(&mut shader, &mut main, tile, ["row0", "column0"]);
    main.line(format!("let vector = id % {of_tile}u * {FINISH_WORKGROUP}u + local;"));
    let across = tile.columns / 4;
    let names = axes.sum_names();
    for name in &names {
        main.line(format!("var {name} = {}();", vector_type(sum, tile.lanes)));
    }
    let size = axes.products * vectors(tile);
    main.unrollable("s", "0u", "parts", 1);
    for (product, name) in names.iter().enumerate() {
        let product = product as u32 * vectors(tile);
        main.line(format!("{name} += {scratch}[(cut * {splits} + s) * {size}u + {product}u + vector];"));
    }
    main.line("}");
    let place = format!("row0 + vector / {across}u, column0 + vector % {across}u * 4u");
    main.line(format!("finish(batch, {}{place}, {});", axes.batch_arguments(), names.join(", ")));
    shader.main = main;
    shader.finish(Grid::SharedTiles { workgroups: of_tile }, FINISH_WORKGROUP)
}
