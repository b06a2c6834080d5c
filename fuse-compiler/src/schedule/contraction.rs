//! The schedule family of contraction kernels.
//!
//! - `tile RxCxD`: workgroups compute R×C tiles in steps of depth D through workgroup memory, with 16-byte loads.
//!   `split` (split-K) shares a tile's depth between workgroups and reduces partial sums in a second pass. `stream-k`
//!   shares the depths of tiles that do not fill a wave of workgroups.
//! - `coop-matrix SxS RxCxD`: like `tile`; subgroups multiply `f16` cooperative matrices of size S.
//! - `unstaged RxC`: like `tile` without workgroup memory or barriers, which suits CPUs. `scalar unstaged` loads single
//!   elements: any size and stride.
//! - `gemv RxC`: at most R rows; invocations walk the depth with columns side by side. `gemv-t RxC`: right operands
//!   contiguous along the depth.
//! - `dot O`: a group of invocations per sum, for few sums or operands contiguous along the depth.
//! - `scalar tile RxCxD`: fallback with scalar loads; any size and stride.
//!
//! Products that share their left operand run side by side, if the accumulators of all fit in registers. Alternatively
//! each has its own workgroups, if no store needs several products (`grouped`). If the epilogue reduces rows, a tile
//! has all columns of its rows (`rows`). If the left operand has reductions, a workgroup reduces its rows first
//! (`row_prologue`), without `dot`, whose few sums would not pay for a row each.

pub(crate) mod coop_matrix;
pub(crate) mod gemv;
pub(crate) mod row_prologue;
pub(crate) mod rows;
mod tile;
mod unstaged;
pub(crate) mod weights;

use std::collections::BTreeSet;

use fuse_artifact::{
    DType, Require, Schedule, Space,
    schedule::{Gemv, K, Products, Tile},
};

use self::{
    row_prologue::RowPrologue,
    tile::{holds_beside, shrink_steps},
    weights::Weights,
};
use super::layout::{Along, along, multiples_of_lanes, vector_load};
use crate::fusion::{
    Contraction, Group, Store,
    body::{Body, ValueId, ValueOp},
};

/// Axis of an operand's vector loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along the summed axis.
    Depth,
    /// Along the result's rows (left operand) or columns (right operand).
    Outer,
}

/// Maximum products side by side, limited by `MAX_SUMS` accumulators per invocation of the smallest tile.
pub const MAX_PRODUCTS: usize = 8;

/// Workgroup memory of every WebGPU adapter, in bytes.
const EVERY_ADAPTERS_BYTES: u32 = 16 * 1024;

#[derive(Clone, Copy, Debug)]
struct Aligned {
    tile: Tile,
    split: bool,
    grouped: bool,
}

/// Aligned tiles, from the sweep in `docs/experiments.md`.
const TILES: &[Aligned] = &[
    Aligned { tile: k_aligned(Tile::new(32, 32, 32, [4, 4])), split: true, grouped: true },
    Aligned { tile: Tile::new(16, 64, 32, [4, 4]), split: true, grouped: true },
    Aligned { tile: Tile::new(64, 64, 16, [8, 4]), split: true, grouped: true },
    Aligned { tile: k_aligned(Tile::new(128, 128, 8, [8, 8])), split: false, grouped: true },
    Aligned { tile: LARGEST, split: false, grouped: false },
    Aligned { tile: Tile { k: K::Stream, ..LARGEST }, split: false, grouped: false },
];

const LARGEST: Tile = k_aligned(Tile::new(128, 256, 8, [8, 16]));

/// Tiles for any size and stride; the flag asks for a split twin.
const SCALAR_TILES: &[(Tile, bool)] =
    &[(scalar(Tile::new(64, 64, 16, [8, 4])), false), (scalar(Tile::new(32, 32, 16, [4, 4])), true)];

/// Division of a contraction's sums.
#[derive(Clone, Copy, Debug)]
pub enum ContractionSchedule {
    /// Tiles, each computed by a workgroup.
    Tile(Tile),
    /// Invocations that share the depth.
    Gemv(Gemv),
}

