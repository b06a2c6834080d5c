//! Reduction kernels: stage after stage, each with the known row values, the element values, and the reductions that
//! the next stage needs.
//!
//! Schedules that hold their rows unroll every load and keep values of earlier stages. Streamed schedules read and
//! recompute them at each stage. Split schedules have a pass per stage, which first merges the partial results in the
//! scratch buffer: word `w` of part `s` of row `r` at `(w·splits + s)·rows + r`.
//!
//! Modules: `place` (offsets), `state` (words of a reduction), `combine` (merging between invocations), `elements`
//! (values of elements), `stages` (their order), `scatter` (elements that count), `split` (the scratch buffer).

pub(in crate::wgsl) mod combine;
mod elements;
mod place;
mod scatter;
mod split;
mod stages;
pub(in crate::wgsl) mod state;

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Grid, Pass, Schedule, Scratch, Uniform, Variant, schedule::ReductionOrder};

use self::{
    elements::{Slot, Values},
    place::{Frame, Site},
    state::ReductionState,
};
use super::{grid, names::Names, shader::Shader};
use crate::{
    fusion::{
        Group, Reduction,
        body::{Body, ValueId, ValueOp},
        legality::MAX_STORAGE_BUFFERS,
    },
    kernel::{Arena, Block, Val},
    schedule::reduction::ScheduleSpec,
};

/// Builds the variant of a schedule; `None` if the scratch buffer would exceed the limit of bindings.
pub fn variant(group: &Group, reduction: &Reduction, names: &Names, scheduled: &ScheduleSpec) -> Option<Variant> {
    let frame = &Frame::new(group, reduction.axes, scheduled.schedule);
    let schedule = frame.schedule;
    let last = frame.last_stage();
    let parts: Vec<Part> = match (schedule.split, last) {
        (true, 0) => return None,
        (true, _) => (0..=last).map(Part::Stage).filter(|part| part.has_work(frame)).collect(),
        (false, _) => vec![Part::Whole],
    };
    let passes: Vec<Pass> = parts.into_iter().map(|part| pass(frame, names, part)).collect();
    if schedule.split && passes.iter().any(|pass| pass.bindings.len() > MAX_STORAGE_BUFFERS) {
        return None;
    }
    let per_row = if schedule.split { frame.scratch_words().values().map(|(_, words)| words).sum() } else { 0 };
    let schedule = Schedule::Reduction(schedule);
    Some(Variant {
        name: schedule.to_string().into(),
        requires: scheduled.requires.clone().into(),
        features: schedule.features(),
        schedule,
        scratch: Scratch { per_output: 0, per_row },
        passes: passes.into(),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// One stage of a split row: reads earlier stages' reductions from the scratch buffer and writes those of the next.
    Stage(usize),
}

impl Part {
    fn has_work(self, frame: &Frame<'_>) -> bool {
        match self {
            Self::Stage(stage) if stage == frame.last_stage() => {
                (0..frame.group.stores.len()).any(|n| frame.stores_at(n, stage) || !frame.stores_elements(n))
            }
            Self::Stage(_) | Self::Whole => true,
        }
    }

    /// True if workgroups share rows: always, except in a last pass without element values.
    fn is_shared(self, frame: &Frame<'_>) -> bool {
        let Self::Stage(stage) = self else { return false };
        let last = stage == frame.last_stage();
        !last || (0..frame.group.stores.len()).any(|n| frame.stores_at(n, stage))
    }
}

impl Frame<'_> {
    fn body(&self) -> &Body {
        &self.group.body
    }

    fn last_stage(&self) -> usize {
        self.levels.iter().map(|level| level.stage).max().unwrap_or(0)
    }

    fn stores_at(&self, n: usize, stage: usize) -> bool {
        self.stores_elements(n) && self.levels[self.group.stores[n].value].stage == stage
    }

    fn reductions(&self, stage: usize) -> Vec<ValueId> {
        let values = self.body().values.iter().enumerate();
        let reduces = values.filter(|(_, value)| matches!(value.op, ValueOp::Reduce(..))).map(|(i, _)| i);
        reduces.filter(|&i| self.levels[i].stage == stage).collect()
    }

    fn state(&self, reduction: ValueId) -> ReductionState {
        let ValueOp::Reduce(op, x) = self.body().values[reduction].op else {
            unreachable!("value {reduction} is listed as a reduction")
        };
        ReductionState::new(op, self.body().values[x].dtype)
    }

    fn reduced(&self, reduction: ValueId) -> ValueId {
        Body::operands(&self.body().values[reduction].op)[0]
    }

    /// For each reduction, its first word per part and row in the scratch buffer; and the number of words.
    fn scratch_words(&self) -> BTreeMap<ValueId, (u32, u32)> {
        let mut words = BTreeMap::new();
        let mut first = 0;
        for reduction in (1..=self.last_stage()).flat_map(|stage| self.reductions(stage)) {
            let count = self.state(reduction).words().len() as u32;
            words.insert(reduction, (first, count));
            first += count;
        }
        words
    }
}

fn pass(frame: &Frame<'_>, names: &Names, part: Part) -> Pass {
    let arena = Arena::default();
    let mut shader = Shader::new(&arena, names, frame.group);
    if let Some(smallest) = frame.schedule.subgroups() {
        shader.use_subgroups(smallest);
    }
    let mut b = Block::new();
    let by_part = part.is_shared(frame);
    let at = Invocation::locate(frame, &mut shader, &mut b, by_part);
    let mut kernel = ReductionKernel {
        frame,
        part,
        shader,
        at,
        slots: vec![],
        row_values: BTreeMap::new(),
        held_values: vec![BTreeMap::new(); frame.schedule.held().unwrap_or(0) as usize],
        shared: vec![],
        slots_in_use: 0,
        opaque: None,
    };
    kernel.stages(&mut b);
    let mut shader = kernel.shader;
    shader.main = b;
    let rows = frame.schedule.rows;
    let grid = if matches!(part, Part::Whole) || by_part {
        Grid::Rows { rows }
    } else {
        Grid::Elements { per_workgroup: rows }
    };
    shader.finish(grid, frame.schedule.workgroup())
}

struct Invocation<'k> {
    block: Val<'k>,
    part: Option<Val<'k>>,
    lane: Val<'k>,
    unit: Option<Val<'k>>,
    /// The row, clamped, or the first of its columns.
    row: Val<'k>,
    /// True if the unclamped row exists; `None` if all do.
    valid: Option<Val<'k>>,
    kept: Vec<Val<'k>>,
    /// The workgroup's range of the row's elements.
    begin: Option<Val<'k>>,
    end: Val<'k>,
    /// Offset at the row's first element, for accesses that move along the row.
    bases: BTreeMap<u16, Val<'k>>,
}

