//! The text of tiled contraction kernels.
//!
//! Each step, a workgroup holds a slice of both operands in workgroup memory, the left one transposed, so that each
//! invocation reads its rows and columns as vectors; while it multiplies, the next slice is already on its way into
//! registers. The multiplications of a step are written out, because the drivers that were measured do not unroll them.
//! Coordinates outside an operand are clamped to its last element: rows and columns computed from them are never
//! stored, and depths beyond the end are replaced by zero after the prologue. Reductions of the left operand come before
//! all steps (`row_prologue`). Slice-K tiles keep the left slice only (`slice_k`), unstaged ones keep none (`unstaged`). Tiles of
//! cooperative matrices keep `f16` slices (`coop_matrix`).

use std::fmt::Write;

use fuse_artifact::{
    DType, Grid, Pass, Uniform,
    schedule::{K, Mainloop, Tile},
};

mod coop_matrix;
mod grouped;
mod packed;
mod row_parts;
mod rows;
mod slice_k;
mod slices;
pub(super) mod streams;
mod unstaged;

use super::{
    builtins::{scalar_type, vector_type},
    epilogue::{Axes, Epilogue, declare_partial, rhs_prefixes, sum_dtype},
    grid,
    names::Names,
    rank_one::add_products,
    row_prologue::RowPrologueText,
    shader::{CodeBuffer, Shader},
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::{Direction, ScheduleSpec},
};
use grouped::Grouped;
pub use row_parts::row_parts;
use rows::Rows;
use slices::Side;

/// The pass of a tiled schedule.
pub fn tiles(group: &Group, contraction: &Contraction, names: &Names, scheduled: &ScheduleSpec, tile: Tile) -> Pass {
    if !tile.is_grouped() {
        return pass(group, contraction, names, scheduled, tile, None);
    }
    let grouped = Grouped::new(group, contraction);
    pass(&grouped.groups[0], &grouped.contractions[0], names, scheduled, tile, Some(&grouped))
}

fn pass(
    group: &Group,
    contraction: &Contraction,
    names: &Names,
    scheduled: &ScheduleSpec,
    tile: Tile,
    grouped: Option<&Grouped>,
) -> Pass {
    let mut shader = Shader::new(names, group);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        if !(is_partial(tile) && access.access.space == fuse_artifact::Space::Point) {
            shader.buffer(access.access.slot, access.dtype, tile.lanes, false);
        }
    }
    let axes = Axes::new(&mut shader, group, contraction);
    let products = product_prefixes(&axes);
    let rows = if tile.is_split() { None } else { Rows::new(group, &axes, tile, &products) };
    if is_partial(tile) {
        declare_partial(&mut shader, &axes, sum, tile.lanes);
    } else if let Some(rows) = &rows {
        rows.declare(&mut shader);
    } else if let Some(grouped) = grouped {
        for (product, group) in grouped.groups.iter().enumerate() {
            epilogue(group, &axes, sum, tile).of_product(product as u8).declare(&mut shader);
        }
    } else if tile.is_stream_k() {
        let keep = streams::keep_parts(&mut shader, &axes, sum, tile);
        epilogue(group, &axes, sum, tile).after(keep).declare(&mut shader);
    } else {
        epilogue(group, &axes, sum, tile).declare(&mut shader);
    }
    let sides = Side::all(contraction);
    let main = CodeBuffer::indented();
    let rhs_prefixes = rhs_prefixes(contraction);
    let row_prologue = RowPrologueText::new(group, contraction, [tile.rows, tile.invocations()], tile.lanes);
    let mut text = MatmulTile {
        shader,
        main,
        group,
        contraction,
        scheduled,
        tile,
        axes,
        sum,
        sides,
        products,
        rhs_prefixes,
        rows,
        row_prologue,
        product: None,
    };
    text.declare_slices();
    text.locate();
    text.reduce_operand();
    text.declare_sums();
    text.declare_update();
    match grouped {
        Some(grouped) => text.branches(grouped),
        None => {
            text.preload();
            text.multiply();
            text.store();
        }
    }
    if tile.is_stream_k() {
        text.close_stream();
    }
    let MatmulTile { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.rows, columns: tile.columns }, tile.invocations())
}

