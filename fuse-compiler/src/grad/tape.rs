//! Appends nodes. Operands broadcast, identities are skipped.

use fuse_artifact::{DType, Size};

use crate::{
    graph::{CompareOp, Graph, Literal, Node, NodeId, Op, ReduceOp, TensorType},
    operations::{BinaryOp, UnaryOp},
    span::Span,
};

pub(super) struct Tape<'g> {
    pub(super) graph: &'g mut Graph,
    pub(super) span: Span,
}

impl Tape<'_> {
    pub(super) fn push(&mut self, op: Op, dtype: DType, shape: Vec<Size>) -> NodeId {
        self.graph.nodes.push(Node { op, ty: TensorType::new(dtype, shape), span: self.span })
    }

    pub(super) fn dtype(&self, x: NodeId) -> DType {
        self.graph.nodes[x].ty.dtype
    }

    pub(super) fn shape(&self, x: NodeId) -> Vec<Size> {
        self.graph.nodes[x].ty.shape.clone()
    }

    /// Number of `like`'s type.
    pub(super) fn number(&mut self, value: f64, like: NodeId) -> NodeId {
        let (dtype, shape) = (self.dtype(like), self.shape(like));
        let number = self.push(Op::Literal(Literal::Float(value)), dtype, vec![]);
        self.broadcast(number, &shape)
    }

    /// `i32` of a shape.
    pub(super) fn size(&mut self, size: &Size, shape: &[Size]) -> NodeId {
        let number = match size.as_constant().and_then(|value| i32::try_from(value).ok()) {
            Some(value) => self.push(Op::Literal(Literal::Integer(value.into())), DType::I32, vec![]),
            None => self.push(Op::Size(size.clone()), DType::I32, vec![]),
        };
        self.broadcast(number, shape)
    }

    pub(super) fn index(&mut self, axis: usize, shape: &[Size]) -> NodeId {
        self.push(Op::Index { axis }, DType::I32, shape.to_vec())
    }

    pub(super) fn unary(&mut self, op: UnaryOp, x: NodeId) -> NodeId {
        let (dtype, shape) = (op.result(self.dtype(x)), self.shape(x));
        self.push(Op::Unary(op, x), dtype, shape)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, x: NodeId, y: NodeId) -> NodeId {
        let (dtype, shape) = (self.dtype(x), self.shape(x));
        self.push(Op::Binary(op, x, y), dtype, shape)
    }

    pub(super) fn add(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.binary(BinaryOp::Add, x, y)
    }

    pub(super) fn sub(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.binary(BinaryOp::Sub, x, y)
    }

    pub(super) fn mul(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.binary(BinaryOp::Mul, x, y)
    }

    pub(super) fn div(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.binary(BinaryOp::Div, x, y)
    }

    pub(super) fn neg(&mut self, x: NodeId) -> NodeId {
        self.unary(UnaryOp::Neg, x)
    }

    pub(super) fn scaled(&mut self, x: NodeId, factor: f64) -> NodeId {
        let factor = self.number(factor, x);
        self.mul(x, factor)
    }

    pub(super) fn plus(&mut self, x: NodeId, addend: f64) -> NodeId {
        let addend = self.number(addend, x);
        self.add(x, addend)
    }

    pub(super) fn one_minus(&mut self, x: NodeId) -> NodeId {
        let one = self.number(1.0, x);
        self.sub(one, x)
    }

    pub(super) fn compare(&mut self, op: CompareOp, x: NodeId, y: NodeId) -> NodeId {
        let shape = self.shape(x);
        self.push(Op::Compare(op, x, y), DType::Bool, shape)
    }

    pub(super) fn compare_to(&mut self, op: CompareOp, x: NodeId, value: f64) -> NodeId {
        let value = self.number(value, x);
        self.compare(op, x, value)
    }

    pub(super) fn select(&mut self, condition: NodeId, on_true: NodeId, on_false: NodeId) -> NodeId {
        let (dtype, shape) = (self.dtype(on_true), self.shape(on_true));
        self.push(Op::Select { condition, on_true, on_false }, dtype, shape)
    }

    /// `x` where the condition holds, else 0.
    pub(super) fn where_true(&mut self, condition: NodeId, x: NodeId) -> NodeId {
        let zero = self.number(0.0, x);
        self.select(condition, x, zero)
    }

    /// 0 where the condition holds, else `x`.
    pub(super) fn where_false(&mut self, condition: NodeId, x: NodeId) -> NodeId {
        let zero = self.number(0.0, x);
        self.select(condition, zero, x)
    }

    pub(super) fn cast(&mut self, x: NodeId, dtype: DType) -> NodeId {
        if self.dtype(x) == dtype {
            return x;
        }
        let shape = self.shape(x);
        self.push(Op::Cast(x), dtype, shape)
    }

    pub(super) fn broadcast(&mut self, x: NodeId, shape: &[Size]) -> NodeId {
        if self.shape(x) == shape {
            return x;
        }
        let dtype = self.dtype(x);
        self.push(Op::Broadcast(x), dtype, shape.to_vec())
    }

    /// A broadcast of one element becomes a broadcast to the new shape.
    pub(super) fn reshape(&mut self, x: NodeId, shape: &[Size]) -> NodeId {
        if self.shape(x) == shape {
            return x;
        }
        if let Op::Broadcast(element) = self.graph.nodes[x].op
            && self.shape(element).iter().all(Size::is_one)
        {
            let element = self.reshape(element, &vec![Size::ONE; shape.len()]);
            return self.broadcast(element, shape);
        }
        let dtype = self.dtype(x);
        self.push(Op::Reshape(x), dtype, shape.to_vec())
    }

    /// Merges consecutive permutations.
    pub(super) fn permute(&mut self, x: NodeId, permutation: Vec<usize>) -> NodeId {
        if permutation.is_sorted() {
            return x;
        }
        if let Op::Permute { x: before, permutation: first } = &self.graph.nodes[x].op {
            let (before, both) = (*before, permutation.iter().map(|&axis| first[axis]).collect());
            return self.permute(before, both);
        }
        let (dtype, shape) = (self.dtype(x), self.shape(x));
        let shape = permutation.iter().map(|&axis| shape[axis].clone()).collect();
        self.push(Op::Permute { x, permutation }, dtype, shape)
    }

    pub(super) fn reduce(&mut self, op: ReduceOp, x: NodeId, axes: &[usize]) -> NodeId {
        let (dtype, mut shape) = (self.dtype(x), self.shape(x));
        let axes: Vec<usize> = axes.iter().copied().filter(|&axis| !shape[axis].is_one()).collect();
        if axes.is_empty() {
            return x;
        }
        axes.iter().for_each(|&axis| shape[axis] = Size::ONE);
        self.push(Op::Reduce { op, x, axes }, dtype, shape)
    }

    pub(super) fn matmul(&mut self, lhs: NodeId, rhs: NodeId, shape: Vec<Size>) -> NodeId {
        let dtype = self.dtype(lhs);
        self.push(Op::Matmul { lhs, rhs }, dtype, shape)
    }

    pub(super) fn take(&mut self, x: NodeId, axis: usize, index: NodeId) -> NodeId {
        let (dtype, shape) = (self.dtype(x), self.shape(index));
        self.push(Op::Take { x, axis, index }, dtype, shape)
    }

    pub(super) fn slice(&mut self, x: NodeId, (axis, start): (usize, &Size), shape: Vec<Size>) -> NodeId {
        let dtype = self.dtype(x);
        self.push(Op::Slice { x, axis, start: start.clone() }, dtype, shape)
    }
}
