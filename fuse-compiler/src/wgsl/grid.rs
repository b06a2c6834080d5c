//! Which part of the work a workgroup and an invocation have: elements, tile, batch, and part of a sum.

use fuse_artifact::{Uniform, schedule::Tile};

use super::{
    epilogue::Axes,
    shader::{CodeBuffer, Shader},
};

/// Tiles of a column of this height are walked together, so that operands stay in the cache.
const SWIZZLE_ROWS: u32 = 8;

/// As [`SWIZZLE_ROWS`], of tiles of cooperative matrices, whose operands take half as much of it.
const MATRIX_SWIZZLE_ROWS: u32 = 16;

/// Sums of a tile from which on products are large enough for that to matter more than the divisions it costs.
const SWIZZLED_TILE: u32 = 128 * 128;

/// Declares `id`, the number of the workgroup.
fn number(main: &mut CodeBuffer) {
    main.line("let id = workgroup.x + workgroup.y * workgroups.x;");
}

/// Ends invocations where a condition holds.
fn end_if(main: &mut CodeBuffer, condition: &str) {
    main.line(format!("if {condition} {{"));
    main.line("return;");
    main.line("}");
}

/// Declares `id`, the number of the workgroup, and ends workgroups that have nothing to do.
pub(super) fn workgroups(shader: &mut Shader<'_>, main: &mut CodeBuffer) {
    let workgroups = shader.uniform(Uniform::Workgroups);
    number(main);
    end_if(main, &format!("id >= {workgroups}"));
}

/// Declares `i`, the number of this invocation's unit of elements; invocations without one end.
pub(super) fn units(main: &mut CodeBuffer, workgroup: u32, units: &str) {
    number(main);
    main.line(format!("let i = id * {workgroup}u + local;"));
    end_if(main, &format!("i >= {units}"));
}

/// Declares `i`, the number of this invocation's `lanes` neighbours of a row of the result, their `row`, first `column` and batch,
/// and `line`, which counts the rows of all batches. There are `units` such numbers.
pub(super) fn result_units(shader: &mut Shader<'_>, main: &mut CodeBuffer, axes: &Axes, [workgroup, lanes]: [u32; 2]) {
    let count = shader.uniform(Uniform::Count);
    main.line(format!("let units = {count} / {lanes}u;"));
    units(main, workgroup, "units");
    main.line(format!("let column = (i * {lanes}u) % {};", axes.columns));
    main.line(format!("let line = (i * {lanes}u) / {};", axes.columns));
    main.line(format!("let row = line % {};", axes.rows));
    main.line(format!("let batch = line / {};", axes.rows));
    axes.decode_batch(shader, main);
}

/// Declares `batch` and `part` of a workgroup, of so many tiles per batch: which of the workgroups that share sums it is.
pub(super) fn batch_and_part(shader: &mut Shader<'_>, main: &mut CodeBuffer, axes: &Axes, tiles: &str) {
    let batches = axes.batches(shader);
    main.line(format!("let batch = (id / {tiles}) % ({batches});"));
    // Of its own, because barriers stand in loops over its depth: browsers want to see that it is the same for all
    // invocations, and a private variable might not be.
    main.line(format!("let part = id / ({tiles} * {batches});"));
    main.line("split = part;");
}

/// Declares the depths that a part has, from `k_begin` to `k_end`.
pub(super) fn depth_of_part(shader: &mut Shader<'_>, main: &mut CodeBuffer, axes: &Axes) {
    let split_depth = shader.uniform(Uniform::SplitDepth);
    main.line(format!("let k_begin = part * {split_depth};"));
    main.line(format!("let k_end = min({}, k_begin + {split_depth});", axes.depth));
}

/// Declares all depths, from `k_begin` to `k_end`.
pub(super) fn whole_depth(main: &mut CodeBuffer, axes: &Axes) {
    main.line("let k_begin = 0u;");
    main.line(format!("let k_end = {};", axes.depth));
}

/// Declares the first row and column of the tile that has the number `tile`.
pub(super) fn tile_origin(shader: &mut Shader<'_>, main: &mut CodeBuffer, tile: Tile, origin: [&str; 2]) {
    if tile.rows * tile.columns < SWIZZLED_TILE {
        tile_origin_row_by_row(shader, main, tile, origin);
        return;
    }
    let (row_tiles, column_tiles) = (shader.uniform(Uniform::RowTiles), shader.uniform(Uniform::ColumnTiles));
    let (Tile { rows, columns, .. }, [row0, column0]) = (tile, origin);
    let band = if tile.coop_matrix().is_some() { MATRIX_SWIZZLE_ROWS } else { SWIZZLE_ROWS };
    main.line(format!("let band = tile / ({band}u * {column_tiles});"));
    main.line(format!("let in_band = tile % ({band}u * {column_tiles});"));
    main.line(format!("let band_rows = min({row_tiles} - band * {band}u, {band}u);"));
    main.line(format!("let {row0} = (band * {band}u + in_band % band_rows) * {rows}u;"));
    main.line(format!("let {column0} = (in_band / band_rows) * {columns}u;"));
}

/// As [`tile_origin`], of tiles whose neighbours in a row of tiles follow each other.
pub(super) fn tile_origin_row_by_row(
    shader: &mut Shader<'_>,
    main: &mut CodeBuffer,
    tile: Tile,
    [row0, column0]: [&str; 2],
) {
    let column_tiles = shader.uniform(Uniform::ColumnTiles);
    main.line(format!("let {row0} = tile / {column_tiles} * {}u;", tile.rows));
    main.line(format!("let {column0} = tile % {column_tiles} * {}u;", tile.columns));
}
