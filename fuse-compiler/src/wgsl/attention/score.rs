//! The function `score`: softmax inputs from products of queries and keys.

use super::{COMPUTED, Extents, Source};
use crate::{
    kernel::{Block, Function, Ty, Val},
    wgsl::{
        epilogue::parameters,
        expr::emit,
        operand::{Operand, OperandPlace},
        shader::Shader,
    },
};

/// Declares `score(b0 …, row, column, sum)`: scores of a query and four neighboring keys, unspecified outside.
pub(super) fn declare<'k>(shader: &mut Shader<'k>, source: Source<'_>, extents: &Extents<'k>, lanes: u32) {
    let (body, value) = &source.attention.score;
    let (group, lane_axis) = (source.group, source.batch() + 1);
    let operand = Operand { group, body, value: *value, prefix: "s", lanes, buffer_lanes: lanes, lane_axis };
    let arena = shader.arena();
    let [row, column] = ["row", "column"].map(|name| arena.name(name, Ty::U32));
    let sum = arena.name("sum", Ty::of(COMPUTED, lanes));
    let place = |values: &[Val<'k>]| extents.axes.batch_parameters().into_iter().chain(parameters(values)).collect();
    let mut b = Block::new();
    bind_loads(shader, &mut b, &operand, extents, [row, column]);
    let coordinates: Vec<Val<'k>> = extents.axes.batch().into_iter().chain([row, column]).collect();
    let loaded = |access| operand.named(arena, access, format!("x{access}"));
    let context = OperandPlace { operand: &operand, loaded: &loaded, at: &coordinates, accumulators: &[sum] };
    let values = emit(shader, &mut b, body, lanes, operand.prefix, &context);
    b.answer(values[*value]);
    let name = if lanes == 1 { "score_each" } else { "score" }.to_owned();
    shader.function(Function { name, parameters: place(&[row, column, sum]), result: Some(sum.ty()), body: b });
    if lanes == 1 {
        let sums = arena.name("sum", Ty::of(COMPUTED, 4));
        let each = [0, 1, 2, 3].map(|e| {
            let arguments: Vec<Val<'k>> =
                extents.axes.batch().into_iter().chain([row, column + e, sums.lane(e)]).collect();
            arena.call("score_each", &arguments, sum.ty())
        });
        let body = Block::of(|b| b.answer(arena.construct(sums.ty(), &each)));
        let parameters = place(&[row, column, sums]);
        shader.function(Function { name: "score".to_owned(), parameters, result: Some(sums.ty()), body });
    }
}

pub(super) fn score<'k>(extents: &Extents<'k>, [row, key]: [Val<'k>; 2], products: Val<'k>) -> Val<'k> {
    let arguments: Vec<Val<'k>> = extents.axes.batch().into_iter().chain([row, key, products]).collect();
    products.arena().call("score", &arguments, products.ty())
}

/// Binds `x…`, the loads of a score or weight program, inside its space.
pub(in crate::wgsl) fn bind_loads<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    operand: &Operand<'_>,
    extents: &Extents<'k>,
    [row, column]: [Val<'k>; 2],
) {
    let loads = operand.loads();
    if loads.is_empty() {
        return;
    }
    let inside_row = b.bind("inside_row", row.min(extents.queries() - 1));
    let inside_column = b.bind("inside_column", column.min(extents.keys() - operand.lanes));
    let at: Vec<Option<Val<'k>>> =
        extents.axes.batch().into_iter().chain([inside_row, inside_column]).map(Some).collect();
    for access in loads {
        let offset = operand.offset(shader, access, &at);
        let value = operand.load(shader, access, offset);
        b.bind(format!("x{access}"), value);
    }
}
