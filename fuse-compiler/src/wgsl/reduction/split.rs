//! Rows that several workgroups share: states in the scratch buffer.

use std::collections::BTreeSet;

use fuse_artifact::{DType, Slot, Uniform};

use super::{
    Part, Text,
    combine::Partial,
    state::{from_bits, to_bits},
};
use crate::fusion::body::{ValueId, ValueOp};

impl Text<'_> {
    /// The scratch buffer, and the index of a word of a part of this row.
    fn scratch_word(&mut self, word: u32, part: &str) -> String {
        let lanes = self.frame.row_lanes();
        // The last pass only reads.
        let writable = self.part != Part::Stage(self.frame.last_stage());
        let scratch = self.shader.buffer(Slot::Scratch, DType::U32, lanes, writable);
        let (splits, count) = (self.shader.uniform(Uniform::Splits), self.shader.uniform(Uniform::Count));
        let index = format!("({word}u * {splits} + {part}) * {count} + row");
        if lanes == 1 { format!("{scratch}[{index}]") } else { format!("{scratch}[({index}) / {lanes}u]") }
    }

    /// Writes the states of this workgroup's part of the row.
    pub(super) fn write_scratch(&mut self, reductions: &[ValueId], words: &[Vec<String>]) {
        let lanes = self.frame.row_lanes();
        let guard = self.guard(&["lane == 0u"]).unwrap_or_default();
        let places = self.frame.scratch_words();
        self.main.line(format!("if {guard} {{"));
        for (reduction, words) in reductions.iter().zip(words) {
            let first = places[reduction].0;
            for (w, (word, dtype)) in words.iter().zip(self.frame.state(*reduction).words()).enumerate() {
                let place = self.scratch_word(first + w as u32, "part");
                self.main.line(format!("{place} = {};", to_bits(dtype, lanes, word)));
            }
        }
        self.main.line("}");
    }

    /// Takes together the states of all parts of the row, for the reductions of earlier passes that this one uses.
    pub(super) fn combine_scratch(&mut self, used: &BTreeSet<ValueId>) {
        let Part::Stage(stage) = self.part else { return };
        let lanes = self.frame.row_lanes();
        let is_known = |&&v: &&ValueId| {
            matches!(self.frame.body().values[v].op, ValueOp::Reduce(..)) && self.frame.levels[v].stage <= stage
        };
        let known: Vec<ValueId> = used.iter().filter(is_known).copied().collect();
        let places = self.frame.scratch_words();
        let splits = self.shader.uniform(Uniform::Splits);
        let names = |r: ValueId, words: usize| (0..words).map(move |w| format!("left{r}_{w}")).collect::<Vec<_>>();
        for &reduction in &known {
            let neutral = self.frame.state(reduction).neutral(lanes);
            for (name, neutral) in names(reduction, neutral.len()).iter().zip(neutral) {
                self.main.line(format!("var {name} = {neutral};"));
            }
        }
        self.main.unrollable("other", "lane", &splits, self.frame.schedule.invocations);
        for &reduction in &known {
            let state = self.frame.state(reduction);
            let mut words = vec![];
            for (w, dtype) in state.words().into_iter().enumerate() {
                let place = self.scratch_word(places[&reduction].0 + w as u32, "other");
                words.push(from_bits(dtype, lanes, &place));
            }
            self.merge_into(state, &names(reduction, words.len()), &words);
        }
        self.main.line("}");
        let partial = |&r: &ValueId| {
            let state = self.frame.state(r);
            Partial { state, words: names(r, state.words().len()) }
        };
        let partials = known.iter().map(partial).collect();
        let words = self.combine(partials, "of_parts");
        self.declare_reduced(&known, &words);
    }
}
