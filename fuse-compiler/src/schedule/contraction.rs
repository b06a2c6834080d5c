//! The family of contraction kernels.
//!
//! - `tile RxCxD`: workgroups compute tiles of R×C sums in steps of depth D through workgroup memory, with
//!   16-byte loads. `split` schedules share the depth of a tile between workgroups and add up in a second pass. `stream-k` schedules
//!   share the depths of all tiles that would leave some of the workgroups that run at a time without one.
//! - `coop-matrix SxS RxCxD`: as `tile`, where subgroups multiply cooperative matrices of size S: of `f16`, where the adapter
//!   has them.
//! - `unstaged RxC`: as `tile`, without workgroup memory: invocations read what they multiply from storage and never wait for each
//!   other, which processors and their caches like better. `scalar unstaged` reads one element per load: any size and stride.
//! - `gemv RxC`: at most R rows; invocations walk down the depth, columns side by side. `gemv-t RxC`: the same where right operands
//!   lie along the depth.
//! - `dot O`: a group of invocations per sum; for few sums, or operands that are both contiguous in depth.
//! - `scalar tile RxCxD`: as `tile`, one element per load; any size and stride. Always last.
//!
//! Several products that share their left operand run side by side: a schedule keeps a right tile and sums for each,
//! so that only schedules whose sums fit into registers serve; or each product has workgroups of its own, where nothing
//! that is stored needs several (`grouped`). Where the epilogue reduces rows, a tile has all columns of its rows
//! (`rows`). Where the left operand has reductions, a workgroup reduces its rows before it multiplies (`row_prologue`),
//! and there is no `dot`, whose few sums would not pay for a row each.

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

/// The axis along which an operand's vector loads go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along the axis that is summed over.
    Depth,
    /// Along the rows (left operand) or columns (right operand) of the result.
    Outer,
}

/// Products that one kernel computes side by side: as many as leave the smallest tile's invocations `MAX_SUMS` sums.
pub const MAX_PRODUCTS: usize = 8;

/// Workgroup memory that every WebGPU adapter has.
const EVERY_ADAPTERS_BYTES: u32 = 16 * 1024;

/// An aligned tile with the twins that it has.
#[derive(Clone, Copy, Debug)]
struct Aligned {
    tile: Tile,
    /// Whether there is a twin whose workgroups share the depth.
    split: bool,
    /// Whether it serves where products have workgroups of their own.
    grouped: bool,
}

/// Aligned tiles. Sizes from the sweep in `docs/experiments.md`.
const TILES: &[Aligned] = &[
    Aligned { tile: k_aligned(Tile::new(32, 32, 32, [4, 4])), split: true, grouped: true },
    Aligned { tile: Tile::new(16, 64, 32, [4, 4]), split: true, grouped: true },
    Aligned { tile: Tile::new(64, 64, 16, [8, 4]), split: true, grouped: true },
    Aligned { tile: k_aligned(Tile::new(128, 128, 8, [8, 8])), split: false, grouped: true },
    Aligned { tile: LARGEST, split: false, grouped: false },
    Aligned { tile: Tile { k: K::Stream, ..LARGEST }, split: false, grouped: false },
];

/// The tile of large products.
const LARGEST: Tile = k_aligned(Tile::new(128, 256, 8, [8, 16]));

/// Tiles for any size and stride.
const SCALAR_TILES: &[(Tile, bool)] =
    &[(scalar(Tile::new(64, 64, 16, [8, 4])), false), (scalar(Tile::new(32, 32, 16, [4, 4])), true)];

