//! The text of contractions with one row whose right operands are weights with neighbouring columns.
//!
//! As `row`, invocations lie side by side along the columns, four columns each, and in layers along the depth; each step of
//! a layer is a run of weights, which share a scale. It is applied once: `Σ x·(q·s + o) = s·Σ x·q + o·Σ x`.

use fuse_artifact::Pass;

use super::{
    epilogue::{Axes, rhs_prefixes},
    names::Names,
    operand::Operand,
    row::{in_layers, read},
    shader::{Lines, Shader},
    weights::{RUN, WeightText},
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::{LANES, Member, weights::Weights},
};

/// The pass of a `words row` member.
pub fn words_row(
    group: &Group,
    contraction: &Contraction,
    names: &Names,
    member: &Member,
    [columns, depth_lanes]: [u32; 2],
) -> Pass {
    in_layers(group, contraction, names, member, [columns, depth_lanes], |shader, main, axes| {
        let (weights, sums) = (weight_texts(group, contraction), axes.sum_names());
        for (weights, sum) in weights.iter().zip(&sums) {
            weights.declare(shader);
            weights.locate(shader, main, &axes.batch_names(), "column");
            main.line(format!("var {sum} = vec4<f32>();"));
        }
        main.unrollable("k", &format!("k_begin + layer * {RUN}u"), "k_end", depth_lanes * RUN);
        for weights in &weights {
            weights.declare_scales(main);
            weights.load_run(shader, main, "k");
        }
        read_run(shader, main, group, contraction, axes, ["0u", "k"]);
        for (weights, sum) in weights.iter().zip(&sums) {
            add_run(main, weights, sum);
        }
        main.line("}");
    })
}

/// The right operands of a contraction, which are weights.
pub(super) fn weight_texts<'a>(group: &'a Group, contraction: &'a Contraction) -> Vec<WeightText<'a>> {
    let weights = Weights::all(group, contraction).expect("members that read words have weights");
    let operands = contraction.rhs.iter().zip(rhs_prefixes(contraction)).zip(weights);
    let text = |(((body, value), prefix), weights): ((&'a (_, usize), &'static str), _)| WeightText {
        weights,
        operand: Operand {
            group,
            body,
            value: *value,
            prefix,
            lanes: LANES,
            buffer_lanes: LANES,
            lane_axis: group.shape.len() - 1,
        },
        prefix: prefix.trim_end_matches('_').to_owned(),
    };
    operands.map(text).collect()
}

/// Declares `x0 …`, vectors of the left operand at the depths of a run, and their sum `x_sum`.
pub(super) fn read_run(
    shader: &mut Shader<'_>,
    main: &mut Lines,
    group: &Group,
    contraction: &Contraction,
    axes: &Axes,
    [row, depth]: [&str; 2],
) {
    let (body, value) = &contraction.lhs;
    let lane_axis = axes.batch + 1;
    let lhs = Operand { group, body, value: *value, prefix: "a", lanes: LANES, buffer_lanes: LANES, lane_axis };
    let vectors = RUN / LANES;
    for vector in 0..vectors {
        main.line(format!("var x{vector}: vec4<f32>;"));
    }
    for vector in 0..vectors {
        main.line("{");
        let mut at = axes.batch_names();
        at.extend([row.to_owned(), format!("({depth} + {}u)", vector * LANES)]);
        let x = read(shader, main, &lhs, &at);
        main.line(format!("x{vector} = {x};"));
        main.line("}");
    }
    let sum = (0..vectors).map(|vector| format!("x{vector}")).collect::<Vec<_>>().join(" + ");
    main.line(format!("let x_sum = dot({sum}, vec4<f32>(1.0));"));
}

/// Adds the products of a run to a sum.
pub(super) fn add_run(main: &mut Lines, weights: &WeightText<'_>, sum: &str) {
    let (p, ty) = (&weights.prefix, weights.ty("f32"));
    weights.unpack_scales(main);
    main.line(format!("var {p}_part = {ty}();"));
    for i in 0..RUN {
        let (code, at) = weights.run_code(i);
        let x = format!("x{}[{}]", i / LANES, i % LANES);
        let x = if at == 0 { x } else { format!("({x} * {:?})", 1.0 / f64::from(1u32 << at)) };
        main.line(format!("{p}_part = fma({ty}({x}), {code}, {p}_part);"));
    }
    let offsets = format!("fma({ty}(x_sum), {p}_offset, {sum})");
    main.line(format!("{sum} = fma({p}_part, {p}_scale, {offsets});"));
}
