//! Bodies as WGSL statements.

use fuse_artifact::{DType, Size};

use super::{
    builtins::{scalar_type, vector_type},
    loads::Gather,
    quantized::Quantized,
    shader::{CodeBuffer, Shader},
};
use crate::{
    fusion::body::{Body, ValueId, ValueOp},
    graph::{CompareOp, Literal},
    operations::{BinaryOp, UnaryOp},
};

/// What a body's values at one place of a kernel are made of. Each answer is a WGSL expression.
pub(super) trait ElementContext {
    /// The value read through an access, of the body's width.
    fn load(&self, shader: &mut Shader<'_>, access: u16) -> String;
    /// An access that is read at computed coordinates, at this place.
    fn gather(&self, shader: &mut Shader<'_>, access: u16) -> Gather<'_>;
    /// The coordinate along an axis of the space as `u32`, of the body's width.
    fn coordinate(&self, axis: u8) -> String;
    /// The contraction's sum of the product with this number.
    fn sum(&self, product: u8) -> String;
    /// The result of the reduction that is this value of the body, of the body's width.
    fn reduced(&self, value: ValueId) -> String {
        unreachable!("value {value} is a reduction, which only kernels that take rows together have")
    }
}

/// Writes statements that compute `body` with `lanes` values at a time; returns the value's expressions.
/// Names start with `prefix`, so that several bodies can share a scope.
pub(super) fn emit(
    shader: &mut Shader<'_>,
    lines: &mut CodeBuffer,
    body: &Body,
    lanes: u32,
    prefix: &str,
    place: &dyn ElementContext,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(body.values.len());
    for (i, value) in body.values.iter().enumerate() {
        if let ValueOp::Literal(literal) = value.op {
            names.push(self::literal(literal, value.dtype, lanes));
            continue;
        }
        let expression = operation(shader, body, i, lanes, &|x| names[x].clone(), place);
        let name = format!("{prefix}{i}");
        lines.line(format!("let {name} = {expression};"));
        names.push(name);
    }
    names
}

/// The expression of one value, whose operands are named by `operand`.
pub(super) fn operation(
    shader: &mut Shader<'_>,
    body: &Body,
    index: ValueId,
    lanes: u32,
    operand: &dyn Fn(ValueId) -> String,
    place: &dyn ElementContext,
) -> String {
    let value = &body.values[index];
    let dtype = value.dtype;
    let operand_dtype = |x: ValueId| body.values[x].dtype;
    match &value.op {
        ValueOp::Load(access) => place.load(shader, *access),
        ValueOp::Gather { access, at } => {
            let at: Vec<(u8, String)> = at.iter().map(|&(axis, x)| (axis, operand(x))).collect();
            place.gather(shader, *access).read(shader, &at, lanes)
        }
        ValueOp::Dequantize(value) => {
            let at: Vec<(u8, String)> = value.at.iter().map(|&(axis, x)| (axis, operand(x))).collect();
            let (words, scales) = (place.gather(shader, value.words), place.gather(shader, value.scales));
            Quantized { value, words, scales }.read(shader, &operand(value.index), &at, lanes)
        }
        ValueOp::Accumulator(product) => place.sum(*product),
        ValueOp::Reduce(..) => place.reduced(index),
        ValueOp::Size(size) => {
            let size = shader.size(size);
            let number = format!("{}({size})", scalar_type(dtype));
            if lanes == 1 { number } else { format!("{}({number})", vector_type(dtype, lanes)) }
        }
        ValueOp::Coordinate { axis, start } => coordinate(shader, *axis, start, lanes, place),
        ValueOp::Scalar(param) => {
            let scalar = shader.scalar(*param, dtype);
            format!("{}({scalar})", vector_type(dtype, lanes))
        }
        ValueOp::Literal(literal) => self::literal(*literal, dtype, lanes),
        ValueOp::Unary(op, x) => shader.helpers.unary(*op, operand_dtype(*x), lanes, &operand(*x)),
        ValueOp::Binary(op, x, y) => {
            if dtype.is_float()
                && let Some(text) = guarded(shader, body, *op, [*x, *y], lanes, operand)
            {
                return text;
            }
            let divisor = &body.values[*y].op;
            let nonzero = matches!(divisor, ValueOp::Literal(Literal::Integer(y)) if *y != 0 && *y != -1);
            shader.helpers.binary(*op, dtype, lanes, &operand(*x), &operand(*y), nonzero)
        }
        ValueOp::Compare(op, x, y) => match (zero(body, *x), zero(body, *y)) {
            (_, Some(_)) => shader.helpers.compare_with_zero(*op, lanes, &operand(*x)),
            (Some(_), None) => shader.helpers.compare_with_zero(op.mirrored(), lanes, &operand(*y)),
            (None, None) => shader.helpers.compare(*op, operand_dtype(*x), &operand(*x), &operand(*y)),
        },
        ValueOp::Select(c, x, y) => {
            let text = format!("select({}, {}, {})", operand(*y), operand(*x), operand(*c));
            match smaller_or_larger(body, *c, *x, *y) {
                Some(unordered) => shader.helpers.with_nan_of(lanes, &text, &operand(unordered)),
                None => text,
            }
        }
        ValueOp::Cast(x) => shader.helpers.cast(operand_dtype(*x), dtype, lanes, &operand(*x)),
    }
}

/// An operation of floats that drivers take for a number whatever its operands are: with itself, with a literal 0, of roots. It is
/// written with tests of bits, which they do not simplify.
fn guarded(
    shader: &mut Shader<'_>,
    body: &Body,
    op: BinaryOp,
    [x, y]: [ValueId; 2],
    lanes: u32,
    operand: &dyn Fn(ValueId) -> String,
) -> Option<String> {
    let is_negated = |x: ValueId, y: ValueId| matches!(body.values[x].op, ValueOp::Unary(UnaryOp::Neg, of) if of == y);
    let is_root = matches!(body.values[x].op, ValueOp::Unary(UnaryOp::Sqrt, _));
    let (name, of, sign) = match (op, zero(body, x), zero(body, y)) {
        // A division by a constant 0 is undefined in SPIR-V, and drivers leave the result out; by a computed 0 it is IEEE's.
        (BinaryOp::Div, _, Some(zero)) => {
            let infinity = literal(Literal::Float(f64::INFINITY.copysign(zero)), DType::F32, lanes);
            return Some(format!("{} * {infinity}", operand(x)));
        }
        (BinaryOp::Div, Some(zero), None) => ("zero_by", y, zero),
        (BinaryOp::Mul, _, Some(zero)) => ("times_zero", x, zero),
        (BinaryOp::Mul, Some(zero), None) => ("times_zero", y, zero),
        (BinaryOp::Sub, ..) if x == y => ("less_itself", x, 0.0),
        (BinaryOp::Add, ..) if is_negated(x, y) || is_negated(y, x) => ("less_itself", x, 0.0),
        (BinaryOp::Div, ..) if x == y => ("by_itself", x, 0.0),
        (BinaryOp::Rem, ..) if x == y => ("rem_itself", x, 0.0),
        (BinaryOp::Mul, ..) if x == y && is_root => ("squared_root", x, 0.0),
        _ => return None,
    };
    let text = shader.helpers.call(name, lanes, &operand(of));
    Some(if sign.is_sign_negative() { format!("-{text}") } else { text })
}

/// What `select(condition, x, y)` answers if one of the two is NaN, where the condition compares just these floats: a minimum or
/// maximum, in which drivers drop a NaN. None where that answer cannot be NaN.
fn smaller_or_larger(body: &Body, condition: ValueId, x: ValueId, y: ValueId) -> Option<ValueId> {
    let (comparison, unordered) = match body.values[condition].op {
        ValueOp::Unary(UnaryOp::Not, comparison) => (comparison, x),
        _ => (condition, y),
    };
    let ValueOp::Compare(CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge, a, b) =
        body.values[comparison].op
    else {
        return None;
    };
    let known = matches!(body.values[unordered].op, ValueOp::Literal(Literal::Float(value)) if !value.is_nan());
    ((a, b) == (x, y) || (a, b) == (y, x)).then_some(unordered).filter(|_| body.values[x].dtype.is_float() && !known)
}

/// The float 0 or -0 that a value is in the text, if it is one.
fn zero(body: &Body, value: usize) -> Option<f64> {
    match body.values[value].op {
        ValueOp::Literal(Literal::Float(x)) if x == 0.0 => Some(x),
        ValueOp::Unary(UnaryOp::Neg, x) => zero(body, x).map(|zero| -zero),
        _ => None,
    }
}

fn coordinate(
    shader: &mut Shader<'_>,
    axis: Option<u8>,
    start: &Size,
    lanes: u32,
    place: &dyn ElementContext,
) -> String {
    let t = vector_type(DType::I32, lanes);
    let start = (start.as_constant() != Some(0)).then(|| shader.size(start));
    match (axis, start) {
        (Some(axis), None) => format!("{t}({})", place.coordinate(axis)),
        (Some(axis), Some(start)) => format!("{t}({}) + {t}(i32({start}))", place.coordinate(axis)),
        (None, start) => format!("{t}(i32({}))", start.as_deref().unwrap_or("0u")),
    }
}

/// A literal of the given width.
pub(super) fn literal(literal: Literal, dtype: DType, lanes: u32) -> String {
    let t = vector_type(dtype, lanes);
    match literal {
        Literal::Bool(x) => format!("{t}({x})"),
        Literal::Integer(x) if dtype == DType::U32 => format!("{t}({x}u)"),
        Literal::Integer(x) => format!("{t}({x})"),
        Literal::Float(x) => {
            let x = if dtype == DType::F16 { half::f16::from_f64(x).to_f32() } else { x as f32 };
            if x.is_nan() {
                format!("{t}(bitcast<f32>(fuse_nan_bits))")
            } else if x.is_infinite() {
                format!("{t}({}bitcast<f32>(fuse_inf_bits))", if x < 0.0 { "-" } else { "" })
            } else if x.abs() == f32::MAX {
                // With few digits it looks larger than it is, and browsers refuse it.
                format!("{t}({:?}f)", f64::from(x))
            } else {
                format!("{t}({x:?}f)")
            }
        }
    }
}
