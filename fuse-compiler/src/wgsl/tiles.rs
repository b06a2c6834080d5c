//! The text of tiled contraction kernels.
//!
//! Each step, a workgroup holds a slice of both operands in workgroup memory, the left one transposed, so
//! that each invocation reads its rows and columns from neighbouring addresses. While it multiplies, the next slice is
//! already on its way into registers. Coordinates outside an operand are clamped to its last element: rows and
//! columns computed from them are never stored, and depths beyond the end are replaced by zero after the prologue.

use fuse_artifact::{Grid, Pass, Uniform};

use super::{
    builtins::{scalar_type, vector_type},
    epilogue::{Axes, declare_finish, declare_partial, multiply_add, sum_dtype},
    names::Names,
    operand::Operand,
    shader::{Lines, Shader},
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::{Direction, Member, Tile},
};

/// Tiles of a column of this height are walked together, so that operands stay in the cache.
const SWIZZLE_ROWS: u32 = 8;

/// Depths that are multiplied between two steps of the inner loop; divides every tile's depth. Longer text
/// costs expansion time and bytes, and gains nothing that was measured.
const UNROLL: u32 = 4;

/// Padding of a row of workgroup memory in elements, against bank conflicts; keeps 16-byte alignment.
const PAD: u32 = 4;

/// The pass of a tiled member.
pub fn tiles(group: &Group, contraction: &Contraction, names: &Names, member: &Member, tile: Tile) -> Pass {
    let mut shader = Shader::new(names);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        if !(member.split && access.access.space == fuse_artifact::Space::Point) {
            shader.buffer(access.access.slot, access.dtype, tile.lanes, false);
        }
    }
    let axes = Axes::new(&mut shader, group);
    // The result may have rows of any length in unaligned members: they store element by element.
    if member.split {
        declare_partial(&mut shader, &axes, sum, tile.lanes);
    } else {
        declare_finish(&mut shader, group, &axes, sum, tile.lanes, tile.lanes);
    }
    let scalar = scalar_type(sum);
    shader.workgroup_array("lhs_tile", scalar, tile.depth * (tile.rows + PAD), 4);
    shader.workgroup_array("rhs_tile", &format!("vec4<{scalar}>"), tile.depth * (tile.columns + PAD) / 4, 16);
    let mut text = TileText { shader, main: Lines::indented(), group, contraction, member, tile, axes, sum };
    text.locate();
    text.declare_sums();
    text.multiply();
    text.store();
    let TileText { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.rows, columns: tile.columns }, tile.invocations())
}

/// One side of the product.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Lhs,
    Rhs,
}

struct TileText<'a> {
    shader: Shader<'a>,
    main: Lines,
    group: &'a Group,
    contraction: &'a Contraction,
    member: &'a Member,
    tile: Tile,
    axes: Axes,
    sum: fuse_artifact::DType,
}

impl<'a> TileText<'a> {
    /// Which tile, batch and part of the depth this workgroup has, and which rows and columns this invocation.
    fn locate(&mut self) {
        let Tile { rows, columns, invocation_columns, .. } = self.tile;
        let workgroups = self.shader.uniform(Uniform::Workgroups);
        let row_tiles = self.shader.uniform(Uniform::RowTiles);
        let column_tiles = self.shader.uniform(Uniform::ColumnTiles);
        self.main.line("let id = workgroup.x + workgroup.y * workgroups.x;");
        self.main.line(format!("if id >= {workgroups} {{"));
        self.main.line("return;");
        self.main.line("}");
        self.main.line(format!("let tiles = {row_tiles} * {column_tiles};"));
        self.main.line("let tile = id % tiles;");
        if self.member.split {
            let batches = self.axes.batches(&mut self.shader);
            self.main.line(format!("let batch = (id / tiles) % ({batches});"));
            self.main.line(format!("split = id / (tiles * {batches});"));
            let split_depth = self.shader.uniform(Uniform::SplitDepth);
            self.main.line(format!("let k_begin = split * {split_depth};"));
            self.main.line(format!("let k_end = min({}, k_begin + {split_depth});", self.axes.depth));
        } else {
            self.main.line("let batch = id / tiles;");
            self.main.line("let k_begin = 0u;");
            self.main.line(format!("let k_end = {};", self.axes.depth));
        }
        self.axes.decode_batch(&mut self.shader, &mut self.main);
        self.main.line(format!("let band = tile / ({SWIZZLE_ROWS}u * {column_tiles});"));
        self.main.line(format!("let in_band = tile % ({SWIZZLE_ROWS}u * {column_tiles});"));
        self.main.line(format!("let band_rows = min({row_tiles} - band * {SWIZZLE_ROWS}u, {SWIZZLE_ROWS}u);"));
        self.main.line(format!("let row0 = (band * {SWIZZLE_ROWS}u + in_band % band_rows) * {rows}u;"));
        self.main.line(format!("let column0 = (in_band / band_rows) * {columns}u;"));
        let across = columns / invocation_columns;
        self.main.line(format!("let tx = local % {across}u;"));
        self.main.line(format!("let ty = local / {across}u;"));
    }

