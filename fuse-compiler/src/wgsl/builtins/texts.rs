//! Sources of helper functions that several kernels or operations call.
//!
//! `$T` is the float type (`f32` or `vec4<f32>`), `$U`, `$I` and `$B` the `u32`, `i32` and `bool` types of that width,
//! and `$S` the suffix of names (`1` or `4`).

/// A helper by its name without `fuse_`, with the helpers it calls.
pub(super) struct Helper {
    pub(super) name: &'static str,
    pub(super) needs: &'static [&'static str],
    pub(super) text: &'static str,
}

pub(super) const LIBRARY: &[Helper] = &[
    Helper {
        name: "is_nan",
        needs: &[],
        text: "
fn fuse_is_nan$S(x: $T) -> $B {
  return (bitcast<$U>(x) & $U(0x7fffffffu)) > $U(0x7f800000u);
}",
    },
    // Tests signs, zeros and infinities by their bits: drivers infer signs as if no product or quotient could underflow
    // to 0, and drop comparisons decided by that. Where subnormal numbers count as 0, they are zeros here as well.
    Helper {
        name: "is_finite",
        needs: &[],
        text: "
fn fuse_is_finite$S(x: $T) -> $B {
  return (bitcast<$U>(x) & $U(0x7fffffffu)) < $U(0x7f800000u);
}",
    },
    Helper {
        name: "is_zero",
        needs: &[],
        text: "
fn fuse_is_zero$S(x: $T) -> $B {
  return ((bitcast<$U>(x) << $U(1u)) == $U(0u)) | (x == $T(0.0));
}",
    },
    Helper {
        name: "is_positive",
        needs: &[],
        text: "
fn fuse_is_positive$S(x: $T) -> $B {
  return (bitcast<$U>(x) - $U(1u)) < $U(0x7f800000u);
}",
    },
    Helper {
        name: "is_negative",
        needs: &[],
        text: "
fn fuse_is_negative$S(x: $T) -> $B {
  return (bitcast<$U>(x) - $U(0x80000001u)) < $U(0x7f800000u);
}",
    },
    // x minus the nearest multiple of pi/2, in three parts, the first two of which multiply exactly (the split of
    // Cephes' sinf), then minimax polynomials on [-pi/4, pi/4].
    Helper {
        name: "quadrant",
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
    // asin(r) for r up to 0.5 and z = r², fitted to 2e-8.
    Helper {
        name: "asin_part",
        needs: &[],
        text: "
fn fuse_asin_part$S(r: $T, z: $T) -> $T {
  return r + r * z * ($T(0.166666724) + z * ($T(0.0749885507) + z * ($T(0.0450013801) + z * ($T(0.0265545422) + z * $T(0.0380850236)))));
}",
    },
    // x - x, x/x and x % x: a zero with the sign of x. For infinities all are NaN, for zero the last two.
    Helper {
        name: "less_itself",
        needs: &[],
        text: "
fn fuse_less_itself$S(x: $T) -> $T {
  let magnitude = bitcast<$U>(x) & $U(0x7fffffffu);
  return select($T(0.0), $T(bitcast<f32>(fuse_nan_bits)), magnitude >= $U(0x7f800000u));
}",
    },
    Helper {
        name: "by_itself",
        needs: &[],
        text: "
fn fuse_by_itself$S(x: $T) -> $T {
  let magnitude = bitcast<$U>(x) & $U(0x7fffffffu);
  return select($T(1.0), $T(bitcast<f32>(fuse_nan_bits)), (magnitude == $U(0u)) | (magnitude >= $U(0x7f800000u)));
}",
    },
    Helper {
        name: "rem_itself",
        needs: &[],
        text: "
fn fuse_rem_itself$S(x: $T) -> $T {
  let magnitude = bitcast<$U>(x) & $U(0x7fffffffu);
  let zero = bitcast<$T>(bitcast<$U>(x) & $U(0x80000000u));
  return select(zero, $T(bitcast<f32>(fuse_nan_bits)), (magnitude == $U(0u)) | (magnitude >= $U(0x7f800000u)));
}",
    },
    // x·0 and 0/x, which drivers simplify to 0, and √x·√x, which they simplify to |x|.
    Helper {
        name: "times_zero",
        needs: &["is_finite"],
        text: "
fn fuse_times_zero$S(x: $T) -> $T {
  let zero = bitcast<$T>(bitcast<$U>(x) & $U(0x80000000u));
  return select($T(bitcast<f32>(fuse_nan_bits)), zero, fuse_is_finite$S(x));
}",
    },
    Helper {
        name: "zero_by",
        needs: &[],
        text: "
fn fuse_zero_by$S(x: $T) -> $T {
  let zero = bitcast<$T>(bitcast<$U>(x) & $U(0x80000000u));
  let magnitude = bitcast<$U>(x) & $U(0x7fffffffu);
  return select($T(bitcast<f32>(fuse_nan_bits)), zero, (magnitude - $U(1u)) < $U(0x7f800000u));
}",
    },
    Helper {
        name: "squared_root",
        needs: &["is_nan"],
        text: "
fn fuse_squared_root$S(root: $T) -> $T {
  return select(root * root, root, fuse_is_nan$S(root));
}",
    },
    // Integers ordered as the floats: negative floats have inverted magnitude bits. NaN is above all, also for `min`,
    // whose keys are inverted as a whole.
    Helper {
        name: "max_key",
        needs: &["is_nan"],
        text: "
fn fuse_max_key$S(x: $T) -> $I {
  let bits = bitcast<$I>(x);
  let key = bits ^ ((bits >> $U(31u)) & $I(0x7fffffff));
  return select(key, $I(0x7fffffff), fuse_is_nan$S(x));
}",
    },
    Helper {
        name: "min_key",
        needs: &["is_nan"],
        text: "
fn fuse_min_key$S(x: $T) -> $I {
  let bits = bitcast<$I>(x);
  let key = ~(bits ^ ((bits >> $U(31u)) & $I(0x7fffffff)));
  return select(key, $I(0x7fffffff), fuse_is_nan$S(x));
}",
    },
    Helper {
        name: "of_key",
        needs: &[],
        text: "
fn fuse_of_key$S(key: $I) -> $T {
  return bitcast<$T>(key ^ ((key >> $U(31u)) & $I(0x7fffffff)));
}",
    },
    Helper {
        name: "one_zero",
        needs: &[],
        text: "
fn fuse_one_zero$S(x: $T) -> $T {
  return select(x, $T(0.0), (bitcast<$U>(x) << $U(1u)) == $U(0u));
}",
    },
    // A number hidden from the compiler: `opaque` is 0 only at launch. Drivers may simplify float sums as if exact, and
    // `(a + b) - a` to `b`.
    Helper {
        name: "hidden",
        needs: &[],
        text: "
fn fuse_hidden$S(x: $T, opaque: u32) -> $T {
  return bitcast<$T>(bitcast<$U>(x) ^ $U(opaque));
}",
    },
    // Rounding error of the sum `s` of `a` and `b` (Neumaier's variant of Kahan's algorithm, 1974).
    Helper {
        name: "lost",
        needs: &[],
        text: "
fn fuse_lost$S(a: $T, b: $T, s: $T) -> $T {
  let ordered = abs(a) >= abs(b);
  return (select(b, a, ordered) - s) + select(a, b, ordered);
}",
    },
    // The sum with its rounding error, which is NaN once the sum is infinite.
    Helper {
        name: "restored",
        needs: &["is_nan"],
        text: "
fn fuse_restored$S(sum: $T, lost: $T) -> $T {
  return select(sum + lost, sum, fuse_is_nan$S(lost));
}",
    },
    // High words of 32-bit products, from products of 16-bit halves.
    Helper {
        name: "multiply_high",
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
}",
    },
];
