//! The texts of helper functions.
//!
//! In them, `$T` is the float type (`f32` or `vec4<f32>`), `$U`, `$I` and `$B` the `u32`, `i32` and `bool` types of the
//! same width, and `$S` the suffix of names (`1` or `4`). Not here: which operation calls which (`builtins`).

/// A helper function by name; also what it calls.
pub(super) struct Helper {
    pub(super) name: &'static str,
    pub(super) needs: &'static [&'static str],
    pub(super) text: &'static str,
}

/// What some helpers do instead where a program asks for fast functions: without care for digits near zero, for NaN, or for
/// large arguments. That of `erf` is formula 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical Functions (1964),
/// which errs by at most 1.5e-7; where an exponential overflows, `tanh` is 1.
pub(super) const FAST: &[(&str, &str)] = &[
    ("fuse_relu", "return max(x, $T(0.0));"),
    ("fuse_min", "return min(x, y);"),
    ("fuse_max", "return max(x, y);"),
    ("fuse_log", "return log(x);"),
    ("fuse_log2", "return log2(x);"),
    ("fuse_log1p", "return log($T(1.0) + x);"),
    ("fuse_expm1", "return exp(x) - $T(1.0);"),
    ("fuse_sin", "return sin(x);"),
    ("fuse_cos", "return cos(x);"),
    ("fuse_tan", "return tan(x);"),
    ("fuse_tanh", "return $T(1.0) - $T(2.0) / ($T(1.0) + exp($T(2.0) * x));"),
    (
        "fuse_erf",
        "let u = $T(1.0) / ($T(1.0) + $T(0.3275911) * abs(x));
    let tail = u * ($T(0.254829592) + u * ($T(-0.284496736) + u * ($T(1.421413741) + u * ($T(-1.453152027) + u * $T(1.061405429)))));
    let whole = $T(1.0) - tail * exp(-x * x);
    return select(whole, -whole, x < $T(0.0));",
    ),
];

