//! WGSL parts of the shaders that quantize.
//!
//! No floating-point instructions: WGSL leaves open how sums are rounded, whether products and sums fuse, and whether
//! subnormal numbers survive, so codes would depend on the driver. Numbers are the bits of an `f32`; the operations
//! that `fuse-quantize` needs are done in integers, as IEEE 754 says.
//!
//! Invariant: indices depend on uniforms only, never on values, and stay inside the buffers.
//!
//! Not here: which parts make a shader (`shader`).

/// Uniform block, as `super::Params` has it.
pub(super) const PARAMS: &str = "\
struct Params {
    workgroups: u32, // that have work
    count: u32,      // invocations that have work
    length: u32,     // values along the axis that is reduced or packed
    inner: u32,      // the stride along it
    group: u32,      // values of a group along it
    words: u32,      // words along it
    reciprocal: u32, // 1 / values of a group
    stride: u32,     // from the statistic of one group to that of the next: 0 where all have the same
}

@group(0) @binding(0) var<uniform> p: Params;
";

/// Numbers as bits of an `f32`, and operations on them.
pub(super) const ARITHMETIC: &str = "
const SIGN = 0x80000000u;
const INFINITY = 0x7f800000u;

// A magnitude: significand * 2^exponent.
struct Exact {
    significand: u32,
    exponent: i32,
}

// How numbers are stored: bits of a fraction, the exponent of the smallest number, and the bits of infinity.
struct Format {
    fraction: u32,
    smallest: i32,
    infinity: u32,
}

const F32 = Format(23u, -149, 0x7f800000u);
const F16 = Format(10u, -24, 0x7c00u);

const NEAREST = 0u; // ties to even
const AWAY = 1u;    // from zero
const TOWARDS = 2u; // zero

fn is_finite(x: u32) -> bool {
    return (x & ~SIGN) < INFINITY;
}

fn exact(x: u32) -> Exact {
    let exponent = (x >> 23u) & 0xffu;
    let fraction = x & 0x7fffffu;
    // Subnormal numbers have the exponent of the smallest normal ones and no leading one.
    return Exact(select(fraction | 0x800000u, fraction, exponent == 0u), i32(max(exponent, 1u)) - 150);
}

// The same number with so many bits in its significand.
fn aligned(x: Exact, bits: u32) -> Exact {
    let shift = countLeadingZeros(x.significand) + bits - 32u;
    return Exact(x.significand << shift, x.exponent - i32(shift));
}

// The bits of the number of a format next to x.
fn rounded(x: Exact, format: Format, direction: u32) -> u32 {
    if x.significand == 0u {
        return 0u;
    }
    let zeros = countLeadingZeros(x.significand);
    let high = x.significand << zeros;
    // 31 bits, so that all of them may be dropped. The last is far below those that are kept: only whether any of what
    // it stands for is set matters.
    let bits = (high >> 1u) | (high & 1u);
    let first = x.exponent - i32(zeros) + 1;
    let last = max(first + 30 - i32(format.fraction), format.smallest);
    let dropped = u32(last - first);
    if dropped > 31u {
        return u32(direction == AWAY);
    }
    let kept = bits >> dropped;
    let rest = bits & ((1u << dropped) - 1u);
    let half = 1u << (dropped - 1u);
    let nearer = rest > half || (rest == half && (kept & 1u) == 1u);
    let up = (direction == NEAREST && nearer) || (direction == AWAY && rest != 0u);
    // The leading one of normal numbers, or the carry into it, counts the exponent up.
    let result = kept + u32(up) + (min(u32(last - format.smallest), 255u) << format.fraction);
    return min(result, format.infinity - u32(direction == TOWARDS));
}

// Sums and products of what is not finite are INFINITY: not being finite is all that anybody asks.
fn add(a: u32, b: u32) -> u32 {
    if !(is_finite(a) && is_finite(b)) {
        return INFINITY;
    }
    let swap = (a & ~SIGN) < (b & ~SIGN);
    let sign = select(a, b, swap) & SIGN;
    let large = exact(select(a, b, swap));
    let small = exact(select(b, a, swap));
    // With six bits more than numbers have, what is shifted out only matters as not being zero.
    let distance = min(u32(large.exponent - small.exponent), 31u);
    let shifted = small.significand << 6u;
    let lost = (shifted & ((1u << distance) - 1u)) != 0u;
    let other = (shifted >> distance) | u32(lost);
    let one = large.significand << 6u;
    let sum = select(one + other, one - other, ((a ^ b) & SIGN) != 0u);
    // -0 is the sum of two -0 only.
    let result = sign | rounded(Exact(sum, large.exponent - 6), F32, NEAREST);
    return select(result, a & b & SIGN, sum == 0u);
}

