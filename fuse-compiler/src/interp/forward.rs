//! Forward-mode differentiation with dual numbers: a value and its derivative along a direction (Griewank and Walther,
//! Evaluating Derivatives, 2008).
//!
//! Derivatives are `slope` and `slopes` of the operations' table, or rules here. `grad` has separate reverse rules;
//! tests compare the two.
//!
//! Literals and conversions between floats do not round, because rounding steps have no derivative. At corners `relu`
//! and `abs` have 0, ties of `min` and `max` share, jumps have 0. A product of derivative and slope is 0 if either is
//! 0, even if the other is infinite or NaN.

use fuse_artifact::DType;

use super::{Element, InterpError, Stores, Tensor, Value, evaluate, literal_value, pointwise::inside};
use crate::{
    graph::{CompareOp, Graph, Literal, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};

/// Value and derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// Value.
    pub value: f64,
    /// Derivative.
    pub slope: f64,
    /// Sum of the magnitudes of the derivative's terms, the scale of rounding errors of `slope`.
    pub magnitude: f64,
}

impl Dual {
    fn of<'x>(value: f64, terms: impl IntoIterator<Item = (f64, &'x Self)>) -> Self {
        terms.into_iter().fold(Self::exact(value), |sum, (derivative, x)| Self {
            value,
            slope: sum.slope + times(derivative, x.slope),
            magnitude: sum.magnitude + times(derivative.abs(), x.magnitude),
        })
    }
}

/// Evaluates `graph` with derivatives of all results along a direction.
///
/// `direction` has a number per element of each parameter. Results are not rounded.
///
/// # Errors
/// As [`super::run`], and if `direction` does not match the inputs.
pub fn run_forward(graph: &Graph, inputs: &[Value], direction: &[Vec<f64>]) -> Result<Vec<Tensor<Dual>>, InterpError> {
    if direction.len() != inputs.len() {
        return Err(InterpError::InputCount { expected: inputs.len(), found: direction.len() });
    }
    if let Some((input, moves)) = inputs.iter().zip(direction).find(|(input, moves)| input.data.len() != moves.len()) {
        return Err(InterpError::DataLength { shape: input.shape.clone(), found: moves.len() });
    }
    let leaf = |param: u16, input: &Value| {
        let duals = input.data.iter().zip(&direction[usize::from(param)]);
        let duals = duals.map(|(&value, &slope)| Dual { value, slope, magnitude: slope.abs() }).collect();
        Tensor::new(input.dtype, input.shape.clone(), duals)
    };
    evaluate(graph, inputs, Stores::Nothing, &leaf)
}

fn times(derivative: f64, slope: f64) -> f64 {
    if derivative == 0.0 || slope == 0.0 { 0.0 } else { derivative * slope }
}

fn values(x: &[Dual]) -> Vec<f64> {
    x.iter().map(|x| x.value).collect()
}

impl Element for Dual {
    fn exact(value: f64) -> Self {
        Self { value, slope: 0.0, magnitude: 0.0 }
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
        Self::of(value, smooth.then(|| ((op.row().slope)(x.value), x)))
    }

    fn binary(op: BinaryOp, dtype: DType, x: &Self, y: &Self) -> Self {
        let value = f64::binary(op, dtype, &x.value, &y.value);
        if !dtype.is_float() {
            return Self::exact(value);
        }
        let [of_x, of_y] = (op.row().slopes)(x.value, y.value);
        Self::of(value, [(of_x, x), (of_y, y)])
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
        let pairs = x.iter().zip(y).filter(|_| dtype.is_float());
        Self::of(value, pairs.flat_map(|(x, y)| [(y.value, x), (x.value, y)]))
    }

    fn reduce(op: ReduceOp, dtype: DType, x: &[Self]) -> Self {
        let value = f64::reduce(op, dtype, &values(x));
        match op {
            _ if !dtype.is_float() => Self::exact(value),
            ReduceOp::Sum => Self::of(value, x.iter().map(|x| (1.0, x))),
            ReduceOp::Prod => Self::of(value, others(x).into_iter().zip(x)),
            ReduceOp::Max | ReduceOp::Min => {
                let chosen = || x.iter().filter(|x| x.value == value);
                let share = 1.0 / chosen().count() as f64;
                Self::of(value, chosen().map(|x| (share, x)))
            }
            ReduceOp::ArgMax | ReduceOp::ArgMin | ReduceOp::Any | ReduceOp::All => Self::exact(value),
        }
    }

    fn take(index: &Self, extent: usize, at: impl Fn(usize) -> Self) -> Self {
        at(inside(index.value, extent))
    }

    fn stored(_: DType, x: &Self) -> Self {
        *x
    }
}

fn others(x: &[Dual]) -> Vec<f64> {
    let mut others = vec![1.0; x.len()];
    let mut behind = 1.0;
    for (other, factor) in others.iter_mut().zip(x).rev() {
        *other = behind;
        behind *= factor.value;
    }
    let mut before = 1.0;
    for (other, factor) in others.iter_mut().zip(x) {
        *other *= before;
        before *= factor.value;
    }
    others
}
