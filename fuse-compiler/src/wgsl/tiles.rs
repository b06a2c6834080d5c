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
    builtins::scalar_type,
    epilogue::{Axes, Epilogue, declare_partial, finish_call, parameters, place_parameters, rhs_prefixes, sum_dtype},
    grid,
    names::Names,
    rank_one,
    row_prologue::RowPrologueKernel,
    shader::Shader,
};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Block, Function, Ty, Val},
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
    let arena = crate::kernel::Arena::default();
    let mut shader = Shader::new(&arena, names, group);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        if !(is_partial(tile) && access.access.space == fuse_artifact::Space::Point) {
            shader.buffer(access.access.slot, access.dtype, tile.lanes, false);
        }
    }
    let axes = Axes::new(&mut shader, group, contraction);
    let products = product_prefixes(&axes);
    let rows = if tile.is_split() { None } else { Rows::new(group, axes, (tile, sum), &products) };
    if is_partial(tile) {
        declare_partial(&mut shader, &axes, sum, tile.lanes);
    } else if let Some(rows) = &rows {
        rows.declare(&mut shader);
    } else if let Some(grouped) = grouped {
        for (product, group) in grouped.groups.iter().enumerate() {
            epilogue(group, axes, sum, tile).of_product(product as u8).declare(&mut shader);
        }
    } else if tile.is_stream_k() {
        let keep = streams::keep_parts(&mut shader, &axes, sum, tile);
        epilogue(group, axes, sum, tile).after(keep).declare(&mut shader);
    } else {
        epilogue(group, axes, sum, tile).declare(&mut shader);
    }
    let sides = Side::all(contraction);
    let main = Block::new();
    let rhs_prefixes = rhs_prefixes(contraction);
    let row_prologue = RowPrologueKernel::new(group, contraction, [tile.rows, tile.invocations()], tile.lanes);
    let mut text = MatmulKernel {
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
    let MatmulKernel { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.rows, columns: tile.columns }, tile.invocations())
}

/// The epilogue of a tile. Small tiles of aligned schedules load what it reads before they multiply, and tiles of cooperative
/// matrices a row of matrices at a time: nothing else would hide the latency. The result may have rows of any length in scalar schedules: they store element by element.
fn epilogue<'a, 'k>(group: &'a Group, axes: Axes<'k>, sum: DType, tile: Tile) -> Epilogue<'a, 'k> {
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

struct MatmulKernel<'a> {
    shader: Shader<'a>,
    main: Block<'a>,
    group: &'a Group,
    contraction: &'a Contraction,
    scheduled: &'a ScheduleSpec,
    tile: Tile,
    axes: Axes<'a>,
    sum: DType,
    sides: Vec<Side>,
    /// For each product, what the names of its sums start with: nothing for a single one, else `0_ …`.
    products: Vec<String>,
    rhs_prefixes: Vec<&'static str>,
    /// The epilogue, if it reduces rows.
    rows: Option<Rows<'a, 'a>>,
    /// The rows of the left operand, if it has reductions.
    row_prologue: Option<RowPrologueKernel<'a>>,
    /// Of products that have workgroups of their own, the one whose branch is written.
    product: Option<u8>,
}

impl<'a> MatmulKernel<'a> {
    /// Which tile, batch and part of the depth this workgroup has, and which rows and columns this invocation.
    fn locate(&mut self) {
        let id = grid::workgroups(&mut self.shader, &mut self.main);
        if self.tile.is_stream_k() {
            self.open_stream();
        } else {
            self.locate_workgroup(id);
        }
        let [batch, number] = ["batch", "tile"].map(|name| self.index(name));
        self.axes.decode_batch(&mut self.shader, &mut self.main, batch);
        let origin = self.origin();
        match &self.rows {
            None => grid::tile_origin(&mut self.shader, &mut self.main, self.tile, number, origin),
            Some(_) => grid::tile_origin_row_by_row(&mut self.shader, &mut self.main, self.tile, number, origin),
        };
        if self.tile.is_stream_k() {
            self.place_part();
        }
        if self.tile.coop_matrix().is_some() {
            self.locate_subgroup();
            return;
        }
        let across = self.tile.columns / self.tile.invocation_columns;
        if self.tile.k_groups() > 1 {
            self.locate_k_group();
        }
        let position = if self.tile.k_groups() > 1 { self.index("position") } else { self.shader.local() };
        self.main.bind("tx", position % across);
        self.main.bind("ty", position / across);
    }

