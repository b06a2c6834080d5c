//! The schedule family of weighted sums.
//!
//! - `tile MxN RxC`: workgroups have M rows, in steps of N keys with 16-byte loads; R×C weights per invocation.
//! - `coop-matrix MxN R head D`: like `tile`, with R rows per subgroup in `f16` cooperative matrices. Depths and
//!   columns all equal D.
//! - `scalar tile MxN RxC`: fallback with scalar loads and 16 KiB of workgroup memory; any size and stride.

use fuse_artifact::{
    DType, Require, Space,
    schedule::{LANES, WeightedSum as Tile},
};

use super::{
    contraction::{Direction, direction},
    layout::{Along, along, multiples_of_lanes, vector_load},
};
use crate::fusion::{
    Group, WeightedSum,
    attention_pattern::MAX_HEAD,
    body::{Body, ValueId, ValueOp},
};

/// A schedule of a weighted sum.
#[derive(Clone, Debug)]
pub struct ScheduleSpec {
    /// The schedule.
    pub schedule: Tile,
    /// Load directions.
    pub directions: Directions,
    /// Requirements at launch.
    pub requires: Vec<Require>,
}

/// Axes of vector loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directions {
    /// Left operand of each product: `Depth`, or `Outer` along the rows.
    pub lhs: Vec<Direction>,
    /// Right operand of each product: `Depth`, or `Outer` along the keys.
    pub rhs: Vec<Direction>,
    /// Values of each sum: `Depth` along the keys, or `Outer` along the columns.
    pub values: Vec<Direction>,
}

/// The group's schedules, best first.
pub fn family(group: &Group, sum: &WeightedSum) -> Vec<ScheduleSpec> {
    let facts = Facts { group, sum, batch: group.shape.len() as u8 - 2 };
    let mut family: Vec<ScheduleSpec> = vec![];
    if let Some(directions) = facts.directions() {
        for head in facts.heads(&[32, 64, 128, MAX_HEAD as u32]) {
            if let Some(rows) = facts.stored_rows(&directions) {
                for tile in in_matrices(head, sum.values.len()) {
                    let mut requires = facts.exact_requirements(head);
                    requires.extend(facts.vector_requirements(&directions));
                    // The last tile of rows is shifted inside.
                    requires.push(Require::AtLeast { axis: facts.rows(), value: tile.rows });
                    requires.push(Require::AtLeast { axis: facts.keys(), value: 1 });
                    // Cooperative matrices load lines aligned to 16 bytes.
                    let axis = facts.batch + 1;
                    requires.extend(rows.iter().map(|&access| Require::Aligned { access, axis, of: 8 }));
                    let (schedule, directions) = (tile, directions.clone());
                    family.push(ScheduleSpec { schedule, directions, requires });
                }
            }
            for tile in aligned(head) {
                let schedule = tile;
                // Small heads share a tile.
                if family.iter().any(|other| other.schedule == schedule) {
                    continue;
                }
                let mut requires = facts.head_requirements(tile);
                requires.extend(facts.vector_requirements(&directions));
                family.push(ScheduleSpec { schedule, directions: directions.clone(), requires });
            }
        }
    }
    let [products, sums] = [sum.products.len(), sum.values.len()];
    let directions = Directions {
        lhs: vec![Direction::Depth; products],
        rhs: vec![Direction::Depth; products],
        values: vec![Direction::Outer; sums],
    };
    for head in facts.heads(&[64, MAX_HEAD as u32]) {
        let tile = scalar(head);
        let requires = facts.head_requirements(tile);
        family.push(ScheduleSpec { schedule: tile, directions: directions.clone(), requires });
    }
    family
}

const fn tile(columns: u32, [rows, invocation_rows, across]: [u32; 3], value_step: u32) -> Tile {
    let columns = columns.next_multiple_of(4 * across);
    Tile { rows, invocation_rows, across, depth_step: 8, value_step, columns, lanes: LANES, coop_matrix: false }
}

/// Doubles the depth step. Two squares of sums took 0.9 times as long on an H100, tiles of 32 rows longer.
const fn deep(tile: Tile) -> Tile {
    Tile { depth_step: 16, ..tile }
}

