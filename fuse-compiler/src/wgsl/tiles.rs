//! The text of tiled contraction kernels.
//!
//! Each step, a workgroup holds a slice of both operands in workgroup memory, the left one transposed, so that each
//! invocation reads its rows and columns as vectors; while it multiplies, the next slice is already on its way into
//! registers. The multiplications of a step are written out, because the drivers that were measured do not unroll them.
//! Coordinates outside an operand are clamped to its last element: rows and columns computed from them are never
//! stored, and depths beyond the end are replaced by zero after the prologue.

use fuse_artifact::{DType, Grid, Pass, Uniform};

use super::{
    builtins::{scalar_type, vector_type},
    epilogue::{Axes, Epilogue, declare_partial, multiply_add, sum_dtype},
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

/// Sums of a tile from which on products are large enough for that to matter more than the divisions it costs.
const SWIZZLED_TILE: u32 = 128 * 128;

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
    if member.split {
        declare_partial(&mut shader, &axes, sum, tile.lanes);
    } else {
        epilogue(group, &axes, sum, tile).declare(&mut shader);
    }
    let scalar = scalar_type(sum);
    for side in [Side::Lhs, Side::Rhs] {
        let count = tile.depth * side.row_vectors(tile);
        shader.workgroup_array(side.array(), &format!("vec4<{scalar}>"), count, 16);
    }
    let mut text = TileText { shader, main: Lines::indented(), group, contraction, member, tile, axes, sum };
    text.locate();
    text.declare_sums();
    text.preload();
    text.multiply();
    text.store();
    let TileText { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.rows, columns: tile.columns }, tile.invocations())
}

/// The epilogue of a tile. Small tiles of aligned members load what it reads before they multiply: nothing else would
/// hide the latency. The result may have rows of any length in unaligned members: they store element by element.
fn epilogue<'a>(group: &'a Group, axes: &'a Axes, sum: DType, tile: Tile) -> Epilogue<'a> {
    let epilogue = Epilogue::new(group, axes, sum, tile.lanes, tile.lanes);
    if preloads(tile) { epilogue.preloaded() } else { epilogue }
}

const fn preloads(tile: Tile) -> bool {
    tile.lanes == 4 && tile.invocation_rows * tile.invocation_columns <= 16
}

/// One side of the product.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Lhs,
    Rhs,
}

impl Side {
    /// The side's slice in workgroup memory: for each depth, its rows or columns in vectors of four.
    const fn array(self) -> &'static str {
        match self {
            Self::Lhs => "lhs_tile",
            Self::Rhs => "rhs_tile",
        }
    }

    /// Rows or columns of the side's slice.
    const fn span(self, tile: Tile) -> u32 {
        match self {
            Self::Lhs => tile.rows,
            Self::Rhs => tile.columns,
        }
    }

    /// Vectors of four from one depth of the slice to the next.
    const fn row_vectors(self, tile: Tile) -> u32 {
        (self.span(tile) + PAD) / 4
    }

    /// The workgroup's first row or column.
    const fn origin(self) -> &'static str {
        match self {
            Self::Lhs => "row0",
            Self::Rhs => "column0",
        }
    }
}

