//! Elements of rows: slots of an invocation, element values, and their states.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Uniform, schedule::ReductionOrder};

use super::{
    ReductionKernel,
    combine::Partial,
    place::{Element, Frame, Site, is_load},
    state::ReductionState,
};
use crate::{
    fusion::body::{Body, ValueId, ValueOp},
    kernel::{Arena, Block, Ty, Val},
    wgsl::{
        expr::{literal, operation},
        shader::lane_coordinates,
    },
};

pub(super) type Values<'k> = BTreeMap<ValueId, Val<'k>>;

pub(super) struct Work {
    pub reductions: Vec<ValueId>,
    pub stores: Vec<usize>,
}

/// An invocation's elements of one load.
pub(super) struct Slot<'k> {
    pub(super) index: Val<'k>,
    pub(super) element: Element<'k>,
    /// The condition that it exists; `None` if it always does.
    pub(super) inside: Option<Val<'k>>,
}

impl<'k> ReductionKernel<'_, 'k> {
    /// Elements per load, and between an invocation's loads.
    pub(super) fn strides(&self) -> [u32; 2] {
        let schedule = self.frame.schedule;
        let unit = if schedule.is_columns() { 1 } else { schedule.lanes };
        [unit, unit * schedule.invocations]
    }

    /// This invocation's slots from the element `first` on. All may be outside a held row; a chunk has at least the
    /// first.
    pub(super) fn slots(&mut self, b: &mut Block<'k>, first: Val<'k>, held: bool) -> Vec<Slot<'k>> {
        let [_, step] = self.strides();
        (0..self.frame.schedule.slots())
            .map(|n| {
                let index = b.bind(format!("e{n}"), first + n * step);
                let inside = (held || n > 0).then(|| b.bind(format!("inside{n}"), index.lt(self.at.end)));
                let element = self.element(b, index, n);
                Slot { index, element, inside }
            })
            .collect()
    }

    pub(super) fn element(&mut self, b: &mut Block<'k>, index: Val<'k>, n: u32) -> Element<'k> {
        let [kept, reduced] = self.frame.schedule.axes;
        let mut coordinates = vec![];
        let mut rest = index;
        for axis in (1..reduced).rev() {
            let extent = self.shader.uniform(Uniform::Extent { axis: kept + axis });
            let outer = b.bind(format!("elements{axis}_{n}"), rest / extent);
            coordinates.push(b.bind(format!("r{axis}_{n}"), rest % extent));
            rest = outer;
        }
        coordinates.push(rest);
        coordinates.reverse();
        Element { coordinates }
    }

    pub(super) fn element_values(&self, work: &Work, known: &Values<'k>) -> Vec<ValueId> {
        let frame = self.frame;
        let reduced = work.reductions.iter().map(|&r| frame.reduced(r));
        let stored = work.stores.iter().map(|&n| frame.group.stores[n].value);
        let mut pending: Vec<ValueId> = reduced.chain(stored).collect();
        let mut found = BTreeSet::new();
        while let Some(value) = pending.pop() {
            if frame.levels[value].per_element && !known.contains_key(&value) && found.insert(value) {
                pending.extend(Body::operands(&frame.body().values[value].op));
            }
        }
        found.into_iter().collect()
    }

    /// Issues the plain loads of all slots before any use.
    pub(super) fn loads(
        &mut self,
        b: &mut Block<'k>,
        values: &[ValueId],
        slots: &[Slot<'k>],
        known: &mut [Values<'k>],
    ) {
        let is_plain = |v: &ValueId| matches!(self.frame.body().values[*v].op, ValueOp::Load(_));
        let loads: Vec<ValueId> = values.iter().copied().filter(is_plain).collect();
        for (n, (slot, known)) in slots.iter().zip(known).enumerate() {
            self.compute(b, &loads, n, slot, known);
        }
    }

    /// Computes a slot's values; loads of a slot that may not exist become variables.
    fn compute(&mut self, b: &mut Block<'k>, values: &[ValueId], n: usize, slot: &Slot<'k>, known: &mut Values<'k>) {
        let frame = self.frame;
        let lanes = frame.element_lanes();
        let arena = self.shader.arena();
        for &value in values {
            let entry = &frame.body().values[value];
            let site = Site { frame, at: &self.at, element: Some(&slot.element), single: false };
            let operand = |x: ValueId| operand(arena, frame, &self.row_values, known, x, lanes);
            let computed = operation(&mut self.shader, frame.body(), value, lanes, &operand, &site);
            let name = format!("v{value}_{n}");
            let bound = match slot.inside {
                Some(inside) if is_load(&entry.op) => {
                    let variable = b.declare(arena, name, Ty::of(entry.dtype, lanes));
                    b.when(inside, |b| b.set(variable, computed));
                    variable
                }
                _ => b.bind(name, computed),
            };
            known.insert(value, bound);
        }
    }

    pub(super) fn process(
        &mut self,
        b: &mut Block<'k>,
        work: &Work,
        slots: &[Slot<'k>],
        known: &mut [Values<'k>],
    ) -> Vec<Vec<Val<'k>>> {
        for (n, (slot, known)) in slots.iter().zip(known.iter_mut()).enumerate() {
            let values = self.element_values(work, known);
            self.compute(b, &values, n, slot, known);
            self.element_stores(b, work, slot, known);
        }
        let frame = self.frame;
        let lanes = frame.element_lanes();
        let arena = self.shader.arena();
        let mut states = vec![];
        for &reduction in &work.reductions {
            let state = frame.state(reduction);
            let mut total: Vec<Val<'k>> = vec![];
            for (n, (slot, known)) in slots.iter().zip(known.iter()).enumerate() {
                let value = operand(arena, frame, &self.row_values, known, frame.reduced(reduction), lanes);
                let along_row = matches!(frame.schedule.order, ReductionOrder::Rows { .. });
                let index = lane_coordinates(slot.index, lanes, along_row);
                let mut words = state.of_element(&mut self.shader.helpers, value, index);
                if let Some(inside) = slot.inside {
                    let either = words.iter().zip(state.neutral(arena, lanes));
                    words = either.map(|(&word, neutral)| inside.select(word, neutral)).collect();
                }
                let own = b.bind_all(&format!("own{reduction}_{n}"), &words);
                total = match n {
                    0 => own,
                    _ => b.bind_all(&format!("total{reduction}_{n}"), &state.merge(&total, &own)),
                };
            }
            states.push(total);
        }
        states
    }

    fn element_stores(&mut self, b: &mut Block<'k>, work: &Work, slot: &Slot<'k>, known: &Values<'k>) {
        if work.stores.is_empty() {
            return;
        }
        let frame = self.frame;
        let guard = self.guard(slot.inside.as_slice());
        b.when_some(guard, |b| {
            let site = Site { frame, at: &self.at, element: Some(&slot.element), single: false };
            for &n in &work.stores {
                let (arena, value) = (self.shader.arena(), frame.group.stores[n].value);
                let value = operand(arena, frame, &self.row_values, known, value, frame.element_lanes());
                site.store(&mut self.shader, b, n, value);
            }
        });
    }

    /// This invocation's state of a reduction, as wide as row values.
    pub(super) fn folded(&self, b: &mut Block<'k>, reduction: ValueId, words: Vec<Val<'k>>) -> Partial<'k> {
        let state = self.frame.state(reduction);
        Partial { state, words: self.fold_lanes(b, state, words, reduction) }
    }

    pub(super) fn fold_lanes(
        &self,
        b: &mut Block<'k>,
        state: ReductionState,
        words: Vec<Val<'k>>,
        reduction: ValueId,
    ) -> Vec<Val<'k>> {
        if self.frame.element_lanes() == self.frame.row_lanes() {
            return words;
        }
        state.of_lanes(b, words, &format!("folded{reduction}"))
    }
}

/// A value as an operand of this width: an element value, or a broadcast row value.
pub(super) fn operand<'k>(
    arena: &'k Arena,
    frame: &Frame<'_>,
    row_values: &Values<'k>,
    elements: &Values<'k>,
    value: ValueId,
    lanes: u32,
) -> Val<'k> {
    let known = &frame.body().values[value];
    match (&known.op, elements.get(&value)) {
        (ValueOp::Literal(number), _) => literal(arena, *number, known.dtype, lanes),
        (_, Some(element)) => *element,
        (_, None) => row_values[&value].splat(lanes),
    }
}
