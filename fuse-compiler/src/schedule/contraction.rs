//! The family of contraction kernels.
//!
//! - `tile RxCxD`: workgroups compute tiles of R×C sums in steps of depth D through workgroup memory, with
//!   16-byte loads. `split` members share the depth of a tile between workgroups and add up in a second pass. `stream-k` members
//!   share the depths of all tiles that would leave some of the workgroups that run at a time without one.
//! - `matrices SxS RxCxD`: as `tile`, where subgroups multiply cooperative matrices of size S: of `f16`, where the adapter
//!   has them.
//! - `direct RxC`: as `tile`, without workgroup memory: invocations read what they multiply from storage and never wait for each
//!   other, which processors and their caches like better. `direct any` reads one element per load: any size and stride.
//! - `row C`: a single row; invocations walk down the depth, columns side by side. `row RxC`: at most R rows.
//! - `dot O`: a group of invocations per sum; for few sums, or operands that are both contiguous in depth. `dot RxC`: at most R
//!   rows; a group has four columns of all.
//! - `unaligned RxCxD`: as `tile`, one element per load; any size and stride. Always last.
//!
//! Several products that share their left operand run side by side: a member keeps a right tile and sums for each,
//! so that only members whose sums fit into registers serve; or each product has workgroups of its own, where nothing
//! that is stored needs several (`stacked`). Where the epilogue reduces rows, a tile has all columns of its rows
//! (`rows`). Where the left operand has reductions, a workgroup reduces its rows before it multiplies (`operand_rows`),
//! and there is no `dot`, whose few sums would not pay for a row each.

mod direct;
mod few_rows;
pub(crate) mod matrices;
pub(crate) mod operand_rows;
pub(crate) mod rows;
mod tile;
pub(crate) mod weights;

use std::collections::BTreeSet;

use fuse_artifact::{DType, Features, MATRIX_SUBGROUP, Require, Schedule, Space};

pub use self::tile::{PAD, Tile};
use self::{operand_rows::OperandRows, weights::Weights};
use super::layout::{Along, along};
use crate::fusion::{
    Contraction, Group, Store,
    body::{Body, ValueId, ValueOp},
};

/// Elements of a vector load: 16 bytes of `f32`.
pub const LANES: u32 = 4;

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

/// Aligned tiles with whether they come with a split twin. Sizes from the sweep in `docs/experiments.md`.
const TILES: &[(Tile, bool)] = &[
    (Tile::new(32, 32, 32, [4, 4], LANES).in_whole_steps(), true),
    (Tile::new(16, 64, 32, [4, 4], LANES), true),
    (Tile::new(64, 64, 16, [8, 4], LANES), true),
    (Tile::new(128, 128, 8, [8, 8], LANES).in_whole_steps(), false),
    (LARGEST, false),
    (LARGEST.in_streams(), false),
];

/// The tile of large products.
const LARGEST: Tile = Tile::new(128, 256, 8, [8, 16], LANES).in_whole_steps();

/// Tiles for any size and stride.
const UNALIGNED: &[(Tile, bool)] =
    &[(Tile::new(64, 64, 16, [8, 4], 1), false), (Tile::new(32, 32, 16, [4, 4], 1), true)];

/// Columns and depth lanes of `row` members, with whether they come with a split twin and whether they take whole steps where
/// they can: the left operand in vectors, nothing masked. The second is faster where an adapter allows 512 invocations.
const ROWS: &[([u32; 2], bool, bool)] = &[([64, 16], true, false), ([32, 64], false, true)];

/// Depths of a step of a `row` member: as many loads as an invocation has on the way at a time.
pub const ROW_STEP: u32 = 8;

/// Outputs and depth lanes of a `dot` member.
const DOT: (u32, u32) = (8, 32);

/// One way to run a contraction.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub shape: Shape,
    /// Direction of the left operand's loads.
    pub lhs: Direction,
    /// Direction of each right operand's loads.
    pub rhs: Vec<Direction>,
    /// Whether workgroups share the depth.
    pub split: bool,
    /// What must hold.
    pub requires: Vec<Require>,
}

