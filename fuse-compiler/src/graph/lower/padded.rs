//! Expression form: each variable has rank 6 with symbols for its axes, so one graph serves all ranks.
//!
//! Missing outer axes have extent 1 at launch. Broadcasting two axes gives a symbol that the launch evaluates.

use std::{collections::BTreeMap, rc::Rc};

use fuse_artifact::{DType, Relation, Size, SymbolSource};

use super::{
    Binding, Lowering, Program, Ranks, Scope,
    functions::report_violations,
    output::RankExpr,
    ranks,
    resolve::ones,
    value::{Operand, Value},
};
use crate::{
    diag::Sink,
    graph::{FunctionOptions, Graph, NodeId, TensorType, infer::Literals},
    span::SpanTable,
    syntax::{
        ast::{Block, HostOperand},
        types::MAX_RANK,
    },
};

pub(crate) fn lower_expression<'a>(
    body: &'a Block,
    variables: &[(HostOperand, DType)],
    literals: Literals,
    program: &'a Program<'_>,
    sink: &'a Sink,
    spans: &'a mut SpanTable,
) -> (Graph, Ranks) {
    let caller = program.functions.len();
    let name = ("expression".into(), body.value.span);
    let mut lowering = Lowering::new(name, caller, FunctionOptions::default(), sink, spans, program);
    lowering.padded = true;
    lowering.literals = Rc::new(literals);
    lowering.expression = program.functions.is_empty().then_some(body);
    let mut scope = Scope { variables: BTreeMap::new(), dims: Rc::default(), dtypes: Rc::new([]), warn: true };
    for (index, (place, dtype)) in variables.iter().enumerate() {
        let node = lowering.add_variable(index, place, *dtype);
        scope.variables.insert(place.text.clone(), Binding::new(Value::Node(node), place.span));
    }
    let before = sink.errors();
    let value = Operand { value: lowering.block(body, &scope), range: body.value.span };
    let nodes = lowering.expression_results(&value);
    let ranks = lowering.final_ranks(&nodes);
    lowering.graph.results = nodes;
    if sink.errors() == before {
        report_violations(&lowering.graph, body.value.span.0, sink);
    }
    (lowering.graph, ranks)
}

impl Lowering<'_> {
    fn add_variable(&mut self, index: usize, place: &HostOperand, dtype: DType) -> NodeId {
        let HostOperand { text, span, .. } = place;
        let shape = (0..MAX_RANK)
            .map(|axis| {
                let source = SymbolSource::Axis { param: index as u16, axis: axis as u8 };
                let origin = format!("`{text}` is used here");
                self.add_symbol(format!("{text}.{axis}"), source, (origin, *span))
            })
            .collect();
        let node = self.add_param(text.clone(), TensorType::new(dtype, shape), false, *span);
        self.set_rank(node, RankExpr::Of(index));
        node
    }

    fn expression_results(&mut self, value: &Operand) -> Vec<NodeId> {
        let values = match &value.value {
            Value::Tuple(values) => values.clone(),
            single => vec![single.clone()],
        };
        values
            .into_iter()
            .filter_map(|single| {
                let node = self.force(&Operand { value: single, range: value.range })?;
                Some(if self.shape(node).is_empty() { self.broadcast_node(node, &ones(), value.range) } else { node })
            })
            .collect()
    }

    pub(super) fn broadcast_symbol(&mut self, a: &Size, b: &Size) -> Size {
        let mut sizes = self.broadcast_parts(a);
        for part in self.broadcast_parts(b) {
            if !sizes.contains(&part) {
                sizes.push(part);
            }
        }
        for known in [a, b] {
            if self.broadcast_parts(known) == sizes {
                return known.clone();
            }
        }
        let source = SymbolSource::Broadcast(sizes.clone().into());
        if let Some(id) = self.graph.symbols.iter().position(|symbol| symbol.source == source) {
            return Size::symbol(id as u16);
        }
        let name = sizes.iter().map(|size| self.size_text(size)).collect::<Vec<_>>().join("|");
        let at = proc_macro2::Span::call_site();
        self.add_symbol(name, source, ("these shapes broadcast".into(), (at, at)))
    }

    fn broadcast_parts(&self, size: &Size) -> Vec<Size> {
        match size.as_symbol().map(|id| &self.graph.symbols[usize::from(id)].source) {
            Some(SymbolSource::Broadcast(sizes)) => sizes.to_vec(),
            _ => vec![size.clone()],
        }
    }

    pub(super) fn last_axes(&self, node: NodeId, count: usize) -> &[Size] {
        let shape = self.shape(node);
        &shape[shape.len().saturating_sub(count)..]
    }

    /// Requires a visible rank, and assumes it from here on.
    pub(super) fn require_visible_rank(&mut self, node: NodeId, rank: usize, what: String) {
        let hidden = self.shape(node).len().saturating_sub(rank);
        let outer = Size::product(&self.shape(node)[..hidden]);
        self.check(Relation::Equal, outer, Size::ONE, what);
        self.require_rank_expr(&ranks::exactly(rank, self.rank_of(node).clone()));
        self.set_rank(node, RankExpr::Known(rank));
    }

    pub(super) fn padded_result(&mut self, node: NodeId, want: &TensorType, function: &str) -> Option<NodeId> {
        if self.dtype(node) != want.dtype || self.visible_rank(node).is_some_and(|rank| rank != want.rank()) {
            return None;
        }
        let what = format!("result of `{function}`");
        let found = self.last_axes(node, want.rank()).to_vec();
        for (found, want) in found.iter().zip(&want.shape) {
            if found != want && found.as_constant().is_some() && want.as_constant().is_some() {
                return None;
            }
            self.check(Relation::Equal, found.clone(), want.clone(), what.clone());
        }
        if self.visible_rank(node).is_none() {
            self.require_visible_rank(node, want.rank(), what);
        }
        Some(node)
    }

    pub(super) fn check_fits(&mut self, have: &Size, want: &Size) {
        if have == want || have.is_one() {
            return;
        }
        let broadcast = if want.is_one() { have.clone() } else { self.broadcast_symbol(have, want) };
        self.check(Relation::Equal, broadcast, want.clone(), "shape of `broadcast_to`");
    }
}