fn multiply(a: u32, b: u32) -> u32 {
    if !(is_finite(a) && is_finite(b)) {
        return INFINITY;
    }
    let x = aligned(exact(a), 24u);
    let y = aligned(exact(b), 24u);
    let upper = vec2(x.significand, y.significand) >> vec2(12u);
    let lower = vec2(x.significand, y.significand) & vec2(0xfffu);
    let cross = upper.x * lower.y + lower.x * upper.y;
    let low = lower.x * lower.y + ((cross & 0xfffu) << 12u);
    let high = upper.x * upper.y + (cross >> 12u) + (low >> 24u);
    // The upper 32 of 48 bits, and whether any of the others is set.
    let product = (high << 8u) | ((low >> 16u) & 0xffu) | u32((low & 0xffffu) != 0u);
    return ((a ^ b) & SIGN) | rounded(Exact(product, x.exponent + y.exponent + 16), F32, NEAREST);
}

// The f32 with the value of an f16.
fn widened(half: u32) -> u32 {
    let sign = (half & 0x8000u) << 16u;
    let exponent = (half >> 10u) & 0x1fu;
    let fraction = half & 0x3ffu;
    if exponent == 0x1fu {
        return sign | INFINITY | (fraction << 13u);
    }
    let significand = select(fraction | 0x400u, fraction, exponent == 0u);
    return sign | rounded(Exact(significand, i32(max(exponent, 1u)) - 25), F32, NEAREST);
}

// The f16 next to an f32.
fn narrowed(x: u32, direction: u32) -> u32 {
    return ((x & SIGN) >> 16u) | rounded(exact(x), F16, direction);
}

// Words that compare as numbers do, -0 as 0, and back.
fn comparable(x: u32) -> u32 {
    return select(x | SIGN, ~x, x > SIGN);
}

fn number(word: u32) -> u32 {
    return select(~word, word ^ SIGN, word >= SIGN);
}

struct Pair {
    scale: u32,
    offset: u32,
}
";

/// Begin of every `main`: `i` is its piece of work.
pub(super) const ENTRY: &str = "\
@compute @workgroup_size({invocations})
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let id = workgroup.x + workgroup.y * workgroups.x;
    let i = id * {invocations}u + local;
    if id >= p.workgroups || i >= p.count {
        return;
    }
";

pub(super) const READ_WORDS: &str = "
@group(0) @binding(1) var<storage, read> values: array<u32>;

fn value(index: u32) -> u32 {
    return values[index];
}
";

/// `f16`: two values in a word.
pub(super) const READ_HALVES: &str = "
@group(0) @binding(1) var<storage, read> values: array<u32>;

fn value(index: u32) -> u32 {
    return widened((values[index >> 1u] >> (16u * (index & 1u))) & 0xffffu);
}
";

/// Reduction of values, finite or not.
pub(super) const VALUE_TERMS: &str = "
@group(0) @binding(2) var<storage, read_write> refused: atomic<u32>;
@group(0) @binding(3) var<storage, read_write> partials: array<Partial>;

fn term(index: u32, middle: u32) -> Partial {
    let x = value(index);
    if !is_finite(x) {
        atomicStore(&refused, 1u);
    }
    return statistic(x, middle);
}
";

/// Reduction of partial results.
pub(super) const PARTIAL_TERMS: &str = "
@group(0) @binding(1) var<storage, read> terms: array<Partial>;
@group(0) @binding(2) var<storage, read_write> partials: array<Partial>;

fn term(index: u32, middle: u32) -> Partial {
    return terms[index];
}
";

pub(super) const SUMS: &str = "
@group(0) @binding(4) var<storage, read> sums: array<u32>;
";

/// Mean that distances are from.
pub(super) const MEAN_OF_ROW: &str = "let middle = multiply(sums[row * p.inner + after], p.reciprocal);";

pub(super) const NO_MEAN: &str = "let middle = 0u;";

/// Reduces `[rows, length, inner]` to `[rows, length / 32, inner]`, sequentially: the order defines a sum.
pub(super) const REDUCTION: &str = "
{entry}    let parts = (p.length - 1u) / NEIGHBOURS + 1u;
    let after = i % p.inner;
    let row = i / p.inner / parts;
    let start = i / p.inner % parts * NEIGHBOURS;
    {middle}
    var total = NONE;
    for (var k = start; k < min(start + NEIGHBOURS, p.length); k++) {
        total = join(total, term((row * p.length + k) * p.inner + after, middle));
    }
    partials[i] = total;
}
";

/// `symmetric` of `fuse-quantize`.
pub(super) const SYMMETRIC: &str = "
fn pair_of(most: u32, middle: u32) -> Pair {
    let scale = up(multiply(most, PART));
    if scale == 0u {
        return Pair(0u, 0u);
    }
    return Pair(scale, nearest(multiply(ZERO, scale)));
}
";

/// `between` of `fuse-quantize`.
pub(super) const BETWEEN: &str = "
fn pair_of(range: vec2<u32>, middle: u32) -> Pair {
    let offset = down(number(range.x));
    return Pair(up(multiply(add(number(range.y), offset ^ SIGN), PART)), offset);
}
";

