//! Quantized parameters: checks uses, and determines packed axes.
//!
//! A quantized parameter is an `f32` node, marked until `dequantize` or a product takes it. Marked values may only be
//! transposed, permuted, bound, passed on, dequantized, or be the right operand of `matmul`: never computed with by
//! accident.
//!
//! Values are packed along the depth of the first product, else along the axis of `dequantize`, else the last but one.

use fuse_artifact::{DType, Packing, Size, SymbolSource};

use super::{
    Lowering,
    catalog::Kind,
    ident_range,
    options::Site,
    type_text::type_text,
    value::{Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::{NodeId, Op, Quantized, TensorType},
    syntax::ast::{Function, Param, Type},
};

impl Lowering<'_> {
    pub(super) fn add_quantized(&mut self, name: String, packing: Packing, ty: TensorType, at: SourceRange) -> NodeId {
        let rank = ty.rank();
        let node = self.add_param(name, ty, false, at);
        let param = self.graph.params.len() - 1;
        let unknown = || Size::ONE;
        self.graph.params[param].quantized = Some(Quantized {
            packing,
            axis: rank.saturating_sub(2),
            blocks: unknown(),
            groups: unknown(),
            group: unknown(),
            scale_words: unknown(),
        });
        self.graph.nodes[node].op = Op::Dequantize(param as u16);
        self.weights.insert(node);
        node
    }

    pub(super) fn check_packing(&self, argument: &Operand, param: &Param, function: &Function) -> Option<()> {
        let (found, expected) = (self.packing_of(argument), param.ty.packing());
        if found == expected {
            return Some(());
        }
        let name =
            |packing: Option<Packing>| packing.map_or("numbers".to_owned(), |packing| format!("`{}`", packing.name()));
        let message = format!(
            "argument `{}` of `{}`: expected {}, found {}",
            param.name,
            function.name,
            name(expected),
            name(found)
        );
        let declared = format!("declared `{}`", type_text(&param.ty, function));
        let diagnostic =
            Diagnostic::new(Code::QuantizedOperand, argument.range, message).note(ident_range(&param.name), declared);
        self.sink.report(diagnostic.help(match (found, expected) {
            (Some(_), None) => "pass what it means: `dequantize(w)`, which is computed in place",
            _ => "pass a parameter of that type",
        }));
        None
    }

    pub(super) fn packing_of(&self, operand: &Operand) -> Option<Packing> {
        let Value::Node(node) = operand.value else { return None };
        if !self.weights.contains(&node) {
            return None;
        }
        let (param, _) = self.packed_axis(node, 0)?;
        Some(self.graph.params[usize::from(param)].quantized.as_ref()?.packing)
    }

    pub(super) fn refuses_quantized(&self, what: &str, operands: &[Operand]) -> bool {
        let quantized = |operand: &Operand| self.packing_of(operand).map(|packing| (packing, operand.range));
        let Some((packing, range)) = operands.iter().find_map(quantized) else { return false };
        let message = format!("{what} takes numbers, found a quantized tensor of `{}`", packing.name());
        self.sink.report(Diagnostic::new(Code::QuantizedOperand, range, message).help(
            "only the right operand of `matmul` may be quantized; elsewhere write `dequantize(w)`, which is computed in place",
        ));
        true
    }

    pub(super) fn call_refuses_quantized(&self, site: Site<'_>, operands: &[Operand]) -> bool {
        let what = format!("`{}`", site.name());
        match site.operation.kind {
            Kind::Transpose | Kind::Permute | Kind::Dequantize => false,
            Kind::Matmul if self.packing_of(&operands[0]).is_some() => {
                let message = "the left operand of `matmul` is quantized";
                let diagnostic = Diagnostic::new(Code::QuantizedOperand, operands[0].range, message);
                let help = "quantized weights are right operands: for `w·x` write `transpose(matmul(transpose(x), \
                            transpose(w)))`, or `matmul(dequantize(w), x)`";
                self.sink.report(diagnostic.help(help));
                true
            }
            Kind::Matmul => false,
            _ => self.refuses_quantized(&what, operands),
        }
    }

    pub(super) fn keep_mark(&mut self, from: &Operand, to: NodeId) {
        if matches!(from.value, Value::Node(node) if self.weights.contains(&node)) {
            self.weights.insert(to);
        }
    }

    /// Right operand of a product, in the left operand's dtype.
    ///
    /// The depth becomes its packed axis, unless an earlier use determined it.
    pub(super) fn product_operand(&mut self, operand: &Operand, dtype: DType) -> Option<NodeId> {
        let node = self.force(operand)?;
        if self.packing_of(operand).is_none() {
            return Some(node);
        }
        if let Some(inner) = self.shape(node).len().checked_sub(2)
            && let Some((param, axis)) = self.packed_axis(node, inner)
        {
            self.packed.entry(param).or_insert(axis);
        }
        let node = self.unmarked(node, operand.range);
        Some(if dtype.is_float() { self.cast_node(node, dtype, operand.range) } else { node })
    }

    /// `dequantize(w)`, or `dequantize(w, axis = 1)` for that packed axis. Yields `f32`.
    pub(super) fn dequantize(&mut self, operand: &Operand, site: Site<'_>) -> Option<NodeId> {
        let node = self.force(operand)?;
        if self.packing_of(operand).is_none() {
            let message = format!("`dequantize` takes a quantized tensor, found `{}`", self.type_text(node));
            self.sink.report(
                Diagnostic::new(Code::QuantizedOperand, operand.range, message)
                    .help("its values are numbers already; remove `dequantize`"),
            );
            return None;
        }
        if site.option("axis").is_some() {
            let axis = self.axis_option(site, node, 0, operand.range)?;
            let (param, axis) = self.packed_axis(node, axis)?;
            if *self.packed.entry(param).or_insert(axis) != axis {
                let name = &self.graph.params[usize::from(param)].name;
                let message = format!("`{name}` is packed along another axis, which an earlier use of it decides");
                let diagnostic = Diagnostic::new(Code::QuantizedOperand, operand.range, message);
                self.sink.report(diagnostic.help("leave out `axis`: any use can read it as it is packed"));
                return None;
            }
        }
        Some(self.unmarked(node, operand.range))
    }

    fn unmarked(&mut self, node: NodeId, at: SourceRange) -> NodeId {
        let (op, ty) = (self.graph.nodes[node].op.clone(), self.graph.nodes[node].ty.clone());
        self.push(op, ty.dtype, ty.shape, at)
    }

    /// Parameter that a marked value permutes, and its axis for `axis`.
    fn packed_axis(&self, mut node: NodeId, mut axis: usize) -> Option<(u16, usize)> {
        loop {
            match &self.graph.nodes[node].op {
                Op::Dequantize(param) => return Some((*param, axis)),
                Op::Permute { x, permutation } => {
                    axis = *permutation.get(axis)?;
                    node = *x;
                }
                _ => return None,
            }
        }
    }

    pub(super) fn pack_params(&mut self) {
        for index in 0..self.graph.params.len() {
            let param = &self.graph.params[index];
            let Some(quantized) = param.quantized.clone() else { continue };
            let (shape, name, place) = (param.ty.shape.clone(), param.name.clone(), self.place);
            let axis = self.packed.get(&(index as u16)).copied().unwrap_or(quantized.axis);
            let extent = shape[axis].clone();
            let mut symbol = |what: &str, source| {
                let text = format!("{what} of {name}");
                self.add_symbol(text.clone(), source, (format!("`{text}` follows from the argument"), place))
            };
            let of_argument = |axis: usize| SymbolSource::Axis { param: index as u16, axis: axis as u8 };
            let groups = symbol("groups", of_argument(shape.len()));
            let scale_words = symbol("words of a scale", of_argument(shape.len() + 1));
            let (dividend, divisor) = quantized.packing.blocks(&extent);
            let blocks = symbol("blocks", SymbolSource::Quotient { dividend, divisor });
            let group = symbol("group", SymbolSource::Quotient { dividend: extent, divisor: groups.clone() });
            self.graph.params[index].quantized =
                Some(Quantized { axis, blocks, groups, group, scale_words, ..quantized });
        }
    }
}

