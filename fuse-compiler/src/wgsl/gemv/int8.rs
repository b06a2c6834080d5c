//! Runs of left operands that are rounded to 8 bits in workgroup memory, and their products with weights, four at a time in
//! integers.
//!
//! The 32 depths of a run share a scale, a 127th of their largest magnitude: a rounded value errs by at most a 254th of that
//! magnitude (and what half a unit in the last place of `f32` adds). Sums of integers are exact.
//!
//! Codes of weights become bytes by a shift and a mask, which leave in each word codes that were some way apart. The left
//! operand's are kept in that order ([`depth`]).

use crate::kernel::Block;
use std::array;

use fuse_artifact::schedule::LANES;

use super::packed::Runs;
use crate::wgsl::{
    shader::Shader,
    weights::{RUN, WeightText},
};

/// Words of a run's codes.
const WORDS: u32 = RUN / 4;

/// The smallest magnitude with a normal number as its scale: devices may take what is smaller for zero.
const SMALLEST: f32 = 127.0 * f32::MIN_POSITIVE;

/// 1.5·2^23: added to a number up to 2^22 in magnitude, it leaves the nearest integer in the lowest bits of the sum, in two's
/// complement; and integers added to its bits make the float that is as much larger. Converting instructions take longer.
const MAGIC: (&str, u32) = ("12582912.0", 0x4b40_0000);

/// Values whose codes are taken apart together: those of a word, of 24 bits where codes have 3.
const fn unit(bits: u32) -> u32 {
    if bits == 3 { 8 } else { 32 / bits }
}

/// The depth in a run whose code is byte `lane` of a word.
const fn depth(bits: u32, word: u32, lane: u32) -> u32 {
    let words = unit(bits) / 4;
    word / words * unit(bits) + word % words + lane * words
}

/// Opens a loop over the depth: in each round the values from `held` to `held_end` are in workgroup memory, in the order in
/// which weights of so many bits come apart, and for each run the numbers of the groups of weights that it lies in. With the
/// sums of a product they take 10 KiB for 256 invocations.
pub(super) fn begin<'k>(
    shader: &mut Shader<'k>,
    main: &mut Block<'k>,
    runs: &Runs<'_, 'k>,
    weights: &[WeightText<'_>],
    [begin, end]: [&str; 2],
    invocations: u32,
) {
    let (count, bits) = (held_runs(invocations), weights[0].bits());
    let held = count * RUN;
    // VjpPair of a run lie apart, so that neighbouring invocations read neighbouring vectors.
    shader.workgroup_array_text("a_codes", "vec4<u32>", 2 * count, 16);
    shader.workgroup_array_text("a_scales", "vec2<f32>", count, 8);
    main.line(format!("for (var held = {begin}; held < {end}; held += {held}u) {{"));
    main.line(format!("let held_end = min(held + {held}u, {end});"));
    // Of the round before, other invocations may still read.
    main.line("workgroupBarrier();");
    main.line(format!("let rounded = held + local * {RUN}u;"));
    main.line(format!("if local < {count}u && rounded < held_end {{"));
    runs.read_vectors(shader, main, "rounded", RUN / LANES);
    let magnitudes = (1..RUN / LANES).fold("abs(x0)".to_owned(), |most, i| format!("max({most}, abs(x{i}))"));
    main.line(format!("let largest4 = {magnitudes};"));
    main.line("let largest = max(max(largest4.x, largest4.y), max(largest4.z, largest4.w));");
    main.line(format!("let to_codes = select(0.0, 127.0 / largest, largest >= {SMALLEST:?});"));
    main.line("let ones = 0x01010101u;");
    main.line("var sum_of_codes = 0i;");
    for half in 0..2 {
        let words: [String; 4] = array::from_fn(|word| codes(bits, WORDS / 2 * half + word as u32));
        main.line("{");
        main.line(format!("let codes = vec4<u32>({});", words.join(", ")));
        for word in ["x", "y", "z", "w"] {
            main.line(format!("sum_of_codes += dot4I8Packed(codes.{word}, ones);"));
        }
        main.line(format!("a_codes[local + {}u] = codes;", half * count));
        main.line("}");
    }
    main.line("let scale = largest * (1.0 / 127.0);");
    main.line("a_scales[local] = vec2<f32>(scale, scale * f32(sum_of_codes));");
    for weights in weights {
        let groups = format!("{}_groups", weights.prefix);
        shader.workgroup_array_text(&groups, "u32", count, 4);
        let group = weights.group(shader, "rounded");
        main.line(format!("{groups}[local] = {group};"));
    }
    main.line("}");
    main.line("workgroupBarrier();");
}

