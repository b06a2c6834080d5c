//! `#[differentiable]`: derives the graphs of `vjp`, `value_and_grad` and `pullback`.

use super::{Lowering, ident_range, output::Derivatives};
use crate::{
    diag::{Code, Diagnostic, Sink},
    grad::{
        self, Obstacle, Part, Request, Seed, part,
        pullback::{Differentiated, divide},
    },
    graph::{Graph, Node, NodeId, Op, Param},
    span::Span,
    syntax::{
        ast::{Differentiable, Function, Type},
        differentiable::Derived,
    },
};

pub(super) fn check_differentiable(function: &Function, sink: &Sink) {
    let Some(Differentiable { names, range }) = &function.differentiable else { return };
    let report = |code, at, message: String, help: &str| sink.report(Diagnostic::new(code, at, message).help(help));
    if !function.results.iter().any(Type::is_float) {
        let message = format!("`{}` is differentiable, but has no float among its results", function.name);
        report(Code::DifferentiableResult, *range, message, "return a float, or remove `#[differentiable]`");
    }
    if let Some(param) = function.params.iter().find(|param| param.updated.is_some()) {
        let message = format!("`{}` is differentiable, but updates `{}`", function.name, param.name);
        let diagnostic = Diagnostic::new(Code::DifferentiableParameter, *range, message);
        let diagnostic = diagnostic.note(ident_range(&param.name), "updated in place");
        sink.report(diagnostic.help("return new values instead, or use `grad(…)` within the function"));
        return;
    }
    let Some(names) = names else {
        if !function.params.iter().any(|param| param.ty.is_float_tensor()) {
            let message = format!("`{}` is differentiable, but takes no float tensor", function.name);
            report(Code::DifferentiableParameter, *range, message, "take one, such as `x: f32[N]`");
        }
        return;
    };
    for (position, name) in names.iter().enumerate() {
        let at = ident_range(name);
        let wrong = match function.params.iter().find(|param| param.name == *name) {
            None => Some((
                format!("`{}` has no parameter `{name}`", function.name),
                "`differentiable` lists names of parameters",
            )),
            Some(_) if names[..position].contains(name) => {
                Some((format!("`{name}` is listed twice"), "list each parameter once"))
            }
            Some(param) if param.ty.packing().is_some() => Some((
                format!("`{name}` is quantized and has no gradient"),
                "its codes are no numbers that change a little; list parameters of `f32` or `f16`",
            )),
            Some(param) if !param.ty.is_float() => {
                let message = format!("gradients are with respect to floats, found `{}`", text(&param.ty, function));
                Some((message, "list parameters of `f32` or `f16`"))
            }
            Some(param) if param.ty.dims.is_none() => Some((
                format!("`{name}` is a number of the host; gradients are with respect to tensors"),
                "declare a tensor of one element: `f32[]`",
            )),
            Some(_) => None,
        };
        if let Some((message, help)) = wrong {
            report(Code::DifferentiableParameter, at, message, help);
        }
    }
}

fn text(ty: &Type, function: &Function) -> String {
    super::type_text::type_text(ty, function)
}

