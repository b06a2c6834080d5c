//! Rounds runs of left operands to 8 bits in workgroup memory, and multiplies them with weights as integers.
//!
//! The 32 depths of a run share a scale, 1/127 of their largest magnitude: a rounded value errs by at most 1/254 of
//! that magnitude (and half a unit in the last place of `f32`). Integer sums are exact.
//!
//! A shift and a mask turn weight codes into bytes; the codes in a word then come from nonadjacent depths. The left
//! operand's codes are stored in that order ([`depth`]).

use std::ops::Add;

use fuse_artifact::schedule::LANES;

use super::{element, runs::Runs};
use crate::{
    kernel::{Block, Scalar, Ty, Val},
    wgsl::{
        shader::Shader,
        weights::{PackedWeights, RUN, Run, Scale, WeightColumn, dot_bytes},
    },
};

const WORDS: u32 = RUN / 4;

/// Smallest magnitude whose scale is a normal number: devices may flush others to zero.
const SMALLEST: f32 = 127.0 * f32::MIN_POSITIVE;

/// 1.5·2^23: added to a number up to 2^22 in magnitude, it leaves the nearest integer in the sum's lowest bits, in
/// two's complement. An integer added to its bits adds that integer to the float. Conversion instructions take longer.
const MAGIC: (f32, i32) = (12_582_912.0, 0x4b40_0000);

/// Values whose codes are unpacked together: those of a word, or of 24 bits for 3-bit codes.
const fn unit(bits: u32) -> u32 {
    if bits == 3 { 8 } else { 32 / bits }
}

/// The depth in a run whose code is byte `lane` of a word.
const fn depth(bits: u32, word: u32, lane: u32) -> u32 {
    let words = unit(bits) / 4;
    word / words * unit(bits) + word % words + lane * words
}

pub(super) struct Round<'k> {
    count: u32,
    /// Codes, in vectors of four words.
    codes: Val<'k>,
    /// Scale and sum of values, by run.
    scales: Val<'k>,
    /// The weights' group, by run and operand.
    groups: Vec<Val<'k>>,
    pub depths: [Val<'k>; 2],
}

/// A run of the left operand: vectors of codes, scale, and sum of values.
pub(super) struct RoundedRun<'k> {
    words: [Val<'k>; 2],
    scale: Val<'k>,
    sum: Val<'k>,
}

impl<'k> Round<'k> {
    /// Loops over the depth; an iteration holds some values in workgroup memory, in the order in which weights of this
    /// many bits are unpacked. With a product's accumulators they take 10 KiB for 256 invocations.
    pub(super) fn each(
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        runs: &Runs<'_, 'k>,
        invocations: u32,
        body: impl FnOnce(&mut Shader<'k>, &mut Block<'k>, &Self),
    ) {
        // An invocation rounds one run, but the runs of all 256 and the accumulators of two products would exceed every
        // adapter's workgroup memory.
        let count = invocations / 2;
        // Halves of a run are apart, so that neighboring invocations read neighboring vectors.
        let codes = shader.workgroup_array("a_codes", Ty::vector(Scalar::U32, 4), 2 * count);
        let scales = shader.workgroup_array("a_scales", Ty::vector(Scalar::F32, 2), count);
        let group =
            |weights: &PackedWeights<'_>| shader.workgroup_array(&format!("{}_groups", weights.name()), Ty::U32, count);
        let groups = runs.weights.iter().map(group).collect();
        let [begin, end] = runs.place.depths;
        b.range("held", begin, end, count * RUN, |b, held| {
            let held_end = b.bind("held_end", (held + count * RUN).min(end));
            let round = Self { count, codes, scales, groups, depths: [held, held_end] };
            // Others may still read the previous values.
            b.workgroup_barrier();
            round.fill(shader, b, runs);
            b.workgroup_barrier();
            body(shader, b, &round);
        });
    }

    fn fill(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, runs: &Runs<'_, 'k>) {
        let (arena, local) = (shader.arena(), shader.local());
        let [held, held_end] = self.depths;
        let rounded = b.bind("rounded", held + local * RUN);
        b.when(local.lt(self.count).and(rounded.lt(held_end)), |b| {
            let x = runs.read_vectors(shader, b, 0, rounded, RUN / LANES);
            let magnitudes = x.iter().map(|x| x.call("abs", &[]));
            let largest = magnitudes.reduce(|most, x| most.max(x)).expect("a run has vectors");
            let largest = b.bind("largest4", largest);
            let largest = largest.lane(0).max(largest.lane(1)).max(largest.lane(2).max(largest.lane(3)));
            let largest = b.bind("largest", largest);
            let to_codes = largest.ge(arena.f32(SMALLEST)).select(arena.f32(127.0) / largest, arena.f32(0.0));
            let to_codes = b.bind("to_codes", to_codes);
            let ones = b.bind("ones", shader.u32(0x0101_0101));
            let sum = b.var("sum_of_codes", arena.i32(0));
            for half in 0..2 {
                let words: Vec<Val<'k>> = (WORDS / 2 * half..WORDS / 2 * (half + 1))
                    .map(|word| codes(&x, to_codes, runs.weights[0].bits(), word))
                    .collect();
                b.scope(|b| {
                    let codes = b.bind("codes", arena.construct(Ty::vector(Scalar::U32, 4), &words));
                    for word in 0..4 {
                        b.set(sum, sum + dot_bytes(codes.lane(word), ones));
                    }
                    b.set(self.codes.at(local + half * self.count), codes);
                });
            }
            let scale = b.bind("scale", largest * arena.f32(1.0 / 127.0));
            let sum = scale * sum.convert(Scalar::F32);
            b.set(self.scales.at(local), arena.construct(Ty::vector(Scalar::F32, 2), &[scale, sum]));
            for (weights, groups) in runs.weights.iter().zip(&self.groups) {
                b.set(groups.at(local), weights.group(shader, rounded));
            }
        });
    }