/// The epilogue of a tile. Small tiles of aligned schedules load what it reads before they multiply, and tiles of cooperative
/// matrices a row of matrices at a time: nothing else would hide the latency. The result may have rows of any length in scalar schedules: they store element by element.
fn epilogue<'a>(group: &'a Group, axes: &'a Axes, sum: DType, tile: Tile) -> Epilogue<'a> {
    let epilogue = Epilogue::new(group, axes, sum, tile.lanes, tile.lanes);
    if preloads(tile) { epilogue.preloaded() } else { epilogue }
}

const fn preloads(tile: Tile) -> bool {
    tile.lanes == 4 && (tile.coop_matrix().is_some() || tile.invocation_rows * tile.invocation_columns <= 16)
}

/// Whether all that a workgroup has are sums of a part of the depth.
const fn is_partial(tile: Tile) -> bool {
    matches!(tile.k, K::Split)
}

/// The operands whose slices are kept in workgroup memory.
fn staged(sides: &[Side], tile: Tile) -> &[Side] {
    match tile.mainloop {
        Mainloop::Unstaged => &[],
        Mainloop::Staged | Mainloop::CoopMatrix(_) => sides,
        Mainloop::SliceK(_) => &sides[..1],
    }
}

/// For each product, what the names of its sums start with.
fn product_prefixes(axes: &Axes) -> Vec<String> {
    if axes.products == 1 { vec![String::new()] } else { (0..axes.products).map(|p| format!("{p}_")).collect() }
}

struct MatmulTile<'a> {
    shader: Shader<'a>,
    main: CodeBuffer,
    group: &'a Group,
    contraction: &'a Contraction,
    scheduled: &'a ScheduleSpec,
    tile: Tile,
    axes: Axes,
    sum: DType,
    sides: Vec<Side>,
    /// For each product, what the names of its sums start with: nothing for a single one, else `0_ …`.
    products: Vec<String>,
    rhs_prefixes: Vec<&'static str>,
    /// The epilogue, if it reduces rows.
    rows: Option<Rows<'a>>,
    /// The rows of the left operand, if it has reductions.
    row_prologue: Option<RowPrologueText<'a>>,
    /// Of products that have workgroups of their own, the one whose branch is written.
    product: Option<u8>,
}

impl<'a> MatmulTile<'a> {
    /// Which tile, batch and part of the depth this workgroup has, and which rows and columns this invocation.
    fn locate(&mut self) {
        grid::workgroups(&mut self.shader, &mut self.main);
        if self.tile.is_stream_k() {
            self.open_stream();
        } else {
            self.locate_workgroup();
        }
        self.axes.decode_batch(&mut self.shader, &mut self.main);
        let origin = self.origin();
        match &self.rows {
            None => grid::tile_origin(&mut self.shader, &mut self.main, self.tile, origin),
            Some(_) => grid::tile_origin_row_by_row(&mut self.shader, &mut self.main, self.tile, origin),
        }
        if self.tile.is_stream_k() {
            self.place_part();
        }
        if self.tile.coop_matrix().is_some() {
            self.locate_subgroup();
            return;
        }
        let across = self.tile.columns / self.tile.invocation_columns;
        let position = if self.tile.k_groups() > 1 { "position" } else { "local" };
        if self.tile.k_groups() > 1 {
            self.locate_k_group();
        }
        self.main.line(format!("let tx = {position} % {across}u;"));
        self.main.line(format!("let ty = {position} / {across}u;"));
    }

    /// The names of the tile's first row and column.
    fn origin(&self) -> [&'static str; 2] {
        if self.tile.shifted_at_edge() { ["first_row", "first_column"] } else { ["row0", "column0"] }
    }

    /// Which tile, batch and part of the depth this workgroup has, if it has one.
    fn locate_workgroup(&mut self) {
        let row_tiles = self.shader.uniform(Uniform::RowTiles);
        let column_tiles = self.shader.uniform(Uniform::ColumnTiles);
        let batched = self.tile.is_split() || self.axes.batch > 0 || self.tile.is_grouped();
        if batched {
            self.main.line(format!("let tiles = {row_tiles} * {column_tiles};"));
            self.main.line("let tile = id % tiles;");
        } else {
            self.main.line("let tile = id;");
        }
        if self.tile.is_split() {
            grid::batch_and_part(&mut self.shader, &mut self.main, &self.axes, "tiles");
            grid::depth_of_part(&mut self.shader, &mut self.main, &self.axes);
            return;
        }
        if self.tile.is_grouped() {
            let batches = self.axes.batches(&mut self.shader);
            self.main.line(format!("let batch = (id / tiles) % ({batches});"));
            self.main.line(format!("let product = id / (tiles * {batches});"));
        } else {
            self.main.line(if batched { "let batch = id / tiles;" } else { "let batch = 0u;" });
        }
        grid::whole_depth(&mut self.main, &self.axes);
    }

