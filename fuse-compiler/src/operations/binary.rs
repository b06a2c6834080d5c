//! Operations of two elements.

use fuse_artifact::{
    DType,
    operations::{BINARY, Operation, row},
};

use super::{
    Accuracy, DTypes, Function, Integer, Signature, TRANSCENDENTAL, WebNn, Wgsl,
    functions::{max, min},
    philox,
    slopes::{of_atan2, of_hypot, of_larger, of_pow},
    table,
};

type OfTwo = fn(i64, i64) -> i64;

/// Table row.
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    /// Name in the language.
    pub name: &'static str,
    /// Infix operator.
    pub symbol: Option<&'static str>,
    /// Operand dtypes.
    pub takes: DTypes,
    /// Definition on floats and booleans.
    pub value: fn(f64, f64) -> f64,
    /// Derivatives by each operand; 0 at jumps and for other dtypes.
    pub slopes: fn(f64, f64) -> [f64; 2],
    /// Definition on integers. In its WGSL, `$d` is the divisor, or 1 where WGSL is undefined.
    pub integer: Option<Integer<OfTwo>>,
    /// Range propagation.
    pub spread: Spread,
    /// In additions.
    pub cost: u32,
    /// WGSL on floats and booleans.
    pub wgsl: Wgsl,
    /// WebNN.
    pub webnn: WebNn,
}

/// Position of extremes over operand ranges, and accuracy there.
#[derive(Clone, Copy, Debug)]
pub enum Spread {
    /// Ends, rounded in either direction.
    Rounded,
    /// As `Rounded`; `0·∞` may hide between.
    Product,
    /// Ends, exact.
    Ends,
    /// Minimum and maximum magnitudes.
    Magnitudes(Accuracy),
    /// Corners, unless the point may be on the negative axis.
    Angle(Accuracy),
    /// Divisions.
    Quotient,
    /// Remainders.
    Remainder,
    /// Powers.
    Power,
    /// Anywhere.
    Unknown,
}

impl Binary {
    const fn of(name: &'static str, value: fn(f64, f64) -> f64) -> Self {
        let Operation { name, symbol, takes, .. } = *row(BINARY, name);
        Self {
            name,
            symbol,
            takes,
            value,
            slopes: |_, _| [0.0; 2],
            integer: None,
            spread: Spread::Unknown,
            cost: 1,
            wgsl: Wgsl::Text(""),
            webnn: WebNn::Missing,
        }
    }

    const fn takes(self, takes: DTypes) -> Self {
        Self { takes, ..self }
    }

    const fn slopes(self, slopes: fn(f64, f64) -> [f64; 2]) -> Self {
        Self { slopes, ..self }
    }

    const fn integers(self, value: OfTwo, wgsl: &'static str) -> Self {
        Self { integer: Some(Integer { value, wgsl: [wgsl, wgsl] }), ..self }
    }

    const fn spread(self, spread: Spread) -> Self {
        Self { spread, ..self }
    }

    const fn cost(self, cost: u32) -> Self {
        Self { cost, ..self }
    }

    const fn wgsl(self, text: &'static str) -> Self {
        Self { wgsl: Wgsl::Text(text), ..self }
    }

    const fn function(self, function: Function) -> Self {
        Self { wgsl: Wgsl::Function(function), ..self }
    }

    const fn webnn(self, method: &'static str) -> Self {
        Self { webnn: WebNn::Method(method), ..self }
    }

    pub(super) fn signature(&self) -> Signature {
        if self.takes.contains(DType::F32) { "(x: $T, y: $T) -> $T" } else { "(x: $U, y: $U) -> $U" }
    }
}

