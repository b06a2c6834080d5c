//! Row prologue: reductions of a product's left operand, before the multiplication.
//!
//! Stage by stage, invocations that share a row walk down the depth side by side, several vectors at a time. Partial
//! results merge as balanced trees, and long sums track rounding errors, so that sums are as accurate as pairwise ones.
//! Results stay in workgroup memory, as bits. Operand loads read their row's results once, before the loop over the
//! depth.

use super::{
    epilogue::Axes,
    expr::{literal, operation},
    operand::{Operand, OperandPlace},
    reduction::{
        combine::{add_exactly, bind_opaque, merge_into},
        state::{ReductionState, from_bits, to_bits},
    },
    shader::{Shader, lane_coordinates},
};
use crate::{
    fusion::{
        Contraction, Group,
        body::{Body, ValueId, ValueOp},
    },
    kernel::{Arena, Block, Scalar, Ty, Val},
    schedule::contraction::row_prologue::{RowPrologue, SHARING},
};

/// Outstanding loads per invocation.
const UNROLL: u32 = 4;

pub(super) struct RowPrologueKernel<'a> {
    group: &'a Group,
    body: &'a Body,
    value: ValueId,
    operand: RowPrologue,
    rows: u32,
    invocations: u32,
    batch: usize,
    buffer_lanes: u32,
}

/// Names of row values: their prefix, and how many rows each has.
#[derive(Clone, Copy)]
pub(super) struct RowNames<'n> {
    pub(super) prefix: &'n str,
    pub(super) lanes: u32,
}

impl<'a> RowPrologueKernel<'a> {
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

    /// Accesses read once row values are known.
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