/// Tiles with vector loads, best first. Larger squares of sums per invocation read workgroup memory less often but take
/// more registers, for two products and two sums at a time.
fn aligned(columns: u32) -> Vec<Tile> {
    match columns {
        0..=64 => vec![deep(tile(columns, [64, 8, 16], 16)), tile(columns, [32, 4, 8], 8)],
        65..=128 => vec![tile(columns, [64, 4, 16], 8)],
        _ => vec![tile(columns, [32, 4, 16], 4)],
    }
}

/// Cooperative-matrix tiles for so many sums, best first. On an H100, 32 rows per subgroup took 0.8 times as long as 16
/// with one sum of 64 columns, and 1.4 times with two. Steps of 32 keys took 1.1 to 1.9 times as long as 16.
fn in_matrices(head: u32, sums: usize) -> Vec<Tile> {
    // Each invocation loads at least a vector of a slice.
    if !head.is_power_of_two() || !(32..=128).contains(&head) {
        return vec![];
    }
    let tile = |rows: u32| Tile::in_matrices(rows, head);
    if head == 64 && sums == 1 { vec![tile(32), tile(16)] } else { vec![tile(16)] }
}

fn scalar(columns: u32) -> Tile {
    let tile = if columns <= 64 { tile(64, [32, 4, 8], 8) } else { tile(columns, [32, 4, 16], 4) };
    Tile { lanes: 1, ..tile }
}

fn stored((body, value): &(Body, ValueId)) -> Option<u16> {
    let value = &body.values[*value];
    match value.op {
        ValueOp::Load(access) if value.dtype == DType::F16 => Some(access),
        _ => None,
    }
}

/// Workgroup-memory slices of right operands and summed values.
#[derive(Clone, Debug)]
pub struct Slices {
    products: usize,
    /// Per sum: the product whose right operand it adds up, else its own slice.
    pub of_values: Vec<Option<usize>>,
}

impl Slices {
    /// Number of slices.
    pub fn count(&self) -> usize {
        self.products + self.of_values.iter().filter(|product| product.is_none()).count()
    }
}

/// Slices of a sum with stored inputs.
///
/// Keys by depths and keys by columns share a slice if their accesses differ only in the order of the last two axes.
pub fn slices(group: &Group, sum: &WeightedSum) -> Slices {
    let batch = group.shape.len() - 2;
    let access = |program: &(Body, ValueId)| stored(program).map(|access| &group.accesses[usize::from(access)].access);
    let same = |rhs: &(Body, ValueId), value: &(Body, ValueId)| {
        let (Some(rhs), Some(value)) = (access(rhs), access(value)) else { return false };
        let mut axes = value.axes.to_vec();
        axes.swap(batch, batch + 1);
        rhs.slot == value.slot && rhs.view == value.view && rhs.starts == value.starts && *rhs.axes == *axes
    };
    let of_values = sum.values.iter().map(|value| sum.products.iter().position(|product| same(&product.rhs, value)));
    Slices { products: sum.products.len(), of_values: of_values.collect() }
}

struct Facts<'a> {
    group: &'a Group,
    sum: &'a WeightedSum,
    /// Number of batch axes, which precede M, E, N, D, F.
    batch: u8,
}

