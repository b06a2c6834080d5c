//! What happens to outputs: the epilogue and the stores, or a part's share for the second pass.

use fuse_artifact::{DType, Slot, Uniform};

use super::{COMPUTED, Extents};
use crate::{
    fusion::Group,
    wgsl::{
        builtins::vector_type,
        epilogue::Epilogue,
        shader::{Lines, Shader},
    },
};

/// Declares `finish(batch, b0 …, row, column, output)`, which stores the epilogue of neighboring normalized outputs if
/// they are inside the result, and `normalizer(total)`.
pub(super) fn declare(shader: &mut Shader<'_>, group: &Group, extents: &Extents, lanes: u32) {
    Epilogue::new(group, &extents.axes, COMPUTED, lanes, lanes).declare(shader);
    if lanes == 1 {
        declare_vector(shader, extents);
    }
    declare_normalizer(shader, extents);
}

/// `finish` of four columns where `finish_each` takes one.
fn declare_vector(shader: &mut Shader<'_>, extents: &Extents) {
    let (parameters, arguments) = (extents.axes.batch_parameters(), extents.axes.batch_arguments());
    let mut lines = Lines::default();
    lines.line(format!("fn finish_four(batch: u32, {parameters}row: u32, column: u32, output: vec4<f32>) {{"));
    for e in 0..4 {
        lines.line(format!("finish(batch, {arguments}row, column + {e}u, output[{e}]);"));
    }
    lines.line("}");
    shader.module.append(&lines);
}

/// The name of the function that takes four outputs.
pub(super) const fn finish(split: bool, lanes: u32) -> &'static str {
    if split || lanes == 4 { "finish" } else { "finish_four" }
}

/// Declares `normalizer(total)`, the factor of an output whose exponentials add up to `total`: without a visible key
/// there are no probabilities (0/0), without any key the output is a sum over nothing.
pub(in crate::wgsl) fn declare_normalizer(shader: &mut Shader<'_>, extents: &Extents) {
    let mut lines = Lines::default();
    lines.line("fn normalizer(total: f32) -> f32 {");
    lines.line("if total == 0.0 {");
    lines.line(format!("return select(bitcast<f32>(fuse_nan_bits), 0.0, {} == 0u);", extents.keys()));
    lines.line("}");
    lines.line("return 1.0 / total;");
    lines.line("}");
    shader.module.append(&lines);
}

/// Words of a part's share of a row: the largest score, the sum of exponentials, and nothing, so that shares are vectors.
pub(in crate::wgsl) const ROW_WORDS: u32 = 4;

/// Declares `finish(batch, b0 …, row, column, output)` and `finish_row(batch, row, largest, total)`, which store the share
/// of the part `split`, `lanes` words at a time: first all parts' outputs, then for each part and row its [`ROW_WORDS`].
pub(super) fn declare_partial(shader: &mut Shader<'_>, extents: &Extents, lanes: u32) {
    let scratch = shader.buffer(Slot::Scratch, DType::F32, lanes, true);
    let batches = extents.axes.batches(shader);
    let ty = vector_type(COMPUTED, 4);
    let (rows, columns) = (extents.queries(), extents.columns());
    let parameters = extents.axes.batch_parameters();
    let count = shader.uniform(Uniform::Count);
    let splits = shader.uniform(Uniform::Splits);
    let mut lines = Lines::default();
    lines.line("var<private> split: u32;");
    lines.line(format!("fn finish(batch: u32, {parameters}row: u32, column: u32, output: {ty}) {{"));
    let outside = if lanes == 1 { String::new() } else { format!(" || column >= {columns}") };
    lines.line(format!("if row >= {rows}{outside} {{"));
    lines.line("return;");
    lines.line("}");
    lines.line(format!("let at = ((split * {batches} + batch) * {rows} + row) * {columns} + column;"));
    if lanes == 4 {
        lines.line(format!("{scratch}[at / 4u] = output;"));
    } else {
        for e in 0..4 {
            lines.line(format!("if column + {e}u < {columns} {{"));
            lines.line(format!("{scratch}[at + {e}u] = output[{e}];"));
            lines.line("}");
        }
    }
    lines.line("}");
    lines.line("fn finish_row(batch: u32, row: u32, largest: f32, total: f32) {");
    lines.line(format!("if row >= {rows} {{"));
    lines.line("return;");
    lines.line("}");
    let line = format!("(split * {batches} + batch) * {rows} + row");
    lines.line(format!("let at = {splits} * {count} + ({line}) * {ROW_WORDS}u;"));
    if lanes == 4 {
        lines.line(format!("{scratch}[at / 4u] = vec4<f32>(largest, total, 0.0, 0.0);"));
    } else {
        lines.line(format!("{scratch}[at] = largest;"));
        lines.line(format!("{scratch}[at + 1u] = total;"));
    }
    lines.line("}");
    shader.module.append(&lines);
}