impl From<ContractionSchedule> for Schedule {
    fn from(sums: ContractionSchedule) -> Self {
        match sums {
            ContractionSchedule::Tile(tile) => Self::Tile(tile),
            ContractionSchedule::Gemv(gemv) => Self::Gemv(gemv),
        }
    }
}

/// A schedule of a contraction.
#[derive(Clone, Debug)]
pub struct ScheduleSpec {
    /// The schedule.
    pub schedule: ContractionSchedule,
    /// Load direction of the left operand.
    pub lhs: Direction,
    /// Load direction of each right operand.
    pub rhs: Vec<Direction>,
    /// Requirements at launch.
    pub requires: Vec<Require>,
}

const fn k_aligned(tile: Tile) -> Tile {
    Tile { k_aligned: true, ..tile }
}

const fn scalar(tile: Tile) -> Tile {
    Tile { lanes: 1, ..tile }
}

/// The group's schedules.
///
/// `tile` restricts aligned tiles to one (`#[schedule(tile = …)]`), except for tiles with all columns.
pub fn family(group: &Group, contraction: &Contraction, tile: Option<[u32; 3]>) -> Vec<ScheduleSpec> {
    let facts = Facts::new(group, contraction);
    let products = facts.products();
    if reduces(&group.body) {
        return rows::family(&facts, products);
    }
    let mut family = vec![];
    if let Some((lhs, rhs)) = facts.aligned() {
        let grouped = is_groupable(group, contraction) && rhs.iter().all(|other| *other == rhs[0]);
        let coop_matrix = if facts.multiplies_stored_f16() { coop_matrix::TILES } else { &[] };
        let tiles = facts.aligned_tiles(tile, [coop_matrix, TILES, facts.unstaged()], grouped);
        // Stream-K would repeat the row prologue for each part.
        for (tile, split) in tiles.into_iter().filter(|(tile, _)| !tile.is_stream_k() || facts.row_prologue.is_none()) {
            let requires = facts.tile_requirements(tile, lhs, &rhs);
            push_tile(&mut family, tile, split, (lhs, &rhs), &requires);
        }
    }
    match facts.packed_weights() {
        None => facts.push_gemvs(&mut family),
        Some(weights) => facts.push_packed_gemvs(&mut family, &weights),
    }
    let (lhs, rhs) = facts.scalar_directions();
    if let Some(unstaged) = facts.unstaged_scalar(products).filter(|_| tile.is_none()) {
        let requires = [facts.unstaged_requirement()];
        push_tile(&mut family, unstaged, false, (lhs, &rhs), &requires);
    }
    for (tile, split) in facts.scalar_tiles() {
        push_tile(&mut family, tile, split, (lhs, &rhs), &[]);
    }
    family
}

fn forced_tile([rows, columns, depth]: [u32; 3]) -> Tile {
    let known =
        TILES.iter().map(|of| of.tile).find(|tile| [tile.rows, tile.columns, tile.depth] == [rows, columns, depth]);
    let per_invocation = if rows >= 128 && columns >= 128 { [8, 8] } else { [4, 4] };
    known.unwrap_or(Tile::new(rows, columns, depth, per_invocation))
}

impl ScheduleSpec {
    fn new(schedule: ContractionSchedule, (lhs, rhs): (Direction, &[Direction]), requires: &[Require]) -> Self {
        Self { schedule, lhs, rhs: rhs.to_vec(), requires: requires.to_vec() }
    }
}

fn push_tile(
    family: &mut Vec<ScheduleSpec>,
    tile: Tile,
    split: bool,
    directions: (Direction, &[Direction]),
    requires: &[Require],
) {
    let twin = split.then_some(Tile { k: K::Split, ..tile });
    let tiles = twin.into_iter().chain([tile]);
    family.extend(tiles.map(|tile| ScheduleSpec::new(ContractionSchedule::Tile(tile), directions, requires)));
}

struct Facts<'a> {
    group: &'a Group,
    contraction: &'a Contraction,
    /// Number of batch axes, which precede M, N, K.
    batch: u8,
    lhs: Option<Direction>,
    /// One per product.
    rhs: Vec<Option<Direction>>,
    row_prologue: Option<RowPrologue>,
}

