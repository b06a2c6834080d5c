//! Cooperative matrices of attentions and weighted sums.
//!
//! Matrices are stored to strips of workgroup memory, where invocations access their elements: four neighbors each have
//! four neighboring elements of a row, of two rows of every matrix.

use fuse_artifact::{
    Size,
    schedule::{AttentionCoopMatrix, LANES},
};

use super::{
    epilogue::{Axes, finish_call},
    shader::{Shader, lane_coordinates},
    stage::{Advance, LineStage, Lines, is_multiple},
};
use crate::kernel::{Arena, Block, Order, Role, Scalar, Ty, Val};

pub(super) const SIZE: u32 = AttentionCoopMatrix::SIZE;
const VECTORS: u32 = AttentionCoopMatrix::VECTORS;

/// Rows of a matrix with a vector of an invocation, [`HALF_ROWS`] apart.
pub(super) const HALVES: usize = 2;
const HALF_ROWS: u32 = SIZE / HALVES as u32;

const HALF_VECTORS: u32 = VECTORS / HALVES as u32;

/// Vectors of a matrix row on a strip.
const STRIP_LINE: u32 = SIZE / LANES;

pub(super) type Matrices<'k> = Vec<Vec<Val<'k>>>;

fn matrices<'k>([rows, columns]: [u32; 2], mut matrix: impl FnMut(u32, u32) -> Val<'k>) -> Matrices<'k> {
    (0..rows).map(|r| (0..columns).map(|c| matrix(r, c)).collect()).collect()
}

const fn factor(role: Role) -> Ty {
    Ty::matrix(SIZE, Scalar::F16, role)
}

const SUM: Ty = Ty::matrix(SIZE, Scalar::F32, Role::C);

pub(super) struct Places<'k> {
    pub lane: Val<'k>,
    pub lane_column: Val<'k>,
    lane_row: Val<'k>,
    part_row: Val<'k>,
    /// The array of strips, the subgroup's first, and the invocation's first vector there.
    strips: Val<'k>,
    strip: Val<'k>,
    strip_lane: Val<'k>,
    part_weights: Val<'k>,
    weight_lane: Val<'k>,
    weight_line: u32,
}

impl<'k> Places<'k> {
    /// Binds the indices for subgroups of `rows` rows and `count` strips.
    pub(super) fn bind(
        shader: &Shader<'k>,
        b: &mut Block<'k>,
        [rows, keys]: [u32; 2],
        (strips, count): (Val<'k>, u32),
    ) -> Self {
        let (subgroup, lane) = (shader.subgroup().id, shader.subgroup().lane);
        let row0 = shader.arena().name("row0", Ty::U32);
        let weight_line = AttentionCoopMatrix::line_vectors(keys);
        let part_row = b.bind("part_row", row0 + subgroup * rows);
        let lane_row = b.bind("lane_row", lane / LANES);
        let lane_column = b.bind("lane_column", lane % LANES * LANES);
        let strip = b.bind("strip", subgroup * (count * VECTORS));
        let strip_lane = b.bind("strip_lane", strip + lane);
        let part_weights = b.bind("part_weights", subgroup * (rows * weight_line));
        let weight_lane = b.bind("weight_lane", part_weights + lane_row * weight_line + lane % LANES);
        Self {
            lane,
            lane_column,
            lane_row,
            part_row,
            strips,
            strip,
            strip_lane,
            part_weights,
            weight_lane,
            weight_line,
        }
    }

    pub(super) fn row(&self, r: usize, half: usize) -> Val<'k> {
        self.part_row + (r as u32 * SIZE + half as u32 * HALF_ROWS) + self.lane_row
    }

