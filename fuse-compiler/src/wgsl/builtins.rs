//! WGSL of pointwise operations, for scalars and vectors of four, from the table of operations.
//!
//! If WGSL's own function may overflow, lose digits near zero, or leave NaN undefined, a helper is called instead.
//! Helpers that several operations share are in `texts`.
//!
//! NaN is tested by its bits: `x != x` is false for NaN in some of naga's back ends, and drivers may assume that there
//! is none.

mod texts;

use std::borrow::Cow;

use fuse_artifact::DType;

use self::texts::{Helper, LIBRARY};
use crate::{
    graph::CompareOp,
    kernel::{Literal, Scalar, Ty, Val, print::vector_name},
    operations::{self, BinaryOp, Function, UnaryOp, Wgsl},
};

/// The WGSL type of `lanes` values in a kernel.
pub fn vector_type(dtype: DType, lanes: u32) -> String {
    vector_name(Scalar::of(dtype), lanes)
}

/// Helper functions that a shader uses, in order of declaration.
#[derive(Default)]
pub struct Helpers {
    used: Vec<(&'static str, u32)>,
}

impl Helpers {
    /// Calls a helper, named without `fuse_`, at the width of its first argument, and adds it to the shader.
    pub fn call<'k>(&mut self, name: &'static str, arguments: &[Val<'k>]) -> Val<'k> {
        let ty = arguments[0].ty();
        let lanes = ty.lanes();
        self.require(name, lanes);
        let scalar = result(name);
        arguments[0].arena().call(format!("fuse_{name}{lanes}"), arguments, Ty::vector(scalar, lanes))
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

    /// The source of all used helpers.
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
        text
    }

    /// `value`, or `x` if that is NaN.
    pub fn with_nan_of<'k>(&mut self, value: Val<'k>, x: Val<'k>) -> Val<'k> {
        self.call("is_nan", &[x]).select(x, value)
    }

    /// `op(x)`, with operands of `dtype`.
    pub fn unary<'k>(&mut self, op: UnaryOp, dtype: DType, x: Val<'k>) -> Val<'k> {
        let row = op.row();
        let ty = Ty::of(op.result(dtype), x.ty().lanes());
        match row.integer {
            Some(integer) if dtype.is_integer() => operation(integer_text(integer.wgsl, dtype), ty, dtype, &[('x', x)]),
            _ => self.written(row.name, row.wgsl, ty, dtype, &[('x', x)]),
        }
    }

    fn written<'k>(
        &mut self,
        name: &'static str,
        wgsl: Wgsl,
        ty: Ty,
        dtype: DType,
        operands: &[(char, Val<'k>)],
    ) -> Val<'k> {
        let arguments: Vec<Val<'k>> = operands.iter().map(|&(_, operand)| operand).collect();
        match wgsl {
            Wgsl::Text(text) => operation(text, ty, dtype, operands),
            Wgsl::Library(name) => self.call(name, &arguments),
            Wgsl::Function(_) => self.call(name, &arguments),
        }
    }