/// Runs in workgroup memory at a time. An invocation rounds one, but those of all 256 and the sums of two products would not fit
/// into the memory that every adapter has.
const fn held_runs(invocations: u32) -> u32 {
    invocations / 2
}

/// A word of codes of the left operand.
fn codes(bits: u32, word: u32) -> String {
    let value = |lane| {
        let depth = depth(bits, word, lane);
        format!("x{}[{}]", depth / LANES, depth % LANES)
    };
    let values = [0, 1, 2, 3].map(value).join(", ");
    let rounded = format!("fma(vec4<f32>({values}), vec4<f32>(to_codes), vec4<f32>({}))", MAGIC.0);
    format!("pack4xU8(bitcast<vec4<u32>>({rounded}))")
}

/// Declares `run`, the place in workgroup memory of the run that starts at `k`, and the numbers of its groups, `_group`.
pub(super) fn locate<'k>(main: &mut Block<'k>, weights: &[WeightText<'_>]) {
    main.line(format!("let run = (k - held) / {RUN}u;"));
    for weights in weights {
        main.line(format!("let {0}_group = {0}_groups[run];", weights.prefix));
    }
}

/// Declares `x0` and `x1`, the codes of that run, their scale, and the sum `x_sum` of what they mean.
pub(super) fn read<'k>(main: &mut Block<'k>, invocations: u32) {
    main.line("let x0 = a_codes[run];");
    main.line(format!("let x1 = a_codes[run + {}u];", held_runs(invocations)));
    main.line("let x_scale = a_scales[run].x;");
    main.line("let x_sum = a_scales[run].y;");
}

/// Adds the products of a run to a sum.
pub(super) fn add<'k>(main: &mut Block<'k>, weights: &WeightText<'_>, sum: &str) {
    let (p, ty, bits) = (&weights.prefix, weights.ty("f32"), weights.bits());
    for i in 0..RUN / unit(bits) {
        main.line(format!("let {p}_unit{i} = {};", weights.unit(i)));
    }
    let mut products = [vec![], vec![]];
    for word in 0..WORDS {
        let name = format!("{p}_bytes{word}");
        main.line(format!("let {name} = {};", bytes(weights, word)));
        let product = weights.integer_dot(&name, &format!("x{}[{}]", word / 4, word % 4));
        products[usize::from(has_pairs(bits) && word % 2 == 1)].push(product);
    }
    let [first, second] = products.map(|products| products.join(" + "));
    let (sums, of_unit) = match has_pairs(bits) {
        true => (format!("({first}) * {} + {second}", 1 << bits), 1.0 / f64::from(1u32 << bits)),
        false => (first, 1.0),
    };
    let (number, magic) = MAGIC;
    let products = format!("(bitcast<{ty}>({}({magic}) + {sums}) - {number})", weights.ty("i32"));
    main.line(format!("let {p}_products = {products} * (x_scale * {of_unit:?});"));
    let offset = match bits {
        8 => format!("fma({p}_scale, {ty}(128.0), {p}_offset)"),
        _ => format!("{p}_offset"),
    };
    main.line(format!("{sum} = fma({p}_products, {p}_scale, fma({ty}(x_sum), {offset}, {sum}));"));
}

/// Whether words come in pairs that share a shift: codes of the second lie above those of the first, so that its products are
/// multiples of 2^bits. Of 4 bits they would be negative bytes.
const fn has_pairs(bits: u32) -> bool {
    bits < 4
}

/// A word of a run's codes of weights as signed bytes: those of 8 bits less 128, those of a pair's second word times 2^bits.
fn bytes(weights: &WeightText<'_>, word: u32) -> String {
    let (bits, ty) = (weights.bits(), weights.ty("u32"));
    let words = unit(bits) / 4;
    let (unit, first) = (format!("{}_unit{}", weights.prefix, word / words), word % words * bits);
    let above = if has_pairs(bits) { word % 2 * bits } else { 0 };
    let shifted = match first - above {
        0 => unit,
        down => format!("({unit} >> {ty}({down}u))"),
    };
    match bits {
        8 => format!("{shifted} ^ {ty}(0x80808080u)"),
        _ => format!("{shifted} & {ty}({:#x}u)", (0x0101_0101 * ((1u32 << bits) - 1)) << above),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_depth_of_a_run_has_one_byte() {
        for bits in [8, 4, 3, 2, 1] {
            let mut depths: Vec<u32> =
                (0..WORDS).flat_map(|word| (0..4).map(move |lane| depth(bits, word, lane))).collect();
            depths.sort_unstable();
            assert_eq!(depths, (0..RUN).collect::<Vec<_>>(), "{bits} bits");
        }
    }
}
