//! Gradients of movements (`roll`, `repeat`, `tile`, `pad`, `concat`, …) at awkward sizes.

use fuse_artifact::DType;
use fuse_compiler::graph::{Graph, Op};

use super::operations::{Parameter, check, floats, graphs};

/// `s` is a host scalar.
const MOVEMENTS: &[&str] = &[
    "roll(x, axis = 0, shift = 1)",
    "roll(x, axis = 0, shift = -3)",
    "roll(x, axis = 1, shift = 20)",
    "roll(x, axis = 0, shift = s)",
    "roll(roll(x, axis = 0, shift = -1), axis = 1, shift = s)",
    "repeat(x, axis = 0, times = 1)",
    "repeat(x, axis = 0, times = 3)",
    "repeat(x, axis = 1, times = 11)",
    "repeat(repeat(x, axis = 0, times = 2), axis = 1, times = 2)",
    "tile(x, axis = 0, times = 3)",
    "tile(x, axis = 1, times = 11)",
    "tile(repeat(x, axis = 0, times = 2), axis = 0, times = 3)",
    "repeat(roll(flip(x, axis = 0), axis = 0, shift = 2), axis = 0, times = 2)",
    "pad(tile(x, axis = 1, times = 2), axis = 1, before = 2, after = 1)",
    "roll(pad(x, axis = 0, before = 1, after = 3), axis = 0, shift = s)",
    "slice(repeat(x, axis = 1, times = 5), axis = 1, start = 2, end = 5)",
    "concat([x, roll(x, axis = 0, shift = 1), tile(x, axis = 0, times = 2)], axis = 0)",
];

/// Single elements, primes, no elements.
const SHAPES: [[usize; 2]; 5] = [[1, 1], [2, 1], [7, 3], [1, 5], [0, 2]];

fn scalar(value: f64) -> Parameter {
    Parameter { name: "s", shape: vec![], values: vec![value], dtype: DType::I32 }
}

fn parameters(shape: &[usize], seed: u64) -> Vec<Parameter> {
    let shifts = [-8.0, -1.0, 0.0, 3.0, 7.0, 100.0];
    vec![floats("x", shape, seed, [-2.0, 2.0]), scalar(shifts[seed as usize % shifts.len()])]
}

#[test]
fn movements_of_awkward_sizes() {
    for (i, movement) in MOVEMENTS.iter().enumerate() {
        for (j, shape) in SHAPES.iter().enumerate() {
            let statements = format!("let y = {movement};");
            check(parameters(shape, (i + j) as u64), &statements, "sum(y * y * y)");
        }
    }
}

#[test]
fn second_derivatives_of_movements() {
    for (i, movement) in MOVEMENTS.iter().enumerate() {
        let statements = format!("let y = {movement}; let g = grad(sum(y * y * y), wrt = x);");
        check(parameters(&[5, 3], i as u64), &statements, "sum(g * g * x)");
    }
}

#[test]
fn movements_of_as_many_axes_as_there_may_be() {
    for movement in ["repeat(x, axis = 2, times = 3)", "tile(x, axis = 5, times = 2)", "roll(x, axis = 0, shift = 1)"] {
        let x = floats("x", &[2, 1, 3, 1, 2, 2], 3, [-2.0, 2.0]);
        check(vec![x], &format!("let y = {movement};"), "sum(y * y * y)");
    }
}

fn walked(graph: &Graph) -> u64 {
    let elements = |(_, node): (_, &fuse_compiler::graph::Node)| match node.op {
        Op::Reduce { x, .. } => graph.nodes[x].ty.elements().as_constant().expect("sizes are numbers"),
        _ => 0,
    };
    graph.nodes.iter().map(elements).sum()
}

#[test]
fn gradients_of_movements_are_linear() {
    let swin =
        "permute(reshape(roll(roll(x, axis = 0, shift = -3), axis = 1, shift = -3), [100, 8, 125, 8]), [0, 2, 1, 3])";
    let stacked = "stack([x, x * x, flip(x, axis = 1)], axis = 2)";
    for movement in MOVEMENTS.iter().chain([&swin, &stacked]) {
        let [forward, gradients] = &graphs(&format!(
            "fn value(x: f32[800, 1000], s: i32) -> f32 {{ let y = {movement}; sum(y * y) }}
             fn both(x: f32[800, 1000], s: i32) -> f32[800, 1000] {{
                 let y = {movement}; let g = grad(sum(y * y * y), wrt = x); grad(sum(g * g), wrt = x)
             }}"
        ))[..] else {
            panic!("two functions")
        };
        let (one, both) = (walked(forward).max(800 * 1000), walked(gradients));
        assert!(both <= 12 * one, "{movement}: {both} elements are walked, {one} in the function");
    }
}

/// Nested pieces of one tensor; overlapping, touching or separate slices; symbols.
#[test]
fn values_of_many_pieces() {
    let all = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<Vec<_>>().join(", ");
    let slice = |from: usize, to: usize| format!("slice(x, axis = 0, start = {from}, end = {to})");
    for pieces in [
        all(47, &|i| slice(i, i + 1)),
        all(23, &|i| slice(2 * i, 2 * i + 1)),
        all(31, &|i| slice(46 - i, 47)),
        all(40, &|i| slice(i, i + 1 + i % 4)),
        all(16, &|i| slice(3 * (15 - i), 3 * (16 - i) - 1)),
        all(3, &|_| "x".to_owned()),
        format!("{}, x * x, {}", slice(5, 9), slice(0, 0)),
        format!("{}, {}", slice(7, 7), slice(46, 47)),
    ] {
        let statements = format!("let y = concat([{pieces}], axis = 0);");
        check(vec![floats("x", &[47, 2], 5, [-2.0, 2.0])], &statements, "sum(y * y * y)");
        let twice = format!("{statements} let g = grad(sum(y * y * y), wrt = x);");
        check(vec![floats("x", &[47, 2], 5, [-2.0, 2.0])], &twice, "sum(g * g * x)");
    }
    let parts = "let (a, b, c) = checkpoint(split(tanh(x), axis = 1, sizes = [2, 3, 1])); let y = concat([b * b, c, a], axis = 1);";
    check(vec![floats("x", &[3, 6], 5, [-2.0, 2.0])], parts, "sum(y * y * y)");
    let stacked = format!("let y = stack([{}], axis = 1);", all(33, &|i| format!("x * {i}.5")));
    check(vec![floats("x", &[2, 3], 5, [-1.0, 1.0])], &stacked, "sum(y * y * y)");
}
