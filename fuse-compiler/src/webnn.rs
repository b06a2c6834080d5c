//! Lowers a `#[webnn]` function's graph to calls of a WebNN `MLGraphBuilder`.
//!
//! Input: a [`Graph`]. Output: an [`MlGraph`], or the operations that WebNN lacks. An operation maps only if WebNN
//! defines the same values, up to rounding of `f16`, order of sums and integer overflow.
//!
//! Booleans are `uint8`. Inputs and results keep their 32-bit words in memory.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{DType, MlGraph, MlOp, MlOperand, MlOption, Size};

use crate::{
    graph::{CompareOp, Graph, Literal, Node, NodeId, Op, ReduceOp},
    operations::{BinaryOp, MlBuilder, UnaryOp, WebNn},
    span::Span,
};

/// Operation that WebNN cannot run.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// Source position.
    pub span: Span,
    /// Operation and reason, for example `` `atan`, which WebNN does not have ``.
    pub what: String,
}

/// Lowers a function's graph to WebNN calls.
///
/// # Errors
/// Operations without a counterpart, in evaluation order.
pub fn lower(graph: &Graph) -> Result<MlGraph, Vec<Missing>> {
    let mut calls = Calls::default();
    let mut missing = vec![];
    for id in needed(graph) {
        let node = &graph.nodes[id];
        match calls.node(graph, node) {
            Ok(operand) => drop(calls.of.insert(id, operand)),
            Err(what) => {
                missing.push(Missing { span: node.span, what });
                // Placeholder, so that readers are checked, too.
                calls.of.insert(id, 0);
            }
        }
    }
    if let Some(&param) = graph.updates.first() {
        let what = format!("an update of `{}` in place", graph.params[usize::from(param)].name);
        missing.push(Missing { span: graph.nodes[graph.results[graph.returned().len()]].span, what });
    }
    let mut results = vec![];
    for result in &graph.results {
        let operand = calls.result(calls.of[result], &graph.nodes[*result], &results);
        results.push(operand);
    }
    if calls.operands.len() > usize::from(u16::MAX) {
        missing.push(Missing { span: Span::default(), what: "more than 65535 operations".to_owned() });
    }
    if missing.is_empty() {
        Ok(MlGraph { operands: calls.operands.into(), results: results.into() })
    } else {
        Err(missing)
    }
}

fn needed(graph: &Graph) -> BTreeSet<NodeId> {
    let mut needed: BTreeSet<NodeId> = graph.results.iter().copied().collect();
    let order: Vec<NodeId> = graph.nodes.iter().map(|(id, _)| id).collect();
    for id in order.into_iter().rev() {
        if needed.contains(&id) {
            needed.extend(operands(graph, &graph.nodes[id].op));
        }
    }
    needed
}

fn operands(graph: &Graph, op: &Op) -> Vec<NodeId> {
    let mut operands = op.operands();
    if !matches!(op, Op::Binary(..) | Op::Compare(..) | Op::Select { .. }) {
        return operands;
    }
    let repeated = |id: &NodeId| if let Op::Broadcast(x) = graph.nodes[*id].op { Some(x) } else { None };
    let whole = operands.iter().position(|id| repeated(id).is_none()).unwrap_or(0);
    for (index, operand) in operands.iter_mut().enumerate() {
        if index != whole
            && let Some(x) = repeated(operand)
        {
            *operand = x;
        }
    }
    operands
}

#[derive(Default)]
struct Calls {
    operands: Vec<MlOperand>,
    of: BTreeMap<NodeId, u16>,
    /// By parameter: input names must be unique.
    inputs: BTreeMap<u16, u16>,
}

