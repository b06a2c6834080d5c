//! Converts lazy values to nodes, and broadcasts nodes.

use fuse_artifact::{DType, Size};

use super::{
    Lowering,
    pointwise::{is_condition, join},
    value::{Lazy, LazyDType, LazyKind, NUMBER, Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::{NodeId, Op},
    operations::DTypes,
    syntax::types::MAX_RANK,
};

/// Values visited in the search for a reduction behind a mismatch.
const MAX_STEPS: usize = 64;

impl Lowering<'_> {
    pub(super) fn materialize(&mut self, operand: &Operand, dtype: DType, shape: &[Size]) -> Option<NodeId> {
        match &operand.value {
            Value::Node(node) => Some(self.broadcast_node(*node, shape, operand.range)),
            Value::Lazy(lazy) => self.resolve(lazy, dtype, shape),
            Value::Tuple(_) | Value::Poison => None,
        }
    }

    /// Node with a shape of its own, for operations that are not pointwise.
    pub(super) fn force(&mut self, operand: &Operand) -> Option<NodeId> {
        let operand = self.single(operand)?;
        let lazy = match &operand.value {
            Value::Node(node) => return Some(*node),
            Value::Lazy(lazy) => lazy.clone(),
            Value::Tuple(_) | Value::Poison => return None,
        };
        let dtype = lazy.dtype.default_dtype();
        if !lazy.indexed {
            let node = self.resolve(&lazy, dtype, &[])?;
            return Some(if self.padded { self.broadcast_node(node, &ones(), operand.range) } else { node });
        }
        let nodes = lazy.nodes();
        if !self.padded || nodes.is_empty() {
            self.sink.report(index_without_shape(operand.range));
            return None;
        }
        let shape = self.broadcast_shapes(&nodes, operand.range)?;
        self.resolve(&lazy, dtype, &shape)
    }

    pub(super) fn resolve(&mut self, lazy: &Lazy, dtype: DType, shape: &[Size]) -> Option<NodeId> {
        if self.too_large {
            return None;
        }
        let at = lazy.range;
        if !lazy.indexed && !shape.is_empty() {
            let node = self.resolve(lazy, dtype, &[])?;
            return Some(self.broadcast_node(node, shape, at));
        }
        match &lazy.kind {
            LazyKind::Literal(literal) => {
                let literal = self.graph_literal(literal, dtype, at)?;
                Some(self.push(Op::Literal(literal), dtype, vec![], at))
            }
            LazyKind::Index(axis) => {
                let rank = (!self.padded).then_some(shape.len());
                let axis = self.axis_of_shape(axis, shape, rank)?;
                Some(self.push(Op::Index { axis }, DType::I32, shape.to_vec(), at))
            }
            LazyKind::Node(node) => Some(self.broadcast_node(*node, shape, at)),
            LazyKind::Cast(operand) => {
                let node = self.resolve(operand, operand.dtype.default_dtype(), shape)?;
                Some(self.cast_node(node, dtype, at))
            }
            LazyKind::Apply(op, operands) => {
                let common = operands
                    .iter()
                    .enumerate()
                    .filter(|(position, _)| !is_condition(*op, *position))
                    .map(|(_, operand)| operand.dtype)
                    .reduce(|a, b| join(a, b).unwrap_or(a))
                    .unwrap_or(NUMBER);
                let computed = match (op, common) {
                    (_, LazyDType::Known(dtype)) => dtype,
                    (op, _) if let Some(only) = op.takes().only() => only,
                    (op, number @ LazyDType::Number(_)) if op.takes() == DTypes::FLOATS && op.yields().is_some() => {
                        number.as_float().default_dtype()
                    }
                    (op, lazy) if op.yields().is_some() => lazy.default_dtype(),
                    _ => dtype,
                };
                let mut lowered = Vec::with_capacity(operands.len());
                for (position, operand) in operands.iter().enumerate() {
                    let wanted = if is_condition(*op, position) { DType::Bool } else { computed };
                    lowered.push(self.resolve(operand, wanted, shape)?);
                }
                Some(self.emit(*op, &lowered, at))
            }
        }
    }

    pub(super) fn cast_node(&mut self, node: NodeId, dtype: DType, at: SourceRange) -> NodeId {
        if self.dtype(node) == dtype {
            return node;
        }
        let shape = self.shape(node).to_vec();
        self.push(Op::Cast(node), dtype, shape, at)
    }

    pub(super) fn broadcast_node(&mut self, node: NodeId, shape: &[Size], at: SourceRange) -> NodeId {
        let own = self.shape(node).to_vec();
        if own == shape {
            return node;
        }
        let dtype = self.dtype(node);
        let mut node = node;
        if !own.is_empty() && own.len() < shape.len() {
            node = self.with_leading_ones(node, shape.len(), at);
        }
        if self.shape(node) == shape {
            return node;
        }
        self.push(Op::Broadcast(node), dtype, shape.to_vec(), at)
    }

    pub(super) fn with_leading_ones(&mut self, node: NodeId, rank: usize, at: SourceRange) -> NodeId {
        let own = self.shape(node).to_vec();
        if own.len() >= rank {
            return node;
        }
        let mut shape = vec![Size::ONE; rank - own.len()];
        shape.extend(own);
        let rank = self.rank_of(node).clone();
        self.reshaped(node, shape, rank, at)
    }

    /// Broadcast shape, with nodes inside of lazy values.
    pub(super) fn broadcast_operands(&mut self, operands: &[Operand], at: SourceRange) -> Option<Vec<Size>> {
        let nodes: Vec<NodeId> = operands
            .iter()
            .flat_map(|operand| match &operand.value {
                Value::Node(node) => vec![*node],
                Value::Lazy(lazy) => lazy.nodes(),
                Value::Tuple(_) | Value::Poison => vec![],
            })
            .collect();
        self.broadcast_shapes(&nodes, at)
    }

    pub(super) fn broadcast_shapes(&mut self, nodes: &[NodeId], at: SourceRange) -> Option<Vec<Size>> {
        let mut result: Vec<Size> = Vec::new();
        for node in nodes {
            let shape = self.shape(*node).to_vec();
            match self.broadcast_pair(&result, &shape) {
                Ok(broadcast) => result = broadcast,
                Err((left, right)) => {
                    let diagnostic = self.broadcast_mismatch(&result, (*node, nodes), (&left, &right), at);
                    self.sink.report(diagnostic);
                    return None;
                }
            }
        }
        Some(result)
    }

    pub(super) fn broadcast_pair(&mut self, a: &[Size], b: &[Size]) -> Result<Vec<Size>, (Size, Size)> {
        let rank = a.len().max(b.len());
        let mut shape = Vec::with_capacity(rank);
        for axis in 0..rank {
            let at = |sizes: &[Size]| (axis + sizes.len()).checked_sub(rank).map_or(Size::ONE, |i| sizes[i].clone());
            shape.push(self.broadcast_sizes(&at(a), &at(b))?);
        }
        Ok(shape)
    }

    fn broadcast_sizes(&mut self, a: &Size, b: &Size) -> Result<Size, (Size, Size)> {
        if a == b || b.is_one() {
            Ok(a.clone())
        } else if a.is_one() {
            Ok(b.clone())
        } else if self.padded && (a.as_constant().is_none() || b.as_constant().is_none()) {
            Ok(self.broadcast_symbol(a, b))
        } else {
            Err((a.clone(), b.clone()))
        }
    }

    fn broadcast_mismatch(
        &self,
        left: &[Size],
        (node, nodes): (NodeId, &[NodeId]),
        sizes: (&Size, &Size),
        at: SourceRange,
    ) -> Diagnostic {
        let right = self.shape(node);
        let (a, b) = (self.size_text(sizes.0), self.size_text(sizes.1));
        let message = format!(
            "shapes `[{}]` and `[{}]` do not broadcast: expected `{a}`, found `{b}`",
            self.shape_text(left),
            self.shape_text(right),
        );
        let diagnostic = self.with_origins(Diagnostic::new(Code::BroadcastMismatch, at, message), &[sizes.0, sizes.1]);
        if let Some(kept) = nodes.iter().find_map(|node| self.reduction_in(*node)) {
            return diagnostic.help(format!("keep the axis that is reduced: `{kept}`"));
        }
        let position = left.iter().position(|size| size == sizes.1);
        match (position, right.len()) {
            (Some(axis), 1) if axis + 1 < left.len() => {
                let ones = ", 1".repeat(left.len() - 1 - axis);
                let (label, here) = (self.label(node), matches!(self.graph.nodes[node].op, Op::Input(_)));
                let named = if here {
                    format!("write `reshape({label}, [{b}{ones}])`")
                } else {
                    format!("reshape it to `[{b}{ones}]`")
                };
                diagnostic.help(format!("to align it with `{b}` on the left, {named}"))
            }
            _ => diagnostic.help("shapes align at their last axes; a dimension of 1 fits any other"),
        }
    }

    /// Spelling that keeps a dropped axis. Searches pointwise operands.
    fn reduction_in(&self, node: NodeId) -> Option<&str> {
        let (mut pending, mut steps) = (vec![node], 0);
        while let Some(at) = pending.pop().filter(|_| steps < MAX_STEPS) {
            steps += 1;
            if let Some(kept) = self.reduced.get(&at) {
                return Some(kept);
            }
            if matches!(self.graph.nodes[at].op, Op::Unary(..) | Op::Binary(..) | Op::Cast(_) | Op::Broadcast(_)) {
                pending.extend(
                    self.graph.nodes[at].op.operands().into_iter().filter(|x| self.shape(*x) == self.shape(node)),
                );
            }
        }
        None
    }
}

pub(super) fn ones() -> Vec<Size> {
    vec![Size::ONE; MAX_RANK]
}

pub(super) fn index_without_shape(at: SourceRange) -> Diagnostic {
    Diagnostic::new(Code::IndexWithoutShape, at, "`index` meets no tensor whose shape it could take")
        .help("name the tensor: `index(x, axis = 0)`")
}
