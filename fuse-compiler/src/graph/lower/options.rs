//! Named arguments, and others that are not tensors.
//!
//! Input: an argument as written. Output: its value, or a report.

use fuse_artifact::{DType, Relation, Size};

use super::{
    Lowering, Scope, axes_text,
    catalog::Operation,
    dims::argument_range,
    pointwise::join,
    ranks,
    value::{Axis, AxisKind, LazyDType, Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::NodeId,
    syntax::ast::{Argument, Call, Expr, ExprKind, Literal, UnaryOperator},
};

#[derive(Clone, Copy)]
pub(super) struct Site<'c> {
    pub(super) operation: &'c Operation,
    pub(super) call: &'c Call,
    pub(super) scope: &'c Scope,
    pub(super) at: SourceRange,
}

impl<'c> Site<'c> {
    pub(super) fn option(&self, name: &str) -> Option<&'c Argument> {
        self.call.options.iter().find(|(option, _)| *option == name).map(|(_, value)| value)
    }

    pub(super) fn name(&self) -> &'static str {
        self.operation.name
    }

    pub(super) fn usage(&self) -> String {
        self.operation.usage()
    }
}

impl Lowering<'_> {
    /// `false` by default.
    pub(super) fn flag(&self, site: Site<'_>, name: &str) -> Option<bool> {
        let Some(argument) = site.option(name) else { return Some(false) };
        match argument {
            Argument::Expr(Expr { kind: ExprKind::Literal(Literal::Bool(value)), .. }) => Some(*value),
            Argument::Expr(Expr { kind: ExprKind::Error, .. }) => None,
            _ => {
                let message = format!("`{name}` is `true` or `false`");
                self.sink.report(
                    Diagnostic::new(Code::BadOption, argument_range(argument), message)
                        .help(format!("write `{name} = true`, or leave it out")),
                );
                None
            }
        }
    }

    /// Not negative.
    pub(super) fn literal_option(&self, site: Site<'_>, name: &str, default: f64) -> Option<f64> {
        let Some(argument) = site.option(name) else { return Some(default) };
        let range = argument_range(argument);
        let value = match argument {
            Argument::Expr(Expr { kind: ExprKind::Error, .. }) => return None,
            Argument::Expr(expr) => number(expr),
            Argument::List(..) => None,
        };
        match value {
            None => {
                self.sink.report(
                    Diagnostic::new(Code::BadOption, range, format!("`{name}` is a number that is written out"))
                        .help(format!("write `{}`", site.usage())),
                );
                None
            }
            Some(value) if value < 0.0 => {
                self.sink.report(
                    Diagnostic::new(Code::OptionRange, range, format!("`{name}` is 0 or more, found {value}"))
                        .help(format!("write `{}`", site.usage())),
                );
                None
            }
            value => value,
        }
    }

    pub(super) fn positive_option(&mut self, site: Site<'_>, name: &str, default: f64) -> Option<NodeId> {
        let Some(argument) = site.option(name) else { return Some(self.number(default, DType::F32, site.at)) };
        let Argument::Expr(expr) = argument else {
            self.sink.report(
                Diagnostic::new(Code::BadOption, argument_range(argument), format!("`{name}` is one number"))
                    .help(format!("write `{}`", site.usage())),
            );
            return None;
        };
        let operand = self.operand(expr, site.scope);
        if let Some(value) = literal_value(&operand).filter(|value| *value <= 0.0) {
            let message = format!("`{name}` keeps a divisor from being 0 and so is above 0, found {value}");
            self.sink.report(
                Diagnostic::new(Code::OptionRange, operand.range, message).help(format!("write `{}`", site.usage())),
            );
            return None;
        }
        self.scalar(&operand, DType::F32, site.name(), name)
    }

    pub(super) fn scalar(&mut self, operand: &Operand, dtype: DType, call: &str, name: &str) -> Option<NodeId> {
        let operand = self.single(operand)?;
        let found = self.dtype_of(&operand);
        if join(found, LazyDType::Known(dtype)).is_none() {
            let found = match found {
                LazyDType::Known(found) => format!("`{found}`"),
                LazyDType::Number(_) | LazyDType::Float(_) => "a literal with a decimal point".into(),
            };
            let message = format!("`{name}` of `{call}`: expected `{dtype}`, found {found}");
            self.sink.report(
                Diagnostic::new(Code::DTypeMismatch, operand.range, message)
                    .help(format!("convert it: `{} as {dtype}`", self.operand_label(&operand))),
            );
            return None;
        }
        let node = match &operand.value {
            Value::Lazy(lazy) if !lazy.indexed => self.resolve(lazy, dtype, &[])?,
            _ => self.force(&operand)?,
        };
        match self.visible_rank(node) {
            Some(0) => {}
            Some(rank) => {
                let message = format!(
                    "`{name}` of `{call}` is one number, found `{}` with {}",
                    self.type_text(node),
                    axes_text(rank)
                );
                self.sink.report(
                    Diagnostic::new(Code::RankMismatch, operand.range, message)
                        .help(format!("take a scalar of the host, such as `{name}: {dtype}`")),
                );
                return None;
            }
            None => {
                self.require_rank_expr(&ranks::exactly(0, self.rank_of(node).clone()));
                let elements = self.graph.nodes[node].ty.elements();
                self.check(Relation::Equal, elements, Size::ONE, format!("number of elements of `{name}`"));
            }
        }
        Some(self.single_element(node, operand.range))
    }

    pub(super) fn axes_option(&mut self, site: Site<'_>, x: NodeId) -> Option<Vec<usize>> {
        let Some(argument) = site.option("axis") else { return Some((0..self.shape(x).len()).collect()) };
        let list = match argument {
            Argument::Expr(expr) => std::slice::from_ref(expr),
            Argument::List(list, _) => list.as_slice(),
        };
        if list.is_empty() {
            self.sink.report(
                Diagnostic::new(Code::BadOption, argument_range(argument), "expected at least one axis")
                    .help("leave `axis` out to take all axes"),
            );
            return None;
        }
        let mut axes = Vec::new();
        for expr in list {
            let axis = self.axis_expr(expr, site.scope, &site.usage())?;
            let position = self.axis_of_node(&axis, x)?;
            if axes.contains(&position) {
                self.sink.report(
                    Diagnostic::new(Code::DuplicateAxis, axis.range, "this axis is listed twice")
                        .help("list every axis once"),
                );
                return None;
            }
            axes.push(position);
        }
        axes.sort_unstable();
        Some(axes)
    }

    /// Axis of the option `axis`. Errors of the default are reported at `place`.
    pub(super) fn axis_option(&mut self, site: Site<'_>, x: NodeId, default: i64, place: SourceRange) -> Option<usize> {
        let axis = match site.option("axis") {
            Some(argument) => self.axis(argument, site.scope, &site.usage())?,
            None if default >= 0 && self.visible_rank(x).is_none() => {
                let message = format!(
                    "`{}` works on axis {default}, counted from the front, but the rank is known to the caller's \
                     types only",
                    site.name()
                );
                let help = "write a `fn` with types such as `f32[B, C, H, W]`";
                let named = site.operation.options.iter().any(|option| option.name == "axis");
                self.sink.report(Diagnostic::new(Code::PositiveAxis, place, message).help(match named {
                    true => format!("count from the end, for example `axis = -3`, or {help}"),
                    false => help.into(),
                }));
                return None;
            }
            None => Axis { kind: AxisKind::Number(default), range: place },
        };
        self.axis_of_node(&axis, x)
    }

    pub(super) fn count_option(&mut self, site: Site<'_>, name: &str) -> Option<Size> {
        let argument = site.option(name)?;
        let (range, sink) = (argument_range(argument), self.sink);
        let bad = |code: Code, message: String| {
            sink.report(Diagnostic::new(code, range, message).help(format!("write `{}`", site.usage())));
            None
        };
        let Argument::Expr(expr) = argument else {
            return bad(Code::BadOption, format!("`{name}` is a number or a dimension, found a list"));
        };
        match self.size_of(expr, site.scope) {
            Ok(size) if size.as_constant() == Some(0) => {
                bad(Code::OptionRange, format!("`{name}` is 1 or more, found 0"))
            }
            Ok(size) => Some(size),
            Err(diagnostic) => {
                if let Some(diagnostic) = diagnostic {
                    self.sink.report(diagnostic);
                }
                None
            }
        }
    }
}

fn number(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Integer(value, _)) => Some(*value as f64),
        ExprKind::Literal(Literal::Float(value, _)) => Some(*value),
        ExprKind::Unary(UnaryOperator::Neg, operand) => Some(-number(operand)?),
        _ => None,
    }
}

pub(super) fn literal_value(operand: &Operand) -> Option<f64> {
    match operand.value.as_literal()? {
        Literal::Integer(value, _) => Some(*value as f64),
        Literal::Float(value, _) => Some(*value),
        Literal::Bool(_) => None,
    }
}
