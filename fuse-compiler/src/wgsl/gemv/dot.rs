//! The text of contractions whose operands are both contiguous in depth: one group of invocations per sum.
//!
//! The invocations of a group read neighbouring vectors of four along the depth; their sums are added in
//! workgroup memory.

use fuse_artifact::{
    Grid, Pass, Uniform,
    schedule::{Gemv, LANES},
};

use crate::{
    fusion::{Contraction, Group},
    wgsl::{
        builtins::{scalar_type, vector_type},
        epilogue::{Axes, Epilogue, multiply_add, rhs_prefixes, sum_dtype},
        grid,
        names::Names,
        operand::{Operand, read},
        shader::{CodeBuffer, Shader},
    },
};

/// The pass of a `dot` schedule.
pub(super) fn dot(group: &Group, contraction: &Contraction, names: &Names, gemv: Gemv) -> Pass {
    let Gemv { columns: outputs, depth_lanes, .. } = gemv;
    let mut shader = Shader::new(names, group);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        shader.buffer(access.access.slot, access.dtype, LANES, false);
    }
    let axes = Axes::new(&mut shader, group, contraction);
    Epilogue::new(group, &axes, sum, 1, LANES).declare(&mut shader);
    let (scalar, ty) = (scalar_type(sum), vector_type(sum, LANES));
    let suffixes = axes.product_suffixes();
    for suffix in &suffixes {
        shader.workgroup_array(&format!("partial{suffix}"), scalar, outputs * depth_lanes, 4);
    }
    let mut main = CodeBuffer::indented();
    grid::workgroups(&mut shader, &mut main);
    let count = shader.uniform(Uniform::Count);
    main.line(format!("let lane = local % {depth_lanes}u;"));
    main.line(format!("let output = id * {outputs}u + local / {depth_lanes}u;"));
    main.line(format!("let element = min(output, {count} - 1u);"));
    axes.decode_element(&mut shader, &mut main);
    for suffix in &suffixes {
        main.line(format!("var sum{suffix} = {ty}();"));
    }
    main.unrollable("depth", &format!("lane * {LANES}u"), &axes.depth, depth_lanes * LANES);
    let lhs = Operand {
        group,
        body: &contraction.lhs.0,
        value: contraction.lhs.1,
        prefix: "a",
        lanes: LANES,
        buffer_lanes: LANES,
        lane_axis: axes.batch + 1,
    };
    let mut lhs_at = axes.batch_names();
    lhs_at.extend(["row".to_owned(), "depth".to_owned()]);
    let mut rhs_at = axes.batch_names();
    rhs_at.extend(["depth".to_owned(), "column".to_owned()]);
    let a = read(&mut shader, &lhs, &lhs_at);
    for (((body, value), prefix), suffix) in contraction.rhs.iter().zip(rhs_prefixes(contraction)).zip(&suffixes) {
        let rhs = Operand { body, value: *value, prefix, lane_axis: axes.batch, ..lhs };
        let b = read(&mut shader, &rhs, &rhs_at);
        main.line(multiply_add(sum, &format!("sum{suffix}"), &a, &b));
    }
    main.line("}");
    for suffix in &suffixes {
        let s = format!("sum{suffix}");
        main.line(format!("partial{suffix}[local] = ({s}.x + {s}.y) + ({s}.z + {s}.w);"));
    }
    let mut lanes = depth_lanes / 2;
    while lanes > 0 {
        main.line("workgroupBarrier();");
        main.line(format!("if lane < {lanes}u {{"));
        for suffix in &suffixes {
            main.line(format!("partial{suffix}[local] += partial{suffix}[local + {lanes}u];"));
        }
        main.line("}");
        lanes /= 2;
    }
    main.line(format!("if lane == 0u && output < {count} {{"));
    let sums: Vec<String> = suffixes.iter().map(|suffix| format!("partial{suffix}[local]")).collect();
    main.line(format!("finish(batch, {}row, column, {});", axes.batch_arguments(), sums.join(", ")));
    main.line("}");
    shader.main = main;
    shader.finish(Grid::Elements { per_workgroup: outputs }, outputs * depth_lanes)
}
