//! The text of contractions with one row whose right operands are weights with neighbouring columns.
//!
//! As `row`, invocations lie side by side along the columns, four columns each, and in layers along the depth; each step of
//! a layer is a few chunks of weights, all of which are on their way before the first is used: nothing else would hide the
//! latency. Scales are applied once per chunk: `Σ x·(q·s + o) = s·Σ x·q + o·Σ x`.

use fuse_artifact::{Grid, Pass, Space};

use super::{
    epilogue::{Axes, Epilogue, declare_partial, rhs_prefixes, sum_dtype},
    names::Names,
    operand::Operand,
    row::{add_layers, locate, read},
    shader::{Lines, Shader},
    weights::WeightText,
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::{LANES, Member, weights::Weights},
};

/// Chunks that an invocation loads before it uses one.
pub(super) const AT_ONCE: u32 = 4;

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
    let chunk = weights[0].weights.chunk();
    let mut main = Lines::indented();
    locate(&mut shader, &mut main, &axes, member.split, columns, across);
    for (weights, suffix) in weights.iter().zip(&suffixes) {
        weights.locate(&mut shader, &mut main, &axes.batch_names(), "column");
        main.line(format!("var sum{suffix} = vec4<f32>();"));
    }
    let step = depth_lanes * chunk;
    main.line(format!("for (var k = k_begin + layer * {chunk}u; k < k_end; k += {}u) {{", AT_ONCE * step));
    for n in 0..AT_ONCE {
        declare_depth(&mut main, n, step, "k_end");
        for weights in &weights {
            let text = weights.numbered(n);
            text.declare_chunk(&mut main);
            text.load_at(&mut shader, &mut main, &weights.prefix, &format!("k{n}"));
        }
    }
    for n in 0..AT_ONCE {
        read_chunk(&mut shader, &mut main, group, contraction, &axes, ["0u", "k"], [n, chunk]);
    }
    for n in 0..AT_ONCE {
        for (weights, suffix) in weights.iter().zip(&suffixes) {
            main.line("{");
            add_chunk(&mut main, &weights.numbered(n), &format!("sum{suffix}"), [n, chunk]);
            main.line("}");
        }
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

/// Declares `k{n}`, the depth of a step's `n`-th chunk, or the first one's where it lies behind the end (`inside{n}`).
pub(super) fn declare_depth(main: &mut Lines, n: u32, step: u32, end: &str) {
    if n == 0 {
        main.line("let k0 = k;");
        return;
    }
    main.line(format!("let inside{n} = k + {}u < {end};", n * step));
    main.line(format!("let k{n} = select(k, k + {}u, inside{n});", n * step));
}

/// Declares `x{n}_0 …`, vectors of the left operand at the depths of a step's `n`-th chunk, and their sum `x{n}_sum`; zeros
/// behind the end.
pub(super) fn read_chunk(
    shader: &mut Shader<'_>,
    main: &mut Lines,
    group: &Group,
    contraction: &Contraction,
    axes: &Axes,
    [row, depth]: [&str; 2],
    [n, chunk]: [u32; 2],
) {
    let (body, value) = &contraction.lhs;
    let lane_axis = axes.batch + 1;
    let lhs = Operand { group, body, value: *value, prefix: "a", lanes: LANES, buffer_lanes: LANES, lane_axis };
    let vectors = chunk / LANES;
    for vector in 0..vectors {
        main.line(format!("var x{n}_{vector}: vec4<f32>;"));
    }
    if n > 0 {
        main.line(format!("if inside{n} {{"));
    }
    for vector in 0..vectors {
        main.line("{");
        let mut at = axes.batch_names();
        at.extend([row.to_owned(), format!("({depth}{n} + {}u)", vector * LANES)]);
        let x = read(shader, main, &lhs, &at);
        main.line(format!("x{n}_{vector} = {x};"));
        main.line("}");
    }
    if n > 0 {
        main.line("}");
    }
    let sum = (0..vectors).map(|vector| format!("x{n}_{vector}")).collect::<Vec<_>>().join(" + ");
    main.line(format!("let x{n}_sum = dot({sum}, vec4<f32>(1.0));"));
}

/// Adds the products of a step's `n`-th chunk to a sum.
pub(super) fn add_chunk(main: &mut Lines, weights: &WeightText<'_>, sum: &str, [n, chunk]: [u32; 2]) {
    let (p, ty) = (&weights.prefix, weights.ty("f32"));
    weights.unpack(main);
    main.line(format!("var {p}_part = {ty}();"));
    for i in 0..chunk {
        let (code, at) = weights.code(i);
        let x = format!("x{n}_{}[{}]", i / LANES, i % LANES);
        let x = if at == 0 { x } else { format!("({x} * {:?})", 1.0 / f64::from(1u32 << at)) };
        main.line(format!("{p}_part = fma({ty}({x}), {code}, {p}_part);"));
    }
    let offsets = format!("fma({ty}(x{n}_sum), {p}_offset, {sum})");
    main.line(format!("{sum} = fma({p}_part, {p}_scale, {offsets});"));
}
