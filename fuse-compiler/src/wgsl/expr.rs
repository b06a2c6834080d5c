//! Emits bodies as statements.

use fuse_artifact::{DType, Size};

use super::{loads::Gather, quantized::Quantized, shader::Shader};
use crate::{
    fusion::body::{Body, ValueId, ValueOp},
    graph::{CompareOp, Literal},
    kernel::{self, Arena, Block, Scalar, Ty, Val},
    operations::{BinaryOp, UnaryOp},
};

/// Operands of a body for one element of a kernel.
pub(super) trait ElementContext<'k> {
    fn load(&self, shader: &mut Shader<'k>, access: u16) -> Val<'k>;
    fn gather(&self, shader: &mut Shader<'k>, access: u16) -> Gather<'_, 'k>;
    /// The `u32` coordinate along an axis of the space, of the body's width.
    fn coordinate(&self, shader: &mut Shader<'k>, axis: u8) -> Val<'k>;
    fn accumulator(&self, product: u8) -> Val<'k>;
    fn reduced(&self, value: ValueId) -> Val<'k> {
        unreachable!("value {value} is a reduction, which only kernels that reduce rows have")
    }
}

/// Binds and returns the values of `body`, `lanes` at a time. Names start with `prefix`, so that bodies can share a
/// scope.
pub(super) fn emit<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    body: &Body,
    lanes: u32,
    prefix: &str,
    context: &dyn ElementContext<'k>,
) -> Vec<Val<'k>> {
    let mut values: Vec<Val<'k>> = Vec::with_capacity(body.values.len());
    for (i, value) in body.values.iter().enumerate() {
        let computed = match value.op {
            ValueOp::Literal(literal) => self::literal(shader.arena(), literal, value.dtype, lanes),
            _ => {
                let computed = operation(shader, body, i, lanes, &|x| values[x], context);
                b.bind(format!("{prefix}{i}"), computed)
            }
        };
        values.push(computed);
    }
    values
}

pub(super) fn operation<'k>(
    shader: &mut Shader<'k>,
    body: &Body,
    index: ValueId,
    lanes: u32,
    operand: &dyn Fn(ValueId) -> Val<'k>,
    context: &dyn ElementContext<'k>,
) -> Val<'k> {
    let value = &body.values[index];
    let dtype = value.dtype;
    let operand_dtype = |x: ValueId| body.values[x].dtype;
    let at = |at: &[(u8, ValueId)]| -> Vec<(u8, Val<'k>)> { at.iter().map(|&(axis, x)| (axis, operand(x))).collect() };
    match &value.op {
        ValueOp::Load(access) => context.load(shader, *access),
        ValueOp::Gather { access, at: places } => context.gather(shader, *access).read(shader, &at(places), lanes),
        ValueOp::Dequantize(value) => {
            let (words, scales) = (context.gather(shader, value.words), context.gather(shader, value.scales));
            Quantized { value, words, scales }.read(shader, operand(value.index), &at(&value.at), lanes)
        }
        ValueOp::Accumulator(product) => context.accumulator(*product),
        ValueOp::Reduce(..) => context.reduced(index),
        ValueOp::Size(size) => {
            let number = shader.size(size);
            number.arena().construct(Ty::of(dtype, 1), &[number]).splat(lanes)
        }
        ValueOp::Coordinate { axis, start } => coordinate(shader, *axis, start, lanes, context),
        ValueOp::Scalar(param) => shader.scalar(*param, dtype).splat(lanes),
        ValueOp::Literal(literal) => self::literal(shader.arena(), *literal, dtype, lanes),
        ValueOp::Unary(op, x) => shader.helpers.unary(*op, operand_dtype(*x), operand(*x)),
        ValueOp::Binary(op, x, y) => {
            if dtype.is_float()
                && let Some(guarded) = guarded(shader, body, *op, [*x, *y], lanes, operand)
            {
                return guarded;
            }
            let divisor = &body.values[*y].op;
            let nonzero = matches!(divisor, ValueOp::Literal(Literal::Integer(y)) if *y != 0 && *y != -1);
            shader.helpers.binary(*op, dtype, [operand(*x), operand(*y)], nonzero)
        }
        ValueOp::Compare(op, x, y) => match (zero(body, *x), zero(body, *y)) {
            (_, Some(_)) => shader.helpers.compare_with_zero(*op, operand(*x)),
            (Some(_), None) => shader.helpers.compare_with_zero(op.mirrored(), operand(*y)),
            (None, None) => shader.helpers.compare(*op, operand_dtype(*x), operand(*x), operand(*y)),
        },
        ValueOp::Select(c, x, y) => {
            let chosen = operand(*c).select(operand(*x), operand(*y));
            match smaller_or_larger(body, *c, *x, *y) {
                Some(unordered) => shader.helpers.with_nan_of(chosen, operand(unordered)),
                None => chosen,
            }
        }
        ValueOp::Cast(x) => shader.helpers.cast(operand_dtype(*x), dtype, operand(*x)),
    }
}

