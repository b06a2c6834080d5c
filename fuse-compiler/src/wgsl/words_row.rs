//! The text of contractions with one row whose right operands are weights with neighbouring columns.
//!
//! As `row`, invocations lie side by side along the columns, four columns each, and in layers along the depth; each step of
//! a layer is a run of weights (`runs`).

use fuse_artifact::Pass;

use super::{
    names::Names,
    row::in_layers,
    runs::{Column, Runs},
    weights::WeightText,
};
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
    [width, depth_lanes]: [u32; 2],
    int8: bool,
) -> Pass {
    in_layers(group, contraction, names, member, [width, depth_lanes], |shader, main, axes| {
        let (products, mut columns) = (WeightText::all(group, contraction), vec![]);
        for (product, (weights, sum)) in products.iter().zip(axes.sum_names()).enumerate() {
            weights.declare(shader);
            weights.locate(shader, main, &axes.batch_names(), "column");
            main.line(format!("var {sum} = vec4<f32>();"));
            columns.push(Column { weights: weights.clone(), product, sum });
        }
        let runs = Runs::new(group, contraction, axes, "0u", int8);
        let sizes = [depth_lanes, width / LANES * depth_lanes];
        runs.multiply(shader, main, (&products, &columns), ["k_begin", "k_end"], sizes);
    })
}