    pub(super) fn key(&self, k0: Val<'k>, m: usize) -> Val<'k> {
        k0 + m as u32 * SIZE + self.lane_column
    }

    pub(super) fn weights(&self, array: Val<'k>, [r, m, half]: [usize; 3]) -> Val<'k> {
        let row = r as u32 * SIZE + half as u32 * HALF_ROWS;
        array.at(self.weight_lane + (row * self.weight_line + m as u32 * SIZE / LANES))
    }

    pub(super) fn on_strip(&self, strip: usize, half: usize) -> Val<'k> {
        self.strips.at(self.strip_lane + (strip as u32 * VECTORS + half as u32 * HALF_VECTORS))
    }

    pub(super) fn put_on_strips(&self, b: &mut Block<'k>, matrices: impl IntoIterator<Item = Val<'k>>) {
        for (i, matrix) in (0..).zip(matrices) {
            self.strips.matrix_at(self.strip + i * VECTORS, STRIP_LINE, Order::RowMajor).store(b, matrix);
        }
        b.workgroup_barrier();
    }

    pub(super) fn take_sums(&self) -> Val<'k> {
        self.strips.matrix_at(self.strip, STRIP_LINE, Order::RowMajor).load(SUM)
    }

    /// Passes matrices through the strips, one per operand at a time.
    pub(super) fn read(
        &self,
        b: &mut Block<'k>,
        operands: &[Matrices<'k>],
        mut read: impl FnMut(&mut Block<'k>, [usize; 2]),
    ) {
        for r in 0..operands[0].len() {
            for c in 0..operands[0][r].len() {
                if r + c > 0 {
                    // Previous matrices were read from these strips.
                    b.workgroup_barrier();
                }
                self.put_on_strips(b, operands.iter().map(|matrices| matrices[r][c]));
                read(b, [r, c]);
            }
        }
    }

    /// Passes accumulators to the epilogue; `rows` are an invocation's rows with their sums' factors, if any. Rows
    /// before `first_row` belong to the previous tiles.
    pub(super) fn store(
        &self,
        b: &mut Block<'k>,
        axes: &Axes<'k>,
        sums: &[Matrices<'k>],
        rows: &[[(Val<'k>, Option<Val<'k>>); HALVES]],
    ) {
        let arena = self.strips.arena();
        let [batch, first_row] = ["batch", "first_row"].map(|name| arena.name(name, Ty::U32));
        self.read(b, sums, |b, [r, j]| {
            for (half, (row, factor)) in rows[r].into_iter().enumerate() {
                let sum = |strip| {
                    let sum = self.on_strip(strip, half);
                    factor.map_or(sum, |factor| sum * factor)
                };
                let sums: Vec<Val<'k>> = (0..sums.len()).map(sum).collect();
                let column = arena.u32(j as u32 * SIZE) + self.lane_column;
                b.when(row.ge(first_row), |b| b.run(finish_call("finish", axes, [batch, row, column], &sums)));
            }
        });
    }

    /// Loads this subgroup's rows of an operand: `rows` by `depth` matrices, `{name}{r}_{d}`.
    pub(super) fn load_rows(&self, b: &mut Block<'k>, lines: Lines<'k>, name: &str, counts: [u32; 2]) -> Matrices<'k> {
        matrices(counts, |r, d| {
            let at = lines.first + (self.part_row + r * SIZE) * lines.stride + d * SIZE / LANES;
            let matrix = lines.buffer.matrix_at(at, lines.stride, Order::RowMajor).load(factor(Role::A));
            b.bind(format!("{name}{r}_{d}"), matrix)
        })
    }

    pub(super) fn multiply_values(
        &self,
        b: &mut Block<'k>,
        slice: &LineStage<'k>,
        weights: Val<'k>,
        sums: &Matrices<'k>,
    ) {
        for m in 0..slice.extents.lines / SIZE {
            b.scope(|b| {
                let mut factors = vec![];
                for r in 0..sums.len() as u32 {
                    let at = self.part_weights + (r * SIZE * self.weight_line + m * SIZE / LANES);
                    let matrix = weights.matrix_at(at, self.weight_line, Order::RowMajor).load(factor(Role::A));
                    factors.push(b.bind(format!("weight{r}"), matrix));
                }
                for j in 0..sums[0].len() {
                    let value = b.bind(format!("value{j}"), of_slice(slice, [m, j as u32], Order::RowMajor));
                    for (weight, sums) in factors.iter().zip(sums) {
                        b.set(sums[j], weight.matrix_multiply_add(value, sums[j]));
                    }
                }
            });
        }
    }
}

/// A slice's matrix at these lines and elements, counted in matrices.
fn of_slice<'k>(slice: &LineStage<'k>, [line, element]: [u32; 2], order: Order) -> Val<'k> {
    let stride = slice.extents.line_vectors();
    slice.array.matrix_at(line * SIZE * stride + element * SIZE / LANES, stride, order).load(factor(Role::B))
}

