//! Tiled attention kernels.
//!
//! A workgroup holds a transposed tile of queries in workgroup memory. For each step of keys it computes scores in
//! registers, reduces the rows' maxima through workgroup memory, writes the exponentials there, transposed, and
//! multiplies them with the values (`key_loop`). Invocations that share a row are neighbors; each sums the exponentials
//! of its own scores until the end.

use fuse_artifact::{
    Grid, Pass,
    schedule::{AttentionTile, LANES},
};

use super::{
    Extents, Input, Source, VECTOR, begin, component_sum, largest_component, locate,
    output::{call_finish_numbers, call_finish_row, finish, normalizer},
    reference,
    score::score,
};
use crate::{
    kernel::{Arena, Block, Val},
    wgsl::{
        epilogue::finish_call,
        key_loop::{KeyLoop, Product, Weights},
        names::Names,
        row_tile::{RowTile, Shape, Sums, SumsType},
        stage::{ElementStage, Slice, is_multiple, is_nonzero},
    },
};

pub(super) fn pass(source: Source<'_>, names: &Names, tile: AttentionTile) -> Pass {
    let AttentionTile { queries, keys, rows, across, depth_step, value_step, columns, resident, .. } = tile;
    let arena = Arena::default();
    let (mut shader, extents) = begin(&arena, source, names);
    let mut array = |name: &str, elements: u32| shader.workgroup_array(name, VECTOR, elements / LANES);
    let query_tile = array("query_tile", tile.query_elements());
    let stage = array("stage", tile.stage_elements());
    let weights = array("weights", tile.weight_elements());
    let row_parts = if tile.parts_share_weights() { weights } else { array("row_parts", across * queries) };
    let mut b = Block::new();
    let place = locate(&source.walk(), &mut shader, &extents, &mut b, [queries, keys], false);
    let products_type = SumsType::declare(&mut shader, "Products", "add_products", [rows, tile.scores() / LANES]);
    let outputs_type = SumsType::declare(&mut shader, "Outputs", "add_outputs", [rows, tile.outputs() / LANES]);
    let shape = Shape { rows: queries, invocation_rows: rows, across, keys, depth_step, value_step };
    let row_tile = RowTile::new(&shader, &mut b, shape, place.row0, [stage, weights]);
    let mut slices = |input, array, [steps, span]: [u32; 2], swizzled| {
        let slice = Slice::of_steps(array, span, swizzled);
        let shape = ([steps, span], tile.invocations());
        ElementStage::declare(&mut shader, &mut b, source.elements(&extents, input, slice, shape))
    };
    // Resident queries are written once, and read by few invocations at a time.
    let lhs = slices(Input::Query, query_tile, [depth_step, queries], !resident);
    let rhs = slices(Input::Key, stage, [depth_step, keys], true);
    let values = slices(Input::Value, stage, [value_step, columns], true);
    let product = Product { lhs, rhs, depth: extents.depth, resident };
    product.load_resident(&mut shader, &mut b, &row_tile, place.row0);
    let rows = Rows::declare(&mut b, row_tile.rows.len(), place.negative_infinity);
    let outputs = outputs_type.var(&shader, &mut b, "o0");
    let key_loop = KeyLoop {
        row_tile,
        place,
        products: vec![product],
        products_type,
        values: vec![(values, outputs)],
        has_depth: tile.lanes > 1 || is_nonzero(&source.attention.depth),
    };
    let kernel = AttentionKernel { arena: &arena, source, tile, extents, key_loop, row_parts };
    kernel.key_loop.walk(&mut shader, &mut b, |b, k0, products| kernel.weigh(b, &rows, products[0], k0));
    kernel.store(&mut b, &rows);
    shader.main = b;
    shader.finish(Grid::Tiles { rows: queries, columns }, tile.invocations())
}

struct AttentionKernel<'k> {
    arena: &'k Arena,
    source: Source<'k>,
    tile: AttentionTile,
    extents: Extents<'k>,
    key_loop: KeyLoop<'k>,
    row_parts: Val<'k>,
}

struct Rows<'k> {
    largest: Vec<Val<'k>>,
    totals: Vec<Val<'k>>,
}

impl<'k> Rows<'k> {
    fn declare(b: &mut Block<'k>, vectors: usize, negative_infinity: Val<'k>) -> Self {
        let (mut largest, mut totals) = (vec![], vec![]);
        for g in 0..vectors {
            largest.push(b.var(format!("largest{g}"), negative_infinity.splat(LANES)));
            totals.push(b.var(format!("total{g}"), negative_infinity.arena().construct(VECTOR, &[])));
        }
        Self { largest, totals }
    }
}

