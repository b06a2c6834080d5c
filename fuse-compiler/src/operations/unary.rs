//! Operations of one element.

use std::f64::consts::{LN_2, LOG2_E, PI};

use fuse_artifact::{
    DType,
    operations::{Operation, UNARY, row},
};

use super::{
    Accuracy, DTypes, FLUSHED, Function, Integer, MlBuilder, Signature, TRANSCENDENTAL, ULP, WebNn, Wgsl,
    functions::{
        SELU_ALPHA, SELU_SCALE, acosh, asinh, gelu, gelu_tanh, hard_sigmoid, max, selu, sigmoid, sign, softplus, truth,
    },
    slopes::{
        of_asin, of_erf, of_gelu, of_gelu_tanh, of_hard_sigmoid, of_hard_swish, of_mish, of_selu, of_sigmoid, of_silu,
    },
    table,
};

type OfOne = fn(i64) -> i64;

/// Table row.
#[derive(Clone, Copy, Debug)]
pub struct Unary {
    /// Name in the language.
    pub name: &'static str,
    /// Prefix operator.
    pub symbol: Option<&'static str>,
    /// Operand dtypes.
    pub takes: DTypes,
    /// Result dtype, if another.
    pub yields: Option<DType>,
    /// Definition on floats and booleans.
    pub value: fn(f64) -> f64,
    /// Derivative; 0 at jumps and for other dtypes.
    pub slope: fn(f64) -> f64,
    /// Definition on integers.
    pub integer: Option<Integer<OfOne>>,
    /// Accuracy on exact `f32` operands; `f16` is computed in `f32`.
    pub accuracy: Accuracy,
    /// Arguments where it turns.
    pub turns: Turns,
    /// True if it only moves or flips bits: zeros keep their sign.
    pub keeps_zero_sign: bool,
    /// In additions.
    pub cost: u32,
    /// WGSL on floats and booleans.
    pub wgsl: Wgsl,
    /// WebNN.
    pub webnn: WebNn,
}

/// Arguments between which an operation is monotone.
#[derive(Clone, Copy, Debug)]
pub enum Turns {
    /// Listed arguments.
    At(&'static [f64]),
    /// Integers, where it jumps.
    AtIntegers,
    /// Multiples of π/2, the argument's reduction.
    EveryQuarter,
    /// As `EveryQuarter`, with poles at odd multiples.
    Poles,
}

/// WGSL's guarantee.
const EXPONENTIAL: Accuracy = Accuracy::ulps(3.0).growth(2.0);

/// WGSL's guarantee: 3 ulps, and 2^-21 absolute between 0.5 and 2.
const LOGARITHM: Accuracy = Accuracy::ulps(3.0).absolute(4.0 * ULP);

impl Unary {
    const fn of(name: &'static str, value: fn(f64) -> f64) -> Self {
        let Operation { name, symbol, takes, yields } = *row(UNARY, name);
        Self {
            name,
            symbol,
            takes,
            yields,
            value,
            slope: |_| 0.0,
            integer: None,
            accuracy: Accuracy::EXACT,
            turns: Turns::At(&[]),
            keeps_zero_sign: false,
            cost: 1,
            wgsl: Wgsl::Text(""),
            webnn: WebNn::Missing,
        }
    }

    const fn slope(self, slope: fn(f64) -> f64) -> Self {
        Self { slope, ..self }
    }

