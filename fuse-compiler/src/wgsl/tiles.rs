//! Tiled contraction kernels.
//!
//! Each step, a workgroup holds slices of both operands in workgroup memory, the left one transposed, so that
//! invocations read vectors. While it multiplies, the next slices are loaded into registers. Multiplications are
//! unrolled here, because the measured drivers do not. Coordinates outside an operand are clamped: their rows and
//! columns are never stored, and depths beyond the end are replaced by zero after the prologue. Reductions of the left
//! operand precede all steps (`row_prologue`). Slice-K tiles stage the left slice only (`slice_k`), unstaged ones none
//! (`unstaged`), cooperative-matrix tiles `f16` slices (`coop_matrix`).

use fuse_artifact::{
    DType, Grid, Pass, Uniform,
    schedule::{K, Mainloop, Tile},
};

mod coop_matrix;
mod grouped;
mod packed;
mod row_parts;
mod rows;
mod side;
mod slice_k;
mod slices;
pub(super) mod streams;
mod unstaged;

use super::{
    epilogue::{Axes, Epilogue, declare_partial, finish_call, parameters, place_parameters, rhs_prefixes, sum_dtype},
    grid,
    names::Names,
    rank_one,
    row_prologue::RowPrologueKernel,
    shader::Shader,
};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block, Function, Ty, Val},
    schedule::contraction::{Direction, ScheduleSpec},
};
use grouped::Grouped;
pub use row_parts::row_parts;
use rows::Rows;
use side::Side;
use streams::Part;

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
    let arena = Arena::default();
    let mut shader = Shader::new(&arena, names, group);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        if !(is_partial(tile) && access.access.space == fuse_artifact::Space::Point) {
            shader.buffer(access.access.slot, access.dtype, tile.lanes, false);
        }
    }
    let axes = Axes::new(&mut shader, group, contraction);
    let products = product_prefixes(&axes);
    let rows = if tile.is_split() { None } else { Rows::new(group, axes, tile, &products) };
    let part = tile.is_stream_k().then(|| Part::declare(&mut shader));
    if is_partial(tile) {
        declare_partial(&mut shader, &axes, sum, tile.lanes);
    } else if let Some(rows) = &rows {
        rows.declare(&mut shader);
    } else if let Some(grouped) = grouped {
        for (product, group) in grouped.groups.iter().enumerate() {
            epilogue(group, axes, sum, tile).of_product(product as u8).declare(&mut shader);
        }
    } else if let Some(part) = part {
        let keep = part.keep(&mut shader, &axes, sum, tile);
        epilogue(group, axes, sum, tile).after(keep).declare(&mut shader);
    } else {
        epilogue(group, axes, sum, tile).declare(&mut shader);
    }
    let row_prologue = RowPrologueKernel::new(group, contraction, [tile.rows, tile.invocations()], tile.lanes);
    let mut kernel = MatmulKernel {
        shader,
        main: Block::new(),
        group,
        contraction,
        scheduled,
        tile,
        axes,
        sum,
        sides: Side::all(contraction),
        products,
        rhs_prefixes: rhs_prefixes(contraction),
        rows,
        row_prologue: row_prologue.as_ref(),
        sums: None,
        part,
        grouped,
        product: None,
    };
    kernel.declare_slices();
    let id = grid::workgroups(&mut kernel.shader, &mut kernel.main);
    match part {
        Some(part) => kernel.walk_share(id, part),
        None => {
            kernel.locate_workgroup(id);
            kernel.compute();
        }
    }
    let MatmulKernel { mut shader, main, .. } = kernel;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.rows, columns: tile.columns }, tile.invocations())
}

/// The epilogue of a tile. Small aligned tiles load its inputs before they multiply, and cooperative-matrix tiles one
/// row of matrices at a time: nothing else would hide the latency. Scalar schedules store single elements, since rows
/// may have any length.
fn epilogue<'a, 'k>(group: &'a Group, axes: Axes<'k>, sum: DType, tile: Tile) -> Epilogue<'a, 'k> {
    let epilogue = Epilogue::new(group, axes, sum, tile.lanes, tile.lanes);
    if preloads(tile) { epilogue.preloaded() } else { epilogue }
}

const fn preloads(tile: Tile) -> bool {
    tile.lanes == 4 && (tile.coop_matrix().is_some() || tile.invocation_rows * tile.invocation_columns <= 16)
}

/// True if the pass sums a part of the depth.
const fn is_partial(tile: Tile) -> bool {
    matches!(tile.k, K::Split)
}

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
    products: Vec<String>,
    rhs_prefixes: Vec<&'static str>,
    rows: Option<Rows<'a, 'a>>,
    /// Rows of the left operand, if it has reductions.
    row_prologue: Option<&'a RowPrologueKernel<'a>>,
    sums: Option<Val<'a>>,
    part: Option<Part<'a>>,
    /// The products, if they have separate workgroups, and the one under construction.
    grouped: Option<&'a Grouped>,
    product: Option<u8>,
}

