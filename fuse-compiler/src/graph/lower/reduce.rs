//! Reductions: `sum`, `mean`, `max` and others.
//!
//! `mean`, `var` and `logsumexp` compute in `f32`: neither a count nor a sum of squares has to fit `f16`.

use fuse_artifact::{DType, Relation, Size};

use super::{Lowering, axes_text, catalog::Reduction, options::Site, output::RankExpr, value::Operand};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::{CompareOp, NodeId, ReduceOp},
    operations::{BinaryOp, DTypes, UnaryOp},
};

/// Sum of rescaled squares, for use beyond a bound. Numbers are exponents of 2.
struct Rescaled {
    op: CompareOp,
    bound: f64,
    exponent: f64,
}

/// No rescaled square overflows, and flushed squares are negligible: 2^60 squares below 2^-126 vanish next to 2^-60.
const RESCALED: [Rescaled; 2] = [
    Rescaled { op: CompareOp::Gt, bound: 120.0, exponent: -96.0 },
    Rescaled { op: CompareOp::Lt, bound: -60.0, exponent: 80.0 },
];

impl Lowering<'_> {
    pub(super) fn reduction(&mut self, reduction: Reduction, x: &Operand, site: Site<'_>) -> Option<NodeId> {
        let node = self.force(x);
        let keepdim = self.flag(site, "keepdim");
        let correction = self.literal_option(site, "correction", 0.0);
        let node = node?;
        self.require_dtype(reduction.takes(), node, x, site)?;
        let axes = if reduction.is_index() {
            let axes = self.index_axis(node, site)?;
            self.require_elements(node, axes[0], site)?;
            axes
        } else {
            self.axes_option(site, node)?
        };
        let (keepdim, correction) = (keepdim?, correction?);
        let at = site.at;
        let value = match reduction {
            Reduction::Sum => self.reduce(ReduceOp::Sum, node, &axes, at),
            Reduction::Prod => self.reduce(ReduceOp::Prod, node, &axes, at),
            Reduction::Max => self.reduce(ReduceOp::Max, node, &axes, at),
            Reduction::Min => self.reduce(ReduceOp::Min, node, &axes, at),
            Reduction::ArgMax => self.reduce(ReduceOp::ArgMax, node, &axes, at),
            Reduction::ArgMin => self.reduce(ReduceOp::ArgMin, node, &axes, at),
            Reduction::Any => self.reduce(ReduceOp::Any, node, &axes, at),
            Reduction::All => self.reduce(ReduceOp::All, node, &axes, at),
            Reduction::Mean | Reduction::Var | Reduction::LogSumExp | Reduction::Norm => {
                let dtype = self.dtype(node);
                let wide = self.cast_node(node, DType::F32, at);
                let value = match reduction {
                    Reduction::Mean => self.mean(wide, &axes, at),
                    Reduction::Var => self.variance(wide, &axes, correction, site),
                    Reduction::Norm => self.norm(wide, &axes, dtype, at),
                    _ => self.logsumexp(wide, &axes, site),
                };
                self.cast_node(value, dtype, at)
            }
        };
        Some(match (keepdim, site.option("axis")) {
            (true, _) => value,
            (false, Some(_)) => {
                let value = self.without_axes(value, &axes, at);
                if site.option("keepdim").is_none() {
                    let kept = format!("{}({}, keepdim = true)", site.call.name, site.call.arguments_text());
                    self.reduced.entry(value).or_insert(kept);
                }
                value
            }
            // `argmax` without `axis` reduces one axis; the others are 1.
            (false, None) => self.reshaped(value, vec![], RankExpr::Known(0), at),
        })
    }

    fn require_dtype(&self, takes: DTypes, node: NodeId, x: &Operand, site: Site<'_>) -> Option<()> {
        let (dtype, name, label) = (self.dtype(node), site.name(), self.label(node));
        let (code, message, help) = match takes {
            DTypes::FLOATS if !dtype.is_float() => {
                (Code::FloatRequired, "floats", format!("convert it: `{name}({label} as f32)`"))
            }
            DTypes::NUMBERS if dtype == DType::Bool => {
                let help = match name {
                    "sum" => {
                        format!("to count write `sum({label} as i32)`; `any({label})` and `all({label})` are bool")
                    }
                    _ => format!("convert it: `{label} as i32`, or write `any({label})` or `all({label})`"),
                };
                (Code::NumberRequired, "numbers", help)
            }
            DTypes::BOOL if dtype != DType::Bool => {
                (Code::BoolRequired, "`bool`", format!("compare it: `{name}({label} != 0)`"))
            }
            _ => return Some(()),
        };
        self.sink
            .report(Diagnostic::new(code, x.range, format!("`{name}` takes {message}, found `{dtype}`")).help(help));
        None
    }

    fn index_axis(&mut self, node: NodeId, site: Site<'_>) -> Option<Vec<usize>> {
        let name = site.name();
        if let Some(argument) = site.option("axis") {
            let axes = self.axes_option(site, node)?;
            if let [_] = axes.as_slice() {
                return Some(axes);
            }
            let message = format!("`{name}` counts along one axis, found a list of {}", axes.len());
            self.sink.report(
                Diagnostic::new(Code::BadOption, super::dims::argument_range(argument), message)
                    .help("merge the axes with `reshape` first"),
            );
            return None;
        }
        match self.visible_rank(node) {
            Some(1) => {}
            None => drop(self.require_vector(node, name, site.at)?),
            Some(rank) => {
                let message = format!("`{name}` of a value with {} needs the named argument `axis`", axes_text(rank));
                self.sink.report(
                    Diagnostic::new(Code::MissingOption, super::ident_range(&site.call.name), message)
                        .help(format!("write `{}`", site.usage())),
                );
                return None;
            }
        }
        Some(vec![self.shape(node).len() - 1])
    }

    fn require_elements(&mut self, node: NodeId, axis: usize, site: Site<'_>) -> Option<()> {
        let extent = self.shape(node)[axis].clone();
        if extent.as_constant() == Some(0) {
            let message = format!("`{}` along an axis without elements: no index is the answer", site.name());
            self.sink.report(Diagnostic::new(Code::EmptyAxis, site.at, message).help(
                "call it where there are elements; `max` and `min` over none are the least and the largest value",
            ));
            return None;
        }
        let what = format!("axis of `{}`, which needs an element", site.name());
        self.check(Relation::AtMost, Size::ONE, extent, what);
        Some(())
    }

    /// Mean of squares of `x - mean(x)`, with `correction` subtracted from the count; too few elements divide by 0, as
    /// in NumPy.
    fn variance(&mut self, x: NodeId, axes: &[usize], correction: f64, site: Site<'_>) -> NodeId {
        let at = site.at;
        if correction == 0.0 {
            return self.centered(x, axes, at).1;
        }
        let mean = self.mean(x, axes, at);
        let centered = self.binary(BinaryOp::Sub, x, mean, at);
        let squares = self.binary(BinaryOp::Mul, centered, centered, at);
        let sum = self.reduce(ReduceOp::Sum, squares, axes, at);
        let count = Size::product(axes.iter().map(|&axis| &self.shape(x)[axis]));
        let freedom = match count.as_constant() {
            Some(count) => self.number((count as f64 - correction).max(0.0), DType::F32, at),
            None => {
                // Sizes are never negative.
                let count = self.size_number(&count, DType::F32, at);
                let correction = self.number(correction, DType::F32, at);
                let freedom = self.binary(BinaryOp::Sub, count, correction, at);
                let zero = self.number(0.0, DType::F32, at);
                self.binary(BinaryOp::Max, freedom, zero, at)
            }
        };
        self.binary(BinaryOp::Div, sum, freedom, at)
    }

    /// Square root of the sum of squares. `f32` is also summed scaled down and up in the same pass: one of the three
    /// sums neither overflows nor loses small squares (as Blue 1978). Squares of `f16` fit `f32`.
    fn norm(&mut self, x: NodeId, axes: &[usize], of: DType, at: SourceRange) -> NodeId {
        let plain = self.squares(x, axes, at);
        let norm = if of == DType::F16 {
            self.unary(UnaryOp::Sqrt, plain, at)
        } else {
            let (mut sum, mut back) = (plain, self.number(1.0, DType::F32, at));
            for Rescaled { op, bound, exponent } in RESCALED {
                let [bound, scale, inverse] =
                    [bound, exponent, -exponent].map(|exponent| self.number(exponent.exp2(), DType::F32, at));
                let scaled = self.binary(BinaryOp::Mul, x, scale, at);
                let other = self.squares(scaled, axes, at);
                let chosen = self.compare(op, plain, bound, at);
                sum = self.select(chosen, other, sum, at);
                back = self.select(chosen, inverse, back, at);
            }
            let root = self.unary(UnaryOp::Sqrt, sum, at);
            self.binary(BinaryOp::Mul, root, back, at)
        };
        self.marks.norms.insert(norm, x);
        norm
    }

    fn squares(&mut self, x: NodeId, axes: &[usize], at: SourceRange) -> NodeId {
        let squares = self.binary(BinaryOp::Mul, x, x, at);
        self.reduce(ReduceOp::Sum, squares, axes, at)
    }

    /// `m + log(sum(exp(x - m)))` with the maximum `m`, or 0 if infinite: a row of -inf gives -inf, one with +inf gives
    /// +inf.
    fn logsumexp(&mut self, x: NodeId, axes: &[usize], site: Site<'_>) -> NodeId {
        let at = site.at;
        let largest = self.reduce(ReduceOp::Max, x, axes, at);
        let magnitude = self.unary(UnaryOp::Abs, largest, at);
        let bound = self.number(f64::from(f32::MAX), DType::F32, at);
        let finite = self.compare(CompareOp::Le, magnitude, bound, at);
        let zero = self.number(0.0, DType::F32, at);
        let shift = self.select(finite, largest, zero, at);
        self.marks.stopped.insert(shift);
        let shifted = self.binary(BinaryOp::Sub, x, shift, at);
        let exponentials = self.unary(UnaryOp::Exp, shifted, at);
        let sum = self.reduce(ReduceOp::Sum, exponentials, axes, at);
        let log = self.unary(UnaryOp::Log, sum, at);
        self.binary(BinaryOp::Add, log, shift, at)
    }
}
