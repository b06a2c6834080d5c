//! Attention kernels with cooperative matrices.
//!
//! A subgroup multiplies its queries with slices of keys that the workgroup shares. Elements are accessible only in
//! memory, so each matrix of scores is stored to the subgroup's strip of workgroup memory. There, four neighboring
//! invocations each have four neighboring scores of a row, of two rows of every matrix. Exponentials go to workgroup
//! memory as `f16`, and into matrices that are multiplied with the values.
//!
//! Rescaling a row would store and reload its output matrices. So its reference is not its maximum score: it grows only
//! when a score exceeds it by more than [`SLACK`], which is rare after the first step (after FlashAttention-4, 2025).
//! Exponentials are at most `exp(SLACK)`, which `f16` holds, and no less exact. If values per row are results, the
//! maximum is kept as well, and the sum is rescaled to it at the end.
//!
//! The last tile of queries is shifted inside; its rows before the edge belong to the previous tile.

use std::slice;

use fuse_artifact::{
    Grid, Pass, Uniform,
    schedule::{AttentionCoopMatrix, LANES},
};

use super::{Extents, Input, Source, begin, locate, output};
use crate::{
    kernel::{Arena, Block, Scalar, Ty, Val},
    wgsl::{
        matrices::{HALVES, Keys, Matrices, Places, SIZE, declare_sums, multiply_keys},
        names::Names,
        shader::Shader,
        stage::{LineStage, Lines, SliceExtents},
    },
};

/// Largest excess of a score over its row's reference: `exp(8)` is 2981, and the largest `f16` is 65504.
const SLACK: f32 = 8.0;

/// Below every score except -inf and NaN.
const LOWEST: f32 = f32::MIN;

pub(super) fn pass(source: Source<'_>, names: &Names, tile: AttentionCoopMatrix) -> Pass {
    let arena = Arena::default();
    let (mut shader, extents) = begin(&arena, source, names);
    shader.use_coop_matrix(SIZE);
    shader.pin_loads();
    let [halves, floats] = [Scalar::F16, Scalar::F32].map(|scalar| Ty::vector(scalar, LANES));
    let [key_vectors, value_vectors, weight_vectors] = tile.slice_vectors();
    let keys = shader.workgroup_array("key_slice", halves, key_vectors);
    let values = if tile.own_values { shader.workgroup_array("value_slice", halves, value_vectors) } else { keys };
    let weights = shader.workgroup_array("weights", halves, weight_vectors);
    let strips = shader.workgroup_array("strips", floats, tile.strip_vectors());
    // Matrices are loaded from multiples of 16 bytes, and the driver packs arrays, so this takes 16 bytes.
    let grown = shader.workgroup_array("grown", Ty::U32, 4);
    let mut main = Block::new();
    locate(&source.walk(), &mut shader, &extents, &mut main, [tile.queries(), tile.keys], true);
    let kernel =
        MatrixKernel::prepare(&mut shader, &mut main, (source, tile, extents), [keys, values, weights, strips, grown]);
    kernel.walk(&mut main);
    kernel.store(&mut main);
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.queries(), columns: tile.columns }, tile.invocations())
}

#[derive(Clone, Copy)]
struct Row<'k> {
    /// The reference of exponentials, and this invocation's sum of them.
    reference: Val<'k>,
    total: Val<'k>,
    peak: Option<Val<'k>>,
}

/// An invocation's scores for a matrix of queries: per matrix of keys, one vector per half.
type Scores<'k> = Vec<[Val<'k>; HALVES]>;