impl<'a> MatmulKernel<'a> {
    /// The statements that `write` adds to `main`.
    fn block(&mut self, write: impl FnOnce(&mut Self)) -> Block<'a> {
        let outer = std::mem::take(&mut self.main);
        write(self);
        std::mem::replace(&mut self.main, outer)
    }

    fn compute(&mut self) {
        self.locate();
        self.reduce_operand();
        self.declare_sums();
        self.declare_update();
        match self.grouped {
            Some(grouped) => self.branches(grouped),
            None => {
                self.bind_sums();
                self.multiply_and_store();
            }
        }
    }

    fn multiply_and_store(&mut self) {
        self.preload();
        self.multiply();
        self.store();
    }

    fn locate(&mut self) {
        let [batch, number] = ["batch", "tile"].map(|name| self.index(name));
        let (shader, b) = (&mut self.shader, &mut self.main);
        self.axes.decode_batch(shader, b, batch);
        let names = if self.tile.shifted_at_edge() { ["first_row", "first_column"] } else { ["row0", "column0"] };
        let origin = match &self.rows {
            None => grid::tile_origin(shader, b, self.tile, number, names),
            Some(_) => grid::tile_origin_row_by_row(shader, b, self.tile, number, names),
        };
        if let Some(part) = self.part {
            part.begin(b, origin);
        }
        if self.tile.coop_matrix().is_some() {
            self.locate_subgroup();
            return;
        }
        let across = self.tile.columns / self.tile.invocation_columns;
        let position = if self.tile.k_groups() > 1 { self.locate_k_group() } else { self.shader.local() };
        self.main.bind("tx", position % across);
        self.main.bind("ty", position / across);
    }

    fn index(&self, name: &str) -> Val<'a> {
        self.shader.arena().name(name, Ty::U32)
    }

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

    fn reduce_operand(&mut self) {
        let lanes = if self.scheduled.lhs == Direction::Depth { self.tile.lanes } else { 1 };
        if let Some(rows) = self.row_prologue {
            let row0 = self.index("row0");
            rows.compute(&mut self.shader, &mut self.main, &self.axes, row0, lanes);
        }
    }

    fn declare_slices(&mut self) {
        if self.tile.coop_matrix().is_some() {
            self.declare_matrix_slices();
            return;
        }
        for side in self.staged() {
            let count = self.tile.depth * side.row_vectors(self.tile);
            self.shader.workgroup_array(&side.array(self.contraction), Ty::of(self.sum, 4), count);
        }
    }

    fn declare_sums(&mut self) {
        if self.tile.coop_matrix().is_none() {
            let (ty, extents) = (Ty::of(self.sum, 4), self.vectors());
            let ty = rank_one::structure(&mut self.shader, "Sums", ty, extents, &self.products);
            self.sums = Some(self.shader.arena().name("c", ty));
        }
    }

    fn bind_sums(&mut self) {
        match self.sums {
            Some(sums) => self.sums = Some(self.main.var("c", self.shader.arena().construct(sums.ty(), &[]))),
            None => self.declare_matrix_sums(),
        }
    }

    /// Declares `update`, which accumulates one depth.
    fn declare_update(&mut self) {
        if let Some(sums) = self.sums {
            let (ty, extents) = (Ty::of(self.sum, 4), self.vectors());
            rank_one::function(&mut self.shader, "update", sums.ty(), ty, extents, &self.products);
        }
    }

    const fn vectors(&self) -> [u32; 2] {
        [self.tile.invocation_rows, self.tile.invocation_columns / 4]
    }

    fn vector_numbers(&self) -> impl Iterator<Item = [u32; 2]> + use<> {
        let [rows, vectors] = self.vectors();
        (0..rows).flat_map(move |i| (0..vectors).map(move |j| [i, j]))
    }

    fn sum(&self, product: &str, [i, j]: [u32; 2]) -> Val<'a> {
        let sums = self.sums.expect("the sums are declared, and in no matrices");
        sums.field(&rank_one::field(product, i, j))
    }

    fn all_sums(&self) -> Vec<Val<'a>> {
        let places: Vec<[u32; 2]> = self.vector_numbers().collect();
        self.products.iter().flat_map(|product| places.iter().map(|&place| self.sum(product, place))).collect()
    }

    fn sums_at(&self, place: [u32; 2]) -> Vec<Val<'a>> {
        self.products.iter().map(|product| self.sum(product, place)).collect()
    }

    /// Accumulates all depths of the workgroup. While a step multiplies, the next slices are loaded into registers.
    fn multiply(&mut self) {
        if self.tile.is_unstaged() {
            self.multiply_unstaged();
            return;
        }
        let [begin, end] = ["k_begin", "k_end"].map(|name| self.index(name));
        let (depth, k_groups) = (self.tile.depth, self.tile.k_groups());
        let mut b = Block::new();
        let movers = self.declare_movers(&mut b);
        let fetch = |shader: &mut Shader<'a>, b: &mut Block<'a>, step| {
            movers.iter().for_each(|mover| mover.fetch(shader, b, step));
        };
        b.when(begin.lt(end), |b| fetch(&mut self.shader, b, begin));
        b.range("k0", begin, end, depth, |b, k0| {
            movers.iter().for_each(|mover| mover.fill(&mut self.shader, b, k0));
            b.workgroup_barrier();
            let next = k0 + depth;
            if self.tile.shifted_at_edge() {
                // The last slices again, instead of a branch.
                fetch(&mut self.shader, b, next.min(end - depth));
            } else {
                b.when(next.lt(end), |b| fetch(&mut self.shader, b, next));
            }
            if k_groups > 1 {
                self.multiply_slice_k(b, k0);
            } else if self.tile.coop_matrix().is_some() {
                self.multiply_matrices(b);
            } else {
                (0..depth).for_each(|k| self.rank_one_update(b, k));
            }
            b.workgroup_barrier();
        });
        if k_groups > 1 {
            self.add_k_groups(&mut b);
        }
        self.main.append(&b);
    }

    fn staged(&self) -> Vec<Side> {
        match self.tile.mainloop {
            Mainloop::Unstaged => vec![],
            Mainloop::Staged | Mainloop::CoopMatrix(_) => self.sides.clone(),
            Mainloop::SliceK(_) => vec![Side::Lhs],
        }
    }

    fn rank_one_update(&self, b: &mut Block<'a>, k: u32) {
        let (tile, [_, vectors]) = (self.tile, self.vectors());
        let [tx, ty] = ["tx", "ty"].map(|name| self.index(name));
        let lhs = self.slice(Side::Lhs).array;
        let of_rows = (0..tile.invocation_rows / 4).map(|g| {
            let at = k * Side::Lhs.row_vectors(tile) + row_in_tile(4 * g, tile.rows, tile.invocation_rows) / 4;
            lhs.at(ty + at)
        });
        let mut factors: Vec<Val<'a>> = of_rows.collect();
        for &side in &self.sides[1..] {
            let (rhs, first) = (self.slice(side).array, k * side.row_vectors(tile));
            factors.extend((0..vectors).map(|j| rhs.at(tx + (first + j * (tile.columns / tile.invocation_columns)))));
        }
        self.update(b, factors);
    }

    fn update(&self, b: &mut Block<'a>, factors: Vec<Val<'a>>) {
        let sums = self.sums.expect("the sums are declared").pointer();
        let arguments = [vec![sums], factors].concat();
        b.run(self.shader.arena().call("update", &arguments, Ty::Void));
    }

    /// Row and column of this invocation's accumulator vectors, and their indices.
    fn places(&self) -> Vec<([Val<'a>; 2], [u32; 2])> {
        let Tile { rows, columns, invocation_rows, invocation_columns, .. } = self.tile;
        let [row0, column0, tx, ty] = ["row0", "column0", "tx", "ty"].map(|name| self.index(name));
        let place = |[i, j]: [u32; 2]| {
            let row = row0 + ty * 4 + row_in_tile(i, rows, invocation_rows);
            let column = column0 + (tx + j * (columns / invocation_columns)) * 4;
            ([row, column], [i, j])
        };
        self.vector_numbers().map(place).collect()
    }

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
        for (place, [i, j]) in self.places() {
            epilogue.preload(&mut self.shader, &mut self.main, place, &format!("_{i}_{j}"));
        }
    }

    fn store(&mut self) {
        if let Some(rows) = &self.rows {
            let sums = self.sums.expect("the sums are declared");
            rows.finish(&mut self.shader, &mut self.main, sums);
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
        for (place, [i, j]) in self.places() {
            let call = self.finish_call(place, &self.sums_at([i, j]), &format!("{i}_{j}"));
            self.main.run(call);
        }
    }

    /// Calls the epilogue; `name` is the suffix of preloaded inputs.
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

    /// Declares `finish_each`, which stores a vector's accumulators one by one.
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

/// The first invocation's `i`-th row: rows are in groups of four, spread over the tile.
const fn row_in_tile(i: u32, rows: u32, invocation_rows: u32) -> u32 {
    (i / 4) * (rows / (invocation_rows / 4)) + i % 4
}
