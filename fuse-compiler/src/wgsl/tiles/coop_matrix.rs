//! Tiles of cooperative matrices: each subgroup multiplies the matrices of its part of the tile.
//!
//! Slices keep the direction in which the operands lie in memory, which costs no transposing: matrices are loaded row by row
//! or column by column. Tiles that lie inside the result load whole vectors at an offset of the invocation plus one that all
//! share, without clamping: what varies per load takes no registers (docs/experiments.md). The loads of the next step are
//! pinned before the barrier that ends this one; the driver that was measured would put them behind it, where nothing hides
//! their latency. Sums leave their matrices through workgroup memory, one matrix per subgroup at a time; more at a time slowed
//! down the whole kernel.

use crate::kernel::Ty;
use fuse_artifact::{
    COOP_MATRIX_SUBGROUP, DType, Size, Uniform,
    schedule::{SLICE_PAD, Tile},
};

use super::{MatmulKernel, epilogue, is_partial, slices::Side};
use crate::schedule::contraction::Direction;

/// WGSL loads matrices row by row with a `T`, column by column without.
const BY_ROWS: &str = "coopLoadT";
const BY_COLUMNS: &str = "coopLoad";

impl<'a> MatmulKernel<'a> {
    pub(super) fn declare_matrix_slices(&mut self) {
        let tile = self.tile;
        self.shader.use_coop_matrix(matrix_size(tile));
        if tile.shifted_at_edge() {
            self.shader.pin_loads();
        }
        for side in self.staged() {
            let count = self.lines(side)[0] * self.line_vectors(side);
            self.shader.workgroup_array_text(&side.array(self.contraction), "vec4<f16>", count, 8);
        }
        for array in self.sum_arrays() {
            let count = tile.subgroups() * matrix_size(tile).pow(2) / 4;
            self.shader.workgroup_array_text(&array, "vec4<f32>", count, 16);
        }
    }

    /// The lines of a slice, which are its rows or columns, whichever is contiguous: how many there are, and how many elements
    /// one has.
    fn lines(&self, side: Side) -> [u32; 2] {
        match self.direction(side) {
            Direction::Depth => [side.span(self.tile), self.tile.depth],
            Direction::Outer => [self.tile.depth, side.span(self.tile)],
        }
    }

    /// Vectors of four from one line of a slice to the next.
    pub(super) fn line_vectors(&self, side: Side) -> u32 {
        (self.lines(side)[1] + SLICE_PAD) / 4
    }

    /// The vector of a slice at a row or column (`outer`) and a depth, names of which one is a multiple of four.
    pub(super) fn matrix_slice_place(&self, side: Side, outer: &str, depth: &str) -> String {
        let vectors = self.line_vectors(side);
        match self.direction(side) {
            Direction::Depth => format!("{outer} * {vectors}u + {depth} / 4u"),
            Direction::Outer => format!("{depth} * {vectors}u + {outer} / 4u"),
        }
    }

    /// Where subgroups put a matrix of sums, one array per product.
    fn sum_arrays(&self) -> Vec<String> {
        self.axes.product_suffixes().iter().map(|suffix| format!("sums{suffix}")).collect()
    }

    /// Which part of the tile this subgroup has.
    pub(super) fn locate_subgroup(&mut self) {
        if self.tile.shifted_at_edge() {
            let (rows, columns) = (&self.axes.rows, &self.axes.columns);
            self.main.line(format!("let row0 = min(first_row, {rows} - {}u);", self.tile.rows));
            self.main.line(format!("let column0 = min(first_column, {columns} - {}u);", self.tile.columns));
        }
        let across = self.tile.columns / self.tile.invocation_columns;
        self.main.line(format!("let part_row = subgroup / {across}u * {}u;", self.tile.invocation_rows));
        self.main.line(format!("let part_column = subgroup % {across}u * {}u;", self.tile.invocation_columns));
    }

    /// Rows and columns of matrices that a subgroup has.
    fn matrix_counts(&self) -> [u32; 2] {
        let size = matrix_size(self.tile);
        [self.tile.invocation_rows / size, self.tile.invocation_columns / size]
    }