/// How a contraction's sums are divided.
#[derive(Clone, Copy, Debug)]
pub enum ContractionSchedule {
    /// Between workgroups that compute tiles of them.
    Tile(Tile),
    /// Between groups of invocations that walk down the depth.
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

/// One way to run a contraction.
#[derive(Clone, Debug)]
pub struct ScheduleSpec {
    /// A tile or a gemv.
    pub schedule: ContractionSchedule,
    /// Direction of the left operand's loads.
    pub lhs: Direction,
    /// Direction of each right operand's loads.
    pub rhs: Vec<Direction>,
    /// What must hold.
    pub requires: Vec<Require>,
}

/// A tile that takes depths of whole steps only.
const fn k_aligned(tile: Tile) -> Tile {
    Tile { k_aligned: true, ..tile }
}

/// A tile that loads one element at a time.
const fn scalar(tile: Tile) -> Tile {
    Tile { lanes: 1, ..tile }
}

/// The schedules of a group's family; `tile` restricts the aligned tiles to one (`#[schedule(tile = …)]`), except where a
/// tile must have all columns.
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
        // Tiles would reduce the rows of their left operand again for each of their parts.
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

/// The tile that `#[schedule(tile = …)]` asks for.
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

/// Adds a tile, after its twin whose workgroups share the depth if it comes with one.
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

/// What the compiler knows about a group's operands.
struct Facts<'a> {
    group: &'a Group,
    contraction: &'a Contraction,
    /// Number of batch axes; the axes of the domain after them are M, N, K.
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

    /// The directions of all operands, if each has one.
    fn aligned(&self) -> Option<(Direction, Vec<Direction>)> {
        Some((self.lhs?, self.rhs.iter().copied().collect::<Option<Vec<_>>>()?))
    }

    /// Whether the operands are `f16` as they are in memory, in whole vectors: what is computed on the way keeps more bits than
    /// `f16` has, and cooperative matrices would lose them. Weights that are converted to `f16` have no more.
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

    /// The directions in which single elements are loaded.
    fn scalar_directions(&self) -> (Direction, Vec<Direction>) {
        (Direction::Depth, self.rhs.iter().map(|rhs| rhs.unwrap_or(Direction::Outer)).collect())
    }

    /// The aligned tiles that hold the products, with whether they come with a split twin; of cooperative matrices first.
    /// Where products have workgroups of their own (`grouped`), none shares the depth.
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

    /// The scalar tiles that hold the products; of the last one the depth of a step gives way.
    fn scalar_tiles(&self) -> Vec<(Tile, bool)> {
        let mut tiles = SCALAR_TILES.to_vec();
        let (mut last, split) = tiles.pop().expect("the family has a last schedule");
        tiles.retain(|(tile, _)| self.holds(tile, self.products()));
        let row_bytes = self.row_bytes(last.rows, last.invocations());
        shrink_steps(&mut last, self.products(), row_bytes, EVERY_ADAPTERS_BYTES);
        tiles.push((last, split));
        tiles
    }

    /// Whether a tile has room for so many products beside the rows of the left operand.
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

    /// What a tile of vector loads needs.
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
            // Without depth there would be nothing to share, and nobody to store what the epilogue makes of nothing.
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

    /// What loads of four lanes along the given axes of each access's space need.
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

/// Whether a body loads through an access, other than at computed coordinates.
fn reads(body: &Body, access: u16) -> bool {
    body.values.iter().any(|value| value.op == ValueOp::Load(access))
}

/// Whether each of several products may have workgroups of its own: nothing is stored that takes several, and their right
/// operands are what is in memory.
fn is_groupable(group: &Group, contraction: &Contraction) -> bool {
    let loaded = |(body, value): &(Body, ValueId)| matches!(body.values[*value].op, ValueOp::Load(_));
    let apart = |store: &Store| sums_of(&group.body, store.value).len() == 1;
    contraction.rhs.len() > 1 && contraction.rhs.iter().all(loaded) && group.stores.iter().all(apart)
}

/// The products whose sums a value is computed from.
pub(crate) fn sums_of(body: &Body, value: ValueId) -> BTreeSet<u8> {
    let sum =
        |value: ValueId| if let ValueOp::Accumulator(product) = body.values[value].op { Some(product) } else { None };
    body.needed(&[value]).into_iter().filter_map(sum).collect()
}

/// Whether an epilogue reduces rows.
pub fn reduces(body: &Body) -> bool {
    body.values.iter().any(|value| matches!(value.op, ValueOp::Reduce(..)))
}

/// The direction in which an operand's first contiguous access is contiguous.
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
    // Operands made of literals, scalars and coordinates have no layout: any direction serves.
    let no_loads = !body.values.iter().any(|value| matches!(value.op, ValueOp::Load(_)));
    fallback.or(no_loads.then_some(Direction::Depth))
}