    /// Computes what the loads of the left operand need of its rows.
    fn reduce_operand(&mut self) {
        let lanes = if self.scheduled.lhs == Direction::Depth { self.tile.lanes } else { 1 };
        if let Some(rows) = &self.row_prologue {
            rows.compute(&mut self.shader, &mut self.main, &self.axes, "row0", lanes);
        }
    }

    /// Declares the slices of the operands in workgroup memory.
    fn declare_slices(&mut self) {
        if self.tile.coop_matrix().is_some() {
            self.declare_matrix_slices();
            return;
        }
        let ty = format!("vec4<{}>", scalar_type(self.sum));
        for side in self.staged() {
            let count = self.tile.depth * side.row_vectors(self.tile);
            self.shader.workgroup_array(&side.array(self.contraction), &ty, count, 16);
        }
    }

    /// Declares this invocation's sums `c`.
    fn declare_sums(&mut self) {
        if self.tile.coop_matrix().is_some() {
            self.declare_matrix_sums();
            return;
        }
        let ty = vector_type(self.sum, 4);
        let mut lines = CodeBuffer::default();
        lines.line("struct Sums {");
        for field in self.sum_fields() {
            lines.line(format!("{field}: {ty},"));
        }
        lines.line("}");
        self.shader.module.append(&lines);
        self.main.line("var c = Sums();");
    }

    /// Declares `update`, which adds the products of one depth to the sums.
    ///
    /// A function, which drivers inline, because it makes the text a fraction as long.
    fn declare_update(&mut self) {
        if self.tile.coop_matrix().is_some() {
            return;
        }
        let ty = vector_type(self.sum, 4);
        let (rows, columns) = (self.tile.invocation_rows, self.tile.invocation_columns / 4);
        let mut lines = CodeBuffer::default();
        let parameters = |name: &str, count: u32| (0..count).map(|n| format!(", {name}{n}: {ty}")).collect::<String>();
        let a = parameters("a", rows / 4);
        let b = self.products.iter().map(|p| parameters(&format!("b{p}"), columns)).collect::<String>();
        lines.line(format!("fn update(c: ptr<function, Sums>{a}{b}) {{"));
        add_products(&mut lines, self.sum, [rows, 4 * columns], &self.products);
        lines.line("}");
        self.shader.module.append(&lines);
    }

    /// The names of an invocation's vectors of four sums.
    fn sum_fields(&self) -> Vec<String> {
        let (rows, columns) = (self.tile.invocation_rows, self.tile.invocation_columns / 4);
        let of_row = |p: &String, i: u32| (0..columns).map(|j| format!("s{p}{i}_{j}")).collect::<Vec<_>>();
        self.products.iter().flat_map(|p| (0..rows).flat_map(move |i| of_row(p, i))).collect()
    }

    /// The sums of one place, all products.
    fn sums(&self, place: &str) -> String {
        self.products.iter().map(|p| format!("c.s{p}{place}")).collect::<Vec<_>>().join(", ")
    }

    fn multiply(&mut self) {
        if self.tile.shifted_at_edge() {
            self.multiply_inside();
            return;
        }
        if self.tile.is_unstaged() {
            self.multiply_unstaged();
            return;
        }
        let depth = self.tile.depth;
        for side in self.staged() {
            self.declare_loads(side);
        }
        self.main.line("if k_begin < k_end {");
        self.fetch("k_begin");
        self.main.line("}");
        self.main.line(format!("for (var k0 = k_begin; k0 < k_end; k0 += {depth}u) {{"));
        self.fill();
        self.main.line("workgroupBarrier();");
        self.main.line(format!("if k0 + {depth}u < k_end {{"));
        self.fetch(&format!("k0 + {depth}u"));
        self.main.line("}");
        if self.tile.k_groups() > 1 {
            self.multiply_slice_k();
        } else if self.tile.coop_matrix().is_some() {
            self.multiply_matrices();
        } else {
            for k in 0..depth {
                self.rank_one_update(k);
            }
        }
        self.main.line("workgroupBarrier();");
        self.main.line("}");
        if self.tile.k_groups() > 1 {
            self.add_k_groups();
        }
    }