    pub(super) fn compute<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        axes: &Axes<'k>,
        row0: Val<'k>,
        lanes: u32,
    ) {
        let results = shader.workgroup_array("lhs_rows", Ty::U32, self.operand.result_entries(self.rows));
        let entries = RowPrologue::part_entries(self.rows, self.invocations);
        let parts: Vec<Val<'k>> = (0..self.operand.part_words)
            .map(|w| shader.workgroup_array(&format!("lhs_parts{w}"), Ty::U32, entries))
            .collect();
        let opaque = bind_opaque(b, axes.depth);
        for stage in &self.operand.stages {
            self.walk(shader, b, axes, stage, &Walk { row0, lanes, parts: &parts, opaque });
            b.workgroup_barrier();
            self.combine(shader, b, stage, &parts, results);
            b.workgroup_barrier();
        }
    }

    fn walk<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        axes: &Axes<'k>,
        stage: &[(ValueId, ValueId)],
        walk: &Walk<'_, 'k>,
    ) {
        let sharing = RowPrologue::sharing(self.rows, self.invocations);
        let at_once = self.invocations / sharing;
        let local = shader.local();
        let idle = (at_once * sharing < self.invocations).then(|| local.lt(at_once * sharing));
        b.when_some(idle, |b| {
            b.range("row", local / sharing, self.rows, at_once, |b, row| {
                self.walk_row(shader, b, axes, stage, walk, row);
            });
        });
    }

    fn walk_row<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        axes: &Axes<'k>,
        stage: &[(ValueId, ValueId)],
        walk: &Walk<'_, 'k>,
        row: Val<'k>,
    ) {
        let (arena, local, lanes) = (shader.arena(), shader.local(), walk.lanes);
        let sharing = RowPrologue::sharing(self.rows, self.invocations);
        let at_row = b.bind("at_row", (walk.row0 + row).min(axes.rows - 1));
        let roots: Vec<ValueId> = stage.iter().map(|(_, x)| *x).collect();
        let names = RowNames { prefix: "row_v", lanes: 1 };
        let mut at = axes.batch();
        at.extend([at_row, arena.u32(0)]);
        self.row_values(shader, b, &roots, names, &at, row);
        let operand = self.operand(lanes, self.batch + 1);
        let mut bases = vec![];
        for access in self.element_loads(&roots) {
            let mut place: Vec<Option<Val<'k>>> = at.iter().copied().map(Some).collect();
            place[self.batch + 1] = None;
            let offset = operand.offset(shader, access, &place);
            bases.push((access, b.bind(format!("row_base{access}"), offset)));
        }
        let mut totals = vec![];
        for &(reduction, _) in stage {
            let state = self.state(reduction);
            let neutral = state.neutral(arena, if state.is_float_sum() { 1 } else { lanes });
            let mut words = vec![];
            let mut lost = None;
            for (w, &neutral) in neutral.iter().enumerate() {
                words.push(b.var(format!("total{reduction}_{w}"), neutral));
                if state.is_float_sum() {
                    lost = Some(b.var(format!("lost{reduction}"), neutral));
                }
            }
            totals.push(Total { reduction, state, words, lost });
        }
        let step = sharing * lanes * UNROLL;
        b.range("depth", local % sharing * lanes, axes.depth, step, |b, depth| {
            self.step(shader, b, axes, &roots, &totals, (&operand, &bases), &mut at, [depth, walk.opaque]);
        });
        let mut parts = walk.parts.iter();
        for Total { reduction, state, words, lost } in totals {
            let words = match lost {
                Some(lost) => vec![shader.helpers.call("restored", &[words[0], lost])],
                None => state.of_lanes(b, words, &format!("folded{reduction}")),
            };
            for (bits, part) in words.into_iter().zip(&mut parts) {
                b.set(part.at(row * (sharing + 1) + local % sharing), to_bits(bits));
            }
        }
    }

    /// One step down the depth: all loads, then values from them.
    #[allow(clippy::too_many_arguments, reason = "of one caller, which has them all")]
    fn step<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        axes: &Axes<'k>,
        roots: &[ValueId],
        totals: &[Total<'k>],
        (operand, bases): (&Operand<'_>, &[(u16, Val<'k>)]),
        at: &mut [Val<'k>],
        [depth, opaque]: [Val<'k>; 2],
    ) {
        let (arena, lanes) = (shader.arena(), operand.lanes);
        let apart = RowPrologue::sharing(self.rows, self.invocations) * lanes;
        let mut places = vec![];
        for u in 0..UNROLL {
            let depth = b.bind(format!("depth_{u}"), depth + u * apart);
            let at = b.bind(format!("at_{u}"), depth.min(axes.depth - lanes));
            places.push([depth, at]);
            for &(access, base) in bases {
                let offset = operand.advance(shader, access, self.batch + 1, base, at);
                let value = operand.load(shader, access, offset);
                b.bind(format!("x{access}_{u}"), value);
            }
        }
        let mut found: Vec<Vec<Vec<Val<'k>>>> = vec![vec![]; totals.len()];
        for (u, &[depth, place]) in places.iter().enumerate() {
            at[self.batch + 1] = place;
            let rows = RowNames { prefix: "row_v", lanes: 1 };
            let prefix = format!("v{u}_");
            let loaded = |access| operand.named(arena, access, format!("x{access}_{u}"));
            let context = OperandPlace { operand, loaded: &loaded, at, accumulators: &[] };
            self.elements(shader, b, roots, (rows, &prefix), &context);
            for ((Total { reduction, state, .. }, &x), found) in totals.iter().zip(roots).zip(&mut found) {
                let index = lane_coordinates(place, lanes, true);
                let element = self.name(arena, x, (rows, &prefix), lanes);
                let words = state.of_element(&mut shader.helpers, element, index);
                let inside = depth.lt(axes.depth);
                let words = words.into_iter().zip(state.neutral(arena, lanes));
                let words: Vec<Val<'k>> = words.map(|(word, neutral)| inside.select(word, neutral)).collect();
                found.push(b.bind_all(&format!("found{reduction}_{u}"), &words));
            }
        }
        for (Total { reduction, state, words: totals, lost }, found) in totals.iter().zip(found) {
            let words = state.tree(b, found, &format!("taken{reduction}"));
            if let Some(lost) = lost {
                // Lanes of a sum are added first: tracking a rounding error costs more than an addition.
                let words = state.of_lanes(b, words, &format!("lanes{reduction}"));
                add_exactly(shader, b, *reduction, [totals[0], *lost, opaque], words[0]);
            } else {
                merge_into(b, *state, totals, &words);
            }
        }
    }

    fn combine<'k>(
        &self,
        shader: &Shader<'k>,
        b: &mut Block<'k>,
        stage: &[(ValueId, ValueId)],
        parts: &[Val<'k>],
        results: Val<'k>,
    ) {
        let (rows, invocations) = (self.rows, self.invocations);
        let (local, sharing) = (shader.local(), RowPrologue::sharing(rows, invocations));
        if sharing > SHARING {
            b.range("i", local, rows * SHARING, invocations, |b, i| {
                let first = b.bind("first", i / SHARING * (sharing + 1) + i % SHARING);
                let target = |word: u32, _| parts[word as usize].at(first);
                self.merge_parts(b, stage, (parts, first), [sharing / SHARING, SHARING], &target);
            });
            b.workgroup_barrier();
        }
        b.range("row", local, rows, invocations, |b, row| {
            let first = b.bind("first", row * (sharing + 1));
            let target = |_, word: u32| results.at(row + word * rows);
            self.merge_parts(b, stage, (parts, first), [SHARING, 1], &target);
        });
    }

    /// Merges `count` parts from `first` on, `apart` entries from each other. `target` gives the place of a word, by
    /// its index in its stage and in the row's results.
    fn merge_parts<'k>(
        &self,
        b: &mut Block<'k>,
        stage: &[(ValueId, ValueId)],
        (parts, first): (&[Val<'k>], Val<'k>),
        [count, apart]: [u32; 2],
        target: &dyn Fn(u32, u32) -> Val<'k>,
    ) {
        let mut first_word = 0;
        for &(reduction, _) in stage {
            let state = self.state(reduction);
            let mut states = vec![];
            for part in 0..count {
                let mut words = vec![];
                for (dtype, word) in state.words().into_iter().zip(first_word..) {
                    let bits = parts[word as usize].at(first + part * apart);
                    words.push(b.bind(format!("part{word}_{part}"), from_bits(dtype, bits)));
                }
                states.push(words);
            }
            let words = state.tree(b, states, &format!("together{reduction}"));
            for (&word, w) in words.iter().zip(0..) {
                b.set(target(first_word + w, self.result_word(reduction) + w), to_bits(word));
            }
            first_word += words.len() as u32;
        }
    }

    fn result_word(&self, reduction: ValueId) -> u32 {
        let known = self.operand.words.iter().find(|(value, _)| *value == reduction);
        known.map_or(0, |(_, word)| *word)
    }

    /// Binds row values that elements need; `at` are the row's coordinates, and `row` is its index in the workgroup.
    pub(super) fn declare<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        names: RowNames<'_>,
        at: &[Val<'k>],
        row: Val<'k>,
    ) {
        self.row_values(shader, b, &[self.value], names, at, row);
    }

    fn row_values<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        roots: &[ValueId],
        names: RowNames<'_>,
        at: &[Val<'k>],
        row: Val<'k>,
    ) {
        let (arena, lanes) = (shader.arena(), names.lanes);
        let operand = self.operand(lanes, self.batch);
        let place: Vec<Option<Val<'k>>> = at.iter().copied().map(Some).collect();
        for value in self.body.needed(roots) {
            let known = &self.body.values[value];
            let computed = match known.op {
                _ if self.operand.levels[value].per_element => continue,
                ValueOp::Literal(_) => continue,
                ValueOp::Reduce(..) => self.result(shader, value, lanes, row),
                ValueOp::Load(access) => {
                    let offset = operand.offset(shader, access, &place);
                    operand.load(shader, access, offset)
                }
                _ => {
                    let loaded = |_| unreachable!("values per row name their loads");
                    let place = OperandPlace { operand: &operand, loaded: &loaded, at, accumulators: &[] };
                    let of = |x: ValueId| self.name(arena, x, (names, ""), lanes);
                    operation(shader, self.body, value, lanes, &of, &place)
                }
            };
            b.bind(format!("{}{value}", names.prefix), computed);
        }
    }

    fn result<'k>(&self, shader: &mut Shader<'k>, reduction: ValueId, lanes: u32, row: Val<'k>) -> Val<'k> {
        let state = self.state(reduction);
        let (arena, results) = (shader.arena(), shader.array("lhs_rows"));
        let words = state.words().into_iter().zip(self.result_word(reduction)..).map(|(dtype, word)| {
            let entries: Vec<Val<'k>> = (0..lanes).map(|lane| results.at(row + (word * self.rows + lane))).collect();
            let bits = match entries[..] {
                [entry] => entry,
                _ => arena.construct(Ty::vector(Scalar::U32, lanes), &entries),
            };
            from_bits(dtype, bits)
        });
        let words: Vec<Val<'k>> = words.collect();
        state.value(&mut shader.helpers, &words)
    }

    pub(super) fn value<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        rows: RowNames<'_>,
        place: &OperandPlace<'_, 'k>,
    ) -> Val<'k> {
        let prefix = place.operand.prefix;
        self.elements(shader, b, &[self.value], (rows, prefix), place);
        self.name(shader.arena(), self.value, (rows, prefix), place.operand.lanes)
    }

    fn elements<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        roots: &[ValueId],
        names: (RowNames<'_>, &str),
        place: &OperandPlace<'_, 'k>,
    ) {
        let (arena, lanes) = (shader.arena(), place.operand.lanes);
        for value in self.body.needed(roots) {
            if self.operand.levels[value].per_element {
                let of = |x: ValueId| self.name(arena, x, names, lanes);
                let computed = operation(shader, self.body, value, lanes, &of, place);
                b.bind(format!("{}{value}", names.1), computed);
            }
        }
    }

    /// A value as an operand of `lanes` elements: an element value, or a broadcast row value.
    fn name<'k>(&self, arena: &'k Arena, value: ValueId, (rows, prefix): (RowNames<'_>, &str), lanes: u32) -> Val<'k> {
        let dtype = self.body.values[value].dtype;
        match self.body.values[value].op {
            ValueOp::Literal(number) => literal(arena, number, dtype, lanes),
            _ if self.operand.levels[value].per_element => arena.name(format!("{prefix}{value}"), Ty::of(dtype, lanes)),
            _ => arena.name(format!("{}{value}", rows.prefix), Ty::of(dtype, rows.lanes)).splat(lanes),
        }
    }
}

/// Inputs of a walk: the workgroup's first row, elements per load, arrays of parts in workgroup memory, and a zero
/// hidden from the driver's compiler.
struct Walk<'a, 'k> {
    row0: Val<'k>,
    lanes: u32,
    parts: &'a [Val<'k>],
    opaque: Val<'k>,
}

struct Total<'k> {
    reduction: ValueId,
    state: ReductionState,
    words: Vec<Val<'k>>,
    /// Accumulated rounding errors of float sums.
    lost: Option<Val<'k>>,
}
