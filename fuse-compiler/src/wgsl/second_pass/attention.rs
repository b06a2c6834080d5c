//! Outputs of parts of the keys of an attention: adds them, scaled to a common largest score, and applies the
//! epilogue. One invocation per output, or per four of a row where schedules load vectors.

use fuse_artifact::{DType, Grid, Pass, Slot, Space, Uniform};

use super::WORKGROUP;
use crate::wgsl::{
    attention::{
        COMPUTED, Extents, LOWEST, Source,
        output::{self, ROW_WORDS},
    },
    builtins::vector_type,
    grid,
    names::Names,
    shader::{CodeBuffer, Shader},
};

/// The pass.
pub(in crate::wgsl) fn attention(source: Source<'_>, names: &Names) -> Pass {
    let (group, lanes) = (source.group, source.buffer_lanes());
    let mut shader = Shader::new(names, group);
    for access in group.accesses.iter().filter(|access| access.access.space == Space::Point) {
        shader.buffer(access.access.slot, access.dtype, lanes, false);
    }
    let scratch = shader.buffer(Slot::Scratch, DType::F32, lanes, false);
    let extents = Extents::new(&mut shader, group);
    output::declare_epilogue(&mut shader, group, &extents, lanes);
    let count = shader.uniform(Uniform::Count);
    let splits = shader.uniform(Uniform::Splits);
    let columns = extents.columns();
    let ty = vector_type(COMPUTED, lanes);
    // Words of a row's share: a vector of its own, or neighbors.
    let share = |word: u32| match lanes {
        1 => format!("{scratch}[shares + s * share_step + {word}u]"),
        _ => format!("{scratch}[shares + s * share_step][{word}]"),
    };
    let mut main = CodeBuffer::indented();
    grid::result_units(&mut shader, &mut main, &extents.axes, [WORKGROUP, lanes]);
    main.line(format!("let shares = {splits} * units + line * {}u;", ROW_WORDS / lanes));
    main.line(format!("let share_step = {count} / {columns} * {}u;", ROW_WORDS / lanes));
    main.line("var largest = -bitcast<f32>(fuse_inf_bits);");
    main.unrollable("s", "0u", &splits, 1);
    main.line(format!("largest = max(largest, {});", share(0)));
    main.line("}");
    main.line(format!("let reference = select(largest, 0.0, largest < {LOWEST});"));
    main.line("var total = 0.0;");
    main.line(format!("var output = {ty}();"));
    main.unrollable("s", "0u", &splits, 1);
    main.line(format!("let weight = exp({} - reference);", share(0)));
    main.line(format!("total += weight * {};", share(1)));
    main.line(format!("output += weight * {scratch}[s * units + i];"));
    main.line("}");
    if output::stores_rows(group) {
        main.line("if column == 0u {");
        main.line(format!("finish_numbers(batch, {}row, largest, total);", extents.axes.batch_arguments()));
        main.line("}");
    }
    main.line(format!("finish(batch, {}row, column, output * normalizer(total));", extents.axes.batch_arguments()));
    shader.main = main;
    shader.finish(Grid::Elements { per_workgroup: WORKGROUP * lanes }, WORKGROUP)
}
