//! Steps of four keys of schedules whose invocations read their own: loads, and the online softmax.

use crate::kernel::Block;
use fuse_artifact::schedule::LANES;

use super::{Extents, Input, LOWEST, Source};
use crate::wgsl::{operand::read, shader::Shader, stage::is_multiple};

/// Writes the load of four elements of an input into `name`. `step` and `outer` are coordinates along the axis that is summed
/// over and along the other one, both inside the input; where `exists` does not hold, the value is zero.
pub(super) fn load<'k>(
    shader: &mut Shader<'k>,
    main: &mut Block<'k>,
    (source, extents): (Source<'_>, &Extents<'k>),
    (input, name): (Input, &str),
    [step, outer]: [&str; 2],
    exists: Option<String>,
) {
    let operand = source.operand(input, LANES);
    let mut at = extents.axes.batch_names();
    at.extend(if input == Input::Query { [outer.into(), step.into()] } else { [step.into(), outer.into()] });
    let at = shader.raws(&at);
    let value = read(shader, &operand, &at);
    main.line(match exists {
        Some(exists) => format!("let {name} = select(vec4<f32>(), {value}, {exists});"),
        None => format!("let {name} = {value};"),
    });
}

/// The condition that the key `j` after `key` exists, unless it always does in steps of so many keys.
pub(super) fn exists(source: Source<'_>, extents: &Extents, j: u32, step: u32) -> Option<String> {
    (!is_multiple(&source.attention.keys, step)).then(|| format!("key + {j}u < {}", extents.keys()))
}

/// Takes `s{m}`, the products of query `m` (which is `row` of the result) and the four keys from `key` on, in steps of so many
/// keys: declares `weights{m}` and `scale{m}`, by which outputs so far are to be scaled.
pub(super) fn softmax<'k>(
    main: &mut Block<'k>,
    (source, extents): (Source<'_>, &Extents<'k>),
    (m, row): (u32, &str),
    step: u32,
) {
    let batch = extents.axes.batch_arguments_text();
    main.line(format!("s{m} = score({batch}{row}, key, s{m});"));
    if !is_multiple(&source.attention.keys, step) {
        let exists = format!("vec4<u32>(key) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>({})", extents.keys());
        main.line(format!("s{m} = select(vec4<f32>(negative_infinity), s{m}, {exists});"));
    }
    let most = format!("max(max(s{m}.x, s{m}.y), max(s{m}.z, s{m}.w))");
    main.line(format!("let larger{m} = max(largest{m}, {most});"));
    main.line(format!("let reference{m} = select(larger{m}, 0.0, larger{m} < {LOWEST});"));
    main.line(format!("let scale{m} = exp(largest{m} - reference{m});"));
    main.line(format!("let weights{m} = exp(s{m} - vec4<f32>(reference{m}));"));
    main.line(format!("largest{m} = larger{m};"));
    main.line(format!("total{m} = total{m} * scale{m} + dot(weights{m}, vec4<f32>(1.0));"));
}

/// Adds what four keys' values, of which `value` tells the names, give to the `i`-th vector of outputs of query `m`.
pub(super) fn add_outputs<'k>(main: &mut Block<'k>, m: u32, i: u32, value: impl Fn(u32) -> String) {
    main.line(format!("o{m}_{i} *= vec4<f32>(scale{m});"));
    for j in 0..LANES {
        main.line(format!("o{m}_{i} = fma(vec4<f32>(weights{m}[{j}]), {}, o{m}_{i});", value(j)));
    }
}
