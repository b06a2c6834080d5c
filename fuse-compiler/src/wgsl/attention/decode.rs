//! Attention kernels for few queries, bound by reading keys and values once.
//!
//! Groups of neighboring invocations share four keys at a time and read whole rows, a part per invocation. Partial
//! products are added through workgroup memory, so that all invocations of a group have its scores. Each group keeps
//! its own maximum and sums until all are combined at the end.

use fuse_artifact::{
    Grid, Pass,
    schedule::{DECODE_GROUPS, DECODE_KEYS, DECODE_LANES, DECODE_SPAN, Decode, LANES},
};

use super::{
    Extents, Input, Place, Source, VECTOR, begin,
    four_keys::{self, Query},
    locate,
    output::{call_finish_numbers, call_finish_row, normalizer},
    reference,
};
use crate::{
    kernel::{Arena, Block, Scalar, Ty, Val},
    wgsl::{epilogue::finish_call, names::Names, shader::Shader},
};

const INVOCATIONS: u32 = DECODE_GROUPS * DECODE_LANES;

/// Vectors of columns that an invocation combines at once.
const COMBINED: u32 = 2;

pub(super) fn pass(source: Source<'_>, names: &Names, decode: Decode) -> Pass {
    let arena = Arena::default();
    let (mut shader, extents) = begin(&arena, source, names);
    // Double-buffered: one barrier per step suffices.
    let parts = shader.workgroup_array("parts", VECTOR, 2 * decode.queries * INVOCATIONS);
    let pair = Ty::vector(Scalar::F32, 2);
    let group_rows = shader.workgroup_array("group_rows", pair, decode.queries * DECODE_GROUPS);
    let mut b = Block::new();
    let place = locate(&source.walk(), &mut shader, &extents, &mut b, [decode.queries, DECODE_KEYS], false);
    let lane = b.bind("lane", shader.local() % DECODE_LANES);
    let group = b.bind("group", shader.local() / DECODE_LANES);
    let mut kernel = DecodeKernel { shader, source, decode, extents, place, parts, group_rows, lane, group };
    let depths = kernel.elements(&mut b, "depth", decode.depth, extents.depth);
    let columns = kernel.elements(&mut b, "column", decode.columns, extents.columns());
    let queries = kernel.prepare(&mut b, &depths, columns.len() as u32);
    kernel.walk(&mut b, &queries, &depths, &columns);
    kernel.combine(&mut b, &queries, &columns);
    let mut shader = kernel.shader;
    shader.main = b;
    shader.finish(Grid::Tiles { rows: decode.queries, columns: decode.columns }, INVOCATIONS)
}

struct DecodeKernel<'k> {
    shader: Shader<'k>,
    source: Source<'k>,
    decode: Decode,
    extents: Extents<'k>,
    place: Place<'k>,
    /// Workgroup memory for partial products, and for each group and query's maximum and sum of exponentials.
    parts: Val<'k>,
    group_rows: Val<'k>,
    lane: Val<'k>,
    group: Val<'k>,
}

type Elements<'k> = Vec<[Val<'k>; 2]>;

type Queries<'k> = Vec<(Vec<Val<'k>>, Query<'k>)>;

impl<'k> DecodeKernel<'k> {
    fn load(&mut self, input: Input, at: [Val<'k>; 2], exists: Option<Val<'k>>) -> Val<'k> {
        four_keys::load(&mut self.shader, (self.source, &self.extents), input, at, exists)
    }

