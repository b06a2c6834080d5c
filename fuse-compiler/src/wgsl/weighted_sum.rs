//! The text of weighted sums: keys are walked over in steps, whose weights are computed from products and never stored.
//!
//! Input: a group of weighted sums. Output: its variants. A workgroup has rows of all sums of its group; where a mask leaves no
//! weight for any of them, keys are skipped, as in attentions.

mod coop_matrix;
mod tile;
mod weights;

use crate::kernel::Block;
use fuse_artifact::{Pass, Schedule, Scratch, Uniform, Variant};

use super::{
    attention::{COMPUTED, Extents, Walk, locate},
    epilogue::Epilogue,
    names::Names,
    operand::Operand,
    shader::Shader,
    stage::Staged,
};
use crate::{
    fusion::{
        Group, WeightedSum,
        body::{Body, ValueId},
    },
    schedule::{contraction::Direction, mask_bounds, weighted_sum::ScheduleSpec},
};

/// One schedule of a weighted sum's family as a variant.
pub fn variant(group: &Group, sum: &WeightedSum, names: &Names, scheduled: &ScheduleSpec) -> Variant {
    let source = Source { group, sum, scheduled };
    let schedule = Schedule::WeightedSum(scheduled.schedule);
    Variant {
        name: schedule.to_string().into(),
        requires: scheduled.requires.clone().into(),
        features: schedule.features(),
        schedule,
        scratch: Scratch::default(),
        passes: vec![pass(source, names)].into(),
    }
}

/// What a text is written from.
#[derive(Clone, Copy)]
struct Source<'a> {
    group: &'a Group,
    sum: &'a WeightedSum,
    scheduled: &'a ScheduleSpec,
}

/// A program that is staged: an operand of a product, or what a sum adds up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    Lhs(usize),
    Rhs(usize),
    Value(usize),
}

/// Prefixes of the names of inputs, by number.
const PREFIXES: [[&str; 3]; 2] = [["xa", "xb", "xv"], ["xc", "xd", "xw"]];

impl<'a> Source<'a> {
    const fn batch(self) -> usize {
        self.group.shape.len() - 2
    }

    /// The width that buffers are bound with.
    const fn lanes(self) -> u32 {
        self.scheduled.schedule.lanes
    }

    fn walk(self) -> Walk<'a> {
        let (body, weights) = &self.sum.weights;
        Walk {
            group: self.group,
            program: (body, weights[0]),
            limits: mask_bounds::weight_limits(body, weights, &self.group.accesses, self.batch()),
            split: false,
            buffer_lanes: self.lanes(),
        }
    }

    /// An input as what is staged.
    fn staged<'k>(self, shader: &mut Shader<'k>, extents: &Extents<'k>, input: Input) -> Staged<'a> {
        let batch = self.batch();
        let mut depth = |number: usize| shader.uniform(Uniform::Extent { axis: (batch + 3 + number) as u8 });
        let (rows, keys) = (extents.queries().to_owned(), extents.keys().to_owned());
        let (extents_along, summed) = match input {
            Input::Lhs(i) => ([depth(i), rows], &self.sum.products[i].depth),
            Input::Rhs(i) => ([depth(i), keys], &self.sum.products[i].depth),
            Input::Value(_) => ([keys, extents.columns().to_owned()], &self.sum.keys),
        };
        let (operand, direction, axes) = (self.operand(input), self.direction(input), self.axes(input));
        Staged {
            operand,
            direction,
            axes,
            extents: extents_along.map(|extent| extent.to_string()),
            summed,
            batch: extents.axes.batch_names(),
        }
    }

    /// Of an input's space, the axis that is summed over, and the other one.
    const fn axes(self, input: Input) -> [usize; 2] {
        let batch = self.batch();
        if let Input::Lhs(_) = input { [batch + 1, batch] } else { [batch, batch + 1] }
    }

    fn direction(self, input: Input) -> Direction {
        let directions = &self.scheduled.directions;
        match input {
            Input::Lhs(i) => directions.lhs[i],
            Input::Rhs(i) => directions.rhs[i],
            Input::Value(i) => directions.values[i],
        }
    }

    /// An input with as many elements per load as buffers are bound with.
    fn operand(self, input: Input) -> Operand<'a> {
        let (program, prefix): (&(Body, ValueId), _) = match input {
            Input::Lhs(i) => (&self.sum.products[i].lhs, PREFIXES[i][0]),
            Input::Rhs(i) => (&self.sum.products[i].rhs, PREFIXES[i][1]),
            Input::Value(i) => (&self.sum.values[i], PREFIXES[i][2]),
        };
        let ((body, value), lanes, [summed, outer]) = (program, self.lanes(), self.axes(input));
        let lane_axis = if self.direction(input) == Direction::Depth { summed } else { outer };
        Operand { group: self.group, body, value: *value, prefix, lanes, buffer_lanes: lanes, lane_axis }
    }
}

/// The pass of a schedule.
fn pass(source: Source<'_>, names: &Names) -> Pass {
    let (group, lanes, schedule) = (source.group, source.lanes(), source.scheduled.schedule);
    let arena = crate::kernel::Arena::default();
    let mut shader = Shader::new(&arena, names, group);
    for access in &group.accesses {
        shader.buffer(access.access.slot, access.dtype, lanes, false);
    }
    let extents = Extents::of_outputs(&mut shader, group, source.sum.values.len() as u32);
    weights::declare(&mut shader, source, &extents);
    Epilogue::new(group, extents.axes, COMPUTED, lanes, lanes).declare(&mut shader);
    if lanes == 1 {
        declare_finish_four(&mut shader, &extents);
    }
    let mut main = Block::new();
    let (step, moved) = ([schedule.rows, schedule.keys()], schedule.coop_matrix);
    locate(&source.walk(), &mut shader, &extents, &mut main, step, moved);
    if moved { coop_matrix::write(shader, main, source, extents) } else { tile::write(shader, main, source, extents) }
}

/// Declares `finish_four`, which is `finish` of four columns where that takes one.
fn declare_finish_four<'k>(shader: &mut Shader<'k>, extents: &Extents<'k>) {
    let (parameters, arguments) = (extents.axes.batch_parameters_text(), extents.axes.batch_arguments_text());
    let (sums, names) = (extents.axes.sum_parameters_text("vec4<f32>"), extents.axes.sum_names());
    let mut lines = Block::new();
    lines.line(format!("fn finish_four(batch: u32, {parameters}row: u32, column: u32, {sums}) {{"));
    for e in 0..4 {
        let each: Vec<String> = names.iter().map(|name| format!("{name}[{e}]")).collect();
        lines.line(format!("finish(batch, {arguments}row, column + {e}u, {});", each.join(", ")));
    }
    lines.line("}");
    shader.text(&lines);
}
