//! Dimensions: converts types and expressions to sizes, resolves axes, compares sizes.

use std::{cmp::Ordering, collections::BTreeMap};

use fuse_artifact::{DType, Relation, Size, SymbolSource, Term};

use super::{
    Lowering, Scope, ident_range, ranks,
    value::{Axis, AxisKind, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange, suggest},
    graph::{self, NodeId, Op},
    syntax::ast::{Argument, BinaryOperator, Dim, Expr, ExprKind, Literal, UnaryOperator},
};

pub(super) fn size_of_dim(dim: &Dim, dims: &BTreeMap<String, Size>) -> Result<Size, Diagnostic> {
    match dim {
        Dim::Literal(value, _) => Ok(Size::constant(*value)),
        Dim::Name(name) => match dims.get(&name.to_string()) {
            Some(size) => Ok(size.clone()),
            None => Err(unbound(&name.to_string(), ident_range(name), dims)),
        },
        Dim::Product(factors) => factors.iter().try_fold(Size::ONE, |product, factor| {
            let size = size_of_dim(factor, dims)?;
            Ok(product.mul(&size))
        }),
        Dim::Sum(terms) => terms.iter().try_fold(Size::default(), |sum, (subtracted, term)| {
            let term = size_of_dim(term, dims)?;
            Ok(if *subtracted { sum.sub(&term) } else { sum.add(&term) })
        }),
    }
}

fn not_a_size(name: &str, at: SourceRange) -> Option<Diagnostic> {
    let diagnostic = Diagnostic::new(Code::BadDimension, at, format!("`{name}` is a value, not a dimension"));
    Some(
        diagnostic.help(
            "a dimension is a name such as `N`, a number such as `64`, a parameter `n: u32`, or a product of such",
        ),
    )
}

fn unbound(name: &str, at: SourceRange, dims: &BTreeMap<String, Size>) -> Diagnostic {
    let close = suggest(name, dims.keys().map(String::as_str));
    Diagnostic::new(Code::UnboundDimension, at, format!("dimension `{name}` is not defined by any parameter")).help(
        match close {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("a dimension gets its value from a tensor parameter, such as `x: f32[{name}]`"),
        },
    )
}

/// True if `a ≤ b` for all symbols, which are never negative.
pub(super) fn always_at_most(a: &Size, b: &Size) -> bool {
    b.sub(a).terms.iter().all(|term| term.coefficient >= 0)
}

pub(super) fn always_above(a: &Size, b: &Size) -> bool {
    let difference = a.sub(b);
    let constant = difference.terms.iter().find(|term| term.symbols.is_empty()).map_or(0, |term| term.coefficient);
    constant > 0 && difference.terms.iter().all(|term| term.coefficient >= 0)
}

/// True if products can only be equal where both are 0: without common factors they are different numbers.
pub(super) fn never_equal(a: &Size, b: &Size) -> bool {
    if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
        return a != b;
    }
    let ([a], [b]) = (&*a.terms, &*b.terms) else { return false };
    let mut rest = b.symbols.to_vec();
    for symbol in a.symbols.iter() {
        match rest.iter().position(|other| other == symbol) {
            Some(position) => drop(rest.remove(position)),
            None => return false,
        }
    }
    rest.is_empty() && a.coefficient.cmp(&b.coefficient) != Ordering::Equal
}