impl Calls {
    fn node(&mut self, graph: &Graph, node: &Node) -> Result<u16, String> {
        let x: Vec<u16> = operands(graph, &node.op).iter().map(|id| self.of[id]).collect();
        let of = |index: usize| graph.nodes[node.op.operands()[index]].ty.dtype;
        Ok(match &node.op {
            Op::Input(param) | Op::Scalar(param) => self.input(*param, node),
            Op::Dequantize(_) => return Err("a quantized tensor, which has no counterpart there yet".to_owned()),
            Op::Literal(literal) => self.push(MlOp::Number(number(literal)), node),
            Op::Size(size) => self.push(MlOp::Size(size.clone()), node),
            Op::Unary(op, _) => self.unary(*op, x[0], of(0), node)?,
            Op::Binary(op, ..) => self.call(binary(*op, node.ty.dtype)?, &x, node),
            Op::Compare(op, ..) => self.call(compare(*op), &x, node),
            Op::Select { .. } => self.call("where", &x, node),
            Op::Cast(_) => self.cast(x[0], of(0), node)?,
            Op::Index { axis } => {
                let mut shape = vec![Size::ONE; node.ty.rank()];
                shape[*axis] = node.ty.shape[*axis].clone();
                let counting = self.operand(MlOp::Counting, DType::I32, shape);
                self.push(MlOp::Expand(counting), node)
            }
            Op::Matmul { .. } if !node.ty.dtype.is_float() => {
                return Err("a matrix product of integers, which WebNN does not have".to_owned());
            }
            Op::Matmul { .. } => self.call("matmul", &x, node),
            Op::Permute { permutation, .. } => {
                let permutation = permutation.iter().map(|axis| *axis as u8).collect();
                self.push(MlOp::Transpose { x: x[0], permutation }, node)
            }
            Op::Reshape(_) => self.push(MlOp::Reshape(x[0]), node),
            Op::Slice { axis, start, .. } => {
                self.push(MlOp::Slice { x: x[0], axis: *axis as u8, start: start.clone() }, node)
            }
            Op::Reduce { op, axes, .. } => {
                let axes = axes.iter().map(|axis| *axis as u8).collect();
                self.push(MlOp::Reduce { method: reduce(*op)?.into(), x: x[0], axes }, node)
            }
            Op::Take { x: taken, axis, .. } => {
                let last = graph.nodes[*taken].ty.shape[*axis].sub(&Size::ONE);
                let last = self.operand(MlOp::Size(last), DType::I32, vec![]);
                let first = self.operand(MlOp::Number(0.0), DType::I32, vec![]);
                let ty = (DType::I32, &node.ty.shape[..]);
                let indices = self.method("min", &[x[1], last], ty);
                let indices = self.method("max", &[indices, first], ty);
                self.push(MlOp::Gather { x: x[0], indices, axis: *axis as u8 }, node)
            }
            Op::Broadcast(_) => self.push(MlOp::Expand(x[0]), node),
        })
    }

    fn input(&mut self, param: u16, node: &Node) -> u16 {
        if let Some(&operand) = self.inputs.get(&param) {
            return operand;
        }
        let operand = if node.ty.dtype == DType::Bool {
            let words = self.operand(MlOp::Input(param), DType::U32, node.ty.shape.clone());
            let none = self.operand(MlOp::Number(0.0), DType::U32, vec![]);
            self.call("notEqual", &[words, none], node)
        } else {
            self.push(MlOp::Input(param), node)
        };
        self.inputs.insert(param, operand);
        operand
    }

    fn result(&mut self, operand: u16, node: &Node, results: &[u16]) -> u16 {
        if node.ty.dtype == DType::Bool {
            return self.operand(MlOp::Cast(operand), DType::U32, node.ty.shape.clone());
        }
        let made = self.operands.get(usize::from(operand)).map(|operand| &operand.op);
        let is_computed = !matches!(made, Some(MlOp::Input(_) | MlOp::Number(_) | MlOp::Size(_) | MlOp::Counting));
        if is_computed && !results.contains(&operand) { operand } else { self.call("identity", &[operand], node) }
    }

    fn unary(&mut self, op: UnaryOp, x: u16, from: DType, node: &Node) -> Result<u16, String> {
        match op.row().webnn {
            WebNn::Missing => Err(format!("`{}`, which WebNN does not have", op.name())),
            _ if from.is_integer() && (from == DType::U32 || op == UnaryOp::Not) => {
                Err(format!("`{}` of `{from}`, which WebNN does not have", op.name()))
            }
            WebNn::Method(method) => Ok(self.call(method, &[x], node)),
            WebNn::Composite(write) if node.ty.dtype == DType::F16 => {
                let mut wide = node.clone();
                wide.ty.dtype = DType::F32;
                let x = self.push(MlOp::Cast(x), &wide);
                let value = write(&mut Composite { calls: self, node: &wide }, x);
                Ok(self.push(MlOp::Cast(value), node))
            }
            WebNn::Composite(write) => Ok(write(&mut Composite { calls: self, node }, x)),
        }
    }