pub(super) fn check_types(function: &Function) -> Vec<Diagnostic> {
    let results = function.results.iter().filter_map(|ty| {
        let packing = ty.packing()?;
        let message = format!("a result cannot be quantized, found `{}`", packing.name());
        let diagnostic = Diagnostic::new(Code::QuantizedType, (ty.span, ty.span), message);
        Some(diagnostic.help("declare `f32` or `f16`; `QTensor::quantize` packs values"))
    });
    let params = function.params.iter().filter_map(|param| misshapen(&param.ty));
    results.chain(params).collect()
}

fn misshapen(ty: &Type) -> Option<Diagnostic> {
    let name = ty.packing()?.name();
    let at = (ty.span, ty.span);
    match ty.dims.as_ref().map(Vec::len) {
        Some(1..=MAX_RANK) => None,
        None | Some(0) => Some(
            Diagnostic::new(Code::QuantizedType, at, format!("a number cannot be quantized, found `{name}`"))
                .help(format!("quantized types are tensors of 1 to {MAX_RANK} axes: `w: {name}[K, N]`")),
        ),
        Some(rank) => Some(
            Diagnostic::new(
                Code::QuantizedType,
                at,
                format!("a quantized tensor has at most {MAX_RANK} axes, found {rank}"),
            )
            .help("merge neighboring axes, for example `B * H` in place of `B, H`"),
        ),
    }
}

/// A launch has two more numbers for a quantized tensor.
const MAX_RANK: usize = crate::syntax::types::MAX_RANK - 2;
