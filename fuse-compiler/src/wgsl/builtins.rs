//! WGSL of pointwise operations, for scalars and for vectors of four, from the table of operations.
//!
//! Where WGSL's own function may overflow, lose digits near zero, or leave NaN undefined, a function is called instead. Those
//! that no operation has to itself are in `texts`.
//!
//! NaN is tested by its bits: `x != x` is false for NaN in some of naga's back ends, and drivers may
//! assume that there are none.

mod texts;

use std::borrow::Cow;

use fuse_artifact::{DType, EXACT_MATH};

use self::texts::{Helper, LIBRARY};
use crate::{
    graph::CompareOp,
    operations::{self, BinaryOp, Function, UnaryOp, Wgsl},
};

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
    /// A call of a function, by its name without `fuse_`, which will be part of the shader.
    pub fn call(&mut self, name: &'static str, lanes: u32, arguments: &str) -> String {
        self.require(name, lanes);
        format!("fuse_{name}{lanes}({arguments})")
    }

    fn require(&mut self, name: &'static str, lanes: u32) {
        if self.used.contains(&(name, lanes)) {
            return;
        }
        let needs = match operations::function(name) {
            Some((_, function)) => function.needs,
            None => library(name).needs,
        };
        for needed in needs {
            self.require(needed, lanes);
        }
        self.used.push((name, lanes));
    }

    /// The texts of all used functions, exact until the runtime says otherwise ([`EXACT_MATH`]).
    pub fn text(&self) -> String {
        let mut text = String::new();
        for &(name, lanes) in &self.used {
            let whole = match operations::function(name) {
                Some((signature, function)) => function_text(name, signature, function),
                None => library(name).text.trim_start().to_owned(),
            };
            text += &typed(&whole, lanes);
            text.push('\n');
        }
        if text.contains("fuse_fast_math") { format!("{EXACT_MATH}\n{text}") } else { text }
    }

    /// `x` is NaN.
    fn is_nan(&mut self, lanes: u32, x: &str) -> String {
        self.call("is_nan", lanes, x)
    }

    /// `text`, or `x` where that is NaN.
    pub fn with_nan_of(&mut self, lanes: u32, text: &str, x: &str) -> String {
        format!("select({text}, {x}, {})", self.is_nan(lanes, x))
    }

    /// `op(x)`, with operands of `dtype`.
    pub fn unary(&mut self, op: UnaryOp, dtype: DType, lanes: u32, x: &str) -> String {
        let row = op.row();
        match row.integer {
            Some(integer) if dtype.is_integer() => written(integer_text(integer.wgsl, dtype), dtype, lanes, x, "", ""),
            _ => self.written(row.name, row.wgsl, dtype, lanes, x, ""),
        }
    }

    /// A text or a call of floats or truth values.
    fn written(&mut self, name: &'static str, wgsl: Wgsl, dtype: DType, lanes: u32, x: &str, y: &str) -> String {
        let arguments = if y.is_empty() { x.to_owned() } else { format!("{x}, {y}") };
        match wgsl {
            Wgsl::Text(text) => written(text, dtype, lanes, x, y, y),
            Wgsl::Library(name) => self.call(name, lanes, &arguments),
            Wgsl::Function(_) => self.call(name, lanes, &arguments),
        }
    }

    /// `op(x, y)`; `nonzero` says that `y` is a literal other than 0 and -1.
    pub fn binary(&mut self, op: BinaryOp, dtype: DType, lanes: u32, x: &str, y: &str, nonzero: bool) -> String {
        let row = op.row();
        match row.integer {
            Some(integer) if dtype.is_integer() && !integer_text(integer.wgsl, dtype).is_empty() => {
                let divisor = if nonzero { y.to_owned() } else { safe_divisor(dtype, lanes, x, y) };
                written(integer_text(integer.wgsl, dtype), dtype, lanes, x, y, &divisor)
            }
            _ => self.written(row.name, row.wgsl, dtype, lanes, x, y),
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

    /// `x op 0` of floats.
    pub fn compare_with_zero(&mut self, op: CompareOp, lanes: u32, x: &str) -> String {
        match op {
            CompareOp::Eq => self.call("is_zero", lanes, x),
            CompareOp::Ne => format!("!{}", self.call("is_zero", lanes, x)),
            CompareOp::Lt => self.call("is_negative", lanes, x),
            CompareOp::Gt => self.call("is_positive", lanes, x),
            CompareOp::Le => format!("({} | {})", self.call("is_zero", lanes, x), self.call("is_negative", lanes, x)),
            CompareOp::Ge => format!("({} | {})", self.call("is_zero", lanes, x), self.call("is_positive", lanes, x)),
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
            (DType::F32 | DType::F16, DType::Bool) => self.compare_with_zero(CompareOp::Ne, lanes, x),
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

/// The function of the library that has this name.
fn library(name: &str) -> &'static Helper {
    LIBRARY.iter().find(|helper| helper.name == name).expect("every function that is called stands in a table")
}

/// A function of an operation, with what it does where a program asks for fast functions.
fn function_text(name: &str, signature: &str, function: Function) -> String {
    let fast =
        function.fast.map(|text| format!("  if fuse_fast_math {{\n{}  }}\n", indented(text, 4))).unwrap_or_default();
    format!("fn fuse_{name}$S{signature} {{\n{fast}{}}}", indented(function.body, 2))
}

/// CodeBuffer that are indented by `width` in place of what they have in common.
fn indented(text: &str, width: usize) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let common = lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines().fold(String::new(), |all, line| all + &" ".repeat(width) + &line[common..] + "\n")
}

/// A text with the types of its width.
fn typed(text: &str, lanes: u32) -> String {
    filled(text, &|place| of_width(place, lanes))
}

/// The text of an operation with its operands.
fn written(text: &str, dtype: DType, lanes: u32, x: &str, y: &str, divisor: &str) -> String {
    let place = |place| match place {
        'V' => Some(vector_type(dtype, lanes).into()),
        'd' => Some(divisor.into()),
        'y' => Some(y.into()),
        'x' => Some(x.into()),
        _ => of_width(place, lanes),
    };
    filled(text, &place)
}

/// What stands for `$T`, `$U`, `$I`, `$B` and `$S` in texts of this width.
fn of_width(place: char, lanes: u32) -> Option<Cow<'static, str>> {
    match place {
        'T' => Some(vector_type(DType::F32, lanes).into()),
        'U' => Some(vector_type(DType::U32, lanes).into()),
        'I' => Some(vector_type(DType::I32, lanes).into()),
        'B' => Some(vector_type(DType::Bool, lanes).into()),
        'S' => Some(lanes.to_string().into()),
        _ => None,
    }
}

/// A text with something in place of each `$` and the letter after it.
fn filled<'t>(text: &str, place: &dyn Fn(char) -> Option<Cow<'t, str>>) -> String {
    let mut parts = text.split('$');
    let mut filled = String::with_capacity(text.len());
    filled += parts.next().unwrap_or_default();
    for part in parts {
        let mut rest = part.chars();
        match rest.next().and_then(place) {
            Some(value) => {
                filled += &value;
                filled += rest.as_str();
            }
            None => {
                filled.push('$');
                filled += part;
            }
        }
    }
    filled
}

fn integer_text(texts: [&'static str; 2], dtype: DType) -> &'static str {
    texts[usize::from(dtype == DType::U32)]
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
    fn functions_call_only_functions_of_the_tables() {
        let names = UnaryOp::ALL.iter().map(|op| op.name()).chain(BinaryOp::ALL.iter().map(|op| op.name()));
        let of_operations = names.filter_map(operations::function).flat_map(|(_, function)| function.needs);
        for needed in of_operations.chain(LIBRARY.iter().flat_map(|helper| helper.needs)) {
            let known = operations::function(needed).is_some() || LIBRARY.iter().any(|other| other.name == *needed);
            assert!(known, "nothing is called {needed}");
        }
    }
}
