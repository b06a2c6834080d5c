//! Table of pointwise operations, one row each, read by every stage.
//!
//! A row has definition, derivative in f64, accuracy, cost, WGSL and WebNN; name, operator and dtypes come from
//! [`fuse_artifact::operations`]. A new operation is a signature there and a row of `unary` or `binary`. `grad` has the
//! derivatives that programs compute.

mod binary;
pub(crate) mod functions;
mod philox;
mod slopes;
mod unary;

pub use binary::{Binary, BinaryOp, Spread};
pub use fuse_artifact::DTypes;
pub use unary::{Turns, Unary, UnaryOp};

/// In additions.
pub const TRANSCENDENTAL: u32 = 8;

/// Error bound around the exact outcome `f = f(x)`, in units of `u = 2^-23`.
///
/// It is `u·(result·|f| + growth·|x·f| + argument·|x| + pole·|x|·f²) + absolute`; an ulp is at most `u` relative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Ulps of the result.
    pub result: f64,
    /// Ulps of the result per unit of argument (exponentials).
    pub growth: f64,
    /// Ulps of the argument (cancellation, reduction by a period).
    pub argument: f64,
    /// Effect of the argument's ulp near a pole.
    pub pole: f64,
    /// Absolute error (zeros of the result).
    pub absolute: f64,
}

/// Unit in the last place of a number near 1.
pub const ULP: f64 = 1.0 / 8_388_608.0;

/// A flushed intermediate, magnified by a factor of up to 100.
const FLUSHED: f64 = 2e-36;

impl Accuracy {
    /// Exact.
    pub const EXACT: Self = Self { result: 0.0, growth: 0.0, argument: 0.0, pole: 0.0, absolute: 0.0 };

    /// Ulps of the result.
    pub const fn ulps(result: f64) -> Self {
        Self { result, ..Self::EXACT }
    }

    const fn growth(self, growth: f64) -> Self {
        Self { growth, ..self }
    }

    const fn argument(self, argument: f64) -> Self {
        Self { argument, ..self }
    }

    const fn absolute(self, absolute: f64) -> Self {
        Self { absolute, ..self }
    }
}

/// WGSL of an operation on floats.
///
/// `$x` and `$y` are the operands, `$V` their type, `$T` the float type (`f32` or `vec4<f32>`). `$U`, `$I` and `$B` are
/// the `u32`, `i32` and `bool` types of the same width, `$S` the suffix of function names (`1` or `4`).
#[derive(Clone, Copy, Debug)]
pub enum Wgsl {
    /// Expression.
    Text(&'static str),
    /// Function of the shader's library, without `fuse_`.
    Library(&'static str),
    /// Function named as the operation.
    Function(Function),
}

/// Function of shaders that call it.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Callees without `fuse_`: operations or library functions.
    pub needs: &'static [&'static str],
    /// Statements.
    pub body: &'static str,
    /// Statements of fast functions, which ignore cancellation near zero, NaN and large arguments.
    pub fast: Option<&'static str>,
}

impl Function {
    const fn new(needs: &'static [&'static str], body: &'static str) -> Self {
        Self { needs, body, fast: None }
    }

    const fn fast(self, text: &'static str) -> Self {
        Self { fast: Some(text), ..self }
    }
}

/// Integer form. `i64` values wrap to their dtype afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Integer<F> {
    /// Definition.
    pub value: F,
    /// WGSL for `i32` and `u32`; empty for unsupported dtypes.
    pub wgsl: [&'static str; 2],
}

/// WebNN counterpart.
#[derive(Clone, Copy, Debug)]
pub enum WebNn {
    /// Method of `MLGraphBuilder`.
    Method(&'static str),
    /// Several methods, or options, in `f32`: `f16` is rounded once.
    Composite(fn(&mut dyn MlBuilder, u16) -> u16),
    /// No counterpart.
    Missing,
}

/// Builder for [`WebNn::Composite`] with numbered operands.
pub trait MlBuilder {
    /// Calls a method.
    fn call(&mut self, method: &'static str, operands: &[u16]) -> u16;
    /// Calls a method with options.
    fn with_options(&mut self, method: &'static str, x: u16, options: &[(&'static str, f64)]) -> u16;
    /// Adds a number.
    fn number(&mut self, value: f64) -> u16;
}

