//! Adjoint rules: contributions of the result's adjoint to each operand.
//!
//! At corners, rules take a one-sided derivative or the mean of both: `relu` and `abs` have 0 at 0, ties of `min` and
//! `max` share, steps (`floor`, `sign`) have 0. Rules use the result if it suffices.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, LOG2_E, PI};

use fuse_artifact::DType;

use super::{
    Marks,
    adjoint::{Contribution, Slice},
    attention::Attentions,
    join::Joined,
    movement, product,
    tape::Tape,
};
use crate::{
    graph::{CompareOp, NodeId, Op, ReduceOp},
    operations::{
        BinaryOp, UnaryOp,
        functions::{SELU_ALPHA, SELU_SCALE},
    },
};

type Contributions = Vec<(NodeId, Contribution)>;

pub(super) fn contributions(
    (tape, attentions): (&mut Tape<'_>, &mut Attentions),
    id: NodeId,
    adjoint: NodeId,
    marks: &mut Marks,
    wanted: &dyn Fn(NodeId) -> bool,
) -> Contributions {
    let op = tape.graph.nodes[id].op.clone();
    // From here on, the only differentiable operand is wanted.
    if marks.stopped.contains(&id) || !op.operands().into_iter().any(wanted) {
        return vec![];
    }
    if let Some([scores, part]) = attentions.scores(tape, id, adjoint) {
        return vec![(scores, Contribution::Whole(part))];
    }
    if let Some(joined) = marks.joined.get(&id) {
        return joined_parts(tape, joined, adjoint, wanted);
    }
    if let Some(&x) = marks.norms.get(&id) {
        return vec![(x, Contribution::Whole(norm(tape, x, id, adjoint)))];
    }
    let mut parts = vec![];
    match op {
        Op::Input(_)
        | Op::Dequantize(_)
        | Op::Scalar(_)
        | Op::Literal(_)
        | Op::Size(_)
        | Op::Index { .. }
        | Op::Compare(..) => {}
        Op::Unary(op, x) => parts.push((x, Contribution::Whole(unary(tape, op, [x, id], adjoint)))),
        Op::Binary(op, x, y) => {
            let [of_x, of_y] = [wanted(x), wanted(y)];
            let found = binary(tape, op, [x, y, id], adjoint, [of_x, of_y]);
            parts.extend(
                [x, y].into_iter().zip(found).filter_map(|(operand, part)| Some((operand, Contribution::Whole(part?)))),
            );
        }
        Op::Select { condition, on_true, on_false } => {
            if wanted(on_true) {
                parts.push((on_true, Contribution::Whole(tape.where_true(condition, adjoint))));
            }
            if wanted(on_false) {
                parts.push((on_false, Contribution::Whole(tape.where_false(condition, adjoint))));
            }
        }
        Op::Cast(x) => {
            let dtype = tape.dtype(x);
            parts.push((x, Contribution::Whole(tape.cast(adjoint, dtype))));
        }
        Op::Matmul { lhs, rhs } => {
            let role = attentions.role(id);
            if wanted(lhs) {
                let part = product::lhs(tape, [lhs, rhs], adjoint, role);
                attentions.note(id, adjoint, part);
                parts.push((lhs, Contribution::Whole(part)));
            }
            if wanted(rhs) {
                let factor = attentions.weights(tape, id).unwrap_or(lhs);
                parts.push((rhs, Contribution::Whole(product::rhs(tape, [factor, rhs], adjoint, role))));
            }
        }
        Op::Permute { x, permutation } => {
            let mut back = vec![0; permutation.len()];
            permutation.iter().enumerate().for_each(|(to, &from)| back[from] = to);
            parts.push((x, Contribution::Whole(tape.permute(adjoint, back))));
        }
        Op::Reshape(x) => {
            let shape = tape.shape(x);
            parts.push((x, Contribution::Whole(tape.reshape(adjoint, &shape))));
        }
        Op::Slice { x, axis, start } => parts.push((x, Contribution::Slice(Slice { axis, start, value: adjoint }))),
        Op::Take { x, axis, index } => {
            let (operand, part) = movement::take((tape, marks), (id, x), (axis, index), adjoint);
            parts.push((operand, Contribution::Whole(part)));
        }
        Op::Broadcast(x) => parts.push((x, Contribution::Whole(summed_to(tape, adjoint, x)))),
        Op::Reduce { op, x, axes } => parts.push((x, Contribution::Whole(reduce(tape, (op, x, id), &axes, adjoint)))),
    }
    parts
}

fn joined_parts(
    tape: &mut Tape<'_>,
    joined: &Joined,
    adjoint: NodeId,
    wanted: &dyn Fn(NodeId) -> bool,
) -> Contributions {
    let mut parts = vec![];
    for (piece, start) in joined.pieces.iter().filter(|(piece, _)| wanted(*piece)) {
        let (axis, shape) = (joined.axis, tape.shape(*piece));
        parts.push((*piece, Contribution::Whole(tape.slice(adjoint, (axis, start), shape))));
    }
    parts
}

fn summed_to(tape: &mut Tape<'_>, adjoint: NodeId, x: NodeId) -> NodeId {
    let (have, want) = (tape.shape(x), tape.shape(adjoint));
    let repeated = (0..want.len()).filter(|&axis| have.is_empty() || have[axis] != want[axis]);
    let sum = tape.reduce(ReduceOp::Sum, adjoint, &repeated.collect::<Vec<_>>());
    tape.reshape(sum, &have)
}

pub(super) fn is_flat(op: UnaryOp) -> bool {
    matches!(op, UnaryOp::Sign | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc)
}

fn unary(tape: &mut Tape<'_>, op: UnaryOp, [x, y]: [NodeId; 2], g: NodeId) -> NodeId {
    let t = tape;
    match op {
        UnaryOp::Neg => t.neg(g),
        UnaryOp::Abs => {
            let sign = t.unary(UnaryOp::Sign, x);
            t.mul(g, sign)
        }
        UnaryOp::Fract => g,
        UnaryOp::Sqrt => {
            let half = t.scaled(g, 0.5);
            t.div(half, y)
        }
        UnaryOp::Rsqrt => {
            let cube = square(t, y);
            let cube = t.mul(cube, y);
            let slope = t.scaled(cube, -0.5);
            t.mul(g, slope)
        }
        UnaryOp::Exp => t.mul(g, y),
        UnaryOp::Exp2 => {
            let slope = t.scaled(y, LN_2);
            t.mul(g, slope)
        }
        UnaryOp::Log => t.div(g, x),
        UnaryOp::Log2 => {
            let part = t.scaled(g, LOG2_E);
            t.div(part, x)
        }
        UnaryOp::Log1p => {
            let argument = t.plus(x, 1.0);
            t.div(g, argument)
        }
        UnaryOp::Expm1 => {
            // y + 1 has no significant digits near -1.
            let slope = t.unary(UnaryOp::Exp, x);
            t.mul(g, slope)
        }
        UnaryOp::Sin => {
            let slope = t.unary(UnaryOp::Cos, x);
            t.mul(g, slope)
        }
        UnaryOp::Cos => {
            let slope = t.unary(UnaryOp::Sin, x);
            let part = t.mul(g, slope);
            t.neg(part)
        }
        UnaryOp::Tan => {
            let slope = square(t, y);
            let slope = t.plus(slope, 1.0);
            t.mul(g, slope)
        }
        UnaryOp::Tanh => {
            let square = square(t, y);
            let slope = t.one_minus(square);
            t.mul(g, slope)
        }
        UnaryOp::Atan => {
            let square = square(t, x);
            let below = t.plus(square, 1.0);
            t.div(g, below)
        }
        UnaryOp::Asin | UnaryOp::Acos => {
            let below = one_minus_square(t, x);
            let slope = t.unary(UnaryOp::Rsqrt, below);
            let part = t.mul(g, slope);
            if op == UnaryOp::Acos { t.neg(part) } else { part }
        }
        UnaryOp::Sinh => {
            let slope = t.unary(UnaryOp::Cosh, x);
            t.mul(g, slope)
        }
        UnaryOp::Cosh => {
            let slope = t.unary(UnaryOp::Sinh, x);
            t.mul(g, slope)
        }
        UnaryOp::Asinh => {
            // √(x² + 1) without overflow.
            let one = t.number(1.0, x);
            let below = t.binary(BinaryOp::Hypot, x, one);
            t.div(g, below)
        }
        UnaryOp::Acosh => {
            // Roots of both factors of x² - 1, without overflow.
            let [before, behind] = [-1.0, 1.0].map(|addend| {
                let factor = t.plus(x, addend);
                t.unary(UnaryOp::Rsqrt, factor)
            });
            let slope = t.mul(before, behind);
            t.mul(g, slope)
        }
        UnaryOp::Atanh => {
            let below = one_minus_square(t, x);
            t.div(g, below)
        }
        UnaryOp::Erf | UnaryOp::Erfc => {
            let slope = bell(t, x, 1.0, FRAC_2_SQRT_PI);
            let part = t.mul(g, slope);
            if op == UnaryOp::Erfc { t.neg(part) } else { part }
        }
        UnaryOp::Recip => {
            let square = square(t, y);
            let part = t.mul(g, square);
            t.neg(part)
        }
        UnaryOp::Relu => {
            let positive = t.compare_to(CompareOp::Gt, y, 0.0);
            t.where_true(positive, g)
        }
        UnaryOp::Selu => {
            // An unselected exponential gets 0: it would overflow, and a second derivative be 0·∞.
            let positive = t.compare_to(CompareOp::Gt, x, 0.0);
            let operand = t.where_false(positive, x);
            let below = t.unary(UnaryOp::Exp, operand);
            let below = t.scaled(below, SELU_SCALE * SELU_ALPHA);
            let above = t.number(SELU_SCALE, x);
            let slope = t.select(positive, above, below);
            t.mul(g, slope)
        }
        UnaryOp::Gelu => {
            let scaled = t.scaled(x, FRAC_1_SQRT_2);
            let erf = t.unary(UnaryOp::Erf, scaled);
            let erf = t.plus(erf, 1.0);
            let part = t.scaled(erf, 0.5);
            let density = bell(t, x, 0.5, (2.0 * PI).sqrt().recip());
            let rest = t.mul(x, density);
            let slope = t.add(part, rest);
            t.mul(g, slope)
        }
        UnaryOp::GeluTanh => {
            let slope = gelu_tanh_slope(t, x);
            t.mul(g, slope)
        }
        UnaryOp::Silu => {
            // s + y·(1 - s) with s = sigmoid(x).
            let s = t.unary(UnaryOp::Sigmoid, x);
            let rest = t.one_minus(s);
            let rest = t.mul(y, rest);
            let slope = t.add(s, rest);
            t.mul(g, slope)
        }
        UnaryOp::Sigmoid => {
            let rest = t.one_minus(y);
            let slope = t.mul(y, rest);
            t.mul(g, slope)
        }
        UnaryOp::HardSigmoid => {
            let (above, below) = (t.compare_to(CompareOp::Gt, y, 0.0), t.compare_to(CompareOp::Lt, y, 1.0));
            let between = t.push(Op::Binary(BinaryOp::And, above, below), DType::Bool, t.shape(y));
            let part = t.scaled(g, 1.0 / 6.0);
            t.where_true(between, part)
        }
        UnaryOp::HardSwish => {
            // 0 below -3, x/3 + 1/2 up to 3, 1 above.
            let slope = t.scaled(x, 1.0 / 3.0);
            let slope = t.plus(slope, 0.5);
            let inside = t.mul(g, slope);
            let (low, high) = (t.compare_to(CompareOp::Le, x, -3.0), t.compare_to(CompareOp::Ge, x, 3.0));
            let inside = t.where_false(low, inside);
            t.select(high, g, inside)
        }
        UnaryOp::Softplus => {
            let slope = t.unary(UnaryOp::Sigmoid, x);
            t.mul(g, slope)
        }
        UnaryOp::Mish => {
            // t + x·(1 - t²)·sigmoid(x) with t = tanh(softplus(x)).
            let inner = t.unary(UnaryOp::Softplus, x);
            let tanh = t.unary(UnaryOp::Tanh, inner);
            let square = square(t, tanh);
            let rest = t.one_minus(square);
            let s = t.unary(UnaryOp::Sigmoid, x);
            let rest = t.mul(rest, s);
            let rest = t.mul(x, rest);
            let slope = t.add(tanh, rest);
            t.mul(g, slope)
        }
        // Flat, or no adjoint arrives or is wanted (booleans, integers).
        UnaryOp::Sign
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::Trunc
        | UnaryOp::Not
        | UnaryOp::IsNan
        | UnaryOp::IsInf
        | UnaryOp::IsFinite
        | UnaryOp::ToBits
        | UnaryOp::FromBits
        | UnaryOp::PopCount => t.number(0.0, g),
    }
}

fn square(t: &mut Tape<'_>, x: NodeId) -> NodeId {
    t.mul(x, x)
}

/// `factor·e^(-rate·x²)`.
fn bell(t: &mut Tape<'_>, x: NodeId, rate: f64, factor: f64) -> NodeId {
    let square = t.mul(x, x);
    let exponent = t.scaled(square, -rate);
    let bell = t.unary(UnaryOp::Exp, exponent);
    t.scaled(bell, factor)
}

/// `1 - x²`, without cancellation.
fn one_minus_square(t: &mut Tape<'_>, x: NodeId) -> NodeId {
    let (below, above) = (t.one_minus(x), t.plus(x, 1.0));
    t.mul(below, above)
}

/// `(1 + t)/2 + x/2·(1 - t²)·u'` with `t = tanh(u)` and `u = c·(x + a·x³)`.
fn gelu_tanh_slope(t: &mut Tape<'_>, x: NodeId) -> NodeId {
    let (c, a) = ((2.0 / PI).sqrt(), 0.044_715);
    // Beyond this bound the slope is 0 or 1. The cube of a larger x overflows.
    let [low, high] = [-10.0, 10.0].map(|bound| t.number(bound, x));
    let x = t.binary(BinaryOp::Max, x, low);
    let x = t.binary(BinaryOp::Min, x, high);
    let square = t.mul(x, x);
    let inner = t.scaled(square, c * a);
    let inner = t.plus(inner, c);
    let inner = t.mul(x, inner);
    let tanh = t.unary(UnaryOp::Tanh, inner);
    let of_inner = t.scaled(square, 3.0 * c * a);
    let of_inner = t.plus(of_inner, c);
    let of_tanh = t.mul(tanh, tanh);
    let of_tanh = t.one_minus(of_tanh);
    let rest = t.mul(of_tanh, of_inner);
    let rest = t.mul(x, rest);
    let whole = t.plus(tanh, 1.0);
    let sum = t.add(whole, rest);
    t.scaled(sum, 0.5)
}

fn binary(
    t: &mut Tape<'_>,
    op: BinaryOp,
    [x, y, z]: [NodeId; 3],
    g: NodeId,
    [of_x, of_y]: [bool; 2],
) -> [Option<NodeId>; 2] {
    match op {
        BinaryOp::Add => [of_x.then_some(g), of_y.then_some(g)],
        BinaryOp::Sub => [of_x.then_some(g), of_y.then(|| t.neg(g))],
        BinaryOp::Mul => [of_x.then(|| t.mul(g, y)), of_y.then(|| t.mul(g, x))],
        BinaryOp::Div => {
            let quotient = t.div(g, y);
            let of_y = of_y.then(|| {
                let part = t.mul(quotient, z);
                t.neg(part)
            });
            [of_x.then_some(quotient), of_y]
        }
        BinaryOp::Rem => {
            let of_y = of_y.then(|| {
                // x/y would round up where z is nearly y.
                let taken = t.sub(x, z);
                let quotient = t.div(taken, y);
                let whole = t.unary(UnaryOp::Round, quotient);
                let part = t.mul(g, whole);
                t.neg(part)
            });
            [of_x.then_some(g), of_y]
        }
        BinaryOp::Pow => {
            let of_x = of_x.then(|| {
                // x^0 is constant, even where x^-1 is infinite.
                let exponent = t.plus(y, -1.0);
                let power = t.binary(BinaryOp::Pow, x, exponent);
                let slope = t.mul(y, power);
                let part = t.mul(g, slope);
                let constant = t.compare_to(CompareOp::Eq, y, 0.0);
                t.where_false(constant, part)
            });
            let of_y = of_y.then(|| {
                // 0^y is constant for y > 0.
                let log = t.unary(UnaryOp::Log, x);
                let slope = t.mul(z, log);
                let part = t.mul(g, slope);
                let (zero, positive) = (t.compare_to(CompareOp::Eq, x, 0.0), t.compare_to(CompareOp::Ge, y, 0.0));
                let constant = t.push(Op::Binary(BinaryOp::And, zero, positive), DType::Bool, t.shape(x));
                t.where_false(constant, part)
            });
            [of_x, of_y]
        }
        BinaryOp::Min | BinaryOp::Max => {
            let first = if op == BinaryOp::Min { CompareOp::Lt } else { CompareOp::Gt };
            let half = t.scaled(g, 0.5);
            let equal = t.compare(CompareOp::Eq, x, y);
            let shared = t.where_true(equal, half);
            let mut of = |wanted: bool, own: NodeId, other: NodeId| {
                wanted.then(|| {
                    let chosen = t.compare(first, own, other);
                    t.select(chosen, g, shared)
                })
            };
            [of(of_x, x, y), of(of_y, y, x)]
        }
        BinaryOp::Atan2 => {
            // Two divisions: the square overflows or underflows earlier.
            let distance = t.binary(BinaryOp::Hypot, x, y);
            let (g, distance) = away_from_corner(t, g, distance);
            let quotient = t.div(g, distance);
            let of_y = of_y.then(|| {
                let sine = t.div(x, distance);
                let part = t.mul(quotient, sine);
                t.neg(part)
            });
            let of_x = of_x.then(|| {
                let cosine = t.div(y, distance);
                t.mul(quotient, cosine)
            });
            [of_x, of_y]
        }
        BinaryOp::Hypot => {
            let (g, length) = away_from_corner(t, g, z);
            let mut of = |wanted: bool, side: NodeId| {
                wanted.then(|| {
                    let share = t.div(side, length);
                    t.mul(g, share)
                })
            };
            [of(of_x, x), of(of_y, y)]
        }
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Philox => [None, None],
    }
}

/// Adjoint and divisor of a norm: 0 and 1 at the corner, as for `abs`.
fn away_from_corner(t: &mut Tape<'_>, g: NodeId, length: NodeId) -> (NodeId, NodeId) {
    let corner = t.compare_to(CompareOp::Eq, length, 0.0);
    let one = t.number(1.0, length);
    (t.where_false(corner, g), t.select(corner, one, length))
}

fn norm(t: &mut Tape<'_>, x: NodeId, norm: NodeId, g: NodeId) -> NodeId {
    let (shape, (g, length)) = (t.shape(x), away_from_corner(t, g, norm));
    let [g, length] = [g, length].map(|value| t.broadcast(value, &shape));
    let share = t.div(x, length);
    t.mul(g, share)
}

fn reduce(t: &mut Tape<'_>, (op, x, y): (ReduceOp, NodeId, NodeId), axes: &[usize], g: NodeId) -> NodeId {
    let shape = t.shape(x);
    match op {
        ReduceOp::Sum => t.broadcast(g, &shape),
        ReduceOp::Max | ReduceOp::Min => {
            let extreme = t.broadcast(y, &shape);
            let chosen = t.compare(CompareOp::Eq, x, extreme);
            let dtype = t.dtype(x);
            let one = t.cast(chosen, DType::F32);
            let count = t.reduce(ReduceOp::Sum, one, axes);
            let wide = t.cast(g, DType::F32);
            let share = t.div(wide, count);
            let share = t.cast(share, dtype);
            let share = t.broadcast(share, &shape);
            t.where_true(chosen, share)
        }
        ReduceOp::Prod => {
            // The product of all other elements: other nonzero elements by division, times other zeros.
            //
            // Without other zeros the quotient stays. A single one is the sum of other zeros; the product of two is
            // half of the square of their sum minus their squares. So further derivatives see that zeros may change.
            // With more, the first three derivatives are 0. The fourth at four zeros is 0, too, which is wrong.
            let zero = t.compare_to(CompareOp::Eq, x, 0.0);
            let one = t.number(1.0, x);
            let rest = t.select(zero, one, x);
            let product = t.reduce(ReduceOp::Prod, rest, axes);
            let own_zero = t.where_true(zero, x);
            let zeros = t.reduce(ReduceOp::Sum, own_zero, axes);
            let own_square = square(t, own_zero);
            let squares = t.reduce(ReduceOp::Sum, own_square, axes);
            let own_count = t.cast(zero, DType::F32);
            let count = t.reduce(ReduceOp::Sum, own_count, axes);
            let [product, zeros, squares, count, g] =
                [product, zeros, squares, count, g].map(|value| t.broadcast(value, &shape));
            let whole = t.mul(g, product);
            let quotient = t.div(whole, rest);
            let other_zeros = t.sub(zeros, own_zero);
            let other_squares = t.sub(squares, own_square);
            let pairs = square(t, other_zeros);
            let pairs = t.sub(pairs, other_squares);
            let pairs = t.scaled(pairs, 0.5);
            let others = t.sub(count, own_count);
            let [none, single, pair] = [0.0, 1.0, 2.0].map(|number| t.compare_to(CompareOp::Eq, others, number));
            let of_pair = t.where_true(pair, pairs);
            let of_zeros = t.select(single, other_zeros, of_pair);
            let of_zeros = t.mul(quotient, of_zeros);
            t.select(none, quotient, of_zeros)
        }
        ReduceOp::ArgMax | ReduceOp::ArgMin | ReduceOp::Any | ReduceOp::All => t.number(0.0, x),
    }
}
