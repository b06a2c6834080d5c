//! Pointwise operations: determines their dtype, emits or defers them.

use std::rc::Rc;

use fuse_artifact::DType;

use super::{
    Lowering,
    catalog::Pointwise,
    value::{Lazy, LazyDType, LazyKind, NUMBER, Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::{CompareOp, Literal as GraphLiteral, NodeId, Op},
    operations::{BinaryOp, DTypes, UnaryOp},
    syntax::ast::Literal,
};

impl Lowering<'_> {
    pub(super) fn pointwise(&mut self, op: Pointwise, operands: &[Operand], at: SourceRange) -> Value {
        let singles: Option<Vec<Operand>> = operands.iter().map(|operand| self.single(operand)).collect();
        let Some(operands) = singles else { return Value::Poison };
        let Some(dtype) = self.operand_dtype(op, &operands, at) else { return Value::Poison };
        let op = if dtype == LazyDType::Known(DType::Bool) { of_truth_values(op) } else { op };
        if let Some(diagnostic) = self.literal_zero_divisor(op, &operands, dtype) {
            return self.poison(diagnostic);
        }
        if let Some(folded) = fold(op, &operands) {
            return match folded {
                Ok(literal) => Lazy::inferred(literal, Some(dtype.default_dtype()), at),
                Err(message) => self.poison(Diagnostic::new(Code::LiteralOutOfRange, at, message)),
            };
        }
        let nodes: Vec<NodeId> = operands.iter().filter_map(|operand| self.shaping_node(&operand.value)).collect();
        let indexed = operands.iter().any(|operand| operand.value.is_indexed());
        let any_node = operands.iter().any(|operand| matches!(operand.value, Value::Node(_)));
        if indexed && nodes.is_empty() || !any_node {
            return self.defer(op, &operands, dtype, indexed, at);
        }
        let computed = dtype.default_dtype();
        let Some(shape) = self.broadcast_operands(&operands, at) else { return Value::Poison };
        let mut lowered = Vec::with_capacity(operands.len());
        for (position, operand) in operands.iter().enumerate() {
            let wanted = if is_condition(op, position) { DType::Bool } else { computed };
            match self.materialize(operand, wanted, &shape) {
                Some(node) => lowered.push(node),
                None => return Value::Poison,
            }
        }
        Value::Node(self.emit(op, &lowered, at))
    }

    /// Node that gives an `index` a shape. In the expression form only the whole expression does, since a variable may
    /// be a host scalar.
    fn shaping_node(&self, value: &Value) -> Option<NodeId> {
        match value {
            Value::Node(node) if !self.padded && !self.shape(*node).is_empty() => Some(*node),
            _ => None,
        }
    }

    fn defer(
        &mut self,
        op: Pointwise,
        operands: &[Operand],
        dtype: LazyDType,
        indexed: bool,
        at: SourceRange,
    ) -> Value {
        let parts: Vec<Rc<Lazy>> = operands.iter().map(|operand| self.lazy(operand)).collect();
        let weight = parts.iter().fold(1usize, |sum, part| sum.saturating_add(part.weight));
        if weight > super::MAX_WAITING {
            self.report_too_many_waiting(weight);
            return Value::Poison;
        }
        let dtype = op.yields().map_or(dtype, LazyDType::Known);
        Value::Lazy(Rc::new(Lazy { kind: LazyKind::Apply(op, parts), dtype, indexed, weight, range: at }))
    }

    fn lazy(&self, operand: &Operand) -> Rc<Lazy> {
        match &operand.value {
            Value::Lazy(lazy) => lazy.clone(),
            Value::Node(node) => Rc::new(Lazy {
                kind: LazyKind::Node(*node),
                dtype: LazyDType::Known(self.dtype(*node)),
                indexed: true,
                weight: 1,
                range: operand.range,
            }),
            Value::Tuple(_) | Value::Poison => unreachable!("`single` lets only nodes and lazy values pass"),
        }
    }

    pub(super) fn emit(&mut self, op: Pointwise, operands: &[NodeId], at: SourceRange) -> NodeId {
        let value = operands[operands.len() - 1];
        let (dtype, shape) = (self.dtype(value), self.shape(value).to_vec());
        let (op, dtype) = match op {
            Pointwise::Unary(unary) => (Op::Unary(unary, operands[0]), unary.result(dtype)),
            Pointwise::Binary(binary) => (Op::Binary(binary, operands[0], operands[1]), dtype),
            Pointwise::Compare(compare) => (Op::Compare(compare, operands[0], operands[1]), DType::Bool),
            Pointwise::Select => {
                let [condition, on_true, on_false] = [operands[0], operands[1], operands[2]];
                (Op::Select { condition, on_true, on_false }, dtype)
            }
        };
        let rank = operands
            .iter()
            .map(|operand| self.rank_of(*operand).clone())
            .reduce(super::ranks::broadcast)
            .unwrap_or(crate::graph::lower::output::RankExpr::Known(0));
        let node = self.push(op, dtype, shape, at);
        self.set_rank(node, rank);
        node
    }

    /// Common dtype of the operands (of a select: of the two values).
    fn operand_dtype(&self, op: Pointwise, operands: &[Operand], at: SourceRange) -> Option<LazyDType> {
        let mut values = operands;
        if op == Pointwise::Select {
            if self.dtype_of(&operands[0]) != LazyDType::Known(DType::Bool) {
                self.sink.report(self.not_bool(&operands[0], Code::ConditionNotBool, "the condition of `select`"));
                return None;
            }
            values = &operands[1..];
        }
        let mut fits = true;
        for operand in values {
            if let Some(diagnostic) = self.outside_class(op, operand) {
                self.sink.report(diagnostic);
                fits = false;
            }
        }
        let dtype = self.common_dtype(op, values, at).map_err(|diagnostic| {
            // A wrong class often causes a mismatch too.
            if fits {
                self.sink.report(diagnostic);
            }
        });
        let dtype = dtype.ok()?;
        if !fits {
            return None;
        }
        Some(match op.takes().only() {
            Some(only) => LazyDType::Known(only),
            None if op.takes() == DTypes::FLOATS => dtype.as_float(),
            None => dtype,
        })
    }

    pub(super) fn dtype_of(&self, operand: &Operand) -> LazyDType {
        match &operand.value {
            Value::Node(node) => LazyDType::Known(self.dtype(*node)),
            Value::Lazy(lazy) => lazy.dtype,
            Value::Tuple(_) | Value::Poison => NUMBER,
        }
    }

    fn outside_class(&self, op: Pointwise, operand: &Operand) -> Option<Diagnostic> {
        let (name, takes) = (written(op), op.takes());
        let known = match self.dtype_of(operand) {
            LazyDType::Known(dtype) if takes.contains(dtype) => return None,
            LazyDType::Known(dtype) => Some(dtype),
            LazyDType::Number(_) if takes != DTypes::BOOL => return None,
            LazyDType::Float(_) if takes.contains(DType::F32) => return None,
            LazyDType::Number(_) | LazyDType::Float(_) => None,
        };
        let label = self.operand_label(operand);
        let found = known.map_or("a number with a decimal point".into(), |dtype| format!("`{dtype}`"));
        let (code, message, help) = match takes {
            DTypes::BOOL => return Some(self.not_bool(operand, Code::BoolRequired, &name)),
            DTypes::U32 => {
                (Code::IntegerRequired, format!("{name} takes `u32`"), format!("convert it: `{label} as u32`"))
            }
            DTypes::BITS if op == Pointwise::Unary(UnaryOp::Not) => {
                return Some(self.not_bool(operand, Code::BoolRequired, &name));
            }
            DTypes::BITS if op == Pointwise::Binary(BinaryOp::BitXor) && known.is_none_or(DType::is_float) => (
                Code::IntegerRequired,
                format!("{name} is the exclusive or of integers or `bool`, found {found}"),
                format!("for a power write `pow({label}, 2.0)`"),
            ),
            DTypes::INTEGERS | DTypes::BITS => {
                let what = if takes == DTypes::BITS { "integers or `bool`" } else { "integers" };
                let message = format!("{name} takes {what}, found {found}");
                (Code::IntegerRequired, message, format!("convert it: `{label} as i32`"))
            }
            DTypes::SIGNED if known == Some(DType::U32) => (
                Code::FloatRequired,
                format!("{name} takes signed numbers, found `u32`"),
                "a `u32` is never negative: leave `relu` out".into(),
            ),
            DTypes::FLOATS | DTypes::F32 => {
                let what = if takes == DTypes::F32 { "`f32`" } else { "floats" };
                (
                    Code::FloatRequired,
                    format!("{name} takes {what}, found {found}"),
                    format!("convert it: `{label} as f32`"),
                )
            }
            _ => (
                Code::NumberRequired,
                format!("{name} takes numbers, found {found}"),
                format!(
                    "convert it with `{label} as f32` (1 where true, 0 elsewhere), or write `select({label}, a, b)`"
                ),
            ),
        };
        Some(Diagnostic::new(code, operand.range, message).help(help))
    }

    fn not_bool(&self, operand: &Operand, code: Code, place: &str) -> Diagnostic {
        let found = match self.dtype_of(operand) {
            LazyDType::Known(dtype) => format!("`{dtype}`"),
            LazyDType::Number(_) | LazyDType::Float(_) => "a number".into(),
        };
        let message = match code {
            Code::ConditionNotBool => format!("{place} must be `bool`, found {found}"),
            _ => format!("{place} takes `bool`, found {found}"),
        };
        Diagnostic::new(code, operand.range, message)
            .help(format!("compare it: `{} != 0`", self.operand_label(operand)))
    }

    fn common_dtype(&self, op: Pointwise, operands: &[Operand], at: SourceRange) -> Result<LazyDType, Diagnostic> {
        let mut common: Option<(LazyDType, &Operand)> = None;
        for operand in operands {
            let dtype = self.dtype_of(operand);
            common = Some(match common {
                None => (dtype, operand),
                Some((so_far, first)) => match join(so_far, dtype) {
                    Some(joined) if joined == so_far => (so_far, first),
                    Some(joined) => (joined, operand),
                    None => return Err(self.mismatch(op, first, operand, at)),
                },
            });
        }
        Ok(common.map_or(NUMBER, |(dtype, _)| dtype))
    }

    fn mismatch(&self, op: Pointwise, first: &Operand, second: &Operand, at: SourceRange) -> Diagnostic {
        let name = written(op);
        let (a, b) = (self.dtype_of(first), self.dtype_of(second));
        let (known, literal, other) = match (a, b) {
            (LazyDType::Known(a), LazyDType::Known(b)) => {
                let code =
                    if matches!(op, Pointwise::Compare(_)) { Code::ComparisonDType } else { Code::DTypeMismatch };
                let (target, other) = if b.is_float() && !a.is_float() { (b, first) } else { (a, second) };
                let message =
                    format!("operands of {name} have different dtypes: `{a}` on the left, `{b}` on the right");
                let label = self.operand_label(other);
                return Diagnostic::new(code, at, message)
                    .help(format!("convert one of them, for example `{label} as {target}`"));
            }
            (LazyDType::Known(known), _) => (known, second, first),
            (_, LazyDType::Known(known)) => (known, first, second),
            _ => (DType::F32, second, first),
        };
        if known == DType::Bool {
            return Diagnostic::new(Code::DTypeMismatch, literal.range, "expected `bool`, found a number")
                .help("truth values are `true`, `false` and comparisons");
        }
        Diagnostic::new(
            Code::FloatLiteralForInteger,
            literal.range,
            format!("{name} works on `{known}` here, which cannot hold a literal with a decimal point"),
        )
        .help(format!("write an integer, or convert the other operand: `{} as f32`", self.operand_label(other)))
    }

    fn literal_zero_divisor(&self, op: Pointwise, operands: &[Operand], dtype: LazyDType) -> Option<Diagnostic> {
        let Pointwise::Binary(BinaryOp::Div | BinaryOp::Rem) = op else { return None };
        let integer = match dtype {
            LazyDType::Known(dtype) | LazyDType::Number(dtype) => dtype.is_integer(),
            LazyDType::Float(_) => false,
        };
        let zero = matches!(operands[1].value.as_literal(), Some(Literal::Integer(0, _)));
        (integer && zero).then(|| {
            Diagnostic::new(Code::DivisionByZero, operands[1].range, "an integer is divided by 0")
                .help("divide by another number, or convert to a float first: `x as f32 / 0.0` is infinite")
        })
    }

    pub(super) fn graph_literal(&self, literal: &Literal, dtype: DType, at: SourceRange) -> Option<GraphLiteral> {
        let float = |value: f64| dtype.keeps(value).then_some(GraphLiteral::Float(value));
        let converted = match *literal {
            Literal::Bool(value) => Some(GraphLiteral::Bool(value)),
            Literal::Float(value, _) => float(value),
            Literal::Integer(value, _) if dtype.is_float() => float(value as f64),
            Literal::Integer(value, _) => {
                let fits = match dtype {
                    DType::U32 => u32::try_from(value).is_ok(),
                    _ => i32::try_from(value).is_ok(),
                };
                fits.then_some(GraphLiteral::Integer(value as i64))
            }
        };
        if converted.is_none() {
            self.sink.report(out_of_range(literal, dtype, at));
        }
        converted
    }
}

