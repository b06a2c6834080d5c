//! `grad`, `stop_gradient` and `checkpoint`: calls the stage `grad`, and reports refusals in the user's terms.

use super::{
    Lowering,
    dims::argument_range,
    options::Site,
    output::RankExpr,
    value::{Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    grad::{self, Obstacle, Request, Seed},
    graph::{NodeId, Op},
    syntax::ast::{Argument, Expr},
};

impl Lowering<'_> {
    /// `grad(y, wrt = w)` is a value like `w`; a list gives a tuple.
    pub(super) fn gradient(&mut self, y: &Operand, site: Site<'_>) -> Option<Value> {
        if self.padded {
            let message = "`grad` is for functions, whose parameters have shapes";
            self.sink.report(
                Diagnostic::new(Code::GradientInExpression, site.at, message)
                    .help("write a function in `fuse! { … }` and call it"),
            );
            return None;
        }
        let of = self.force(y);
        let wrt = self.with_respect_to(site);
        let cotangent = match site.option("cotangent") {
            Some(Argument::Expr(expr)) => Some(self.operand(expr, site.scope)),
            Some(list) => {
                let diagnostic = Diagnostic::new(Code::BadOption, argument_range(list), "`cotangent` is one value");
                self.sink.report(diagnostic.help(format!("write `{}`", site.usage())));
                return None;
            }
            None => None,
        };
        let (of, wrt) = (of?, wrt?);
        self.require_float_result(of, y, cotangent.is_some())?;
        let cotangent = match cotangent {
            Some(operand) => Some(self.cotangent(&operand, of)?),
            None => None,
        };
        let nodes: Vec<NodeId> = wrt.iter().map(|(node, _)| *node).collect();
        let span = self.spans.add(site.at);
        let request = Request { of: &[Seed { value: of, cotangent }], wrt: &nodes, span };
        let found = grad::gradients(&mut self.graph, &mut self.marks, request);
        self.rank_new_nodes();
        let gradients = match found {
            Ok(gradients) => gradients,
            Err(obstacle) => {
                self.report_obstacle(obstacle, y, &wrt);
                return None;
            }
        };
        let values: Vec<Value> = gradients.into_iter().map(Value::Node).collect();
        Some(match (site.option("wrt"), values.as_slice()) {
            (Some(Argument::Expr(_)), [only]) => only.clone(),
            _ => Value::Tuple(values),
        })
    }

    pub(super) fn stop_gradient(&mut self, x: &Operand, at: SourceRange) -> Option<NodeId> {
        let node = self.force(x)?;
        let (dtype, shape, rank) = (self.dtype(node), self.shape(node).to_vec(), self.rank_of(node).clone());
        let stopped = self.push(Op::Reshape(node), dtype, shape, at);
        self.set_rank(stopped, rank);
        self.marks.stopped.insert(stopped);
        Some(stopped)
    }

    /// Gradients recompute the nodes from `first` on.
    pub(super) fn checkpoint(&mut self, x: &Operand, first: usize) -> Option<Value> {
        let value = match &x.value {
            Value::Tuple(_) => x.value.clone(),
            _ => Value::Node(self.force(x)?),
        };
        self.marks.checkpoints.push(first..self.graph.nodes.len());
        Some(value)
    }

    fn with_respect_to(&mut self, site: Site<'_>) -> Option<Vec<(NodeId, SourceRange)>> {
        let argument = site.option("wrt")?;
        let exprs: Vec<&Expr> = match argument {
            Argument::Expr(expr) => vec![expr],
            Argument::List(list, _) => list.iter().collect(),
        };
        if exprs.is_empty() {
            let diagnostic =
                Diagnostic::new(Code::BadOption, argument_range(argument), "`wrt` names at least one value");
            self.sink.report(diagnostic.help(format!("write `{}`", site.usage())));
            return None;
        }
        let values: Vec<_> = exprs.into_iter().map(|expr| self.differentiated(expr, site)).collect();
        values.into_iter().collect()
    }

    fn differentiated(&mut self, expr: &Expr, site: Site<'_>) -> Option<(NodeId, SourceRange)> {
        let operand = self.operand(expr, site.scope);
        let operand = self.single(&operand)?;
        let Value::Node(node) = operand.value else {
            let message = "`wrt` names parameters, and values that are bound with `let`";
            let diagnostic = Diagnostic::new(Code::GradientWrt, operand.range, message);
            self.sink.report(diagnostic.help(format!("write `{}`", site.usage())));
            return None;
        };
        let wrong = match &self.graph.nodes[node].op {
            Op::Dequantize(_) => Some((
                "a quantized weight has no gradient".to_owned(),
                "its codes are no numbers that change a little; differentiate with respect to a float".to_owned(),
            )),
            _ if !self.dtype(node).is_float() => Some((
                format!("gradients are with respect to floats, found `{}`", self.type_text(node)),
                format!("convert it before it is used: `let x = {} as f32;`", self.label(node)),
            )),
            _ => None,
        };
        if let Some((message, help)) = wrong {
            self.sink.report(Diagnostic::new(Code::GradientWrt, operand.range, message).help(help));
            return None;
        }
        Some((node, operand.range))
    }

    fn require_float_result(&mut self, of: NodeId, y: &Operand, has_cotangent: bool) -> Option<()> {
        let found = self.type_text(of);
        let (message, help) = if !self.dtype(of).is_float() {
            (format!("`grad` differentiates floats, found `{found}`"), "convert it: `y as f32`")
        } else if !has_cotangent && !self.shape(of).is_empty() {
            let message = format!("`grad` differentiates one number, found `{found}`");
            (message, "take it together, as in `sum(y)`, or say what each element counts for: `cotangent = g`")
        } else {
            return Some(());
        };
        self.sink.report(Diagnostic::new(Code::GradientOf, y.range, message).help(help));
        None
    }

    fn cotangent(&mut self, operand: &Operand, of: NodeId) -> Option<NodeId> {
        let node = match &operand.value {
            Value::Lazy(lazy) if !lazy.indexed => {
                let (dtype, shape) = (self.dtype(of), self.shape(of).to_vec());
                self.resolve(lazy, dtype, &shape)?
            }
            _ => self.force(operand)?,
        };
        if self.graph.nodes[node].ty == self.graph.nodes[of].ty {
            return Some(node);
        }
        let message = format!(
            "a cotangent has the type of what is differentiated: expected `{}`, found `{}`",
            self.type_text(of),
            self.type_text(node),
        );
        let help = "every element of it says what that element counts for";
        self.sink.report(Diagnostic::new(Code::GradientCotangent, operand.range, message).help(help));
        None
    }

    /// Sets visible ranks of nodes from other stages.
    pub(super) fn rank_new_nodes(&mut self) {
        for (_, node) in self.graph.nodes.iter().skip(self.ranks.len()) {
            self.ranks.push(RankExpr::Known(node.ty.rank()));
        }
        if self.graph.nodes.len() > super::MAX_NODES {
            self.report_too_large();
        }
    }

    fn report_obstacle(&self, obstacle: Obstacle, y: &Operand, wrt: &[(NodeId, SourceRange)]) {
        let range = |node: NodeId| self.spans.range(self.graph.nodes[node].span);
        let diagnostic = match obstacle {
            Obstacle::Unused(position) => {
                let (node, at) = wrt[position];
                let message = format!("what is differentiated does not depend on `{}`", self.label(node));
                Diagnostic::new(Code::GradientPath, at, message)
                    .note(y.range, "this is what is differentiated")
                    .help("leave it out of `wrt`; its gradient would be 0")
            }
            Obstacle::Stopped { wrt: position, by } => {
                let (node, at) = wrt[position];
                let name =
                    if self.marks.stopped.contains(&by) { "stop_gradient" } else { self.graph.nodes[by].op.name() };
                let message =
                    format!("no differentiable path leads from `{}` to what is differentiated", self.label(node));
                Diagnostic::new(Code::GradientPath, at, message)
                    .note(range(by), format!("`{name}` has no derivative"))
                    .help("integers, truth values and what `stop_gradient` gives are constants to gradients")
            }
        };
        self.sink.report(diagnostic);
    }
}
