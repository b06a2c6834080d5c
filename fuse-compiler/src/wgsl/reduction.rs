//! The text of reductions: one stage after the other, each with the values per row that are known by then, the values
//! per element, and the reductions that the next stage waits for.
//!
//! Schedules that hold their rows write every load out, and keep what earlier stages computed; streamed schedules read the
//! row again at each stage and compute again what they need. Split schedules have a pass per stage: it first takes
//! together what the workgroups of earlier passes left in the scratch buffer, word `w` of part `s` of row `r` at
//! `(w·splits + s)·rows + r`.
//!
//! `place` knows offsets, `state` what a reduction is, `combine` how invocations share it, `elements` what is computed of
//! elements, `stages` what is computed when, `scatter` which elements count, `split` the scratch buffer.

mod combine;
mod elements;
mod place;
mod scatter;
mod split;
mod stages;
pub(in crate::wgsl) mod state;

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Grid, Pass, Schedule, Scratch, Uniform, Variant, schedule::ReductionOrder};

use self::{place::Frame, state::ReductionState};
use super::{
    names::Names,
    shader::{CodeBuffer, Shader},
};
use crate::{
    fusion::{
        Group, Reduction,
        body::{Body, ValueId, ValueOp},
        legality::MAX_STORAGE_BUFFERS,
    },
    schedule::reduction::ScheduleSpec,
};

/// One schedule of a group's family as a variant; `None` if the scratch buffer is one too many to bind.
pub fn variant(group: &Group, reduction: &Reduction, names: &Names, scheduled: &ScheduleSpec) -> Option<Variant> {
    let frame = &Frame::new(group, reduction.axes, scheduled.schedule);
    let schedule = frame.schedule;
    let last = frame.last_stage();
    let parts: Vec<Part> = match (schedule.split, last) {
        (true, 0) => return None,
        (true, _) => (0..=last).map(Part::Stage).filter(|part| part.has_work(frame)).collect(),
        (false, _) => vec![Part::Whole],
    };
    let passes: Vec<Pass> = parts.into_iter().map(|part| Text::new(frame, names, part).pass()).collect();
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

/// What one pass computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Everything.
    Whole,
    /// One stage of a split row: with the reductions of earlier stages from the scratch buffer, those of the next to it.
    Stage(usize),
}

impl Part {
    /// Whether the pass writes anything.
    fn has_work(self, frame: &Frame<'_>) -> bool {
        match self {
            Self::Stage(stage) if stage == frame.last_stage() => {
                (0..frame.group.stores.len()).any(|n| frame.stores_at(n, stage) || !frame.stores_elements(n))
            }
            Self::Stage(_) | Self::Whole => true,
        }
    }
}

impl Frame<'_> {
    fn body(&self) -> &Body {
        &self.group.body
    }

    /// The number of dependent reductions.
    fn last_stage(&self) -> usize {
        self.levels.iter().map(|level| level.stage).max().unwrap_or(0)
    }

    /// Whether a store writes the elements of rows at this stage.
    fn stores_at(&self, n: usize, stage: usize) -> bool {
        self.stores_elements(n) && self.levels[self.group.stores[n].value].stage == stage
    }

    /// The reductions whose results are known from this stage on.
    fn reductions(&self, stage: usize) -> Vec<ValueId> {
        let values = self.body().values.iter().enumerate();
        let reduces = values.filter(|(_, value)| matches!(value.op, ValueOp::Reduce(..))).map(|(i, _)| i);
        reduces.filter(|&i| self.levels[i].stage == stage).collect()
    }

    /// The state of a reduction.
    fn state(&self, reduction: ValueId) -> ReductionState {
        let ValueOp::Reduce(op, x) = self.body().values[reduction].op else {
            unreachable!("value {reduction} is listed as a reduction")
        };
        ReductionState::new(op, self.body().values[x].dtype)
    }

    /// The operand of a reduction.
    fn reduced(&self, reduction: ValueId) -> ValueId {
        Body::operands(&self.body().values[reduction].op)[0]
    }

    /// For each reduction, its first word per part and row in the scratch buffer, and their number.
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

/// One pass under construction.
struct Text<'a> {
    frame: &'a Frame<'a>,
    part: Part,
    shader: Shader<'a>,
    main: CodeBuffer,
    /// Names of values per row that are known.
    row_names: BTreeMap<ValueId, String>,
    /// For schedules that hold their rows: for each load, the names of values per element.
    held_names: Vec<BTreeMap<ValueId, String>>,
    /// Arrays in workgroup memory: declared, and holding something that may still be read.
    slots_declared: usize,
    slots_in_use: usize,
    /// Whether `opaque` is declared.
    has_opaque: bool,
}

impl<'a> Text<'a> {
    fn new(frame: &'a Frame<'a>, names: &'a Names, part: Part) -> Self {
        let mut shader = Shader::new(names, frame.group);
        if let Some(smallest) = frame.schedule.subgroups() {
            shader.use_subgroups(smallest);
        }
        let held_names = vec![BTreeMap::new(); frame.schedule.held().unwrap_or(0) as usize];
        let (main, row_names) = (CodeBuffer::indented(), BTreeMap::new());
        Self { frame, part, shader, main, row_names, held_names, slots_declared: 0, slots_in_use: 0, has_opaque: false }
    }