    fn elements(&self, b: &mut Block<'k>, name: &str, count: u32, extent: Val<'k>) -> Elements<'k> {
        let element = |i: u32| {
            let at = b.bind(format!("{name}{i}"), (self.shader.u32(i * DECODE_LANES) + self.lane) * LANES);
            [at, b.bind(format!("inside_{name}{i}"), at.min(extent - LANES))]
        };
        (0..count / DECODE_SPAN).map(element).collect()
    }

    /// The condition that a depth exists; `None` if it always does.
    fn depth_exists(&self, depth: Val<'k>) -> Option<Val<'k>> {
        let always = self.source.attention.depth.as_constant() == Some(self.decode.depth.into());
        (!always).then(|| depth.lt(self.extents.depth))
    }

    fn prepare(&mut self, b: &mut Block<'k>, depths: &Elements<'k>, columns: u32) -> Queries<'k> {
        let mut queries = vec![];
        for m in 0..self.decode.queries {
            let row = self.place.row0 + m;
            let query = b.bind(format!("query{m}"), row.min(self.extents.queries() - 1));
            let mut elements = vec![];
            for (i, &[depth, inside]) in depths.iter().enumerate() {
                let value = self.load(Input::Query, [inside, query], self.depth_exists(depth));
                elements.push(b.bind(format!("q{m}_{i}"), value));
            }
            queries.push((elements, Query::declare(b, &self.place, [m, columns], row)));
        }
        queries
    }

    fn walk(&mut self, b: &mut Block<'k>, queries: &Queries<'k>, depths: &Elements<'k>, columns: &Elements<'k>) {
        let arena = self.shader.arena();
        let Place { key_begin, key_end, .. } = self.place;
        let turn = b.var("turn", arena.u32(0));
        b.range("k0", key_begin, key_end, DECODE_KEYS, |b, k0| {
            let key = b.bind("key", k0 + self.group * LANES);
            let (mut places, mut keys, mut values) = (vec![], vec![], vec![]);
            for j in 0..LANES {
                let inside_key = b.bind(format!("key{j}"), (key + j).min(self.extents.keys() - 1));
                places.push(inside_key);
                let of_key = depths.iter().enumerate().map(|(i, &[depth, inside])| {
                    let value = self.load(Input::Key, [inside, inside_key], self.depth_exists(depth));
                    b.bind(format!("k{j}_{i}"), value)
                });
                keys.push(of_key.collect::<Vec<_>>());
            }
            for (&inside_key, j) in places.iter().zip(0..) {
                let of_key = columns.iter().enumerate().map(|(i, &[_, inside])| {
                    let exists = four_keys::exists(self.source, &self.extents, key + j, DECODE_KEYS);
                    let value = self.load(Input::Value, [inside_key, inside], exists);
                    b.bind(format!("v{j}_{i}"), value)
                });
                values.push(of_key.collect::<Vec<_>>());
            }
            let parts = |m: u32| (turn * self.decode.queries + m) * INVOCATIONS;
            for ((query, _), m) in queries.iter().zip(0..) {
                let product = |key: &Vec<Val<'k>>| {
                    let terms = query.iter().zip(key).map(|(&query, &key)| query.dot(key));
                    terms.reduce(|x, y| x + y).expect("there is some depth")
                };
                let products: Vec<Val<'k>> = keys.iter().map(product).collect();
                b.set(self.parts.at(parts(m) + self.shader.local()), arena.construct(VECTOR, &products));
            }
            b.workgroup_barrier();
            for ((_, query), m) in queries.iter().zip(0..) {
                let s = b.var(format!("s{m}"), arena.construct(VECTOR, &[]));
                b.unrollable("x", arena.u32(0), arena.u32(DECODE_LANES), 1, |b, x| {
                    b.set(s, s + self.parts.at(parts(m) + self.group * DECODE_LANES + x));
                });
                let context = (self.source, &self.extents, &self.place);
                let weights = query.softmax(b, context, [key, s], DECODE_KEYS);
                for i in 0..columns.len() {
                    let values: Vec<Val<'k>> = values.iter().map(|of_key| of_key[i]).collect();
                    query.add_outputs(b, weights, i as u32, &values);
                }
            }
            b.set(turn, arena.u32(1) - turn);
        });
    }

    fn combine(&mut self, b: &mut Block<'k>, queries: &Queries<'k>, columns: &Elements<'k>) {
        let (arena, source, pair) = (self.shader.arena(), self.source, Ty::vector(Scalar::F32, 2));
        b.when(self.lane.eq(0), |b| {
            for ((_, Query { largest, total, .. }), m) in queries.iter().zip(0..) {
                let at = arena.u32(m * DECODE_GROUPS) + self.group;
                b.set(self.group_rows.at(at), arena.construct(pair, &[*largest, *total]));
            }
        });
        b.workgroup_barrier();
        let mut factors = vec![];
        for ((_, query), m) in queries.iter().zip(0..) {
            let each_group = |b: &mut Block<'k>, add: &dyn Fn(&mut Block<'k>, Val<'k>)| {
                b.unrollable("x", arena.u32(0), arena.u32(DECODE_GROUPS), 1, |b, x| {
                    add(b, self.group_rows.at(arena.u32(m * DECODE_GROUPS) + x));
                });
            };
            let most = b.var(format!("most{m}"), self.place.negative_infinity);
            each_group(b, &|b, group| b.set(most, most.max(group.lane(0))));
            let common = b.bind(format!("common{m}"), reference(most));
            let sum = b.var(format!("sum{m}"), arena.f32(0.0));
            each_group(b, &|b, group| b.set(sum, sum + group.lane(1) * (group.lane(0) - common).exp()));
            let weight = (query.largest - common).exp();
            let is_split = source.scheduled.schedule.is_split();
            let factor = if is_split { weight } else { weight * normalizer(sum) };
            factors.push(b.bind(format!("factor{m}"), factor));
            let place = [self.place.batch, query.row];
            if is_split {
                b.when(self.shader.local().eq(0), |b| call_finish_row(b, place, [most, sum]));
            }
            if source.stores_rows() {
                b.when(self.shader.local().eq(0), |b| call_finish_numbers(b, &self.extents, place, [most, sum]));
            }
        }
        for (round, columns) in columns.chunks(COMBINED as usize).enumerate() {
            if round > 0 {
                b.workgroup_barrier();
            }
            let mut outputs = vec![];
            for ((_, query), factor) in queries.iter().zip(&factors) {
                for (&[column, _], output) in columns.iter().zip(&query.outputs[round * COMBINED as usize..]) {
                    outputs.push(([self.place.batch, query.row, column], *output * factor.splat(LANES)));
                }
            }
            self.round(b, round, &outputs);
        }
    }

    fn round(&mut self, b: &mut Block<'k>, round: usize, outputs: &[([Val<'k>; 3], Val<'k>)]) {
        let arena = self.shader.arena();
        for (&(_, output), number) in outputs.iter().zip(0..) {
            b.set(self.parts.at(arena.u32(number * INVOCATIONS) + self.shader.local()), output);
        }
        b.workgroup_barrier();
        let store = |b: &mut Block<'k>, number: u32| {
            let output = b.var("output", arena.construct(VECTOR, &[]));
            b.unrollable("x", arena.u32(0), arena.u32(DECODE_GROUPS), 1, |b, x| {
                let part = arena.u32(number * INVOCATIONS) + x * DECODE_LANES + self.lane;
                b.set(output, output + self.parts.at(part));
            });
            b.run(finish_call("finish", &self.extents.axes, outputs[number as usize].0, &[output]));
        };
        let cases = (0..outputs.len() as u32).map(|number| Block::of(|b| store(b, number))).collect();
        self.shader.branch(b, self.group, &format!("store{round}_"), cases, false);
    }
}
