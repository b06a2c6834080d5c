//! The text of weighted sums: keys are walked over in steps, whose weights are computed from products and never stored.
//!
//! Input: a group of weighted sums. Output: its variants. A workgroup has rows of all sums of its group; where a mask leaves no
//! weight for any of them, keys are skipped, as in attentions.

mod tile;
mod weights;

use fuse_artifact::{Pass, Schedule, Scratch, Variant};

use super::{
    attention::{COMPUTED, Extents, Walk, locate},
    epilogue::Epilogue,
    names::Names,
    operand::Operand,
    shader::{Lines, Shader},
    stage::Staged,
};
use crate::{
    fusion::{
        Group, WeightedSum,
        body::{Body, ValueId},
    },
    schedule::{
        contraction::Direction,
        visible,
        weighted_sum::{Scheduled, family},
    },
};
use fuse_artifact::Uniform;

/// The variants of a weighted sum, best first.
pub fn variants(group: &Group, sum: &WeightedSum, names: &Names) -> Vec<Variant> {
    family(group, sum).iter().map(|scheduled| variant(Source { group, sum, scheduled }, names)).collect()
}

fn variant(source: Source<'_>, names: &Names) -> Variant {
    let schedule = Schedule::WeightedSum(source.scheduled.schedule);
    Variant {
        name: schedule.to_string().into(),
        requires: source.scheduled.requires.clone().into(),
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
    scheduled: &'a Scheduled,
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
            limits: visible::weight_limits(body, weights, &self.group.accesses, self.batch()),
            split: false,
            buffer_lanes: self.lanes(),
        }
    }

    /// An input as what is staged.
    fn staged(self, shader: &mut Shader<'_>, extents: &Extents, input: Input) -> Staged<'a> {
        let (batch, directions) = (self.batch(), &self.scheduled.directions);
        let mut depth = |number: usize| shader.uniform(Uniform::Extent { axis: (batch + 3 + number) as u8 });
        let (rows, keys) = (extents.queries().to_owned(), extents.keys().to_owned());
        let (program, direction, axes, extents_along, summed, prefix) = match input {
            Input::Lhs(i) => {
                let product = &self.sum.products[i];
                let along = [depth(i), rows];
                (&product.lhs, directions.lhs[i], [batch + 1, batch], along, &product.depth, PREFIXES[i][0])
            }
            Input::Rhs(i) => {
                let product = &self.sum.products[i];
                let along = [depth(i), keys];
                (&product.rhs, directions.rhs[i], [batch, batch + 1], along, &product.depth, PREFIXES[i][1])
            }
            Input::Value(i) => {
                let along = [keys, extents.columns().to_owned()];
                let value = &self.sum.values[i];
                (value, directions.values[i], [batch, batch + 1], along, &self.sum.keys, PREFIXES[i][2])
            }
        };
        let (body, value): &(Body, ValueId) = program;
        let lanes = self.lanes();
        let lane_axis = if direction == Direction::Depth { axes[0] } else { axes[1] };
        let operand = Operand { group: self.group, body, value: *value, prefix, lanes, buffer_lanes: lanes, lane_axis };
        Staged { operand, direction, axes, extents: extents_along, summed, batch: extents.axes.batch_names() }
    }
}

/// The pass of a schedule.
fn pass(source: Source<'_>, names: &Names) -> Pass {
    let (group, lanes, schedule) = (source.group, source.lanes(), source.scheduled.schedule);
    let mut shader = Shader::new(names, group);
    for access in &group.accesses {
        shader.buffer(access.access.slot, access.dtype, lanes, false);
    }
    let extents = Extents::of_outputs(&mut shader, group, source.sum.values.len() as u32);
    weights::declare(&mut shader, source, &extents);
    Epilogue::new(group, &extents.axes, COMPUTED, lanes, lanes).declare(&mut shader);
    if lanes == 1 {
        declare_finish_four(&mut shader, &extents);
    }
    let mut main = Lines::indented();
    locate(&source.walk(), &mut shader, &extents, &mut main, [schedule.rows, schedule.keys()], false);
    tile::write(shader, main, source, extents)
}

/// Declares `finish_four`, which is `finish` of four columns where that takes one.
fn declare_finish_four(shader: &mut Shader<'_>, extents: &Extents) {
    let (parameters, arguments) = (extents.axes.batch_parameters(), extents.axes.batch_arguments());
    let (sums, names) = (extents.axes.sum_parameters("vec4<f32>"), extents.axes.sum_names());
    let mut lines = Lines::default();
    lines.line(format!("fn finish_four(batch: u32, {parameters}row: u32, column: u32, {sums}) {{"));
    for e in 0..4 {
        let each: Vec<String> = names.iter().map(|name| format!("{name}[{e}]")).collect();
        lines.line(format!("finish(batch, {arguments}row, column + {e}u, {});", each.join(", ")));
    }
    lines.line("}");
    shader.module.append(&lines);
}
