//! Row operations: `softmax`, `log_softmax`, normalizations.
//!
//! All but `softmax` compute in `f32`. `softmax` keeps its dtype and these exact operations, by which fusion recognizes
//! attention.

use fuse_artifact::{DType, Relation, Size};

use super::{Lowering, axes_text, catalog::Row, options::Site, output::RankExpr, ranks, value::Operand};
use crate::{
    diag::{Code, Diagnostic},
    graph::{NodeId, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};

type Parameter<'o> = (&'static str, &'o Operand);

impl Lowering<'_> {
    pub(super) fn row_operation(&mut self, row: Row, operands: &[Operand], site: Site<'_>) -> Option<NodeId> {
        let x = self.float_operand(&operands[0], site);
        let eps = match row {
            Row::LayerNorm => Some(self.positive_option(site, "eps", 1e-5)),
            Row::RmsNorm => Some(self.positive_option(site, "eps", 1e-6)),
            Row::Softmax | Row::LogSoftmax => None,
        };
        let x = x?;
        let axis = self.axis_option(site, x, -1, operands[0].range)?;
        let (axes, at, dtype) = ([axis], site.at, self.dtype(x));
        if row == Row::Softmax {
            let exponentials = self.shifted_exponentials(x, &axes, site);
            let sum = self.reduce(ReduceOp::Sum, exponentials, &axes, at);
            return Some(self.binary(BinaryOp::Div, exponentials, sum, at));
        }
        let names: &[&'static str] = if row == Row::LayerNorm { &["gamma", "beta"] } else { &["gamma"] };
        let parameters: Vec<Parameter<'_>> = names.iter().copied().zip(&operands[1..]).collect();
        let parameters = self.parameters(&parameters, x, axis, site)?;
        let wide = self.cast_node(x, DType::F32, at);
        let value = match row {
            Row::LogSoftmax => self.log_softmax(wide, &axes, site),
            Row::LayerNorm => {
                let (centered, variance) = self.centered(wide, &axes, at);
                let scale = self.inverse_root(variance, eps??, at);
                self.binary(BinaryOp::Mul, centered, scale, at)
            }
            _ => {
                let squares = self.binary(BinaryOp::Mul, wide, wide, at);
                let mean = self.mean(squares, &axes, at);
                let scale = self.inverse_root(mean, eps??, at);
                self.binary(BinaryOp::Mul, wide, scale, at)
            }
        };
        let value = self.scaled_and_shifted(value, &parameters, site);
        Some(self.cast_node(value, dtype, at))
    }

    /// `exp(x - max(x))`.
    fn shifted_exponentials(&mut self, x: NodeId, axes: &[usize], site: Site<'_>) -> NodeId {
        let largest = self.largest(x, axes, site.at);
        let shifted = self.binary(BinaryOp::Sub, x, largest, site.at);
        self.unary(UnaryOp::Exp, shifted, site.at)
    }

    /// `d - log(sum(exp(d)))` with `d = x - max(x)`.
    fn log_softmax(&mut self, x: NodeId, axes: &[usize], site: Site<'_>) -> NodeId {
        let at = site.at;
        let largest = self.largest(x, axes, at);
        let shifted = self.binary(BinaryOp::Sub, x, largest, at);
        let exponentials = self.unary(UnaryOp::Exp, shifted, at);
        let sum = self.reduce(ReduceOp::Sum, exponentials, axes, at);
        let log = self.unary(UnaryOp::Log, sum, at);
        self.binary(BinaryOp::Sub, shifted, log, at)
    }

    /// `(x - mean) / sqrt(var + eps) · gamma + beta` per channel (Ioffe and Szegedy 2015, at inference).
    pub(super) fn batch_norm(&mut self, operands: &[Operand], site: Site<'_>) -> Option<NodeId> {
        let x = self.float_operand(&operands[0], site);
        let eps = self.positive_option(site, "eps", 1e-5);
        let x = x?;
        let axis = self.axis_option(site, x, 1, operands[0].range)?;
        let names = ["mean", "var", "gamma", "beta"];
        let parameters: Vec<Parameter<'_>> = names.into_iter().zip(&operands[1..]).collect();
        let parameters = self.parameters(&parameters, x, axis, site)?;
        let (at, dtype) = (site.at, self.dtype(x));
        let wide = self.cast_node(x, DType::F32, at);
        let centered = self.binary(BinaryOp::Sub, wide, parameters[0], at);
        let scale = self.inverse_root(parameters[1], eps?, at);
        let value = self.binary(BinaryOp::Mul, centered, scale, at);
        let value = self.scaled_and_shifted(value, &parameters[2..], site);
        Some(self.cast_node(value, dtype, at))
    }

    /// Group normalization of `[B, C, ..]` (Wu and He 2018), computed as `[B, G, C / G, ..]`, so that only operand and
    /// result are reshaped.
    pub(super) fn group_norm(&mut self, operands: &[Operand], site: Site<'_>) -> Option<NodeId> {
        let x = self.float_operand(&operands[0], site);
        let eps = self.positive_option(site, "eps", 1e-5);
        let groups = self.count_option(site, "groups");
        let (x, eps, groups) = (x?, eps?, groups?);
        let stored = self.shape(x).len();
        let channel = self.axis_option(site, x, 1, operands[0].range)?;
        let visible: Vec<Size> = self.shape(x)[channel - 1..].to_vec();
        let channels = visible[1].clone();
        let per_group = self.equal_part(&channels, &groups, site.option("groups"), site)?;
        let (at, dtype, rank) = (site.at, self.dtype(x), self.rank_of(x).clone());
        let shape = vec![visible[0].clone(), groups, per_group, Size::product(&visible[2..])];
        let grouped = self.reshaped(x, shape.clone(), RankExpr::Known(4), at);
        let offset = self.shape(grouped).len() - 4;
        let axes = [offset + 2, offset + 3];
        let wide = self.cast_node(grouped, DType::F32, at);
        let (centered, variance) = self.centered(wide, &axes, at);
        let scale = self.inverse_root(variance, eps, at);
        let value = self.binary(BinaryOp::Mul, centered, scale, at);
        let parameters: Vec<Parameter<'_>> = ["gamma", "beta"].into_iter().zip(&operands[1..]).collect();
        let mut vectors = Vec::new();
        // The expression form checks the length at launch.
        let length = if self.padded { shape[1].mul(&shape[2]) } else { channels };
        for node in self.vectors(&parameters, x, &length, site)? {
            let shape = vec![Size::ONE, shape[1].clone(), shape[2].clone(), Size::ONE];
            vectors.push(self.parameter_node(node, shape, RankExpr::Known(4), site));
        }
        let value = self.scaled_and_shifted(value, &vectors, site);
        let value = self.cast_node(value, dtype, at);
        let whole = self.shape(x)[stored - visible.len()..].to_vec();
        Some(self.reshaped(value, whole, rank, at))
    }

    /// `value · gamma + beta`, as far as given.
    fn scaled_and_shifted(&mut self, value: NodeId, parameters: &[NodeId], site: Site<'_>) -> NodeId {
        let operations = [BinaryOp::Mul, BinaryOp::Add].into_iter().zip(parameters);
        operations.fold(value, |value, (op, parameter)| self.binary(op, value, *parameter, site.at))
    }

    pub(super) fn float_operand(&mut self, operand: &Operand, site: Site<'_>) -> Option<NodeId> {
        let node = self.force(operand)?;
        let dtype = self.dtype(node);
        if dtype.is_float() {
            return Some(node);
        }
        let message = format!("`{}` takes floats, found `{dtype}`", site.name());
        self.sink.report(
            Diagnostic::new(Code::FloatRequired, operand.range, message)
                .help(format!("convert it: `{} as f32`", self.label(node))),
        );
        None
    }

    /// Vectors of an axis's extent, as `f32` of the rank of `x`, with extent 1 elsewhere.
    fn parameters(
        &mut self,
        parameters: &[Parameter<'_>],
        x: NodeId,
        axis: usize,
        site: Site<'_>,
    ) -> Option<Vec<NodeId>> {
        let extent = self.shape(x)[axis].clone();
        let rank = self.rank_of(x).clone();
        let vectors = self.vectors(parameters, x, &extent, site)?;
        let mut nodes = Vec::new();
        for vector in vectors {
            let mut shape = vec![Size::ONE; self.shape(x).len()];
            shape[axis] = extent.clone();
            nodes.push(self.parameter_node(vector, shape, rank.clone(), site));
        }
        Some(nodes)
    }

    fn parameter_node(&mut self, vector: NodeId, shape: Vec<Size>, rank: RankExpr, site: Site<'_>) -> NodeId {
        let node = self.reshaped(vector, shape, rank, site.at);
        self.cast_node(node, DType::F32, site.at)
    }

    fn vectors(
        &mut self,
        parameters: &[Parameter<'_>],
        x: NodeId,
        extent: &Size,
        site: Site<'_>,
    ) -> Option<Vec<NodeId>> {
        let before = self.sink.errors();
        let mut nodes = Vec::new();
        for (name, operand) in parameters {
            nodes.extend(self.vector(name, operand, x, extent, site));
        }
        (self.sink.errors() == before && nodes.len() == parameters.len()).then_some(nodes)
    }

    fn vector(&mut self, name: &str, operand: &Operand, x: NodeId, extent: &Size, site: Site<'_>) -> Option<NodeId> {
        let node = self.force(operand)?;
        let (expected, found) = (self.dtype(x), self.dtype(node));
        let what = format!("`{name}` of `{}`", site.name());
        if expected != found {
            self.sink.report(
                Diagnostic::new(
                    Code::DTypeMismatch,
                    operand.range,
                    format!("{what}: expected `{expected}`, found `{found}`"),
                )
                .help(format!("convert it: `{} as {expected}`", self.label(node))),
            );
            return None;
        }
        let found = match self.visible_rank(node) {
            Some(1) => self.shape(node).last().cloned()?,
            None => {
                self.require_rank_expr(&ranks::exactly(1, self.rank_of(node).clone()));
                self.graph.nodes[node].ty.elements()
            }
            Some(rank) => {
                let message = format!("{what} is a vector, found `{}` with {}", self.type_text(node), axes_text(rank));
                self.sink.report(
                    Diagnostic::new(Code::VectorRequired, operand.range, message)
                        .help(format!("it has one number for each of `{}`", self.size_text(extent))),
                );
                return None;
            }
        };
        if found != *extent && self.padded && (found.as_constant().is_none() || extent.as_constant().is_none()) {
            self.check(Relation::Equal, found, extent.clone(), format!("length of {what}"));
        } else if found != *extent {
            let (want, have) = (self.size_text(extent), self.size_text(&found));
            let message = format!("{what}: expected `{want}` elements, found `{have}`");
            let diagnostic = Diagnostic::new(Code::DimensionMismatch, operand.range, message);
            let diagnostic = self.with_origins(diagnostic, &[extent, &found]);
            self.sink.report(diagnostic.help("it has one number for each element along the axis"));
            return None;
        }
        Some(node)
    }
}

/// `a / b`, if exact for all symbols.
pub(super) fn exact_quotient(a: &Size, b: &Size) -> Option<Size> {
    let [divisor] = &*b.terms else { return None };
    let mut sum = Size::default();
    for term in a.terms.iter() {
        if divisor.coefficient == 0 || term.coefficient % divisor.coefficient != 0 {
            return None;
        }
        let mut symbols = term.symbols.to_vec();
        for symbol in divisor.symbols.iter() {
            let position = symbols.iter().position(|other| other == symbol)?;
            symbols.remove(position);
        }
        let coefficient = u64::try_from(term.coefficient / divisor.coefficient).ok()?;
        let factors = symbols.into_iter().map(Size::symbol);
        sum = sum.add(&factors.fold(Size::constant(coefficient), |product, factor| product.mul(&factor)));
    }
    Some(sum)
}
