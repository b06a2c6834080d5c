//! The walk of a scatter-add: over the elements of a row that count for some kept index of the workgroup, in order.
//!
//! A workgroup looks through the integers that decide, a chunk at a time: it marks those in the range of its coordinates, a bit
//! for each, and a bit for each word of marks that has one. Then every invocation walks the marked elements alone and computes
//! of them what it would compute of all: what does not count for its own indices adds 0. So all sums have the order
//! of the row, whoever marked first, and the same bits every time.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Uniform, schedule::Reduction};

use super::{Text, elements::Slot, place::Site};
use crate::{
    fusion::{
        body::{Body, Value, ValueId, ValueOp},
        scatter::Scatter,
    },
    wgsl::expr::{literal, operation},
};

/// Marks of a word.
const BITS: u32 = u32::BITS;

impl Text<'_> {
    /// Writes the walk, with `round` for what is done with the elements of each round.
    pub(super) fn scattered(&mut self, axis: u8, round: impl FnOnce(&mut Self, &[Slot])) {
        let frame = self.frame;
        let Some(scatter) = Scatter::of(frame.body(), &frame.group.accesses, frame.kept) else {
            unreachable!("only bodies that are scatter-adds have the schedule")
        };
        let (chunk, workgroup) = (Reduction::CHUNK, frame.schedule.workgroup());
        let words = chunk / BITS;
        let groups = words / BITS;
        self.shader.workgroup_array("marks", "atomic<u32>", words, 4);
        self.shader.workgroup_array("marked_words", "atomic<u32>", groups, 4);
        self.declare_range(axis);
        self.main.line(format!("for (var chunk = 0u; chunk < end; chunk += {chunk}u) {{"));
        self.main.line("workgroupBarrier();");
        self.main.line(format!("for (var word = local; word < {words}u; word += {workgroup}u) {{"));
        self.main.line("atomicStore(&marks[word], 0u);");
        self.main.line("}");
        self.main.line(format!("if local < {groups}u {{"));
        self.main.line("atomicStore(&marked_words[local], 0u);");
        self.main.line("}");
        self.main.line("workgroupBarrier();");
        self.main.line(format!("let chunk_end = min(end, chunk + {chunk}u);"));
        self.main.line(format!("for (var at = chunk + local; at < chunk_end; at += {workgroup}u) {{"));
        let found = self.integers(&scatter.indices);
        let within = |integer: &String| format!("(first_place <= {integer} && {integer} <= last_place)");
        let within: Vec<String> = found.iter().map(within).collect();
        self.main.line(format!("if {} {{", within.join(" || ")));
        self.main.line("let place = at - chunk;");
        self.main.line(format!("atomicOr(&marks[place / {BITS}u], 1u << (place % {BITS}u));"));
        self.main
            .line(format!("atomicOr(&marked_words[place / {}u], 1u << (place / {BITS}u % {BITS}u));", BITS * BITS));
        self.main.line("}");
        self.main.line("}");
        self.main.line("workgroupBarrier();");
        self.main.line(format!("for (var group = 0u; group < {groups}u; group++) {{"));
        self.main.line("var words = atomicLoad(&marked_words[group]);");
        self.main.line("while words != 0u {");
        self.main.line(format!("let word = group * {BITS}u + firstTrailingBit(words);"));
        self.main.line("words &= words - 1u;");
        self.main.line("var bits = atomicLoad(&marks[word]);");
        self.main.line("while bits != 0u {");
        let slots = self.marked_slots();
        round(self, &slots);
        (0..4).for_each(|_| self.main.line("}"));
    }

    /// Declares `first_place` and `last_place`, the range of the workgroup's coordinates along the axis.
    fn declare_range(&mut self, axis: u8) {
        let count = self.shader.uniform(Uniform::Count);
        let extent = self.shader.uniform(Uniform::Extent { axis });
        let rows = self.frame.schedule.rows;
        let inner: Vec<String> = (axis + 1..self.frame.schedule.axes[0])
            .map(|axis| format!(" / {}", self.shader.uniform(Uniform::Extent { axis })))
            .collect();
        let inner = inner.concat();
        self.main.line(format!("let first_at = block * {rows}u{inner};"));
        self.main.line(format!("let last_at = min(block * {rows}u + {}u, {count} - 1u){inner};", rows - 1));
        if axis == 0 {
            self.main.line("let first_place = i32(first_at);");
            self.main.line("let last_place = i32(last_at);");
        } else {
            // Indices of several outer coordinates, of which integers may depend: any element may count.
            self.main.line(format!("let whole = first_at / {extent} != last_at / {extent};"));
            self.main.line(format!("let first_place = select(i32(first_at % {extent}), 0, whole);"));
            self.main.line(format!("let last_place = select(i32(last_at % {extent}), i32({extent}) - 1, whole);"));
        }
    }

    /// Computes integers of the element `at`.
    fn integers(&mut self, indices: &[ValueId]) -> Vec<String> {
        let frame = self.frame;
        let element = self.element("at", 0, true);
        let (mut needed, mut pending) = (BTreeSet::new(), indices.to_vec());
        while let Some(value) = pending.pop() {
            if frame.levels[value].per_element && needed.insert(value) {
                pending.extend(Body::operands(&frame.body().values[value].op));
            }
        }
        // The lanes of a vector lie along the axis or behind it, so that all have the same integers.
        let lane = if frame.row_lanes() > 1 { ".x" } else { "" };
        let name = |names: &BTreeMap<ValueId, String>, x: ValueId| match (&frame.body().values[x], names.get(&x)) {
            (Value { op: ValueOp::Literal(number), dtype }, _) => literal(*number, *dtype, 1),
            (_, Some(name)) => name.clone(),
            (_, None) => format!("{}{lane}", self.row_names[&x]),
        };
        let mut names: BTreeMap<ValueId, String> = BTreeMap::new();
        for value in needed {
            let site = Site { frame, element: Some(&element), single: true };
            let operand = |x: ValueId| name(&names, x);
            let expression = operation(&mut self.shader, frame.body(), value, 1, &operand, &site);
            self.main.line(format!("let integer_{value} = {expression};"));
            names.insert(value, format!("integer_{value}"));
        }
        indices.iter().map(|&value| name(&names, value)).collect()
    }

    /// The next marked elements, in order.
    fn marked_slots(&mut self) -> Vec<Slot> {
        let mut slots = vec![];
        for n in 0..self.frame.schedule.slots() {
            let (index, inside) = (format!("e{n}"), (n > 0).then(|| format!("inside{n}")));
            if let Some(inside) = &inside {
                self.main.line(format!("let {inside} = bits != 0u;"));
            }
            self.main.line(format!("let {index} = chunk + word * {BITS}u + firstTrailingBit(bits);"));
            self.main.line("bits &= bits - 1u;");
            let element = self.element(&index, n, true);
            slots.push(Slot { index, element, inside });
        }
        slots
    }
}
