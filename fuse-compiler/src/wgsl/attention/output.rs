//! What happens to outputs: the epilogue and the stores, or a part's share for the second pass.

use fuse_artifact::{DType, Slot, Uniform};

use super::{COMPUTED, Extents};
use crate::{
    fusion::{Group, Store, attention::is_of_row},
    wgsl::{
        builtins::vector_type,
        epilogue::Epilogue,
        expr::emit,
        operand::{Operand, OperandPlace, load, loaded},
        shader::{CodeBuffer, Shader, to_storage},
    },
};

/// Declares `finish(batch, b0 …, row, column, output)`, which stores the epilogue of neighboring normalized outputs if
/// they are inside the result, `normalizer(total)`, and what [`declare_rows`] does.
pub(super) fn declare(shader: &mut Shader<'_>, group: &Group, extents: &Extents, lanes: u32) {
    declare_epilogue(shader, group, extents, lanes);
    if lanes == 1 {
        declare_vector(shader, extents);
    }
}

/// As [`declare`], for `lanes` outputs at a time.
pub(in crate::wgsl) fn declare_epilogue(shader: &mut Shader<'_>, group: &Group, extents: &Extents, lanes: u32) {
    if stores_rows(group) {
        let elements = only(group, |store| !is_of_row(&group.body, store.value));
        Epilogue::new(&elements, &extents.axes, COMPUTED, lanes, lanes).declare(shader);
        declare_rows(shader, group, extents, lanes);
    } else {
        Epilogue::new(group, &extents.axes, COMPUTED, lanes, lanes).declare(shader);
    }
    declare_normalizer(shader, extents);
}

/// Whether an attention stores numbers per row.
pub(in crate::wgsl) fn stores_rows(group: &Group) -> bool {
    group.stores.iter().any(|store| is_of_row(&group.body, store.value))
}

/// The group with some of its stores, and what these need.
fn only(group: &Group, wanted: impl Fn(&Store) -> bool) -> Group {
    let stores: Vec<Store> = group.stores.iter().filter(|store| wanted(store)).cloned().collect();
    let body = group.body.only(&stores.iter().map(|store| store.value).collect::<Vec<_>>());
    Group { body, stores, ..group.clone() }
}

/// Declares `finish_numbers(batch, b0 …, row, largest, total)`, which stores what follows from a row's largest score and its sum
/// of exponentials, if the row is inside the result. Its stores are the last of the group.
fn declare_rows(shader: &mut Shader<'_>, group: &Group, extents: &Extents, buffer_lanes: u32) {
    let rows = only(group, |store| is_of_row(&group.body, store.value));
    let (body, lane_axis) = (&rows.body, group.shape.len() - 1);
    let operand = Operand { group: &rows, body, value: 0, prefix: "r", lanes: 1, buffer_lanes, lane_axis };
    let mut at = extents.axes.batch_names();
    at.extend(["row".to_owned(), "0u".to_owned()]);
    let mut lines = CodeBuffer::default();
    let parameters = extents.axes.batch_parameters();
    lines.line(format!("fn finish_numbers(batch: u32, {parameters}row: u32, largest: f32, total: f32) {{"));
    lines.line(format!("if row >= {} {{", extents.queries()));
    lines.line("return;");
    lines.line("}");
    load(shader, &mut lines, &operand, &operand.loads(), &at);
    let (loaded, sums) = (loaded(operand.prefix), ["", "largest", "total"].map(str::to_owned));
    let place = OperandPlace { operand: &operand, loaded: &loaded, at: &at, sums: &sums };
    let values = emit(shader, &mut lines, body, 1, operand.prefix, &place);
    let strided = |stores: &[Store]| stores.iter().filter(|store| store.access.is_some()).count();
    let first = (group.accesses.len() + strided(&group.stores) - strided(&rows.stores)) as u16;
    for (index, store) in (first..).zip(&rows.stores) {
        let Some(access) = &store.access else { unreachable!("numbers per row are stored through an access") };
        let dtype = body.values[store.value].dtype;
        let buffer = shader.buffer(store.slot, dtype, 1, true);
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        for (axis, coordinate) in at.iter().enumerate().filter(|(axis, _)| access.access.axes[*axis].is_some()) {
            let stride = shader.uniform(Uniform::Stride { access: index, axis: axis as u8 });
            offset += &format!(" + {coordinate} * {stride}");
        }
        lines.line(format!("{buffer}[{offset}] = {};", to_storage(dtype, 1, &values[store.value])));
    }
    lines.line("}");
    shader.module.append(&lines);
}

/// `finish` of four columns where `finish_each` takes one.
fn declare_vector(shader: &mut Shader<'_>, extents: &Extents) {
    let (parameters, arguments) = (extents.axes.batch_parameters(), extents.axes.batch_arguments());
    let mut lines = CodeBuffer::default();
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
fn declare_normalizer(shader: &mut Shader<'_>, extents: &Extents) {
    let mut lines = CodeBuffer::default();
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
    let mut lines = CodeBuffer::default();
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