fn out_of_range(literal: &Literal, dtype: DType, at: SourceRange) -> Diagnostic {
    let (text, magnitude) = match *literal {
        Literal::Integer(value, _) => (value.to_string(), value.abs() as f64),
        Literal::Float(value, _) => (format!("{value:e}"), value.abs()),
        Literal::Bool(value) => (value.to_string(), 1.0),
    };
    if dtype.is_float() && magnitude < 1.0 {
        let least = if dtype == DType::F16 { "6e-8" } else { "1.4e-45" };
        let help = format!("the least `{dtype}` above 0 is about {least}");
        let help = if dtype == DType::F16 { format!("{help}: {IN_F32}") } else { help };
        return Diagnostic::new(Code::LiteralOutOfRange, at, format!("`{text}` is 0 as `{dtype}`")).help(help);
    }
    let help = match dtype {
        DType::U32 => "`u32` holds 0 to 4294967295".to_owned(),
        DType::I32 => "`i32` holds -2147483648 to 2147483647".to_owned(),
        DType::F16 => format!("the largest finite `f16` is 65504: write `inf`, or {IN_F32}"),
        _ => "the largest finite `f32` is about 3.4e38".to_owned(),
    };
    Diagnostic::new(Code::LiteralOutOfRange, at, format!("`{text}` does not fit `{dtype}`")).help(help)
}

