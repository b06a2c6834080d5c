//! Merges an attention's partial outputs over parts of the keys.
//!
//! Rescales them to a common maximum score, adds them, and applies the epilogue. One invocation per output, or per four
//! of a row if schedules load vectors.

use fuse_artifact::{DType, Grid, Pass, Slot, Space, Uniform};

use super::WORKGROUP;
use crate::{
    kernel::{Arena, Block, Ty},
    wgsl::{
        attention::{
            COMPUTED, Extents, Source,
            output::{self, ROW_WORDS, normalizer},
            reference,
        },
        epilogue::finish_call,
        grid,
        names::Names,
        shader::Shader,
    },
};

pub(in crate::wgsl) fn attention(source: Source<'_>, names: &Names) -> Pass {
    let (group, lanes) = (source.group, source.buffer_lanes());
    let arena = Arena::default();
    let mut shader = Shader::new(&arena, names, group);
    for access in group.accesses.iter().filter(|access| access.access.space == Space::Point) {
        shader.buffer(access.access.slot, access.dtype, lanes, false);
    }
    let scratch = shader.buffer(Slot::Scratch, DType::F32, lanes, false);
    let extents = Extents::new(&mut shader, group);
    output::declare_epilogue(&mut shader, group, &extents, lanes);
    let count = shader.uniform(Uniform::Count);
    let splits = shader.uniform(Uniform::Splits);
    let mut b = Block::new();
    let unit = grid::result_units(&mut shader, &mut b, &extents.axes, [WORKGROUP, lanes]);
    let shares = b.bind("shares", splits * unit.units + unit.line * (ROW_WORDS / lanes));
    let share_step = b.bind("share_step", count / extents.columns() * (ROW_WORDS / lanes));
    // A row's state is one vector, or neighboring words.
    let share = |s, word: u32| {
        let at = shares + s * share_step;
        if lanes == 1 { scratch.at(at + word) } else { scratch.at(at).lane(word) }
    };
    let largest = b.var("largest", -shader.infinity());
    b.unrollable("s", arena.u32(0), splits, 1, |b, s| b.set(largest, largest.max(share(s, 0))));
    let reference = b.bind("reference", reference(largest));
    let total = b.var("total", arena.f32(0.0));
    let output = b.var("output", arena.construct(Ty::of(COMPUTED, lanes), &[]));
    b.unrollable("s", arena.u32(0), splits, 1, |b, s| {
        let weight = b.bind("weight", (share(s, 0) - reference).exp());
        b.set(total, total + weight * share(s, 1));
        b.set(output, output + weight * scratch.at(s * unit.units + unit.i));
    });
    if output::stores_rows(group) {
        b.when(unit.column.eq(0), |b| {
            output::call_finish_numbers(b, &extents, [unit.batch, unit.row], [largest, total])
        });
    }
    b.run(finish_call("finish", &extents.axes, [unit.batch, unit.row, unit.column], &[output * normalizer(total)]));
    shader.main = b;
    shader.finish(Grid::Elements { per_workgroup: WORKGROUP * lanes }, WORKGROUP)
}
