//! The function `weights`: the weights of each sum from products.

use super::{COMPUTED, Extents, Source};
use crate::{
    kernel::{Block, Function, Ty, Val},
    wgsl::{
        attention::score::bind_loads,
        epilogue::parameters,
        expr::emit,
        operand::{Operand, OperandPlace},
        shader::Shader,
    },
};

/// Declares the type `Weights` with a vector `w0 …` per sum, and `weights(b0 …, row, column, c0 …)`: weights of a row
/// and four neighboring keys from products, unspecified outside.
pub(super) fn declare<'k>(shader: &mut Shader<'k>, source: Source<'_>, extents: &Extents<'k>) {
    let (lanes, arena) = (source.lanes(), shader.arena());
    let products = |lanes: u32| -> Vec<Val<'k>> {
        let ty = Ty::of(COMPUTED, lanes);
        (0..source.sum.products.len()).map(|i| arena.name(format!("c{i}"), ty)).collect()
    };
    let sums = source.sum.values.len();
    let vectors = shader.structure("Weights", fields(source, 4));
    let result = if lanes == 1 { shader.structure("Weight", fields(source, 1)) } else { vectors };
    let [row, column] = ["row", "column"].map(|name| arena.name(name, Ty::U32));
    let place = |products: &[Val<'k>]| {
        let place = [row, column];
        let coordinates = extents.axes.batch_parameters().into_iter().chain(parameters(&place));
        coordinates.chain(parameters(products)).collect()
    };
    let mut b = Block::new();
    let values = values(shader, &mut b, source, extents, ([row, column], &products(lanes)));
    b.answer(arena.construct(result, &values));
    let name = if lanes == 1 { "weight" } else { "weights" }.to_owned();
    shader.function(Function { name, parameters: place(&products(lanes)), result: Some(result), body: b });
    if lanes == 1 {
        let products = products(4);
        let body = Block::of(|b| {
            let each = [0, 1, 2, 3].map(|e| {
                let coordinates = extents.axes.batch().into_iter().chain([row, column + e]);
                let arguments: Vec<Val<'k>> = coordinates.chain(products.iter().map(|c| c.lane(e))).collect();
                b.bind(format!("at{e}"), arena.call("weight", &arguments, result))
            });
            let vector = |i: usize| arena.construct(Ty::of(COMPUTED, 4), &each.map(|at| at.field(&format!("w{i}"))));
            b.answer(arena.construct(vectors, &(0..sums).map(vector).collect::<Vec<_>>()));
        });
        let parameters = place(&products);
        shader.function(Function { name: "weights".to_owned(), parameters, result: Some(vectors), body });
    }
}

fn fields(source: Source<'_>, lanes: u32) -> Vec<(String, Ty)> {
    (0..source.sum.values.len()).map(|i| (format!("w{i}"), Ty::of(COMPUTED, lanes))).collect()
}

pub(super) fn call<'k>(
    source: Source<'_>,
    extents: &Extents<'k>,
    place: [Val<'k>; 2],
    products: &[Val<'k>],
) -> Val<'k> {
    let arena = place[0].arena();
    let arguments: Vec<Val<'k>> =
        extents.axes.batch().into_iter().chain(place).chain(products.iter().copied()).collect();
    arena.call("weights", &arguments, arena.structure("Weights", fields(source, 4)))
}

fn values<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    source: Source<'_>,
    extents: &Extents<'k>,
    (place, products): ([Val<'k>; 2], &[Val<'k>]),
) -> Vec<Val<'k>> {
    let (body, weights) = &source.sum.weights;
    let (group, lanes, lane_axis) = (source.group, source.lanes(), source.batch() + 1);
    let operand = Operand { group, body, value: weights[0], prefix: "s", lanes, buffer_lanes: lanes, lane_axis };
    bind_loads(shader, b, &operand, extents, place);
    let coordinates: Vec<Val<'k>> = extents.axes.batch().into_iter().chain(place).collect();
    let arena = shader.arena();
    let loaded = |access| operand.named(arena, access, format!("x{access}"));
    let context = OperandPlace { operand: &operand, loaded: &loaded, at: &coordinates, accumulators: products };
    let values = emit(shader, b, body, lanes, operand.prefix, &context);
    weights.iter().map(|&weight| values[weight]).collect()
}
