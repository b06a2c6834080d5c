//! One stage: values per row, values per element, stores, and the states of the reductions that follow.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::Uniform;

use super::{
    Part, Text,
    combine::Partial,
    elements::{Slot, operand},
    place::Site,
};
use crate::{
    fusion::body::{ValueId, ValueOp},
    wgsl::expr::operation,
};

/// Invocations of a row from which on registers are too few to read, before the first stage, what only later ones need.
const CROWDED: u32 = 512;

/// What a stage does with the elements of a row.
pub(super) struct Work {
    /// The reductions that it prepares.
    pub reductions: Vec<ValueId>,
    /// The stores of elements.
    pub stores: Vec<usize>,
}

impl Text<'_> {
    /// Computes values per row, in order.
    pub(super) fn row_values(&mut self, values: &[ValueId]) {
        let frame = self.frame;
        let lanes = frame.row_lanes();
        for &value in values {
            let op = &frame.body().values[value].op;
            if matches!(op, ValueOp::Literal(_)) || self.row_names.contains_key(&value) {
                continue;
            }
            let no_elements = BTreeMap::new();
            let operand = |x: ValueId| operand(frame, &self.row_names, &no_elements, x, lanes);
            let site = Site { frame, element: None, single: false };
            let expression = operation(&mut self.shader, frame.body(), value, lanes, &operand, &site);
            self.main.line(format!("let v{value} = {expression};"));
            self.row_names.insert(value, format!("v{value}"));
        }
    }

    /// Names the results of reductions, given their combined words.
    pub(super) fn declare_reduced(&mut self, reductions: &[ValueId], words: &[Vec<String>]) {
        let lanes = self.frame.row_lanes();
        for (&reduction, words) in reductions.iter().zip(words) {
            let value = self.frame.state(reduction).value(&mut self.shader.helpers, lanes, words);
            self.main.line(format!("let v{reduction} = {value};"));
            self.row_names.insert(reduction, format!("v{reduction}"));
        }
    }

    /// Stores values per row, once per row.
    pub(super) fn row_stores(&mut self, by_part: bool) {
        let frame = self.frame;
        let stores: Vec<usize> = (0..frame.group.stores.len()).filter(|&n| !frame.stores_elements(n)).collect();
        if stores.is_empty() {
            return;
        }
        let conditions: &[&str] = if by_part { &["lane == 0u", "part == 0u"] } else { &["lane == 0u"] };
        let guard = self.guard(conditions).unwrap_or_default();
        let is_read =
            |n: &usize| frame.group.accesses.iter().any(|read| read.access.slot == frame.group.stores[*n].slot);
        if stores.iter().any(is_read) {
            // All invocations of a row read what one of them updates.
            self.main.line("storageBarrier();");
        }
        self.main.line(format!("if {guard} {{"));
        for n in stores {
            let value = frame.group.stores[n].value;
            let value = operand(frame, &self.row_names, &BTreeMap::new(), value, frame.row_lanes());
            frame.store(&mut self.shader, &mut self.main, n, None, &value);
        }
        self.main.line("}");
    }

    /// Everything that a stage does with elements, and the results of the reductions that it finishes.
    pub(super) fn stage(&mut self, stage: usize, used: &BTreeSet<ValueId>) {
        let frame = self.frame;
        let work = Work {
            reductions: self.finished_by(stage, used),
            stores: (0..frame.group.stores.len()).filter(|&n| frame.stores_at(n, stage)).collect(),
        };
        if work.reductions.is_empty() && work.stores.is_empty() {
            return;
        }
        let partials =
            if frame.schedule.held().is_some() { self.held(stage, &work, used) } else { self.streamed(&work) };
        if partials.is_empty() {
            return;
        }
        let words = self.combine(partials, &format!("s{stage}_"));
        match self.part {
            Part::Whole => self.declare_reduced(&work.reductions, &words),
            Part::Stage(_) => self.write_scratch(&work.reductions, &words),
        }
    }

    /// A stage of a schedule that holds its rows.
    fn held(&mut self, stage: usize, work: &Work, used: &BTreeSet<ValueId>) -> Vec<Partial> {
        let slots = self.slots("lane", stage == 0);
        let mut names = std::mem::take(&mut self.held_names);
        if stage == 0 {
            let loads: Vec<ValueId> = if self.frame.schedule.invocations > CROWDED {
                self.element_values(work, &names[0])
            } else {
                used.iter().copied().filter(|&v| self.frame.levels[v].per_element).collect()
            };
            self.loads(&loads, &slots, &mut names);
        }
        let states = self.process(work, &slots, &mut names);
        self.held_names = names;
        work.reductions.iter().zip(states).map(|(&reduction, words)| self.folded(reduction, words)).collect()
    }

    /// A stage of a schedule that reads its rows anew.
    fn streamed(&mut self, work: &Work) -> Vec<Partial> {
        let frame = self.frame;
        self.declare_running(work);
        let [unit, step] = self.strides();
        let first = if unit == 1 { "lane".to_owned() } else { format!("lane * {unit}u") };
        let first = if self.is_by_part() { format!("begin + {first}") } else { first };
        let step = step * frame.schedule.slots();
        if let Some(axis) = frame.schedule.scatters() {
            self.scattered(axis, |text, slots| text.take_in(work, slots));
            return self.taken_in(work);
        }
        if frame.schedule.slots() == 1 {
            self.main.unrollable("chunk", &first, "end", step);
        } else {
            // The text has several loads a round already.
            self.main.line(format!("for (var chunk = {first}; chunk < end; chunk += {step}u) {{"));
        }
        let slots = self.slots("chunk", true);
        self.take_in(work, &slots);
        self.main.line("}");
        self.taken_in(work)
    }

    /// The names of the variables that hold a reduction's state in a loop over a row.
    fn running(&self, reduction: ValueId) -> Vec<String> {
        (0..self.frame.state(reduction).words().len()).map(|w| format!("running{reduction}_{w}")).collect()
    }

    /// Declares them, with the state of no elements.
    fn declare_running(&mut self, work: &Work) {
        let frame = self.frame;
        let lanes = frame.element_lanes();
        for &reduction in &work.reductions {
            let state = frame.state(reduction);
            // The lanes of a row's sum are added first: to keep what an addition loses costs more than to add.
            let neutral = state.neutral(if state.is_float_sum() { frame.row_lanes() } else { lanes });
            for (name, neutral) in self.running(reduction).iter().zip(&neutral) {
                self.main.line(format!("var {name} = {neutral};"));
            }
            if state.is_float_sum() {
                self.main.line(format!("var lost{reduction} = {};", neutral[0]));
                self.declare_opaque();
            }
        }
    }

    /// A round: what is done with the elements of its slots, and their states added to the running ones.
    fn take_in(&mut self, work: &Work, slots: &[Slot]) {
        let frame = self.frame;
        let mut names = vec![BTreeMap::new(); slots.len()];
        let values = self.element_values(work, &names[0]);
        self.loads(&values, slots, &mut names);
        let states = self.process(work, slots, &mut names);
        for (&reduction, words) in work.reductions.iter().zip(states) {
            let state = frame.state(reduction);
            let totals = self.running(reduction);
            if state.is_float_sum() {
                let words = self.fold_lanes(state, words, reduction);
                self.add_exactly(reduction, &totals[0], &words[0]);
            } else {
                self.merge_into(state, &totals, &words);
            }
        }
    }

    /// The running states after the last round.
    fn taken_in(&mut self, work: &Work) -> Vec<Partial> {
        let frame = self.frame;
        let mut partials = vec![];
        for &reduction in &work.reductions {
            let mut words = self.running(reduction);
            let state = frame.state(reduction);
            if state.is_float_sum() {
                let arguments = format!("{}, lost{reduction}", words[0]);
                let restored = self.shader.helpers.call("restored", frame.row_lanes(), &arguments);
                words = self.name_all(&[restored], &format!("restored{reduction}"));
                partials.push(Partial { state, words });
            } else {
                partials.push(self.folded(reduction, words));
            }
        }
        partials
    }

    /// Declares a zero that the shader's compiler does not know.
    fn declare_opaque(&mut self) {
        if !self.has_opaque {
            // No buffer holds rows of this length.
            let length = self.shader.uniform(Uniform::RowLength);
            self.main.line(format!("let opaque = select(0u, 1u, {length} == 0xffffffffu);"));
            self.has_opaque = true;
        }
    }

    /// Adds `word` to the variable `total`, and what rounding takes from it to the reduction's `lost…`.
    fn add_exactly(&mut self, reduction: ValueId, total: &str, word: &str) {
        let lanes = self.frame.row_lanes();
        let sum = self.shader.helpers.call("hidden", lanes, &format!("{total} + {word}, opaque"));
        self.main.line(format!("let sum{reduction} = {sum};"));
        let lost = self.shader.helpers.call("lost", lanes, &format!("{total}, {word}, sum{reduction}"));
        self.main.line(format!("lost{reduction} += {lost};"));
        self.main.line(format!("{total} = sum{reduction};"));
    }
}
