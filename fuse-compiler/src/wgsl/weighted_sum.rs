//! Weighted-sum kernels: a walk over keys in steps, whose weights are computed from products and never stored.
//!
//! A workgroup has rows of all sums of its group. Keys that a mask hides from all of them are skipped, as in
//! attentions.

mod coop_matrix;
mod tile;
mod weights;

use fuse_artifact::{Pass, Schedule, Scratch, Uniform, Variant};

use super::{
    attention::{COMPUTED, Extents, Place, VECTOR, Walk, locate},
    epilogue::{Epilogue, declare_each},
    names::Names,
    operand::Operand,
    shader::Shader,
    stage::{Elements, Slice, is_multiple},
};
use crate::{
    fusion::{
        Group, WeightedSum,
        body::{Body, ValueId},
    },
    kernel::{Arena, Block, Val},
    schedule::{contraction::Direction, mask_bounds, weighted_sum::ScheduleSpec},
};

/// Builds the variant of a schedule.
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

#[derive(Clone, Copy)]
struct Source<'a> {
    group: &'a Group,
    sum: &'a WeightedSum,
    scheduled: &'a ScheduleSpec,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    Lhs(usize),
    Rhs(usize),
    Value(usize),
}

const PREFIXES: [[&str; 3]; 2] = [["xa", "xb", "xv"], ["xc", "xd", "xw"]];

impl<'a> Source<'a> {
    const fn batch(self) -> usize {
        self.group.shape.len() - 2
    }

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

    fn depth<'k>(self, shader: &mut Shader<'k>, product: usize) -> Val<'k> {
        shader.uniform(Uniform::Extent { axis: (self.batch() + 3 + product) as u8 })
    }

    /// An input in slices of a shape (steps, and elements of a step).
    fn elements(
        self,
        shader: &mut Shader<'a>,
        extents: &Extents<'a>,
        input: Input,
        slice: Slice<'a>,
        shape: [u32; 2],
    ) -> Elements<'a> {
        let ([end, extent], summed) = match input {
            Input::Lhs(i) => ([self.depth(shader, i), extents.queries()], &self.sum.products[i].depth),
            Input::Rhs(i) => ([self.depth(shader, i), extents.keys()], &self.sum.products[i].depth),
            Input::Value(_) => ([extents.keys(), extents.columns()], &self.sum.keys),
        };
        Elements {
            operand: self.operand(input),
            row_prologue: None,
            direction: self.direction(input),
            axes: self.axes(input),
            batch: extents.axes.batch(),
            origin: None,
            extent,
            end: (!is_multiple(summed, shape[0])).then_some(end),
            shape,
            invocations: self.scheduled.schedule.invocations(),
            repeats_last: true,
            slice,
            stored: false,
        }
    }

    /// The reduced axis of an input's space, and the other one.
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

fn pass(source: Source<'_>, names: &Names) -> Pass {
    let (group, lanes, schedule) = (source.group, source.lanes(), source.scheduled.schedule);
    let arena = Arena::default();
    let mut shader = Shader::new(&arena, names, group);
    for access in &group.accesses {
        shader.buffer(access.access.slot, access.dtype, lanes, false);
    }
    let extents = Extents::of_outputs(&mut shader, group, source.sum.values.len() as u32);
    weights::declare(&mut shader, source, &extents);
    Epilogue::new(group, extents.axes, COMPUTED, lanes, lanes).declare(&mut shader);
    if lanes == 1 {
        declare_each(&mut shader, &extents.axes, "finish_four", COMPUTED);
    }
    let mut b = Block::new();
    let (step, moved) = ([schedule.rows, schedule.keys()], schedule.coop_matrix);
    let place = locate(&source.walk(), &mut shader, &extents, &mut b, step, moved);
    if moved { coop_matrix::write(shader, b, source, extents) } else { tile::write(shader, b, source, extents, place) }
}
