//! The second pass of a split member: adds the parts' outputs, scaled to a common largest score, and applies the
//! epilogue. One invocation per output, or per four of a row where members load vectors.

use fuse_artifact::{DType, Grid, Pass, Slot, Space, Uniform};

use super::{COMPUTED, Extents, LOWEST, Source, output, output::ROW_WORDS};
use crate::wgsl::{
    builtins::vector_type,
    epilogue::Epilogue,
    names::Names,
    shader::{Lines, Shader},
};

const WORKGROUP: u32 = 256;

/// The pass.
pub(super) fn pass(source: Source<'_>, names: &Names) -> Pass {
    let (group, lanes) = (source.group, source.buffer_lanes());
    let mut shader = Shader::new(names);
    for access in group.accesses.iter().filter(|access| access.access.space == Space::Point) {
        shader.buffer(access.access.slot, access.dtype, lanes, false);
    }
    let scratch = shader.buffer(Slot::Scratch, DType::F32, lanes, false);
    let extents = Extents::new(&mut shader, group);
    Epilogue::new(group, &extents.axes, COMPUTED, lanes, lanes).declare(&mut shader);
    output::declare_normalizer(&mut shader, &extents);
    let count = shader.uniform(Uniform::Count);
    let splits = shader.uniform(Uniform::Splits);
    let (rows, columns) = (extents.queries(), extents.columns());
    let ty = vector_type(COMPUTED, lanes);
    // Words of a row's share: a vector of its own, or neighbors.
    let share = |word: u32| match lanes {
        1 => format!("{scratch}[shares + s * share_step + {word}u]"),
        _ => format!("{scratch}[shares + s * share_step][{word}]"),
    };
    let mut main = Lines::indented();
    main.line("let id = workgroup.x + workgroup.y * workgroups.x;");
    main.line(format!("let i = id * {WORKGROUP}u + local;"));
    main.line(format!("let units = {count} / {lanes}u;"));
    main.line("if i >= units {");
    main.line("return;");
    main.line("}");
    main.line(format!("let column = (i * {lanes}u) % {columns};"));
    main.line(format!("let line = (i * {lanes}u) / {columns};"));
    main.line(format!("let row = line % {rows};"));
    main.line(format!("let batch = line / {rows};"));
    extents.axes.decode_batch(&mut shader, &mut main);
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
    main.line(format!("finish(batch, {}row, column, output * normalizer(total));", extents.axes.batch_arguments()));
    shader.main = main;
    shader.finish(Grid::Elements { per_workgroup: WORKGROUP * lanes }, WORKGROUP)
}
