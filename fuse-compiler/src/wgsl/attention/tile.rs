//! Tiled attention kernels.
//!
//! A workgroup holds a tile of queries in workgroup memory, transposed. For each step of keys it computes a tile of
//! scores in registers, reduces the rows' maxima through workgroup memory, writes the exponentials to workgroup memory,
//! transposed, and multiplies them with the values. Keys and values are staged in slices; while one is multiplied, the
//! next is loaded into registers. Invocations that share a row are neighbors. Each sums the exponentials of its own
//! scores; these sums are added at the end.

use fuse_artifact::{
    Grid, Pass,
    schedule::{AttentionTile, LANES},
};

use super::{
    Extents, Input, Place, Source, VECTOR, begin, component_sum, largest_component, locate,
    output::{call_finish_numbers, call_finish_row, finish, normalizer},
    reference,
    score::score,
};
use crate::{
    kernel::{Arena, Block, Val},
    wgsl::{
        epilogue::finish_call,
        names::Names,
        row_tile::{RowTile, Shape, Sums, SumsType},
        shader::Shader,
        stage::{ElementStage, Slice, is_multiple},
    },
};

/// The pass of a tiled schedule.
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
    let scores = SumsType::declare(&mut shader, "Scores", "add_scores", [rows, tile.scores() / LANES]);
    let outputs = SumsType::declare(&mut shader, "Outputs", "add_outputs", [rows, tile.outputs() / LANES]);
    let shape = Shape { rows: queries, invocation_rows: rows, across, keys, depth_step, value_step };
    let row_tile = RowTile::new(&shader, &mut b, shape, place.row0, [stage, weights]);
    let mut slices = |input, array, [steps, span]: [u32; 2], swizzled| {
        let slice = Slice::of_steps(array, span, swizzled);
        ElementStage::declare(
            &mut shader,
            &mut b,
            source.elements(&extents, input, slice, ([steps, span], tile.invocations())),
        )
    };
    // Resident queries are written once, and read by few invocations at a time.
    let query = slices(Input::Query, query_tile, [depth_step, queries], !resident);
    let key = slices(Input::Key, stage, [depth_step, keys], true);
    let value = slices(Input::Value, stage, [value_step, columns], true);
    let mut kernel =
        AttentionKernel { shader, source, tile, extents, place, row_tile, row_parts, scores, query, key, value };
    if resident {
        kernel.load_queries(&mut b);
    }
    let state = kernel.declare_state(&mut b, outputs);
    kernel.walk(&mut b, &state);
    kernel.store(&mut b, &state);
    let mut shader = kernel.shader;
    shader.main = b;
    shader.finish(Grid::Tiles { rows: queries, columns }, tile.invocations())
}

struct AttentionKernel<'k> {
    shader: Shader<'k>,
    source: Source<'k>,
    tile: AttentionTile,
    extents: Extents<'k>,
    place: Place<'k>,
    row_tile: RowTile<'k>,
    /// Workgroup array for partial maxima and sums of rows.
    row_parts: Val<'k>,
    scores: SumsType,
    query: ElementStage<'k>,
    key: ElementStage<'k>,
    value: ElementStage<'k>,
}

/// The state of an invocation's rows: maximum scores and sums of exponentials in vectors of four rows, and the outputs.
struct State<'k> {
    largest: Vec<Val<'k>>,
    totals: Vec<Val<'k>>,
    outputs: Sums<'k>,
}

impl<'k> AttentionKernel<'k> {
    fn declare_state(&self, b: &mut Block<'k>, outputs: SumsType) -> State<'k> {
        let (mut largest, mut totals) = (vec![], vec![]);
        for g in 0..self.row_tile.rows.len() {
            largest.push(b.var(format!("largest{g}"), self.place.negative_infinity.splat(LANES)));
            totals.push(b.var(format!("total{g}"), self.shader.arena().construct(VECTOR, &[])));
        }
        State { largest, totals, outputs: outputs.var(&self.shader, b, "o") }
    }

    fn load_queries(&mut self, b: &mut Block<'k>) {
        let row0 = self.place.row0;
        b.range("d0", self.shader.u32(0), self.extents.depth, self.tile.depth_step, |b, d0| {
            self.query.fetch(&mut self.shader, b, [d0, row0]);
            self.query.fill(&mut self.shader, b, [d0, row0], d0 * self.row_tile.row_vectors());
        });
    }

    /// Loads a slice of the keys, and of the queries unless they are resident.
    fn fetch_keys(&mut self, b: &mut Block<'k>, [depth, first]: [Val<'k>; 2]) {
        self.key.fetch(&mut self.shader, b, [depth, first]);
        if !self.tile.resident {
            self.query.fetch(&mut self.shader, b, [depth, self.place.row0]);
        }
    }

    fn fetch_values(&mut self, b: &mut Block<'k>, first: Val<'k>) {
        let zero = self.shader.u32(0);
        self.value.fetch(&mut self.shader, b, [first, zero]);
    }

    /// True if the depth may be 0.
    fn may_lack_depth(&self) -> bool {
        // Schedules with vector loads require some depth.
        self.tile.lanes == 1 && self.source.attention.depth.as_constant().is_none_or(|depth| depth == 0)
    }