/// Declares accumulators `{name}{r}_{c}`.
pub(super) fn declare_sums<'k>(arena: &'k Arena, b: &mut Block<'k>, name: &str, counts: [u32; 2]) -> Matrices<'k> {
    matrices(counts, |r, c| b.var(format!("{name}{r}_{c}"), arena.construct(SUM, &[])))
}

/// Products of a subgroup's rows and a slice's keys, matrices `{name}{r}_{m}`.
pub(super) fn multiply_keys<'k>(
    b: &mut Block<'k>,
    slice: &LineStage<'k>,
    rows: &Matrices<'k>,
    name: &str,
) -> Matrices<'k> {
    let keys = slice.extents.lines / SIZE;
    let products = declare_sums(slice.array.arena(), b, name, [rows.len() as u32, keys]);
    for m in 0..keys as usize {
        b.scope(|b| {
            for d in 0..rows[0].len() {
                // Keys are rows in memory and columns of the product.
                let key = of_slice(slice, [m as u32, d as u32], Order::ColumnMajor);
                let key = b.bind(format!("key{d}"), key);
                for (row, products) in rows.iter().zip(&products) {
                    b.set(products[m], row[d].matrix_multiply_add(key, products[m]));
                }
            }
        });
    }
    products
}

pub(super) struct Keys<'k> {
    count: Val<'k>,
    step: u32,
    /// The last key, if the last step may be partial.
    pub last: Option<Val<'k>>,
}

impl<'k> Keys<'k> {
    pub(super) fn bind(b: &mut Block<'k>, (count, size): (Val<'k>, &Size), step: u32) -> Self {
        let last = (!is_multiple(size, step)).then(|| b.bind("last_key", count - 1));
        Self { count, step, last }
    }

    pub(super) fn advance(&self) -> Advance<'k> {
        self.last.map_or(Advance::Lines, Advance::Clamped)
    }

    /// Walks over the keys. While a step multiplies, the next slices of `ahead` are loaded into registers.
    pub(super) fn walk(&self, b: &mut Block<'k>, ahead: &[LineStage<'k>], step: impl FnOnce(&mut Block<'k>, Val<'k>)) {
        let [begin, end] = ["key_begin", "key_end"].map(|name| self.count.arena().name(name, Ty::U32));
        let fetch = |b: &mut Block<'k>, first| ahead.iter().for_each(|slice| slice.fetch(b, first));
        b.when(begin.lt(end), |b| fetch(b, begin));
        b.range("k0", begin, end, self.step, |b, k0| {
            ahead.iter().for_each(|slice| slice.fill(b));
            b.workgroup_barrier();
            // Elements beyond the last slice are not used.
            let next = k0 + self.step;
            let next = if self.last.is_some() { next } else { next.min(self.count - self.step) };
            let next = b.bind("next", next);
            fetch(b, next);
            step(b, k0);
            b.workgroup_barrier();
        });
    }

    /// For each of four keys, true if it exists.
    pub(super) fn exist(&self, first: Val<'k>) -> Val<'k> {
        lane_coordinates(first, LANES, true).lt(self.count.splat(LANES))
    }

    pub(super) fn end_in(&self, k0: Val<'k>) -> Val<'k> {
        (k0 + self.step).gt(self.count)
    }
}