const IN_F32: &str = "compute in `f32`, as in `(x as f32 * y) as f16`";

pub(super) fn is_condition(op: Pointwise, position: usize) -> bool {
    op == Pointwise::Select && position == 0
}

pub(super) fn join(a: LazyDType, b: LazyDType) -> Option<LazyDType> {
    use LazyDType::{Float, Known, Number};
    match (a, b) {
        (Known(x), Known(y)) => (x == y).then_some(a),
        (Known(known), Float(_)) | (Float(_), Known(known)) => known.is_float().then_some(Known(known)),
        (Known(known), Number(_)) | (Number(_), Known(known)) => (known != DType::Bool).then_some(Known(known)),
        (Float(x), Float(y)) => Some(Float(if x == DType::F32 { y } else { x })),
        (Float(x), Number(_)) | (Number(_), Float(x)) => Some(Float(x)),
        (Number(x), Number(y)) => Some(Number(if x == DType::I32 { y } else { x })),
    }
}

fn of_truth_values(op: Pointwise) -> Pointwise {
    match op {
        Pointwise::Binary(BinaryOp::BitAnd) => Pointwise::Binary(BinaryOp::And),
        Pointwise::Binary(BinaryOp::BitOr) => Pointwise::Binary(BinaryOp::Or),
        Pointwise::Binary(BinaryOp::BitXor) => Pointwise::Compare(CompareOp::Ne),
        _ => op,
    }
}