impl Lowering<'_> {
    pub(super) fn derivatives(&mut self, function: &Function) -> Option<Derivatives> {
        let (derived, attribute) = (function.derived()?, function.differentiable.as_ref()?);
        let name = function.name.to_string();
        let inputs = self.inputs(&derived);
        let values: Vec<NodeId> = derived.of.iter().map(|&result| self.graph.results[result]).collect();
        let span = self.spans.add(attribute.range);
        let own_params = self.graph.params.len() as u16;
        let gradients = |graph: &mut Graph, of: &[Seed]| {
            grad::gradients(graph, &mut self.marks.clone(), Request { of, wrt: &inputs, span })
        };
        let whole = |graph: &Graph, suffix: &str, results: &[NodeId]| {
            let params = (0..graph.params.len() as u16).collect();
            part(graph, Part { name: format!("{name}::{suffix}"), results, params, given: Default::default() }).0
        };

        let mut graph = self.graph.clone();
        let pairs = values.iter().zip(&derived.cotangents);
        let seeds: Vec<Seed> = pairs
            .map(|(&value, param)| {
                let cotangent = add_cotangent(&mut graph, param.name.to_string(), value, span);
                Seed { value, cotangent: Some(cotangent) }
            })
            .collect();
        let found = match gradients(&mut graph, &seeds) {
            Ok(found) => found,
            Err(obstacle) => {
                self.report_underivable(obstacle, function, &derived);
                return None;
            }
        };
        if graph.nodes.len() > super::MAX_NODES {
            self.report_too_large();
            return None;
        }
        let vjp = whole(&graph, "vjp", &found);
        let own_nodes = self.graph.nodes.len();
        let parts = Differentiated { graph: &graph, own_nodes, own_params, gradients: &found };
        let pullback = divide(parts, &format!("{name}::pullback"));

        let value_and_grad = match (&derived.value_and_grad, &values[..]) {
            (Some(_), &[value]) => {
                let mut graph = self.graph.clone();
                // `vjp` reported obstacles.
                let found = gradients(&mut graph, &[Seed { value, cotangent: None }]).ok()?;
                let results: Vec<NodeId> = [value].into_iter().chain(found).collect();
                Some(whole(&graph, "value_and_grad", &results))
            }
            _ => None,
        };
        Some(Derivatives { vjp, value_and_grad, pullback })
    }

    fn inputs(&self, derived: &Derived) -> Vec<NodeId> {
        let is = |op: &Op, index: usize| matches!(op, Op::Input(input) if usize::from(*input) == index);
        let find = |index: usize| self.graph.nodes.iter().find(|(_, node)| is(&node.op, index)).map(|(id, _)| id);
        derived.wrt.iter().filter_map(|&index| find(index)).collect()
    }

    fn report_underivable(&self, obstacle: Obstacle, function: &Function, derived: &Derived) {
        let Some(Differentiable { names, range }) = &function.differentiable else { return };
        let range_of = |node: NodeId| self.spans.range(self.graph.nodes[node].span);
        let place = |position: usize| {
            let name = &function.params[derived.wrt[position]].name;
            let listed = names.iter().flatten().find(|listed| *listed == name);
            (name, ident_range(listed.unwrap_or(name)))
        };
        let leave_out = |position: usize| {
            let others = derived.wrt.iter().filter(|&&index| index != derived.wrt[position]);
            let others: Vec<String> = others.map(|&index| function.params[index].name.to_string()).collect();
            match &others[..] {
                [] => "its gradient would be 0".to_owned(),
                others => format!("list the others: `#[differentiable({})]`", others.join(", ")),
            }
        };
        self.sink.report(match obstacle {
            Obstacle::Unused(position) => {
                let (name, at) = place(position);
                let message = format!("no float result of `{}` depends on `{name}`", function.name);
                let diagnostic = Diagnostic::new(Code::DifferentiablePath, at, message);
                diagnostic.note(*range, "differentiated because of this").help(leave_out(position))
            }
            Obstacle::Stopped { wrt: position, by } => {
                let (name, at) = place(position);
                let stopped = self.marks.stopped.contains(&by);
                let operation = if stopped { "stop_gradient" } else { self.graph.nodes[by].op.name() };
                let message =
                    format!("no differentiable path leads from `{name}` to a float result of `{}`", function.name);
                Diagnostic::new(Code::DifferentiablePath, at, message)
                    .note(range_of(by), format!("`{operation}` has no derivative"))
                    .help(leave_out(position))
            }
        });
    }
}

fn add_cotangent(graph: &mut Graph, name: String, value: NodeId, span: Span) -> NodeId {
    let (ty, index) = (graph.nodes[value].ty.clone(), graph.params.len() as u16);
    graph.params.push(Param { name, ty: ty.clone(), scalar: false, padded: false, quantized: None });
    graph.nodes.push(Node { op: Op::Input(index), ty, span })
}