/// A float operation whose NaN drivers optimize away (equal operands, a literal 0, roots), as tests of bits, which they
/// keep.
fn guarded<'k>(
    shader: &mut Shader<'k>,
    body: &Body,
    op: BinaryOp,
    [x, y]: [ValueId; 2],
    lanes: u32,
    operand: &dyn Fn(ValueId) -> Val<'k>,
) -> Option<Val<'k>> {
    let is_negated = |x: ValueId, y: ValueId| matches!(body.values[x].op, ValueOp::Unary(UnaryOp::Neg, of) if of == y);
    let is_root = matches!(body.values[x].op, ValueOp::Unary(UnaryOp::Sqrt, _));
    let (name, of, sign) = match (op, zero(body, x), zero(body, y)) {
        // SPIR-V leaves division by a constant 0 undefined, and drivers drop the result; a computed 0 follows IEEE.
        (BinaryOp::Div, _, Some(zero)) => {
            let infinity = literal(shader.arena(), Literal::Float(f64::INFINITY.copysign(zero)), DType::F32, lanes);
            return Some(operand(x) * infinity);
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
    let value = shader.helpers.call(name, &[operand(of)]);
    Some(if sign.is_sign_negative() { -value } else { value })
}

/// The value of `select(condition, x, y)` for a NaN operand, if the condition compares these floats: drivers drop the
/// NaN of such a minimum or maximum. `None` if the result cannot be NaN.
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

/// The value of a literal 0 or -0, possibly negated.
fn zero(body: &Body, value: usize) -> Option<f64> {
    match body.values[value].op {
        ValueOp::Literal(Literal::Float(x)) if x == 0.0 => Some(x),
        ValueOp::Unary(UnaryOp::Neg, x) => zero(body, x).map(|zero| -zero),
        _ => None,
    }
}

fn coordinate<'k>(
    shader: &mut Shader<'k>,
    axis: Option<u8>,
    start: &Size,
    lanes: u32,
    context: &dyn ElementContext<'k>,
) -> Val<'k> {
    let start = (start.as_constant() != Some(0)).then(|| shader.size(start).convert(Scalar::I32).splat(lanes));
    match (axis.map(|axis| context.coordinate(shader, axis).convert(Scalar::I32)), start) {
        (Some(coordinate), None) => coordinate,
        (Some(coordinate), Some(start)) => coordinate + start,
        (None, Some(start)) => start,
        (None, None) => shader.arena().literal(kernel::Literal::I32(0)).splat(lanes),
    }
}

pub(super) fn literal(arena: &Arena, literal: Literal, dtype: DType, lanes: u32) -> Val<'_> {
    let scalar = match literal {
        Literal::Bool(x) => arena.literal(kernel::Literal::Bool(x)),
        Literal::Integer(x) if dtype == DType::U32 => arena.u32(x as u32),
        Literal::Integer(x) => arena.literal(kernel::Literal::I32(x as i32)),
        Literal::Float(x) => {
            let x = if dtype == DType::F16 { half::f16::from_f64(x).to_f32() } else { x as f32 };
            let bits = |name: &str| arena.name(name, Ty::U32).bitcast(Scalar::F32);
            match x {
                _ if x.is_nan() => bits("fuse_nan_bits"),
                f32::INFINITY => bits("fuse_inf_bits"),
                f32::NEG_INFINITY => -bits("fuse_inf_bits"),
                _ => arena.literal(kernel::Literal::F32(x)),
            }
        }
    };
    scalar.splat(lanes)
}