    pub(super) fn declare_matrix_sums(&mut self) {
        let ([rows, columns], size) = (self.matrix_counts(), matrix_size(self.tile));
        for p in &self.products {
            for i in 0..rows {
                for j in 0..columns {
                    self.main.line(format!("var c{p}{i}_{j} = coop_mat{size}x{size}<f32, C>();"));
                }
            }
        }
    }

    /// Adds the products of a step's slices to the sums.
    pub(super) fn multiply_matrices(&mut self) {
        let ([rows, columns], size) = (self.matrix_counts(), matrix_size(self.tile));
        for k in (0..self.tile.depth).step_by(size as usize) {
            self.main.line("{");
            for i in 0..rows {
                self.load_matrix(Side::Lhs, &format!("a{i}"), i * size, k);
            }
            for (product, p) in self.products.clone().iter().enumerate() {
                for j in 0..columns {
                    self.load_matrix(Side::Rhs(product), &format!("b{p}{j}"), j * size, k);
                }
            }
            for p in &self.products {
                for i in 0..rows {
                    for j in 0..columns {
                        let sum = format!("c{p}{i}_{j}");
                        self.main.line(format!("{sum} = coopMultiplyAdd(a{i}, b{p}{j}, {sum});"));
                    }
                }
            }
            self.main.line("}");
        }
    }

    /// Loads the matrix of a slice that is `outer` rows or columns into the subgroup's part, at depth `k` of the step.
    fn load_matrix(&mut self, side: Side, name: &str, outer: u32, k: u32) {
        let (role, part) = match side {
            Side::Lhs => ("A", "part_row"),
            Side::Rhs(_) => ("B", "part_column"),
        };
        let load = match (side, self.direction(side)) {
            (Side::Lhs, Direction::Depth) | (Side::Rhs(_), Direction::Outer) => BY_ROWS,
            (Side::Lhs, Direction::Outer) | (Side::Rhs(_), Direction::Depth) => BY_COLUMNS,
        };
        let (array, size, stride) = (side.array(self.contraction), matrix_size(self.tile), self.line_vectors(side));
        let at = match self.direction(side) {
            Direction::Depth => format!("{part} * {stride}u + {}u", outer * stride + k / 4),
            Direction::Outer => format!("{part} / 4u + {}u", k * stride + outer / 4),
        };
        self.main.line(format!("let {name} = {load}<coop_mat{size}x{size}<f16, {role}>>(&{array}[{at}], {stride}u);"));
    }

    /// Multiplies along the whole depth, where all loads lie inside the operands. While a step multiplies, the next slices are
    /// on their way into registers.
    pub(super) fn multiply_inside(&mut self) {
        let depth = self.tile.depth;
        for side in self.staged() {
            match self.packed(side) {
                Some(weights) => self.declare_packed(side, weights),
                None => self.declare_lines(side),
            }
        }
        self.main.line("if k_begin < k_end {");
        self.fetch_lines("k_begin");
        self.main.line("}");
        self.main.line(format!("for (var k0 = k_begin; k0 < k_end; k0 += {depth}u) {{"));
        for side in self.staged() {
            match self.packed(side) {
                Some(weights) => self.fill_packed(side, weights),
                None => self.fill_lines(side),
            }
        }
        self.main.line("workgroupBarrier();");
        self.fetch_lines(&format!("min(k0 + {depth}u, k_end - {depth}u)"));
        self.multiply_matrices();
        self.main.line("workgroupBarrier();");
        self.main.line("}");
    }

    /// Lines of a slice that the workgroup loads at once, and how many times it does.
    fn passes(&self, side: Side) -> [u32; 2] {
        let [lines, length] = self.lines(side);
        let at_once = self.tile.invocations() / (length / 4);
        debug_assert!(lines.is_multiple_of(at_once), "every invocation takes part in every load");
        [at_once, lines / at_once]
    }

