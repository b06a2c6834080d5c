//! The family of contraction kernels.
//!
//! - `tile RxCxD`: workgroups compute tiles of R×C sums in steps of depth D through workgroup memory, with
//!   16-byte loads. `split` members share the depth of a tile between workgroups and add up in a second pass.
//! - `row C`: a single row; invocations walk down the depth, columns side by side.
//! - `dot O`: a group of invocations per sum; for few sums, or operands that are both contiguous in depth.
//! - `unaligned RxCxD`: as `tile`, one element per load; any size and stride. Always last.

use fuse_artifact::{Require, Schedule};

use super::layout::{Along, along};
use crate::fusion::{
    Contraction, Group,
    body::{Body, ValueOp},
};
use fuse_artifact::Space;

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

/// Sizes of a tiled member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of a workgroup's tile.
    pub rows: u32,
    /// Columns of a workgroup's tile, a multiple of 4.
    pub columns: u32,
    /// Depth of a step, a multiple of 4.
    pub depth: u32,
    /// Rows per invocation, a multiple of 4.
    pub invocation_rows: u32,
    /// Columns per invocation, a multiple of 4.
    pub invocation_columns: u32,
    /// Elements per load, 4 or 1.
    pub lanes: u32,
    /// Whether the depth must be a multiple of the step, which spares masks on every load.
    pub whole_steps: bool,
}

impl Tile {
    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        (self.rows / self.invocation_rows) * (self.columns / self.invocation_columns)
    }

    const fn new(rows: u32, columns: u32, depth: u32, invocation: [u32; 2], lanes: u32) -> Self {
        let [invocation_rows, invocation_columns] = invocation;
        Self { rows, columns, depth, invocation_rows, invocation_columns, lanes, whole_steps: false }
    }

    const fn in_whole_steps(self) -> Self {
        Self { whole_steps: true, ..self }
    }
}

/// Aligned tiles with whether they come with a split twin. Sizes from the sweep in `docs/performance.md`.
const TILES: &[(Tile, bool)] = &[
    (Tile::new(32, 32, 32, [4, 4], LANES).in_whole_steps(), true),
    (Tile::new(16, 64, 32, [4, 4], LANES), true),
    (Tile::new(64, 64, 16, [8, 4], LANES), true),
    (Tile::new(128, 128, 8, [8, 8], LANES).in_whole_steps(), false),
    (Tile::new(128, 256, 16, [8, 16], LANES).in_whole_steps(), false),
];

/// Tiles for any size and stride.
const UNALIGNED: &[(Tile, bool)] =
    &[(Tile::new(64, 64, 16, [8, 4], 1), false), (Tile::new(32, 32, 16, [4, 4], 1), true)];

/// Columns and depth lanes of a `row` member.
const ROW: (u32, u32) = (64, 16);

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
    /// Direction of the right operand's loads.
    pub rhs: Direction,
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
    /// One row.
    Row {
        /// Columns of a workgroup.
        columns: u32,
        /// Invocations that share a column's depth.
        depth_lanes: u32,
    },
    /// One sum per group of invocations.
    Dot {
        /// Sums of a workgroup.
        outputs: u32,
        /// Invocations that share a sum.
        depth_lanes: u32,
    },
}

impl Member {
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
            },
            Shape::Row { columns, depth_lanes } => Schedule::Row { columns, depth_lanes, split: self.split },
            Shape::Dot { outputs, depth_lanes } => Schedule::Dot { outputs, depth_lanes },
        }
    }
}

/// The members of a group's family; `tile` restricts the aligned tiles to one (`#[schedule(tile = …)]`).
pub fn family(group: &Group, contraction: &Contraction, tile: Option<[u32; 3]>) -> Vec<Member> {
    let facts = Facts::new(group, contraction);
    let mut family = vec![];
    if let Some(lhs) = facts.lhs
        && let Some(rhs) = facts.rhs
    {
        for (tile, split) in aligned_tiles(tile) {
            let mut requires = facts.tile_requirements(lhs, rhs);
            if tile.whole_steps {
                requires.push(Require::Multiple { axis: facts.depth(), of: tile.depth });
            }
            let name = format!("tile {}x{}x{}", tile.rows, tile.columns, tile.depth);
            push_with_twin(&mut family, name, Shape::Tiles(tile), (lhs, rhs), split, &requires);
        }
        if lhs == Direction::Depth && rhs == Direction::Depth {
            let (outputs, depth_lanes) = DOT;
            let shape = Shape::Dot { outputs, depth_lanes };
            push_with_twin(&mut family, format!("dot {outputs}"), shape, (lhs, rhs), false, &facts.dot_requirements());
        }
    }
    if facts.rhs == Some(Direction::Outer) {
        let (columns, depth_lanes) = ROW;
        let shape = Shape::Row { columns, depth_lanes };
        let directions = (Direction::Depth, Direction::Outer);
        push_with_twin(&mut family, format!("row {columns}"), shape, directions, true, &facts.row_requirements());
    }
    for &(tile, split) in UNALIGNED {
        let name = format!("unaligned {}x{}x{}", tile.rows, tile.columns, tile.depth);
        let directions = (Direction::Depth, facts.rhs.unwrap_or(Direction::Outer));
        push_with_twin(&mut family, name, Shape::Tiles(tile), directions, split, &[]);
    }
    family
}