    fn cast(&mut self, x: u16, from: DType, node: &Node) -> Result<u16, String> {
        let to = node.ty.dtype;
        match (from, to) {
            _ if from == to => Ok(x),
            (_, DType::Bool) => {
                let none = self.operand(MlOp::Number(0.0), from, vec![]);
                Ok(self.call("notEqual", &[x, none], node))
            }
            (DType::Bool, _) | (_, DType::F32 | DType::F16) => Ok(self.push(MlOp::Cast(x), node)),
            _ => Err(format!("a conversion from `{from}` to `{to}`: WebNN does not say what becomes of other values")),
        }
    }

    fn call(&mut self, method: &'static str, operands: &[u16], node: &Node) -> u16 {
        self.method(method, operands, (node.ty.dtype, &node.ty.shape))
    }

    fn method(&mut self, method: &'static str, operands: &[u16], (dtype, shape): (DType, &[Size])) -> u16 {
        let (operands, options) = (operands.to_vec().into(), vec![].into());
        self.operand(MlOp::Call { method: method.into(), operands, options }, dtype, shape.to_vec())
    }

    fn push(&mut self, op: MlOp, node: &Node) -> u16 {
        self.operand(op, node.ty.dtype, node.ty.shape.clone())
    }

    fn operand(&mut self, op: MlOp, dtype: DType, shape: Vec<Size>) -> u16 {
        self.operands.push(MlOperand { op, dtype, shape: shape.into() });
        (self.operands.len() - 1) as u16
    }
}

struct Composite<'a> {
    calls: &'a mut Calls,
    node: &'a Node,
}

impl MlBuilder for Composite<'_> {
    fn call(&mut self, method: &'static str, operands: &[u16]) -> u16 {
        self.calls.call(method, operands, self.node)
    }

    fn with_options(&mut self, method: &'static str, x: u16, options: &[(&'static str, f64)]) -> u16 {
        let options = options.iter().map(|(name, value)| MlOption { name: (*name).into(), value: *value });
        let options = options.collect::<Vec<_>>().into();
        self.calls.push(MlOp::Call { method: method.into(), operands: vec![x].into(), options }, self.node)
    }

    fn number(&mut self, value: f64) -> u16 {
        self.calls.operand(MlOp::Number(value), self.node.ty.dtype, vec![])
    }
}

fn number(literal: &Literal) -> f64 {
    match *literal {
        Literal::Float(value) => value,
        Literal::Integer(value) => value as f64,
        Literal::Bool(value) => f64::from(u8::from(value)),
    }
}

fn binary(op: BinaryOp, dtype: DType) -> Result<&'static str, String> {
    match op.row().webnn {
        WebNn::Method("div") if !dtype.is_float() => {
            Err("a quotient of integers: WebNN does not say how it rounds".to_owned())
        }
        WebNn::Method(method) => Ok(method),
        WebNn::Composite(_) | WebNn::Missing => Err(format!("`{}`, which WebNN does not have", op.name())),
    }
}

fn compare(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "equal",
        CompareOp::Ne => "notEqual",
        CompareOp::Lt => "lesser",
        CompareOp::Le => "lesserOrEqual",
        CompareOp::Gt => "greater",
        CompareOp::Ge => "greaterOrEqual",
    }
}

fn reduce(op: ReduceOp) -> Result<&'static str, String> {
    Ok(match op {
        ReduceOp::Sum => "reduceSum",
        ReduceOp::Prod => "reduceProduct",
        ReduceOp::Max => "reduceMax",
        ReduceOp::Min => "reduceMin",
        ReduceOp::ArgMax | ReduceOp::ArgMin => {
            return Err(format!("`{}`: WebNN does not say which of equal values it finds", op.name()));
        }
        ReduceOp::Any | ReduceOp::All => return Err(format!("`{}`, which WebNN does not have", op.name())),
    })
}
