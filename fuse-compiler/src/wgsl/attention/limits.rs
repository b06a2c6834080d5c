//! The range of keys that the queries of a workgroup see.

use super::{Extents, Walk};
use crate::{
    kernel::{Block, Literal, Scalar, Ty, Val},
    schedule::mask_bounds::{Leaf, Side},
    wgsl::{
        expr::emit,
        operand::{Operand, OperandPlace},
        shader::Shader,
    },
};

/// From here, 32-bit integers in a comparison may wrap around, which would make limits wrong.
const EXACT: f32 = 1_073_741_824.0;

/// Narrows the keys `begin` (to a multiple of `step`) `.. end` for the queries `row0 .. row0 + rows`; true if limits
/// are loaded values.
pub(super) fn apply<'k>(
    walk: &Walk<'_>,
    shader: &mut Shader<'k>,
    extents: &Extents<'k>,
    b: &mut Block<'k>,
    [rows, step]: [u32; 2],
    [row0, begin, end]: [Val<'k>; 3],
) -> bool {
    let limits = &walk.limits;
    if limits.is_empty() {
        return false;
    }
    let arena = shader.arena();
    let integer = |value: i64| arena.literal(Literal::I32(value as i32));
    let float = |value| arena.f32(value);
    let first_query = b.bind("first_query", row0.convert(Scalar::I32));
    let last_query = b.bind("last_query", ((row0 + rows).min(extents.queries()) - 1).convert(Scalar::I32));
    let (values, loaded) = batch_values(walk, shader, extents, b);
    for (i, limit) in limits.iter().enumerate() {
        let mut leaf = |leaf: &Leaf| match leaf {
            Leaf::One => integer(1),
            Leaf::Size(size) => shader.size(size).convert(Scalar::I32),
            Leaf::Value(value) => values[*value],
        };
        // The query with the widest limit.
        let query = if (limit.side == Side::End) == (limit.slope > 0) { last_query } else { first_query };
        let mut terms = vec![];
        if limit.slope != 0 {
            terms.push(product(limit.slope, query));
        }
        terms.extend(limit.terms.iter().map(|(term, by)| product(*by, leaf(term))));
        let mut weights: Vec<Val<'k>> = vec![];
        for (term, by) in &limit.weights {
            weights.push(float(*by as f32) * leaf(term).convert(Scalar::F32).call("abs", &[]));
        }
        weights.push(float(limit.query_weight as f32) * extents.queries().convert(Scalar::F32));
        weights.push(float(limit.key_weight as f32) * extents.keys().convert(Scalar::F32));
        let sum = terms.into_iter().reduce(|x, y| x + y).unwrap_or_else(|| integer(0));
        let key = b.bind(format!("limit{i}"), sum.max(0).convert(Scalar::U32));
        let weight = weights.into_iter().reduce(|x, y| x + y).unwrap_or_else(|| float(0.0));
        let exact = b.bind(format!("exact{i}"), weight.lt(float(EXACT)));
        match limit.side {
            Side::First => b.set(begin, exact.select(begin.max(key / step * step), begin)),
            Side::End => b.set(end, exact.select(end.min(key), end)),
        }
    }
    loaded
}

/// Shares the first invocation's key range with all. The ranges are equal, but the loop over keys has barriers, and
/// browsers consider values from a writable buffer nonuniform, as in shaders with matrices (`Shader::pin_loads`).
pub(super) fn share<'k>(shader: &mut Shader<'k>, b: &mut Block<'k>, limits: [Val<'k>; 2]) {
    // 16 bytes: matrices in workgroup memory start at multiples of 16.
    let shared = shader.workgroup_array("key_limits", Ty::U32, 4);
    b.when(shader.local().eq(0), |b| {
        for (limit, at) in limits.into_iter().zip(0u32..) {
            b.set(shared.at(at), limit);
        }
    });
    for (limit, at) in limits.into_iter().zip(0u32..) {
        b.set(limit, shared.at(at).uniform_load());
    }
}

fn product(by: i64, term: Val<'_>) -> Val<'_> {
    if by == 1 { term } else { term.arena().literal(Literal::I32(by as i32)) * term }
}

/// Computes the score-program values that limits depend on, equal for all queries and keys; true if any is loaded.
fn batch_values<'k>(
    walk: &Walk<'_>,
    shader: &mut Shader<'k>,
    extents: &Extents<'k>,
    b: &mut Block<'k>,
) -> (Vec<Val<'k>>, bool) {
    let (group, (body, value)) = (walk.group, walk.program);
    let terms = walk.limits.iter().flat_map(|limit| limit.weights.iter());
    let roots = terms.filter_map(|(leaf, _)| match leaf {
        Leaf::Value(value) => Some(*value),
        Leaf::One | Leaf::Size(_) => None,
    });
    let body = body.only(&roots.collect::<Vec<_>>());
    let (buffer_lanes, lane_axis) = (walk.buffer_lanes, group.shape.len() - 1);
    let operand = Operand { group, body: &body, value, prefix: "seen", lanes: 1, buffer_lanes, lane_axis };
    let accesses = operand.loads();
    let at: Vec<Option<Val<'k>>> = extents.axes.batch().into_iter().map(Some).chain([None, None]).collect();
    for &access in &accesses {
        let offset = operand.offset(shader, access, &at);
        let value = operand.load(shader, access, offset);
        b.bind(format!("seen_x{access}"), value);
    }
    let zero = shader.u32(0);
    let coordinates: Vec<Val<'k>> = extents.axes.batch().into_iter().chain([zero, zero]).collect();
    let arena = shader.arena();
    let loaded = |access| operand.loaded(arena, access);
    let place = OperandPlace { operand: &operand, loaded: &loaded, at: &coordinates, accumulators: &[] };
    (emit(shader, b, &body, 1, operand.prefix, &place), !accesses.is_empty())
}
