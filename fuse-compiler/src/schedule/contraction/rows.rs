//! Contractions whose epilogue reduces rows: tiles with all columns of their rows.
//!
//! Tiles are just wide enough for a known number of columns; otherwise a schedule takes at most its width. Tiles of few
//! rows keep more workgroups busy; tiles of many rows read the right operand less often. The fewest rows use slice-K,
//! whose k-groups stream the right operand, or split-K, whose second pass owns the rows. The planner guarantees at most
//! [`MAX_COLUMNS`].

use fuse_artifact::{
    Require, Size,
    schedule::{K, LANES, Mainloop, Tile},
};

use crate::fusion::{Group, Policy};

use super::{
    ContractionSchedule, Direction, EVERY_ADAPTERS_BYTES, Facts, ScheduleSpec, k_aligned, push_tile, reduces, scalar,
    tile::{MAX_SLICE_BYTES, holds_beside, shrink_steps},
};

/// Maximum row length that a workgroup owns.
pub(crate) const MAX_COLUMNS: u32 = 512;

const _: () =
    assert!(Policy::FUSED.owned_columns == MAX_COLUMNS as u64, "the planner makes what the last schedule takes");

const WIDTHS: [u32; 4] = [128, 256, 384, MAX_COLUMNS];

/// Rounding of known column counts: four columns per invocation and [`GROUPS`] parts.
const WIDTH_STEP: u32 = 32;

/// Parts of a row combined first.
pub(crate) const GROUPS: u32 = 4;

/// Invocations per workgroup: enough to hide latencies, few enough for two per compute unit.
const INVOCATIONS: std::ops::RangeInclusive<u32> = 64..=512;

/// Maximum invocations of tiles with more than [`FEW_ROWS`], or 8×8 sums per invocation. 512 would fill a compute
/// unit's registers and were never fastest on an H200 (`docs/experiments.md`).
const MAX_INVOCATIONS: u32 = 448;

/// Maximum rows of tiles with more invocations: 32 rows of 512 columns are fastest for some products.
const FEW_ROWS: u32 = 32;

/// Maximum vector loads of right operands per invocation and step, limited by registers.
const MAX_LOADS: u32 = 8;

pub(super) fn family(facts: &Facts<'_>, products: u32) -> Vec<ScheduleSpec> {
    let mut family = vec![];
    let known = facts.group.shape[usize::from(facts.columns())].as_constant();
    let known = known.and_then(|columns| u32::try_from(columns).ok()).filter(|columns| *columns <= MAX_COLUMNS);
    let partial_words = facts.group.body.values.iter().map(|value| value.op.state_words()).max().unwrap_or(0);
    let aligned = facts.aligned().filter(|_| known.is_none_or(|columns| columns.is_multiple_of(LANES)));
    if let Some((lhs, rhs)) = aligned.clone() {
        let widths = known.map_or(WIDTHS.to_vec(), |columns| vec![columns.max(1).next_multiple_of(WIDTH_STEP)]);
        let bytes = |tile: &Tile| partial_bytes(tile, partial_words) + facts.row_bytes(tile.rows, tile.invocations());
        let streams = may_stream(lhs, &rhs);
        let tiles = widths.into_iter().flat_map(|width| tiles(width, products, &bytes));
        for tile in tiles.filter(|tile| tile.k_groups() == 1 || streams) {
            let mut requires = facts.tile_requirements(tile, lhs, &rhs);
            if known.is_none() {
                requires.push(Require::AtMost { axis: facts.columns(), value: tile.columns });
            }
            push_tile(&mut family, tile, false, (lhs, &rhs), &requires);
        }
    }
    if let (Some((lhs, rhs)), Some(finishing)) = (aligned, finishing_tile(facts.group)) {
        for tile in SPLIT.into_iter().filter(|tile| facts.holds(tile, products)) {
            let mut requires = facts.tile_requirements(tile, lhs, &rhs);
            if known.is_none() {
                requires.push(Require::AtMost { axis: facts.columns(), value: finishing.columns });
            }
            family.push(ScheduleSpec::new(ContractionSchedule::Tile(tile), (lhs, &rhs), &requires));
        }
    }
    let (lhs, rhs): (Direction, Vec<Direction>) = facts.scalar_directions();
    let mut last = scalar(Tile::new(8, MAX_COLUMNS, 4, [4, 8]));
    let row_bytes = partial_bytes(&last, partial_words) + facts.row_bytes(last.rows, last.invocations());
    shrink_steps(&mut last, products, row_bytes, EVERY_ADAPTERS_BYTES);
    push_tile(&mut family, last, false, (lhs, &rhs), &[]);
    family
}