    fn staged(&self) -> Vec<Side> {
        staged(&self.sides, self.tile).to_vec()
    }

    /// Adds the products of depth `k` of the slices to the sums.
    fn rank_one_update(&mut self, k: u32) {
        let Tile { rows, columns, invocation_rows, invocation_columns, .. } = self.tile;
        let mut call = String::from("update(&c");
        for g in 0..invocation_rows / 4 {
            let at = k * Side::Lhs.row_vectors(self.tile) + row_in_tile(4 * g, rows, invocation_rows) / 4;
            let _ = write!(call, ", lhs_tile[ty + {at}u]");
        }
        for side in &self.sides[1..] {
            let array = side.array(self.contraction);
            for j in 0..invocation_columns / 4 {
                let at = k * side.row_vectors(self.tile) + j * (columns / invocation_columns);
                let _ = write!(call, ", {array}[tx + {at}u]");
            }
        }
        call += ");";
        self.main.line(call);
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
        if let Some(rows) = &self.rows {
            rows.prepare(&mut self.shader, &mut self.main);
            return;
        }
        if self.tile.coop_matrix().is_some() {
            self.preload_matrices();
            return;
        }
        if is_partial(self.tile) || !preloads(self.tile) {
            return;
        }
        let epilogue = epilogue(self.group, &self.axes, self.sum, self.tile);
        for [row, column, name] in self.places() {
            epilogue.preload(&mut self.shader, &mut self.main, [&row, &column], &format!("_{name}"));
        }
    }

    fn store(&mut self) {
        if let Some(rows) = &self.rows {
            rows.finish(&mut self.shader, &mut self.main);
            return;
        }
        if self.tile.coop_matrix().is_some() {
            self.store_matrices();
            return;
        }
        if self.tile.lanes == 1 {
            self.declare_finish_each();
        }
        if self.tile.is_unstaged() {
            self.store_unstaged();
            return;
        }
        for [row, column, name] in self.places() {
            let call = self.finish_call([&row, &column], &self.sums(&name), &name);
            self.main.line(call);
        }
    }

    /// The call that hands the sums of a place to the epilogue; `name` is that of what was preloaded for it.
    fn finish_call(&self, [row, column]: [&str; 2], sums: &str, name: &str) -> String {
        let suffix = self.product.map_or(String::new(), |product| product.to_string());
        let finish = if self.tile.lanes == 1 { "finish_each".to_owned() } else { format!("finish{suffix}") };
        let loaded = match is_partial(self.tile) {
            true => String::new(),
            false => epilogue(self.group, &self.axes, self.sum, self.tile).preloaded_arguments(&format!("_{name}")),
        };
        format!("{finish}(batch, {}{row}, {column}, {sums}{loaded});", self.axes.batch_arguments())
    }

    /// Declares `finish_each`, which takes the four sums of a vector one by one.
    fn declare_finish_each(&mut self) {
        let (parameters, arguments) = (self.axes.batch_parameters(), self.axes.batch_arguments());
        let (ty, mut lines) = (vector_type(self.sum, 4), CodeBuffer::default());
        let sums = self.axes.sum_parameters(&ty);
        lines.line(format!("fn finish_each(batch: u32, {parameters}row: u32, column: u32, {sums}) {{"));
        for e in 0..4 {
            let sums: Vec<String> = self.axes.sum_names().iter().map(|name| format!("{name}[{e}]")).collect();
            lines.line(format!("finish(batch, {arguments}row, column + {e}u, {});", sums.join(", ")));
        }
        lines.line("}");
        self.shader.module.append(&lines);
    }
}

/// The `i`-th row of the first invocation: rows come in groups of four, spread over the tile.
const fn row_in_tile(i: u32, rows: u32, invocation_rows: u32) -> u32 {
    (i / 4) * (rows / (invocation_rows / 4)) + i % 4
}
