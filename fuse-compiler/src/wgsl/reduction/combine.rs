//! Merges states across the invocations of a row; each gets the result.
//!
//! Subgroups exchange states directly if the schedule uses them. Otherwise workgroup memory merges those of a
//! workgroup's subgroups, or of all invocations as a tree.

use fuse_artifact::schedule::ReductionOrder;

use super::{
    ReductionKernel,
    state::{ReductionState, from_bits, to_bits},
};
use crate::{
    fusion::body::ValueId,
    kernel::{Block, Scalar, Ty, Val},
    wgsl::shader::Shader,
};

/// Workgroup memory of every WebGPU adapter, in bytes.
const WORKGROUP_BYTES: u32 = 16 * 1024;

pub(super) struct Partial<'k> {
    pub state: ReductionState,
    pub words: Vec<Val<'k>>,
}

impl<'k> ReductionKernel<'_, 'k> {
    pub(super) fn combine(&mut self, b: &mut Block<'k>, partials: Vec<Partial<'k>>, tag: &str) -> Vec<Vec<Val<'k>>> {
        let schedule = self.frame.schedule;
        if schedule.invocations == 1 {
            return partials.into_iter().map(|partial| partial.words).collect();
        }
        if schedule.subgroups().is_some() && schedule.rows > 1 {
            let partials = partials.iter().enumerate();
            return partials.map(|(i, partial)| self.shuffle(b, partial, &format!("{tag}{i}"))).collect();
        }
        let mut results = vec![];
        let mut partials = partials.into_iter().enumerate().peekable();
        // As many at a time as fit into workgroup memory.
        while partials.peek().is_some() {
            let (mut chunk, mut first_slots) = (vec![], vec![]);
            let mut slot = self.free_slots(b, partials.peek().map_or(0, |(_, partial)| partial.words.len()));
            while let Some((_, partial)) = partials.peek()
                && slot + partial.words.len() <= self.capacity()
            {
                first_slots.push(slot);
                slot += partial.words.len();
                chunk.extend(partials.next());
            }
            self.slots_in_use = slot;
            while self.shared.len() < slot {
                let ty = Ty::vector(Scalar::U32, self.frame.row_lanes());
                let name = format!("shared{}", self.shared.len());
                self.shared.push(self.shader.workgroup_array(&name, ty, self.entries()));
            }
            if schedule.subgroups().is_some() {
                results.extend(self.across_subgroups(b, &chunk, &first_slots, tag));
            } else {
                results.extend(self.tree(b, &chunk, &first_slots, tag));
            }
        }
        results
    }

    fn entries(&self) -> u32 {
        let workgroup = self.frame.schedule.workgroup();
        workgroup.div_ceil(self.frame.schedule.subgroups().unwrap_or(1))
    }

    fn capacity(&self) -> usize {
        (WORKGROUP_BYTES / (self.entries() * 4 * self.frame.row_lanes())).max(2) as usize
    }

    /// The first of `words` free arrays; if none are left, frees all with a barrier.
    fn free_slots(&mut self, b: &mut Block<'k>, words: usize) -> usize {
        if self.slots_in_use + words > self.capacity() {
            b.workgroup_barrier();
            self.slots_in_use = 0;
        }
        self.slots_in_use
    }

    fn shuffle(&self, b: &mut Block<'k>, partial: &Partial<'k>, tag: &str) -> Vec<Val<'k>> {
        let mut words = partial.words.clone();
        let mut distance = self.frame.schedule.invocations / 2;
        while distance > 0 {
            let mut others = vec![];
            for (w, word) in words.iter().enumerate() {
                let other = word.call("subgroupShuffleXor", &[self.shader.u32(distance)]);
                others.push(b.bind(format!("{tag}_{w}_from{distance}"), other));
            }
            let merged = partial.state.merge(&words, &others).into_iter().enumerate();
            words = merged.map(|(w, word)| b.bind(format!("{tag}_{w}_by{distance}"), word)).collect();
            distance /= 2;
        }
        words
    }

    /// Merges one row per workgroup: in subgroups, then over them, in each.
    fn across_subgroups(
        &self,
        b: &mut Block<'k>,
        chunk: &[(usize, Partial<'k>)],
        slots: &[usize],
        tag: &str,
    ) -> Vec<Vec<Val<'k>>> {
        let subgroup = self.shader.subgroup();
        let mut of_subgroup = vec![];
        for (i, partial) in chunk {
            of_subgroup.push(partial.state.of_subgroup(b, &partial.words, &format!("{tag}{i}_part")));
        }
        b.when(subgroup.lane.eq(0), |b| {
            for (words, slot) in of_subgroup.iter().zip(slots) {
                self.write_shared(b, *slot, subgroup.id, words);
            }
        });
        b.workgroup_barrier();
        let mut each = vec![];
        for (i, partial) in chunk {
            let neutral = partial.state.neutral(self.shader.arena(), 1).into_iter().enumerate();
            each.push(neutral.map(|(w, neutral)| b.var(format!("{tag}{i}_{w}_each"), neutral)).collect::<Vec<_>>());
        }
        b.range("other", subgroup.lane, subgroup.count, subgroup.size, |b, other| {
            for (((_, partial), words), slot) in chunk.iter().zip(&each).zip(slots) {
                let loaded = self.read_shared(partial, *slot, other);
                merge_into(b, partial.state, words, &loaded);
            }
        });
        let results = chunk.iter().zip(&each);
        results.map(|((i, partial), words)| partial.state.of_subgroup(b, words, &format!("{tag}{i}_all"))).collect()
    }

    fn tree(&self, b: &mut Block<'k>, chunk: &[(usize, Partial<'k>)], slots: &[usize], tag: &str) -> Vec<Vec<Val<'k>>> {
        let schedule = self.frame.schedule;
        let (local, lane) = (self.shader.local(), self.at.lane);
        // Tree neighbors are as far apart in the array as in the workgroup.
        let (apart, first) = match schedule.order {
            ReductionOrder::Rows { .. } => (1, local - lane),
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => {
                (schedule.rows / schedule.lanes, self.at.unit.expect("columns have units"))
            }
        };
        for ((_, partial), slot) in chunk.iter().zip(slots) {
            self.write_shared(b, *slot, local, &partial.words);
        }
        let mut left = schedule.invocations;
        while left > 1 {
            let half = left.div_ceil(2);
            b.workgroup_barrier();
            b.when(lane.lt(left - half), |b| {
                for ((_, partial), slot) in chunk.iter().zip(slots) {
                    let own = self.read_shared(partial, *slot, local);
                    let other = self.read_shared(partial, *slot, local + half * apart);
                    // All words are read before the first is written.
                    let merged = b.bind_all(&format!("merged{slot}"), &partial.state.merge(&own, &other));
                    self.write_shared(b, *slot, local, &merged);
                }
            });
            left = half;
        }
        b.workgroup_barrier();
        let mut results = vec![];
        for ((i, partial), slot) in chunk.iter().zip(slots) {
            let words = self.read_shared(partial, *slot, first).into_iter().enumerate();
            results.push(words.map(|(w, word)| b.bind(format!("{tag}{i}_{w}_all"), word)).collect());
        }
        results
    }

    fn read_shared(&self, partial: &Partial<'k>, slot: usize, at: Val<'k>) -> Vec<Val<'k>> {
        let words = partial.state.words().into_iter().zip(&self.shared[slot..]);
        words.map(|(dtype, shared)| from_bits(dtype, shared.at(at))).collect()
    }

    fn write_shared(&self, b: &mut Block<'k>, slot: usize, at: Val<'k>, words: &[Val<'k>]) {
        for (word, shared) in words.iter().zip(&self.shared[slot..]) {
            b.set(shared.at(at), to_bits(*word));
        }
    }
}

