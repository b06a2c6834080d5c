//! Forward mode: dual numbers, a value with its derivative along a direction (Griewank and Walther, Evaluating Derivatives, 2008).
//!
//! Derivatives follow from the columns `slope` and `slopes` of the operations' table, and for the other operations from the rules
//! here. Neither stage knows of the other: `grad` has reverse rules of its own, and tests compare the two.
//!
//! Numbers are those of `f64` throughout. Literals and conversions between floats do not round, because their steps have no
//! derivative. Corners follow the conventions of the language: `relu` and `abs` have 0 at 0, ties of `min` and `max` share, jumps
//! have 0. Where a derivative or the slope that multiplies it is 0, their product is 0, also if the other is infinite or NaN.

use fuse_artifact::DType;

use super::{Element, InterpError, Stores, Tensor, Value, evaluate, literal_value, pointwise::inside};
use crate::{
    graph::{CompareOp, Graph, Literal, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};

/// A value with its derivative along a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The value.
    pub value: f64,
    /// The derivative.
    pub slope: f64,
}

/// Evaluates `graph` for `inputs`, with the derivatives of all results along a direction: one vector per parameter, with a number
/// per element. Results are not rounded.
///
/// # Errors
/// As [`super::run`], and when `direction` does not have as many numbers as the inputs.
pub fn run_forward(graph: &Graph, inputs: &[Value], direction: &[Vec<f64>]) -> Result<Vec<Tensor<Dual>>, InterpError> {
    if direction.len() != inputs.len() {
        return Err(InterpError::InputCount { expected: inputs.len(), found: direction.len() });
    }
    if let Some((input, moves)) = inputs.iter().zip(direction).find(|(input, moves)| input.data.len() != moves.len()) {
        return Err(InterpError::DataLength { shape: input.shape.clone(), found: moves.len() });
    }
    let leaf = |param: u16, input: &Value| {
        let duals = input.data.iter().zip(&direction[usize::from(param)]);
        let duals = duals.map(|(&value, &slope)| Dual { value, slope }).collect();
        Tensor::new(input.dtype, input.shape.clone(), duals)
    };
    evaluate(graph, inputs, Stores::Nothing, &leaf)
}

/// A derivative times a slope.
fn times(derivative: f64, slope: f64) -> f64 {
    if derivative == 0.0 || slope == 0.0 { 0.0 } else { derivative * slope }
}

fn values(x: &[Dual]) -> Vec<f64> {
    x.iter().map(|x| x.value).collect()
}

impl Element for Dual {
    fn exact(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }

    fn literal(dtype: DType, literal: Literal) -> Self {
        match literal {
            Literal::Float(value) => Self::exact(value),
            Literal::Integer(_) | Literal::Bool(_) => Self::exact(literal_value(literal, dtype)),
        }
    }

    fn approximate(x: f64, _: f64) -> Self {
        Self::exact(x)
    }

    fn unary(op: UnaryOp, dtype: DType, x: &Self) -> Self {
        let value = f64::unary(op, dtype, &x.value);
        let smooth = dtype.is_float() && op.result(dtype).is_float();
        Self { value, slope: if smooth { times(x.slope, (op.row().slope)(x.value)) } else { 0.0 } }
    }

    fn binary(op: BinaryOp, dtype: DType, x: &Self, y: &Self) -> Self {
        let value = f64::binary(op, dtype, &x.value, &y.value);
        if !dtype.is_float() {
            return Self::exact(value);
        }
        let [of_x, of_y] = (op.row().slopes)(x.value, y.value);
        Self { value, slope: times(x.slope, of_x) + times(y.slope, of_y) }
    }

    fn compare(op: CompareOp, dtype: DType, x: &Self, y: &Self) -> Self {
        Self::exact(f64::compare(op, dtype, &x.value, &y.value))
    }

    fn select(condition: &Self, x: &Self, y: &Self) -> Self {
        if condition.value != 0.0 { *x } else { *y }
    }

    fn cast(from: DType, to: DType, x: &Self) -> Self {
        if from.is_float() && to.is_float() { *x } else { Self::exact(f64::cast(from, to, &x.value)) }
    }

    fn dot(dtype: DType, x: &[Self], y: &[Self]) -> Self {
        let value = f64::dot(dtype, &values(x), &values(y));
        let part = |(x, y): (&Self, &Self)| times(x.slope, y.value) + times(y.slope, x.value);
        Self { value, slope: if dtype.is_float() { x.iter().zip(y).map(part).sum() } else { 0.0 } }
    }

    fn reduce(op: ReduceOp, dtype: DType, x: &[Self]) -> Self {
        let value = f64::reduce(op, dtype, &values(x));
        let slope = match op {
            _ if !dtype.is_float() => 0.0,
            ReduceOp::Sum => f64::reduce(op, dtype, &x.iter().map(|x| x.slope).collect::<Vec<_>>()),
            ReduceOp::Prod => of_product(x),
            ReduceOp::Max | ReduceOp::Min => {
                let chosen: Vec<f64> = x.iter().filter(|x| x.value == value).map(|x| x.slope).collect();
                chosen.iter().sum::<f64>() / chosen.len().max(1) as f64
            }
            ReduceOp::ArgMax | ReduceOp::ArgMin | ReduceOp::Any | ReduceOp::All => 0.0,
        };
        Self { value, slope }
    }

    fn take(index: &Self, extent: usize, at: impl Fn(usize) -> Self) -> Self {
        at(inside(index.value, extent))
    }

    fn stored(_: DType, x: &Self) -> Self {
        *x
    }
}

/// The derivative of a product: each factor's, times all factors before and behind it.
fn of_product(x: &[Dual]) -> f64 {
    let mut behind = vec![1.0; x.len() + 1];
    for (i, factor) in x.iter().enumerate().rev() {
        behind[i] = behind[i + 1] * factor.value;
    }
    let (mut before, mut sum) = (1.0, 0.0);
    for (i, factor) in x.iter().enumerate() {
        sum += times(factor.slope, before * behind[i + 1]);
        before *= factor.value;
    }
    sum
}
