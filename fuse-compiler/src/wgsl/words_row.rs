//! The text of contractions with one row whose right operands are weights with neighbouring columns.
//!
//! As `row`, invocations lie side by side along the columns, four columns each, and in layers along the depth; each step of
//! a layer is a run of weights (`runs`).

use fuse_artifact::Pass;

use super::{names::Names, row::in_layers, runs::Runs, weights::WeightText};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::{LANES, Member},
};

/// The pass of a `words row` member, or, if the left operand is rounded to 8 bits, of an `int8 row` member.
pub fn words_row(
    group: &Group,
    contraction: &Contraction,
    names: &Names,
    member: &Member,
    [columns, depth_lanes]: [u32; 2],
    int8: bool,
) -> Pass {
    in_layers(group, contraction, names, member, [columns, depth_lanes], |shader, main, axes| {
        let (weights, sums) = (WeightText::all(group, contraction), axes.sum_names());
        for (weights, sum) in weights.iter().zip(&sums) {
            weights.declare(shader);
            weights.locate(shader, main, &axes.batch_names(), "column");
            main.line(format!("var {sum} = vec4<f32>();"));
        }
        let runs = Runs::new(group, contraction, axes, "0u", int8.then(|| weights[0].bits()));
        runs.begin(shader, main, ["k_begin", "k_end"], [depth_lanes, columns / LANES * depth_lanes]);
        for weights in &weights {
            weights.declare_scales(main);
            weights.load_run(shader, main, "k");
        }
        runs.read(shader, main);
        for (weights, sum) in weights.iter().zip(&sums) {
            runs.add(main, weights, sum);
        }
        runs.end(main);
    })
}