    fn pass(mut self) -> Pass {
        let frame = self.frame;
        let (first, last) = match self.part {
            Part::Whole => (0, frame.last_stage()),
            Part::Stage(stage) => (stage, stage),
        };
        let by_part = self.is_by_part();
        self.locate(by_part);
        let used = self.used();
        self.declare_bases(&used);
        if first > 0 {
            self.combine_scratch(&used);
        }
        for stage in first..=last {
            let known_from = if stage == first { 0 } else { stage };
            let row_values: Vec<ValueId> = used
                .iter()
                .copied()
                .filter(|&v| !frame.levels[v].per_element && (known_from..=stage).contains(&frame.levels[v].stage))
                .collect();
            self.row_values(&row_values);
            self.stage(stage, &used);
        }
        if last == frame.last_stage() {
            self.row_stores(by_part);
        }
        let Self { mut shader, main, .. } = self;
        shader.main = main;
        let rows = frame.schedule.rows;
        let grid = if matches!(self.part, Part::Whole) || by_part {
            Grid::Rows { rows }
        } else {
            Grid::Elements { per_workgroup: rows }
        };
        shader.finish(grid, frame.schedule.workgroup())
    }

    /// Whether several workgroups share the rows of this pass: all but a last one without values per element.
    fn is_by_part(&self) -> bool {
        let Part::Stage(stage) = self.part else { return false };
        let last = stage == self.frame.last_stage();
        !last || (0..self.frame.group.stores.len()).any(|n| self.frame.stores_at(n, stage))
    }

    /// The values that this pass computes, or takes from the scratch buffer.
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

    /// Which row, lane and part this invocation has: `row` (clamped), `valid`, `lane`, and the kept coordinates.
    fn locate(&mut self, by_part: bool) {
        let schedule = self.frame.schedule;
        let workgroups = self.shader.uniform(Uniform::Workgroups);
        self.main.line("let id = workgroup.x + workgroup.y * workgroups.x;");
        self.main.line(format!("if id >= {workgroups} {{"));
        self.main.line("return;");
        self.main.line("}");
        if by_part {
            let count = self.shader.uniform(Uniform::Count);
            let blocks = if schedule.rows == 1 {
                count
            } else {
                format!("(({count} + {}u) / {}u)", schedule.rows - 1, schedule.rows)
            };
            self.main.line(format!("let part = id / {blocks};"));
            self.main.line(format!("let block = id % {blocks};"));
        } else {
            self.main.line("let block = id;");
        }
        match (schedule.order, schedule.rows) {
            (ReductionOrder::Rows { .. }, 1) => {
                self.main.line("let lane = local;");
                self.main.line("let row = block;");
            }
            (ReductionOrder::Rows { .. }, rows) => {
                // Invocations of a row must lie in one subgroup, where the order of `local` says nothing; a workgroup of
                // 256 fills its subgroups.
                let at =
                    if schedule.subgroups().is_some() { "subgroup * subgroup_size + subgroup_lane" } else { "local" };
                self.main.line(format!("let at = {at};"));
                self.main.line(format!("let lane = at % {}u;", schedule.invocations));
                self.clamp_row(&format!("block * {rows}u + at / {}u", schedule.invocations), 1);
            }
            (ReductionOrder::Columns | ReductionOrder::Scatter { .. }, columns) => {
                let units = columns / schedule.lanes;
                self.main.line(format!("let unit = local % {units}u;"));
                self.main.line(format!("let lane = local / {units}u;"));
                let scale = if schedule.lanes > 1 { format!(" * {}u", schedule.lanes) } else { String::new() };
                self.clamp_row(&format!("block * {columns}u + unit{scale}"), schedule.lanes);
            }
        }
        self.decode_row();
        let length = self.shader.uniform(Uniform::RowLength);
        if by_part {
            let depth = self.shader.uniform(Uniform::SplitDepth);
            self.main.line(format!("let begin = part * {depth};"));
            self.main.line(format!("let end = min({length}, begin + {depth});"));
        } else {
            self.main.line(format!("let end = {length};"));
        }
    }

    fn clamp_row(&mut self, row: &str, lanes: u32) {
        let count = self.shader.uniform(Uniform::Count);
        self.main.line(format!("let row_at = {row};"));
        self.main.line(format!("let valid = row_at < {count};"));
        self.main.line(format!("let row = min(row_at, {count} - {lanes}u);"));
    }

    /// Declares `k0 …`, the kept coordinates of the row.
    fn decode_row(&mut self) {
        let mut rest = "row".to_owned();
        for axis in (1..self.frame.schedule.axes[0]).rev() {
            let extent = self.shader.uniform(Uniform::Extent { axis });
            self.main.line(format!("let rows{axis} = {rest} / {extent};"));
            self.main.line(format!("let k{axis} = {rest} % {extent};"));
            rest = format!("rows{axis}");
        }
        self.main.line(format!("let k0 = {rest};"));
    }

    /// Declares `base…`, the offset at the row's first element, of every access at elements.
    fn declare_bases(&mut self, used: &BTreeSet<ValueId>) {
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
            let offset = frame.row_offset(&mut self.shader, access);
            self.main.line(format!("let base{access} = {offset};"));
        }
    }

    /// The condition under which this invocation may write, beyond `conditions`.
    fn guard(&self, conditions: &[&str]) -> Option<String> {
        let clamped = self.frame.schedule.rows > 1 || self.frame.schedule.is_columns();
        let mut all: Vec<&str> = conditions.to_vec();
        if clamped {
            all.push("valid");
        }
        (!all.is_empty()).then(|| all.join(" && "))
    }

    /// The reductions that a stage finishes and that this pass uses, or hands to the next.
    fn finished_by(&self, stage: usize, used: &BTreeSet<ValueId>) -> Vec<ValueId> {
        let reductions = self.frame.reductions(stage + 1);
        match self.part {
            Part::Whole => reductions.into_iter().filter(|r| used.contains(r)).collect(),
            Part::Stage(_) => reductions,
        }
    }
}
