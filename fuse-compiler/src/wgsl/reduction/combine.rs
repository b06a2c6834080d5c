//! States across the invocations that share a row: every one of them gets the result.
//!
//! Invocations of one subgroup exchange states directly where the schedule uses subgroups. What is left is taken together
//! in workgroup memory: the states of a workgroup's subgroups, or those of all its invocations as a tree.

use fuse_artifact::{DType, schedule::ReductionOrder};

use super::{
    Text,
    state::{ReductionState, from_bits, to_bits},
};
use crate::wgsl::builtins::vector_type;

/// Bytes of workgroup memory that every WebGPU adapter has.
const WORKGROUP_BYTES: u32 = 16 * 1024;

/// A state and the names of this invocation's words of it.
pub(super) struct Partial {
    pub state: ReductionState,
    pub words: Vec<String>,
}

impl Text<'_> {
    /// Takes together the states of all invocations of a row; the names of the results start with `tag`.
    pub(super) fn combine(&mut self, partials: Vec<Partial>, tag: &str) -> Vec<Vec<String>> {
        let schedule = self.frame.schedule;
        if schedule.invocations == 1 {
            return partials.into_iter().map(|partial| partial.words).collect();
        }
        if schedule.subgroups().is_some() && schedule.rows > 1 {
            return partials
                .iter()
                .enumerate()
                .map(|(i, partial)| self.shuffle(partial, &format!("{tag}{i}")))
                .collect();
        }
        let mut results = vec![];
        let mut partials = partials.into_iter().enumerate().peekable();
        // As many at a time as fit the workgroup memory.
        while partials.peek().is_some() {
            let (mut chunk, mut first_slots) = (vec![], vec![]);
            let mut slot = self.free_slots(partials.peek().map_or(0, |(_, partial)| partial.words.len()));
            while let Some((_, partial)) = partials.peek()
                && slot + partial.words.len() <= self.capacity()
            {
                first_slots.push(slot);
                slot += partial.words.len();
                chunk.extend(partials.next());
            }
            self.slots_in_use = slot;
            while self.slots_declared < slot {
                let (entries, lanes) = (self.entries(), self.frame.row_lanes());
                let ty = vector_type(DType::U32, lanes);
                self.shader.workgroup_array(&format!("shared{}", self.slots_declared), &ty, entries, 4 * lanes);
                self.slots_declared += 1;
            }
            if schedule.subgroups().is_some() {
                results.extend(self.across_subgroups(&chunk, &first_slots, tag));
            } else {
                results.extend(self.tree(&chunk, &first_slots, tag));
            }
        }
        results
    }

    /// Entries of an array in workgroup memory.
    fn entries(&self) -> u32 {
        let workgroup = self.frame.schedule.workgroup();
        workgroup.div_ceil(self.frame.schedule.subgroups().unwrap_or(1))
    }

    /// How many arrays fit.
    fn capacity(&self) -> usize {
        (WORKGROUP_BYTES / (self.entries() * 4 * self.frame.row_lanes())).max(2) as usize
    }

    /// The first of `words` free arrays; if none are left, all are free again behind a barrier.
    fn free_slots(&mut self, words: usize) -> usize {
        if self.slots_in_use + words > self.capacity() {
            self.main.line("workgroupBarrier();");
            self.slots_in_use = 0;
        }
        self.slots_in_use
    }

    /// Rows that lie inside subgroups.
    fn shuffle(&mut self, partial: &Partial, tag: &str) -> Vec<String> {
        let mut words = partial.words.clone();
        let mut distance = self.frame.schedule.invocations / 2;
        while distance > 0 {
            let mut others = vec![];
            for (w, word) in words.iter().enumerate() {
                others.push(format!("{tag}_{w}_from{distance}"));
                self.main.line(format!("let {} = subgroupShuffleXor({word}, {distance}u);", others[w]));
            }
            let merged = partial.state.merge(&words, &others);
            for (w, word) in merged.iter().enumerate() {
                self.main.line(format!("let {tag}_{w}_by{distance} = {word};"));
            }
            words = (0..merged.len()).map(|w| format!("{tag}_{w}_by{distance}")).collect();
            distance /= 2;
        }
        words
    }

    /// One row per workgroup: subgroups first, then their states, in every subgroup.
    fn across_subgroups(&mut self, chunk: &[(usize, Partial)], slots: &[usize], tag: &str) -> Vec<Vec<String>> {
        let mut of_subgroup = vec![];
        for (i, partial) in chunk {
            of_subgroup.push(partial.state.of_subgroup(&mut self.main, &partial.words, &format!("{tag}{i}_part")));
        }
        self.main.line("if subgroup_lane == 0u {");
        for (((_, partial), words), slot) in chunk.iter().zip(&of_subgroup).zip(slots) {
            for (w, (word, dtype)) in words.iter().zip(partial.state.words()).enumerate() {
                self.main.line(format!("shared{}[subgroup] = {};", slot + w, to_bits(dtype, 1, word)));
            }
        }
        self.main.line("}");
        self.main.line("workgroupBarrier();");
        for (i, partial) in chunk {
            for (w, neutral) in partial.state.neutral(1).into_iter().enumerate() {
                self.main.line(format!("var {tag}{i}_{w}_each = {neutral};"));
            }
        }
        self.main.line("for (var other = subgroup_lane; other < subgroups; other += subgroup_size) {");
        let mut each = vec![];
        for ((i, partial), slot) in chunk.iter().zip(slots) {
            let names: Vec<String> = (0..partial.words.len()).map(|w| format!("{tag}{i}_{w}_each")).collect();
            let loaded = self.read_shared(partial, *slot, "other");
            self.merge_into(partial.state, &names, &loaded);
            each.push(names);
        }
        self.main.line("}");
        let results = chunk.iter().zip(&each);
        results
            .map(|((i, partial), words)| partial.state.of_subgroup(&mut self.main, words, &format!("{tag}{i}_all")))
            .collect()
    }

    /// A tree in workgroup memory; any number of invocations per row.
    fn tree(&mut self, chunk: &[(usize, Partial)], slots: &[usize], tag: &str) -> Vec<Vec<String>> {
        let lanes = self.frame.row_lanes();
        let schedule = self.frame.schedule;
        // Neighbors in the tree are as far apart in the array as in the workgroup.
        let (apart, first) = match schedule.order {
            ReductionOrder::Rows { .. } => (1, "local - lane"),
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => (schedule.rows / schedule.lanes, "unit"),
        };
        for ((_, partial), slot) in chunk.iter().zip(slots) {
            for (w, (word, dtype)) in partial.words.iter().zip(partial.state.words()).enumerate() {
                self.main.line(format!("shared{}[local] = {};", slot + w, to_bits(dtype, lanes, word)));
            }
        }
        let mut left = schedule.invocations;
        while left > 1 {
            let half = left.div_ceil(2);
            self.main.line("workgroupBarrier();");
            self.main.line(format!("if lane < {}u {{", left - half));
            for ((_, partial), slot) in chunk.iter().zip(slots) {
                let own = self.read_shared(partial, *slot, "local");
                let other = self.read_shared(partial, *slot, &format!("local + {}u", half * apart));
                let merged = partial.state.merge(&own, &other);
                let dtypes = partial.state.words();
                // All words are read before the first is written.
                for (w, word) in merged.iter().enumerate() {
                    self.main.line(format!("let merged{}_{w} = {word};", slot));
                }
                for (w, dtype) in dtypes.into_iter().enumerate() {
                    let bits = to_bits(dtype, lanes, &format!("merged{slot}_{w}"));
                    self.main.line(format!("shared{}[local] = {bits};", slot + w));
                }
            }
            self.main.line("}");
            left = half;
        }
        self.main.line("workgroupBarrier();");
        let mut results = vec![];
        for ((i, partial), slot) in chunk.iter().zip(slots) {
            let names: Vec<String> = (0..partial.words.len()).map(|w| format!("{tag}{i}_{w}_all")).collect();
            for (name, word) in names.iter().zip(self.read_shared(partial, *slot, first)) {
                self.main.line(format!("let {name} = {word};"));
            }
            results.push(names);
        }
        results
    }

    /// The words of a state in workgroup memory.
    fn read_shared(&self, partial: &Partial, slot: usize, at: &str) -> Vec<String> {
        let lanes = self.frame.row_lanes();
        let words = partial.state.words().into_iter().enumerate();
        words.map(|(w, dtype)| from_bits(dtype, lanes, &format!("shared{}[{at}]", slot + w))).collect()
    }

    /// Writes statements that take the state `words` into the variables `names`.
    pub(super) fn merge_into(&mut self, state: ReductionState, names: &[String], words: &[String]) {
        let merged = state.merge(names, words);
        if let [only] = &merged[..] {
            self.main.line(format!("{} = {only};", names[0]));
            return;
        }
        // All words are computed before the first changes.
        for (name, word) in names.iter().zip(&merged) {
            self.main.line(format!("let next_{name} = {word};"));
        }
        for name in names {
            self.main.line(format!("{name} = next_{name};"));
        }
    }
}