fn written(op: Pointwise) -> String {
    format!("`{}`", op.symbol().unwrap_or_else(|| op.name()))
}

fn fold(op: Pointwise, operands: &[Operand]) -> Option<Result<Literal, &'static str>> {
    let literals: Vec<&Literal> = operands.iter().map(|operand| operand.value.as_literal()).collect::<Option<_>>()?;
    match (op, literals.as_slice()) {
        (Pointwise::Unary(UnaryOp::Neg), [Literal::Integer(value, dtype)]) if *dtype != Some(DType::U32) => {
            Some(value.checked_neg().map(|value| Literal::Integer(value, *dtype)).ok_or("the literal is too large"))
        }
        (Pointwise::Unary(UnaryOp::Neg), [Literal::Float(value, dtype)]) => Some(Ok(Literal::Float(-value, *dtype))),
        (Pointwise::Binary(op), [Literal::Integer(a, None), Literal::Integer(b, None)]) => {
            let folded = match op {
                BinaryOp::Add => a.checked_add(*b),
                BinaryOp::Sub => a.checked_sub(*b),
                BinaryOp::Mul => a.checked_mul(*b),
                _ => return None,
            };
            Some(folded.map(|value| Literal::Integer(value, None)).ok_or("the value is too large"))
        }
        (Pointwise::Binary(op), [a, b]) => {
            let ((a, dtype_a), (b, dtype_b)) = (as_float(a)?, as_float(b)?);
            let value = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                _ => return None,
            };
            Some(Ok(Literal::Float(value, dtype_a.or(dtype_b))))
        }
        (Pointwise::Compare(op), [Literal::Integer(a, _), Literal::Integer(b, _)]) => {
            let value = match op {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::Gt => a > b,
                CompareOp::Ge => a >= b,
            };
            Some(Ok(Literal::Bool(value)))
        }
        _ => None,
    }
}

/// The literal as a float, with its suffix. Two integers are folded elsewhere.
fn as_float(literal: &Literal) -> Option<(f64, Option<DType>)> {
    match *literal {
        Literal::Float(value, dtype) => Some((value, dtype)),
        Literal::Integer(value, None) => Some((value as f64, None)),
        _ => None,
    }
}