    /// `op(x, y)`; `nonzero` means that `y` is a literal other than 0 and -1.
    pub fn binary<'k>(&mut self, op: BinaryOp, dtype: DType, [x, y]: [Val<'k>; 2], nonzero: bool) -> Val<'k> {
        let row = op.row();
        let ty = Ty::of(dtype, x.ty().lanes());
        match row.integer {
            Some(integer) if dtype.is_integer() && !integer_text(integer.wgsl, dtype).is_empty() => {
                let divisor = if nonzero { y } else { safe_divisor(dtype, x, y) };
                operation(integer_text(integer.wgsl, dtype), ty, dtype, &[('x', x), ('y', y), ('d', divisor)])
            }
            _ => self.written(row.name, row.wgsl, ty, dtype, &[('x', x), ('y', y)]),
        }
    }

    /// `x op y`.
    pub fn compare<'k>(&mut self, op: CompareOp, dtype: DType, x: Val<'k>, y: Val<'k>) -> Val<'k> {
        match op {
            CompareOp::Eq => x.eq(y),
            CompareOp::Ne if dtype.is_float() => !x.eq(y),
            CompareOp::Ne => x.ne(y),
            CompareOp::Lt => x.lt(y),
            CompareOp::Le => x.le(y),
            CompareOp::Gt => x.gt(y),
            CompareOp::Ge => x.ge(y),
        }
    }

    /// `x op 0` of floats.
    pub fn compare_with_zero<'k>(&mut self, op: CompareOp, x: Val<'k>) -> Val<'k> {
        match op {
            CompareOp::Eq => self.call("is_zero", &[x]),
            CompareOp::Ne => !self.call("is_zero", &[x]),
            CompareOp::Lt => self.call("is_negative", &[x]),
            CompareOp::Gt => self.call("is_positive", &[x]),
            CompareOp::Le => self.call("is_zero", &[x]) | self.call("is_negative", &[x]),
            CompareOp::Ge => self.call("is_zero", &[x]) | self.call("is_positive", &[x]),
        }
    }

    /// `x as to`.
    pub fn cast<'k>(&mut self, from: DType, to: DType, x: Val<'k>) -> Val<'k> {
        let (arena, lanes) = (x.arena(), x.ty().lanes());
        let float = |value: f32| arena.f32(value).splat(lanes);
        let scalar = Scalar::of(to);
        match (from, to) {
            (DType::F32, DType::F16) => x.convert(Scalar::F16).convert(Scalar::F32),
            (from, to) if Scalar::of(from) == Scalar::of(to) => x,
            (DType::Bool, DType::F16) => {
                arena.construct(Ty::of(DType::F16, lanes), &[x]).convert(Scalar::F16).convert(Scalar::F32)
            }
            (_, DType::F16) => x.convert(Scalar::F32).convert(Scalar::F16).convert(Scalar::F32),
            (DType::F32 | DType::F16, DType::Bool) => self.compare_with_zero(CompareOp::Ne, x),
            (_, DType::Bool) => !x.eq(0),
            (DType::Bool, _) => {
                let one = arena.u32(1).convert(scalar).splat(lanes);
                x.select(one, 0)
            }
            (DType::F32 | DType::F16, DType::I32) => {
                let nan = self.call("is_nan", &[x]);
                let inside = x.call("clamp", &[float(-2_147_483_648.0), float(2_147_483_520.0)]).convert(scalar);
                let most = arena.literal(Literal::I32(i32::MAX)).splat(lanes);
                nan.select(
                    arena.literal(Literal::I32(0)).splat(lanes),
                    x.ge(float(2_147_483_648.0)).select(most, inside),
                )
            }
            (DType::F32 | DType::F16, DType::U32) => {
                let nan = self.call("is_nan", &[x]);
                let inside = x.call("clamp", &[float(0.0), float(4_294_967_040.0)]).convert(scalar);
                let most = arena.u32(u32::MAX).splat(lanes);
                nan.select(arena.u32(0).splat(lanes), x.ge(float(4_294_967_296.0)).select(most, inside))
            }
            _ => x.convert(scalar),
        }
    }
}

/// Scalar type of a helper's result, from the `-> $T` in its source.
fn result(name: &str) -> Scalar {
    let signature = match operations::function(name) {
        Some((signature, _)) => signature,
        None => {
            let text = library(name).text;
            let start = text.find(&format!("fn fuse_{name}$S(")).expect("a helper's text has its function");
            &text[start..]
        }
    };
    match signature.split_once("-> $").and_then(|(_, rest)| rest.chars().next()) {
        Some('T') => Scalar::F32,
        Some('U') => Scalar::U32,
        Some('I') => Scalar::I32,
        Some('B') => Scalar::Bool,
        other => unreachable!("`{name}` answers `{other:?}`"),
    }
}

fn operation<'k>(text: &str, ty: Ty, dtype: DType, operands: &[(char, Val<'k>)]) -> Val<'k> {
    let (arena, lanes) = (operands[0].1.arena(), operands[0].1.ty().lanes());
    let place = |place| match place {
        'V' => Some(vector_type(dtype, lanes).into()),
        _ => of_width(place, lanes),
    };
    let text = filled(text, &place);
    let used: Vec<_> = operands.iter().copied().filter(|(letter, _)| text.contains(&format!("${letter}"))).collect();
    arena.operation(text, &used, ty)
}

fn library(name: &str) -> &'static Helper {
    LIBRARY.iter().find(|helper| helper.name == name).expect("every function that is called stands in a table")
}

/// The source, with a fast body for fast math.
fn function_text(name: &str, signature: &str, function: Function) -> String {
    let fast =
        function.fast.map(|text| format!("  if fuse_fast_math {{\n{}  }}\n", indented(text, 4))).unwrap_or_default();
    format!("fn fuse_{name}$S{signature} {{\n{fast}{}}}", indented(function.body, 2))
}

fn indented(text: &str, width: usize) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let common = lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines().fold(String::new(), |all, line| all + &" ".repeat(width) + &line[common..] + "\n")
}

fn typed(text: &str, lanes: u32) -> String {
    filled(text, &|place| of_width(place, lanes))
}

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

/// `y`, with 1 for divisors that WGSL leaves to the implementation, which gives its defined results: `x / 0 = x` and
/// `i32::MIN / -1 = i32::MIN`.
fn safe_divisor<'k>(dtype: DType, x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let (arena, lanes) = (x.arena(), x.ty().lanes());
    let literal = |value: i32| match dtype {
        DType::I32 => arena.literal(Literal::I32(value)).splat(lanes),
        _ => arena.u32(value.unsigned_abs()).splat(lanes),
    };
    let zero = y.eq(literal(0));
    let bad = if dtype == DType::I32 { zero | (x.eq(literal(i32::MIN)) & y.eq(literal(-1))) } else { zero };
    bad.select(literal(1), y)
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
