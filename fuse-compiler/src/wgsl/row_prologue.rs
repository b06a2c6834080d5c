//! The text of what a product's workgroup computes of the rows of its left operand before it multiplies.
//!
//! Stage by stage, invocations that share a row walk down the depth side by side, several vectors at a time; what each
//! found is taken together as balanced trees, with what rounding loses of long sums carried along, so that sums are as
//! accurate as pairwise ones. Results are kept in workgroup memory, as bits. Loads of the operand, which stay in their
//! rows, read them once, before the loop over the depth.

use fuse_artifact::DType;

use super::{
    builtins::vector_type,
    epilogue::Axes,
    expr::{literal, operation},
    operand::{Operand, OperandPlace},
    reduction::state::{ReductionState, from_bits, to_bits},
    shader::{CodeBuffer, Shader},
};
use crate::{
    fusion::{
        Contraction, Group,
        body::{Body, ValueId, ValueOp},
    },
    schedule::contraction::row_prologue::{RowPrologue, SHARING},
};

/// Loads that an invocation has on their way at a time.
const UNROLL: u32 = 4;

/// The rows of a workgroup's left operand.
pub(super) struct RowPrologueText<'a> {
    group: &'a Group,
    body: &'a Body,
    value: ValueId,
    operand: RowPrologue,
    /// Rows of the workgroup, and its invocations.
    rows: u32,
    invocations: u32,
    /// Number of batch axes.
    batch: usize,
    /// The width that buffers are bound with.
    buffer_lanes: u32,
}

/// Names of a row's values: what they start with, and how many rows each has.
#[derive(Clone, Copy)]
pub(super) struct RowNames<'n> {
    pub(super) prefix: &'n str,
    pub(super) lanes: u32,
}

impl<'a> RowPrologueText<'a> {
    /// The rows of a contraction's left operand, if it has reductions.
    pub(super) fn new(
        group: &'a Group,
        contraction: &'a Contraction,
        [rows, invocations]: [u32; 2],
        buffer_lanes: u32,
    ) -> Option<Self> {
        let operand = RowPrologue::new(group, contraction)?;
        let (body, value) = (&contraction.lhs.0, contraction.lhs.1);
        Some(Self { group, body, value, operand, rows, invocations, batch: group.shape.len() - 2, buffer_lanes })
    }

    /// The accesses that the operand's loads read once its rows are known.
    pub(super) fn loads(&self) -> Vec<u16> {
        self.element_loads(&[self.value])
    }

    fn element_loads(&self, roots: &[ValueId]) -> Vec<u16> {
        let loads = self.body.needed(roots).into_iter().filter_map(|value| match self.body.values[value].op {
            ValueOp::Load(access) if self.operand.levels[value].per_element => Some(access),
            _ => None,
        });
        let mut loads: Vec<u16> = loads.collect();
        loads.sort_unstable();
        loads.dedup();
        loads
    }

