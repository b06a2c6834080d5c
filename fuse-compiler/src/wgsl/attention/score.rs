//! The function `score`: from products of queries and keys to what the softmax is taken of.

use super::{COMPUTED, Extents, Source};
use crate::wgsl::{
    builtins::vector_type,
    expr::emit,
    operand::{Operand, OperandPlace},
    shader::{CodeBuffer, Shader},
};

/// Declares `score(b0 …, row, column, sum)`: the scores of a query and four neighboring keys. Rows and columns outside
/// the scores give values that are not used.
pub(super) fn declare(shader: &mut Shader<'_>, source: Source<'_>, extents: &Extents, lanes: u32) {
    let (body, value) = &source.attention.score;
    let (group, lane_axis) = (source.group, source.batch() + 1);
    let operand = Operand { group, body, value: *value, prefix: "s", lanes, buffer_lanes: lanes, lane_axis };
    let parameters = extents.axes.batch_parameters();
    let name = if lanes == 1 { "score_each" } else { "score" };
    let ty = vector_type(COMPUTED, lanes);
    let mut lines = CodeBuffer::default();
    lines.line(format!("fn {name}({parameters}row: u32, column: u32, sum: {ty}) -> {ty} {{"));
    let loads = operand.loads();
    if !loads.is_empty() {
        lines.line(format!("let inside_row = min(row, {} - 1u);", extents.queries()));
        lines.line(format!("let inside_column = min(column, {} - {lanes}u);", extents.keys()));
    }
    let mut at: Vec<Option<String>> = extents.axes.batch_names().into_iter().map(Some).collect();
    at.extend([Some("inside_row".to_owned()), Some("inside_column".to_owned())]);
    for access in loads {
        let offset = operand.offset(shader, access, &at);
        let load = operand.load(shader, access, &offset);
        lines.line(format!("let x{access} = {load};"));
    }
    let mut coordinates = extents.axes.batch_names();
    coordinates.extend(["row".to_owned(), "column".to_owned()]);
    let loaded = |access: u16| format!("x{access}");
    let place = OperandPlace { operand: &operand, loaded: &loaded, at: &coordinates, sums: &["sum".to_owned()] };
    let values = emit(shader, &mut lines, body, lanes, operand.prefix, &place);
    lines.line(format!("return {};", values[*value]));
    lines.line("}");
    if lanes == 1 {
        let arguments = extents.axes.batch_arguments();
        lines.line(format!("fn score({parameters}row: u32, column: u32, sum: vec4<f32>) -> vec4<f32> {{"));
        let each = |e: u32| format!("score_each({arguments}row, column + {e}u, sum[{e}])");
        lines.line(format!("return vec4<f32>({}, {}, {}, {});", each(0), each(1), each(2), each(3)));
        lines.line("}");
    }
    shader.module.append(&lines);
}