macro_rules! table {
    ($(#[$outer:meta])* $enum:ident: $row:ty { $($(#[$doc:meta])* $variant:ident = $value:expr,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum { $($(#[$doc])* $variant,)* }

        impl $enum {
            /// All operations.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Row.
            pub fn row(self) -> &'static $row {
                static ROWS: &[$row] = &[$($value,)*];
                &ROWS[self as usize]
            }

            /// Name in the language.
            pub fn name(self) -> &'static str {
                self.row().name
            }

            /// True for supported dtypes.
            pub fn takes(self, dtype: DType) -> bool {
                self.row().takes.contains(dtype)
            }
        }
    };
}
use table;

/// Shader function of this name.
pub fn function(name: &str) -> Option<(Signature, Function)> {
    let unary = UnaryOp::ALL.iter().map(|op| op.row()).map(|row| (row.name, row.signature(), row.wgsl));
    let binary = BinaryOp::ALL.iter().map(|op| op.row()).map(|row| (row.name, row.signature(), row.wgsl));
    unary.chain(binary).find_map(|(own, signature, wgsl)| match wgsl {
        Wgsl::Function(function) if own == name => Some((signature, function)),
        _ => None,
    })
}

/// Parameters and result.
pub type Signature = &'static str;

#[cfg(test)]
mod tests {
    use fuse_artifact::DType;

    use super::*;

    #[test]
    fn functions_need_only_functions_that_exist_or_are_of_the_library() {
        for name in UnaryOp::ALL.iter().map(|op| op.name()).chain(BinaryOp::ALL.iter().map(|op| op.name())) {
            if let Some((signature, function)) = function(name) {
                assert!(signature.contains("$T") || signature.contains("$U"), "{name}");
                assert!(function.body.contains("return "), "{name}");
            }
        }
    }

    #[test]
    fn sets_of_dtypes_hold_what_they_say() {
        let held = |set: DTypes| {
            [DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool].map(|dtype| set.contains(dtype))
        };
        assert_eq!(held(DTypes::FLOATS), [true, true, false, false, false]);
        assert_eq!(held(DTypes::SIGNED), [true, true, true, false, false]);
        assert_eq!(held(DTypes::BITS), [false, false, true, true, true]);
    }

    #[test]
    fn integers_have_texts_for_the_dtypes_that_are_taken() {
        let rows = UnaryOp::ALL.iter().map(|op| op.row()).map(|row| (row.name, row.takes, row.integer.map(|i| i.wgsl)));
        let others =
            BinaryOp::ALL.iter().map(|op| op.row()).map(|row| (row.name, row.takes, row.integer.map(|i| i.wgsl)));
        for (name, takes, texts) in rows.chain(others) {
            for (i, dtype) in [DType::I32, DType::U32].into_iter().enumerate() {
                let has_text = texts.is_some_and(|texts| !texts[i].is_empty());
                assert!(
                    has_text == takes.contains(dtype) || name == "philox" || name == "from_bits",
                    "{name} of {dtype}"
                );
            }
        }
    }

    fn difference(f: impl Fn(f64) -> f64) -> f64 {
        let step = 1e-3;
        let near = f(step) - f(-step);
        (8.0 * near - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step)
    }

    #[test]
    fn slopes_are_those_of_differences_where_functions_are_smooth() {
        const POINTS: [f64; 6] = [-1.7, -0.6, 0.35, 0.8, 1.4, 2.3];
        let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-7 * expected.abs().max(1.0);
        for op in UnaryOp::ALL.iter().filter(|op| op.takes(DType::F32) && op.result(DType::F32).is_float()) {
            let Unary { value, slope, .. } = *op.row();
            let inside: Vec<f64> = POINTS.into_iter().filter(|&x| !value(x).is_nan()).collect();
            assert!(inside.len() >= 2, "{}", op.name());
            for x in inside {
                let expected = difference(|step| value(x + step));
                assert!(near(slope(x), expected), "{}({x}): {}, expected {expected}", op.name(), slope(x));
            }
        }
        for op in BinaryOp::ALL.iter().filter(|op| op.takes(DType::F32)) {
            let Binary { value, slopes, .. } = *op.row();
            for (x, y) in [(1.3, 0.7), (0.8, 2.1), (2.3, -0.9), (-2.1, 1.4)] {
                let expected = [difference(|step| value(x + step, y)), difference(|step| value(x, y + step))];
                for (found, expected) in slopes(x, y).into_iter().zip(expected).filter(|_| !value(x, y).is_nan()) {
                    // Powers of negative numbers have no derivative by the exponent.
                    let alike = near(found, expected) || found.is_nan() && expected.is_nan();
                    assert!(alike, "{}({x}, {y}): {found}, expected {expected}", op.name());
                }
            }
        }
    }
}
