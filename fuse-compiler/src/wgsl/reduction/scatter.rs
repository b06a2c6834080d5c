//! The walk of a scatter-add: visits a row's elements that contribute to some kept index of the workgroup.
//!
//! A workgroup scans indices in chunks: it marks those in its range with a bit each, and sets a bit for each nonempty
//! word of marks. Then every invocation visits all marked elements; one that does not contribute to its own indices
//! adds 0. So sums follow the order of the row, not of marking, and have the same bits every time.

use std::collections::BTreeSet;

use fuse_artifact::{Uniform, schedule::Reduction};

use super::{
    ReductionKernel,
    elements::{Slot, Values},
    place::Site,
};
use crate::{
    fusion::{
        body::{Body, Value, ValueId, ValueOp},
        scatter::Scatter,
    },
    kernel::{Block, IntoVal, Scalar, Ty, Val},
    wgsl::expr::{literal, operation},
};

const BITS: u32 = u32::BITS;

impl<'k> ReductionKernel<'_, 'k> {
    pub(super) fn scattered(
        &mut self,
        b: &mut Block<'k>,
        axis: u8,
        round: impl FnOnce(&mut Self, &mut Block<'k>, &[Slot<'k>]),
    ) {
        let frame = self.frame;
        let Some(scatter) = Scatter::of(frame.body(), &frame.group.accesses, frame.kept) else {
            unreachable!("only bodies that are scatter-adds have the schedule")
        };
        let (chunk_length, workgroup) = (Reduction::CHUNK, frame.schedule.workgroup());
        let words = chunk_length / BITS;
        let groups = words / BITS;
        let marks = self.shader.workgroup_array("marks", Ty::Atomic(Scalar::U32), words);
        let marked_words = self.shader.workgroup_array("marked_words", Ty::Atomic(Scalar::U32), groups);
        let [first_place, last_place] = self.bind_range(b, axis);
        let (arena, local, end) = (self.shader.arena(), self.shader.local(), self.at.end);
        let [zero, one] = [0, 1].map(|value| arena.u32(value));
        b.range("chunk", zero, end, chunk_length, |b, chunk| {
            b.workgroup_barrier();
            b.range("word", local, words, workgroup, |b, word| marks.at(word).atomic_store(b, zero));
            b.when(local.lt(groups), |b| marked_words.at(local).atomic_store(b, zero));
            b.workgroup_barrier();
            let chunk_end = b.bind("chunk_end", end.min(chunk + chunk_length));
            b.range("at", chunk + local, chunk_end, workgroup, |b, at| {
                let integers = self.integers(b, &scatter.indices, at);
                let within = integers.into_iter().map(|integer| first_place.le(integer).and(integer.le(last_place)));
                let counts = within.reduce(Val::or).expect("a scatter-add has indices");
                b.when(counts, |b| {
                    let place = b.bind("place", at - chunk);
                    marks.at(place / BITS).atomic_or(b, one << (place % BITS));
                    marked_words.at(place / (BITS * BITS)).atomic_or(b, one << (place / BITS % BITS));
                });
            });
            b.workgroup_barrier();
            b.range("group", zero, groups, 1, |b, group| {
                let words = b.var("words", marked_words.at(group).atomic_load());
                b.repeat_while(words.ne(0), |b| {
                    let word = b.bind("word", group * BITS + words.call("firstTrailingBit", &[]));
                    b.set(words, words & (words - 1));
                    let bits = b.var("bits", marks.at(word).atomic_load());
                    b.repeat_while(bits.ne(0), |b| {
                        let slots = self.marked_slots(b, chunk + word * BITS, bits);
                        round(self, b, &slots);
                    });
                });
            });
        });
    }

    fn bind_range(&mut self, b: &mut Block<'k>, axis: u8) -> [Val<'k>; 2] {
        let count = self.shader.uniform(Uniform::Count);
        let extent = self.shader.uniform(Uniform::Extent { axis });
        let rows = self.frame.schedule.rows;
        let inner: Vec<Val<'k>> =
            (axis + 1..self.frame.schedule.axes[0]).map(|axis| self.shader.uniform(Uniform::Extent { axis })).collect();
        let outer = |row: Val<'k>| inner.iter().fold(row, |row, &extent| row / extent);
        let first_row = self.at.block * rows;
        let first_at = b.bind("first_at", outer(first_row));
        let last_at = b.bind("last_at", outer((first_row + (rows - 1)).min(count - 1)));
        let [first, last] = if axis == 0 {
            [first_at, last_at].map(|at| at.convert(Scalar::I32))
        } else {
            // With several outer coordinates, on which indices may depend, any element may contribute.
            let whole = b.bind("whole", (first_at / extent).ne(last_at / extent));
            let [first, last, extent] = [first_at % extent, last_at % extent, extent].map(|at| at.convert(Scalar::I32));
            [whole.select(0u32.into_val(first), first), whole.select(extent - 1, last)]
        };
        [b.bind("first_place", first), b.bind("last_place", last)]
    }

    fn integers(&mut self, b: &mut Block<'k>, indices: &[ValueId], at: Val<'k>) -> Vec<Val<'k>> {
        let frame = self.frame;
        let element = self.element(b, at, 0);
        let (mut needed, mut pending) = (BTreeSet::new(), indices.to_vec());
        while let Some(value) = pending.pop() {
            if frame.levels[value].per_element && needed.insert(value) {
                pending.extend(Body::operands(&frame.body().values[value].op));
            }
        }
        let arena = self.shader.arena();
        // Lanes are along or inside the axis, so all have the same indices.
        let row_values = &self.row_values;
        let known = |values: &Values<'k>, x: ValueId| match (&frame.body().values[x], values.get(&x)) {
            (Value { op: ValueOp::Literal(number), dtype }, _) => literal(arena, *number, *dtype, 1),
            (_, Some(value)) => *value,
            (_, None) => row_values[&x].lane(0),
        };
        let mut values = Values::new();
        for value in needed {
            let site = Site { frame, at: &self.at, element: Some(&element), single: true };
            let operand = |x: ValueId| known(&values, x);
            let computed = operation(&mut self.shader, frame.body(), value, 1, &operand, &site);
            values.insert(value, b.bind(format!("integer_{value}"), computed));
        }
        indices.iter().map(|&value| known(&values, value)).collect()
    }

    /// The next marked elements, in order: bits of a word that starts at an element.
    fn marked_slots(&mut self, b: &mut Block<'k>, first: Val<'k>, bits: Val<'k>) -> Vec<Slot<'k>> {
        let mut slots = vec![];
        for n in 0..self.frame.schedule.slots() {
            let inside = (n > 0).then(|| b.bind(format!("inside{n}"), bits.ne(0)));
            let index = b.bind(format!("e{n}"), first + bits.call("firstTrailingBit", &[]));
            b.set(bits, bits & (bits - 1));
            let element = self.element(b, index, n);
            slots.push(Slot { index, element, inside });
        }
        slots
    }
}
