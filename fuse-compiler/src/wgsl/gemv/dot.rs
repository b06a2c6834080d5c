//! Contractions whose operands are contiguous in depth: one group of invocations per result.
//!
//! Invocations of a group read neighboring vectors of four along the depth; their sums are added in workgroup memory.

use fuse_artifact::{
    Grid, Pass, Uniform,
    schedule::{Gemv, LANES},
};

use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block, Ty, Val},
    wgsl::{
        epilogue::{Axes, Epilogue, finish_call, multiply_add, rhs_prefixes, sum_dtype},
        grid,
        names::Names,
        operand::{Operand, read},
        shader::Shader,
    },
};

pub(super) fn dot(group: &Group, contraction: &Contraction, names: &Names, gemv: Gemv) -> Pass {
    let Gemv { columns: outputs, depth_lanes, .. } = gemv;
    let arena = Arena::default();
    let mut shader = Shader::new(&arena, names, group);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        shader.buffer(access.access.slot, access.dtype, LANES, false);
    }
    let axes = Axes::new(&mut shader, group, contraction);
    Epilogue::new(group, axes, sum, 1, LANES).declare(&mut shader);
    let suffixes = axes.product_suffixes();
    let places = outputs * depth_lanes;
    let partials: Vec<Val<'_>> = suffixes
        .iter()
        .map(|suffix| shader.workgroup_array(&format!("partial{suffix}"), Ty::of(sum, 1), places))
        .collect();
    let mut b = Block::new();
    let (id, local) = (grid::workgroups(&mut shader, &mut b), shader.local());
    let count = shader.uniform(Uniform::Count);
    let lane = b.bind("lane", local % depth_lanes);
    let output = b.bind("output", id * outputs + local / depth_lanes);
    let element = b.bind("element", output.min(count - 1));
    let [batch, row, column] = axes.decode_element(&mut shader, &mut b, element);
    let zero = arena.construct(Ty::of(sum, LANES), &[]);
    let sums: Vec<Val<'_>> = suffixes.iter().map(|suffix| b.var(format!("sum{suffix}"), zero)).collect();
    let lhs = Operand::by_vectors(group, &contraction.lhs, "a", LANES);
    b.unrollable("depth", lane * LANES, axes.depth, depth_lanes * LANES, |b, depth| {
        let left = read(&mut shader, &lhs, &axes.at([row, depth]));
        for ((rhs, prefix), &sum) in contraction.rhs.iter().zip(rhs_prefixes(contraction)).zip(&sums) {
            let rhs = Operand { lane_axis: axes.batch, ..Operand::by_vectors(group, rhs, prefix, LANES) };
            let right = read(&mut shader, &rhs, &axes.at([depth, column]));
            b.set(sum, multiply_add(sum, left, right));
        }
    });
    for (partial, sum) in partials.iter().zip(sums) {
        b.set(partial.at(local), (sum.lane(0) + sum.lane(1)) + (sum.lane(2) + sum.lane(3)));
    }
    let mut lanes = depth_lanes / 2;
    while lanes > 0 {
        b.workgroup_barrier();
        b.when(lane.lt(lanes), |b| {
            for partial in &partials {
                b.set(partial.at(local), partial.at(local) + partial.at(local + lanes));
            }
        });
        lanes /= 2;
    }
    b.when(lane.eq(0).and(output.lt(count)), |b| {
        let sums: Vec<Val<'_>> = partials.iter().map(|partial| partial.at(local)).collect();
        b.run(finish_call("finish", &axes, [batch, row, column], &sums));
    });
    shader.main = b;
    shader.finish(Grid::Elements { per_workgroup: outputs }, outputs * depth_lanes)
}
