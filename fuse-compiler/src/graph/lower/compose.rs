//! Building blocks of composite operations. Operands must have fitting types.

use fuse_artifact::{DType, Size};

use super::{Lowering, catalog::Pointwise, ranks};
use crate::{
    diag::SourceRange,
    graph::{CompareOp, Literal, NodeId, Op, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};

impl Lowering<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, x: NodeId, at: SourceRange) -> NodeId {
        self.emit(Pointwise::Unary(op), &[x], at)
    }

    /// `op(x, y)`, with `y` broadcast to `x`.
    pub(super) fn binary(&mut self, op: BinaryOp, x: NodeId, y: NodeId, at: SourceRange) -> NodeId {
        let y = self.repeated(y, x, at);
        self.emit(Pointwise::Binary(op), &[x, y], at)
    }

    pub(super) fn compare(&mut self, op: CompareOp, x: NodeId, y: NodeId, at: SourceRange) -> NodeId {
        let y = self.repeated(y, x, at);
        self.emit(Pointwise::Compare(op), &[x, y], at)
    }

    /// Broadcasts both values to the condition's shape.
    pub(super) fn select(&mut self, condition: NodeId, on_true: NodeId, on_false: NodeId, at: SourceRange) -> NodeId {
        let on_true = self.repeated(on_true, condition, at);
        let on_false = self.repeated(on_false, condition, at);
        self.emit(Pointwise::Select, &[condition, on_true, on_false], at)
    }

    fn repeated(&mut self, node: NodeId, like: NodeId, at: SourceRange) -> NodeId {
        let shape = self.shape(like).to_vec();
        self.broadcast_node(node, &shape, at)
    }

    pub(super) fn number(&mut self, value: f64, dtype: DType, at: SourceRange) -> NodeId {
        let literal = if dtype.is_float() { Literal::Float(value) } else { Literal::Integer(value as i64) };
        self.push(Op::Literal(literal), dtype, vec![], at)
    }

    /// Number of rank 0; constants become literals.
    pub(super) fn size_number(&mut self, size: &Size, dtype: DType, at: SourceRange) -> NodeId {
        let largest = if dtype.is_float() { 1 << 24 } else { i32::MAX as u64 };
        match size.as_constant() {
            Some(value) if value <= largest => self.number(value as f64, dtype, at),
            _ if dtype == DType::F16 => {
                let number = self.push(Op::Size(size.clone()), DType::F32, vec![], at);
                self.cast_node(number, dtype, at)
            }
            _ => self.push(Op::Size(size.clone()), dtype, vec![], at),
        }
    }

    pub(super) fn coordinate(&mut self, axis: usize, shape: &[Size], at: SourceRange) -> NodeId {
        self.push(Op::Index { axis }, DType::I32, shape.to_vec(), at)
    }

    /// Reduction along axes, which stay with extent 1. Axes that already have it are skipped: a single element is its
    /// own sum.
    pub(super) fn reduce(&mut self, op: ReduceOp, x: NodeId, axes: &[usize], at: SourceRange) -> NodeId {
        let mut shape = self.shape(x).to_vec();
        let axes: Vec<usize> = axes.iter().copied().filter(|&axis| !shape[axis].is_one()).collect();
        let index = op.yields_index();
        match (axes.is_empty(), index) {
            (true, true) => {
                let (zero, rank) = (self.number(0.0, DType::I32, at), self.rank_of(x).clone());
                let zeros = self.broadcast_node(zero, &shape, at);
                self.set_rank(zeros, rank);
                zeros
            }
            (true, false) => x,
            _ => {
                let dtype = if index { DType::I32 } else { self.dtype(x) };
                axes.iter().for_each(|&axis| shape[axis] = Size::ONE);
                self.push(Op::Reduce { op, x, axes }, dtype, shape, at)
            }
        }
    }

    /// Maximum that keeps exponentials finite. Results do not depend on it, so gradients treat it as constant.
    pub(super) fn largest(&mut self, x: NodeId, axes: &[usize], at: SourceRange) -> NodeId {
        let largest = self.reduce(ReduceOp::Max, x, axes, at);
        if largest != x {
            self.marks.stopped.insert(largest);
        }
        largest
    }

    /// Mean of an `f32`; axes stay with extent 1.
    pub(super) fn mean(&mut self, x: NodeId, axes: &[usize], at: SourceRange) -> NodeId {
        let sum = self.reduce(ReduceOp::Sum, x, axes, at);
        let count = Size::product(axes.iter().map(|&axis| &self.shape(x)[axis]));
        self.divided(sum, &count, at)
    }

    fn divided(&mut self, x: NodeId, by: &Size, at: SourceRange) -> NodeId {
        if by.is_one() {
            return x;
        }
        let by = self.size_number(by, DType::F32, at);
        self.binary(BinaryOp::Div, x, by, at)
    }

    /// `x - mean(x)` and the mean of its squares, in `f32`.
    pub(super) fn centered(&mut self, x: NodeId, axes: &[usize], at: SourceRange) -> (NodeId, NodeId) {
        let mean = self.mean(x, axes, at);
        let centered = self.binary(BinaryOp::Sub, x, mean, at);
        let squares = self.binary(BinaryOp::Mul, centered, centered, at);
        (centered, self.mean(squares, axes, at))
    }

    pub(super) fn inverse_root(&mut self, x: NodeId, eps: NodeId, at: SourceRange) -> NodeId {
        let sum = self.binary(BinaryOp::Add, x, eps, at);
        self.unary(UnaryOp::Rsqrt, sum, at)
    }

    pub(super) fn take(&mut self, x: NodeId, axis: usize, index: NodeId, at: SourceRange) -> NodeId {
        let (dtype, shape) = (self.dtype(x), self.shape(index).to_vec());
        self.push(Op::Take { x, axis, index }, dtype, shape, at)
    }

    pub(super) fn without_axes(&mut self, x: NodeId, axes: &[usize], at: SourceRange) -> NodeId {
        let kept = self.shape(x).iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
        let shape = kept.map(|(_, size)| size.clone()).collect();
        let rank = axes.iter().fold(self.rank_of(x).clone(), |rank, _| ranks::minus_1(rank));
        self.reshaped(x, shape, rank, at)
    }

    pub(super) fn single_element(&mut self, x: NodeId, at: SourceRange) -> NodeId {
        if self.shape(x).is_empty() {
            return x;
        }
        let dtype = self.dtype(x);
        let node = self.push(Op::Reshape(x), dtype, vec![], at);
        self.set_rank(node, crate::graph::lower::output::RankExpr::Known(0));
        node
    }
}