    /// A number of the workgroup or invocation that was bound under a name.
    fn index(&self, name: &str) -> Val<'a> {
        self.shader.arena().name(name, Ty::U32)
    }

    /// The names of the tile's first row and column.
    fn origin(&self) -> [&'static str; 2] {
        if self.tile.shifted_at_edge() { ["first_row", "first_column"] } else { ["row0", "column0"] }
    }

    /// Which tile, batch and part of the depth this workgroup has, if it has one.
    fn locate_workgroup(&mut self, id: Val<'a>) {
        let row_tiles = self.shader.uniform(Uniform::RowTiles);
        let column_tiles = self.shader.uniform(Uniform::ColumnTiles);
        let batched = self.tile.is_split() || self.axes.batch > 0 || self.tile.is_grouped();
        let (b, axes) = (&mut self.main, &self.axes);
        if batched {
            let tiles = b.bind("tiles", row_tiles * column_tiles);
            b.bind("tile", id % tiles);
            if self.tile.is_split() {
                let [_, part] = grid::batch_and_part(&mut self.shader, b, axes, id, tiles);
                grid::depth_of_part(&mut self.shader, b, axes, part);
                return;
            }
            if self.tile.is_grouped() {
                let batches = axes.batches(&mut self.shader);
                b.bind("batch", id / tiles % batches);
                b.bind("product", id / (tiles * batches));
            } else {
                b.bind("batch", id / tiles);
            }
        } else {
            b.bind("tile", id);
            b.bind("batch", self.shader.u32(0));
        }
        grid::whole_depth(b, axes);
    }

    /// Computes what the loads of the left operand need of its rows.
    fn reduce_operand(&mut self) {
        let lanes = if self.scheduled.lhs == Direction::Depth { self.tile.lanes } else { 1 };
        if let Some(rows) = &self.row_prologue {
            let row0 = self.shader.arena().name("row0", Ty::U32);
            rows.compute(&mut self.shader, &mut self.main, &self.axes, row0, lanes);
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
            self.shader.workgroup_array_text(&side.array(self.contraction), &ty, count, 16);
        }
    }

    /// Declares this invocation's sums `c`, and `update`, which adds the products of one depth to them.
    fn declare_sums(&mut self) {
        if self.tile.coop_matrix().is_some() {
            self.declare_matrix_sums();
            return;
        }
        let extents = [self.tile.invocation_rows, self.tile.invocation_columns / 4];
        let ty = Ty::of(self.sum, 4);
        let sums = rank_one::declare(&mut self.shader, ["Sums", "update"], ty, extents, &self.products);
        self.main.var("c", self.shader.arena().construct(sums, &[]));
    }

    /// The names of an invocation's vectors of four sums.
    fn sum_fields(&self) -> Vec<String> {
        let (rows, columns) = (self.tile.invocation_rows, self.tile.invocation_columns / 4);
        let of_row = |p: &String, i: u32| (0..columns).map(|j| format!("s{p}{i}_{j}")).collect::<Vec<_>>();
        self.products.iter().flat_map(|p| (0..rows).flat_map(move |i| of_row(p, i))).collect()
    }

    /// The sums of one place, all products.
    fn sums(&self, place: &str) -> Vec<Val<'a>> {
        let sum = |product: &String| self.shader.arena().name(format!("c.s{product}{place}"), Ty::of(self.sum, 4));
        self.products.iter().map(sum).collect()
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
    fn places(&self) -> Vec<([Val<'a>; 2], String)> {
        let Tile { rows, columns, invocation_rows, invocation_columns, .. } = self.tile;
        let mut places = vec![];
        for i in 0..invocation_rows {
            for j in 0..invocation_columns / 4 {
                let [row0, column0, tx, ty] = ["row0", "column0", "tx", "ty"].map(|name| self.index(name));
                let row = row0 + ty * 4 + row_in_tile(i, rows, invocation_rows);
                let column = column0 + (tx + j * (columns / invocation_columns)) * 4;
                places.push(([row, column], format!("{i}_{j}")));
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
        let epilogue = epilogue(self.group, self.axes, self.sum, self.tile);
        for (place, name) in self.places() {
            epilogue.preload(&mut self.shader, &mut self.main, place, &format!("_{name}"));
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
        for (place, name) in self.places() {
            let sums = self.sums(&name);
            let call = self.finish_call(place, &sums, &name);
            self.main.run(call);
        }
    }

    /// The call that hands the sums of a place to the epilogue; `name` is that of what was preloaded for it.
    fn finish_call(&self, place: [Val<'a>; 2], sums: &[Val<'a>], name: &str) -> Val<'a> {
        let suffix = self.product.map_or(String::new(), |product| product.to_string());
        let finish = if self.tile.lanes == 1 { "finish_each".to_owned() } else { format!("finish{suffix}") };
        let mut values = sums.to_vec();
        if !is_partial(self.tile) {
            let epilogue = epilogue(self.group, self.axes, self.sum, self.tile);
            values.extend(epilogue.preloaded_arguments(&format!("_{name}")));
        }
        finish_call(&finish, &self.axes, [self.index("batch"), place[0], place[1]], &values)
    }

    /// Declares `finish_each`, which takes the four sums of a vector one by one.
    fn declare_finish_each(&mut self) {
        let sums = self.axes.accumulators(Ty::of(self.sum, 4));
        let [batch, row, column] = ["batch", "row", "column"].map(|name| self.index(name));
        let body = Block::of(|b| {
            for e in 0..4 {
                let sums: Vec<Val<'a>> = sums.iter().map(|sum| sum.lane(e)).collect();
                b.run(finish_call("finish", &self.axes, [batch, row, column + e], &sums));
            }
        });
        let parameters = place_parameters(&self.axes).into_iter().chain(parameters(&sums)).collect();
        self.shader.function(Function { name: "finish_each".to_owned(), parameters, result: None, body });
    }
}

/// The `i`-th row of the first invocation: rows come in groups of four, spread over the tile.
const fn row_in_tile(i: u32, rows: u32, invocation_rows: u32) -> u32 {
    (i / 4) * (rows / (invocation_rows / 4)) + i % 4
}