    /// The condition that there are keys from `first` on, and that the depth is not 0.
    fn more_keys(&self, first: Val<'k>) -> Val<'k> {
        let more = first.lt(self.place.key_end);
        if self.may_lack_depth() { more.and(self.extents.depth.gt(0)) } else { more }
    }

    fn walk(&mut self, b: &mut Block<'k>, state: &State<'k>) {
        let Place { key_begin, key_end, .. } = self.place;
        let zero = self.shader.u32(0);
        b.when(self.more_keys(key_begin), |b| self.fetch_keys(b, [zero, key_begin]));
        b.range("k0", key_begin, key_end, self.tile.keys, |b, k0| {
            let scores = self.scores(b, k0);
            self.softmax(b, state, scores, k0);
            self.add_outputs(b, state, scores, k0);
        });
    }

    /// The products of queries and keys.
    fn scores(&mut self, b: &mut Block<'k>, k0: Val<'k>) -> Sums<'k> {
        let (step, depth, row0, zero) = (self.tile.depth_step, self.extents.depth, self.place.row0, self.shader.u32(0));
        if self.may_lack_depth() {
            b.when(depth.eq(0), |b| self.fetch_values(b, k0));
        }
        let scores = self.scores.var(&self.shader, b, "c");
        b.range("d0", zero, depth, step, |b, d0| {
            self.key.fill(&mut self.shader, b, [d0, k0], zero);
            if !self.tile.resident {
                self.query.fill(&mut self.shader, b, [d0, row0], zero);
            }
            b.workgroup_barrier();
            b.when((d0 + step).lt(depth), |b| self.fetch_keys(b, [d0 + step, k0]));
            b.otherwise(|b| self.fetch_values(b, k0));
            self.row_tile.add_products(b, scores, &self.query.slice, |rows, turn| {
                let moved = if turn > 0 { rows ^ turn } else { rows };
                if self.tile.resident { d0 * self.row_tile.row_vectors() + moved } else { moved }
            });
            b.workgroup_barrier();
        });
        scores
    }

    /// The index in workgroup memory of the partial results of some rows, for the invocation with this index among its
    /// neighbors.
    fn row_part(&self, tx: Val<'k>, rows: Val<'k>) -> Val<'k> {
        self.row_parts.at(tx * self.row_tile.row_vectors() + rows)
    }

    /// Updates the variables `{name}{g}`, one per vector of rows, with the partial results of all invocations that
    /// share the rows.
    fn reduce(
        &self,
        b: &mut Block<'k>,
        name: &str,
        first: impl Fn(usize) -> Val<'k>,
        merge: impl Fn(Val<'k>, Val<'k>) -> Val<'k>,
    ) -> Vec<Val<'k>> {
        let (arena, rows) = (self.shader.arena(), &self.row_tile.rows);
        let reduced: Vec<Val<'k>> = (0..rows.len()).map(|g| b.var(format!("{name}{g}"), first(g))).collect();
        b.unrollable("x", arena.u32(0), arena.u32(self.tile.across), 1, |b, x| {
            for (&variable, &rows) in reduced.iter().zip(rows) {
                b.set(variable, merge(variable, self.row_part(x, rows)));
            }
        });
        reduced
    }

    /// Builds a vector with one value for each of four rows.
    fn of_rows(&self, g: usize, value: impl FnMut(u32) -> Val<'k>) -> Val<'k> {
        let first = 4 * g as u32;
        let values: Vec<Val<'k>> = (first..first + 4).map(value).collect();
        self.shader.arena().construct(VECTOR, &values)
    }

    /// Replaces products by exponentials of scores relative to the rows' maxima, and rescales sums.
    fn softmax(&self, b: &mut Block<'k>, state: &State<'k>, scores: Sums<'k>, k0: Val<'k>) {
        let AttentionTile { rows, keys, .. } = self.tile;
        let row_tile = &self.row_tile;
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
                        b.set(score, exists.select(score, self.place.negative_infinity.splat(LANES)));
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
            for output in state.outputs.row(i) {
                b.set(output, output * of_row(&scales));
            }
        }
        for (g, (&total, &scale)) in state.totals.iter().zip(&scales).enumerate() {
            let sums = self
                .of_rows(g, |i| component_sum(scores.row(i).reduce(|x, y| x + y).expect("an invocation has scores")));
            b.set(total, total * scale + sums);
        }
    }

    /// Adds the products of exponentials and values, with the exponentials of all invocations that share a row.
    fn add_outputs(&mut self, b: &mut Block<'k>, state: &State<'k>, scores: Sums<'k>, k0: Val<'k>) {
        let AttentionTile { across, keys, .. } = self.tile;
        let zero = self.shader.u32(0);
        let next = Block::of(|b| {
            b.when(self.more_keys(k0 + keys), |b| self.fetch_keys(b, [zero, k0 + keys]));
        });
        for j in 0..self.tile.scores() / LANES {
            self.row_tile.write_weights(b, j as usize, |i| scores.at(i, j));
            let keys = [j, j + 1].map(|j| j * LANES * across);
            let (products, ends) = ((state.outputs, &self.value), [k0, self.place.key_end]);
            self.row_tile.add_values(&mut self.shader, b, products, ends, keys, |_, b| b.append(&next));
        }
    }

    fn store(&self, b: &mut Block<'k>, state: &State<'k>) {
        let AttentionTile { rows, lanes, .. } = self.tile;
        let (split, row_tile, batch) = (self.source.scheduled.schedule.is_split(), &self.row_tile, self.place.batch);
        for (&rows, &total) in row_tile.rows.iter().zip(&state.totals) {
            b.set(self.row_part(row_tile.tx, rows), total);
        }
        b.workgroup_barrier();
        let zero = self.shader.arena().construct(VECTOR, &[]);
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
            for (j, output) in (0..).zip(state.outputs.row(i)) {
                let output = factor.map_or(output, |factor| output * factor);
                let place = [batch, row_tile.row(i), row_tile.column(j)];
                b.run(finish_call(finish(split, lanes), &self.extents.axes, place, &[output]));
            }
        }
    }
}