impl<'a> Facts<'a> {
    fn new(group: &'a Group, contraction: &'a Contraction) -> Self {
        let batch = group.shape.len() - 2;
        let lhs = direction(group, &contraction.lhs.0, batch + 1, batch);
        let rhs = contraction.rhs.iter().map(|(body, value)| match Weights::new(group, (body, *value)) {
            Some(weights) => Some(weights.layout),
            None => direction(group, body, batch, batch + 1),
        });
        let rhs = rhs.collect();
        let row_prologue = RowPrologue::new(group, contraction);
        Self { group, contraction, batch: batch as u8, lhs, rhs, row_prologue }
    }

    fn aligned(&self) -> Option<(Direction, Vec<Direction>)> {
        Some((self.lhs?, self.rhs.iter().copied().collect::<Option<Vec<_>>>()?))
    }

    /// True if operands are vectors of stored `f16`. Computed operands have more bits, which cooperative matrices would
    /// lose; weights converted to `f16` have not.
    fn multiplies_stored_f16(&self) -> bool {
        let stored =
            |(body, value): &(Body, ValueId), direction: Option<Direction>, depth_axis: usize, outer_axis: usize| {
                let value = &body.values[*value];
                let lane_axis = if direction == Some(Direction::Depth) { depth_axis } else { outer_axis };
                let ValueOp::Load(access) = value.op else { return false };
                value.dtype == DType::F16 && along(&self.group.accesses[usize::from(access)], lane_axis) == Along::Unit
            };
        let half = |(body, value): &(Body, ValueId)| Weights::new(self.group, (body, *value)).is_some_and(|w| w.half);
        let batch = usize::from(self.batch);
        let mut rhs = self.contraction.rhs.iter().zip(&self.rhs);
        stored(&self.contraction.lhs, self.lhs, batch + 1, batch)
            && rhs.all(|(operand, direction)| half(operand) || stored(operand, *direction, batch, batch + 1))
    }

    fn scalar_directions(&self) -> (Direction, Vec<Direction>) {
        (Direction::Depth, self.rhs.iter().map(|rhs| rhs.unwrap_or(Direction::Outer)).collect())
    }

    /// Aligned tiles that fit the products, cooperative matrices first; the flag asks for a split twin, which `grouped`
    /// tiles never have.
    fn aligned_tiles(&self, only: Option<[u32; 3]>, all: [&[Aligned]; 3], grouped: bool) -> Vec<(Tile, bool)> {
        let own = if grouped { 1 } else { self.products() };
        let serves = |of: &Aligned| self.holds(&of.tile, own) && (of.grouped || !grouped);
        let tiles: Vec<(Tile, bool)> = match only {
            Some(sizes) => vec![(forced_tile(sizes), false)],
            None => all.concat().into_iter().filter(serves).map(|of| (of.tile, of.split)).collect(),
        };
        let of_one = |tile| Tile { products: Products::Grouped, ..tile };
        tiles.into_iter().map(|(tile, split)| if grouped { (of_one(tile), false) } else { (tile, split) }).collect()
    }

    /// Scalar tiles that fit the products; the last shrinks its depth step to fit.
    fn scalar_tiles(&self) -> Vec<(Tile, bool)> {
        let mut tiles = SCALAR_TILES.to_vec();
        let (mut last, split) = tiles.pop().expect("the family has a last schedule");
        tiles.retain(|(tile, _)| self.holds(tile, self.products()));
        let row_bytes = self.row_bytes(last.rows, last.invocations());
        shrink_steps(&mut last, self.products(), row_bytes, EVERY_ADAPTERS_BYTES);
        tiles.push((last, split));
        tiles
    }

    fn holds(&self, tile: &Tile, products: u32) -> bool {
        holds_beside(tile, products, self.row_bytes(tile.rows, tile.invocations()))
    }

    fn products(&self) -> u32 {
        self.contraction.rhs.len() as u32
    }

    const fn rows(&self) -> u8 {
        self.batch
    }

    const fn columns(&self) -> u8 {
        self.batch + 1
    }

    const fn depth(&self) -> u8 {
        self.batch + 2
    }

