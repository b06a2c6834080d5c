//! Reference interpreter: the slow, obvious definition of every operation. Must stay simple enough to verify by
//! reading.
//!
//! Input: a [`Graph`] and one [`Value`] per parameter (shape `[]` for a scalar). Output: one value per result. Floats
//! are `f64`, rounded to their dtype only in inputs, literals, casts and results. Integers are exact and wrap. A `bool`
//! is 0 or 1.
//!
//! [`run_bounded`] tracks the range of a kernel's results ([`bounds`]), [`run_forward`] derivatives along a direction
//! ([`forward`]); tests compare kernels and gradients with them.

mod bind;
pub mod bounds;
mod contraction;
mod error;
pub mod forward;
mod movement;
mod pointwise;
mod reduce;
mod tensor;

use std::collections::BTreeSet;

use fuse_artifact::DType;

use crate::{
    arena::Arena,
    graph::{CompareOp, Graph, Literal, Node, NodeId, Op, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};
use bind::Bindings;
pub use bounds::{Bounded, Stores};
pub use error::InterpError;
pub use forward::{Dual, run_forward};
pub use tensor::{Tensor, Value};

/// Element of a tensor: a number, perhaps with a range or derivative.
pub(crate) trait Element: Clone {
    fn exact(x: f64) -> Self;
    fn literal(dtype: DType, literal: Literal) -> Self {
        Self::exact(literal_value(literal, dtype))
    }
    /// Known to kernels within `error`.
    fn approximate(x: f64, error: f64) -> Self;
    fn unary(op: UnaryOp, dtype: DType, x: &Self) -> Self;
    fn binary(op: BinaryOp, dtype: DType, x: &Self, y: &Self) -> Self;
    fn compare(op: CompareOp, dtype: DType, x: &Self, y: &Self) -> Self;
    fn select(condition: &Self, x: &Self, y: &Self) -> Self;
    fn cast(from: DType, to: DType, x: &Self) -> Self;
    fn dot(dtype: DType, x: &[Self], y: &[Self]) -> Self;
    fn reduce(op: ReduceOp, dtype: DType, x: &[Self]) -> Self;
    /// `at(i)` for `i < extent` nearest to `index`; `extent` is not 0.
    fn take(index: &Self, extent: usize, at: impl Fn(usize) -> Self) -> Self;
    /// `x·x`, never negative.
    fn square(dtype: DType, x: &Self) -> Self {
        Self::binary(BinaryOp::Mul, dtype, x, x)
    }
    fn stored(dtype: DType, x: &Self) -> Self;
}

/// Evaluates `graph`, with one input per parameter.
///
/// # Errors
/// If inputs do not fit the parameters or a check fails.
pub fn run(graph: &Graph, inputs: &[Value]) -> Result<Vec<Value>, InterpError> {
    evaluate::<f64>(graph, inputs, Stores::Results, &exact)
}

/// Evaluates `graph` with unrounded `f64` results.
///
/// # Errors
/// As [`run`].
pub fn run_exact(graph: &Graph, inputs: &[Value]) -> Result<Vec<Value>, InterpError> {
    evaluate::<f64>(graph, inputs, Stores::Nothing, &exact)
}

/// Evaluates `graph` with ranges of a kernel's results.
///
/// # Errors
/// As [`run`].
pub fn run_bounded(graph: &Graph, inputs: &[Value], stores: Stores) -> Result<Vec<Tensor<Bounded>>, InterpError> {
    evaluate::<Bounded>(graph, inputs, stores, &exact)
}

type Leaf<'a, E> = &'a dyn Fn(u16, &Value) -> Tensor<E>;

fn exact<E: Element>(_: u16, input: &Value) -> Tensor<E> {
    input.map(|&x| E::exact(x))
}

fn evaluate<E: Element>(
    graph: &Graph,
    inputs: &[Value],
    stores: Stores,
    leaf: Leaf<'_, E>,
) -> Result<Vec<Tensor<E>>, InterpError> {
    let bindings = Bindings::new(graph, inputs)?;
    let mut values: Vec<Tensor<E>> = Vec::with_capacity(graph.nodes.len());
    let lefts: BTreeSet<NodeId> = graph.nodes.iter().filter_map(|(_, node)| left_operand(node)).collect();
    for (id, node) in graph.nodes.iter() {
        let value = evaluate_node(node, &values, (&bindings, leaf), &graph.nodes)?;
        let is_stored = match stores {
            Stores::Nothing | Stores::Results => false,
            Stores::LeftOperands => lefts.contains(&id),
            Stores::EveryNode => true,
        };
        values.push(if is_stored { stored(&value) } else { value });
    }
    let result = |id: &NodeId| {
        let value = &values[id.index()];
        if stores == Stores::Nothing { value.clone() } else { stored(value) }
    };
    Ok(graph.results.iter().map(result).collect())
}

fn left_operand(node: &Node) -> Option<NodeId> {
    if let Op::Matmul { lhs, .. } = node.op { Some(lhs) } else { None }
}

fn evaluate_node<E: Element>(
    node: &Node,
    values: &[Tensor<E>],
    (bindings, leaf): (&Bindings, Leaf<'_, E>),
    nodes: &Arena<Node>,
) -> Result<Tensor<E>, InterpError> {
    let shape = bindings.shape(&node.ty.shape)?;
    let dtype = node.ty.dtype;
    let operand = |id: &NodeId| &values[id.index()];
    let dtype_of = |id: &NodeId| nodes[*id].ty.dtype;
    Ok(match &node.op {
        Op::Dequantize(param) => dequantized(bindings.input(*param)),
        Op::Input(param) | Op::Scalar(param) => leaf(*param, bindings.input(*param)),
        Op::Literal(literal) => Tensor::new(dtype, shape, vec![E::literal(dtype, *literal)]),
        Op::Unary(op, x) => {
            let from = dtype_of(x);
            operand(x).map(|x| E::unary(*op, from, x)).with_dtype(dtype)
        }
        Op::Size(size) => Tensor::new(dtype, shape, vec![E::exact(size_value(bindings.size(size)?, dtype)?)]),
        Op::Binary(BinaryOp::Mul, x, y) if x == y => operand(x).map(|x| E::square(dtype, x)),
        Op::Binary(op, x, y) => operand(x).zip(operand(y), |x, y| E::binary(*op, dtype, x, y)),
        Op::Compare(op, x, y) => {
            let operands = dtype_of(x);
            operand(x).zip(operand(y), |x, y| E::compare(*op, operands, x, y)).with_dtype(dtype)
        }
        Op::Select { condition, on_true, on_false } => {
            let chosen = operand(on_true).zip(operand(on_false), |x, y| (x.clone(), y.clone()));
            operand(condition).zip(&chosen, |c, (x, y)| E::select(c, x, y)).with_dtype(dtype)
        }
        Op::Cast(x) => {
            let from = dtype_of(x);
            operand(x).map(|x| E::cast(from, dtype, x)).with_dtype(dtype)
        }
        Op::Index { axis } => movement::index(dtype, shape, *axis, |i| E::exact(i as f64)),
        Op::Matmul { lhs, rhs } => contraction::matmul(operand(lhs), operand(rhs), shape),
        Op::Permute { x, permutation } => movement::permute(operand(x), permutation),
        Op::Reshape(x) => movement::reshape(operand(x), shape)?,
        Op::Slice { x, axis, start } => movement::slice(operand(x), shape, *axis, bindings.size(start)?)?,
        Op::Broadcast(x) => movement::broadcast(operand(x), shape)?,
        Op::Reduce { op, x, axes } => reduce::reduce(*op, operand(x), axes, dtype, shape),
        Op::Take { x, axis, index } => movement::take(operand(x), *axis, operand(index))?,
    })
}

/// Kernels round `q·scale`, then the sum with the offset. Neither exceeds the largest value plus the offset, so each
/// error is at most half an ulp of twice the largest value.
fn dequantized<E: Element>(value: &Value) -> Tensor<E> {
    let largest = value.data.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    value.map(|&x| E::approximate(x, 4.0 * largest * f64::from(f32::EPSILON)))
}

fn stored<E: Element>(value: &Tensor<E>) -> Tensor<E> {
    value.map(|x| E::stored(value.dtype, x))
}

fn literal_value(literal: Literal, dtype: DType) -> f64 {
    match literal {
        Literal::Float(x) => pointwise::round_to(dtype, x),
        Literal::Integer(x) => x as f64,
        Literal::Bool(x) => f64::from(u8::from(x)),
    }
}

/// Nearest float, or an integer that must fit.
fn size_value(size: usize, dtype: DType) -> Result<f64, InterpError> {
    let largest = match dtype {
        DType::I32 => i32::MAX as usize,
        DType::U32 => u32::MAX as usize,
        DType::F32 | DType::F16 | DType::Bool => usize::MAX,
    };
    if size <= largest { Ok(pointwise::round_to(dtype, size as f64)) } else { Err(InterpError::Size) }
}

#[cfg(test)]
mod tests;
