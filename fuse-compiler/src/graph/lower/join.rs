//! `concat`, `stack` and `flip`.
//!
//! The graph lacks these operations: `grad::joined` takes each element from its source piece.

use fuse_artifact::{DType, Relation, Size};

use super::{
    Lowering, axes_text,
    dims::argument_range,
    options::Site,
    output::RankExpr,
    pointwise::join,
    ranks,
    value::{Axis, AxisKind, LazyDType, Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    grad::{self, Movement},
    graph::{NodeId, Op},
    operations::BinaryOp,
};

type Piece = (NodeId, SourceRange);

impl Lowering<'_> {
    pub(super) fn concat(&mut self, pieces: &[Operand], site: Site<'_>) -> Option<NodeId> {
        let axis = self.axis(site.option("axis")?, site.scope, &site.usage());
        let pieces = self.pieces(pieces, site)?;
        let (axis, first) = (axis?, pieces[0].0);
        let position = self.axis_of_node(&axis, first)?;
        self.concatenated(&pieces, position, site)
    }

    /// Stacks pieces along a new axis. Negative axes count in the result.
    pub(super) fn stack(&mut self, pieces: &[Operand], site: Site<'_>) -> Option<NodeId> {
        let axis = self.axis(site.option("axis")?, site.scope, &site.usage());
        let pieces = self.pieces(pieces, site)?;
        let axis: Axis = axis?;
        let AxisKind::Number(number) = axis.kind else {
            self.sink.report(
                Diagnostic::new(Code::BadOption, axis.range, "the new axis has no name yet")
                    .help(format!("write its place as a number: `{}`", site.usage())),
            );
            return None;
        };
        let mut layers = Vec::new();
        for (node, range) in &pieces {
            let operand = Operand { value: Value::Node(*node), range: *range };
            layers.push((self.unsqueeze(&operand, &axis, site.at)?, *range));
        }
        let rank = self.shape(layers[0].0).len();
        let visible = self.visible_rank(layers[0].0).unwrap_or(rank) as i64;
        let position = if number < 0 { rank as i64 + number } else { rank as i64 - visible + number };
        self.concatenated(&layers, position as usize, site)
    }

    fn pieces(&mut self, operands: &[Operand], site: Site<'_>) -> Option<Vec<Piece>> {
        let list = site.call.arguments.first().map_or(site.at, argument_range);
        let operands: Vec<Operand> = operands.iter().map(|operand| self.single(operand)).collect::<Option<_>>()?;
        let Some(first) = operands.first() else {
            self.sink.report(
                Diagnostic::new(Code::BadOption, list, format!("`{}` takes at least one value", site.name()))
                    .help(format!("write `{}`", site.usage())),
            );
            return None;
        };
        let known = operands.iter().find_map(|operand| match self.dtype_of(operand) {
            LazyDType::Known(dtype) => Some((dtype, operand)),
            _ => None,
        });
        let (dtype, decides) = known.unwrap_or_else(|| (self.dtype_of(first).default_dtype(), first));
        let mut pieces: Vec<Piece> = Vec::new();
        for operand in &operands {
            let found = self.dtype_of(operand);
            if join(found, LazyDType::Known(dtype)).is_none() {
                let found = match found {
                    LazyDType::Known(found) => found.name(),
                    LazyDType::Number(_) | LazyDType::Float(_) => "a number",
                };
                let message =
                    format!("`{}` joins values of one dtype: expected `{dtype}`, found `{found}`", site.name());
                self.sink.report(
                    Diagnostic::new(Code::DTypeMismatch, operand.range, message)
                        .note(decides.range, format!("this is `{dtype}`"))
                        .help(format!("convert it: `{} as {dtype}`", self.operand_label(operand))),
                );
                return None;
            }
            let node = match &operand.value {
                Value::Lazy(lazy) if !lazy.indexed && !self.padded => self.resolve(lazy, dtype, &[])?,
                Value::Lazy(lazy) if !lazy.indexed => {
                    let ones = self.pad(vec![]);
                    self.resolve(lazy, dtype, &ones)?
                }
                _ => self.force(operand)?,
            };
            pieces.push((node, operand.range));
        }
        self.require_one_rank(&pieces, site)?;
        Some(pieces)
    }

    fn require_one_rank(&mut self, pieces: &[Piece], site: Site<'_>) -> Option<()> {
        let (first, place) = pieces[0];
        for &(node, range) in &pieces[1..] {
            let (Some(expected), Some(found)) = (self.visible_rank(first), self.visible_rank(node)) else { continue };
            if expected != found {
                let message = format!(
                    "`{}` joins values of one rank: expected {}, found `{}` with {}",
                    site.name(),
                    axes_text(expected),
                    self.type_text(node),
                    axes_text(found),
                );
                self.sink.report(
                    Diagnostic::new(Code::RankMismatch, range, message)
                        .note(place, format!("this is `{}`", self.type_text(first)))
                        .help("add an axis with `unsqueeze`, or write `stack([a, b], axis = 0)` for a new one"),
                );
                return None;
            }
        }
        Some(())
    }

    fn concatenated(&mut self, pieces: &[Piece], axis: usize, site: Site<'_>) -> Option<NodeId> {
        let at = site.at;
        let first = pieces[0].0;
        let mut rank = self.rank_of(first).clone();
        let mut shape = self.shape(first).to_vec();
        for &(node, range) in pieces {
            self.require_extents(node, first, axis, range, site)?;
            rank = ranks::same(rank, self.rank_of(node).clone());
        }
        if let [(only, _)] = pieces {
            return Some(*only);
        }
        let mut own = Vec::with_capacity(pieces.len());
        for &(node, range) in pieces {
            shape[axis] = self.shape(node)[axis].clone();
            own.push(self.broadcast_node(node, &shape, range));
        }
        let span = self.spans.add(at);
        let value = grad::joined(&mut self.graph, &mut self.marks, (axis, &own), span);
        self.rank_new_nodes();
        self.set_rank(value, rank);
        Some(value)
    }

    /// Requires equal other extents: now, or (expression form) at launch.
    fn require_extents(
        &mut self,
        node: NodeId,
        first: NodeId,
        axis: usize,
        range: SourceRange,
        site: Site<'_>,
    ) -> Option<()> {
        let (want, have) = (self.shape(first).to_vec(), self.shape(node).to_vec());
        for other in (0..want.len()).filter(|&other| other != axis && want[other] != have[other]) {
            let literal = want[other].as_constant().is_some() && have[other].as_constant().is_some();
            if self.padded && !literal {
                let what = format!("dimensions of `{}` beside its axis", site.name());
                self.check(Relation::Equal, want[other].clone(), have[other].clone(), what);
                continue;
            }
            let message = format!(
                "`{}` joins values that agree beside the axis: expected `{}`, found `{}` in `{}`",
                site.name(),
                self.size_text(&want[other]),
                self.size_text(&have[other]),
                self.type_text(node),
            );
            let diagnostic = Diagnostic::new(Code::DimensionMismatch, range, message);
            let diagnostic = self.with_origins(diagnostic, &[&want[other], &have[other]]);
            self.sink.report(diagnostic.help("only the extents along `axis` may differ"));
            return None;
        }
        Some(())
    }

    pub(super) fn flip(&mut self, x: &Operand, site: Site<'_>) -> Option<NodeId> {
        let node = self.force(x)?;
        let axes = self.axes_option(site, node)?;
        let (at, shape) = (site.at, self.shape(node).to_vec());
        let rank: RankExpr = self.rank_of(node).clone();
        let mut value = node;
        for axis in axes.into_iter().filter(|&axis| !shape[axis].is_one()) {
            let place = self.coordinate(axis, &shape, at);
            // Not a size: it is -1 for an empty axis.
            let last = match shape[axis].as_constant() {
                Some(extent) if extent > 0 => self.size_number(&Size::constant(extent - 1), DType::I32, at),
                _ => {
                    let extent = self.size_number(&shape[axis], DType::I32, at);
                    let one = self.number(1.0, DType::I32, at);
                    self.binary(BinaryOp::Sub, extent, one, at)
                }
            };
            let last = self.broadcast_node(last, &shape, at);
            let index = self.binary(BinaryOp::Sub, last, place, at);
            let dtype = self.dtype(value);
            value = self.push(Op::Take { x: value, axis, index }, dtype, shape.clone(), at);
            self.marks.moved.insert(value, Movement::Shift);
        }
        self.set_rank(value, rank);
        Some(value)
    }
}
