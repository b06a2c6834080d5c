//! The function `weights`: from products to what each sum multiplies.

use super::{COMPUTED, Extents, Source};
use crate::wgsl::{
    builtins::vector_type,
    expr::emit,
    operand::{Operand, OperandPlace},
    shader::{CodeBuffer, Shader},
};

/// The name of an argument or field for each of so many.
fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{i}")).collect()
}

/// Declares the type `Weights` with a vector `w0 …` for each sum, and `weights(b0 …, row, column, c0 …)`: those of a row and
/// four neighboring keys, from their products. Rows and columns outside give values that are not used.
pub(super) fn declare(shader: &mut Shader<'_>, source: Source<'_>, extents: &Extents) {
    let lanes = source.lanes();
    let (products, sums) = (names("c", source.sum.products.len()), names("w", source.sum.values.len()));
    let parameters = |ty: &str| products.iter().map(|name| format!(", {name}: {ty}")).collect::<String>();
    let batch = extents.axes.batch_parameters();
    let fields = |ty: &str| sums.iter().map(|name| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ");
    let mut lines = CodeBuffer::default();
    lines.line(format!("struct Weights {{ {} }}", fields("vec4<f32>")));
    if lanes == 1 {
        lines.line(format!("struct Weight {{ {} }}", fields("f32")));
    }
    let (name, result) = if lanes == 1 { ("weight", "Weight") } else { ("weights", "Weights") };
    let ty = vector_type(COMPUTED, lanes);
    lines.line(format!("fn {name}({batch}row: u32, column: u32{}) -> {result} {{", parameters(&ty)));
    let values = values(shader, &mut lines, source, extents, &products);
    lines.line(format!("return {result}({});", values.join(", ")));
    lines.line("}");
    if lanes == 1 {
        let arguments = extents.axes.batch_arguments();
        lines.line(format!("fn weights({batch}row: u32, column: u32{}) -> Weights {{", parameters("vec4<f32>")));
        for e in 0..4 {
            let each: String = products.iter().map(|name| format!(", {name}[{e}]")).collect();
            lines.line(format!("let at{e} = weight({arguments}row, column + {e}u{each});"));
        }
        let vector = |name: &String| {
            let each: Vec<String> = (0..4).map(|e| format!("at{e}.{name}")).collect();
            format!("vec4<f32>({})", each.join(", "))
        };
        lines.line(format!("return Weights({});", sums.iter().map(vector).collect::<Vec<_>>().join(", ")));
        lines.line("}");
    }
    shader.module.append(&lines);
}

/// Writes the weights' program at `row` and `column`; the expression of each sum's.
fn values(
    shader: &mut Shader<'_>,
    lines: &mut CodeBuffer,
    source: Source<'_>,
    extents: &Extents,
    products: &[String],
) -> Vec<String> {
    let (body, weights) = &source.sum.weights;
    let (group, lanes, lane_axis) = (source.group, source.lanes(), source.batch() + 1);
    let operand = Operand { group, body, value: weights[0], prefix: "s", lanes, buffer_lanes: lanes, lane_axis };
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
    let place = OperandPlace { operand: &operand, loaded: &loaded, at: &coordinates, sums: products };
    let values = emit(shader, lines, body, lanes, operand.prefix, &place);
    weights.iter().map(|&weight| values[weight].clone()).collect()
}
