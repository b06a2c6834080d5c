//! The text of contractions with one row whose right operands are weights with neighbouring columns.
//!
//! As `row`, invocations lie side by side along the columns, four columns each, and in layers along the depth; each step of
//! a layer is a run of weights, which share a scale. It is applied once: `Σ x·(q·s + o) = s·Σ x·q + o·Σ x`.
//!
//! The values of the left operand are those in memory, or rounded to 8 bits (`int8`).

use fuse_artifact::Pass;

use super::{
    epilogue::{Axes, rhs_prefixes},
    int8::{Int8, add_int8_run},
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
    int8: bool,
) -> Pass {
    in_layers(group, contraction, names, member, [columns, depth_lanes], |shader, main, axes| {
        let (weights, sums) = (weight_texts(group, contraction), axes.sum_names());
        for (weights, sum) in weights.iter().zip(&sums) {
            weights.declare(shader);
            weights.locate(shader, main, &axes.batch_names(), "column");
            main.line(format!("var {sum} = vec4<f32>();"));
        }
        let lhs = int8.then(|| Int8::new(group, contraction, axes, &weights[0]));
        let step = depth_lanes * RUN;
        match &lhs {
            Some(lhs) => {
                lhs.begin(shader, main, ["k_begin", "k_end"], "0u", columns / LANES * depth_lanes);
                main.unrollable("k", &format!("held + layer * {RUN}u"), "held_end", step);
            }
            None => main.unrollable("k", &format!("k_begin + layer * {RUN}u"), "k_end", step),
        }
        for weights in &weights {
            weights.declare_scales(main);
            weights.load_run(shader, main, "k");
        }
        match &lhs {
            Some(lhs) => lhs.read_run(main),
            None => read_run(shader, main, group, contraction, axes, ["0u", "k"]),
        }
        let add = if int8 { add_int8_run } else { add_run };
        for (weights, sum) in weights.iter().zip(&sums) {
            add(main, weights, sum);
        }
        main.line("}");
        if int8 {
            main.line("}");
        }
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
        main.line(format!(
            "{p}_part = fma({ty}(x{}[{}]), {}, {p}_part);",
            i / LANES,
            i % LANES,
            weights.run_fraction(i)
        ));
    }
    // Fractions are 1 + q·2^-bits.
    main.line(format!("let {p}_span = {p}_scale * {:?};", f64::from(1u32 << weights.bits())));
    let offsets = format!("fma({ty}(x_sum), {p}_offset - {p}_span, {sum})");
    main.line(format!("{sum} = fma({p}_part, {p}_span, {offsets});"));
}
