//! A stage: row values, element values, stores, and the states of the next reductions.

use std::collections::BTreeSet;

use fuse_artifact::Uniform;

use super::{
    Part, ReductionKernel,
    combine::{Partial, add_exactly, bind_opaque, merge_into},
    elements::{Slot, Values, Work, operand},
    place::Site,
};
use crate::{
    fusion::body::{ValueId, ValueOp},
    kernel::{Block, Val},
    wgsl::expr::operation,
};

/// Invocations per row from which registers are too few to load later stages' inputs early.
const CROWDED: u32 = 512;

impl<'k> ReductionKernel<'_, 'k> {
    pub(super) fn compute_row_values(&mut self, b: &mut Block<'k>, values: &[ValueId]) {
        let frame = self.frame;
        let lanes = frame.row_lanes();
        let arena = self.shader.arena();
        for &value in values {
            let op = &frame.body().values[value].op;
            if matches!(op, ValueOp::Literal(_)) || self.row_values.contains_key(&value) {
                continue;
            }
            let no_elements = Values::new();
            let operand = |x: ValueId| operand(arena, frame, &self.row_values, &no_elements, x, lanes);
            let site = Site { frame, at: &self.at, element: None, single: false };
            let computed = operation(&mut self.shader, frame.body(), value, lanes, &operand, &site);
            self.row_values.insert(value, b.bind(format!("v{value}"), computed));
        }
    }

    pub(super) fn bind_reduced(&mut self, b: &mut Block<'k>, reductions: &[ValueId], words: &[Vec<Val<'k>>]) {
        for (&reduction, words) in reductions.iter().zip(words) {
            let value = self.frame.state(reduction).value(&mut self.shader.helpers, words);
            self.row_values.insert(reduction, b.bind(format!("v{reduction}"), value));
        }
    }

    pub(super) fn row_stores(&mut self, b: &mut Block<'k>) {
        let frame = self.frame;
        let stores: Vec<usize> = (0..frame.group.stores.len()).filter(|&n| !frame.stores_elements(n)).collect();
        if stores.is_empty() {
            return;
        }
        let first_lane = self.at.lane.eq(0);
        let first_part = self.at.part.map(|part| part.eq(0));
        let conditions: Vec<Val<'k>> = std::iter::once(first_lane).chain(first_part).collect();
        let guard = self.guard(&conditions);
        let is_read =
            |n: &usize| frame.group.accesses.iter().any(|read| read.access.slot == frame.group.stores[*n].slot);
        if stores.iter().any(is_read) {
            // All invocations of a row read values that one of them overwrites.
            b.storage_barrier();
        }
        b.when_some(guard, |b| {
            let row = Site { frame, at: &self.at, element: None, single: false };
            for n in stores {
                let (arena, value) = (self.shader.arena(), frame.group.stores[n].value);
                let value = operand(arena, frame, &self.row_values, &Values::new(), value, frame.row_lanes());
                row.store(&mut self.shader, b, n, value);
            }
        });
    }

    /// A stage's work on elements, and the reductions that it finishes.
    pub(super) fn stage(&mut self, b: &mut Block<'k>, stage: usize, used: &BTreeSet<ValueId>) {
        let frame = self.frame;
        let work = Work {
            reductions: self.finished_by(stage, used),
            stores: (0..frame.group.stores.len()).filter(|&n| frame.stores_at(n, stage)).collect(),
        };
        if work.reductions.is_empty() && work.stores.is_empty() {
            return;
        }
        let partials =
            if frame.schedule.held().is_some() { self.held(b, stage, &work, used) } else { self.streamed(b, &work) };
        if partials.is_empty() {
            return;
        }
        let words = self.combine(b, partials, &format!("s{stage}_"));
        match self.part {
            Part::Whole => self.bind_reduced(b, &work.reductions, &words),
            Part::Stage(_) => self.write_scratch(b, &work.reductions, &words),
        }
    }

    fn held(&mut self, b: &mut Block<'k>, stage: usize, work: &Work, used: &BTreeSet<ValueId>) -> Vec<Partial<'k>> {
        let [unit, _] = self.strides();
        let slots = match std::mem::take(&mut self.slots) {
            slots if slots.is_empty() => self.slots(b, self.at.lane * unit, true),
            slots => slots,
        };
        let mut values = std::mem::take(&mut self.held_values);
        if stage == 0 {
            let loads: Vec<ValueId> = if self.frame.schedule.invocations > CROWDED {
                self.element_values(work, &values[0])
            } else {
                used.iter().copied().filter(|&v| self.frame.levels[v].per_element).collect()
            };
            self.loads(b, &loads, &slots, &mut values);
        }
        let states = self.process(b, work, &slots, &mut values);
        (self.held_values, self.slots) = (values, slots);
        work.reductions.iter().zip(states).map(|(&reduction, words)| self.folded(b, reduction, words)).collect()
    }

    fn streamed(&mut self, b: &mut Block<'k>, work: &Work) -> Vec<Partial<'k>> {
        let frame = self.frame;
        let running = self.declare_running(b, work);
        if let Some(axis) = frame.schedule.scatters() {
            self.scattered(b, axis, |kernel, b, slots| kernel.take_in(b, work, slots, &running));
            return self.taken_in(b, work, &running);
        }
        let [unit, step] = self.strides();
        let first = self.at.lane * unit;
        let first = self.at.begin.map_or(first, |begin| begin + first);
        let (end, slots) = (self.at.end, frame.schedule.slots());
        let round = |b: &mut Block<'k>, chunk| {
            let slots = self.slots(b, chunk, false);
            self.take_in(b, work, &slots, &running);
        };
        if slots == 1 {
            b.unrollable("chunk", first, end, step, round);
        } else {
            // An iteration already has several loads.
            b.range("chunk", first, end, step * slots, round);
        }
        self.taken_in(b, work, &running)
    }

    fn declare_running(&mut self, b: &mut Block<'k>, work: &Work) -> Vec<Running<'k>> {
        let frame = self.frame;
        let lanes = frame.element_lanes();
        let mut all = vec![];
        for &reduction in &work.reductions {
            let state = frame.state(reduction);
            // Lanes of a row's sum are added first: tracking a rounding error costs more than an addition.
            let lanes = if state.is_float_sum() { frame.row_lanes() } else { lanes };
            let neutral = state.neutral(self.shader.arena(), lanes);
            let words =
                neutral.iter().enumerate().map(|(w, &neutral)| b.var(format!("running{reduction}_{w}"), neutral));
            let words = words.collect();
            let lost = state.is_float_sum().then(|| b.var(format!("lost{reduction}"), neutral[0]));
            if lost.is_some() && self.opaque.is_none() {
                let length = self.shader.uniform(Uniform::RowLength);
                self.opaque = Some(bind_opaque(b, length));
            }
            all.push(Running { words, lost });
        }
        all
    }

    fn take_in(&mut self, b: &mut Block<'k>, work: &Work, slots: &[Slot<'k>], running: &[Running<'k>]) {
        let frame = self.frame;
        let mut known = vec![Values::new(); slots.len()];
        let values = self.element_values(work, &known[0]);
        self.loads(b, &values, slots, &mut known);
        let states = self.process(b, work, slots, &mut known);
        for ((&reduction, words), Running { words: totals, lost }) in work.reductions.iter().zip(states).zip(running) {
            let state = frame.state(reduction);
            match lost {
                Some(lost) => {
                    let words = self.fold_lanes(b, state, words, reduction);
                    let opaque = self.opaque.expect("sums of floats have it");
                    add_exactly(&mut self.shader, b, reduction, [totals[0], *lost, opaque], words[0]);
                }
                None => merge_into(b, state, totals, &words),
            }
        }
    }

    fn taken_in(&mut self, b: &mut Block<'k>, work: &Work, running: &[Running<'k>]) -> Vec<Partial<'k>> {
        let mut partials = vec![];
        for (&reduction, Running { words, lost }) in work.reductions.iter().zip(running) {
            partials.push(match lost {
                Some(lost) => {
                    let restored = self.shader.helpers.call("restored", &[words[0], *lost]);
                    let words = b.bind_all(&format!("restored{reduction}"), &[restored]);
                    Partial { state: self.frame.state(reduction), words }
                }
                None => self.folded(b, reduction, words.clone()),
            });
        }
        partials
    }
}

struct Running<'k> {
    words: Vec<Val<'k>>,
    /// Accumulated rounding errors of float sums.
    lost: Option<Val<'k>>,
}