/// `around` of `fuse-quantize`.
pub(super) const AROUND: &str = "
fn pair_of(sum: u32, middle: u32) -> Pair {
    let distance = nearest(multiply(sum, p.reciprocal));
    return Pair(nearest(multiply(TWO, distance)), nearest(add(middle, distance ^ SIGN)));
}
";

pub(super) const AT_ZERO: &str = "
fn middle_of(group: u32) -> u32 {
    return 0u;
}
";

pub(super) const AT_MEAN: &str = "
fn middle_of(group: u32) -> u32 {
    return multiply(sums[group], p.reciprocal);
}
";

pub(super) const STORE_HALVES: &str = "
fn nearest(x: u32) -> u32 {
    return widened(narrowed(x, NEAREST));
}

fn up(x: u32) -> u32 {
    return widened(narrowed(x, select(AWAY, TOWARDS, x >= SIGN)));
}

fn down(x: u32) -> u32 {
    return widened(narrowed(x, select(TOWARDS, AWAY, x >= SIGN)));
}

@group(0) @binding(3) var<storage, read_write> scales: array<u32>;

fn store(index: u32, pair: Pair) {
    scales[index] = narrowed(pair.scale, NEAREST) | (narrowed(pair.offset, NEAREST) << 16u);
}
";

pub(super) const STORE_WORDS: &str = "
fn nearest(x: u32) -> u32 {
    return x;
}

fn up(x: u32) -> u32 {
    return x;
}

fn down(x: u32) -> u32 {
    return x;
}

@group(0) @binding(3) var<storage, read_write> scales: array<vec2<u32>>;

fn store(index: u32, pair: Pair) {
    scales[index] = vec2(pair.scale, pair.offset);
}
";

pub(super) const LOAD_HALVES: &str = "
@group(0) @binding(2) var<storage, read> scales: array<u32>;

fn load(index: u32) -> Pair {
    let halves = scales[index];
    return Pair(widened(halves & 0xffffu), widened(halves >> 16u));
}
";

pub(super) const LOAD_WORDS: &str = "
@group(0) @binding(2) var<storage, read> scales: array<vec2<u32>>;

fn load(index: u32) -> Pair {
    let words = scales[index];
    return Pair(words.x, words.y);
}
";

pub(super) const PAIRS: &str = "
@group(0) @binding(1) var<storage, read> partials: array<Partial>;
@group(0) @binding(2) var<storage, read_write> refused: atomic<u32>;

{entry}    let group = i * p.stride;
    let pair = pair_of(partials[group], middle_of(group));
    if !(is_finite(pair.scale) && is_finite(pair.offset) && is_finite(multiply(LARGEST, pair.scale))) {
        atomicStore(&refused, 1u);
    }
    store(i, pair);
}
";

/// An invocation writes the words of 32 values: as many as a value has bits.
pub(super) const CODES: &str = "
@group(0) @binding(3) var<storage, read_write> words: array<u32>;

// The largest q with (q - 1/2) * scale <= above, where the product is rounded; scale has 25 bits.
fn code(above: u32, scale: Exact) -> u32 {
    if above > SIGN || scale.significand == 0u {
        return 0u;
    }
    // Products are rounded to `above` or less up to the middle between it and the next number, and in the middle itself if
    // `above` is even. So (2q - 1) * scale / 2 <= middle, and 2q - 1 is at most the quotient of both.
    let lower = exact(above & ~SIGN);
    let middle = aligned(Exact(2u * lower.significand + 1u, lower.exponent - 1), 25u);
    // Long division. The quotient of the significands is between 1/2 and 2; more digits than codes have change nothing.
    let digits = min(middle.exponent - scale.exponent + 2, i32(BITS) + 3);
    var quotient = 0u;
    var rest = middle.significand;
    for (var digit = 0; digit < digits; digit++) {
        let fits = rest >= scale.significand;
        quotient = 2u * quotient + u32(fits);
        rest = (rest - select(0u, scale.significand, fits)) << 1u;
    }
    let tie = rest == 0u && (lower.significand & 1u) == 1u;
    return min((quotient + u32(!tie)) >> 1u, LARGEST);
}

{entry}    let blocks = (p.length - 1u) / NEIGHBOURS + 1u;
    let after = i % p.inner;
    let line = i / p.inner / blocks;
    let block = i / p.inner % blocks;
    let start = block * NEIGHBOURS;
    let pair = load((line * (p.length / p.group) + start / p.group) * p.inner + after);
    let scale = aligned(exact(pair.scale), 25u);
    var word = block * BITS;
    var stream = 0u;
    var filled = 0u;
    for (var k = start; k < start + NEIGHBOURS; k++) {
        var q = 0u;
        if k < p.length {
            q = code(add(value((line * p.length + k) * p.inner + after), pair.offset ^ SIGN), scale);
        }
        stream |= q << filled;
        filled += BITS;
        if filled >= 32u {
            // The last block may have fewer words.
            if word < p.words {
                words[(line * p.words + word) * p.inner + after] = stream;
            }
            word += 1u;
            filled -= 32u;
            stream = q >> (BITS - filled);
        }
    }
}
";