impl Lowering<'_> {
    pub(super) fn size_of(&mut self, expr: &Expr, scope: &Scope) -> Result<Size, Option<Diagnostic>> {
        let bad = |message: &str| {
            Some(
                Diagnostic::new(Code::BadDimension, expr.span, message)
                    .help("a dimension is a name such as `N`, a number such as `64`, or a product such as `H * D`"),
            )
        };
        match &expr.kind {
            ExprKind::Error => Err(None),
            ExprKind::Literal(Literal::Integer(value, _)) => match u32::try_from(*value) {
                Ok(value) => Ok(Size::constant(u64::from(value))),
                Err(_) => Err(bad("a dimension is from 0 to 4294967295")),
            },
            ExprKind::Name(name) => {
                let text = name.to_string();
                if let Some(size) = scope.dims.get(&text) {
                    return Ok(size.clone());
                }
                if let Some(binding) = scope.variables.get(&text) {
                    binding.used.set(true);
                    return self
                        .size_of_value(&binding.value, binding.range)
                        .ok_or_else(|| not_a_size(&text, expr.span));
                }
                let diagnostic = match self.padded {
                    true => Diagnostic::new(
                        Code::UnboundDimension,
                        expr.span,
                        format!("dimension `{text}` is not defined"),
                    )
                    .help("in `fuse!(…)` dimensions have no names: write a number, or a `fn` with `f32[M, N]` types"),
                    false => unbound(&text, expr.span, &scope.dims),
                };
                Err(Some(diagnostic))
            }
            ExprKind::Binary(first, others) => {
                let mut size = self.size_of(first, scope)?;
                for (operator, operand) in others {
                    let operand = self.size_of(operand, scope)?;
                    size = match operator {
                        BinaryOperator::Add => size.add(&operand),
                        BinaryOperator::Sub => size.sub(&operand),
                        BinaryOperator::Mul => size.mul(&operand),
                        _ => return Err(bad("a dimension is made with `*`, `+` and `-` only")),
                    };
                }
                Ok(size)
            }
            ExprKind::Unary(UnaryOperator::Neg, _) => Err(bad("a dimension cannot be negative")),
            _ => Err(bad("expected a dimension")),
        }
    }

    /// Size of a `u32` parameter, a number, or a dimension as a number. `at` is its declaration.
    pub(super) fn size_of_value(&mut self, value: &Value, at: SourceRange) -> Option<Size> {
        let Value::Node(node) = value else { return None };
        match (&self.graph.nodes[*node].op, self.dtype(*node)) {
            (Op::Scalar(param), DType::U32) => Some(self.size_param(*param, at)),
            (Op::Literal(graph::Literal::Integer(number)), DType::U32) => {
                u64::try_from(*number).ok().map(Size::constant)
            }
            (Op::Size(size), DType::U32) => Some(size.clone()),
            _ => None,
        }
    }

    pub(super) fn size_param(&mut self, param: u16, at: SourceRange) -> Size {
        if let Some(known) = self.graph.size_param(param.into()) {
            return Size::symbol(known);
        }
        let name = self.graph.params[usize::from(param)].name.clone();
        let origin = format!("`{name}` is a parameter");
        self.add_symbol(name, SymbolSource::Scalar { param }, (origin, at))
    }

    pub(super) fn is_dimension(&self, expr: &Expr, scope: &Scope) -> bool {
        fn names<'e>(expr: &'e Expr, found: &mut Vec<&'e syn::Ident>) -> bool {
            match &expr.kind {
                ExprKind::Name(name) => {
                    found.push(name);
                    true
                }
                ExprKind::Literal(Literal::Integer(_, None)) => true,
                ExprKind::Binary(first, others) => {
                    use BinaryOperator::{Add, Mul, Sub};
                    names(first, found)
                        && others.iter().all(|(op, operand)| matches!(op, Add | Sub | Mul) && names(operand, found))
                }
                _ => false,
            }
        }
        let mut found = Vec::new();
        let dimension = |name: &&syn::Ident| {
            let text = name.to_string();
            scope.dims.contains_key(&text) && !scope.variables.contains_key(&text)
        };
        names(expr, &mut found) && !found.is_empty() && found.iter().all(dimension)
    }

    /// Number of `N as f32`; a launch checks that it is not negative.
    pub(super) fn dimension_number(&mut self, expr: &Expr, dtype: DType, at: SourceRange, scope: &Scope) -> Value {
        let size = match self.size_of(expr, scope) {
            Ok(size) => size,
            Err(Some(diagnostic)) => return self.poison(diagnostic),
            Err(None) => return Value::Poison,
        };
        if dtype == DType::Bool {
            return self.poison(
                Diagnostic::new(Code::NumberRequired, at, "a dimension is a number, not a truth value")
                    .help("compare it: `(N as i32) != 0`"),
            );
        }
        if always_above(&Size::constant(0), &size) {
            return self.poison(
                Diagnostic::new(Code::BadDimension, at, "a dimension cannot be negative")
                    .help("convert first and subtract then: `(M as f32) - (N as f32)`"),
            );
        }
        let (above, below): (Vec<Term>, Vec<Term>) = size.terms.iter().cloned().partition(|term| term.coefficient > 0);
        let (above, below) = (Size { terms: above.into() }, Size { terms: below.into() });
        self.check(Relation::AtMost, Size::constant(0).sub(&below), above, "a dimension used as a number");
        Value::Node(self.size_number(&size, dtype, at))
    }

    pub(super) fn sizes_of(&mut self, argument: &Argument, scope: &Scope, usage: &str) -> Option<Vec<Size>> {
        let expressions = self.list(argument, usage)?;
        let mut sizes = Vec::new();
        let mut sound = true;
        for expr in expressions {
            match self.size_of(expr, scope) {
                Ok(size) => sizes.push(size),
                Err(diagnostic) => {
                    sound = false;
                    if let Some(diagnostic) = diagnostic {
                        self.sink.report(diagnostic);
                    }
                }
            }
        }
        sound.then_some(sizes)
    }

    pub(super) fn list<'e>(&self, argument: &'e Argument, usage: &str) -> Option<&'e [Expr]> {
        match argument {
            Argument::List(list, _) => Some(list),
            Argument::Expr(expr) => {
                if !matches!(expr.kind, ExprKind::Error) {
                    self.sink.report(
                        Diagnostic::new(Code::BadOption, expr.span, "expected a list in brackets")
                            .help(format!("write `{usage}`")),
                    );
                }
                None
            }
        }
    }

    pub(super) fn axis(&self, argument: &Argument, scope: &Scope, usage: &str) -> Option<Axis> {
        let Argument::Expr(expr) = argument else {
            self.sink.report(
                Diagnostic::new(Code::BadOption, argument_range(argument), "expected one axis, found a list")
                    .help(format!("write `{usage}`")),
            );
            return None;
        };
        self.axis_expr(expr, scope, usage)
    }

    pub(super) fn axis_expr(&self, expr: &Expr, scope: &Scope, usage: &str) -> Option<Axis> {
        let range = expr.span;
        if let Some(number) = integer(expr) {
            return Some(Axis { kind: AxisKind::Number(number), range });
        }
        let ExprKind::Name(name) = &expr.kind else {
            if !matches!(expr.kind, ExprKind::Error) {
                self.sink.report(
                    Diagnostic::new(Code::BadOption, range, "expected an axis: a number or the name of a dimension")
                        .help(format!("write `{usage}`")),
                );
            }
            return None;
        };
        let text = name.to_string();
        if let Some(size) = scope.dims.get(&text) {
            return Some(Axis { kind: AxisKind::Named(text, size.clone()), range });
        }
        if scope.variables.contains_key(&text) {
            let message = format!("an axis is known when the crate is built, and `{text}` is a value");
            let help = format!("write the axis as a number: `{usage}`");
            self.sink.report(Diagnostic::new(Code::UnknownAxis, range, message).help(help));
            return None;
        }
        let help = match suggest(&text, scope.dims.keys().map(String::as_str)) {
            Some(close) => format!("did you mean `{close}`?"),
            None if self.padded => "in `fuse!(…)` dimensions have no names: count from the end, `axis = -1`".into(),
            None => "an axis is a number, or the name of a dimension of the value".into(),
        };
        self.sink.report(Diagnostic::new(Code::UnknownAxis, range, format!("unknown dimension `{text}`")).help(help));
        None
    }

    pub(super) fn axis_of_node(&mut self, axis: &Axis, node: NodeId) -> Option<usize> {
        let shape = self.shape(node).to_vec();
        let rank = self.visible_rank(node);
        if let (None, AxisKind::Number(number @ ..=-1)) = (rank, &axis.kind) {
            let least = ranks::at_least(number.unsigned_abs() as usize, self.rank_of(node).clone());
            self.require_rank_expr(&least);
        }
        self.axis_of_shape(axis, &shape, rank)
    }

    pub(super) fn visible_rank(&self, node: NodeId) -> Option<usize> {
        match (self.padded, self.rank_of(node)) {
            (false, _) => Some(self.shape(node).len()),
            (true, rank) => ranks::known(rank),
        }
    }

    /// Position of an axis; users see the last `rank` axes.
    pub(super) fn axis_of_shape(&mut self, axis: &Axis, shape: &[Size], rank: Option<usize>) -> Option<usize> {
        match &axis.kind {
            AxisKind::Number(number) => self.numbered_axis(*number, axis.range, shape, rank),
            AxisKind::Named(name, size) => self.named_axis(name, size, axis.range, shape),
        }
    }

    fn numbered_axis(&mut self, number: i64, at: SourceRange, shape: &[Size], rank: Option<usize>) -> Option<usize> {
        let Some(visible) = rank else {
            if number >= 0 {
                self.sink.report(
                    Diagnostic::new(
                        Code::PositiveAxis,
                        at,
                        "an axis is counted from the front, but the rank is known to the caller's types only",
                    )
                    .help("count from the end: `axis = -1` is the last axis; or write a `fn` with `f32[M, N]` types"),
                );
                return None;
            }
            return self.numbered_axis(number, at, shape, Some(shape.len()));
        };
        let position = if number < 0 { number + visible as i64 } else { number };
        if (0..visible as i64).contains(&position) {
            return Some(shape.len() - visible + position as usize);
        }
        let mut diagnostic = axis_out_of_range(number, visible, at);
        if !self.padded {
            let text = self.shape_text(&shape[shape.len() - visible..]);
            diagnostic.message = format!("{} (`[{text}]`)", diagnostic.message);
        }
        self.sink.report(diagnostic);
        None
    }

    fn named_axis(&self, name: &str, size: &Size, at: SourceRange, shape: &[Size]) -> Option<usize> {
        let positions: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] == *size).collect();
        let text = self.shape_text(shape);
        match positions.as_slice() {
            [position] => return Some(*position),
            [] => self.sink.report(
                Diagnostic::new(Code::UnknownAxis, at, format!("no axis of `[{text}]` is `{name}`"))
                    .help("name one of its dimensions, or write the axis as a number"),
            ),
            _ => self.sink.report(
                Diagnostic::new(Code::AmbiguousAxis, at, format!("several axes of `[{text}]` are `{name}`"))
                    .help(format!("write the axis as a number, for example `axis = {}`", positions[0])),
            ),
        }
        None
    }
}

pub(super) fn axis_out_of_range(number: i64, rank: usize, at: SourceRange) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::AxisOutOfRange, at, format!("axis {number} of a value with {rank} axes"));
    match rank {
        0 => diagnostic.help("a single number has no axes"),
        1 => diagnostic.help("its only axis is 0, or -1 counted from the end"),
        _ => diagnostic.help(format!("its axes are 0 to {}, or -{rank} to -1 counted from the end", rank - 1)),
    }
}

pub(super) fn integer(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Integer(value, _)) => i64::try_from(*value).ok(),
        ExprKind::Unary(UnaryOperator::Neg, operand) => integer(operand)?.checked_neg(),
        _ => None,
    }
}

pub(super) fn argument_range(argument: &Argument) -> SourceRange {
    match argument {
        Argument::Expr(expr) => expr.span,
        Argument::List(_, span) => (*span, *span),
    }
}