/// Maximum invocations of a workgroup with k-groups, and maximum k-groups.
const STREAMING: (u32, u32) = (1024, 16);

/// Depth step of slice-K, long because only the left slice is staged.
const STREAMED_DEPTH: u32 = 128;

const SPLIT: [Tile; 2] = [
    Tile { k: K::Split, ..k_aligned(Tile::new(32, 32, 32, [4, 4])) },
    Tile { k: K::Split, ..Tile::new(64, 64, 16, [8, 4]) },
];

pub(crate) fn finishing_tile(group: &Group) -> Option<Tile> {
    let known = group.shape.last().and_then(Size::as_constant).and_then(|columns| u32::try_from(columns).ok());
    let width = known.map_or(MAX_COLUMNS, |columns| columns.clamp(1, MAX_COLUMNS).next_multiple_of(WIDTH_STEP));
    reduces(&group.body).then(|| Tile::new(4, width, LANES, [4, 4]))
}

/// Aligned tiles of one width: one with few rows, up to three with many, one with k-groups. `row_bytes` is the
/// workgroup memory of row prologues and partial row results.
fn tiles(width: u32, products: u32, row_bytes: &dyn Fn(&Tile) -> u32) -> Vec<Tile> {
    let tile = |rows, invocation| Tile::new(rows, width, 16, invocation);
    let fits = |tile: &Tile| INVOCATIONS.contains(&tile.invocations());
    // Four rows use slice-K or split-K instead.
    let few = [4, 8, 16, 32, 64].map(|rows| tile(rows, [4, 4])).into_iter().find(fits).filter(|few| few.rows > 4);
    let mut many: Vec<Tile> = [16, 32, 64, 128].map(|rows| tile(rows, [8, 4])).into_iter().filter(fits).collect();
    many.drain(..many.len().saturating_sub(2));
    let fits_most = |tile: &Tile| fits(tile) && tile.invocations() <= MAX_INVOCATIONS;
    let most = [32, 64, 128].map(|rows| tile(rows, [8, 8])).into_iter().rfind(fits_most);
    // Names contain rows, columns and depth only. 8×4 sums are as fast within 2 % on an H200.
    let most = most.filter(|most| many.iter().all(|other| other.rows != most.rows));
    many.retain(|tile| tile.rows <= FEW_ROWS || fits_most(tile));
    let mut tiles: Vec<Tile> = few.into_iter().chain(many).chain(most).collect();
    for tile in &mut tiles {
        // Few rows must run on every adapter.
        let memory = if few.is_some_and(|few| few.rows == tile.rows) { EVERY_ADAPTERS_BYTES } else { MAX_SLICE_BYTES };
        let loads = |tile: &Tile| tile.columns * products * tile.depth / LANES / tile.invocations();
        while tile.depth > LANES && loads(tile) > MAX_LOADS {
            tile.depth /= 2;
        }
        let row_bytes = row_bytes(tile);
        shrink_steps(tile, products, row_bytes, memory);
    }
    tiles.extend(streamed(width));
    tiles.retain(|tile| tile.depth >= LANES && holds_beside(tile, products, row_bytes(tile)));
    tiles
}

/// True if invocations can multiply right operands as loaded: all along the columns, or both sides along the depth.
fn may_stream(lhs: Direction, rhs: &[Direction]) -> bool {
    let along = |direction| rhs.iter().all(|rhs| *rhs == direction);
    along(Direction::Outer) || along(Direction::Depth) && lhs == Direction::Depth
}

fn streamed(width: u32) -> Option<Tile> {
    let (most, groups) = STREAMING;
    let tile = Tile::new(4, width, STREAMED_DEPTH, [4, 4]);
    let groups = (most / tile.invocations()).min(groups);
    (groups > 1).then(|| Tile { mainloop: Mainloop::SliceK(1 << groups.ilog2()), ..tile })
}

fn partial_bytes(tile: &Tile, words: u32) -> u32 {
    4 * words * tile.rows * (tile.columns / tile.invocation_columns + GROUPS + GROUPS)
}