fn aligned_tiles(only: Option<[u32; 3]>) -> Vec<(Tile, bool)> {
    let Some([rows, columns, depth]) = only else { return TILES.to_vec() };
    let known = TILES.iter().find(|(tile, _)| (tile.rows, tile.columns, tile.depth) == (rows, columns, depth));
    let per_invocation = if rows >= 128 && columns >= 128 { [8, 8] } else { [4, 4] };
    vec![(known.map_or(Tile::new(rows, columns, depth, per_invocation, LANES), |(tile, _)| *tile), false)]
}

fn push_with_twin(
    family: &mut Vec<Member>,
    name: String,
    shape: Shape,
    (lhs, rhs): (Direction, Direction),
    twin: bool,
    requires: &[Require],
) {
    let requires = requires.to_vec();
    if twin {
        let (name, requires) = (format!("{name} split"), requires.clone());
        family.push(Member { name, shape, lhs, rhs, split: true, requires });
    }
    family.push(Member { name, shape, lhs, rhs, split: false, requires });
}

/// What the compiler knows about a group's operands.
struct Facts<'a> {
    group: &'a Group,
    /// Number of batch axes; the axes of the domain after them are M, N, K.
    batch: u8,
    lhs: Option<Direction>,
    rhs: Option<Direction>,
}

impl<'a> Facts<'a> {
    fn new(group: &'a Group, contraction: &Contraction) -> Self {
        let batch = group.shape.len() - 2;
        let lhs = direction(group, &contraction.lhs.0, batch + 1, batch);
        let rhs = direction(group, &contraction.rhs[0].0, batch, batch + 1);
        Self { group, batch: batch as u8, lhs, rhs }
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

    fn tile_requirements(&self, lhs: Direction, rhs: Direction) -> Vec<Require> {
        let mut multiples = vec![self.columns()];
        multiples.push(if lhs == Direction::Depth { self.depth() } else { self.rows() });
        multiples.push(if rhs == Direction::Depth { self.depth() } else { self.columns() });
        let mut requires = multiples_of_lanes(multiples);
        requires.extend(self.vector_loads(|space| match space {
            Space::Lhs => Some(if lhs == Direction::Depth { self.batch + 1 } else { self.batch }),
            Space::Rhs => Some(if rhs == Direction::Depth { self.batch } else { self.batch + 1 }),
            Space::Point => Some(self.columns()),
            Space::Score | Space::Value => None,
        }));
        requires
    }

    fn dot_requirements(&self) -> Vec<Require> {
        let mut requires = multiples_of_lanes(vec![self.depth()]);
        requires.extend(self.vector_loads(|space| match space {
            Space::Lhs => Some(self.batch + 1),
            Space::Rhs => Some(self.batch),
            Space::Point | Space::Score | Space::Value => None,
        }));
        requires
    }

    fn row_requirements(&self) -> Vec<Require> {
        let mut requires = vec![Require::AtMost { axis: self.rows(), value: 1 }];
        requires.extend(multiples_of_lanes(vec![self.columns()]));
        requires.extend(self.vector_loads(|space| match space {
            Space::Lhs | Space::Score | Space::Value => None,
            Space::Rhs | Space::Point => Some(self.columns()),
        }));
        requires
    }

    /// What loads of four lanes along the given axis of each space need.
    fn vector_loads(&self, lane_axis: impl Fn(Space) -> Option<u8>) -> Vec<Require> {
        let mut requires = vec![];
        for (i, access) in self.group.accesses.iter().enumerate() {
            let Some(axis) = lane_axis(access.access.space) else { continue };
            let access_index = i as u16;
            match along(access, usize::from(axis)) {
                Along::Zero => requires.push(Require::Stride { access: access_index, axis, stride: 0 }),
                Along::Unit => {
                    requires.push(Require::Stride { access: access_index, axis, stride: 1 });
                    requires.push(Require::Aligned { access: access_index, axis, of: LANES });
                }
                Along::UnitOrZero => requires.push(Require::Aligned { access: access_index, axis, of: LANES }),
                Along::Strided => {}
            }
        }
        requires
    }
}

fn multiples_of_lanes(mut axes: Vec<u8>) -> Vec<Require> {
    axes.sort_unstable();
    axes.dedup();
    axes.into_iter().map(|axis| Require::Multiple { axis, of: LANES }).collect()
}

/// The direction in which an operand's first contiguous access is contiguous.
fn direction(group: &Group, body: &Body, depth_axis: usize, outer_axis: usize) -> Option<Direction> {
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
