//! Attention kernels without workgroup memory or barriers, for CPU adapters: each invocation has a few queries and
//! reads keys and values directly, four at a time.

use fuse_artifact::{
    Grid, Pass,
    schedule::{LANES, UNSTAGED_INVOCATIONS, Unstaged},
};

use super::{
    Extents, Input, Place, Source, VECTOR, begin,
    four_keys::{self, Query, Weights},
    locate,
    output::{call_finish_numbers, normalizer},
};
use crate::{
    kernel::{Arena, Block, Val},
    wgsl::{epilogue::finish_call, names::Names, shader::Shader},
};

pub(super) fn pass(source: Source<'_>, names: &Names, unstaged: Unstaged) -> Pass {
    let arena = Arena::default();
    let (mut shader, extents) = begin(&arena, source, names);
    let mut b = Block::new();
    let place = locate(&source.walk(), &mut shader, &extents, &mut b, [unstaged.rows(), LANES], false);
    let mut kernel = UnstagedKernel { shader, source, unstaged, extents, place };
    let queries = kernel.prepare(&mut b);
    kernel.walk(&mut b, &queries);
    kernel.store(&mut b, &queries);
    let mut shader = kernel.shader;
    shader.main = b;
    shader.finish(Grid::Tiles { rows: unstaged.rows(), columns: unstaged.columns }, UNSTAGED_INVOCATIONS)
}

struct UnstagedKernel<'k> {
    shader: Shader<'k>,
    source: Source<'k>,
    unstaged: Unstaged,
    extents: Extents<'k>,
    place: Place<'k>,
}

type Queries<'k> = Vec<(Val<'k>, Query<'k>)>;

impl<'k> UnstagedKernel<'k> {
    const fn vectors(&self) -> u32 {
        self.unstaged.columns / LANES
    }

    fn load(&mut self, input: Input, at: [Val<'k>; 2], exists: Option<Val<'k>>) -> Val<'k> {
        four_keys::load(&mut self.shader, (self.source, &self.extents), input, at, exists)
    }

    fn prepare(&self, b: &mut Block<'k>) -> Queries<'k> {
        let (queries, rows) = (self.unstaged.queries, self.extents.queries());
        let first = b.bind("first", self.place.row0 + self.shader.local() * queries);
        b.return_if(first.ge(rows));
        let query = |m: u32| {
            let inside = b.bind(format!("query{m}"), (first + m).min(rows - 1));
            (inside, Query::declare(b, &self.place, [m, self.vectors()], first + m))
        };
        (0..queries).map(query).collect()
    }

    fn walk(&mut self, b: &mut Block<'k>, queries: &Queries<'k>) {
        let Place { key_begin, key_end, .. } = self.place;
        b.range("key", key_begin, key_end, LANES, |b, key| {
            let last = self.extents.keys() - 1;
            let keys: Vec<Val<'k>> = (0..LANES).map(|j| b.bind(format!("key{j}"), (key + j).min(last))).collect();
            let sums = self.scores(b, &keys, queries);
            let context = (self.source, &self.extents, &self.place);
            let weights = queries.iter().zip(sums).map(|((_, query), s)| query.softmax(b, context, [key, s], LANES));
            let weights: Vec<Weights<'k>> = weights.collect();
            self.outputs(b, (key, &keys), queries, &weights);
        });
    }

    fn scores(&mut self, b: &mut Block<'k>, keys: &[Val<'k>], queries: &Queries<'k>) -> Vec<Val<'k>> {
        let arena = self.shader.arena();
        let sums: Vec<Val<'k>> =
            (0..self.unstaged.queries).map(|m| b.var(format!("s{m}"), arena.construct(VECTOR, &[]))).collect();
        b.range("depth", arena.u32(0), self.extents.depth, LANES, |b, depth| {
            let keys = keys.iter().zip(0..).map(|(&key, j)| {
                let value = self.load(Input::Key, [depth, key], None);
                b.bind(format!("k{j}"), value)
            });
            let keys: Vec<Val<'k>> = keys.collect();
            for ((m, &sum), &(query, _)) in sums.iter().enumerate().zip(queries) {
                let query = self.load(Input::Query, [depth, query], None);
                let query = b.bind(format!("q{m}"), query);
                let products: Vec<Val<'k>> = keys.iter().map(|&key| query.dot(key)).collect();
                b.set(sum, sum + arena.construct(VECTOR, &products));
            }
        });
        sums
    }

    /// Adds weighted values. Missing values are zero, whatever was loaded.
    fn outputs(
        &mut self,
        b: &mut Block<'k>,
        (key, keys): (Val<'k>, &[Val<'k>]),
        queries: &Queries<'k>,
        weights: &[Weights<'k>],
    ) {
        let last = self.extents.columns() - LANES;
        for i in 0..self.vectors() {
            b.scope(|b| {
                let column = b.bind("column", self.shader.u32(i * LANES).min(last));
                let mut values = vec![];
                for (&inside, j) in keys.iter().zip(0..) {
                    let exists = four_keys::exists(self.source, &self.extents, key + j, LANES);
                    let value = self.load(Input::Value, [inside, column], exists);
                    values.push(b.bind(format!("v{j}"), value));
                }
                for ((_, query), &weights) in queries.iter().zip(weights) {
                    query.add_outputs(b, weights, i, &values);
                }
            });
        }
    }

    fn store(&self, b: &mut Block<'k>, queries: &Queries<'k>) {
        let (extents, batch) = (&self.extents, self.place.batch);
        for (m, (_, query)) in queries.iter().enumerate() {
            if self.source.stores_rows() {
                call_finish_numbers(b, extents, [batch, query.row], [query.largest, query.total]);
            }
            let factor = b.bind(format!("factor{m}"), normalizer(query.total).splat(LANES));
            for (&output, i) in query.outputs.iter().zip(0..) {
                let column = self.shader.u32(i * LANES);
                b.run(finish_call("finish", &extents.axes, [batch, query.row, column], &[output * factor]));
            }
        }
    }
}