    /// Declares, in vectors of four, from one line of an operand to the next (`{p}_lines`), the first of the tile
    /// (`{p}_first`), and this invocation's place in the operand (`{p}_at`) and in the slice (`{p}_to`).
    fn declare_lines(&mut self, side: Side) {
        let (operand, direction) = (self.operand(side), self.direction(side));
        let (p, access, batch) = (operand.prefix, operand.loads()[0], self.axes.batch as u8);
        let (outer_axis, depth_axis) = if side == Side::Lhs { (batch, batch + 1) } else { (batch + 1, batch) };
        let line_axis = if direction == Direction::Depth { outer_axis } else { depth_axis };
        let stride = self.line_stride(side, access, line_axis);
        let batches: Vec<_> = self.axes.batch().into_iter().map(Some).collect();
        let offset = operand.offset(&mut self.shader, access, &batches);
        let origin = match direction {
            Direction::Depth => format!("{} * {p}_lines", side.origin()),
            Direction::Outer => format!("{} / 4u", side.origin()),
        };
        let [at_once, count] = self.passes(side);
        let (vectors, slice_vectors) = (self.lines(side)[1] / 4, self.line_vectors(side));
        self.main.line(format!("let {p}_lines = {stride} / 4u;"));
        self.main.line(format!("let {p}_first = ({offset}) / 4u + {origin};"));
        self.main.line(format!("let {p}_at = local / {vectors}u * {p}_lines + local % {vectors}u;"));
        self.main.line(format!("let {p}_to = local / {vectors}u * {slice_vectors}u + local % {vectors}u;"));
        for l in 0..count {
            self.main.line(format!("let {p}{l}_line = {}u * {p}_lines;", l * at_once));
            self.main.line(format!("var {p}{l}_x: vec4<f16>;"));
        }
    }

    /// Elements from one line of an operand to the next: a literal where the program knows it, which spares registers.
    fn line_stride(&mut self, side: Side, access: u16, axis: u8) -> String {
        match self.known_stride(side, access, usize::from(axis)) {
            Some(elements) => format!("{elements}u"),
            None => self.shader.uniform(Uniform::Stride { access, axis }).to_string(),
        }
    }

    fn known_stride(&self, side: Side, access: u16, axis: usize) -> Option<u64> {
        let known = &self.group.accesses[usize::from(access)];
        // A launch folds batches of a single row into the rows, which then have the batches' stride: the same one only where
        // batches of rows follow each other in memory.
        let (batch, rows) = self.group.shape.split_at(self.axes.batch);
        let lhs_shape = [batch, &[rows[0].clone(), self.contraction.depth.clone()]].concat();
        let may_fold = side == Side::Lhs && axis == batch.len() && axis > 0 && !known.is_whole(&lhs_shape);
        let view_axis = known.access.axes[axis].filter(|_| !may_fold && !known.may_repeat[axis])?;
        Size::product(&known.access.view[usize::from(view_axis) + 1..]).as_constant()
    }

    /// Loads the slices of the step that starts at depth `step` into registers.
    fn fetch_lines(&mut self, step: &str) {
        for side in self.staged() {
            if let Some(weights) = self.packed(side) {
                self.fetch_packed(side, weights, self.shader.raw(step, crate::kernel::Ty::U32));
                continue;
            }
            let operand = self.operand(side);
            let p = operand.prefix;
            self.main.line(match self.direction(side) {
                Direction::Depth => format!("let {p}_step = {p}_first + {step} / 4u;"),
                Direction::Outer => format!("let {p}_step = {p}_first + {step} * {p}_lines;"),
            });
            let buffer = operand.buffer(&mut self.shader, operand.loads()[0]);
            for l in 0..self.passes(side)[1] {
                self.main.line(format!("{p}{l}_x = {buffer}[{p}_at + ({p}_step + {p}{l}_line)];"));
            }
        }
    }

    /// Writes the fetched slice to workgroup memory.
    fn fill_lines(&mut self, side: Side) {
        let (p, array) = (self.operand(side).prefix, side.array(self.contraction));
        let [at_once, count] = self.passes(side);
        for l in 0..count {
            let line = l * at_once * self.line_vectors(side);
            self.main.line(format!("{array}[{p}_to + {line}u] = {p}{l}_x;"));
        }
    }

    /// Loads what the epilogue reads of a subgroup's only matrix, which hides the latency behind the product.
    pub(super) fn preload_matrices(&mut self) {
        self.declare_matrix_places();
        if self.preloads_matrices() {
            self.preload_row(0);
        }
    }

