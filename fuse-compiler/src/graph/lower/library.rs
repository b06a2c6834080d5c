//! Composite operations: `pad`, `roll`, `repeat`, `tile`, `split`, `tril`, `triu`, `glu` and `cross_entropy`.
//!
//! Elements are read from their source coordinates, so nothing is copied first.

use fuse_artifact::{DType, Relation, Size, SymbolSource};

use super::{
    Lowering, axes_text,
    catalog::Kind,
    dims::{argument_range, integer},
    normalize::exact_quotient,
    options::{Site, literal_value},
    ranks,
    value::{Axis, AxisKind, Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic},
    grad::Movement,
    graph::{CompareOp, Literal, NodeId, Op, ReduceOp},
    operations::{BinaryOp, UnaryOp},
    syntax::ast::Argument,
};

impl Lowering<'_> {
    fn axis_of(&mut self, x: &Operand, site: Site<'_>) -> Option<(NodeId, usize)> {
        let node = self.force(x)?;
        let axis = self.axis(site.option("axis")?, site.scope, &site.usage())?;
        Some((node, self.axis_of_node(&axis, node)?))
    }

    fn size_option(&mut self, site: Site<'_>, name: &str, default: u64) -> Option<Size> {
        match site.option(name) {
            None => Some(Size::constant(default)),
            Some(argument @ Argument::List(..)) => {
                let message = format!("`{name}` is a number or a dimension, found a list");
                let diagnostic = Diagnostic::new(Code::BadOption, argument_range(argument), message);
                self.sink.report(diagnostic.help(format!("write `{}`", site.usage())));
                None
            }
            Some(Argument::Expr(expr)) => match self.size_of(expr, site.scope) {
                Ok(size) => Some(size),
                Err(diagnostic) => {
                    diagnostic.into_iter().for_each(|diagnostic| self.sink.report(diagnostic));
                    None
                }
            },
        }
    }

    fn integer_option(&mut self, site: Site<'_>, name: &str) -> Option<Operand> {
        let argument = site.option(name)?;
        let Argument::Expr(expr) = argument else {
            let diagnostic =
                Diagnostic::new(Code::BadOption, argument_range(argument), format!("`{name}` is one number"));
            self.sink.report(diagnostic.help(format!("write `{}`", site.usage())));
            return None;
        };
        let operand = self.operand(expr, site.scope);
        let node = self.scalar(&operand, DType::I32, site.name(), name)?;
        let value = if literal_value(&operand).is_some() { operand.value } else { Value::Node(node) };
        Some(Operand { value, range: operand.range })
    }

    pub(super) fn padding(&mut self, x: &Operand, site: Site<'_>) -> Option<NodeId> {
        let found = self.axis_of(x, site);
        let (before, after) = (self.size_option(site, "before", 0), self.size_option(site, "after", 0));
        let ((node, axis), before, after) = (found?, before?, after?);
        let (at, dtype, rank) = (site.at, self.dtype(node), self.rank_of(node).clone());
        let value = match site.option("value") {
            Some(Argument::Expr(expr)) => {
                let operand = self.operand(expr, site.scope);
                self.scalar(&operand, dtype, "pad", "value")?
            }
            Some(list) => {
                let diagnostic = Diagnostic::new(Code::BadOption, argument_range(list), "`value` is one number");
                self.sink.report(diagnostic.help(format!("write `{}`", site.usage())));
                return None;
            }
            None => self.zero(dtype, site),
        };
        let mut shape = self.shape(node).to_vec();
        let extent = shape[axis].clone();
        shape[axis] = extent.add(&before).add(&after);
        if shape[axis] == extent {
            return Some(node);
        }
        let place = self.coordinate(axis, &shape, at);
        let start = self.size_number(&before, DType::I32, at);
        let index = self.binary(BinaryOp::Sub, place, start, at);
        let end = self.size_number(&before.add(&extent), DType::I32, at);
        let behind_start = self.compare(CompareOp::Ge, place, start, at);
        let before_end = self.compare(CompareOp::Lt, place, end, at);
        let inside = self.binary(BinaryOp::And, behind_start, before_end, at);
        let taken = self.take(node, axis, index, at);
        self.marks.moved.insert(taken, Movement::Shift);
        let padded = self.select(inside, taken, value, at);
        self.set_rank(padded, rank);
        Some(padded)
    }

    fn zero(&mut self, dtype: DType, site: Site<'_>) -> NodeId {
        match dtype {
            DType::Bool => self.push(Op::Literal(Literal::Bool(false)), dtype, vec![], site.at),
            _ => self.number(0.0, dtype, site.at),
        }
    }

    pub(super) fn roll(&mut self, x: &Operand, site: Site<'_>) -> Option<NodeId> {
        let (found, shift) = (self.axis_of(x, site), self.integer_option(site, "shift"));
        let ((node, axis), shift) = (found?, shift?);
        let (at, rank, shape) = (site.at, self.rank_of(node).clone(), self.shape(node).to_vec());
        let extent = self.size_number(&shape[axis], DType::I32, at);
        let shift = match (literal_value(&shift), shape[axis].as_constant()) {
            (Some(shift), Some(extent @ 1..)) => self.number(shift.rem_euclid(extent as f64), DType::I32, at),
            _ => {
                let shift = self.scalar(&shift, DType::I32, "roll", "shift")?;
                let rest = self.binary(BinaryOp::Rem, shift, extent, at);
                self.wrapped(rest, extent, site)
            }
        };
        let place = self.coordinate(axis, &shape, at);
        let index = self.binary(BinaryOp::Sub, place, shift, at);
        let index = self.wrapped(index, extent, site);
        let value = self.take(node, axis, index, at);
        self.marks.moved.insert(value, Movement::Roll);
        self.set_rank(value, rank);
        Some(value)
    }

    /// `x + extent` where `x` is negative.
    fn wrapped(&mut self, x: NodeId, extent: NodeId, site: Site<'_>) -> NodeId {
        let zero = self.number(0.0, DType::I32, site.at);
        let negative = self.compare(CompareOp::Lt, x, zero, site.at);
        let next = self.binary(BinaryOp::Add, x, extent, site.at);
        self.select(negative, next, x, site.at)
    }

    pub(super) fn repeated_elements(&mut self, x: &Operand, site: Site<'_>) -> Option<NodeId> {
        let (found, times) = (self.axis_of(x, site), self.count_option(site, "times"));
        let ((node, axis), times) = (found?, times?);
        let (at, rank, mut shape) = (site.at, self.rank_of(node).clone(), self.shape(node).to_vec());
        if times.is_one() {
            return Some(node);
        }
        let (op, by, movement) = match site.operation.kind {
            Kind::Repeat => (BinaryOp::Div, times.clone(), Movement::Repeat(times.clone())),
            _ => (BinaryOp::Rem, shape[axis].clone(), Movement::Tile(times.clone())),
        };
        shape[axis] = shape[axis].mul(&times);
        let by = self.size_number(&by, DType::I32, at);
        let place = self.coordinate(axis, &shape, at);
        let index = self.binary(op, place, by, at);
        let value = self.take(node, axis, index, at);
        self.marks.moved.insert(value, movement);
        self.set_rank(value, rank);
        Some(value)
    }

    pub(super) fn split(&mut self, x: &Operand, site: Site<'_>) -> Value {
        let pieces = self.axis_of(x, site).and_then(|(node, axis)| self.split_node(node, axis, site));
        pieces.map_or(Value::Poison, |pieces| match pieces.as_slice() {
            [only] => Value::Node(*only),
            _ => Value::Tuple(pieces.into_iter().map(Value::Node).collect()),
        })
    }

    fn split_node(&mut self, node: NodeId, axis: usize, site: Site<'_>) -> Option<Vec<NodeId>> {
        let extent = self.shape(node)[axis].clone();
        let extents = match (site.option("parts"), site.option("sizes")) {
            (Some(parts), None) => {
                let bad = || {
                    Diagnostic::new(Code::BadOption, argument_range(parts), "`parts` is a number from 1 to 64")
                        .help(format!("write `{}`", site.usage()))
                };
                let count = match parts {
                    Argument::Expr(expr) => integer(expr).and_then(|count| usize::try_from(count).ok()),
                    Argument::List(..) => None,
                };
                let Some(count) = count.filter(|count| (1..=64).contains(count)) else {
                    self.sink.report(bad());
                    return None;
                };
                vec![self.equal_part(&extent, &Size::constant(count as u64), Some(parts), site)?; count]
            }
            (None, Some(sizes)) => self.sizes_of(sizes, site.scope, "split(x, axis = 1, sizes = [2, 4])")?,
            (Some(_), Some(both)) => {
                let message = "`split` takes `parts` or `sizes`, found both";
                let diagnostic = Diagnostic::new(Code::BadOption, argument_range(both), message);
                self.sink.report(diagnostic.help("remove one of them"));
                return None;
            }
            (None, None) => {
                let message = "`split` needs the named argument `parts` or `sizes`";
                let diagnostic = Diagnostic::new(Code::MissingOption, super::ident_range(&site.call.name), message);
                self.sink.report(diagnostic.help(format!("write `{}`", site.usage())));
                return None;
            }
        };
        self.require_whole(&extents, &extent, site)?;
        let mut start = Size::default();
        let mut pieces = Vec::new();
        for size in extents {
            let (dtype, mut shape) = (self.dtype(node), self.shape(node).to_vec());
            shape[axis] = size.clone();
            pieces.push(self.push(Op::Slice { x: node, axis, start: start.clone() }, dtype, shape, site.at));
            start = start.add(&size);
        }
        Some(pieces)
    }

    fn require_whole(&mut self, sizes: &[Size], extent: &Size, site: Site<'_>) -> Option<()> {
        let sum = sizes.iter().fold(Size::default(), |sum, size| sum.add(size));
        if sizes.is_empty() || sum.as_constant().is_some() && extent.as_constant().is_some() && sum != *extent {
            let (want, have) = (self.size_text(extent), self.size_text(&sum));
            let message = format!("`split` cuts an axis of `{want}`, found pieces of `{have}` together");
            let range = site.option("sizes").map_or(site.at, argument_range);
            let diagnostic = Diagnostic::new(Code::DimensionMismatch, range, message);
            let diagnostic = self.with_origins(diagnostic, &[extent, &sum]);
            self.sink.report(diagnostic.help("the sizes of all pieces add up to the extent of the axis"));
            return None;
        }
        self.check(Relation::Equal, sum, extent.clone(), "extents of the pieces of `split`, together");
        Some(())
    }

    pub(super) fn equal_part(
        &mut self,
        extent: &Size,
        parts: &Size,
        given: Option<&Argument>,
        site: Site<'_>,
    ) -> Option<Size> {
        if let Some(quotient) = exact_quotient(extent, parts) {
            return Some(quotient);
        }
        let (name, range) = (site.name(), given.map_or(site.at, argument_range));
        let (whole, count) = (self.size_text(extent), self.size_text(parts));
        if extent.as_constant().is_some() && parts.as_constant().is_some() {
            let message = format!("`{name}`: an axis of {whole} cannot be cut into {count} equal parts");
            let diagnostic = Diagnostic::new(Code::GroupCount, range, message);
            self.sink.report(diagnostic.help("the number of parts divides the extent of the axis"));
            return None;
        }
        let source = SymbolSource::Quotient { dividend: extent.clone(), divisor: parts.clone() };
        let origin = (format!("`{whole}` is cut into `{count}` parts"), range);
        let quotient = self.add_symbol(format!("({whole}/{count})"), source, origin);
        let what = match site.operation.kind {
            Kind::GroupNorm => "channels of `group_norm`, cut into groups".into(),
            _ => format!("axis of `{name}`, cut into equal parts"),
        };
        self.check(Relation::Equal, extent.clone(), parts.mul(&quotient), what);
        Some(quotient)
    }

    /// Zeros elements above (below) a diagonal of the last two axes.
    pub(super) fn triangle(&mut self, x: &Operand, site: Site<'_>) -> Option<NodeId> {
        let node = self.force(x)?;
        let diagonal = match site.option("diagonal") {
            Some(_) => Some(self.integer_option(site, "diagonal")?),
            None => None,
        };
        if let Some(rank) = self.visible_rank(node).filter(|rank| *rank < 2) {
            let (found, axes) = (self.type_text(node), axes_text(rank));
            let message = format!("`{}` works on the last two axes, found `{found}` with {axes}", site.name());
            let diagnostic = Diagnostic::new(Code::AxisOutOfRange, x.range, message);
            self.sink.report(diagnostic.help("add an axis with `unsqueeze`"));
            return None;
        }
        let (at, shape) = (site.at, self.shape(node).to_vec());
        let rank = ranks::at_least(2, self.rank_of(node).clone());
        let column = self.coordinate(shape.len() - 1, &shape, at);
        let mut row = self.coordinate(shape.len() - 2, &shape, at);
        if let Some(diagonal) = diagonal.filter(|diagonal| literal_value(diagonal) != Some(0.0)) {
            let diagonal = self.scalar(&diagonal, DType::I32, site.name(), "diagonal")?;
            row = self.binary(BinaryOp::Add, row, diagonal, at);
        }
        let op = if site.operation.kind == Kind::Tril { CompareOp::Le } else { CompareOp::Ge };
        let kept = self.compare(op, column, row, at);
        let zero = self.zero(self.dtype(node), site);
        let value = self.select(kept, node, zero, at);
        self.set_rank(value, rank);
        Some(value)
    }

    /// `a · sigmoid(b)` of an axis's halves (Dauphin et al. 2017).
    pub(super) fn glu(&mut self, x: &Operand, site: Site<'_>) -> Option<NodeId> {
        let node = self.float_operand(x, site)?;
        let axis = self.axis_option(site, node, -1, x.range)?;
        let (at, dtype, mut shape) = (site.at, self.dtype(node), self.shape(node).to_vec());
        let half = self.equal_part(&shape[axis].clone(), &Size::constant(2), None, site)?;
        shape[axis] = half.clone();
        let first = self.push(Op::Slice { x: node, axis, start: Size::default() }, dtype, shape.clone(), at);
        let second = self.push(Op::Slice { x: node, axis, start: half }, dtype, shape, at);
        let gate = self.unary(UnaryOp::Sigmoid, second, at);
        Some(self.binary(BinaryOp::Mul, first, gate, at))
    }

    /// `log(sum(exp(x))) - x[class]` of each row, as `m - x[class] + log(sum(exp(x - m)))` with the maximum `m`.
    pub(super) fn cross_entropy(&mut self, operands: &[Operand], site: Site<'_>) -> Option<NodeId> {
        let (x, classes) = (self.float_operand(&operands[0], site), self.indices(&operands[1], site));
        let (x, classes) = (x?, classes?);
        let axis = self.axis_option(site, x, -1, operands[0].range)?;
        let (at, dtype) = (site.at, self.dtype(x));
        let classes = self.class_of_row(x, classes, axis, &operands[1], site)?;
        let wide = self.cast_node(x, DType::F32, at);
        let largest = self.largest(wide, &[axis], at);
        let shifted = self.binary(BinaryOp::Sub, wide, largest, at);
        let exponentials = self.unary(UnaryOp::Exp, shifted, at);
        let sum = self.reduce(ReduceOp::Sum, exponentials, &[axis], at);
        let log = self.unary(UnaryOp::Log, sum, at);
        let chosen = self.take(wide, axis, classes, at);
        let rank = self.rank_of(x).clone();
        self.set_rank(chosen, rank);
        let distance = self.binary(BinaryOp::Sub, largest, chosen, at);
        let loss = self.binary(BinaryOp::Add, distance, log, at);
        let loss = self.cast_node(loss, dtype, at);
        Some(self.without_axes(loss, &[axis], at))
    }

    fn class_of_row(
        &mut self,
        x: NodeId,
        classes: NodeId,
        axis: usize,
        operand: &Operand,
        site: Site<'_>,
    ) -> Option<NodeId> {
        let expected = ranks::minus_1(self.rank_of(x).clone());
        if let (Some(rank), Some(found)) = (self.visible_rank(x), self.visible_rank(classes))
            && found + 1 != rank
        {
            let (text, axes) = (self.type_text(classes), axes_text(rank - 1));
            let message = format!("`cross_entropy` takes one class for each row: expected {axes}, found `{text}`");
            let diagnostic = Diagnostic::new(Code::RankMismatch, operand.range, message);
            self.sink.report(diagnostic.help("the classes have the axes of the value without that of the classes"));
            return None;
        }
        self.require_rank_expr(&ranks::same(expected, self.rank_of(classes).clone()));
        let mut want = self.shape(x).to_vec();
        let place = Axis { kind: AxisKind::Number(axis as i64 - want.len() as i64), range: site.at };
        let column = Operand { value: Value::Node(classes), range: operand.range };
        let column = self.unsqueeze(&column, &place, site.at)?;
        want[axis] = Size::ONE;
        for (want, have) in want.clone().into_iter().zip(self.shape(column).to_vec()) {
            if want == have || self.padded && (want.as_constant().is_none() || have.as_constant().is_none()) {
                self.check(Relation::Equal, have, want, "rows and classes of `cross_entropy`");
                continue;
            }
            let (want_text, have_text) = (self.size_text(&want), self.size_text(&have));
            let message =
                format!("`cross_entropy` takes one class for each row: expected `{want_text}`, found `{have_text}`");
            let diagnostic = Diagnostic::new(Code::DimensionMismatch, operand.range, message);
            let diagnostic = self.with_origins(diagnostic, &[&want, &have]);
            self.sink.report(diagnostic.help("the classes have the axes of the value without that of the classes"));
            return None;
        }
        Some(self.broadcast_node(column, &want, site.at))
    }
}
