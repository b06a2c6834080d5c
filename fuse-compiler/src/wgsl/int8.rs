//! Runs of left operands that are rounded to 8 bits in workgroup memory, and their products with weights of 8 or 4 bits, four at
//! a time in integers.
//!
//! Sixteen neighbouring depths share a scale, a 127th of their largest magnitude: a rounded value errs by at most a 254th of
//! that magnitude (and what half a unit in the last place of `f32` adds). Sums of integers are exact.

use super::{
    runs::Runs,
    shader::{Lines, Shader},
    weights::{RUN, WeightText},
};
use crate::schedule::contraction::LANES;

/// Depths that share a scale; their codes are a vector of four words.
const GROUP: u32 = 16;

/// Depths in workgroup memory at a time, a multiple of [`RUN`]. With the sums of a product they take 10 KiB.
const HELD: u32 = 4096;

/// The smallest normal number: devices may take what is smaller for zero.
const SMALLEST: f32 = f32::MIN_POSITIVE;

/// Opens a loop over the depth: in each round the values from `held` to `held_end` are in workgroup memory, in the order in
/// which weights of so many bits come apart.
pub(super) fn begin(
    shader: &mut Shader<'_>,
    main: &mut Lines,
    runs: &Runs<'_>,
    [begin, end]: [&str; 2],
    bits: u32,
    invocations: u32,
) {
    shader.workgroup_array("a_codes", "vec4<u32>", HELD / GROUP, 16);
    shader.workgroup_array("a_scales", "vec2<f32>", HELD / GROUP, 8);
    main.line(format!("for (var held = {begin}; held < {end}; held += {HELD}u) {{"));
    main.line(format!("let held_end = min(held + {HELD}u, {end});"));
    // Of the round before, other invocations may still read.
    main.line("workgroupBarrier();");
    main.line(format!("for (var i = local; i < (held_end - held) / {GROUP}u; i += {invocations}u) {{"));
    runs.read_vectors(shader, main, &format!("held + i * {GROUP}u"), GROUP / LANES);
    main.line("let largest4 = max(max(abs(x0), abs(x1)), max(abs(x2), abs(x3)));");
    main.line("let largest = max(max(largest4.x, largest4.y), max(largest4.z, largest4.w));");
    main.line(format!("let to_unit = select(0.0, 1.0 / largest, largest >= {SMALLEST:?});"));
    let codes = words(bits).map(|word| format!("pack4x8snorm({word} * to_unit)"));
    main.line(format!("let codes = vec4<u32>({});", codes.join(", ")));
    main.line("let ones = 0x01010101u;");
    let sums = ["x", "y", "z", "w"].map(|word| format!("dot4I8Packed(codes.{word}, ones)"));
    main.line(format!("let sum_of_codes = {};", sums.join(" + ")));
    main.line("let scale = largest * (1.0 / 127.0);");
    main.line("a_codes[i] = codes;");
    main.line("a_scales[i] = vec2<f32>(scale, scale * f32(sum_of_codes));");
    main.line("}");
    main.line("workgroupBarrier();");
}

/// The values of a group, four for each word. Weights of 4 bits come apart into those of even and of odd depths, four of each
/// in a word.
fn words(bits: u32) -> [String; 4] {
    match bits {
        4 => [("x0", "x1", "xz"), ("x0", "x1", "yw"), ("x2", "x3", "xz"), ("x2", "x3", "yw")]
            .map(|(first, second, lanes)| format!("vec4<f32>({first}.{lanes}, {second}.{lanes})")),
        _ => ["x0", "x1", "x2", "x3"].map(str::to_owned),
    }
}

/// Declares `x0` and `x1`, the codes of the run that starts at `k`, their scales, and the sum `x_sum` of what they mean.
pub(super) fn read(main: &mut Lines) {
    main.line(format!("let group = (k - held) / {GROUP}u;"));
    for half in 0..RUN / GROUP {
        main.line(format!("let x{half} = a_codes[group + {half}u];"));
        main.line(format!("let x{half}_scale = a_scales[group + {half}u];"));
    }
    main.line("let x_sum = x0_scale.y + x1_scale.y;");
}

/// Adds the products of a run to a sum.
pub(super) fn add(main: &mut Lines, weights: &WeightText<'_>, sum: &str) {
    let (p, ty) = (&weights.prefix, weights.ty("f32"));
    for half in 0..RUN / GROUP {
        let mut products = vec![];
        for (word, bytes) in bytes(weights, half).into_iter().enumerate() {
            let name = format!("{p}_bytes{}", 4 * half + word as u32);
            main.line(format!("let {name} = {bytes};"));
            products.push(weights.integer_dot(&name, &format!("x{half}[{word}]")));
        }
        main.line(format!("let {p}_sum{half} = {ty}({});", products.join(" + ")));
    }
    main.line(format!("let {p}_part = fma({p}_sum0, {ty}(x0_scale.x), {p}_sum1 * x1_scale.x);"));
    let offset = match weights.bits() {
        4 => format!("{p}_offset"),
        _ => format!("fma({p}_scale, {ty}(128.0), {p}_offset)"),
    };
    main.line(format!("{sum} = fma({p}_part, {p}_scale, fma({ty}(x_sum), {offset}, {sum}));"));
}

/// The codes of a half of a run as signed bytes, four words in the order of the left operand's: those of 8 bits less 128.
fn bytes(weights: &WeightText<'_>, half: u32) -> Vec<String> {
    let (p, ty) = (&weights.prefix, weights.ty("u32"));
    match weights.bits() {
        4 => (2 * half..2 * half + 2)
            .map(|word| format!("{p}_r{word}"))
            .flat_map(|word| [word.clone(), format!("({word} >> {ty}(4u))")])
            .map(|word| format!("{word} & {ty}(0x0f0f0f0fu)"))
            .collect(),
        _ => (4 * half..4 * half + 4).map(|word| format!("{p}_r{word} ^ {ty}(0x80808080u)")).collect(),
    }
}
