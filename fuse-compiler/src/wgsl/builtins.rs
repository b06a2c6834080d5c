//! WGSL for each pointwise operation, for scalars and for vectors of four.
//!
//! Where WGSL's own function may overflow, lose digits near zero, or leave NaN undefined, a helper function
//! is called instead; `texts` holds them.
//!
//! NaN is tested by its bits: `x != x` is false for NaN in some of naga's back ends, and drivers may
//! assume that there are none.

mod texts;

use fuse_artifact::{DType, EXACT_MATH};

use self::texts::{FAST, HELPERS};
use crate::graph::{BinaryOp, CompareOp, UnaryOp};

/// The WGSL type that a value of `dtype` has inside a kernel.
pub fn scalar_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 | DType::F16 => "f32",
        DType::I32 => "i32",
        DType::U32 => "u32",
        DType::Bool => "bool",
    }
}

/// The WGSL type of `lanes` values.
pub fn vector_type(dtype: DType, lanes: u32) -> String {
    let scalar = scalar_type(dtype);
    if lanes == 1 { scalar.to_owned() } else { format!("vec{lanes}<{scalar}>") }
}

/// Helper functions that a shader uses, in the order in which they must be written.
#[derive(Default)]
pub struct Helpers {
    used: Vec<(&'static str, u32)>,
}

impl Helpers {
    /// A call of the helper `name`, which will be part of the shader.
    pub fn call(&mut self, name: &'static str, lanes: u32, arguments: &str) -> String {
        self.require(name, lanes);
        format!("{name}{lanes}({arguments})")
    }

    fn require(&mut self, name: &'static str, lanes: u32) {
        if self.used.contains(&(name, lanes)) {
            return;
        }
        for needed in HELPERS.iter().filter(|helper| helper.name == name).flat_map(|helper| helper.needs) {
            self.require(needed, lanes);
        }
        self.used.push((name, lanes));
    }

    /// The texts of all used helpers, exact until the runtime says otherwise ([`EXACT_MATH`]).
    pub fn text(&self) -> String {
        let mut text = String::new();
        for &(name, lanes) in &self.used {
            let helper = HELPERS.iter().find(|helper| helper.name == name);
            let helper = helper.expect("every helper that is called stands in the table");
            let body = match FAST.iter().find(|(fast, _)| *fast == name) {
                Some((_, steps)) => {
                    helper.text.replacen(" {\n", &format!(" {{\n  if fuse_fast_math {{\n    {steps}\n  }}\n"), 1)
                }
                None => helper.text.to_owned(),
            };
            let body = body
                .replace("$T", &vector_type(DType::F32, lanes))
                .replace("$U", &vector_type(DType::U32, lanes))
                .replace("$I", &vector_type(DType::I32, lanes))
                .replace("$B", &vector_type(DType::Bool, lanes))
                .replace("$S", &lanes.to_string());
            text += body.trim_start();
            text.push('\n');
        }
        if text.contains("fuse_fast_math") { format!("{EXACT_MATH}\n{text}") } else { text }
    }

    /// `x` is NaN.
    fn is_nan(&mut self, lanes: u32, x: &str) -> String {
        self.call("fuse_is_nan", lanes, x)
    }

    /// `text`, or `x` where that is NaN.
    pub fn with_nan_of(&mut self, lanes: u32, text: &str, x: &str) -> String {
        format!("select({text}, {x}, {})", self.is_nan(lanes, x))
    }