    fn declare_sums(&mut self) {
        let ty = vector_type(self.sum, 4);
        for i in 0..self.tile.invocation_rows {
            for j in 0..self.tile.invocation_columns / 4 {
                self.main.line(format!("var c{i}_{j} = {ty}();"));
            }
        }
    }

    fn direction(&self, side: Side) -> Direction {
        if side == Side::Lhs { self.member.lhs } else { self.member.rhs }
    }

    fn operand(&self, side: Side) -> Operand<'a> {
        let (body, value) = match side {
            Side::Lhs => &self.contraction.lhs,
            Side::Rhs => &self.contraction.rhs,
        };
        let outer_axis = if side == Side::Lhs { self.axes.batch } else { self.axes.batch + 1 };
        let depth_axis = if side == Side::Lhs { self.axes.batch + 1 } else { self.axes.batch };
        let lane_axis = if self.direction(side) == Direction::Depth { depth_axis } else { outer_axis };
        Operand {
            group: self.group,
            body,
            value: *value,
            prefix: if side == Side::Lhs { "a" } else { "b" },
            lanes: self.tile.lanes,
            buffer_lanes: self.tile.lanes,
            lane_axis,
        }
    }

    /// Rows or columns of a side's slice, and loads per invocation.
    fn span(&self, side: Side) -> (u32, u32) {
        let span = if side == Side::Lhs { self.tile.rows } else { self.tile.columns };
        (span, span * self.tile.depth / self.tile.lanes / self.tile.invocations())
    }

    /// Declares where each of this invocation's loads lies in its slice: `{p}{l}_o` (row or column in the
    /// tile), `{p}{l}_k` (depth in the step), and the part of each offset that stays.
    fn declare_loads(&mut self, side: Side) {
        let operand = self.operand(side);
        let (span, loads) = self.span(side);
        let (p, lanes) = (operand.prefix, self.tile.lanes);
        let (origin, extent) = match side {
            Side::Lhs => ("row0", self.axes.rows.clone()),
            Side::Rhs => ("column0", self.axes.columns.clone()),
        };
        for l in 0..loads {
            let unit = format!("(local + {}u)", l * self.tile.invocations());
            let (o, k, last) = match self.direction(side) {
                Direction::Depth => {
                    let units = self.tile.depth / lanes;
                    (format!("{unit} / {units}u"), format!("({unit} % {units}u) * {lanes}u"), 1)
                }
                Direction::Outer => {
                    let units = span / lanes;
                    (format!("({unit} % {units}u) * {lanes}u"), format!("{unit} / {units}u"), lanes)
                }
            };
            self.main.line(format!("let {p}{l}_o = {o};"));
            self.main.line(format!("let {p}{l}_k = {k};"));
            self.main.line(format!("let {p}{l}_at = min({origin} + {p}{l}_o, {extent} - {last}u);"));
            for access in operand.loads() {
                let mut at: Vec<Option<String>> = self.axes.batch_names().into_iter().map(Some).collect();
                let outer = Some(format!("{p}{l}_at"));
                at.extend(if side == Side::Lhs { [outer, None] } else { [None, outer] });
                let offset = operand.offset(&mut self.shader, access, &at);
                self.main.line(format!("let {p}{l}_base{access} = {offset};"));
                let dtype = self.group.accesses[usize::from(access)].dtype;
                self.main.line(format!("var {p}{l}_x{access}: {};", vector_type(dtype, lanes)));
            }
        }
    }

    /// Loads the slices of the step that starts at depth `step` into registers.
    fn fetch(&mut self, step: &str) {
        for side in [Side::Lhs, Side::Rhs] {
            let operand = self.operand(side);
            let (p, (_, loads)) = (operand.prefix, self.span(side));
            let depth_axis = if side == Side::Lhs { self.axes.batch + 1 } else { self.axes.batch };
            let last = if self.direction(side) == Direction::Depth { self.tile.lanes } else { 1 };
            for l in 0..loads {
                self.main.line(format!("let {p}{l}_depth = min({step} + {p}{l}_k, k_end - {last}u);"));
                for access in operand.loads() {
                    let step = operand.step(&mut self.shader, access, depth_axis, &format!("{p}{l}_depth"));
                    let load = operand.load(&mut self.shader, access, &format!("{p}{l}_base{access}{step}"));
                    self.main.line(format!("{p}{l}_x{access} = {load};"));
                }
            }
        }
    }

    /// Writes the fetched slices, after their prologues, to workgroup memory.
    fn fill(&mut self) {
        for side in [Side::Lhs, Side::Rhs] {
            let operand = self.operand(side);
            let (p, (_, loads)) = (operand.prefix, self.span(side));
            let origin = if side == Side::Lhs { "row0" } else { "column0" };
            let ty = vector_type(self.sum, self.tile.lanes);
            for l in 0..loads {
                self.main.line("{");
                let mut at = self.axes.batch_names();
                let outer = format!("{origin} + {p}{l}_o");
                let depth = format!("k0 + {p}{l}_k");
                at.extend(if side == Side::Lhs { [outer, depth] } else { [depth, outer] });
                let loaded = |access: u16| format!("{p}{l}_x{access}");
                let mut lines = Lines::default();
                let value = operand.value(&mut self.shader, &mut lines, &loaded, &at);
                self.main.append(&lines);
                self.main.line(format!("let value = select({ty}(), {value}, k0 + {p}{l}_k < k_end);"));
                self.place(side, p, l);
                self.main.line("}");
            }
        }
    }

    /// Writes `value`, the `l`-th piece of a slice, to its place in workgroup memory.
    fn place(&mut self, side: Side, p: &str, l: u32) {
        let (rows, columns) = (self.tile.rows + PAD, (self.tile.columns + PAD) / 4);
        for e in 0..self.tile.lanes {
            let part = if self.tile.lanes == 1 { "value".to_owned() } else { format!("value[{e}]") };
            let (dk, dr) = if self.direction(side) == Direction::Depth { (e, 0) } else { (0, e) };
            match side {
                Side::Lhs => {
                    self.main.line(format!("lhs_tile[({p}{l}_k + {dk}u) * {rows}u + {p}{l}_o + {dr}u] = {part};"))
                }
                Side::Rhs if dr > 0 => {}
                Side::Rhs if self.tile.lanes > 1 && self.direction(side) == Direction::Outer => {
                    self.main.line(format!("rhs_tile[{p}{l}_k * {columns}u + {p}{l}_o / 4u] = value;"));
                }
                Side::Rhs => self.main.line(format!(
                    "rhs_tile[({p}{l}_k + {dk}u) * {columns}u + {p}{l}_o / 4u][{p}{l}_o % 4u] = {part};"
                )),
            }
        }
    }

    fn multiply(&mut self) {
        let depth = self.tile.depth;
        self.declare_loads(Side::Lhs);
        self.declare_loads(Side::Rhs);
        self.main.line("if k_begin < k_end {");
        self.fetch("k_begin");
        self.main.line("}");
        self.main.line(format!("for (var k0 = k_begin; k0 < k_end; k0 += {depth}u) {{"));
        self.fill();
        self.main.line("workgroupBarrier();");
        self.main.line(format!("if k0 + {depth}u < k_end {{"));
        self.fetch(&format!("k0 + {depth}u"));
        self.main.line("}");
        let Tile { rows, columns, .. } = self.tile;
        self.main.line(format!("for (var k = 0u; k < {depth}u; k += {UNROLL}u) {{"));
        self.main.line(format!("let a_at = k * {}u + ty * 4u;", rows + PAD));
        self.main.line(format!("let b_at = k * {}u + tx;", (columns + PAD) / 4));
        for k in 0..UNROLL {
            self.main.line("{");
            self.rank_one_update(k);
            self.main.line("}");
        }
        self.main.line("}");
        self.main.line("workgroupBarrier();");
        self.main.line("}");
    }

    /// Adds the products of depth `k` of an unrolled group to the sums.
    fn rank_one_update(&mut self, k: u32) {
        let Tile { rows, columns, invocation_rows, invocation_columns, .. } = self.tile;
        let ty = vector_type(self.sum, 4);
        for i in 0..invocation_rows {
            let at = k * (rows + PAD) + row_in_tile(i, rows, invocation_rows);
            self.main.line(format!("let a{i} = lhs_tile[a_at + {at}u];"));
        }
        for j in 0..invocation_columns / 4 {
            let at = k * (columns + PAD) / 4 + j * (columns / invocation_columns);
            self.main.line(format!("let b{j} = rhs_tile[b_at + {at}u];"));
        }
        for i in 0..invocation_rows {
            for j in 0..invocation_columns / 4 {
                let update = multiply_add(self.sum, &format!("c{i}_{j}"), &format!("{ty}(a{i})"), &format!("b{j}"));
                self.main.line(update);
            }
        }
    }

    fn store(&mut self) {
        let Tile { rows, columns, invocation_rows, invocation_columns, lanes, .. } = self.tile;
        let batch = self.axes.batch_arguments();
        for i in 0..invocation_rows {
            let row = format!("row0 + ty * 4u + {}u", row_in_tile(i, rows, invocation_rows));
            for j in 0..invocation_columns / 4 {
                let column = format!("column0 + (tx + {}u) * 4u", j * (columns / invocation_columns));
                if lanes == 4 {
                    self.main.line(format!("finish(batch, {batch}{row}, {column}, c{i}_{j});"));
                } else {
                    for e in 0..4 {
                        self.main.line(format!("finish(batch, {batch}{row}, {column} + {e}u, c{i}_{j}[{e}]);"));
                    }
                }
            }
        }
    }
}

/// The `i`-th row of the first invocation: rows come in groups of four, spread over the tile.
const fn row_in_tile(i: u32, rows: u32, invocation_rows: u32) -> u32 {
    (i / 4) * (rows / (invocation_rows / 4)) + i % 4
}