    /// Declares the rows `vector_row{i}_{u}` and the columns `vector_column{j}` of this invocation's vectors of each matrix.
    fn declare_matrix_places(&mut self) {
        let (size, [rows, columns]) = (matrix_size(self.tile), self.matrix_counts());
        let across = size / 4;
        self.main.line(format!("let lane_row = row0 + part_row + subgroup_lane / {across}u;"));
        self.main.line(format!("let lane_column = column0 + part_column + subgroup_lane % {across}u * 4u;"));
        for i in 0..rows {
            for u in 0..matrix_vectors(self.tile) {
                let [row, _] = matrix_place(i, 0, u);
                self.main.line(format!("let {row} = lane_row + {}u;", i * size + u * COOP_MATRIX_SUBGROUP / across));
            }
        }
        for j in 0..columns {
            let [_, column] = matrix_place(0, j, 0);
            self.main.line(format!("let {column} = lane_column + {}u;", j * size));
        }
    }

    fn preloads_matrices(&self) -> bool {
        self.matrix_counts() == [1, 1]
    }

    /// Loads what the epilogue reads of the `i`-th row of matrices.
    fn preload_row(&mut self, i: u32) {
        if is_partial(self.tile) {
            return;
        }
        let epilogue = epilogue(self.group, self.axes, self.sum, self.tile);
        for j in 0..self.matrix_counts()[1] {
            for u in 0..matrix_vectors(self.tile) {
                let [row, column] = matrix_place(i, j, u);
                let name = format!("_{i}_{j}_{u}");
                let place = [row, column].map(|text| self.shader.raw(text, Ty::U32));
                epilogue.preload(&mut self.shader, &mut self.main, place, &name);
            }
        }
    }

    /// Hands the sums to the epilogue.
    pub(super) fn store_matrices(&mut self) {
        debug_assert!(self.sum == DType::F32, "matrices sum in f32");
        let [rows, columns] = self.matrix_counts();
        self.main.line(format!("let matrix = subgroup * {}u;", matrix_size(self.tile).pow(2) / 4));
        self.main.line("let vector = matrix + subgroup_lane;");
        for i in 0..rows {
            self.main.line("{");
            if !self.preloads_matrices() {
                self.preload_row(i);
            }
            for j in 0..columns {
                self.store_matrix(i, j);
            }
            self.main.line("}");
        }
    }

    fn store_matrix(&mut self, i: u32, j: u32) {
        let (size, arrays) = (matrix_size(self.tile), self.sum_arrays());
        let across = size / 4;
        // Matrices before this one were read from the same place.
        if i + j > 0 {
            self.main.line("workgroupBarrier();");
        }
        for (p, array) in self.products.iter().zip(&arrays) {
            self.main.line(format!("coopStoreT(c{p}{i}_{j}, &{array}[matrix], {across}u);"));
        }
        self.main.line("workgroupBarrier();");
        for u in 0..matrix_vectors(self.tile) {
            let [row, column] = matrix_place(i, j, u);
            let at = u * COOP_MATRIX_SUBGROUP;
            let sum = |array: &String| self.shader.raw(format!("{array}[vector + {at}u]"), Ty::of(self.sum, 4));
            let sums: Vec<_> = arrays.iter().map(sum).collect();
            let place = [&row, &column].map(|text| self.shader.raw(text, Ty::U32));
            let mut conditions = vec![];
            if self.tile.shifted_at_edge() {
                // What lies before belongs to the tiles before.
                conditions.extend([format!("{row} >= first_row"), format!("{column} >= first_column")]);
            }
            if size * across < COOP_MATRIX_SUBGROUP {
                conditions.push(format!("subgroup_lane < {}u", size * across));
            }
            let finish = self.finish_call(place, &sums, &format!("{i}_{j}_{u}"));
            if conditions.is_empty() {
                self.main.run(finish);
            } else {
                self.main.line(format!("if {} {{", conditions.join(" && ")));
                self.main.run(finish);
                self.main.line("}");
            }
        }
    }
}

/// Rows and columns of the matrices of a tile that has some.
fn matrix_size(tile: Tile) -> u32 {
    tile.coop_matrix().expect("the texts of other tiles have no matrices")
}

/// Vectors of four sums of a matrix per invocation, of the first invocations of a subgroup.
fn matrix_vectors(tile: Tile) -> u32 {
    (matrix_size(tile).pow(2) / 4).div_ceil(COOP_MATRIX_SUBGROUP)
}

/// The names of row and column of an invocation's `u`-th vector of a matrix.
fn matrix_place(i: u32, j: u32, u: u32) -> [String; 2] {
    [format!("vector_row{i}_{u}"), format!("vector_column{j}")]
}
