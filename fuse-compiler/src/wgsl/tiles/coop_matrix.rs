//! Tiles of cooperative matrices: each subgroup multiplies the matrices of its part of the tile.
//!
//! Slices keep the direction of operands in memory, which spares transposing: matrices are loaded row by row or column
//! by column. Tiles inside the result load whole vectors at an invocation's offset plus a shared one, without clamping,
//! which takes no registers per load (docs/experiments.md). Loads of the next step are pinned before the barrier that
//! ends this one; the measured driver would put them behind it, where nothing hides their latency. Sums leave their
//! matrices through workgroup memory, one matrix per subgroup at a time; more slowed down the whole kernel.

use fuse_artifact::{
    COOP_MATRIX_SUBGROUP, DType, Size, Uniform,
    schedule::{LANES, Tile},
};

use super::{MatmulKernel, epilogue, is_partial, side::Side};
use crate::{
    kernel::{Block, Order, Role, Scalar, Ty, Val},
    schedule::contraction::Direction,
    wgsl::stage::{Advance, LineStage, Lines, SliceExtents},
};

const SLICE_VECTOR: Ty = Ty::vector(Scalar::F16, LANES);
const SUM_VECTOR: Ty = Ty::vector(Scalar::F32, LANES);

impl<'a> MatmulKernel<'a> {
    pub(super) fn declare_matrix_slices(&mut self) {
        let tile = self.tile;
        self.shader.use_coop_matrix(matrix_size(tile));
        if tile.shifted_at_edge() {
            self.shader.pin_loads();
        }
        for side in self.staged() {
            let count = self.extents(side).lines * self.line_vectors(side);
            self.shader.workgroup_array(&side.array(self.contraction), SLICE_VECTOR, count);
        }
        for array in self.sum_arrays() {
            self.shader.workgroup_array(&array, SUM_VECTOR, tile.subgroups() * matrix_size(tile).pow(2) / 4);
        }
    }

    /// Extents of a slice, whose lines are rows or columns, whichever is contiguous.
    fn extents(&self, side: Side) -> SliceExtents {
        let [span, depth, invocations] = [side.span(self.tile), self.tile.depth, self.tile.invocations()];
        match self.direction(side) {
            Direction::Depth => SliceExtents { lines: span, elements: depth, invocations },
            Direction::Outer => SliceExtents { lines: depth, elements: span, invocations },
        }
    }

    pub(super) fn line_vectors(&self, side: Side) -> u32 {
        self.extents(side).line_vectors()
    }

    fn sum_arrays(&self) -> Vec<String> {
        self.axes.product_suffixes().iter().map(|suffix| format!("sums{suffix}")).collect()
    }

    pub(super) fn locate_subgroup(&mut self) {
        if self.tile.shifted_at_edge() {
            let [row, column] = ["first_row", "first_column"].map(|name| self.index(name));
            self.main.bind("row0", row.min(self.axes.rows - self.tile.rows));
            self.main.bind("column0", column.min(self.axes.columns - self.tile.columns));
        }
        let (across, subgroup) = (self.tile.columns / self.tile.invocation_columns, self.shader.subgroup().id);
        self.main.bind("part_row", subgroup / across * self.tile.invocation_rows);
        self.main.bind("part_column", subgroup % across * self.tile.invocation_columns);
    }

    fn matrix_counts(&self) -> [u32; 2] {
        let size = matrix_size(self.tile);
        [self.tile.invocation_rows / size, self.tile.invocation_columns / size]
    }