/// The kind and sizes of a member.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Tiles in workgroup memory.
    Tiles(Tile),
    /// Few rows.
    Row {
        /// The most rows.
        rows: u32,
        /// Columns of a workgroup.
        columns: u32,
        /// Invocations that share a column's depth.
        depth_lanes: u32,
        /// Whether the depth must be a multiple of a step ([`ROW_STEP`], or a run of weights), which spares masks and reads the
        /// left operand in vectors.
        whole_steps: bool,
        /// Bits per value of right operands that are read by whole words (`weights`), or 0.
        bits: u32,
        /// Whether the left operand is rounded to 8 bits.
        int8: bool,
    },
    /// One sum per group of invocations.
    Dot {
        /// Sums of a workgroup.
        outputs: u32,
        /// Invocations that share a sum.
        depth_lanes: u32,
        /// As in `Row`; invocations then share four sums.
        bits: u32,
        /// As in `Row`.
        int8: bool,
    },
}

impl Member {
    /// What an adapter must have besides `f16`, which the shaders' texts tell.
    pub fn features(&self) -> Features {
        match self.shape {
            Shape::Tiles(Tile { matrices: matrices @ 1.., .. }) => {
                Features { subgroups: MATRIX_SUBGROUP, matrices, ..Features::default() }
            }
            Shape::Row { int8, .. } | Shape::Dot { int8, .. } => {
                Features { int8_activations: int8, ..Features::default() }
            }
            Shape::Tiles(_) => Features::default(),
        }
    }

    /// The schedule as the runtime sees it.
    pub fn schedule(&self) -> Schedule {
        match self.shape {
            Shape::Tiles(tile) => Schedule::Tiles {
                rows: tile.rows,
                columns: tile.columns,
                depth: tile.depth,
                per_invocation: [tile.invocation_rows, tile.invocation_columns],
                lanes: tile.lanes,
                split: self.split,
                stream_k: tile.stream_k,
                layers: tile.layers,
                stacked: tile.stacked,
                matrices: tile.matrices,
            },
            Shape::Row { rows, columns, depth_lanes, bits, .. } => {
                Schedule::Row { rows, columns, depth_lanes, split: self.split, bits }
            }
            Shape::Dot { outputs, depth_lanes, bits, .. } => Schedule::Dot { outputs, depth_lanes, bits },
        }
    }
}

/// The members of a group's family; `tile` restricts the aligned tiles to one (`#[schedule(tile = …)]`), except where a
/// tile must have all columns.
pub fn family(group: &Group, contraction: &Contraction, tile: Option<[u32; 3]>) -> Vec<Member> {
    let facts = Facts::new(group, contraction);
    let products = facts.products();
    if reduces(&group.body) {
        return rows::family(&facts, products);
    }
    let streamed = facts.streamed();
    let mut family = vec![];
    if let Some((lhs, rhs)) = facts.aligned() {
        let stacked = is_stackable(group, contraction) && rhs.iter().all(|other| *other == rhs[0]);
        let matrices = if facts.multiplies_stored_f16() { matrices::TILES } else { &[] };
        let tiles = facts.aligned_tiles(tile, [matrices, TILES, facts.direct()], stacked);
        // Tiles would reduce the rows of their left operand again for each of their parts.
        for (tile, split) in tiles.into_iter().filter(|(tile, _)| !tile.stream_k || facts.operand_rows.is_none()) {
            let name = tile.name();
            let requires = facts.tile_requirements(tile, lhs, &rhs);
            push_with_twin(&mut family, name, Shape::Tiles(tile), (lhs, &rhs), split, &requires);
        }
        let along_depth = lhs == Direction::Depth && rhs.iter().all(|rhs| *rhs == Direction::Depth);
        if along_depth && facts.operand_rows.is_none() && streamed.is_none() {
            let (outputs, depth_lanes) = DOT;
            let shape = Shape::Dot { outputs, depth_lanes, bits: 0, int8: false };
            let requires = facts.dot_requirements();
            push_with_twin(&mut family, format!("dot {outputs}"), shape, (lhs, &rhs), false, &requires);
        }
    }
    if facts.rhs.iter().all(|rhs| *rhs == Some(Direction::Outer)) && streamed.is_none() {
        let rhs = vec![Direction::Outer; facts.rhs.len()];
        let directions = (Direction::Depth, rhs.as_slice());
        for &([columns, depth_lanes], split, whole_steps) in ROWS {
            let whole_steps = whole_steps && facts.lhs == Some(Direction::Depth) && facts.operand_rows.is_none();
            let shape = Shape::Row { rows: 1, columns, depth_lanes, whole_steps, bits: 0, int8: false };
            let requires = facts.row_requirements(whole_steps);
            push_with_twin(&mut family, format!("row {columns}"), shape, directions, split, &requires);
        }
    }
    if streamed.is_none() {
        facts.push_few_rows(&mut family);
    }
    // Instead of those for few rows above, which read weights value by value.
    if let Some(weights) = &streamed {
        facts.push_streams(&mut family, weights);
    }
    let (lhs, rhs) = facts.unaligned();
    if let Some(direct) = facts.direct_any(products).filter(|_| tile.is_none()) {
        let requires = [facts.direct_requirement()];
        push_with_twin(&mut family, direct.name(), Shape::Tiles(direct), (lhs, &rhs), false, &requires);
    }
    for (tile, split) in facts.unaligned_tiles() {
        push_with_twin(&mut family, tile.name(), Shape::Tiles(tile), (lhs, &rhs), split, &[]);
    }
    family
}