    /// Binds the position of the run at `k`, and the indices of its groups.
    pub(super) fn locate(&self, b: &mut Block<'k>, runs: &Runs<'_, 'k>, k: Val<'k>) -> (Val<'k>, Vec<Val<'k>>) {
        let run = b.bind("run", (k - self.depths[0]) / RUN);
        let groups = runs.weights.iter().zip(&self.groups);
        let groups = groups.map(|(weights, groups)| b.bind(format!("{}_group", weights.name()), groups.at(run)));
        (run, groups.collect())
    }

    pub(super) fn read(&self, b: &mut Block<'k>, run: Val<'k>) -> RoundedRun<'k> {
        let words = [0, 1].map(|half| b.bind(format!("x{half}"), self.codes.at(run + half * self.count)));
        let [scale, sum] =
            [("x_scale", 0), ("x_sum", 1)].map(|(name, part)| b.bind(name, self.scales.at(run).lane(part)));
        RoundedRun { words, scale, sum }
    }
}

fn codes<'k>(x: &[Val<'k>], to_codes: Val<'k>, bits: u32, word: u32) -> Val<'k> {
    let arena = to_codes.arena();
    let value = |lane| element(x, depth(bits, word, lane));
    let values = arena.construct(Ty::vector(Scalar::F32, 4), &[0, 1, 2, 3].map(value));
    let rounded = values.fma(to_codes.splat(4), arena.f32(MAGIC.0).splat(4));
    arena.call("pack4xU8", &[rounded.bitcast(Scalar::U32)], Ty::U32)
}

impl<'k> RoundedRun<'k> {
    pub(super) fn add(
        &self,
        b: &mut Block<'k>,
        column: &WeightColumn<'_, 'k>,
        (run, Scale { scale, offset }): (&Run<'k>, Scale<'k>),
        sum: Val<'k>,
    ) {
        let WeightColumn { weights, name, .. } = column;
        let (arena, bits, lanes) = (sum.arena(), weights.bits(), weights.lanes());
        let units: Vec<Val<'k>> =
            (0..RUN / unit(bits)).map(|i| b.bind(format!("{name}_unit{i}"), column.unit(run, i))).collect();
        let mut products = [vec![], vec![]];
        for word in 0..WORDS {
            let bytes = b.bind(format!("{name}_bytes{word}"), bytes(&units, bits, word));
            let product = weights.integer_dot(bytes, element(&self.words, word));
            products[usize::from(has_pairs(bits) && word % 2 == 1)].push(product);
        }
        let magic = arena.i32(MAGIC.1).splat(lanes);
        let [first, second] = products.map(Vec::into_iter);
        let (sums, of_unit) = match first.clone().reduce(Add::add).filter(|_| has_pairs(bits)) {
            Some(sum) => (second.fold(magic + sum * arena.i32(1 << bits), Add::add), 1.0 / (1u32 << bits) as f32),
            None => (first.fold(magic, Add::add), 1.0),
        };
        let products = sums.bitcast(Scalar::F32) - arena.f32(MAGIC.0);
        let products = b.bind(format!("{name}_products"), products * (self.scale * arena.f32(of_unit)));
        let offset = if bits == 8 { scale.fma(arena.f32(128.0).splat(lanes), offset) } else { offset };
        b.set(sum, products.fma(scale, self.sum.splat(lanes).fma(offset, sum)));
    }
}

/// True if words come in pairs that share a shift. Codes of the second word are higher, so its products are multiples
/// of 2^bits. With 4 bits they would be negative bytes.
const fn has_pairs(bits: u32) -> bool {
    bits < 4
}

/// Weight codes as signed bytes: 8-bit codes minus 128, codes of a pair's second word times 2^bits.
fn bytes<'k>(units: &[Val<'k>], bits: u32, word: u32) -> Val<'k> {
    let words = unit(bits) / 4;
    let (unit, first) = (units[(word / words) as usize], word % words * bits);
    let above = if has_pairs(bits) { word % 2 * bits } else { 0 };
    let shifted = if first == above { unit } else { unit >> (first - above) };
    match bits {
        8 => shifted ^ 0x8080_8080,
        _ => shifted & ((0x0101_0101 * ((1u32 << bits) - 1)) << above),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_depth_of_a_run_has_one_byte() {
        for bits in [8, 4, 3, 2, 1] {
            let mut depths: Vec<u32> =
                (0..WORDS).flat_map(|word| (0..4).map(move |lane| depth(bits, word, lane))).collect();
            depths.sort_unstable();
            assert_eq!(depths, (0..RUN).collect::<Vec<_>>(), "{bits} bits");
        }
    }
}