    const fn integers(self, value: OfOne, wgsl: [&'static str; 2]) -> Self {
        Self { integer: Some(Integer { value, wgsl }), ..self }
    }

    const fn accuracy(self, accuracy: Accuracy) -> Self {
        Self { accuracy, ..self }
    }

    const fn ulps(self, ulps: f64) -> Self {
        self.accuracy(Accuracy::ulps(ulps))
    }

    const fn turns(self, points: &'static [f64]) -> Self {
        Self { turns: Turns::At(points), ..self }
    }

    const fn turns_at_integers(self) -> Self {
        Self { turns: Turns::AtIntegers, ..self }
    }

    const fn periodic(self, turns: Turns) -> Self {
        Self { turns, ..self }
    }

    const fn keeps_zero_sign(self) -> Self {
        Self { keeps_zero_sign: true, ..self }
    }

    const fn cost(self, cost: u32) -> Self {
        Self { cost, ..self }
    }

    const fn wgsl(self, text: &'static str) -> Self {
        Self { wgsl: Wgsl::Text(text), ..self }
    }

    const fn library(self, name: &'static str) -> Self {
        Self { wgsl: Wgsl::Library(name), ..self }
    }

    const fn function(self, function: Function) -> Self {
        Self { wgsl: Wgsl::Function(function), ..self }
    }

    const fn webnn(self, method: &'static str) -> Self {
        Self { webnn: WebNn::Method(method), ..self }
    }

    const fn composite(self, write: fn(&mut dyn MlBuilder, u16) -> u16) -> Self {
        Self { webnn: WebNn::Composite(write), ..self }
    }

    pub(super) fn signature(&self) -> Signature {
        "(x: $T) -> $T"
    }
}

impl UnaryOp {
    /// Result dtype for an operand.
    pub fn result(self, operand: DType) -> DType {
        self.row().yields.unwrap_or(operand)
    }
}

table! {
    /// Operation on one element; float only, unless stated.
    UnaryOp: Unary {
        /// `-x`; numbers, wrapping for `u32`.
        Neg = Unary::of("neg", |x| -x).slope(|_| -1.0).wgsl("-$x").keeps_zero_sign().webnn("neg")
            .integers(|x| x.wrapping_neg(), ["-$x", "$V(0) - $x"]),
        /// `!x`; `bool`, and bitwise for integers.
        Not = Unary::of("not", |x| 1.0 - x).wgsl("!$x").webnn("logicalNot")
            .integers(|x| !x, ["~$x", "~$x"]),
        /// Absolute value; numbers (`i32::MIN` stays).
        Abs = Unary::of("abs", f64::abs).slope(sign).wgsl("abs($x)").keeps_zero_sign().turns(&[0.0]).webnn("abs")
            .integers(i64::abs, ["abs($x)", "abs($x)"]),
        /// -1, 0 or 1; numbers. `sign(NaN)` is NaN.
        Sign = Unary::of("sign", sign).turns(&[0.0]).webnn("sign")
            .integers(i64::signum, ["clamp($x, $V(-1), $V(1))", "min($x, $V(1))"])
            .function(
            Function::new(&["is_positive"], "
                let one = bitcast<$T>((bitcast<$U>(x) & $U(0x80000000u)) | $U(0x3f800000u));
                return select(x, one, fuse_is_positive$S(abs(x)));"),
        ),
        /// Largest integer that is at most `x`.
        Floor = Unary::of("floor", f64::floor).wgsl("floor($x)").webnn("floor"),
        /// Smallest integer that is at least `x`.
        Ceil = Unary::of("ceil", f64::ceil).wgsl("ceil($x)").webnn("ceil"),
        /// Nearest integer, ties to even.
        Round = Unary::of("round", f64::round_ties_even).wgsl("round($x)").webnn("roundEven"),
        /// Integer part, rounded towards 0.
        Trunc = Unary::of("trunc", f64::trunc).wgsl("trunc($x)"),
        /// `x - trunc(x)`, with the sign of `x` (as Rust, unlike WGSL).
        // Drivers return 0 for integers and infinities.
        Fract = Unary::of("fract", f64::fract).slope(|_| 1.0).turns_at_integers().cost(2).function(
            Function::new(&["is_finite"], "return select($T(bitcast<f32>(fuse_nan_bits)), x - trunc(x), fuse_is_finite$S(x));").fast("return x - trunc(x);"),
        ),
        /// Square root; NaN below 0.
        // 1/inverseSqrt(x): 2 and 2.5 ulps.
        Sqrt = Unary::of("sqrt", f64::sqrt).slope(|x| 0.5 / x.sqrt()).ulps(4.5).turns(&[0.0]).cost(3).wgsl("sqrt($x)").webnn("sqrt"),
        /// `1/sqrt(x)`.
        // Infinite at signed zeros; drivers return positive infinity.
        Rsqrt = Unary::of("rsqrt", |x| 1.0 / x.sqrt()).slope(|x| -0.5 / (x * x.sqrt())).ulps(2.0).turns(&[-0.0, 0.0]).cost(3)
            .composite(|ml, x| {
                let root = ml.call("sqrt", &[x]);
                ml.call("reciprocal", &[root])
            })
            .function(
            Function::new(&["is_zero"], "
                let infinity = bitcast<$T>((bitcast<$U>(x) & $U(0x80000000u)) | $U(fuse_inf_bits));
                return select(inverseSqrt(x), infinity, fuse_is_zero$S(x));").fast("return inverseSqrt(x);"),
        ),
        /// `e^x`.
        Exp = Unary::of("exp", f64::exp).slope(f64::exp).accuracy(EXPONENTIAL).cost(TRANSCENDENTAL).wgsl("exp($x)").webnn("exp"),
        /// `2^x`.
        Exp2 = Unary::of("exp2", f64::exp2).slope(|x| LN_2 * x.exp2()).accuracy(EXPONENTIAL).cost(TRANSCENDENTAL).wgsl("exp2($x)").composite(|ml, x| {
            let two = ml.number(2.0);
            ml.call("pow", &[two, x])
        }),
        /// Natural logarithm.
        // WGSL leaves logarithms below or at 0 undefined, and some adapters return finite numbers.
        Log = Unary::of("log", f64::ln).slope(|x| 1.0 / x).accuracy(LOGARITHM).turns(&[0.0]).cost(TRANSCENDENTAL).webnn("log").function(
            Function::new(&["is_zero", "is_positive"], "
                let value = select(bitcast<$T>($U(fuse_nan_bits)), log(x), fuse_is_positive$S(x));
                return select(value, bitcast<$T>($U(fuse_inf_bits | 0x80000000u)), fuse_is_zero$S(x));").fast("return log(x);"),
        ),
        /// Binary logarithm.
        Log2 = Unary::of("log2", f64::log2).slope(|x| LOG2_E / x).accuracy(LOGARITHM).turns(&[0.0]).cost(TRANSCENDENTAL).composite(|ml, x| {
            let (log, part) = (ml.call("log", &[x]), ml.number(LOG2_E));
            ml.call("mul", &[log, part])
        }).function(
            Function::new(&["is_zero", "is_positive"], "
                let value = select(bitcast<$T>($U(fuse_nan_bits)), log2(x), fuse_is_positive$S(x));
                return select(value, bitcast<$T>($U(fuse_inf_bits | 0x80000000u)), fuse_is_zero$S(x));").fast("return log2(x);"),
        ),
        /// `ln(1 + x)`, accurate near 0.
        // Series of 2·atanh(x/(2 + x)) near 0, where ln(1 + x) cancels. Returns x where x/(2 + x) could be flushed; the
        // next term is negligible. Beyond the series, log(1 + x) is at least 0.4, and log's 2^-21 is 10 ulps.
        Log1p = Unary::of("log1p", f64::ln_1p).slope(|x| 1.0 / (1.0 + x)).ulps(12.0).turns(&[-1.0]).cost(TRANSCENDENTAL).function(
            Function::new(&["log"], "
                let s = x / ($T(2.0) + x);
                let q = s * s;
                let series = $T(2.0) * s * ($T(1.0) + q * ($T(0.33333333) + q * ($T(0.2) + q * ($T(0.14285714) + q * ($T(0.11111111) + q * ($T(0.09090909) + q * ($T(0.07692308) + q * $T(0.06666667))))))));
                let near = select(series, x, abs(x) < $T(0.00000001));
                return select(fuse_log$S($T(1.0) + x), near, abs(x) < $T(0.5));").fast("return log($T(1.0) + x);"),
        ),
        /// `e^x - 1`, accurate near 0.
        // Taylor series near 0, where it cancels. Beyond, it is at least 0.39 and e^x at most 2.6 times as large.
        Expm1 = Unary::of("expm1", f64::exp_m1).slope(f64::exp).accuracy(Accuracy::ulps(12.0).growth(2.0)).cost(TRANSCENDENTAL).function(
            Function::new(&[], "
                let series = x + x * x * ($T(0.5) + x * ($T(0.16666667) + x * ($T(0.041666668) + x * ($T(0.008333334) + x * ($T(0.0013888889) + x * ($T(0.0001984127) + x * $T(0.0000248015873)))))));
                return select(exp(x) - $T(1.0), series, abs(x) < $T(0.5));").fast("return exp(x) - $T(1.0);"),
        ),
        /// Sine of radians.
        // Polynomial on a reduced argument.
        Sin = Unary::of("sin", f64::sin).slope(f64::cos).ulps(4.0).periodic(Turns::EveryQuarter).cost(TRANSCENDENTAL).webnn("sin").function(
            Function::new(&["quadrant", "is_finite"], "
                let k = round(x * $T(0.63661977));
                return select($T(bitcast<f32>(fuse_nan_bits)), fuse_turn$S(fuse_quadrant$S(x, k), k), fuse_is_finite$S(x));").fast("return sin(x);"),
        ),
        /// Cosine of radians.
        Cos = Unary::of("cos", f64::cos).slope(|x| -x.sin()).ulps(4.0).periodic(Turns::EveryQuarter).cost(TRANSCENDENTAL).webnn("cos").function(
            Function::new(&["quadrant", "is_finite"], "
                let k = round(x * $T(0.63661977));
                return select($T(bitcast<f32>(fuse_nan_bits)), fuse_turn$S(fuse_quadrant$S(x, k), k + $T(1.0)), fuse_is_finite$S(x));").fast("return cos(x);"),
        ),
        /// Tangent of radians.
        Tan = Unary::of("tan", f64::tan).slope(|x| x.cos().powi(-2)).ulps(11.0).periodic(Turns::Poles).cost(2 * TRANSCENDENTAL).webnn("tan").function(
            Function::new(&["sin", "cos"], "return fuse_sin$S(x) / fuse_cos$S(x);").fast("return tan(x);"),
        ),
        /// Hyperbolic tangent.
        // Cephes' polynomial near 0. Beyond 0.625, (1 - e)/(1 + e) with e = e^(-2|x|), which cannot overflow; 1 - e is
        // at least 0.7 and e has up to 3 + 2·1.25 ulps.
        Tanh = Unary::of("tanh", f64::tanh).slope(|x| x.cosh().powi(-2)).ulps(8.0).cost(2 * TRANSCENDENTAL).webnn("tanh").function(
            Function::new(&[], "
                let z = x * x;
                let near = x + x * z * ($T(-0.33333332) + z * ($T(0.13331442) + z * ($T(-0.053739715) + z * ($T(0.020639088) + z * $T(-0.005704989)))));
                let e = exp($T(-2.0) * abs(x));
                let far = ($T(1.0) - e) / ($T(1.0) + e);
                return select(select(far, -far, x < $T(0.0)), near, abs(x) < $T(0.625));").fast("return $T(1.0) - $T(2.0) / ($T(1.0) + exp($T(2.0) * x));"),
        ),
        /// Arc tangent.
        // Minimax polynomial on [0, 1]; atan(x) = pi/2 - atan(1/x) beyond.
        Atan = Unary::of("atan", f64::atan).slope(|x| 1.0 / (1.0 + x * x)).ulps(6.0).cost(2 * TRANSCENDENTAL).function(
            Function::new(&[], "
                let a = abs(x);
                let beyond = a > $T(1.0);
                let r = select(a, $T(1.0) / a, beyond);
                let s = r * r;
                let p = r + r * s * ($T(-0.3333333134651184) + s * ($T(0.1999976634979248) + s * ($T(-0.14279110729694366) + s * ($T(0.11037994176149368) + s * ($T(-0.08673170208930969) + s * ($T(0.06284360587596893) + s * ($T(-0.03627016767859459) + s * ($T(0.013750280253589153) + s * $T(-0.0024470302741974592)))))))));
                let value = select(p, $T(1.5707964) - p, beyond);
                return select(value, -value, x < $T(0.0));"),
        ),
        /// Arc sine; NaN beyond -1 and 1.
        // asin(x) = pi/2 - 2·asin(√((1 - x)/2)) beyond 0.5, where the difference is exact.
        Asin = Unary::of("asin", f64::asin).slope(of_asin).ulps(10.0).turns(&[-1.0, 1.0]).cost(2 * TRANSCENDENTAL).function(
            Function::new(&["asin_part"], "
                let a = abs(x);
                let far = a > $T(0.5);
                let z = select(x * x, $T(0.5) - $T(0.5) * a, far);
                let part = fuse_asin_part$S(select(a, sqrt(z), far), z);
                let value = select(part, $T(1.5707964) - $T(2.0) * part, far);
                let signed = bitcast<$T>(bitcast<$U>(value) | (bitcast<$U>(x) & $U(0x80000000u)));
                return select(signed, $T(bitcast<f32>(fuse_nan_bits)), a > $T(1.0));"),
        ),
        /// Arc cosine, 0 to π; NaN beyond -1 and 1.
        // 2·asin(√((1 - |x|)/2)) beyond 0.5, from π for negative x.
        Acos = Unary::of("acos", f64::acos).slope(|x| -of_asin(x)).ulps(12.0).turns(&[-1.0, 1.0]).cost(2 * TRANSCENDENTAL).function(
            Function::new(&["asin_part"], "
                let a = abs(x);
                let far = a > $T(0.5);
                let z = select(x * x, $T(0.5) - $T(0.5) * a, far);
                let part = fuse_asin_part$S(select(x, sqrt(z), far), z);
                let tail = select($T(2.0) * part, $T(3.1415927) - $T(2.0) * part, x < $T(0.0));
                let value = select($T(1.5707964) - part, tail, far);
                return select(value, $T(bitcast<f32>(fuse_nan_bits)), a > $T(1.0));"),
        ),
        /// Hyperbolic sine.
        // Polynomial in x² up to 1. Beyond, e^(|x|/2), whose square overflows only where the result does.
        Sinh = Unary::of("sinh", f64::sinh).slope(f64::cosh).accuracy(Accuracy::ulps(12.0).growth(2.0)).cost(2 * TRANSCENDENTAL).function(
            Function::new(&[], "
                let s = x * x;
                let near = x + x * s * ($T(0.16666667) + s * ($T(0.00833334) + s * ($T(0.00019838102) + s * $T(0.00000280628026))));
                let e = exp($T(0.5) * abs(x));
                let far = ($T(0.5) * e) * e - $T(0.5) / (e * e);
                return select(select(far, -far, x < $T(0.0)), near, abs(x) < $T(1.0));"),
        ),
        /// Hyperbolic cosine.
        Cosh = Unary::of("cosh", f64::cosh).slope(f64::sinh).accuracy(Accuracy::ulps(10.0).growth(2.0)).turns(&[0.0]).cost(2 * TRANSCENDENTAL).function(
            Function::new(&[], "
                let e = exp($T(0.5) * abs(x));
                return ($T(0.5) * e) * e + $T(0.5) / (e * e);"),
        ),
        /// Inverse of `sinh`.
        // log1p's ulps, and those of its argument; ln(2x) where x² could overflow.
        Asinh = Unary::of("asinh", asinh).slope(|x| 1.0 / x.hypot(1.0)).ulps(22.0).cost(3 * TRANSCENDENTAL).function(
            Function::new(&["log1p", "log"], "
                let a = abs(x);
                let s = a * a;
                let near = fuse_log1p$S(a + s / ($T(1.0) + sqrt(s + $T(1.0))));
                let value = select(near, fuse_log$S(a) + $T(0.6931472), a > $T(1000000000.0));
                return bitcast<$T>(bitcast<$U>(value) | (bitcast<$U>(x) & $U(0x80000000u)));"),
        ),
        /// Inverse of `cosh`, not negative; NaN below 1.
        Acosh = Unary::of("acosh", acosh).slope(|x| 1.0 / ((x - 1.0).sqrt() * (x + 1.0).sqrt())).ulps(24.0).turns(&[1.0]).cost(3 * TRANSCENDENTAL).function(
            Function::new(&["log1p", "log"], "
                let t = x - $T(1.0);
                let near = fuse_log1p$S(t + sqrt(t * (x + $T(1.0))));
                let value = select(near, fuse_log$S(x) + $T(0.6931472), x > $T(1000000000.0));
                return select(value, $T(bitcast<f32>(fuse_nan_bits)), x < $T(1.0));"),
        ),
        /// Inverse of `tanh`; infinite at -1 and 1, NaN beyond.
        Atanh = Unary::of("atanh", f64::atanh).slope(|x| 1.0 / ((1.0 - x) * (1.0 + x))).ulps(22.0).turns(&[-1.0, 1.0]).cost(2 * TRANSCENDENTAL).function(
            Function::new(&["log1p"], "
                let a = abs(x);
                let value = $T(0.5) * fuse_log1p$S($T(2.0) * a / ($T(1.0) - a));
                let signed = bitcast<$T>(bitcast<$U>(value) | (bitcast<$U>(x) & $U(0x80000000u)));
                return select(signed, $T(bitcast<f32>(fuse_nan_bits)), a > $T(1.0));"),
        ),
        /// Error function.
        // Minimax polynomials by N. Juffa (single precision erf, public domain figures). The fast form is formula
        // 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical Functions (1964), with an error below 1.5e-7.
        Erf = Unary::of("erf", libm::erf).slope(of_erf).ulps(6.0).cost(2 * TRANSCENDENTAL).webnn("erf").function(
            Function::new(&[], "
                let t = abs(x);
                let s = x * x;
                let near = x + x * ($T(0.128379166) + s * ($T(-0.376125336) + s * ($T(0.112819925) + s * ($T(-0.0267681349) + s * ($T(0.00499119423) + s * $T(-0.000596761703))))));
                let u = ($T(0.000383197126) + t * $T(-0.0000172853470)) * s + ($T(0.0242546219) + t * $T(-0.00388396438));
                let e = ((u * t + $T(-0.106777877)) * t + $T(-0.634846687)) * t + $T(-0.128717512);
                let far = $T(1.0) - exp(e * t - t);
                return select(select(far, -far, x < $T(0.0)), near, t <= $T(0.927734375));").fast("
                let u = $T(1.0) / ($T(1.0) + $T(0.3275911) * abs(x));
                let tail = u * ($T(0.254829592) + u * ($T(-0.284496736) + u * ($T(1.421413741) + u * ($T(-1.453152027) + u * $T(1.061405429)))));
                let whole = $T(1.0) - tail * exp(-x * x);
                return select(whole, -whole, x < $T(0.0));"),
        ),
        /// `1 - erf(x)`, without cancellation where it is small.
        // (1 + 2a)·e^(a²)·erfc(a) for a = |x| is a polynomial in (a - 4)/(a + 4), fitted to 4e-9. The exponent's
        // rounding grows by 2.5 ulps per unit of a², up to 9.3. Beyond, the result is subnormal.
        Erfc = Unary::of("erfc", libm::erfc).slope(|x| -of_erf(x)).accuracy(Accuracy::ulps(16.0).growth(24.0)).cost(2 * TRANSCENDENTAL).function(
            Function::new(&["is_nan"], "
                let a = min(abs(x), $T(11.0));
                let q = (a - $T(4.0)) / (a + $T(4.0));
                let p = $T(1.23299512) + q * ($T(-0.139621084) + q * ($T(0.0153796837) + q * ($T(0.0680961321) + q * ($T(-0.101039951) + q * ($T(0.0937404438) + q * ($T(-0.0663232595) + q * ($T(0.0371399169) + q * ($T(-0.0162222746) + q * ($T(0.00508280915) + q * ($T(-0.000716339472) + q * ($T(-0.000248632297) + q * $T(0.000116607997))))))))))));
                let tail = p / ($T(1.0) + $T(2.0) * a) * exp(-a * a);
                return select(select(tail, $T(2.0) - tail, x < $T(0.0)), x, fuse_is_nan$S(x));"),
        ),
        /// `1/x`.
        // Infinite at signed zeros.
        Recip = Unary::of("recip", |x| 1.0 / x).slope(|x| -1.0 / (x * x)).ulps(2.5).turns(&[-0.0, 0.0]).cost(3).wgsl("$T(1.0) / $x").webnn("reciprocal"),
        /// `max(x, 0)`; `relu(NaN)` is NaN; floats and `i32`.
        // Drivers turn `select(x, 0, x < 0)` into an instruction that gives 0 for NaN, so its bits are tested.
        Relu = Unary::of("relu", |x| max(x, 0.0)).slope(|x| truth(x > 0.0)).integers(|x| x.max(0), ["max($x, $V(0))", ""]).webnn("relu").function(
            Function::new(&["is_nan"], "return select(max(x, $T(0.0)), x, fuse_is_nan$S(x));").fast("return max(x, $T(0.0));"),
        ),
        /// `1.0507009873554805·(x > 0 ? x : 1.6732632423543772·(e^x - 1))` (Klambauer et al. 2017).
        Selu = Unary::of("selu", selu).slope(of_selu).accuracy(Accuracy::ulps(14.0).growth(2.0)).cost(2 * TRANSCENDENTAL)
            .composite(|ml, x| {
                let elu = ml.with_options("elu", x, &[("alpha", SELU_ALPHA)]);
                ml.with_options("linear", elu, &[("alpha", SELU_SCALE)])
            })
            .function(
            Function::new(&["expm1"], "return $T(1.0507009873554805) * select($T(1.6732632423543772) * fuse_expm1$S(x), x, x > $T(0.0));"),
        ),
        /// `x/2·(1 + erf(x/√2))` (Hendrycks and Gimpel 2016).
        // 1 + erf cancels below 0: the error is relative to x.
        Gelu = Unary::of("gelu", gelu).slope(of_gelu).accuracy(Accuracy::ulps(3.0).argument(3.0)).turns(&[-0.751791524693564])
            .cost(2 * TRANSCENDENTAL).webnn("gelu")
            .function(
            Function::new(&["erf"], "return $T(0.5) * x * ($T(1.0) + fuse_erf$S(x * $T(0.70710678)));"),
        ),
        /// `x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))`.
        // As WebNN: x·(1/2 + tanh(x·(a + b·x²))/2).
        GeluTanh = Unary::of("gelu_tanh", gelu_tanh).slope(of_gelu_tanh).accuracy(Accuracy::ulps(4.0).argument(4.0)).turns(&[-0.752461422371])
            .cost(2 * TRANSCENDENTAL)
            .composite(|ml, x| {
                let scale = (2.0 / PI).sqrt();
                let square = ml.call("mul", &[x, x]);
                let factor = ml.with_options("linear", square, &[("alpha", scale * 0.044_715), ("beta", scale)]);
                let inner = ml.call("mul", &[x, factor]);
                let tanh = ml.call("tanh", &[inner]);
                let part = ml.with_options("linear", tanh, &[("alpha", 0.5), ("beta", 0.5)]);
                ml.call("mul", &[x, part])
            })
            .function(
            Function::new(&["tanh"], "return $T(0.5) * x * ($T(1.0) + fuse_tanh$S($T(0.7978845608) * x * ($T(1.0) + $T(0.044715) * x * x)));"),
        ),
        /// `x·sigmoid(x)`.
        Silu = Unary::of("silu", |x| x * sigmoid(x)).slope(of_silu).accuracy(Accuracy::ulps(8.0).growth(2.0).absolute(FLUSHED))
            .turns(&[-1.27846454276107]).cost(TRANSCENDENTAL)
            .composite(|ml, x| {
                let part = ml.call("sigmoid", &[x]);
                ml.call("mul", &[x, part])
            })
            .function(
            Function::new(&["sigmoid"], "return x * fuse_sigmoid$S(x);"),
        ),
        /// `1/(1 + e^-x)`.
        // Errors of the exponential, a sum and a division.
        Sigmoid = Unary::of("sigmoid", sigmoid).slope(of_sigmoid).accuracy(Accuracy::ulps(7.0).growth(2.0)).cost(TRANSCENDENTAL).webnn("sigmoid").function(
            Function::new(&[], "return $T(1.0) / ($T(1.0) + exp(-x));"),
        ),
        /// `clamp(x/6 + 1/2, 0, 1)` (as PyTorch).
        // Errors of a division and a sum, which cancel at -3. WebNN's defaults differ.
        HardSigmoid = Unary::of("hard_sigmoid", hard_sigmoid).slope(of_hard_sigmoid).accuracy(Accuracy::ulps(1.0).absolute(2.0 * ULP)).cost(3)
            .composite(|ml, x| ml.with_options("hardSigmoid", x, &[("alpha", 1.0 / 6.0), ("beta", 0.5)]))
            .function(
            Function::new(&["min", "max"], "return fuse_min$S(fuse_max$S(x / $T(6.0) + $T(0.5), $T(0.0)), $T(1.0));"),
        ),
        /// `x·hard_sigmoid(x)`.
        HardSwish = Unary::of("hard_swish", |x| x * hard_sigmoid(x)).slope(of_hard_swish).accuracy(Accuracy::ulps(2.0).argument(2.0)).turns(&[-3.0, -1.5, 0.0])
            .cost(3).webnn("hardSwish")
            .function(
            Function::new(&["hard_sigmoid"], "return x * fuse_hard_sigmoid$S(x);"),
        ),
        /// `ln(1 + e^x)`, without overflow.
        Softplus = Unary::of("softplus", softplus).slope(sigmoid).accuracy(Accuracy::ulps(16.0).growth(2.0)).cost(2 * TRANSCENDENTAL).webnn("softplus").function(
            Function::new(&["log1p", "max"], "return fuse_max$S(x, $T(0.0)) + fuse_log1p$S(exp(-abs(x)));"),
        ),
        /// `x·tanh(softplus(x))` (Misra 2019).
        Mish = Unary::of("mish", |x| x * softplus(x).tanh()).slope(of_mish).accuracy(Accuracy::ulps(25.0).growth(2.0).absolute(FLUSHED))
            .turns(&[-1.19242925]).cost(2 * TRANSCENDENTAL)
            .composite(|ml, x| {
                let softplus = ml.call("softplus", &[x]);
                let part = ml.call("tanh", &[softplus]);
                ml.call("mul", &[x, part])
            })
            .function(
            Function::new(&["tanh", "softplus"], "return x * fuse_tanh$S(fuse_softplus$S(x));"),
        ),
        /// True if `x` is NaN.
        IsNan = Unary::of("isnan", |x| truth(x.is_nan())).library("is_nan"),
        /// True if `x` is ∞ or -∞.
        IsInf = Unary::of("isinf", |x| truth(x.is_infinite()))
            .wgsl("(bitcast<$U>($x) & $U(0x7fffffffu)) == $U(0x7f800000u)"),
        /// True unless infinite or NaN.
        IsFinite = Unary::of("isfinite", |x| truth(x.is_finite()))
            .library("is_finite"),
        /// Bits of an `f32`, as `u32` (as Rust).
        ToBits = Unary::of("to_bits", |x| (x as f32).to_bits().into()).wgsl("bitcast<$U>($x)"),
        /// `f32` with the bits of a `u32` (as Rust).
        FromBits = Unary::of("from_bits", |x| f32::from_bits(x as u32).into()).wgsl("bitcast<$T>($x)"),
        /// Number of bits that are 1; integers.
        PopCount = Unary::of("popcount", |x| x)
            .integers(|x| (x as u32).count_ones().into(), ["countOneBits($x)", "countOneBits($x)"]),
    }
}