impl Facts<'_> {
    const fn rows(&self) -> u8 {
        self.batch
    }

    const fn columns(&self) -> u8 {
        self.batch + 1
    }

    const fn keys(&self) -> u8 {
        self.batch + 2
    }

    const fn depth(&self, product: usize) -> u8 {
        self.batch + 3 + product as u8
    }

    fn directions(&self) -> Option<Directions> {
        let batch = usize::from(self.batch);
        let of = |(body, _): &(Body, ValueId), summed, outer| direction(self.group, body, summed, outer);
        let products = || self.sum.products.iter();
        Some(Directions {
            lhs: products().map(|product| of(&product.lhs, batch + 1, batch)).collect::<Option<_>>()?,
            rhs: products().map(|product| of(&product.rhs, batch, batch + 1)).collect::<Option<_>>()?,
            values: self.sum.values.iter().map(|value| of(value, batch, batch + 1)).collect::<Option<_>>()?,
        })
    }

    fn exact_requirements(&self, head: u32) -> Vec<Require> {
        let mut requires = vec![];
        let mut exactly = |size: Option<u64>, axis: u8| {
            if size != Some(head.into()) {
                requires.extend([Require::AtLeast { axis, value: head }, Require::AtMost { axis, value: head }]);
            }
        };
        exactly(self.group.shape[usize::from(self.columns())].as_constant(), self.columns());
        for (i, product) in self.sum.products.iter().enumerate() {
            exactly(product.depth.as_constant(), self.depth(i));
        }
        requires
    }

    /// Accesses of left operands, if cooperative matrices can load all inputs from memory: stored `f16`, operands
    /// contiguous along the depth, summed values along the columns. Weights are `f16`, too.
    fn stored_rows(&self, directions: &Directions) -> Option<Vec<u16>> {
        let batch = usize::from(self.batch);
        let along_lines = directions.lhs.iter().chain(&directions.rhs).all(|&d| d == Direction::Depth)
            && directions.values.iter().all(|&d| d == Direction::Outer);
        let (weights, of_sums) = &self.sum.weights;
        let narrow = of_sums.iter().all(|&weight| weights.values[weight].dtype == DType::F16);
        let stored = |program: &(Body, ValueId), axis: usize| {
            stored(program).filter(|&access| along(&self.group.accesses[usize::from(access)], axis) == Along::Unit)
        };
        for product in &self.sum.products {
            stored(&product.rhs, batch)?;
        }
        for value in &self.sum.values {
            stored(value, batch + 1)?;
        }
        let rows = self.sum.products.iter().map(|product| stored(&product.lhs, batch + 1)).collect::<Option<_>>()?;
        (along_lines && narrow).then_some(rows)
    }

    fn weights_read_keys(&self) -> bool {
        let accesses = &self.group.accesses;
        let axis = usize::from(self.batch) + 1;
        self.sum.weights.0.values.iter().any(|value| match value.op {
            ValueOp::Load(access) => along(&accesses[usize::from(access)], axis) != Along::Zero,
            ref op => {
                let read = op.accesses().into_iter().map(|access| &accesses[usize::from(access)].access);
                read.flat_map(|access| access.axes.iter()).any(Option::is_some)
            }
        })
    }

    /// Columns to compile for: the known number, or several for the launch to select from.
    fn heads(&self, sizes: &[u32]) -> Vec<u32> {
        let columns = self.group.shape[usize::from(self.columns())].as_constant();
        columns.map_or_else(|| sizes.to_vec(), |columns| vec![columns.clamp(1, MAX_HEAD) as u32])
    }

    /// Upper bound of columns known only at launch. The last schedule has none.
    fn head_requirements(&self, tile: Tile) -> Vec<Require> {
        let open = self.group.shape[usize::from(self.columns())].as_constant().is_none();
        let fits = Require::AtMost { axis: self.columns(), value: tile.columns };
        if open && u64::from(tile.columns) < MAX_HEAD { vec![fits] } else { vec![] }
    }

    fn vector_requirements(&self, directions: &Directions) -> Vec<Require> {
        let depths = || 0..self.sum.products.len();
        // Loads clamp to the depth, so it must be at least 1.
        let mut requires: Vec<Require> =
            depths().map(|product| Require::AtLeast { axis: self.depth(product), value: 1 }).collect();
        let mut multiples = vec![self.columns()];
        let of =
            |direction: Direction, summed: u8, outer: u8| if direction == Direction::Depth { summed } else { outer };
        for product in depths() {
            multiples.push(of(directions.lhs[product], self.depth(product), self.rows()));
            multiples.push(of(directions.rhs[product], self.depth(product), self.keys()));
        }
        multiples.extend(directions.values.iter().map(|&value| of(value, self.keys(), self.columns())));
        if self.weights_read_keys() {
            multiples.push(self.keys());
        }
        requires.extend(multiples_of_lanes(multiples));
        let [first, second] = [self.batch, self.batch + 1];
        for (i, access) in self.group.accesses.iter().enumerate() {
            let axes: Vec<u8> = match access.access.space {
                Space::Lhs => vec![of(directions.lhs[0], second, first)],
                Space::Rhs => vec![of(directions.rhs[0], first, second)],
                Space::SecondLhs => vec![of(directions.lhs[1], second, first)],
                Space::SecondRhs => vec![of(directions.rhs[1], first, second)],
                Space::Value => {
                    let mut axes: Vec<u8> = directions.values.iter().map(|&value| of(value, first, second)).collect();
                    axes.dedup();
                    axes
                }
                Space::Score | Space::Point => vec![second],
            };
            let needs = |axis: u8| vector_load(i as u16, access, usize::from(axis), axis);
            requires.extend(axes.into_iter().flat_map(needs));
        }
        requires
    }
}
