//! The text that finds the first and the last key that any query of a workgroup sees.

use super::{Extents, Walk};
use crate::{
    schedule::mask_bounds::{Leaf, Side},
    wgsl::{
        expr::emit,
        operand::{Operand, OperandPlace},
        shader::{CodeBuffer, Shader},
    },
};

/// Beyond this, 32-bit integers in a comparison may wrap around, and a limit derived from it would be wrong.
const EXACT: &str = "1073741824.0";

/// The first key, and the one after the last.
const LIMITS: [&str; 2] = ["key_begin", "key_end"];

/// Narrows `key_begin` (to a multiple of `step`) and `key_end` for the queries `row0 .. row0 + rows`; whether by what is loaded.
pub(super) fn apply(
    walk: &Walk<'_>,
    shader: &mut Shader<'_>,
    extents: &Extents,
    main: &mut CodeBuffer,
    rows: u32,
    step: u32,
) -> bool {
    let limits = &walk.limits;
    if limits.is_empty() {
        return false;
    }
    main.line("let first_query = i32(row0);");
    main.line(format!("let last_query = i32(min(row0 + {rows}u, {}) - 1u);", extents.queries()));
    let (values, loaded) = batch_values(walk, shader, extents, main);
    for (i, limit) in limits.iter().enumerate() {
        let mut leaf = |leaf: &Leaf| match leaf {
            Leaf::One => "1".to_owned(),
            Leaf::Size(size) => format!("i32({})", shader.size(size)),
            Leaf::Value(value) => values[*value].clone(),
        };
        // The query whose limit is the widest.
        let query = if (limit.side == Side::End) == (limit.slope > 0) { "last_query" } else { "first_query" };
        let mut terms = vec![];
        if limit.slope != 0 {
            terms.push(product(limit.slope, query));
        }
        terms.extend(limit.terms.iter().map(|(term, by)| product(*by, &leaf(term))));
        let mut weights: Vec<String> =
            limit.weights.iter().map(|(term, by)| format!("{by}.0 * abs(f32({}))", leaf(term))).collect();
        weights.push(format!("{}.0 * f32({})", limit.query_weight, extents.queries()));
        weights.push(format!("{}.0 * f32({})", limit.key_weight, extents.keys()));
        let terms = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        main.line(format!("let limit{i} = u32(max({terms}, 0));"));
        main.line(format!("let exact{i} = {} < {EXACT};", weights.join(" + ")));
        main.line(match limit.side {
            Side::First => {
                format!("key_begin = select(key_begin, max(key_begin, limit{i} / {step}u * {step}u), exact{i});")
            }
            Side::End => format!("key_end = select(key_end, min(key_end, limit{i}), exact{i});"),
        });
    }
    loaded
}

/// Has all invocations take the keys of the first one. They are the same, but browsers take nothing for uniform that is loaded from
/// a buffer which might be written, as those of shaders with matrices are (`Shader::pin_loads`), and the loop over keys has barriers.
pub(super) fn share(shader: &mut Shader<'_>, main: &mut CodeBuffer) {
    // 16 bytes, as matrices in workgroup memory start at multiples of these.
    shader.workgroup_array("key_limits", "u32", 4, 4);
    main.line("if local == 0u {");
    for (at, limit) in LIMITS.iter().enumerate() {
        main.line(format!("key_limits[{at}] = {limit};"));
    }
    main.line("}");
    for (at, limit) in LIMITS.iter().enumerate() {
        main.line(format!("{limit} = workgroupUniformLoad(&key_limits[{at}]);"));
    }
}

fn product(by: i64, term: &str) -> String {
    match by {
        1 => term.to_owned(),
        _ => format!("i32({by}) * {term}"),
    }
}

/// Writes the values of the score's program that limits are made of, and says whether any is loaded; they are the same for all
/// queries and keys.
fn batch_values(
    walk: &Walk<'_>,
    shader: &mut Shader<'_>,
    extents: &Extents,
    main: &mut CodeBuffer,
) -> (Vec<String>, bool) {
    let (group, (body, value)) = (walk.group, walk.program);
    let terms = walk.limits.iter().flat_map(|limit| limit.weights.iter());
    let roots = terms.filter_map(|(leaf, _)| match leaf {
        Leaf::Value(value) => Some(*value),
        Leaf::One | Leaf::Size(_) => None,
    });
    let body = body.only(&roots.collect::<Vec<_>>());
    let (buffer_lanes, lane_axis) = (walk.buffer_lanes, group.shape.len() - 1);
    let operand = Operand { group, body: &body, value, prefix: "seen", lanes: 1, buffer_lanes, lane_axis };
    let mut at: Vec<Option<String>> = extents.axes.batch_names().into_iter().map(Some).collect();
    at.extend([None, None]);
    let accesses = operand.loads();
    for &access in &accesses {
        let offset = operand.offset(shader, access, &at);
        let load = operand.load(shader, access, &offset);
        main.line(format!("let seen_x{access} = {load};"));
    }
    let mut coordinates = extents.axes.batch_names();
    coordinates.extend(["0u".to_owned(), "0u".to_owned()]);
    let loaded = |access: u16| format!("seen_x{access}");
    let place = OperandPlace { operand: &operand, loaded: &loaded, at: &coordinates, sums: &[] };
    (emit(shader, main, &body, 1, operand.prefix, &place), !accesses.is_empty())
}
