//! Adds partial sums over the depth, one result element or vector per invocation.

use fuse_artifact::{Grid, Pass, Uniform};

use super::{Parts, WORKGROUP};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block},
    wgsl::{
        epilogue::{Epilogue, finish_call},
        grid,
        names::Names,
    },
};

/// The second pass of a split schedule: adds the partial sums and applies the epilogue.
pub fn sums(group: &Group, contraction: &Contraction, names: &Names, lanes: u32) -> Pass {
    let arena = Arena::default();
    let mut parts = Parts::new(&arena, names, group, contraction, lanes);
    let (axes, scratch) = (parts.axes, parts.scratch);
    Epilogue::new(group, axes, parts.sum, lanes, lanes).declare(&mut parts.shader);
    let splits = parts.shader.uniform(Uniform::Splits);
    let mut b = Block::new();
    let unit = grid::result_units(&mut parts.shader, &mut b, &axes, [WORKGROUP, lanes]);
    let accumulators = parts.accumulators(&mut b, lanes);
    b.unrollable("s", arena.u32(0), splits, 1, |b, s| {
        for (&accumulator, product) in accumulators.iter().zip(0..) {
            b.set(accumulator, accumulator + scratch.at((s * axes.products + product) * unit.units + unit.i));
        }
    });
    b.run(finish_call("finish", &axes, [unit.batch, unit.row, unit.column], &accumulators));
    let mut shader = parts.shader;
    shader.main = b;
    shader.finish(Grid::Elements { per_workgroup: WORKGROUP * lanes }, WORKGROUP)
}