struct MatrixKernel<'a, 'k> {
    source: Source<'a>,
    tile: AttentionCoopMatrix,
    extents: Extents<'k>,
    arena: &'k Arena,
    places: Places<'k>,
    local: Val<'k>,
    keys: Keys<'k>,
    slices: [LineStage<'k>; 2],
    queries: Matrices<'k>,
    outputs: Matrices<'k>,
    rows: Vec<[Row<'k>; HALVES]>,
    /// The array of weights, and the one whose first element is nonzero if some row's reference has grown.
    weights: Val<'k>,
    grown: Val<'k>,
}

impl<'a, 'k> MatrixKernel<'a, 'k> {
    fn prepare(
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        (source, tile, extents): (Source<'a>, AttentionCoopMatrix, Extents<'k>),
        [key_array, value_array, weights, strips, grown]: [Val<'k>; 5],
    ) -> Self {
        let (arena, local, batch) = (shader.arena(), shader.local(), extents.axes.batch());
        b.when(local.eq(0), |b| b.set(grown.at(0), 0));
        let places = Places::bind(shader, b, [tile.rows, tile.keys], (strips, 1));
        let lines = |shader: &mut Shader<'k>, b: &mut Block<'k>, input, line_axis| {
            let operand = source.operand(input);
            let stride = shader.uniform(Uniform::Stride { access: operand.loads()[0], axis: line_axis as u8 });
            Lines::bind(shader, b, &operand, stride, &batch)
        };
        let keys = Keys::bind(b, (extents.keys(), &source.attention.keys), tile.keys);
        let axis = source.batch();
        let slices = [(Input::Key, axis + 1, tile.depth, key_array), (Input::Value, axis, tile.columns, value_array)];
        let slices = slices.map(|(input, line_axis, elements, array)| {
            let source = lines(shader, b, input, line_axis);
            let extents = SliceExtents { lines: tile.keys, elements, invocations: tile.invocations() };
            LineStage::declare(shader, b, source, keys.advance(), array, extents)
        });
        let queries = lines(shader, b, Input::Query, axis);
        let row_matrices = tile.rows / SIZE;
        let queries = places.load_rows(b, queries, "q", [row_matrices, tile.depth / SIZE]);
        let outputs = declare_sums(arena, b, "o", [row_matrices, tile.columns / SIZE]);
        let mut row = |n: String| {
            let [lowest, zero] = [LOWEST, 0.0].map(|value| arena.f32(value));
            let reference = b.var(format!("reference{n}"), lowest);
            let total = b.var(format!("total{n}"), zero);
            let peak = output::stores_rows(source.group)
                .then(|| b.var(format!("peak{n}"), arena.name("negative_infinity", Ty::F32)));
            Row { reference, total, peak }
        };
        let rows = (0..row_matrices).map(|r| [0, 1].map(|half| row(format!("{r}_{half}")))).collect();
        Self { source, tile, extents, arena, places, local, keys, slices, queries, outputs, rows, weights, grown }
    }
    fn negative_infinity(&self) -> Val<'k> {
        self.arena.name("negative_infinity", Ty::F32)
    }

    fn call(&self, name: &str, place: [Val<'k>; 2], value: Val<'k>) -> Val<'k> {
        let arguments: Vec<Val<'k>> = self.extents.axes.batch().into_iter().chain(place).chain([value]).collect();
        self.arena.call(name, &arguments, value.ty())
    }

    fn walk(&self, b: &mut Block<'k>) {
        let [keys, values] = &self.slices;
        let ahead = if self.tile.own_values { &self.slices[..] } else { &self.slices[..1] };
        self.keys.walk(b, ahead, |b, k0| {
            if !self.tile.own_values {
                values.fetch(b, k0);
            }
            let products = multiply_keys(b, keys, &self.queries, "s");
            let scores = self.read_scores(b, &products, k0);
            self.mask(b, &scores, k0);
            let weigh = |(r, scores)| [0, 1].map(|half| self.weigh(b, [r, half], scores));
            let factors: Vec<_> = scores.iter().enumerate().map(weigh).collect();
            if !self.tile.own_values {
                b.workgroup_barrier();
                values.fill(b);
            }
            self.follow(b, &factors);
            self.places.multiply_values(b, values, self.weights, &self.outputs);
        });
    }

    fn read_scores(&self, b: &mut Block<'k>, products: &Matrices<'k>, k0: Val<'k>) -> Vec<Scores<'k>> {
        let mut scores = vec![vec![]; products.len()];
        self.places.read(b, slice::from_ref(products), |b, [r, m]| {
            scores[r].push([0, 1].map(|half| {
                let place = [self.places.row(r, half), self.places.key(k0, m)];
                b.var(format!("c{r}_{m}_{half}"), self.call("score", place, self.places.on_strip(0, half)))
            }));
        });
        scores
    }

    fn mask(&self, b: &mut Block<'k>, scores: &[Scores<'k>], k0: Val<'k>) {
        if self.keys.last.is_none() {
            return;
        }
        let hidden = self.negative_infinity().splat(LANES);
        b.when(self.keys.end_in(k0), |b| {
            for m in 0..scores[0].len() {
                let exist = b.bind(format!("exists{m}"), self.keys.exist(self.places.key(k0, m)));
                for &score in scores.iter().flat_map(|scores| &scores[m]) {
                    b.set(score, exist.select(score, hidden));
                }
            }
        });
    }

    /// Stores a row's exponentials and accumulates their sum; returns the rescaling factor.
    fn weigh(&self, b: &mut Block<'k>, [r, half]: [usize; 2], scores: &Scores<'k>) -> Val<'k> {
        let (n, Row { reference, total, peak }) = (format!("{r}_{half}"), self.rows[r][half]);
        let [one, slack, lowest] = [1.0, SLACK, LOWEST].map(|value| self.arena.f32(value));
        let scores = scores.iter().map(|of_matrix| of_matrix[half]);
        let most = scores.clone().reduce(Val::max).expect("a step has keys");
        let most = b.bind(format!("most{n}"), most);
        let [x, y, z, w] = [0, 1, 2, 3].map(|lane| most.lane(lane));
        let own = b.bind(format!("own{n}"), x.max(y).max(z.max(w)));
        let largest = across_row(b, &format!("largest{n}"), own, Val::max);
        if let Some(peak) = peak {
            b.set(peak, peak.max(largest));
        }
        let factor = b.var(format!("factor{n}"), one);
        b.when(largest.gt(reference + slack), |b| {
            b.set(factor, (reference - largest).exp());
            // Before the first score there is nothing to rescale.
            b.when(reference.gt(lowest), |b| b.set(self.grown.at(0), 1));
            b.set(reference, largest);
            b.set(total, total * factor);
        });
        let mut weights = vec![];
        for (m, score) in scores.enumerate() {
            let weight = b.bind(format!("e{n}_{m}"), (score - reference.splat(LANES)).exp());
            b.set(self.places.weights(self.weights, [r, m, half]), weight.convert(Scalar::F16));
            weights.push(weight);
        }
        let sum = weights.into_iter().reduce(|x, y| x + y).expect("a step has keys");
        b.set(total, total + sum.dot(one.splat(LANES)));
        factor
    }

    /// Rescales the outputs if some row's reference has grown. Must come between writing and reading weights.
    fn follow(&self, b: &mut Block<'k>, factors: &[[Val<'k>; HALVES]]) {
        let follows = b.bind("follows", self.grown.at(0).uniform_load());
        b.when(follows.ne(0), |b| {
            for (outputs, factors) in self.outputs.iter().zip(factors) {
                for &output in outputs {
                    self.places.put_on_strips(b, [output]);
                    for (half, factor) in factors.iter().enumerate() {
                        let vector = self.places.on_strip(0, half);
                        b.set(vector, vector * factor.splat(LANES));
                    }
                    b.workgroup_barrier();
                    b.set(output, self.places.take_sums());
                    b.workgroup_barrier();
                }
            }
            b.when(self.local.eq(0), |b| b.set(self.grown.at(0), 0));
        });
    }

    fn store(&self, b: &mut Block<'k>) {
        let matrix = |r| [0, 1].map(|half| self.finish_row(b, [r, half]));
        let rows: Vec<_> = (0..self.rows.len()).map(matrix).collect();
        self.places.store(b, &self.extents.axes, slice::from_ref(&self.outputs), &rows);
    }

    /// Stores a row's results that depend on its sum; returns the row and its outputs' factor, if any.
    fn finish_row(&self, b: &mut Block<'k>, [r, half]: [usize; 2]) -> (Val<'k>, Option<Val<'k>>) {
        let (n, Row { reference, total, peak }) = (format!("{r}_{half}"), self.rows[r][half]);
        let [batch, first_row] = ["batch", "first_row"].map(|name| self.arena.name(name, Ty::U32));
        let split = self.source.scheduled.schedule.is_split();
        let sum = across_row(b, &format!("sum{n}"), total, |x, y| x + y);
        let row = b.bind(format!("row{n}"), self.places.row(r, half));
        // Rows that saw no key are marked, as elsewhere.
        let is_empty = reference.eq(self.arena.f32(LOWEST));
        let rest = peak.map(|peak| {
            let rest = is_empty.select(self.arena.f32(1.0), (reference - peak).exp());
            b.bind(format!("rest{n}"), rest)
        });
        let (largest, scaled_sum) = match (peak, rest) {
            (Some(peak), Some(rest)) => (peak, sum * rest),
            _ => (is_empty.select(self.negative_infinity(), reference), sum),
        };
        let factor = if split {
            rest
        } else {
            let normalizer = self.arena.call("normalizer", &[sum], Ty::F32);
            Some(b.bind(format!("factor{n}"), normalizer.splat(LANES)))
        };
        if split || peak.is_some() {
            b.when((self.places.lane % LANES).eq(0).and(row.ge(first_row)), |b| {
                if split {
                    b.run(self.arena.call("finish_row", &[batch, row, largest, scaled_sum], Ty::Void));
                } else {
                    output::call_finish_numbers(b, &self.extents, [batch, row], [largest, scaled_sum]);
                }
            });
        }
        (row, factor)
    }
}

fn across_row<'k>(
    b: &mut Block<'k>,
    name: &str,
    value: Val<'k>,
    combine: impl Fn(Val<'k>, Val<'k>) -> Val<'k>,
) -> Val<'k> {
    let of = |value: Val<'k>, distance| value.call("subgroupShuffleXor", &[value.arena().u32(distance)]);
    let neighbor = b.bind(format!("{name}_neighbor"), of(value, 1));
    let pair = b.bind(format!("{name}_pair"), combine(value, neighbor));
    let other = b.bind(format!("{name}_other"), of(pair, 2));
    b.bind(name, combine(pair, other))
}