    /// The operand with vectors of `lanes` elements along an axis of its space.
    fn operand(&self, lanes: u32, lane_axis: usize) -> Operand<'a> {
        let Self { group, body, value, buffer_lanes, .. } = *self;
        Operand { group, body, value, prefix: "a", lanes, buffer_lanes, lane_axis }
    }

    fn state(&self, reduction: ValueId) -> ReductionState {
        match self.body.values[reduction].op {
            ValueOp::Reduce(op, x) => ReductionState::new(op, self.body.values[x].dtype),
            _ => unreachable!("value {reduction} is no reduction"),
        }
    }

    /// Writes the computation of the rows from `row0` on, with loads of `lanes` elements along the depth.
    pub(super) fn compute(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer, axes: &Axes, row0: &str, lanes: u32) {
        shader.workgroup_array("lhs_rows", "u32", self.operand.result_entries(self.rows), 4);
        for w in 0..self.operand.part_words {
            let entries = RowPrologue::part_entries(self.rows, self.invocations);
            shader.workgroup_array(&format!("lhs_parts{w}"), "u32", entries, 4);
        }
        // No buffer holds rows of this length.
        main.line(format!("let opaque = select(0u, 1u, {} == 0xffffffffu);", axes.depth));
        for stage in &self.operand.stages {
            self.walk(shader, main, axes, stage, (row0, lanes));
            main.line("workgroupBarrier();");
            self.combine(main, stage);
            main.line("workgroupBarrier();");
        }
    }

    /// Writes what each invocation finds of the rows that it shares in to workgroup memory.
    fn walk(
        &self,
        shader: &mut Shader<'_>,
        main: &mut CodeBuffer,
        axes: &Axes,
        stage: &[(ValueId, ValueId)],
        (row0, lanes): (&str, u32),
    ) {
        let sharing = RowPrologue::sharing(self.rows, self.invocations);
        let at_once = self.invocations / sharing;
        let idle = at_once * sharing < self.invocations;
        if idle {
            main.line(format!("if local < {}u {{", at_once * sharing));
        }
        main.line(format!("for (var row = local / {sharing}u; row < {}u; row += {at_once}u) {{", self.rows));
        main.line(format!("let at_row = min({row0} + row, {} - 1u);", axes.rows));
        let roots: Vec<ValueId> = stage.iter().map(|(_, x)| *x).collect();
        let names = RowNames { prefix: "row_v", lanes: 1 };
        let mut at = axes.batch_names();
        at.extend(["at_row".to_owned(), "0u".to_owned()]);
        self.row_values(shader, main, &roots, names, &at, "row");
        let operand = self.operand(lanes, self.batch + 1);
        for access in self.element_loads(&roots) {
            let mut place: Vec<Option<String>> = at.iter().cloned().map(Some).collect();
            place[self.batch + 1] = None;
            let offset = operand.offset(shader, access, &place);
            main.line(format!("let row_base{access} = {offset};"));
        }
        for &(reduction, _) in stage {
            let state = self.state(reduction);
            for (w, neutral) in state.neutral(if state.is_float_sum() { 1 } else { lanes }).iter().enumerate() {
                main.line(format!("var total{reduction}_{w} = {neutral};"));
                if state.is_float_sum() {
                    main.line(format!("var lost{reduction} = {neutral};"));
                }
            }
        }
        let first = format!("local % {sharing}u * {lanes}u");
        let step = sharing * lanes * UNROLL;
        main.line(format!("for (var depth = {first}; depth < {}; depth += {step}u) {{", axes.depth));
        self.step(shader, main, axes, stage, &operand, &mut at);
        main.line("}");
        let mut word = 0;
        for &(reduction, _) in stage {
            let state = self.state(reduction);
            let names: Vec<String> = (0..state.words().len()).map(|w| format!("total{reduction}_{w}")).collect();
            let words = match state.is_float_sum() {
                true => vec![shader.helpers.call("restored", 1, &format!("{}, lost{reduction}", names[0]))],
                false => fold_lanes(main, state, lanes, names, &format!("folded{reduction}")),
            };
            for (bits, dtype) in words.iter().zip(state.words()) {
                let at = format!("row * {}u + local % {sharing}u", sharing + 1);
                main.line(format!("lhs_parts{word}[{at}] = {};", to_bits(dtype, 1, bits)));
                word += 1;
            }
        }
        main.line("}");
        if idle {
            main.line("}");
        }
    }

    /// Writes one step down the depth: loads first, then what is computed from them.
    fn step(
        &self,
        shader: &mut Shader<'_>,
        main: &mut CodeBuffer,
        axes: &Axes,
        stage: &[(ValueId, ValueId)],
        operand: &Operand<'_>,
        at: &mut [String],
    ) {
        let lanes = operand.lanes;
        let apart = RowPrologue::sharing(self.rows, self.invocations) * lanes;
        let roots: Vec<ValueId> = stage.iter().map(|(_, x)| *x).collect();
        for u in 0..UNROLL {
            main.line(format!("let depth_{u} = depth + {}u;", u * apart));
            main.line(format!("let at_{u} = min(depth_{u}, {} - {lanes}u);", axes.depth));
            for access in self.element_loads(&roots) {
                let along = operand.step(shader, access, self.batch + 1, &format!("at_{u}"));
                let load = operand.load(shader, access, &format!("row_base{access}{along}"));
                main.line(format!("let x{access}_{u} = {load};"));
            }
        }
        let mut found: Vec<Vec<Vec<String>>> = vec![vec![]; stage.len()];
        for u in 0..UNROLL {
            at[self.batch + 1] = format!("at_{u}");
            let rows = RowNames { prefix: "row_v", lanes: 1 };
            let prefix = format!("v{u}_");
            let place = OperandPlace { operand, loaded: &|access| format!("x{access}_{u}"), at, sums: &[] };
            self.elements(shader, main, &roots, (rows, &prefix), &place);
            for (&(reduction, x), found) in stage.iter().zip(&mut found) {
                let state = self.state(reduction);
                let index = if lanes == 1 {
                    format!("at_{u}")
                } else {
                    format!("vec4<u32>(at_{u}) + vec4<u32>(0u, 1u, 2u, 3u)")
                };
                let element = self.name(x, (rows, &prefix), lanes);
                let words = state.of_element(&mut shader.helpers, lanes, &element, &index);
                let words = words.iter().zip(state.neutral(lanes)).enumerate().map(|(w, (word, neutral))| {
                    let name = format!("found{reduction}_{u}_{w}");
                    main.line(format!("let {name} = select({neutral}, {word}, depth_{u} < {});", axes.depth));
                    name
                });
                found.push(words.collect());
            }
        }
        for (&(reduction, _), found) in stage.iter().zip(found) {
            let state = self.state(reduction);
            let words = state.tree(main, found, &format!("taken{reduction}"));
            let total = format!("total{reduction}");
            if state.is_float_sum() {
                // The lanes of a sum are added first: to keep what an addition loses costs more than to add.
                let words = fold_lanes(main, state, lanes, words, &format!("lanes{reduction}"));
                let (word, total) = (&words[0], format!("{total}_0"));
                let sum = shader.helpers.call("hidden", 1, &format!("{total} + {word}, opaque"));
                main.line(format!("let sum{reduction} = {sum};"));
                let lost = shader.helpers.call("lost", 1, &format!("{total}, {word}, sum{reduction}"));
                main.line(format!("lost{reduction} += {lost};"));
                main.line(format!("{total} = sum{reduction};"));
            } else {
                let totals: Vec<String> = (0..words.len()).map(|w| format!("{total}_{w}")).collect();
                let merged = state.merge(&totals, &words);
                for (w, word) in merged.iter().enumerate() {
                    main.line(format!("let merged{reduction}_{w} = {word};"));
                }
                for (w, total) in totals.iter().enumerate() {
                    main.line(format!("{total} = merged{reduction}_{w};"));
                }
            }
        }
    }

    /// Writes what the invocations of each row found, taken together.
    fn combine(&self, main: &mut CodeBuffer, stage: &[(ValueId, ValueId)]) {
        let (rows, invocations) = (self.rows, self.invocations);
        let sharing = RowPrologue::sharing(rows, invocations);
        if sharing > SHARING {
            main.line(format!("for (var i = local; i < {}u; i += {invocations}u) {{", rows * SHARING));
            main.line(format!("let first = i / {SHARING}u * {}u + i % {SHARING}u;", sharing + 1));
            self.take_together(main, stage, sharing / SHARING, SHARING, &|word, _| format!("lhs_parts{word}[first]"));
            main.line("}");
            main.line("workgroupBarrier();");
        }
        main.line(format!("for (var row = local; row < {rows}u; row += {invocations}u) {{"));
        main.line(format!("let first = row * {}u;", sharing + 1));
        let results = |_, at: u32| format!("lhs_rows[row + {}u]", at * rows);
        self.take_together(main, stage, SHARING, 1, &results);
        main.line("}");
    }

    /// Takes `count` parts together, `apart` entries from each other; `target` says where a word goes, of which the number
    /// in its stage and that in the row's results are given.
    fn take_together(
        &self,
        main: &mut CodeBuffer,
        stage: &[(ValueId, ValueId)],
        count: u32,
        apart: u32,
        target: &dyn Fn(u32, u32) -> String,
    ) {
        let mut first_word = 0;
        for &(reduction, _) in stage {
            let state = self.state(reduction);
            let parts = (0..count).map(|part| {
                let words = state.words().into_iter().zip(first_word..).map(|(dtype, word)| {
                    let name = format!("part{word}_{part}");
                    let bits = format!("lhs_parts{word}[first + {}u]", part * apart);
                    main.line(format!("let {name} = {};", from_bits(dtype, 1, &bits)));
                    name
                });
                words.collect::<Vec<_>>()
            });
            let parts = parts.collect();
            let words = state.tree(main, parts, &format!("together{reduction}"));
            for ((word, dtype), w) in words.iter().zip(state.words()).zip(0..) {
                let target = target(first_word + w, self.result_word(reduction) + w);
                main.line(format!("{target} = {};", to_bits(dtype, 1, word)));
            }
            first_word += words.len() as u32;
        }
    }

    /// The number of a reduction's first word among those of a row's results.
    fn result_word(&self, reduction: ValueId) -> u32 {
        let known = self.operand.words.iter().find(|(value, _)| *value == reduction);
        known.map_or(0, |(_, word)| *word)
    }

    /// Declares the values per row that the operand's elements are computed from; `at` are the coordinates of the row, and
    /// `row` is its number in the workgroup.
    pub(super) fn declare(
        &self,
        shader: &mut Shader<'_>,
        main: &mut CodeBuffer,
        names: RowNames<'_>,
        at: &[String],
        row: &str,
    ) {
        self.row_values(shader, main, &[self.value], names, at, row);
    }

    fn row_values(
        &self,
        shader: &mut Shader<'_>,
        main: &mut CodeBuffer,
        roots: &[ValueId],
        names: RowNames<'_>,
        at: &[String],
        row: &str,
    ) {
        let lanes = names.lanes;
        let operand = self.operand(lanes, self.batch);
        let place: Vec<Option<String>> = at.iter().cloned().map(Some).collect();
        for value in self.body.needed(roots) {
            let known = &self.body.values[value];
            let expression = match known.op {
                _ if self.operand.levels[value].per_element => continue,
                ValueOp::Literal(_) => continue,
                ValueOp::Reduce(..) => self.result(shader, value, lanes, row),
                ValueOp::Load(access) => {
                    let offset = operand.offset(shader, access, &place);
                    operand.load(shader, access, &offset)
                }
                _ => {
                    let place = OperandPlace { operand: &operand, loaded: &|_| String::new(), at, sums: &[] };
                    let of = |x: ValueId| self.name(x, (names, ""), lanes);
                    operation(shader, self.body, value, lanes, &of, &place)
                }
            };
            main.line(format!("let {}{value} = {expression};", names.prefix));
        }
    }

    /// The result of a reduction for the `lanes` rows from `row` on.
    fn result(&self, shader: &mut Shader<'_>, reduction: ValueId, lanes: u32, row: &str) -> String {
        let state = self.state(reduction);
        let words = state.words().into_iter().zip(self.result_word(reduction)..).map(|(dtype, word)| {
            let entry = |lane: u32| format!("lhs_rows[{row} + {}u]", word * self.rows + lane);
            let bits = match lanes {
                1 => entry(0),
                _ => format!("vec4<u32>({}, {}, {}, {})", entry(0), entry(1), entry(2), entry(3)),
            };
            from_bits(dtype, lanes, &bits)
        });
        let words: Vec<String> = words.collect();
        state.value(&mut shader.helpers, lanes, &words)
    }

    /// Writes the operand's program for elements, whose rows are declared under `rows`; returns its value.
    pub(super) fn value(
        &self,
        shader: &mut Shader<'_>,
        main: &mut CodeBuffer,
        rows: RowNames<'_>,
        place: &OperandPlace<'_>,
    ) -> String {
        let prefix = place.operand.prefix;
        self.elements(shader, main, &[self.value], (rows, prefix), place);
        self.name(self.value, (rows, prefix), place.operand.lanes)
    }

    fn elements(
        &self,
        shader: &mut Shader<'_>,
        main: &mut CodeBuffer,
        roots: &[ValueId],
        names: (RowNames<'_>, &str),
        place: &OperandPlace<'_>,
    ) {
        let lanes = place.operand.lanes;
        for value in self.body.needed(roots) {
            if self.operand.levels[value].per_element {
                let of = |x: ValueId| self.name(x, names, lanes);
                let expression = operation(shader, self.body, value, lanes, &of, place);
                main.line(format!("let {}{value} = {expression};", names.1));
            }
        }
    }

    /// A value as an operand of `lanes` elements: an element's, or the row's, repeated.
    fn name(&self, value: ValueId, (rows, prefix): (RowNames<'_>, &str), lanes: u32) -> String {
        let dtype: DType = self.body.values[value].dtype;
        match self.body.values[value].op {
            ValueOp::Literal(number) => literal(number, dtype, lanes),
            _ if self.operand.levels[value].per_element => format!("{prefix}{value}"),
            _ if rows.lanes == lanes => format!("{}{value}", rows.prefix),
            _ => format!("{}({}{value})", vector_type(dtype, lanes), rows.prefix),
        }
    }
}

/// The state of four lanes, if there are as many.
fn fold_lanes(main: &mut CodeBuffer, state: ReductionState, lanes: u32, words: Vec<String>, name: &str) -> Vec<String> {
    if lanes == 1 {
        return words;
    }
    let lane = |lane: &str| words.iter().map(|word| format!("{word}.{lane}")).collect();
    let lanes = ["x", "y", "z", "w"].map(lane);
    state.tree(main, lanes.to_vec(), name)
}