struct TileText<'a> {
    shader: Shader<'a>,
    main: Lines,
    group: &'a Group,
    contraction: &'a Contraction,
    member: &'a Member,
    tile: Tile,
    axes: Axes,
    sum: DType,
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
        let batched = self.member.split || self.axes.batch > 0;
        if batched {
            self.main.line(format!("let tiles = {row_tiles} * {column_tiles};"));
            self.main.line("let tile = id % tiles;");
        } else {
            self.main.line("let tile = id;");
        }
        if self.member.split {
            let batches = self.axes.batches(&mut self.shader);
            self.main.line(format!("let batch = (id / tiles) % ({batches});"));
            self.main.line(format!("split = id / (tiles * {batches});"));
            let split_depth = self.shader.uniform(Uniform::SplitDepth);
            self.main.line(format!("let k_begin = split * {split_depth};"));
            self.main.line(format!("let k_end = min({}, k_begin + {split_depth});", self.axes.depth));
        } else {
            self.main.line(if batched { "let batch = id / tiles;" } else { "let batch = 0u;" });
            self.main.line("let k_begin = 0u;");
            self.main.line(format!("let k_end = {};", self.axes.depth));
        }
        self.axes.decode_batch(&mut self.shader, &mut self.main);
        if rows * columns >= SWIZZLED_TILE {
            self.main.line(format!("let band = tile / ({SWIZZLE_ROWS}u * {column_tiles});"));
            self.main.line(format!("let in_band = tile % ({SWIZZLE_ROWS}u * {column_tiles});"));
            self.main.line(format!("let band_rows = min({row_tiles} - band * {SWIZZLE_ROWS}u, {SWIZZLE_ROWS}u);"));
            self.main.line(format!("let row0 = (band * {SWIZZLE_ROWS}u + in_band % band_rows) * {rows}u;"));
            self.main.line(format!("let column0 = (in_band / band_rows) * {columns}u;"));
        } else {
            self.main.line(format!("let row0 = tile / {column_tiles} * {rows}u;"));
            self.main.line(format!("let column0 = tile % {column_tiles} * {columns}u;"));
        }
        let across = columns / invocation_columns;
        self.main.line(format!("let tx = local % {across}u;"));
        self.main.line(format!("let ty = local / {across}u;"));
    }

    /// Declares this invocation's sums `c`, and `update`, which adds the products of one depth to them.
    ///
    /// A function, which drivers inline, because it makes the text a fraction as long.
    fn declare_sums(&mut self) {
        let ty = vector_type(self.sum, 4);
        let (rows, columns) = (self.tile.invocation_rows, self.tile.invocation_columns / 4);
        let mut lines = Lines::default();
        lines.line("struct Sums {");
        for i in 0..rows {
            for j in 0..columns {
                lines.line(format!("s{i}_{j}: {ty},"));
            }
        }
        lines.line("}");
        let parameters = |name: &str, count: u32| (0..count).map(|n| format!(", {name}{n}: {ty}")).collect::<String>();
        let (a, b) = (parameters("a", rows / 4), parameters("b", columns));
        lines.line(format!("fn update(c: ptr<function, Sums>{a}{b}) {{"));
        for i in 0..rows {
            let a = format!("{ty}(a{}[{}])", i / 4, i % 4);
            for j in 0..columns {
                lines.line(multiply_add(self.sum, &format!("(*c).s{i}_{j}"), &a, &format!("b{j}")));
            }
        }
        lines.line("}");
        self.shader.module.append(&lines);
        self.main.line("var c = Sums();");
    }

    fn direction(&self, side: Side) -> Direction {
        if side == Side::Lhs { self.member.lhs } else { self.member.rhs }
    }

    fn operand(&self, side: Side) -> Operand<'a> {
        let (body, value) = match side {
            Side::Lhs => &self.contraction.lhs,
            Side::Rhs => &self.contraction.rhs[0],
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

    /// Loads of a slice per invocation.
    fn loads(&self, side: Side) -> u32 {
        side.span(self.tile) * self.tile.depth / self.tile.lanes / self.tile.invocations()
    }

    /// Declares where each of this invocation's loads lies in its slice: `{p}{l}_o` (row or column in the
    /// tile), `{p}{l}_k` (depth in the step), and the part of each offset that stays.
    fn declare_loads(&mut self, side: Side) {
        let operand = self.operand(side);
        let (p, lanes) = (operand.prefix, self.tile.lanes);
        let origin = side.origin();
        let extent = if side == Side::Lhs { self.axes.rows.clone() } else { self.axes.columns.clone() };
        for l in 0..self.loads(side) {
            let unit = format!("(local + {}u)", l * self.tile.invocations());
            let (o, k, last) = match self.direction(side) {
                Direction::Depth => {
                    let units = self.tile.depth / lanes;
                    (format!("{unit} / {units}u"), format!("({unit} % {units}u) * {lanes}u"), 1)
                }
                Direction::Outer => {
                    let units = side.span(self.tile) / lanes;
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
            let p = operand.prefix;
            let depth_axis = if side == Side::Lhs { self.axes.batch + 1 } else { self.axes.batch };
            let last = if self.direction(side) == Direction::Depth { self.tile.lanes } else { 1 };
            for l in 0..self.loads(side) {
                self.main.line(if self.tile.whole_steps {
                    format!("let {p}{l}_depth = {step} + {p}{l}_k;")
                } else {
                    format!("let {p}{l}_depth = min({step} + {p}{l}_k, k_end - {last}u);")
                });
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
            let (p, origin) = (operand.prefix, side.origin());
            let ty = vector_type(self.sum, self.tile.lanes);
            for l in 0..self.loads(side) {
                self.main.line("{");
                let mut at = self.axes.batch_names();
                let outer = format!("{origin} + {p}{l}_o");
                let depth = format!("k0 + {p}{l}_k");
                at.extend(if side == Side::Lhs { [outer, depth] } else { [depth, outer] });
                let loaded = |access: u16| format!("{p}{l}_x{access}");
                let mut lines = Lines::default();
                let value = operand.value(&mut self.shader, &mut lines, &loaded, &at);
                self.main.append(&lines);
                self.main.line(if self.tile.whole_steps {
                    format!("let value = {value};")
                } else {
                    format!("let value = select({ty}(), {value}, k0 + {p}{l}_k < k_end);")
                });
                self.place(side, p, l);
                self.main.line("}");
            }
        }
    }

    /// Writes `value`, the `l`-th piece of a slice, to its place in workgroup memory.
    fn place(&mut self, side: Side, p: &str, l: u32) {
        let (array, vectors) = (side.array(), side.row_vectors(self.tile));
        let at = |k: u32| format!("{array}[({p}{l}_k + {k}u) * {vectors}u + {p}{l}_o / 4u]");
        match (self.tile.lanes, self.direction(side)) {
            (1, _) => self.main.line(format!("{}[{p}{l}_o % 4u] = value;", at(0))),
            (_, Direction::Outer) => self.main.line(format!("{} = value;", at(0))),
            (lanes, Direction::Depth) => {
                for e in 0..lanes {
                    self.main.line(format!("{}[{p}{l}_o % 4u] = value[{e}];", at(e)));
                }
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
        for k in 0..depth {
            self.rank_one_update(k);
        }
        self.main.line("workgroupBarrier();");
        self.main.line("}");
    }

    /// Adds the products of depth `k` of the slices to the sums.
    fn rank_one_update(&mut self, k: u32) {
        let Tile { rows, columns, invocation_rows, invocation_columns, .. } = self.tile;
        let mut arguments = String::from("&c");
        for g in 0..invocation_rows / 4 {
            let at = k * Side::Lhs.row_vectors(self.tile) + row_in_tile(4 * g, rows, invocation_rows) / 4;
            arguments += &format!(", lhs_tile[ty + {at}u]");
        }
        for j in 0..invocation_columns / 4 {
            let at = k * Side::Rhs.row_vectors(self.tile) + j * (columns / invocation_columns);
            arguments += &format!(", rhs_tile[tx + {at}u]");
        }
        self.main.line(format!("update({arguments});"));
    }

    /// The places of this invocation's vectors of four sums: row, column, and the suffix of their names.
    fn places(&self) -> Vec<[String; 3]> {
        let Tile { rows, columns, invocation_rows, invocation_columns, .. } = self.tile;
        let mut places = vec![];
        for i in 0..invocation_rows {
            for j in 0..invocation_columns / 4 {
                let row = format!("row0 + ty * 4u + {}u", row_in_tile(i, rows, invocation_rows));
                let column = format!("column0 + (tx + {}u) * 4u", j * (columns / invocation_columns));
                places.push([row, column, format!("{i}_{j}")]);
            }
        }
        places
    }

    /// Loads what the epilogue reads.
    fn preload(&mut self) {
        if self.member.split || !preloads(self.tile) {
            return;
        }
        let epilogue = epilogue(self.group, &self.axes, self.sum, self.tile);
        for [row, column, name] in self.places() {
            epilogue.preload(&mut self.shader, &mut self.main, [&row, &column], &format!("_{name}"));
        }
    }

    fn store(&mut self) {
        if self.tile.lanes == 1 {
            self.declare_finish_each();
        }
        let finish = if self.tile.lanes == 1 { "finish_each" } else { "finish" };
        let batch = self.axes.batch_arguments();
        for [row, column, name] in self.places() {
            let loaded = match self.member.split {
                true => String::new(),
                false => epilogue(self.group, &self.axes, self.sum, self.tile).preloaded_arguments(&format!("_{name}")),
            };
            self.main.line(format!("{finish}(batch, {batch}{row}, {column}, c.s{name}{loaded});"));
        }
    }

    /// Declares `finish_each`, which takes the four sums of a vector one by one.
    fn declare_finish_each(&mut self) {
        let (parameters, arguments) = (self.axes.batch_parameters(), self.axes.batch_arguments());
        let (ty, mut lines) = (vector_type(self.sum, 4), Lines::default());
        lines.line(format!("fn finish_each(batch: u32, {parameters}row: u32, column: u32, sum: {ty}) {{"));
        for e in 0..4 {
            lines.line(format!("finish(batch, {arguments}row, column + {e}u, sum[{e}]);"));
        }
        lines.line("}");
        self.shader.module.append(&lines);
    }
}

/// The `i`-th row of the first invocation: rows come in groups of four, spread over the tile.
const fn row_in_tile(i: u32, rows: u32, invocation_rows: u32) -> u32 {
    (i / 4) * (rows / (invocation_rows / 4)) + i % 4
}