    /// `op(x)`.
    pub fn unary(&mut self, op: UnaryOp, dtype: DType, lanes: u32, x: &str) -> String {
        if !dtype.is_float() {
            return integer_unary(op, dtype, lanes, x);
        }
        let t = vector_type(DType::F32, lanes);
        match op {
            UnaryOp::Neg => format!("-{x}"),
            UnaryOp::Not => format!("!{x}"),
            UnaryOp::Abs
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Round
            | UnaryOp::Sqrt
            | UnaryOp::Exp
            | UnaryOp::Exp2 => format!("{}({x})", op.name()),
            UnaryOp::Log => self.call("fuse_log", lanes, x),
            UnaryOp::Log2 => self.call("fuse_log2", lanes, x),
            UnaryOp::Rsqrt => format!("inverseSqrt({x})"),
            UnaryOp::Recip => format!("{t}(1.0) / {x}"),
            UnaryOp::Relu => self.call("fuse_relu", lanes, x),
            UnaryOp::Sign => self.call("fuse_sign", lanes, x),
            UnaryOp::Log1p => self.call("fuse_log1p", lanes, x),
            UnaryOp::Expm1 => self.call("fuse_expm1", lanes, x),
            UnaryOp::Sin => self.call("fuse_sin", lanes, x),
            UnaryOp::Cos => self.call("fuse_cos", lanes, x),
            UnaryOp::Tan => self.call("fuse_tan", lanes, x),
            UnaryOp::Tanh => self.call("fuse_tanh", lanes, x),
            UnaryOp::Atan => self.call("fuse_atan", lanes, x),
            UnaryOp::Erf => self.call("fuse_erf", lanes, x),
            UnaryOp::Selu => self.call("fuse_selu", lanes, x),
            UnaryOp::Gelu => self.call("fuse_gelu", lanes, x),
            UnaryOp::GeluTanh => self.call("fuse_gelu_tanh", lanes, x),
            UnaryOp::Silu => self.call("fuse_silu", lanes, x),
            UnaryOp::Sigmoid => self.call("fuse_sigmoid", lanes, x),
            UnaryOp::HardSigmoid => self.call("fuse_hard_sigmoid", lanes, x),
            UnaryOp::HardSwish => self.call("fuse_hard_swish", lanes, x),
            UnaryOp::Softplus => self.call("fuse_softplus", lanes, x),
            UnaryOp::Mish => self.call("fuse_mish", lanes, x),
        }
    }

    /// `op(x, x)` of floats, where drivers take `x - x` and `x % x` for 0 and `x / x` for 1, whatever `x` is.
    pub fn with_itself(&mut self, op: BinaryOp, lanes: u32, x: &str) -> Option<String> {
        match op {
            BinaryOp::Sub => Some(self.call("fuse_less_itself", lanes, x)),
            BinaryOp::Div => Some(self.call("fuse_by_itself", lanes, x)),
            BinaryOp::Rem => Some(self.call("fuse_rem_itself", lanes, x)),
            _ => None,
        }
    }

    /// `op(x, y)`; `nonzero` says that `y` is a literal other than 0 and -1.
    pub fn binary(&mut self, op: BinaryOp, dtype: DType, lanes: u32, x: &str, y: &str, nonzero: bool) -> String {
        match op {
            BinaryOp::Add => format!("{x} + {y}"),
            BinaryOp::Sub => format!("{x} - {y}"),
            BinaryOp::Mul => format!("{x} * {y}"),
            BinaryOp::Div if dtype.is_float() || nonzero => format!("{x} / {y}"),
            BinaryOp::Rem if !dtype.is_float() && nonzero => format!("{x} % {y}"),
            BinaryOp::Div => format!("{x} / {}", safe_divisor(dtype, lanes, x, y)),
            BinaryOp::Rem if dtype.is_float() => self.call("fuse_rem", lanes, &format!("{x}, {y}")),
            BinaryOp::Rem => format!("{x} % {}", safe_divisor(dtype, lanes, x, y)),
            BinaryOp::Pow => self.call("fuse_pow", lanes, &format!("{x}, {y}")),
            BinaryOp::Min if dtype.is_float() => self.call("fuse_min", lanes, &format!("{x}, {y}")),
            BinaryOp::Max if dtype.is_float() => self.call("fuse_max", lanes, &format!("{x}, {y}")),
            BinaryOp::Min => format!("min({x}, {y})"),
            BinaryOp::Max => format!("max({x}, {y})"),
            BinaryOp::And => format!("{x} & {y}"),
            BinaryOp::Or => format!("{x} | {y}"),
            BinaryOp::Philox => self.call("fuse_philox", lanes, &format!("{x}, {y}")),
        }
    }