pub(in crate::wgsl) fn merge_into<'k>(b: &mut Block<'k>, state: ReductionState, totals: &[Val<'k>], words: &[Val<'k>]) {
    let merged = state.merge(totals, words);
    if let [only] = merged[..] {
        b.set(totals[0], only);
        return;
    }
    // All words are computed before the first changes.
    let named = totals.iter().zip(merged);
    let next: Vec<Val<'k>> = named.map(|(total, word)| b.bind(format!("next_{total}"), word)).collect();
    for (&total, word) in totals.iter().zip(next) {
        b.set(total, word);
    }
}

/// Binds a zero hidden from the driver's compiler, which cannot rule out rows of the largest length.
pub(in crate::wgsl) fn bind_opaque<'k>(b: &mut Block<'k>, row_length: Val<'k>) -> Val<'k> {
    let [zero, one] = [0, 1].map(|value| row_length.arena().u32(value));
    b.bind("opaque", row_length.eq(u32::MAX).select(one, zero))
}

/// Adds `word` to `total`, and the rounding error to `lost`; `opaque` is a zero hidden from the driver's compiler.
pub(in crate::wgsl) fn add_exactly<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    reduction: ValueId,
    [total, lost, opaque]: [Val<'k>; 3],
    word: Val<'k>,
) {
    let sum = shader.helpers.call("hidden", &[total + word, opaque]);
    let sum = b.bind(format!("sum{reduction}"), sum);
    let rounded = shader.helpers.call("lost", &[total, word, sum]);
    b.set(lost, lost + rounded);
    b.set(total, sum);
}