impl<'k> Invocation<'k> {
    fn locate(frame: &Frame<'_>, shader: &mut Shader<'k>, b: &mut Block<'k>, by_part: bool) -> Self {
        let schedule = frame.schedule;
        let id = grid::workgroups(shader, b);
        let (part, block) = if by_part {
            let count = shader.uniform(Uniform::Count);
            let blocks = if schedule.rows == 1 { count } else { (count + (schedule.rows - 1)) / schedule.rows };
            let part = b.bind("part", id / blocks);
            (Some(part), b.bind("block", id % blocks))
        } else {
            (None, b.bind("block", id))
        };
        let (lane, unit, (row, valid)) = match (schedule.order, schedule.rows) {
            (ReductionOrder::Rows { .. }, 1) => {
                let lane = b.bind("lane", shader.local());
                (lane, None, (b.bind("row", block), None))
            }
            (ReductionOrder::Rows { .. }, rows) => {
                // Invocations of a row must be in one subgroup, whose order may differ from that of `local`; a
                // workgroup of 256 fills its subgroups.
                let subgroup = shader.subgroup();
                let at = match schedule.subgroups() {
                    Some(_) => subgroup.id * subgroup.size + subgroup.lane,
                    None => shader.local(),
                };
                let at = b.bind("at", at);
                let lane = b.bind("lane", at % schedule.invocations);
                (lane, None, clamp_row(shader, b, block * rows + at / schedule.invocations, 1))
            }
            (ReductionOrder::Columns | ReductionOrder::Scatter { .. }, columns) => {
                let units = columns / schedule.lanes;
                let unit = b.bind("unit", shader.local() % units);
                let lane = b.bind("lane", shader.local() / units);
                let first = block * columns + unit * schedule.lanes;
                (lane, Some(unit), clamp_row(shader, b, first, schedule.lanes))
            }
        };
        let kept = decode_row(frame, shader, b, row);
        let length = shader.uniform(Uniform::RowLength);
        let (begin, end) = if let Some(part) = part {
            let depth = shader.uniform(Uniform::SplitDepth);
            let begin = b.bind("begin", part * depth);
            (Some(begin), b.bind("end", length.min(begin + depth)))
        } else {
            (None, b.bind("end", length))
        };
        Self { block, part, lane, unit, row, valid, kept, begin, end, bases: BTreeMap::new() }
    }
}

fn clamp_row<'k>(shader: &mut Shader<'k>, b: &mut Block<'k>, row: Val<'k>, lanes: u32) -> (Val<'k>, Option<Val<'k>>) {
    let count = shader.uniform(Uniform::Count);
    let at = b.bind("row_at", row);
    let valid = b.bind("valid", at.lt(count));
    (b.bind("row", at.min(count - lanes)), Some(valid))
}