table! {
    /// Operation on two elements of one dtype.
    BinaryOp: Binary {
        /// `x + y`; numbers.
        Add = Binary::of("add", |x, y| x + y).slopes(|_, _| [1.0, 1.0]).spread(Spread::Rounded).wgsl("$x + $y").webnn("add")
            .integers(|x, y| x.wrapping_add(y), "$x + $y"),
        /// `x - y`; numbers.
        Sub = Binary::of("sub", |x, y| x - y).slopes(|_, _| [1.0, -1.0]).spread(Spread::Rounded).wgsl("$x - $y").webnn("sub")
            .integers(|x, y| x.wrapping_sub(y), "$x - $y"),
        /// `x·y`; numbers.
        Mul = Binary::of("mul", |x, y| x * y).slopes(|x, y| [y, x]).spread(Spread::Product).wgsl("$x * $y").webnn("mul")
            .integers(|x, y| x.wrapping_mul(y), "$x * $y"),
        /// `x / y`; numbers. Integers truncate; `x / 0` is `x` and `i32::MIN / -1` is `i32::MIN` (as WGSL).
        Div = Binary::of("div", |x, y| x / y).slopes(|x, y| [1.0 / y, -(x / y) / y]).spread(Spread::Quotient).wgsl("$x / $y").webnn("div")
            .integers(|x, y| x.checked_div(y).unwrap_or(x), "$x / $d"),
        /// Remainder with the sign of `x`; numbers. Integers: `x % 0` is 0 (as WGSL).
        // x - y·trunc(x/y), corrected for the quotient's error of at most one. The sign is copied as a bit, because a
        // comparison may take a subnormal for zero.
        Rem = Binary::of("rem", |x, y| x % y).slopes(|x, y| [1.0, -((x - x % y) / y).round()]).spread(Spread::Remainder)
            .integers(|x, y| x.checked_rem(y).unwrap_or(0), "$x % $d")
            .function(
            Function::new(&["is_zero"], "
                let a = abs(x);
                let b = abs(y);
                let first = fma(-trunc(a / b), b, a);
                let lifted = select(first, first + b, first < $T(0.0));
                let r = select(lifted, lifted - b, lifted >= b);
                let value = select(select(r, a, a < b), $T(bitcast<f32>(fuse_nan_bits)), fuse_is_zero$S(y));
                return bitcast<$T>(bitcast<$U>(value) | (bitcast<$U>(x) & $U(0x80000000u)));"),
        ),
        /// `x^y`; floats. NaN for a negative `x` unless `y` is an integer (as C's `pow`).
        // WGSL's pow leaves x <= 0 undefined.
        Pow = Binary::of("pow", f64::powf).slopes(of_pow).spread(Spread::Power).cost(2 * TRANSCENDENTAL).webnn("pow").function(
            Function::new(&["is_nan", "is_zero"], "
                let a = abs(x);
                let at_zero = select($T(0.0), $T(1.0) / a, y < $T(0.0));
                let magnitude = select(select(pow(a, y), at_zero, fuse_is_zero$S(x)), $T(1.0), a == $T(1.0));
                let whole = floor(y) == y;
                let odd = whole & (abs(y - $T(2.0) * floor(y * $T(0.5))) == $T(1.0));
                let minus = (bitcast<$U>(x) & $U(0x80000000u)) != $U(0u);
                let signed = select(magnitude, -magnitude, minus & odd);
                let nan = bitcast<$T>($U(fuse_nan_bits));
                let undefined = !whole & (x < $T(0.0)) & (x >= $T(-3.4028234e38));
                let unknown = fuse_is_nan$S(x) | fuse_is_nan$S(y) | undefined;
                let one = fuse_is_zero$S(y) | (x == $T(1.0));
                return select(select(signed, nan, unknown), $T(1.0), one);"),
        ),
        /// Minimum; NaN if either is NaN; numbers.
        Min = Binary::of("min", min).slopes(|x, y| of_larger(y, x)).spread(Spread::Ends).webnn("min")
            .integers(|x, y| x.min(y), "min($x, $y)")
            .function(
            Function::new(&["is_nan"], "return select(select(min(x, y), y, fuse_is_nan$S(y)), x, fuse_is_nan$S(x));").fast("return min(x, y);"),
        ),
        /// Maximum; NaN if either is NaN; numbers.
        Max = Binary::of("max", max).slopes(of_larger).spread(Spread::Ends).webnn("max")
            .integers(|x, y| x.max(y), "max($x, $y)")
            .function(
            Function::new(&["is_nan"], "return select(select(max(x, y), y, fuse_is_nan$S(y)), x, fuse_is_nan$S(x));").fast("return max(x, y);"),
        ),
        /// Angle of the point of height `x` and width `y`, -π to π (arguments as C's `atan2`).
        // atan of the smaller magnitude over the larger, scaled by 1/4 where the reciprocal would not be normal; then
        // mapped to the octant by signs.
        Atan2 = Binary::of("atan2", f64::atan2).slopes(of_atan2).spread(Spread::Angle(Accuracy::ulps(12.0))).cost(3 * TRANSCENDENTAL).function(
            Function::new(&["atan", "is_nan", "is_zero"], "
                let a = abs(x);
                let b = abs(y);
                let most = max(a, b);
                let least = min(a, b);
                let scale = select($T(1.0), $T(0.25), most > $T(1e37));
                let slope = select((least * scale) / (most * scale), $T(1.0), least == most);
                let first = fuse_atan$S(select(slope, $T(0.0), fuse_is_zero$S(most)));
                let second = select(first, $T(1.5707964) - first, a > b);
                let backwards = (bitcast<$U>(y) & $U(0x80000000u)) != $U(0u);
                let value = select(second, $T(3.1415927) - second, backwards);
                let signed = bitcast<$T>(bitcast<$U>(value) | (bitcast<$U>(x) & $U(0x80000000u)));
                return select(select(signed, y, fuse_is_nan$S(y)), x, fuse_is_nan$S(x));"),
        ),
        /// `√(x² + y²)` without intermediate overflow; infinite if either is, even if the other is NaN (as C).
        // Scales by 2^96 or 2^-96 if squares leave the range.
        Hypot = Binary::of("hypot", f64::hypot).slopes(of_hypot).spread(Spread::Magnitudes(Accuracy::ulps(8.0))).cost(8).function(
            Function::new(&[], "
                let a = abs(x);
                let b = abs(y);
                let most = max(a, b);
                let large = most > $T(1e18);
                let small = most < $T(1e-18);
                let scale = select(select($T(1.0), $T(7.9228162514264338e28), small), $T(1.2621774483536189e-29), large);
                let back = select(select($T(1.0), $T(1.2621774483536189e-29), small), $T(7.9228162514264338e28), large);
                let u = a * scale;
                let v = b * scale;
                let value = sqrt(u * u + v * v) * back;
                let infinite = $U(0x7f800000u);
                return select(select(value, b, bitcast<$U>(b) == infinite), a, bitcast<$U>(a) == infinite);"),
        ),
        /// Logical and; `bool`.
        And = Binary::of("and", f64::min).spread(Spread::Ends).wgsl("$x & $y").webnn("logicalAnd"),
        /// Logical or; `bool`.
        Or = Binary::of("or", f64::max).spread(Spread::Ends).wgsl("$x | $y").webnn("logicalOr"),
        /// Bitwise and; integers. For `bool`, `&` is [`BinaryOp::And`].
        BitAnd = Binary::of("bitand", min).takes(DTypes::INTEGERS).integers(|x, y| x & y, "$x & $y"),
        /// Bitwise or; integers. For `bool`, `|` is [`BinaryOp::Or`].
        BitOr = Binary::of("bitor", min).takes(DTypes::INTEGERS).integers(|x, y| x | y, "$x | $y"),
        /// Bitwise exclusive or; integers. For `bool`, `^` is `!=`.
        BitXor = Binary::of("bitxor", min).takes(DTypes::INTEGERS).integers(|x, y| x ^ y, "$x ^ $y"),
        /// Left shift of `x` by `y % 32`; integers (as `wrapping_shl` of Rust).
        Shl = Binary::of("shl", min)
            .integers(|x, y| x << (y & 31), "$x << ($U($y) & $U(31u))"),
        /// Right shift of `x` by `y % 32`, arithmetic for `i32`; integers (as `wrapping_shr` of Rust).
        Shr = Binary::of("shr", min)
            .integers(|x, y| x >> (y & 31), "$x >> ($U($y) & $U(31u))"),
        /// Word `x % 4` of the Philox4x32-10 block with counter `(x / 4, 0, 0, 0)` and key `(y, 0)`; `u32`.
        ///
        /// Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011.
        // Each lane computes a whole block, and keeps one word.
        Philox = Binary::of("philox", min).cost(100)
            .integers(|x, y| philox::word(x as u32, y as u32).into(), "")
            .function(
            Function::new(&["multiply_high"], "
                var c0 = x >> $U(2u);
                var c1 = $U();
                var c2 = $U();
                var c3 = $U();
                var k0 = y;
                var k1 = $U();
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
                return select(select(c0, c1, word == $U(1u)), select(c2, c3, word == $U(3u)), word >= $U(2u));"),
        ),
    }
}
