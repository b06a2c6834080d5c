//! The canonical text of a graph: stable numbers, nothing that no result needs, parameters all listed.

use std::{collections::BTreeMap, fmt::Write};

use fuse_artifact::{Relation, Size, SymbolSource};

use super::{Graph, Literal, NodeId, Op, TensorType};

/// The graph as text. Equal graphs give equal texts.
pub fn print(graph: &Graph) -> String {
    Printer { graph, numbers: live_numbers(graph) }.text()
}

struct Printer<'a> {
    graph: &'a Graph,
    numbers: BTreeMap<NodeId, usize>,
}

/// Numbers the nodes that a result needs, in order.
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
            if let SymbolSource::Broadcast(sizes) = &symbol.source {
                let _ = writeln!(text, "  let {} = broadcast [{}]", symbol.name, self.shape(sizes));
            }
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
        let _ = writeln!(text, "  return {}", results.join(", "));
        text
    }

    fn param(&self, param: &super::Param) -> String {
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
