//! The second pass of a split member: adds the parts' outputs, scaled to a common largest score, and applies the
//! epilogue. One invocation per output.

use fuse_artifact::{DType, Grid, Pass, Slot, Space, Uniform};

use super::{COMPUTED, Extents, LOWEST, Source, output};
use crate::wgsl::{
    epilogue::Epilogue,
    names::Names,
    shader::{Lines, Shader},
};

const WORKGROUP: u32 = 256;

/// The pass.
pub(super) fn pass(source: Source<'_>, names: &Names) -> Pass {
    let group = source.group;
    let mut shader = Shader::new(names);
    for access in group.accesses.iter().filter(|access| access.access.space == Space::Point) {
        shader.buffer(access.access.slot, access.dtype, 1, false);
    }
    let scratch = shader.buffer(Slot::Scratch, DType::F32, 1, false);
    let extents = Extents::new(&mut shader, group);
    Epilogue::new(group, &extents.axes, COMPUTED, 1, 1).declare(&mut shader);
    output::declare_normalizer(&mut shader, &extents);
    let count = shader.uniform(Uniform::Count);
    let splits = shader.uniform(Uniform::Splits);
    let (rows, columns) = (extents.queries(), extents.columns());
    let mut main = Lines::indented();
    main.line("let id = workgroup.x + workgroup.y * workgroups.x;");
    main.line(format!("let i = id * {WORKGROUP}u + local;"));
    main.line(format!("if i >= {count} {{"));
    main.line("return;");
    main.line("}");
    main.line(format!("let column = i % {columns};"));
    main.line(format!("let line = i / {columns};"));
    main.line(format!("let row = line % {rows};"));
    main.line(format!("let batch = line / {rows};"));
    extents.axes.decode_batch(&mut shader, &mut main);
    main.line(format!("let row_shares = {splits} * {count} + line * 2u;"));
    main.line(format!("let row_step = {count} / {columns} * 2u;"));
    main.line("var largest = -bitcast<f32>(fuse_inf_bits);");
    main.line(format!("for (var s = 0u; s < {splits}; s++) {{"));
    main.line(format!("largest = max(largest, {scratch}[row_shares + s * row_step]);"));
    main.line("}");
    main.line(format!("let reference = select(largest, 0.0, largest < {LOWEST});"));
    main.line("var total = 0.0;");
    main.line("var output = 0.0;");
    main.line(format!("for (var s = 0u; s < {splits}; s++) {{"));
    main.line(format!("let weight = exp({scratch}[row_shares + s * row_step] - reference);"));
    main.line(format!("total += weight * {scratch}[row_shares + s * row_step + 1u];"));
    main.line(format!("output += weight * {scratch}[s * {count} + i];"));
    main.line("}");
    main.line(format!("finish(batch, {}row, column, output * normalizer(total));", extents.axes.batch_arguments()));
    shader.main = main;
    shader.finish(Grid::Elements { per_workgroup: WORKGROUP }, WORKGROUP)
}
