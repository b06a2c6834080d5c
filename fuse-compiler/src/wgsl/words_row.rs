//! The text of contractions with one row whose right operands are weights with neighbouring columns.
//!
//! As `row`, invocations lie side by side along the columns, four columns each, and in layers along the depth; each step of
//! a layer is a run of weights, which share a scale. It is applied once: `Σ x·(q·s + o) = s·Σ x·q + o·Σ x`.

use fuse_artifact::{Grid, Pass, Space};

use super::{
    epilogue::{Axes, Epilogue, declare_partial, rhs_prefixes, sum_dtype},
    names::Names,
    operand::Operand,
    row::{add_layers, locate, read},
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
    columns: u32,
    depth_lanes: u32,
) -> Pass {
    let mut shader = Shader::new(names);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        if !(member.split && access.access.space == Space::Point) {
            shader.buffer(access.access.slot, access.dtype, LANES, false);
        }
    }
    let axes = Axes::new(&mut shader, group, contraction);
    if member.split {
        declare_partial(&mut shader, &axes, sum, LANES);
    } else {
        Epilogue::new(group, &axes, sum, LANES, LANES).declare(&mut shader);
    }
    let across = columns / LANES;
    let suffixes = axes.product_suffixes();
    for suffix in &suffixes {
        shader.workgroup_array(&format!("partial{suffix}"), "vec4<f32>", across * depth_lanes, 16);
    }
    let weights = weight_texts(group, contraction);
    weights.iter().for_each(|weights| weights.declare(&mut shader));
    let mut main = Lines::indented();
    locate(&mut shader, &mut main, &axes, member.split, columns, across);
    for (weights, suffix) in weights.iter().zip(&suffixes) {
        weights.locate(&mut shader, &mut main, &axes.batch_names(), "column");
        main.line(format!("var sum{suffix} = vec4<f32>();"));
    }
    main.unrollable("k", &format!("k_begin + layer * {RUN}u"), "k_end", depth_lanes * RUN);
    for weights in &weights {
        weights.declare_scales(&mut main);
        weights.load_run(&mut shader, &mut main, "k");
    }
    read_run(&mut shader, &mut main, group, contraction, &axes, ["0u", "k"]);
    for (weights, suffix) in weights.iter().zip(&suffixes) {
        add_run(&mut main, weights, &format!("sum{suffix}"));
    }
    main.line("}");
    for suffix in &suffixes {
        main.line(format!("partial{suffix}[local] = sum{suffix};"));
    }
    add_layers(&mut main, &suffixes, across, depth_lanes);
    main.line("if layer == 0u && first + lane < columns_in_units {");
    let sums: Vec<String> = suffixes.iter().map(|suffix| format!("partial{suffix}[local]")).collect();
    main.line(format!("finish(batch, {}0u, column, {});", axes.batch_arguments(), sums.join(", ")));
    main.line("}");
    shader.main = main;
    shader.finish(Grid::Tiles { rows: 1, columns }, across * depth_lanes)
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
