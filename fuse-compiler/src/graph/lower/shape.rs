//! Operations that move elements and compute nothing.

use fuse_artifact::{Relation, Size};

use super::{
    Lowering, Scope, axes_text,
    dims::{always_above, argument_range, axis_out_of_range, integer, never_equal},
    normalize::exact_quotient,
    output::RankExpr,
    ranks,
    resolve::ones,
    value::{Axis, AxisKind, Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::{NodeId, Op},
    syntax::{
        ast::{Argument, Expr, ExprKind},
        types::MAX_RANK,
    },
};

impl Lowering<'_> {
    pub(super) fn transpose(&mut self, x: &Operand, at: SourceRange) -> Option<NodeId> {
        let node = self.force(x)?;
        if let Some(rank) = self.visible_rank(node).filter(|rank| *rank < 2) {
            let message = format!(
                "`transpose` swaps the last two axes, found `{}` with {}",
                self.type_text(node),
                axes_text(rank)
            );
            self.sink.report(
                Diagnostic::new(Code::TransposeRank, x.range, message)
                    .help(format!("to make a vector a column write `unsqueeze({}, axis = 1)`", self.label(node))),
            );
            return None;
        }
        let rank = self.shape(node).len();
        let mut permutation: Vec<usize> = (0..rank).collect();
        permutation.swap(rank - 2, rank - 1);
        let visible = ranks::at_least(2, self.rank_of(node).clone());
        let node = self.permuted(node, permutation, at);
        self.keep_mark(x, node);
        self.set_rank(node, visible);
        Some(node)
    }

    fn permuted(&mut self, x: NodeId, permutation: Vec<usize>, at: SourceRange) -> NodeId {
        let shape = permutation.iter().map(|&axis| self.shape(x)[axis].clone()).collect();
        let dtype = self.dtype(x);
        self.push(Op::Permute { x, permutation }, dtype, shape, at)
    }

    /// Axis `d` of the value is axis `list[d]` of the operand.
    pub(super) fn permute(&mut self, x: &Operand, list: &Argument, at: SourceRange) -> Option<NodeId> {
        let node = self.force(x);
        let elements = self.list(list, "permute(x, [0, 2, 1])")?;
        let node = node?;
        let range = argument_range(list);
        let rank = self.visible_rank(node).unwrap_or(elements.len());
        if elements.len() != rank || rank > MAX_RANK {
            let message = format!("`permute` lists {} of a value with {}", axes_text(elements.len()), axes_text(rank));
            self.sink.report(
                Diagnostic::new(Code::PermuteLength, range, message)
                    .help("list every axis once: `permute(x, [0, 2, 1])`"),
            );
            return None;
        }
        let axes = self.permutation(elements, rank)?;
        let hidden = self.shape(node).len() - rank;
        if self.padded {
            let outer = Size::product(&self.shape(node)[..hidden]);
            self.check(Relation::Equal, outer, Size::ONE, format!("axes that `permute` lists {rank} of"));
        }
        let permutation = (0..hidden).chain(axes.into_iter().map(|axis| hidden + axis)).collect();
        self.require_rank_expr(&ranks::exactly(rank, self.rank_of(node).clone()));
        let node = self.permuted(node, permutation, at);
        self.keep_mark(x, node);
        self.set_rank(node, RankExpr::Known(rank));
        Some(node)
    }

    fn permutation(&self, elements: &[Expr], rank: usize) -> Option<Vec<usize>> {
        let mut axes = Vec::new();
        for element in elements {
            let Some(number) = integer(element) else {
                if !matches!(element.kind, ExprKind::Error) {
                    self.sink.report(
                        Diagnostic::new(Code::BadOption, element.span, "expected an axis as a number")
                            .help("write `permute(x, [0, 2, 1])`"),
                    );
                }
                return None;
            };
            let position = if number < 0 { number + rank as i64 } else { number };
            if !(0..rank as i64).contains(&position) {
                self.sink.report(axis_out_of_range(number, rank, element.span));
                return None;
            }
            if axes.contains(&(position as usize)) {
                self.sink.report(
                    Diagnostic::new(Code::DuplicateAxis, element.span, format!("axis {number} is listed twice"))
                        .help("list every axis once"),
                );
                return None;
            }
            axes.push(position as usize);
        }
        Some(axes)
    }

    pub(super) fn reshape(&mut self, x: &Operand, list: &Argument, scope: &Scope, at: SourceRange) -> Option<NodeId> {
        let node = self.force(x);
        let open = self.open_size(list)?;
        let target = match open {
            None => self.sizes_of(list, scope, "reshape(x, [M, 4])"),
            Some(position) => self.sizes_around(list, position, node?, scope),
        };
        let (target, node) = (target?, node?);
        self.require_rank(target.len(), argument_range(list))?;
        let (have, want) = (self.graph.nodes[node].ty.elements(), Size::product(&target));
        let negative = target.iter().find(|size| always_above(&Size::constant(0), size));
        if never_equal(&have, &want) || negative.is_some() {
            let message = format!(
                "`{}` has `{}` elements, which do not fit `[{}]` with `{}`",
                self.type_text(node),
                self.size_text(&have),
                self.shape_text(&target),
                self.size_text(&want),
            );
            let diagnostic = Diagnostic::new(Code::ReshapeElements, at, message);
            self.sink.report(diagnostic.help("a reshape keeps all elements: both products must be equal"));
            return None;
        }
        self.check(Relation::Equal, have, want, "number of elements of `reshape`");
        let rank = RankExpr::Known(target.len());
        Some(self.reshaped(node, target, rank, at))
    }

    /// Position of `-1`. Reports more than one.
    fn open_size(&self, list: &Argument) -> Option<Option<usize>> {
        let Argument::List(elements, _) = list else { return Some(None) };
        let mut open = (0..elements.len()).filter(|&position| integer(&elements[position]) == Some(-1));
        let first = open.next();
        if let Some(second) = open.next() {
            let message = "one size of a reshape can be `-1`, which stands for what is left";
            self.sink.report(
                Diagnostic::new(Code::BadDimension, elements[second].span, message)
                    .help("write the other as a number or a name"),
            );
            return None;
        }
        Some(first)
    }

    fn sizes_around(&mut self, list: &Argument, open: usize, node: NodeId, scope: &Scope) -> Option<Vec<Size>> {
        let Argument::List(elements, span) = list else { return None };
        let mut others = elements.clone();
        let place = others.remove(open).span;
        let mut sizes = self.sizes_of(&Argument::List(others, *span), scope, "reshape(x, [M, 4])")?;
        let (have, given) = (self.graph.nodes[node].ty.elements(), Size::product(&sizes));
        let Some(left) = exact_quotient(&have, &given) else {
            let message = format!(
                "`-1` stands for `{}` elements divided by `{}`, which is no product of dimensions",
                self.size_text(&have),
                self.size_text(&given)
            );
            let help = match self.padded {
                true => "write a number, or a `fn` with types such as `f32[M, 4 * N]`",
                false => "write the size, or declare the divided dimension as a product: `x: f32[M, 4 * N]`",
            };
            self.sink.report(Diagnostic::new(Code::ReshapeElements, place, message).help(help));
            return None;
        };
        sizes.insert(open, left);
        Some(sizes)
    }

    /// Reshapes a value, and sets its visible rank.
    ///
    /// Only the last of consecutive reshapes remains, and identities vanish: `unsqueeze` of a reduced value is the
    /// value before its axis was dropped. Nodes of gradients remain.
    pub(super) fn reshaped(&mut self, x: NodeId, visible: Vec<Size>, rank: RankExpr, at: SourceRange) -> NodeId {
        let shape = self.pad(visible);
        let dtype = self.dtype(x);
        let mut x = x;
        while let Op::Reshape(inner) = self.graph.nodes[x].op
            && !self.marks.stopped.contains(&x)
            && !self.kept.contains(&x)
            && self.graph.nodes[inner].ty.elements() == Size::product(&shape)
        {
            x = inner;
        }
        if self.shape(x) == shape && (!self.padded || *self.rank_of(x) == rank) {
            return x;
        }
        let node = self.push(Op::Reshape(x), dtype, shape, at);
        self.set_rank(node, rank);
        node
    }

    pub(super) fn pad(&self, visible: Vec<Size>) -> Vec<Size> {
        if !self.padded {
            return visible;
        }
        let mut shape = ones();
        shape.truncate(MAX_RANK - visible.len());
        shape.extend(visible);
        shape
    }

    pub(super) fn require_rank(&self, rank: usize, at: SourceRange) -> Option<()> {
        if rank <= MAX_RANK {
            return Some(());
        }
        let message = format!("a tensor has at most {MAX_RANK} axes, this one would have {rank}");
        self.sink.report(
            Diagnostic::new(Code::RankTooHigh, at, message)
                .help("merge neighboring axes, for example `B * H` in place of `B, H`"),
        );
        None
    }

    pub(super) fn broadcast_to(
        &mut self,
        x: &Operand,
        list: &Argument,
        scope: &Scope,
        at: SourceRange,
    ) -> Option<NodeId> {
        let node = self.force(x);
        let visible = self.sizes_of(list, scope, "broadcast_to(x, [M, N])")?;
        let node = node?;
        self.require_rank(visible.len(), argument_range(list))?;
        let rank = visible.len();
        let target = self.pad(visible);
        let own = self.shape(node).to_vec();
        let offset = target.len().checked_sub(own.len());
        let misfit = offset.map(|offset| (0..own.len()).find(|&axis| !self.fits(&own[axis], &target[offset + axis])));
        if misfit != Some(None) {
            let message = format!("`{}` does not broadcast to `[{}]`", self.type_text(node), self.shape_text(&target));
            let diagnostic = match (misfit.flatten(), offset) {
                (Some(axis), Some(offset)) => self.with_origins(
                    Diagnostic::new(Code::BroadcastToShape, at, message),
                    &[&own[axis], &target[offset + axis]],
                ),
                _ => Diagnostic::new(Code::BroadcastToShape, at, message),
            };
            self.sink.report(diagnostic.help("shapes align at their last axes; only a dimension of 1 can be repeated"));
            return None;
        }
        if self.padded {
            for (have, want) in own.iter().zip(&target) {
                self.check_fits(have, want);
            }
        }
        let node = self.broadcast_node(node, &target, at);
        self.set_rank(node, RankExpr::Known(rank));
        Some(node)
    }

    fn fits(&self, have: &Size, want: &Size) -> bool {
        have == want || have.is_one() || self.padded && have.as_constant().is_none()
    }

    pub(super) fn slice(
        &mut self,
        x: &Operand,
        axis: &Axis,
        bounds: (Option<&Argument>, Option<&Argument>),
        scope: &Scope,
        at: SourceRange,
    ) -> Option<NodeId> {
        let node = self.force(x)?;
        let axis = self.axis_of_node(axis, node)?;
        let extent = self.shape(node)[axis].clone();
        let start = self.bound(bounds.0, scope, Size::constant(0));
        let end = self.bound(bounds.1, scope, extent.clone());
        let (start, end) = (start?, end?);
        let (from, to, whole) = (self.size_text(&start), self.size_text(&end), self.size_text(&extent));
        if always_above(&end, &extent) {
            let range = bounds.1.map_or(at, argument_range);
            self.sink.report(
                Diagnostic::new(
                    Code::SliceOutOfRange,
                    range,
                    format!("the slice ends at `{to}`, the axis at `{whole}`"),
                )
                .help(format!("`end` is exclusive; the largest is `{whole}`")),
            );
            return None;
        }
        if always_above(&start, &end) {
            let range = bounds.0.map_or(at, argument_range);
            self.sink.report(
                Diagnostic::new(
                    Code::SliceReversed,
                    range,
                    format!("the slice starts at `{from}`, after its end `{to}`"),
                )
                .help("`start` is the first index, `end` the one behind the last"),
            );
            return None;
        }
        self.check(Relation::AtMost, end.clone(), extent, "end of `slice`");
        self.check(Relation::AtMost, start.clone(), end.clone(), "start of `slice`");
        let mut shape = self.shape(node).to_vec();
        shape[axis] = end.sub(&start);
        let dtype = self.dtype(node);
        Some(self.push(Op::Slice { x: node, axis, start }, dtype, shape, at))
    }

    fn bound(&mut self, argument: Option<&Argument>, scope: &Scope, default: Size) -> Option<Size> {
        match argument {
            None => Some(default),
            Some(Argument::Expr(expr)) => match self.size_of(expr, scope) {
                Ok(size) => Some(size),
                Err(diagnostic) => {
                    let named = if let ExprKind::Name(name) = &expr.kind { Some(name.to_string()) } else { None };
                    let value = named.and_then(|name| Some((scope.variables.get(&name)?.value.clone(), name)));
                    match (diagnostic, value) {
                        (Some(diagnostic), Some((value, name))) => self.sink.report(
                            diagnostic
                                .instead("the bounds of a slice are numbers, dimensions and `u32` parameters")
                                .help(self.help_of_bound(&value, &name)),
                        ),
                        (Some(diagnostic), None) => self.sink.report(diagnostic),
                        (None, _) => {}
                    }
                    None
                }
            },
            Some(list @ Argument::List(..)) => {
                self.sink.report(
                    Diagnostic::new(Code::BadOption, argument_range(list), "expected one bound, found a list")
                        .help("write `slice(x, axis = 1, start = 0, end = 4)`"),
                );
                None
            }
        }
    }

    fn help_of_bound(&self, value: &Value, name: &str) -> String {
        match value {
            Value::Node(node) if matches!(self.graph.nodes[*node].op, Op::Scalar(_)) => format!(
                "to take 4 elements from `{name}` on, declare it as `{name}: u32` and write `slice(x, axis = 0, start = {name}, \
                 end = {name} + 4)`"
            ),
            _ => format!(
                "to take 4 elements from `{name}: i32` on, gather them: `gather(x, broadcast_to({name}, [4]) + index(axis = 0), \
                 axis = 0)`"
            ),
        }
    }

    pub(super) fn squeeze(&mut self, x: &Operand, axis: &Axis, at: SourceRange) -> Option<NodeId> {
        let node = self.force(x)?;
        let position = self.axis_of_node(axis, node)?;
        let mut shape = self.shape(node).to_vec();
        let extent = shape.remove(position);
        if !extent.is_one() && !self.padded {
            let message = format!("this axis is `{}`, not 1", self.size_text(&extent));
            let diagnostic =
                self.with_origins(Diagnostic::new(Code::SqueezeExtent, axis.range, message), &[&extent]).help(format!(
                    "to keep one element of it write `slice({}, axis = {position}, start = 0, end = 1)` first",
                    self.label(node)
                ));
            self.sink.report(diagnostic);
            return None;
        }
        self.check(Relation::Equal, extent, Size::ONE, "axis of `squeeze`");
        let rank = ranks::minus_1(self.rank_of(node).clone());
        Some(self.reshaped(node, shape, rank, at))
    }

    /// Negative axes count in the result.
    pub(super) fn unsqueeze(&mut self, x: &Operand, axis: &Axis, at: SourceRange) -> Option<NodeId> {
        let node = self.force(x)?;
        let AxisKind::Number(number) = axis.kind else {
            self.sink.report(
                Diagnostic::new(Code::BadOption, axis.range, "the new axis has no name yet")
                    .help("write its place as a number: `unsqueeze(x, axis = 0)`"),
            );
            return None;
        };
        let visible = self.visible_rank(node);
        let mut shape = self.shape(node).to_vec();
        if let Some(rank) = visible {
            self.require_rank(rank + 1, at)?;
            shape.drain(..shape.len() - rank);
        } else {
            let outermost = shape.remove(0);
            self.check(Relation::Equal, outermost, Size::ONE, "rank of the operand of `unsqueeze`, at most 5");
        }
        shape.push(Size::ONE);
        let place = Axis { kind: AxisKind::Number(number), range: axis.range };
        let position = self.axis_of_shape(&place, &shape, visible.map(|rank| rank + 1))?;
        shape.pop();
        shape.insert(position, Size::ONE);
        let rank = ranks::plus_1(self.rank_of(node).clone());
        Some(self.reshaped(node, shape, rank, at))
    }
}
