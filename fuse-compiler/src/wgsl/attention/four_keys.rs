//! Loads and online softmax in steps of four keys, for invocations that read their own keys.

use fuse_artifact::schedule::LANES;

use super::{Extents, Input, Place, Source, VECTOR, component_sum, largest_component, reference, score::score};
use crate::{
    kernel::{Block, Val},
    wgsl::{operand::read, shader::Shader, stage::is_multiple},
};

/// Online-softmax state of a query: maximum score, sum of exponentials, weighted sums of values.
pub(super) struct Query<'k> {
    m: u32,
    pub(super) row: Val<'k>,
    pub(super) largest: Val<'k>,
    pub(super) total: Val<'k>,
    pub(super) outputs: Vec<Val<'k>>,
}

/// Exponentials of a query's scores of four keys, and its outputs' rescaling factor.
#[derive(Clone, Copy)]
pub(super) struct Weights<'k> {
    weights: Val<'k>,
    scale: Val<'k>,
}

/// Loads four elements of an input, or zeros where `exists` is false. `step` (along the reduced axis) and `outer` must
/// be inside the input.
pub(super) fn load<'k>(
    shader: &mut Shader<'k>,
    (source, extents): (Source<'_>, &Extents<'k>),
    input: Input,
    [step, outer]: [Val<'k>; 2],
    exists: Option<Val<'k>>,
) -> Val<'k> {
    let operand = source.operand(input);
    let place = if input == Input::Query { [outer, step] } else { [step, outer] };
    let at: Vec<Val<'k>> = extents.axes.batch().into_iter().chain(place).collect();
    let value = read(shader, &operand, &at);
    let zero = shader.arena().construct(value.ty(), &[]);
    exists.map_or(value, |exists| exists.select(value, zero))
}

/// The condition that a key exists; `None` if it always does in such steps.
pub(super) fn exists<'k>(source: Source<'_>, extents: &Extents<'k>, key: Val<'k>, step: u32) -> Option<Val<'k>> {
    (!is_multiple(&source.attention.keys, step)).then(|| key.lt(extents.keys()))
}

impl<'k> Query<'k> {
    pub(super) fn declare(b: &mut Block<'k>, place: &Place<'k>, [m, vectors]: [u32; 2], row: Val<'k>) -> Self {
        let arena = row.arena();
        let largest = b.var(format!("largest{m}"), place.negative_infinity);
        let total = b.var(format!("total{m}"), arena.f32(0.0));
        let outputs = (0..vectors).map(|i| b.var(format!("o{m}_{i}"), arena.construct(VECTOR, &[])));
        Self { m, row, largest, total, outputs: outputs.collect() }
    }

    /// Updates the state with `s`, the products of the query and the four keys from `key` on.
    pub(super) fn softmax(
        &self,
        b: &mut Block<'k>,
        (source, extents, place): (Source<'_>, &Extents<'k>, &Place<'k>),
        [key, s]: [Val<'k>; 2],
        step: u32,
    ) -> Weights<'k> {
        let Self { m, row, largest, total, .. } = *self;
        b.set(s, score(extents, [row, key], s));
        if !is_multiple(&source.attention.keys, step) {
            b.set(s, extents.four_exist(key).select(s, place.negative_infinity.splat(LANES)));
        }
        let larger = b.bind(format!("larger{m}"), largest.max(largest_component(s)));
        let reference = b.bind(format!("reference{m}"), reference(larger));
        let scale = b.bind(format!("scale{m}"), (largest - reference).exp());
        let weights = b.bind(format!("weights{m}"), (s - reference.splat(LANES)).exp());
        b.set(largest, larger);
        b.set(total, total * scale + component_sum(weights));
        Weights { weights, scale }
    }

    pub(super) fn add_outputs(
        &self,
        b: &mut Block<'k>,
        Weights { weights, scale }: Weights<'k>,
        i: u32,
        values: &[Val<'k>],
    ) {
        let output = self.outputs[i as usize];
        b.set(output, output * scale.splat(LANES));
        for (&value, j) in values.iter().zip(0..) {
            b.set(output, weights.lane(j).splat(LANES).fma(value, output));
        }
    }
}