    /// `x op y`.
    pub fn compare(&mut self, op: CompareOp, dtype: DType, x: &str, y: &str) -> String {
        match op {
            CompareOp::Eq => format!("{x} == {y}"),
            CompareOp::Ne if dtype.is_float() => format!("!({x} == {y})"),
            CompareOp::Ne => format!("{x} != {y}"),
            CompareOp::Lt => format!("{x} < {y}"),
            CompareOp::Le => format!("{x} <= {y}"),
            CompareOp::Gt => format!("{x} > {y}"),
            CompareOp::Ge => format!("{x} >= {y}"),
        }
    }

    /// `x as to`.
    pub fn cast(&mut self, from: DType, to: DType, lanes: u32, x: &str) -> String {
        let t = vector_type(to, lanes);
        let half = if lanes == 1 { "f16".to_owned() } else { format!("vec{lanes}<f16>") };
        match (from, to) {
            (DType::F32, DType::F16) => format!("{t}({half}({x}))"),
            (from, to) if scalar_type(from) == scalar_type(to) => x.to_owned(),
            (_, DType::F16) => format!("{t}({half}({t}({x})))"),
            (from, DType::Bool) => format!("!({x} == {}(0))", vector_type(from, lanes)),
            (DType::Bool, _) => format!("select({t}(0), {t}(1), {x})"),
            (DType::F32 | DType::F16, DType::I32) => {
                let nan = self.is_nan(lanes, x);
                let f = vector_type(DType::F32, lanes);
                let inside = format!("{t}(clamp({x}, {f}(-2147483648.0), {f}(2147483520.0)))");
                let capped = format!("select({inside}, {t}(2147483647), {x} >= {f}(2147483648.0))");
                format!("select({capped}, {t}(0), {nan})")
            }
            (DType::F32 | DType::F16, DType::U32) => {
                let nan = self.is_nan(lanes, x);
                let f = vector_type(DType::F32, lanes);
                let inside = format!("{t}(clamp({x}, {f}(0.0), {f}(4294967040.0)))");
                let capped = format!("select({inside}, {t}(4294967295u), {x} >= {f}(4294967296.0))");
                format!("select({capped}, {t}(0), {nan})")
            }
            _ => format!("{t}({x})"),
        }
    }
}

fn integer_unary(op: UnaryOp, dtype: DType, lanes: u32, x: &str) -> String {
    let t = vector_type(dtype, lanes);
    match (op, dtype) {
        (UnaryOp::Not, _) => format!("!{x}"),
        (UnaryOp::Neg, DType::U32) => format!("{t}(0) - {x}"),
        (UnaryOp::Neg, _) => format!("-{x}"),
        (UnaryOp::Sign, DType::U32) => format!("min({x}, {t}(1))"),
        (UnaryOp::Sign, _) => format!("clamp({x}, {t}(-1), {t}(1))"),
        (UnaryOp::Relu, _) => format!("max({x}, {t}(0))"),
        (op, _) => format!("{}({x})", op.name()),
    }
}

/// `y` with the divisors that WGSL leaves to the implementation replaced by 1, which gives what it defines:
/// `x / 0 = x` and `i32::MIN / -1 = i32::MIN`.
fn safe_divisor(dtype: DType, lanes: u32, x: &str, y: &str) -> String {
    let t = vector_type(dtype, lanes);
    let zero = format!("{y} == {t}(0)");
    let bad =
        if dtype == DType::I32 { format!("({zero}) | (({x} == {t}(-2147483648)) & ({y} == {t}(-1)))") } else { zero };
    format!("select({y}, {t}(1), {bad})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_name_only_helpers_of_the_table() {
        for helper in HELPERS {
            for needed in helper.needs {
                assert!(HELPERS.iter().any(|other| other.name == *needed), "{} needs {needed}", helper.name);
            }
        }
    }
}