/// The tile that `#[schedule(tile = …)]` asks for.
fn forced_tile([rows, columns, depth]: [u32; 3]) -> Tile {
    let known = TILES.iter().find(|(tile, _)| (tile.rows, tile.columns, tile.depth) == (rows, columns, depth));
    let per_invocation = if rows >= 128 && columns >= 128 { [8, 8] } else { [4, 4] };
    known.map_or(Tile::new(rows, columns, depth, per_invocation, LANES), |(tile, _)| *tile)
}

fn push_with_twin(
    family: &mut Vec<Member>,
    name: String,
    shape: Shape,
    (lhs, rhs): (Direction, &[Direction]),
    twin: bool,
    requires: &[Require],
) {
    let streams = matches!(shape, Shape::Tiles(Tile { stream_k: true, .. }));
    let member = |name, split: bool| {
        let (rhs, requires) = (rhs.to_vec(), requires.to_vec());
        Member { name, shape, lhs, rhs, split: split || streams, requires }
    };
    if twin {
        family.push(member(format!("{name} split"), true));
    }
    family.push(member(name, false));
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
    operand_rows: Option<OperandRows>,
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
        let operand_rows = OperandRows::new(group, contraction);
        Self { group, contraction, batch: batch as u8, lhs, rhs, operand_rows }
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
    fn unaligned(&self) -> (Direction, Vec<Direction>) {
        (Direction::Depth, self.rhs.iter().map(|rhs| rhs.unwrap_or(Direction::Outer)).collect())
    }

    /// The aligned tiles that hold the products, with whether they come with a split twin; of cooperative matrices first.
    /// Where products have workgroups of their own (`stacked`), none shares the depth.
    fn aligned_tiles(&self, only: Option<[u32; 3]>, all: [&[(Tile, bool)]; 3], stacked: bool) -> Vec<(Tile, bool)> {
        let own = if stacked { 1 } else { self.products() };
        let serves = |tile: &Tile| self.holds(tile, own) && !(tile.stream_k && stacked);
        let tiles: Vec<(Tile, bool)> = match only {
            Some(sizes) => vec![(forced_tile(sizes), false)],
            None => all.concat().into_iter().filter(|(tile, _)| serves(tile)).collect(),
        };
        tiles.into_iter().map(|(tile, split)| if stacked { (tile.stacked(), false) } else { (tile, split) }).collect()
    }

    /// The unaligned tiles that hold the products; of the last one the depth of a step gives way.
    fn unaligned_tiles(&self) -> Vec<(Tile, bool)> {
        let mut tiles = UNALIGNED.to_vec();
        let (mut last, split) = tiles.pop().expect("the family has a last member");
        tiles.retain(|(tile, _)| self.holds(tile, self.products()));
        last.shrink_steps(self.products(), self.row_bytes(last.rows, last.invocations()), EVERY_ADAPTERS_BYTES);
        tiles.push((last, split));
        tiles
    }

    /// Whether a tile has room for so many products beside the rows of the left operand.
    fn holds(&self, tile: &Tile, products: u32) -> bool {
        tile.holds_beside(products, self.row_bytes(tile.rows, tile.invocations()))
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
            Space::Score | Space::Value => vec![],
        }));
        requires.extend(self.word_loads());
        if tile.whole_steps {
            requires.push(Require::Multiple { axis: self.depth(), of: tile.depth });
        }
        if tile.stream_k {
            // Without depth there would be nothing to share, and nobody to store what the epilogue makes of nothing.
            requires.push(Require::AtLeast { axis: self.depth(), value: tile.depth });
        }
        if !tile.staged {
            requires.push(self.direct_requirement());
        }
        if tile.is_moved_inside() {
            requires.push(Require::AtLeast { axis: self.rows(), value: tile.rows });
            requires.push(Require::AtLeast { axis: self.columns(), value: tile.columns });
        }
        requires
    }

    fn dot_requirements(&self) -> Vec<Require> {
        let mut requires = multiples_of_lanes(vec![self.depth()]);
        requires.extend(self.vector_loads(|_, space| match space {
            Space::Lhs => vec![self.batch + 1],
            Space::Rhs => vec![self.batch],
            Space::Point | Space::Score | Space::Value => vec![],
        }));
        requires
    }

    fn row_requirements(&self, whole_steps: bool) -> Vec<Require> {
        let mut requires = vec![Require::AtMost { axis: self.rows(), value: 1 }];
        requires.extend(multiples_of_lanes(vec![self.columns()]));
        if whole_steps {
            requires.push(Require::Multiple { axis: self.depth(), of: ROW_STEP });
        }
        requires.extend(self.vector_loads(|_, space| match space {
            Space::Lhs if whole_steps => vec![self.batch + 1],
            Space::Lhs | Space::Score | Space::Value => vec![],
            Space::Rhs | Space::Point => vec![self.columns()],
        }));
        requires
    }

    /// What loads of four lanes along the given axes of each access's space need.
    fn vector_loads(&self, lane_axes: impl Fn(u16, Space) -> Vec<u8>) -> Vec<Require> {
        let mut requires = vec![];
        for (i, access) in self.group.accesses.iter().enumerate() {
            let index = i as u16;
            for axis in lane_axes(index, access.access.space).into_iter().collect::<BTreeSet<u8>>() {
                match along(access, usize::from(axis)) {
                    Along::Zero => requires.push(Require::Stride { access: index, axis, stride: 0 }),
                    Along::Unit => {
                        requires.push(Require::Stride { access: index, axis, stride: 1 });
                        requires.push(Require::Aligned { access: index, axis, of: LANES });
                    }
                    Along::UnitOrZero => requires.push(Require::Aligned { access: index, axis, of: LANES }),
                    Along::Strided => {}
                }
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
fn is_stackable(group: &Group, contraction: &Contraction) -> bool {
    let loaded = |(body, value): &(Body, ValueId)| matches!(body.values[*value].op, ValueOp::Load(_));
    let apart = |store: &Store| sums_of(&group.body, store.value).len() == 1;
    contraction.rhs.len() > 1 && contraction.rhs.iter().all(loaded) && group.stores.iter().all(apart)
}

/// The products whose sums a value is computed from.
pub(crate) fn sums_of(body: &Body, value: ValueId) -> BTreeSet<u8> {
    let sum = |value: ValueId| if let ValueOp::Sum(product) = body.values[value].op { Some(product) } else { None };
    body.needed(&[value]).into_iter().filter_map(sum).collect()
}

/// Whether an epilogue reduces rows.
pub fn reduces(body: &Body) -> bool {
    body.values.iter().any(|value| matches!(value.op, ValueOp::Reduce(..)))
}

fn multiples_of_lanes(mut axes: Vec<u8>) -> Vec<Require> {
    axes.sort_unstable();
    axes.dedup();
    axes.into_iter().map(|axis| Require::Multiple { axis, of: LANES }).collect()
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
