//! Elements of rows: those that an invocation has at a time, what is computed of them, and their states.

use std::collections::BTreeMap;

use fuse_artifact::{Uniform, schedule::ReductionOrder};

use super::{
    Text,
    combine::Partial,
    place::{Element, Frame, Site, is_load, widened},
    stages::Work,
    state::ReductionState,
};
use crate::{
    fusion::body::{Body, ValueId, ValueOp},
    wgsl::{
        builtins::vector_type,
        expr::{literal, operation},
    },
};

/// One of the loads' worth of elements that an invocation has at a time.
pub(super) struct Slot {
    /// Its first element's index in the row.
    pub(super) index: String,
    pub(super) element: Element,
    /// The condition under which it exists, unless it always does.
    pub(super) inside: Option<String>,
}

impl Text<'_> {
    /// Elements of a load along the row, and from one invocation's load to its next.
    pub(super) fn strides(&self) -> [u32; 2] {
        let schedule = self.frame.schedule;
        let unit = if schedule.is_columns() { 1 } else { schedule.lanes };
        [unit, unit * schedule.invocations]
    }

    /// This invocation's slots: of a whole row from its `lane` on, or from the element `chunk` on, which exists. Declares
    /// their indices and coordinates unless that is done.
    pub(super) fn slots(&mut self, from: &str, declare: bool) -> Vec<Slot> {
        let [unit, step] = self.strides();
        let whole = from == "lane";
        let first = if whole && unit > 1 { format!("lane * {unit}u") } else { from.to_owned() };
        let mut slots = vec![];
        for n in 0..self.frame.schedule.slots() {
            let index = format!("e{n}");
            let inside = (whole || n > 0).then(|| format!("inside{n}"));
            if declare {
                let from = if n == 0 { first.clone() } else { format!("{first} + {}u", n * step) };
                self.main.line(format!("let {index} = {from};"));
                if let Some(inside) = &inside {
                    self.main.line(format!("let {inside} = {index} < end;"));
                }
            }
            let element = self.element(&index, n, declare);
            slots.push(Slot { index, element, inside });
        }
        slots
    }

    /// The coordinates of the element with this index.
    pub(super) fn element(&mut self, index: &str, n: u32, declare: bool) -> Element {
        let [kept, reduced] = self.frame.schedule.axes;
        let mut coordinates = vec![];
        let mut rest = index.to_owned();
        for axis in (1..reduced).rev() {
            if declare {
                let extent = self.shader.uniform(Uniform::Extent { axis: kept + axis });
                self.main.line(format!("let elements{axis}_{n} = {rest} / {extent};"));
                self.main.line(format!("let r{axis}_{n} = {rest} % {extent};"));
            }
            coordinates.push(format!("r{axis}_{n}"));
            rest = format!("elements{axis}_{n}");
        }
        coordinates.push(rest);
        coordinates.reverse();
        Element { coordinates }
    }

    /// The values per element that work needs, in order, without those in `known`.
    pub(super) fn element_values(&self, work: &Work, known: &BTreeMap<ValueId, String>) -> Vec<ValueId> {
        let frame = self.frame;
        let reduced = work.reductions.iter().map(|&r| frame.reduced(r));
        let stored = work.stores.iter().map(|&n| frame.group.stores[n].value);
        let mut pending: Vec<ValueId> = reduced.chain(stored).collect();
        let mut found = std::collections::BTreeSet::new();
        while let Some(value) = pending.pop() {
            if frame.levels[value].per_element && !known.contains_key(&value) && found.insert(value) {
                pending.extend(Body::operands(&frame.body().values[value].op));
            }
        }
        found.into_iter().collect()
    }

    /// Reads what `values` have of plain loads, for all slots before any use.
    pub(super) fn loads(&mut self, values: &[ValueId], slots: &[Slot], names: &mut [BTreeMap<ValueId, String>]) {
        let is_plain = |v: &ValueId| matches!(self.frame.body().values[*v].op, ValueOp::Load(_));
        let loads: Vec<ValueId> = values.iter().copied().filter(is_plain).collect();
        for (n, (slot, names)) in slots.iter().zip(names).enumerate() {
            self.values(&loads, n, slot, names);
        }
    }

    /// Computes values of a slot; loads of a slot that may not exist become variables.
    fn values(&mut self, values: &[ValueId], n: usize, slot: &Slot, names: &mut BTreeMap<ValueId, String>) {
        let frame = self.frame;
        let lanes = frame.element_lanes();
        for &value in values {
            let known = &frame.body().values[value];
            let site = Site { frame, element: Some(&slot.element), single: false };
            let operand = |x: ValueId| operand(frame, &self.row_names, names, x, lanes);
            let expression = operation(&mut self.shader, frame.body(), value, lanes, &operand, &site);
            let name = format!("v{value}_{n}");
            match &slot.inside {
                Some(inside) if is_load(&known.op) => {
                    self.main.line(format!("var {name}: {};", vector_type(known.dtype, lanes)));
                    self.main.line(format!("if {inside} {{"));
                    self.main.line(format!("{name} = {expression};"));
                    self.main.line("}");
                }
                _ => self.main.line(format!("let {name} = {expression};")),
            }
            names.insert(value, name);
        }
    }

    /// Computes and stores what a stage does with the slots; for each reduction, the words of the slots' state.
    pub(super) fn process(
        &mut self,
        work: &Work,
        slots: &[Slot],
        names: &mut [BTreeMap<ValueId, String>],
    ) -> Vec<Vec<String>> {
        for (n, (slot, names)) in slots.iter().zip(names.iter_mut()).enumerate() {
            let values = self.element_values(work, names);
            self.values(&values, n, slot, names);
            self.element_stores(work, slot, names);
        }
        let frame = self.frame;
        let lanes = frame.element_lanes();
        let mut states = vec![];
        for &reduction in &work.reductions {
            let state = frame.state(reduction);
            let mut total: Vec<String> = vec![];
            for (n, (slot, names)) in slots.iter().zip(names.iter()).enumerate() {
                let value = operand(frame, &self.row_names, names, frame.reduced(reduction), lanes);
                let index = self.lane_indices(&slot.index);
                let mut words = state.of_element(&mut self.shader.helpers, lanes, &value, &index);
                if let Some(inside) = &slot.inside {
                    let either = words.iter().zip(state.neutral(lanes));
                    words = either.map(|(word, neutral)| format!("select({neutral}, {word}, {inside})")).collect();
                }
                let own = self.name_all(&words, &format!("own{reduction}_{n}"));
                total = if n == 0 {
                    own
                } else {
                    self.name_all(&state.merge(&total, &own), &format!("total{reduction}_{n}"))
                };
            }
            states.push(total);
        }
        states
    }

    /// Stores values of a slot, where it exists.
    fn element_stores(&mut self, work: &Work, slot: &Slot, names: &BTreeMap<ValueId, String>) {
        if work.stores.is_empty() {
            return;
        }
        let frame = self.frame;
        let guard = self.guard(slot.inside.as_deref().as_slice());
        if let Some(guard) = &guard {
            self.main.line(format!("if {guard} {{"));
        }
        for &n in &work.stores {
            let value = operand(frame, &self.row_names, names, frame.group.stores[n].value, frame.element_lanes());
            frame.store(&mut self.shader, &mut self.main, n, Some(&slot.element), &value);
        }
        if guard.is_some() {
            self.main.line("}");
        }
    }

    /// The indices in the row of an element's lanes.
    fn lane_indices(&self, element: &str) -> String {
        match (self.frame.element_lanes(), self.frame.schedule.order) {
            (1, _) => element.to_owned(),
            (_, ReductionOrder::Rows { .. }) => format!("vec4<u32>({element}) + vec4<u32>(0u, 1u, 2u, 3u)"),
            (_, ReductionOrder::Columns | ReductionOrder::Scatter { .. }) => format!("vec4<u32>({element})"),
        }
    }

    /// This invocation's state of a reduction, of the width of values per row.
    pub(super) fn folded(&mut self, reduction: ValueId, words: Vec<String>) -> Partial {
        let state = self.frame.state(reduction);
        Partial { state, words: self.fold_lanes(state, words, reduction) }
    }

    /// The state of a row's four lanes.
    pub(super) fn fold_lanes(&mut self, state: ReductionState, words: Vec<String>, reduction: ValueId) -> Vec<String> {
        if self.frame.element_lanes() == self.frame.row_lanes() {
            return words;
        }
        let lane = |lane: u32| words.iter().map(|word| format!("{word}[{lane}]")).collect::<Vec<_>>();
        let low = self.name_all(&state.merge(&lane(0), &lane(1)), &format!("low{reduction}"));
        let high = self.name_all(&state.merge(&lane(2), &lane(3)), &format!("high{reduction}"));
        self.name_all(&state.merge(&low, &high), &format!("folded{reduction}"))
    }

    /// Declares names for expressions.
    pub(super) fn name_all(&mut self, expressions: &[String], tag: &str) -> Vec<String> {
        let names: Vec<String> = (0..expressions.len()).map(|i| format!("{tag}_{i}")).collect();
        for (name, expression) in names.iter().zip(expressions) {
            self.main.line(format!("let {name} = {expression};"));
        }
        names
    }
}

/// A value as an operand of the given width: an element's, or the row's, repeated.
pub(super) fn operand(
    frame: &Frame<'_>,
    row_names: &BTreeMap<ValueId, String>,
    elements: &BTreeMap<ValueId, String>,
    value: ValueId,
    lanes: u32,
) -> String {
    let known = &frame.body().values[value];
    match (&known.op, elements.get(&value)) {
        (ValueOp::Literal(number), _) => literal(*number, known.dtype, lanes),
        (_, Some(name)) => name.clone(),
        (_, None) => widened(&row_names[&value], known.dtype, frame.row_lanes(), lanes),
    }
}