fn decode_row<'k>(frame: &Frame<'_>, shader: &mut Shader<'k>, b: &mut Block<'k>, row: Val<'k>) -> Vec<Val<'k>> {
    let mut rest = row;
    let mut coordinates = vec![];
    for axis in (1..frame.schedule.axes[0]).rev() {
        let extent = shader.uniform(Uniform::Extent { axis });
        let outer = b.bind(format!("rows{axis}"), rest / extent);
        coordinates.push(b.bind(format!("k{axis}"), rest % extent));
        rest = outer;
    }
    coordinates.push(b.bind("k0", rest));
    coordinates.reverse();
    coordinates
}

struct ReductionKernel<'a, 'k> {
    frame: &'a Frame<'a>,
    part: Part,
    shader: Shader<'k>,
    at: Invocation<'k>,
    row_values: Values<'k>,
    slots: Vec<Slot<'k>>,
    held_values: Vec<Values<'k>>,
    /// Arrays in workgroup memory, and how many may still be read.
    shared: Vec<Val<'k>>,
    slots_in_use: usize,
    /// A zero hidden from the driver's compiler.
    opaque: Option<Val<'k>>,
}

impl<'k> ReductionKernel<'_, 'k> {
    fn stages(&mut self, b: &mut Block<'k>) {
        let frame = self.frame;
        let (first, last) = match self.part {
            Part::Whole => (0, frame.last_stage()),
            Part::Stage(stage) => (stage, stage),
        };
        let used = self.used();
        self.bind_bases(b, &used);
        if first > 0 {
            self.combine_scratch(b, &used);
        }
        for stage in first..=last {
            let known_from = if stage == first { 0 } else { stage };
            let row_values: Vec<ValueId> = used
                .iter()
                .copied()
                .filter(|&v| !frame.levels[v].per_element && (known_from..=stage).contains(&frame.levels[v].stage))
                .collect();
            self.compute_row_values(b, &row_values);
            self.stage(b, stage, &used);
        }
        if last == frame.last_stage() {
            self.row_stores(b);
        }
    }

    fn used(&self) -> BTreeSet<ValueId> {
        let frame = self.frame;
        let stores = 0..frame.group.stores.len();
        let store_value = |n: usize| frame.group.stores[n].value;
        let (mut pending, from_scratch): (Vec<ValueId>, usize) = match self.part {
            Part::Whole => (stores.map(store_value).collect(), 0),
            Part::Stage(stage) => {
                let is_last = stage == frame.last_stage();
                let stored = stores.filter(|&n| frame.stores_at(n, stage) || (is_last && !frame.stores_elements(n)));
                let reduced = frame.reductions(stage + 1).into_iter().map(|r| frame.reduced(r));
                (stored.map(store_value).chain(reduced).collect(), stage)
            }
        };
        let mut used = BTreeSet::new();
        while let Some(value) = pending.pop() {
            if !used.insert(value) {
                continue;
            }
            let op = &frame.body().values[value].op;
            let known = matches!(op, ValueOp::Reduce(..)) && frame.levels[value].stage <= from_scratch;
            if !known {
                pending.extend(Body::operands(op));
            }
        }
        used
    }

    /// Binds `base…`, the offset at the row's first element, of accesses that move along the row.
    fn bind_bases(&mut self, b: &mut Block<'k>, used: &BTreeSet<ValueId>) {
        let frame = self.frame;
        let stages = match self.part {
            Part::Whole => 0..=frame.last_stage(),
            Part::Stage(stage) => stage..=stage,
        };
        let loads = used.iter().filter(|&&v| frame.levels[v].per_element);
        let mut accesses: BTreeSet<u16> = loads.flat_map(|&v| frame.body().values[v].op.accesses()).collect();
        let stores = (0..frame.group.stores.len()).filter(|&n| stages.clone().any(|stage| frame.stores_at(n, stage)));
        accesses.extend(stores.map(|n| frame.store_access(n)));
        for access in accesses {
            let row = Site { frame, at: &self.at, element: None, single: false };
            let offset = row.row_offset(&mut self.shader, access);
            self.at.bases.insert(access, b.bind(format!("base{access}"), offset));
        }
    }

    /// The conjunction of `conditions` and the row's existence.
    fn guard(&self, conditions: &[Val<'k>]) -> Option<Val<'k>> {
        conditions.iter().copied().chain(self.at.valid).reduce(Val::and)
    }

    /// Reductions finished by a stage that this pass uses or passes on.
    fn finished_by(&self, stage: usize, used: &BTreeSet<ValueId>) -> Vec<ValueId> {
        let reductions = self.frame.reductions(stage + 1);
        match self.part {
            Part::Whole => reductions.into_iter().filter(|r| used.contains(r)).collect(),
            Part::Stage(_) => reductions,
        }
    }
}