impl<'k> AttentionKernel<'k> {
    fn outputs(&self) -> Sums<'k> {
        self.key_loop.values[0].1
    }

    /// The entry for partial results of some rows, from the invocation with this index among its neighbors.
    fn row_part(&self, tx: Val<'k>, rows: Val<'k>) -> Val<'k> {
        self.row_parts.at(tx * self.key_loop.row_tile.row_vectors() + rows)
    }

    /// Reduces the variables `{name}{g}`, one per vector of rows, over the invocations that share the rows.
    fn reduce(
        &self,
        b: &mut Block<'k>,
        name: &str,
        first: impl Fn(usize) -> Val<'k>,
        merge: impl Fn(Val<'k>, Val<'k>) -> Val<'k>,
    ) -> Vec<Val<'k>> {
        let rows = &self.key_loop.row_tile.rows;
        let reduced: Vec<Val<'k>> = (0..rows.len()).map(|g| b.var(format!("{name}{g}"), first(g))).collect();
        b.unrollable("x", self.arena.u32(0), self.arena.u32(self.tile.across), 1, |b, x| {
            for (&variable, &rows) in reduced.iter().zip(rows) {
                b.set(variable, merge(variable, self.row_part(x, rows)));
            }
        });
        reduced
    }

    fn of_rows(&self, g: usize, value: impl FnMut(u32) -> Val<'k>) -> Val<'k> {
        let first = 4 * g as u32;
        let values: Vec<Val<'k>> = (first..first + 4).map(value).collect();
        self.arena.construct(VECTOR, &values)
    }

    /// Replaces products by exponentials of scores relative to their row's maximum, and rescales sums.
    fn weigh(&self, b: &mut Block<'k>, state: &Rows<'k>, scores: Sums<'k>, k0: Val<'k>) -> Weights<'k> {
        let AttentionTile { rows, keys, .. } = self.tile;
        let row_tile = &self.key_loop.row_tile;
        for i in 0..rows {
            for (j, products) in (0..).zip(scores.row(i)) {
                let place = [row_tile.row(i), k0 + row_tile.column(j)];
                b.set(products, score(&self.extents, place, products));
            }
        }
        if !is_multiple(&self.source.attention.keys, keys) {
            b.when((k0 + keys).gt(self.extents.keys()), |b| {
                for j in 0..self.tile.scores() / LANES {
                    let exists = b.bind(format!("exists{j}"), self.extents.four_exist(k0 + row_tile.column(j)));
                    for i in 0..rows {
                        let score = scores.at(i, j);
                        b.set(score, exists.select(score, self.key_loop.place.negative_infinity.splat(LANES)));
                    }
                }
            });
        }
        for (g, &rows) in row_tile.rows.iter().enumerate() {
            let most = self.of_rows(g, |i| {
                let most = scores.row(i).reduce(|x, y| x.max(y)).expect("an invocation has scores");
                largest_component(b.bind(format!("most{i}"), most))
            });
            b.set(self.row_part(row_tile.tx, rows), most);
        }
        b.workgroup_barrier();
        let larger = self.reduce(b, "larger", |g| state.largest[g], |x, y| x.max(y));
        if self.tile.parts_share_weights() {
            b.workgroup_barrier();
        }
        let (mut references, mut scales) = (vec![], vec![]);
        for (g, (&larger, &largest)) in larger.iter().zip(&state.largest).enumerate() {
            let reference = b.bind(format!("reference{g}"), reference(larger));
            references.push(reference);
            scales.push(b.bind(format!("scale{g}"), (largest - reference).exp()));
            b.set(largest, larger);
        }
        for i in 0..rows {
            let of_row = |vectors: &[Val<'k>]| vectors[i as usize / 4].lane(i % 4).splat(LANES);
            for score in scores.row(i) {
                b.set(score, (score - of_row(&references)).exp());
            }
            for output in self.outputs().row(i) {
                b.set(output, output * of_row(&scales));
            }
        }
        for (g, (&total, &scale)) in state.totals.iter().zip(&scales).enumerate() {
            let sums = self
                .of_rows(g, |i| component_sum(scores.row(i).reduce(|x, y| x + y).expect("an invocation has scores")));
            b.set(total, total * scale + sums);
        }
        let vectors = 0..self.tile.scores() / LANES;
        vec![vectors.map(|j| (0..rows).map(|i| scores.at(i, j)).collect()).collect()]
    }

    fn store(&self, b: &mut Block<'k>, state: &Rows<'k>) {
        let AttentionTile { rows, lanes, .. } = self.tile;
        let (split, row_tile, batch) =
            (self.source.scheduled.schedule.is_split(), &self.key_loop.row_tile, self.key_loop.place.batch);
        for (&rows, &total) in row_tile.rows.iter().zip(&state.totals) {
            b.set(self.row_part(row_tile.tx, rows), total);
        }
        b.workgroup_barrier();
        let zero = self.arena.construct(VECTOR, &[]);
        let sums = self.reduce(b, "sum", |_| zero, |x, y| x + y);
        let of_row = |vectors: &[Val<'k>], i: u32| vectors[i as usize / 4].lane(i % 4);
        let numbers = |i: u32| ([batch, row_tile.row(i)], [&state.largest, &sums].map(|vectors| of_row(vectors, i)));
        if split {
            b.when(row_tile.tx.eq(0), |b| {
                for (place, numbers) in (0..rows).map(numbers) {
                    call_finish_row(b, place, numbers);
                }
            });
        }
        if self.source.stores_rows() {
            b.when(row_tile.tx.eq(0), |b| {
                for (place, numbers) in (0..rows).map(numbers) {
                    call_finish_numbers(b, &self.extents, place, numbers);
                }
            });
        }
        for i in 0..rows {
            let factor = (!split).then(|| b.bind(format!("factor{i}"), normalizer(of_row(&sums, i)).splat(LANES)));
            for (j, output) in (0..).zip(self.outputs().row(i)) {
                let output = factor.map_or(output, |factor| output * factor);
                let place = [batch, row_tile.row(i), row_tile.column(j)];
                b.run(finish_call(finish(split, lanes), &self.extents.axes, place, &[output]));
            }
        }
    }
}
