//! Assigns work to workgroups and invocations: elements, tile, batch, part of a sum.

use fuse_artifact::{Uniform, schedule::Tile};

use super::{epilogue::Axes, shader::Shader};
use crate::kernel::{Block, IntoVal, Val};

/// Height of columns of tiles walked together, to keep operands in cache.
const SWIZZLE_ROWS: u32 = 8;

/// [`SWIZZLE_ROWS`] for cooperative matrices, whose operands take half the cache.
const MATRIX_SWIZZLE_ROWS: u32 = 16;

/// Tile size from which swizzling is worth its divisions.
const SWIZZLED_TILE: u32 = 128 * 128;

/// Binds the index; surplus workgroups return.
pub(super) fn workgroups<'k>(shader: &mut Shader<'k>, b: &mut Block<'k>) -> Val<'k> {
    let workgroups = shader.uniform(Uniform::Workgroups);
    let id = b.bind("id", shader.workgroup_number());
    b.return_if(id.ge(workgroups));
    id
}

/// Binds the index; invocations without a unit return.
pub(super) fn units<'k>(shader: &Shader<'k>, b: &mut Block<'k>, workgroup: u32, units: Val<'k>) -> Val<'k> {
    let id = b.bind("id", shader.workgroup_number());
    let i = b.bind("i", id * workgroup + shader.local());
    b.return_if(i.ge(units));
    i
}

pub(super) struct ResultUnit<'k> {
    pub i: Val<'k>,
    pub units: Val<'k>,
    pub batch: Val<'k>,
    pub row: Val<'k>,
    pub column: Val<'k>,
    pub line: Val<'k>,
}

/// Binds `i`, `row`, `column`, `batch` and `line` of this invocation's unit.
pub(super) fn result_units<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    axes: &Axes<'k>,
    [workgroup, lanes]: [u32; 2],
) -> ResultUnit<'k> {
    let count = shader.uniform(Uniform::Count);
    let units = b.bind("units", count / lanes);
    let i = self::units(shader, b, workgroup, units);
    let column = b.bind("column", i * lanes % axes.columns);
    let line = b.bind("line", i * lanes / axes.columns);
    let row = b.bind("row", line % axes.rows);
    let batch = b.bind("batch", line / axes.rows);
    axes.decode_batch(shader, b, batch);
    ResultUnit { i, units, batch, row, column, line }
}

/// Binds `batch` and `part` of a workgroup, for this many tiles per batch; `part` is its index among those that share
/// sums.
pub(super) fn batch_and_part<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    axes: &Axes<'k>,
    id: Val<'k>,
    tiles: Val<'k>,
) -> [Val<'k>; 2] {
    let batches = axes.batches(shader);
    let batch = b.bind("batch", id / tiles % batches);
    // A separate value: browsers reject barriers in loops over ranges that depend on private variables, which may be
    // nonuniform.
    let part = b.bind("part", id / (tiles * batches));
    b.set(shader.split(), part);
    [batch, part]
}

pub(super) fn depth_of_part<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    axes: &Axes<'k>,
    part: Val<'k>,
) -> [Val<'k>; 2] {
    let split_depth = shader.uniform(Uniform::SplitDepth);
    let begin = b.bind("k_begin", part * split_depth);
    let end = b.bind("k_end", axes.depth.min(begin + split_depth));
    [begin, end]
}

pub(super) fn whole_depth<'k>(b: &mut Block<'k>, axes: &Axes<'k>) -> [Val<'k>; 2] {
    let begin = b.bind("k_begin", axes.depth.arena().u32(0));
    let end = b.bind("k_end", axes.depth);
    [begin, end]
}

pub(super) fn tile_origin<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    tile: Tile,
    number: Val<'k>,
    origin: [&str; 2],
) -> [Val<'k>; 2] {
    if tile.rows * tile.columns < SWIZZLED_TILE {
        return tile_origin_row_by_row(shader, b, tile, number, origin);
    }
    let (row_tiles, column_tiles) = (shader.uniform(Uniform::RowTiles), shader.uniform(Uniform::ColumnTiles));
    let height = if tile.coop_matrix().is_some() { MATRIX_SWIZZLE_ROWS } else { SWIZZLE_ROWS };
    let in_a_band = height.into_val(column_tiles) * column_tiles;
    let band = b.bind("band", number / in_a_band);
    let in_band = b.bind("in_band", number % in_a_band);
    let band_rows = b.bind("band_rows", (row_tiles - band * height).min(height));
    let row = b.bind(origin[0], (band * height + in_band % band_rows) * tile.rows);
    let column = b.bind(origin[1], in_band / band_rows * tile.columns);
    [row, column]
}

pub(super) fn tile_origin_row_by_row<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    tile: Tile,
    number: Val<'k>,
    origin: [&str; 2],
) -> [Val<'k>; 2] {
    let column_tiles = shader.uniform(Uniform::ColumnTiles);
    let row = b.bind(origin[0], number / column_tiles * tile.rows);
    let column = b.bind(origin[1], number % column_tiles * tile.columns);
    [row, column]
}