    fn tile_requirements(&self, tile: Tile, lhs: Direction, rhs: &[Direction]) -> Vec<Require> {
        let mut multiples = vec![self.columns()];
        multiples.push(if lhs == Direction::Depth { self.depth() } else { self.rows() });
        let of_rhs = |rhs: &Direction| if *rhs == Direction::Depth { self.depth() } else { self.columns() };
        multiples.extend(rhs.iter().map(of_rhs));
        let mut requires = multiples_of_lanes(multiples);
        requires.extend(self.vector_loads(|access, space| match space {
            Space::Lhs => vec![if lhs == Direction::Depth { self.batch + 1 } else { self.batch }],
            Space::Rhs => {
                let along = |rhs: &Direction| if *rhs == Direction::Depth { self.batch } else { self.batch + 1 };
                let readers = self.contraction.rhs.iter().zip(rhs).filter(|((body, _), _)| reads(body, access));
                readers.map(|(_, rhs)| along(rhs)).collect()
            }
            Space::Point => vec![self.columns()],
            Space::SecondLhs | Space::SecondRhs | Space::Score | Space::Value => vec![],
        }));
        requires.extend(self.word_loads());
        if tile.k_aligned {
            requires.push(Require::Multiple { axis: self.depth(), of: tile.depth });
        }
        if tile.is_stream_k() {
            // Without depth no workgroup would store the epilogue of empty sums.
            requires.push(Require::AtLeast { axis: self.depth(), value: tile.depth });
        }
        if tile.is_unstaged() {
            requires.push(self.unstaged_requirement());
        }
        if tile.shifted_at_edge() {
            requires.push(Require::AtLeast { axis: self.rows(), value: tile.rows });
            requires.push(Require::AtLeast { axis: self.columns(), value: tile.columns });
        }
        requires
    }

    fn vector_loads(&self, lane_axes: impl Fn(u16, Space) -> Vec<u8>) -> Vec<Require> {
        let mut requires = vec![];
        for (i, access) in self.group.accesses.iter().enumerate() {
            let index = i as u16;
            for axis in lane_axes(index, access.access.space).into_iter().collect::<BTreeSet<u8>>() {
                requires.extend(vector_load(index, access, usize::from(axis), axis));
            }
        }
        requires
    }
}

fn reads(body: &Body, access: u16) -> bool {
    body.values.iter().any(|value| value.op == ValueOp::Load(access))
}

/// True if each product may have its own workgroups: no store needs several, and right operands are plain loads.
fn is_groupable(group: &Group, contraction: &Contraction) -> bool {
    let loaded = |(body, value): &(Body, ValueId)| matches!(body.values[*value].op, ValueOp::Load(_));
    let apart = |store: &Store| sums_of(&group.body, store.value).len() == 1;
    contraction.rhs.len() > 1 && contraction.rhs.iter().all(loaded) && group.stores.iter().all(apart)
}

pub(crate) fn sums_of(body: &Body, value: ValueId) -> BTreeSet<u8> {
    let sum =
        |value: ValueId| if let ValueOp::Accumulator(product) = body.values[value].op { Some(product) } else { None };
    body.needed(&[value]).into_iter().filter_map(sum).collect()
}

/// True if an epilogue reduces rows.
pub fn reduces(body: &Body) -> bool {
    body.values.iter().any(|value| matches!(value.op, ValueOp::Reduce(..)))
}

/// Direction of an operand's first contiguous load.
pub(super) fn direction(group: &Group, body: &Body, depth_axis: usize, outer_axis: usize) -> Option<Direction> {
    let loads = body.values.iter().filter_map(|value| match value.op {
        ValueOp::Load(access) => Some(&group.accesses[usize::from(access)]),
        _ => None,
    });
    let mut fallback = None;
    for access in loads {
        match (along(access, depth_axis), along(access, outer_axis)) {
            (Along::Unit, _) => return Some(Direction::Depth),
            (_, Along::Unit) => return Some(Direction::Outer),
            (Along::UnitOrZero, _) => fallback = fallback.or(Some(Direction::Depth)),
            (_, Along::UnitOrZero) => fallback = fallback.or(Some(Direction::Outer)),
            _ => {}
        }
    }
    // Operands without loads (literals, scalars, coordinates) fit any direction.
    let no_loads = !body.values.iter().any(|value| matches!(value.op, ValueOp::Load(_)));
    fallback.or(no_loads.then_some(Direction::Depth))
}