/// Every helper function.
pub(super) const HELPERS: &[Helper] = &[
    Helper {
        name: "fuse_is_nan",
        needs: &[],
        text: "
fn fuse_is_nan$S(x: $T) -> $B {
  return (bitcast<$U>(x) & $U(0x7fffffffu)) > $U(0x7f800000u);
}",
    },
    // Drivers turn `select(x, 0, x < 0)` into an instruction that gives 0 for NaN, so NaN is selected by its bits.
    Helper {
        name: "fuse_relu",
        needs: &["fuse_is_nan"],
        text: "
fn fuse_relu$S(x: $T) -> $T {
  return select(max(x, $T(0.0)), x, fuse_is_nan$S(x));
}",
    },
    Helper {
        name: "fuse_min",
        needs: &["fuse_is_nan"],
        text: "
fn fuse_min$S(x: $T, y: $T) -> $T {
  return select(select(min(x, y), y, fuse_is_nan$S(y)), x, fuse_is_nan$S(x));
}",
    },
    Helper {
        name: "fuse_max",
        needs: &["fuse_is_nan"],
        text: "
fn fuse_max$S(x: $T, y: $T) -> $T {
  return select(select(max(x, y), y, fuse_is_nan$S(y)), x, fuse_is_nan$S(x));
}",
    },
    Helper {
        name: "fuse_sign",
        needs: &[],
        text: "
fn fuse_sign$S(x: $T) -> $T {
  return select(select(x, $T(-1.0), x < $T(0.0)), $T(1.0), x > $T(0.0));
}",
    },
    // WGSL leaves logarithms of 0 and of negative numbers undefined, and some adapters return finite numbers.
    Helper {
        name: "fuse_log",
        needs: &[],
        text: "
fn fuse_log$S(x: $T) -> $T {
  let at_zero = $T(-1.0) / abs(x);
  return select(select(bitcast<$T>($U(fuse_nan_bits)), at_zero, x == $T(0.0)), log(x), x > $T(0.0));
}",
    },
    Helper {
        name: "fuse_log2",
        needs: &[],
        text: "
fn fuse_log2$S(x: $T) -> $T {
  let at_zero = $T(-1.0) / abs(x);
  return select(select(bitcast<$T>($U(fuse_nan_bits)), at_zero, x == $T(0.0)), log2(x), x > $T(0.0));
}",
    },
    // 2·atanh(x/(2 + x)) by its series near 0, where ln(1 + x) loses digits; x itself where x/(2 + x) could be
    // subnormal and flushed, which is far below where the next term counts.
    Helper {
        name: "fuse_log1p",
        needs: &["fuse_log"],
        text: "
fn fuse_log1p$S(x: $T) -> $T {
  let s = x / ($T(2.0) + x);
  let q = s * s;
  let series = $T(2.0) * s * ($T(1.0) + q * ($T(0.33333333) + q * ($T(0.2) + q * ($T(0.14285714) + q * ($T(0.11111111) + q * ($T(0.09090909) + q * ($T(0.07692308) + q * $T(0.06666667))))))));
  let near = select(series, x, abs(x) < $T(0.00000001));
  return select(fuse_log$S($T(1.0) + x), near, abs(x) < $T(0.5));
}",
    },
    // Taylor's series near 0, where e^x - 1 loses digits.
    Helper {
        name: "fuse_expm1",
        needs: &[],
        text: "
fn fuse_expm1$S(x: $T) -> $T {
  let series = x + x * x * ($T(0.5) + x * ($T(0.16666667) + x * ($T(0.041666668) + x * ($T(0.008333334) + x * ($T(0.0013888889) + x * ($T(0.0001984127) + x * $T(0.0000248015873)))))));
  return select(exp(x) - $T(1.0), series, abs(x) < $T(0.5));
}",
    },
    // x minus the nearest multiple of pi/2, in three parts of which the first two multiply exactly (the
    // split is that of Cephes' sinf), then minimax polynomials on [-pi/4, pi/4].
    Helper {
        name: "fuse_quadrant",
        needs: &[],
        text: "
fn fuse_quadrant$S(x: $T, k: $T) -> $T {
  return ((x - k * $T(1.5703125)) - k * $T(0.00048375129699707031)) - k * $T(0.0000000754978995489188);
}
fn fuse_sin_part$S(r: $T) -> $T {
  let s = r * r;
  return r + r * s * ($T(-0.16666667) + s * ($T(0.008333332) + s * ($T(-0.00019840087) + s * $T(0.0000027249962))));
}
fn fuse_cos_part$S(r: $T) -> $T {
  let s = r * r;
  return ($T(1.0) - $T(0.5) * s) + s * s * ($T(0.04166668) + s * ($T(-0.0013889135) + s * $T(0.000024655756)));
}
fn fuse_turn$S(r: $T, quadrant: $T) -> $T {
  let odd = abs(quadrant - $T(2.0) * floor(quadrant * $T(0.5)));
  let value = select(fuse_sin_part$S(r), fuse_cos_part$S(r), odd > $T(0.5));
  let half = floor(quadrant * $T(0.5));
  let negative = abs(half - $T(2.0) * floor(half * $T(0.5))) > $T(0.5);
  return select(value, -value, negative);
}",
    },
    Helper {
        name: "fuse_sin",
        needs: &["fuse_quadrant"],
        text: "
fn fuse_sin$S(x: $T) -> $T {
  let k = round(x * $T(0.63661977));
  return fuse_turn$S(fuse_quadrant$S(x, k), k);
}",
    },
    Helper {
        name: "fuse_cos",
        needs: &["fuse_quadrant"],
        text: "
fn fuse_cos$S(x: $T) -> $T {
  let k = round(x * $T(0.63661977));
  return fuse_turn$S(fuse_quadrant$S(x, k), k + $T(1.0));
}",
    },
    Helper {
        name: "fuse_tan",
        needs: &["fuse_sin", "fuse_cos"],
        text: "
fn fuse_tan$S(x: $T) -> $T {
  return fuse_sin$S(x) / fuse_cos$S(x);
}",
    },
    // Near 0 Cephes' polynomial; elsewhere by e^(-2|x|), which cannot overflow.
    Helper {
        name: "fuse_tanh",
        needs: &[],
        text: "
fn fuse_tanh$S(x: $T) -> $T {
  let z = x * x;
  let near = x + x * z * ($T(-0.33333332) + z * ($T(0.13331442) + z * ($T(-0.053739715) + z * ($T(0.020639088) + z * $T(-0.005704989)))));
  let e = exp($T(-2.0) * abs(x));
  let far = ($T(1.0) - e) / ($T(1.0) + e);
  return select(select(far, -far, x < $T(0.0)), near, abs(x) < $T(0.625));
}",
    },
    // A minimax polynomial on [0, 1]; atan(x) = pi/2 - atan(1/x) beyond.
    Helper {
        name: "fuse_atan",
        needs: &[],
        text: "
fn fuse_atan$S(x: $T) -> $T {
  let a = abs(x);
  let beyond = a > $T(1.0);
  let r = select(a, $T(1.0) / a, beyond);
  let s = r * r;
  let p = r + r * s * ($T(-0.3333333134651184) + s * ($T(0.1999976634979248) + s * ($T(-0.14279110729694366) + s * ($T(0.11037994176149368) + s * ($T(-0.08673170208930969) + s * ($T(0.06284360587596893) + s * ($T(-0.03627016767859459) + s * ($T(0.013750280253589153) + s * $T(-0.0024470302741974592)))))))));
  let value = select(p, $T(1.5707964) - p, beyond);
  return select(value, -value, x < $T(0.0));
}",
    },
    // Minimax polynomials by N. Juffa (single precision erf, public domain figures).
    Helper {
        name: "fuse_erf",
        needs: &[],
        text: "
fn fuse_erf$S(x: $T) -> $T {
  let t = abs(x);
  let s = x * x;
  let near = x + x * ($T(0.128379166) + s * ($T(-0.376125336) + s * ($T(0.112819925) + s * ($T(-0.0267681349) + s * ($T(0.00499119423) + s * $T(-0.000596761703))))));
  let u = ($T(0.000383197126) + t * $T(-0.0000172853470)) * s + ($T(0.0242546219) + t * $T(-0.00388396438));
  let e = ((u * t + $T(-0.106777877)) * t + $T(-0.634846687)) * t + $T(-0.128717512);
  let far = $T(1.0) - exp(e * t - t);
  return select(select(far, -far, x < $T(0.0)), near, t <= $T(0.927734375));
}",
    },
    Helper {
        name: "fuse_selu",
        needs: &["fuse_expm1"],
        text: "
fn fuse_selu$S(x: $T) -> $T {
  return $T(1.0507009873554805) * select($T(1.6732632423543772) * fuse_expm1$S(x), x, x > $T(0.0));
}",
    },
    Helper {
        name: "fuse_gelu",
        needs: &["fuse_erf"],
        text: "
fn fuse_gelu$S(x: $T) -> $T {
  return $T(0.5) * x * ($T(1.0) + fuse_erf$S(x * $T(0.70710678)));
}",
    },
    Helper {
        name: "fuse_gelu_tanh",
        needs: &["fuse_tanh"],
        text: "
fn fuse_gelu_tanh$S(x: $T) -> $T {
  return $T(0.5) * x * ($T(1.0) + fuse_tanh$S($T(0.7978845608) * x * ($T(1.0) + $T(0.044715) * x * x)));
}",
    },
    Helper {
        name: "fuse_sigmoid",
        needs: &[],
        text: "
fn fuse_sigmoid$S(x: $T) -> $T {
  return $T(1.0) / ($T(1.0) + exp(-x));
}",
    },
    Helper {
        name: "fuse_silu",
        needs: &["fuse_sigmoid"],
        text: "
fn fuse_silu$S(x: $T) -> $T {
  return x * fuse_sigmoid$S(x);
}",
    },
    Helper {
        name: "fuse_hard_sigmoid",
        needs: &["fuse_min", "fuse_max"],
        text: "
fn fuse_hard_sigmoid$S(x: $T) -> $T {
  return fuse_min$S(fuse_max$S(x / $T(6.0) + $T(0.5), $T(0.0)), $T(1.0));
}",
    },
    Helper {
        name: "fuse_hard_swish",
        needs: &["fuse_hard_sigmoid"],
        text: "
fn fuse_hard_swish$S(x: $T) -> $T {
  return x * fuse_hard_sigmoid$S(x);
}",
    },
    Helper {
        name: "fuse_softplus",
        needs: &["fuse_log1p", "fuse_max"],
        text: "
fn fuse_softplus$S(x: $T) -> $T {
  return fuse_max$S(x, $T(0.0)) + fuse_log1p$S(exp(-abs(x)));
}",
    },
    Helper {
        name: "fuse_mish",
        needs: &["fuse_tanh", "fuse_softplus"],
        text: "
fn fuse_mish$S(x: $T) -> $T {
  return x * fuse_tanh$S(fuse_softplus$S(x));
}",
    },
    // x - x, x/x and x % x, which is a zero with the sign of x. Of infinities all are NaN, and of zero the last two.
    Helper {
        name: "fuse_less_itself",
        needs: &[],
        text: "
fn fuse_less_itself$S(x: $T) -> $T {
  let magnitude = bitcast<$U>(x) & $U(0x7fffffffu);
  return select($T(0.0), $T(bitcast<f32>(fuse_nan_bits)), magnitude >= $U(0x7f800000u));
}",
    },
    Helper {
        name: "fuse_by_itself",
        needs: &[],
        text: "
fn fuse_by_itself$S(x: $T) -> $T {
  let magnitude = bitcast<$U>(x) & $U(0x7fffffffu);
  return select($T(1.0), $T(bitcast<f32>(fuse_nan_bits)), (magnitude == $U(0u)) | (magnitude >= $U(0x7f800000u)));
}",
    },
    Helper {
        name: "fuse_rem_itself",
        needs: &[],
        text: "
fn fuse_rem_itself$S(x: $T) -> $T {
  let magnitude = bitcast<$U>(x) & $U(0x7fffffffu);
  let zero = bitcast<$T>(bitcast<$U>(x) & $U(0x80000000u));
  return select(zero, $T(bitcast<f32>(fuse_nan_bits)), (magnitude == $U(0u)) | (magnitude >= $U(0x7f800000u)));
}",
    },
    // x - y·trunc(x/y), with the quotient's rounding error of at most one put right. The sign is copied by its bit,
    // because a comparison may take a subnormal for zero.
    Helper {
        name: "fuse_rem",
        needs: &[],
        text: "
fn fuse_rem$S(x: $T, y: $T) -> $T {
  let a = abs(x);
  let b = abs(y);
  let first = fma(-trunc(a / b), b, a);
  let lifted = select(first, first + b, first < $T(0.0));
  let r = select(lifted, lifted - b, lifted >= b);
  let value = select(select(r, a, a < b), $T(bitcast<f32>(fuse_nan_bits)), b == $T(0.0));
  return bitcast<$T>(bitcast<$U>(value) | (bitcast<$U>(x) & $U(0x80000000u)));
}",
    },
    // Integers that are ordered as the floats are: those of negative floats have their magnitude bits inverted. NaN is
    // above all, also for `min`, whose keys are inverted as a whole.
    Helper {
        name: "fuse_max_key",
        needs: &["fuse_is_nan"],
        text: "
fn fuse_max_key$S(x: $T) -> $I {
  let bits = bitcast<$I>(x);
  let key = bits ^ ((bits >> $U(31u)) & $I(0x7fffffff));
  return select(key, $I(0x7fffffff), fuse_is_nan$S(x));
}",
    },
    Helper {
        name: "fuse_min_key",
        needs: &["fuse_is_nan"],
        text: "
fn fuse_min_key$S(x: $T) -> $I {
  let bits = bitcast<$I>(x);
  let key = ~(bits ^ ((bits >> $U(31u)) & $I(0x7fffffff)));
  return select(key, $I(0x7fffffff), fuse_is_nan$S(x));
}",
    },
    Helper {
        name: "fuse_of_key",
        needs: &[],
        text: "
fn fuse_of_key$S(key: $I) -> $T {
  return bitcast<$T>(key ^ ((key >> $U(31u)) & $I(0x7fffffff)));
}",
    },
    Helper {
        name: "fuse_one_zero",
        needs: &[],
        text: "
fn fuse_one_zero$S(x: $T) -> $T {
  return select(x, $T(0.0), (bitcast<$U>(x) << $U(1u)) == $U(0u));
}",
    },
    // A number as the compiler cannot know it: `opaque` is 0, which only the launch tells. Drivers may simplify sums of
    // floats as if they were exact, and then `(a + b) - a` is `b`.
    Helper {
        name: "fuse_hidden",
        needs: &[],
        text: "
fn fuse_hidden$S(x: $T, opaque: u32) -> $T {
  return bitcast<$T>(bitcast<$U>(x) ^ $U(opaque));
}",
    },
    // What rounding took from the sum `s` of `a` and `b` (Neumaier's variant of Kahan's algorithm, 1974).
    Helper {
        name: "fuse_lost",
        needs: &[],
        text: "
fn fuse_lost$S(a: $T, b: $T, s: $T) -> $T {
  let ordered = abs(a) >= abs(b);
  return (select(b, a, ordered) - s) + select(a, b, ordered);
}",
    },
    // The sum with what it lost, which is NaN once the sum is infinite.
    Helper {
        name: "fuse_restored",
        needs: &["fuse_is_nan"],
        text: "
fn fuse_restored$S(sum: $T, lost: $T) -> $T {
  return select(sum + lost, sum, fuse_is_nan$S(lost));
}",
    },
    // The high words of products of 32-bit words are put together from those of 16-bit halves. Each lane computes a whole
    // block and keeps one of its words.
    Helper {
        name: "fuse_philox",
        needs: &[],
        text: "
fn fuse_multiply_high$S(x: $U, y: u32) -> $U {
  let x0 = x & $U(0xffffu);
  let x1 = x >> $U(16u);
  let y0 = $U(y & 0xffffu);
  let y1 = $U(y >> 16u);
  let low = x1 * y0 + ((x0 * y0) >> $U(16u));
  let high = x0 * y1 + (low & $U(0xffffu));
  return x1 * y1 + (low >> $U(16u)) + (high >> $U(16u));
}
fn fuse_philox$S(x: $U, seed: $U) -> $U {
  var c0 = x >> $U(2u);
  var c1 = $U();
  var c2 = $U();
  var c3 = $U();
  var k0 = seed;
  var k1 = $U();
  // unroll
  for (var round = 0u; round < 10u; round++) {
    let high0 = fuse_multiply_high$S(c0, 0xd2511f53u);
    let high1 = fuse_multiply_high$S(c2, 0xcd9e8d57u);
    let low0 = c0 * $U(0xd2511f53u);
    let low1 = c2 * $U(0xcd9e8d57u);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += $U(0x9e3779b9u);
    k1 += $U(0xbb67ae85u);
  }
  let word = x & $U(3u);
  return select(select(c0, c1, word == $U(1u)), select(c2, c3, word == $U(3u)), word >= $U(2u));
}",
    },
    // WGSL's pow leaves x <= 0 undefined; the cases are those of C's pow.
    Helper {
        name: "fuse_pow",
        needs: &["fuse_is_nan"],
        text: "
fn fuse_pow$S(x: $T, y: $T) -> $T {
  let a = abs(x);
  let at_zero = select($T(0.0), $T(1.0) / a, y < $T(0.0));
  let magnitude = select(select(pow(a, y), at_zero, a == $T(0.0)), $T(1.0), a == $T(1.0));
  let whole = floor(y) == y;
  let odd = whole & (abs(y - $T(2.0) * floor(y * $T(0.5))) == $T(1.0));
  let minus = (bitcast<$U>(x) & $U(0x80000000u)) != $U(0u);
  let signed = select(magnitude, -magnitude, minus & odd);
  let nan = bitcast<$T>($U(fuse_nan_bits));
  let undefined = !whole & (x < $T(0.0)) & (x >= $T(-3.4028234e38));
  let unknown = fuse_is_nan$S(x) | fuse_is_nan$S(y) | undefined;
  let one = (y == $T(0.0)) | (x == $T(1.0));
  return select(select(signed, nan, unknown), $T(1.0), one);
}",
    },
];
