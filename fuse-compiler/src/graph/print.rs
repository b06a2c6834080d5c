//! Canonical text of a graph: stable numbers, all parameters, needed nodes.

use std::{collections::BTreeMap, fmt::Write};

use fuse_artifact::{Relation, Size, SymbolSource};

use super::{Graph, Literal, NodeId, Op, TensorType};

/// Equal graphs print equally.
pub fn print(graph: &Graph) -> String {
    Printer { graph, numbers: live_numbers(graph) }.text()
}

struct Printer<'a> {
    graph: &'a Graph,
    numbers: BTreeMap<NodeId, usize>,
}

fn live_numbers(graph: &Graph) -> BTreeMap<NodeId, usize> {
    let mut pending = graph.results.clone();
    let mut live = BTreeMap::new();
    while let Some(id) = pending.pop() {
        if graph.nodes.contains(id) && live.insert(id, 0).is_none() {
            pending.extend(graph.nodes[id].op.operands());
        }
    }
    live.into_keys().enumerate().map(|(number, id)| (id, number)).collect()
}

impl Printer<'_> {
    fn text(&self) -> String {
        let params: Vec<String> = self.graph.params.iter().map(|p| format!("{}: {}", p.name, self.param(p))).collect();
        let mut text = format!("fn {}({})\n", self.graph.name, params.join(", "));
        for symbol in &self.graph.symbols {
            let _ = match &symbol.source {
                SymbolSource::Axis { .. } | SymbolSource::Scalar { .. } => Ok(()),
                SymbolSource::Broadcast(sizes) => {
                    writeln!(text, "  let {} = broadcast [{}]", symbol.name, self.shape(sizes))
                }
                SymbolSource::Quotient { dividend, divisor } => {
                    let (dividend, divisor) = (self.size(dividend), self.size(divisor));
                    writeln!(text, "  let {} = quotient {dividend}, {divisor}", symbol.name)
                }
            };
        }
        for (id, number) in &self.numbers {
            let node = &self.graph.nodes[*id];
            let _ = writeln!(text, "  %{number}: {} = {}", self.ty(&node.ty), self.op(&node.op));
        }
        for check in &self.graph.checks {
            let relation = match check.relation {
                Relation::Equal => "==",
                Relation::AtMost => "<=",
            };
            let (left, right) = (self.size(&check.left), self.size(&check.right));
            let _ = writeln!(text, "  check {left} {relation} {right} ({})", check.what);
        }
        let results: Vec<String> = self.graph.results.iter().map(|id| self.id(*id)).collect();
        let (returned, updated) = results.split_at(self.graph.returned().len());
        for (param, value) in self.graph.updates.iter().zip(updated) {
            let _ = writeln!(text, "  *{} = {value}", self.graph.params[usize::from(*param)].name);
        }
        if !returned.is_empty() {
            let _ = writeln!(text, "  return {}", returned.join(", "));
        }
        text
    }

    fn param(&self, param: &super::Param) -> String {
        if let Some(quantized) = &param.quantized {
            let (name, shape) = (quantized.packing.name(), self.shape(&param.ty.shape));
            return format!("{name}[{shape}] packed along {}", quantized.axis);
        }
        match (param.scalar, param.padded) {
            (true, _) => param.ty.dtype.to_string(),
            (false, false) => self.ty(&param.ty),
            (false, true) => format!("{}[..]", param.ty.dtype),
        }
    }

    fn ty(&self, ty: &TensorType) -> String {
        format!("{}[{}]", ty.dtype, self.shape(&ty.shape))
    }

    fn shape(&self, shape: &[Size]) -> String {
        shape.iter().map(|size| self.size(size)).collect::<Vec<_>>().join(", ")
    }

    fn size(&self, size: &Size) -> String {
        let name = |id: u16| self.graph.symbols.get(usize::from(id)).map_or("?", |symbol| symbol.name.as_ref());
        size.display(name).to_string()
    }

    fn id(&self, id: NodeId) -> String {
        self.numbers.get(&id).map_or_else(|| "%?".into(), |number| format!("%{number}"))
    }

    fn op(&self, op: &Op) -> String {
        let param = |index: u16| self.graph.params.get(usize::from(index)).map_or("?", |param| param.name.as_str());
        let operands = op.operands().into_iter().map(|id| self.id(id)).collect::<Vec<_>>().join(", ");
        match op {
            Op::Input(index) => format!("input {}", param(*index)),
            Op::Dequantize(index) => format!("dequantize {}", param(*index)),
            Op::Scalar(index) => format!("scalar {}", param(*index)),
            Op::Literal(Literal::Float(value)) => format!("literal {value:?}"),
            Op::Literal(Literal::Integer(value)) => format!("literal {value}"),
            Op::Literal(Literal::Bool(value)) => format!("literal {value}"),
            Op::Index { axis } => format!("index axis={axis}"),
            Op::Size(size) => format!("size {}", self.size(size)),
            Op::Reduce { axes, .. } => format!("{} {operands} axes={axes:?}", op.name()),
            Op::Take { axis, .. } => format!("take {operands} axis={axis}"),
            Op::Permute { permutation, .. } => format!("permute {operands} {permutation:?}"),
            Op::Slice { axis, start, .. } => format!("slice {operands} axis={axis} start={}", self.size(start)),
            _ => format!("{} {operands}", op.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{DType, Symbol};

    use super::*;
    use crate::{
        arena::Arena,
        graph::{Node, Param, ReduceOp},
        operations::BinaryOp,
        span::Span,
    };

    #[test]
    fn reductions_sizes_and_coordinates_have_their_attributes() {
        let (m, n) = (Size::symbol(0), Size::symbol(1));
        let ty = |dtype, shape: &[&Size]| TensorType::new(dtype, shape.iter().copied().cloned().collect());
        let symbol =
            |name: &str, axis| Symbol { name: name.to_owned().into(), source: SymbolSource::Axis { param: 0, axis } };
        let x_ty = ty(DType::F32, &[&m, &n]);
        let mut graph = Graph {
            name: "f".into(),
            params: vec![Param { name: "x".into(), ty: x_ty.clone(), scalar: false, padded: false, quantized: None }],
            symbols: vec![symbol("M", 0), symbol("N", 1)],
            checks: vec![],
            nodes: Arena::default(),
            results: vec![],
            updates: vec![],
            gradients: vec![],
            statements: vec![],
            options: Default::default(),
        };
        let mut node = |op, ty| graph.nodes.push(Node { op, ty, span: Span::default() });
        let x = node(Op::Input(0), x_ty.clone());
        let one = Size::ONE;
        let sum = node(Op::Reduce { op: ReduceOp::Sum, x, axes: vec![0, 1] }, ty(DType::F32, &[&one, &one]));
        let count = node(Op::Size(m.mul(&n)), ty(DType::F32, &[]));
        let count = node(Op::Broadcast(count), ty(DType::F32, &[&one, &one]));
        let mean = node(Op::Binary(BinaryOp::Div, sum, count), ty(DType::F32, &[&one, &one]));
        let best = node(Op::Reduce { op: ReduceOp::ArgMax, x, axes: vec![1] }, ty(DType::I32, &[&m, &one]));
        let taken = node(Op::Take { x, axis: 1, index: best }, ty(DType::F32, &[&m, &one]));
        graph.results = vec![mean, taken];
        let expected = "\
fn f(x: f32[M, N])
  %0: f32[M, N] = input x
  %1: f32[1, 1] = sum %0 axes=[0, 1]
  %2: f32[] = size M*N
  %3: f32[1, 1] = broadcast %2
  %4: f32[1, 1] = div %1, %3
  %5: i32[M, 1] = argmax %0 axes=[1]
  %6: f32[M, 1] = take %0, %5 axis=1
  return %4, %6
";
        assert_eq!(print(&graph), expected);
    }
}