    fn matrix_sum(&self, product: &str, [i, j]: [u32; 2]) -> Val<'a> {
        let ty = Ty::matrix(matrix_size(self.tile), Scalar::F32, Role::C);
        self.shader.arena().name(format!("c{product}{i}_{j}"), ty)
    }

    pub(super) fn declare_matrix_sums(&mut self) {
        let [rows, columns] = self.matrix_counts();
        for p in &self.products {
            for [i, j] in (0..rows).flat_map(|i| (0..columns).map(move |j| [i, j])) {
                let zero = self.shader.arena().construct(self.matrix_sum(p, [i, j]).ty(), &[]);
                self.main.var(format!("c{p}{i}_{j}"), zero);
            }
        }
    }

    pub(super) fn multiply_matrices(&self, b: &mut Block<'a>) {
        let ([rows, columns], size) = (self.matrix_counts(), matrix_size(self.tile));
        for k in (0..self.tile.depth).step_by(size as usize) {
            b.scope(|b| {
                let mut load = |side, name: String, outer| {
                    let matrix = self.load_matrix(side, outer, k);
                    b.bind(name, matrix)
                };
                let lhs: Vec<Val<'a>> = (0..rows).map(|i| load(Side::Lhs, format!("a{i}"), i * size)).collect();
                let products = self.products.iter().enumerate();
                let rhs: Vec<Vec<Val<'a>>> = products
                    .map(|(n, p)| (0..columns).map(|j| load(Side::Rhs(n), format!("b{p}{j}"), j * size)).collect())
                    .collect();
                for (p, rhs) in self.products.iter().zip(&rhs) {
                    for (i, lhs) in (0..).zip(&lhs) {
                        for (j, &rhs) in (0..).zip(rhs) {
                            let sum = self.matrix_sum(p, [i, j]);
                            b.set(sum, lhs.matrix_multiply_add(rhs, sum));
                        }
                    }
                }
            });
        }
    }

    /// A slice's matrix, `outer` rows or columns into the subgroup's part, at depth `k` of the step.
    fn load_matrix(&self, side: Side, outer: u32, k: u32) -> Val<'a> {
        let (role, part) = match side {
            Side::Lhs => (Role::A, self.index("part_row")),
            Side::Rhs(_) => (Role::B, self.index("part_column")),
        };
        let order = match (side, self.direction(side)) {
            (Side::Lhs, Direction::Depth) | (Side::Rhs(_), Direction::Outer) => Order::RowMajor,
            (Side::Lhs, Direction::Outer) | (Side::Rhs(_), Direction::Depth) => Order::ColumnMajor,
        };
        let stride = self.line_vectors(side);
        let at = match self.direction(side) {
            Direction::Depth => part * stride + (outer * stride + k / 4),
            Direction::Outer => part / 4 + (k * stride + outer / 4),
        };
        let array = self.shader.array(&side.array(self.contraction));
        array.matrix_at(at, stride, order).load(Ty::matrix(matrix_size(self.tile), Scalar::F16, role))
    }

    pub(super) fn declare_lines(&mut self, b: &mut Block<'a>, side: Side) -> LineStage<'a> {
        let (operand, direction, extents) = (self.operand(side), self.direction(side), self.extents(side));
        let origin = self.index(side.origin());
        let [depth_axis, outer_axis] = side.axes(self.axes.batch);
        let line_axis = if direction == Direction::Depth { outer_axis } else { depth_axis } as u8;
        let stride = self.line_stride(side, operand.loads()[0], line_axis);
        let mut source = Lines::bind(&mut self.shader, b, &operand, stride, &self.axes.batch());
        let (origin, advance) = match direction {
            Direction::Depth => (origin * source.stride, Advance::Elements),
            Direction::Outer => (origin / LANES, Advance::Lines),
        };
        source.first = b.bind(format!("{}_origin", source.prefix), source.first + origin);
        let array = self.shader.array(&side.array(self.contraction));
        LineStage::declare(&self.shader, b, source, advance, array, extents)
    }

    /// Elements from line to line of an operand: a literal if known, which spares registers.
    fn line_stride(&mut self, side: Side, access: u16, axis: u8) -> Val<'a> {
        match self.known_stride(side, access, usize::from(axis)) {
            Some(elements) => self.shader.size(&elements),
            None => self.shader.uniform(Uniform::Stride { access, axis }),
        }
    }

    fn known_stride(&self, side: Side, access: u16, axis: usize) -> Option<Size> {
        let known = &self.group.accesses[usize::from(access)];
        // A launch folds batches of a single row into rows, which then have the batches' stride: the same only where
        // batches are contiguous.
        let (batch, rows) = self.group.shape.split_at(self.axes.batch);
        let lhs_shape = [batch, &[rows[0].clone(), self.contraction.depth.clone()]].concat();
        let may_fold = side == Side::Lhs && axis == batch.len() && axis > 0 && !known.is_whole(&lhs_shape);
        let view_axis = known.access.axes[axis].filter(|_| !may_fold && !known.may_repeat[axis])?;
        let stride = Size::product(&known.access.view[usize::from(view_axis) + 1..]);
        stride.as_constant().is_some().then_some(stride)
    }

    /// Loads the epilogue's inputs of a subgroup's only matrix, to hide the latency behind the product.
    pub(super) fn preload_matrices(&mut self) {
        self.bind_matrix_places();
        if self.preloads_matrices() {
            let inputs = self.preload_row(0);
            self.main.append(&inputs);
        }
    }

    fn bind_matrix_places(&mut self) {
        let (size, [rows, columns], lane) = (matrix_size(self.tile), self.matrix_counts(), self.shader.subgroup().lane);
        let [row0, column0, part_row, part_column] =
            ["row0", "column0", "part_row", "part_column"].map(|name| self.index(name));
        let (b, across) = (&mut self.main, size / LANES);
        let row = b.bind("lane_row", row0 + part_row + lane / across);
        let column = b.bind("lane_column", column0 + part_column + lane % across * LANES);
        for i in 0..rows {
            for u in 0..matrix_vectors(self.tile) {
                b.bind(vector_row(i, u), row + (i * size + u * COOP_MATRIX_SUBGROUP / across));
            }
        }
        for j in 0..columns {
            b.bind(vector_column(j), column + j * size);
        }
    }

    fn matrix_place(&self, [i, j, u]: [u32; 3]) -> [Val<'a>; 2] {
        [vector_row(i, u), vector_column(j)].map(|name| self.index(&name))
    }

    fn preloads_matrices(&self) -> bool {
        self.matrix_counts() == [1, 1]
    }

    fn preload_row(&mut self, i: u32) -> Block<'a> {
        let mut b = Block::new();
        if is_partial(self.tile) {
            return b;
        }
        let epilogue = epilogue(self.group, self.axes, self.sum, self.tile);
        for j in 0..self.matrix_counts()[1] {
            for u in 0..matrix_vectors(self.tile) {
                let place = self.matrix_place([i, j, u]);
                epilogue.preload(&mut self.shader, &mut b, place, &format!("_{i}_{j}_{u}"));
            }
        }
        b
    }

    pub(super) fn store_matrices(&mut self) {
        debug_assert!(self.sum == DType::F32, "matrices sum in f32");
        let ([rows, columns], subgroup) = (self.matrix_counts(), self.shader.subgroup());
        let mut b = Block::new();
        let matrix = b.bind("matrix", subgroup.id * (matrix_size(self.tile).pow(2) / 4));
        let vector = b.bind("vector", matrix + subgroup.lane);
        for i in 0..rows {
            b.scope(|b| {
                if !self.preloads_matrices() {
                    b.append(&self.preload_row(i));
                }
                for j in 0..columns {
                    self.store_matrix(b, [i, j], matrix, vector);
                }
            });
        }
        self.main.append(&b);
    }

    /// Hands a matrix' sums to the epilogue, through the subgroup's `matrix` and this invocation's `vector`.
    fn store_matrix(&self, b: &mut Block<'a>, [i, j]: [u32; 2], matrix: Val<'a>, vector: Val<'a>) {
        let size = matrix_size(self.tile);
        let across = size / LANES;
        let arrays: Vec<_> = self.sum_arrays().iter().map(|name| self.shader.array(name)).collect();
        // Earlier matrices were read from the same place.
        if i + j > 0 {
            b.workgroup_barrier();
        }
        for (p, array) in self.products.iter().zip(&arrays) {
            array.matrix_at(matrix, across, Order::RowMajor).store(b, self.matrix_sum(p, [i, j]));
        }
        b.workgroup_barrier();
        for u in 0..matrix_vectors(self.tile) {
            let [row, column] = self.matrix_place([i, j, u]);
            let sums: Vec<_> = arrays.iter().map(|array| array.at(vector + u * COOP_MATRIX_SUBGROUP)).collect();
            let mut conditions = vec![];
            if self.tile.shifted_at_edge() {
                // Earlier elements belong to the previous tiles.
                conditions.push(row.ge(self.index("first_row")));
                conditions.push(column.ge(self.index("first_column")));
            }
            if size * across < COOP_MATRIX_SUBGROUP {
                conditions.push(self.shader.subgroup().lane.lt(size * across));
            }
            let finish = self.finish_call([row, column], &sums, &format!("{i}_{j}_{u}"));
            b.when_some(conditions.into_iter().reduce(Val::and), |b| b.run(finish));
        }
    }
}

fn matrix_size(tile: Tile) -> u32 {
    tile.coop_matrix().expect("other tiles have no matrices")
}

/// Vectors of a matrix per invocation, of a subgroup's first ones.
fn matrix_vectors(tile: Tile) -> u32 {
    (matrix_size(tile).pow(2) / 4).div_ceil(COOP_MATRIX_SUBGROUP)
}

fn vector_row(i: u32, u: u32) -> String {
    format!("vector_row{i}_{u}")
}

fn vector_column(j: u32) -> String {
    format!("vector_column{j}")
}
