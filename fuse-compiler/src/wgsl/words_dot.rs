//! The text of contractions whose right operands are weights with neighbouring depths: a group of invocations shares four
//! sums of one row, so that what they read of the left operand serves four columns.
//!
//! As in `dot`, the invocations of a group read neighbouring runs along the depth; their sums are added in workgroup memory.

use fuse_artifact::{Grid, Pass, Uniform};

use super::{
    epilogue::{Axes, Epilogue, sum_dtype},
    names::Names,
    row::add_layers,
    runs::{Column, Runs},
    shader::{Lines, Shader},
    weights::WeightText,
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::LANES,
};

/// The pass of a `words dot` member, or, if the left operand is rounded to 8 bits, of an `int8 dot` member.
pub fn words_dot(
    group: &Group,
    contraction: &Contraction,
    names: &Names,
    outputs: u32,
    depth_lanes: u32,
    int8: bool,
) -> Pass {
    let mut shader = Shader::new(names);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        shader.buffer(access.access.slot, access.dtype, LANES, false);
    }
    let axes = Axes::new(&mut shader, group, contraction);
    Epilogue::new(group, &axes, sum, LANES, LANES).declare(&mut shader);
    let (groups, suffixes) = (outputs / LANES, axes.product_suffixes());
    for suffix in &suffixes {
        shader.workgroup_array(&format!("partial{suffix}"), "vec4<f32>", groups * depth_lanes, 16);
    }
    let products = WeightText::all(group, contraction);
    products.iter().for_each(|weights| weights.declare(&mut shader));
    let mut main = Lines::indented();
    shader.number_workgroups(&mut main);
    let count = shader.uniform(Uniform::Count);
    // Neighbouring invocations along the depth; a layer is one of the depths.
    main.line(format!("let layer = local % {depth_lanes}u;"));
    main.line(format!("let output = id * {outputs}u + local / {depth_lanes}u * {LANES}u;"));
    main.line(format!("let element = min(output, {count} - {LANES}u);"));
    axes.decode_element(&mut shader, &mut main);
    let mut columns = vec![];
    for (product, (weights, suffix)) in products.iter().zip(&suffixes).enumerate() {
        main.line(format!("var sum{suffix} = vec4<f32>();"));
        for lane in 0..LANES {
            let weights = WeightText { prefix: format!("{}_c{lane}", weights.prefix), ..weights.clone() };
            weights.locate(&mut shader, &mut main, &axes.batch_names(), &format!("(column + {lane}u)"));
            columns.push(Column { weights, product, sum: format!("sum{suffix}[{lane}]") });
        }
    }
    let runs = Runs::new(group, contraction, &axes, "row", int8);
    let sizes = [depth_lanes, groups * depth_lanes];
    runs.multiply(&mut shader, &mut main, (&products, &columns), ["0u", &*axes.depth], sizes);
    for suffix in &suffixes {
        main.line(format!("partial{suffix}[local] = sum{suffix};"));
    }
    add_layers(&mut main, &suffixes, 1, depth_lanes);
    main.line(format!("if layer == 0u && output < {count} {{"));
    let sums: Vec<String> = suffixes.iter().map(|suffix| format!("partial{suffix}[local]")).collect();
    main.line(format!("finish(batch, {}row, column, {});", axes.batch_arguments(), sums.join(", ")));
    main.line("}");
    shader.main = main;
    shader.finish(Grid::Elements { per_workgroup: outputs }, groups * depth_lanes)
}
