//! Split rows: workgroups share them through states in the scratch buffer.

use std::collections::BTreeSet;

use fuse_artifact::{DType, Slot, Uniform};

use super::{
    Part, ReductionKernel,
    combine::{Partial, merge_into},
    state::{from_bits, to_bits},
};
use crate::{
    fusion::body::{ValueId, ValueOp},
    kernel::{Block, Val},
};

impl<'k> ReductionKernel<'_, 'k> {
    fn scratch_word(&mut self, word: u32, part: Val<'k>) -> Val<'k> {
        let lanes = self.frame.row_lanes();
        // The last pass only reads.
        let writable = self.part != Part::Stage(self.frame.last_stage());
        let scratch = self.shader.buffer(Slot::Scratch, DType::U32, lanes, writable);
        let (splits, count) = (self.shader.uniform(Uniform::Splits), self.shader.uniform(Uniform::Count));
        scratch.at(((self.shader.u32(word) * splits + part) * count + self.at.row) / lanes)
    }

    pub(super) fn write_scratch(&mut self, b: &mut Block<'k>, reductions: &[ValueId], words: &[Vec<Val<'k>>]) {
        let guard = self.guard(&[self.at.lane.eq(0)]);
        let part = self.at.part.expect("a pass that writes states has a part of the row");
        let places = self.frame.scratch_words();
        b.when_some(guard, |b| {
            for (reduction, words) in reductions.iter().zip(words) {
                for (w, &word) in (places[reduction].0..).zip(words) {
                    let place = self.scratch_word(w, part);
                    b.set(place, to_bits(word));
                }
            }
        });
    }

    pub(super) fn combine_scratch(&mut self, b: &mut Block<'k>, used: &BTreeSet<ValueId>) {
        let Part::Stage(stage) = self.part else { return };
        let frame = self.frame;
        let lanes = frame.row_lanes();
        let is_known =
            |&&v: &&ValueId| matches!(frame.body().values[v].op, ValueOp::Reduce(..)) && frame.levels[v].stage <= stage;
        let known: Vec<ValueId> = used.iter().filter(is_known).copied().collect();
        let places = frame.scratch_words();
        let splits = self.shader.uniform(Uniform::Splits);
        let mut partials = vec![];
        for &reduction in &known {
            let state = frame.state(reduction);
            let neutral = state.neutral(self.shader.arena(), lanes).into_iter().enumerate();
            let words = neutral.map(|(w, neutral)| b.var(format!("left{reduction}_{w}"), neutral)).collect();
            partials.push(Partial { state, words });
        }
        b.unrollable("other", self.at.lane, splits, frame.schedule.invocations, |b, other| {
            for (reduction, Partial { state, words }) in known.iter().zip(&partials) {
                let mut loaded = vec![];
                for (w, dtype) in (places[reduction].0..).zip(state.words()) {
                    loaded.push(from_bits(dtype, self.scratch_word(w, other)));
                }
                merge_into(b, *state, words, &loaded);
            }
        });
        let words = self.combine(b, partials, "of_parts");
        self.bind_reduced(b, &known, &words);
    }
}
