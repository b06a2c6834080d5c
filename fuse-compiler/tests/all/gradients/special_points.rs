//! Gradients at special points: `f32` evaluation compared with forward mode in `f64`.

use fuse_artifact::{DType, Function};
use fuse_compiler::{
    compile::{Options, compile},
    front,
    graph::Graph,
    interp::{Stores, Value, run_bounded, run_forward},
    operations::{BinaryOp, UnaryOp},
};

/// Squares or exponentials overflow or underflow `f32`.
const MAGNITUDES: [f64; 9] = [0.0, 1e-30, 1e-20, 17.0, 89.0, 104.0, 1e10, 1e20, 3e38];

const TOLERANCE: f64 = 3e-6;

const FLUSHED: f64 = 2e-36;

/// Their backward pass uses `1 - y²` or `y·(1 - y)`, which has no correct digits if `y` is within one ulp of 1.
const SATURATING: &[&str] = &["tanh(x)", "sigmoid(x)"];

fn points() -> Vec<f64> {
    let numbers = MAGNITUDES.into_iter().chain([f64::INFINITY]).flat_map(|x| [x, -x]);
    numbers.chain([f64::NAN]).map(|x| f64::from(x as f32)).collect()
}

fn graphs(source: &str) -> Vec<Graph> {
    let items = front::items(source.parse().expect("Rust tokens"));
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{source}\n{}", errors.join("\n"));
    items.functions.into_iter().flat_map(|function| function.instances).map(|instance| instance.graph).collect()
}

fn value(shape: &[usize], data: &[f64]) -> Value {
    let data = data.iter().map(|&x| f64::from(x as f32)).collect();
    Value::from_data(DType::F32, shape, data).expect("as many numbers as elements")
}

fn rounded(graph: &Graph, inputs: &[Value]) -> Vec<Vec<f64>> {
    let results =
        run_bounded(graph, inputs, Stores::EveryNode).unwrap_or_else(|error| panic!("{}: {error}", graph.name));
    results.iter().map(|result| result.data.iter().map(|x| x.exact).collect()).collect()
}

fn forward(graph: &Graph, inputs: &[Value], parameter: usize) -> Vec<(f64, f64)> {
    let moves = |(i, input): (usize, &Value)| vec![f64::from(u8::from(i == parameter)); input.data.len()];
    let direction: Vec<Vec<f64>> = inputs.iter().enumerate().map(moves).collect();
    let results = run_forward(graph, inputs, &direction).unwrap_or_else(|error| panic!("{}: {error}", graph.name));
    results[0].data.iter().map(|x| (x.value, x.slope)).collect()
}

fn admits(found: f64, expected: f64, absolute: f64) -> bool {
    let largest = f64::from(f32::MAX);
    let overflows = expected.abs() > largest * (1.0 - TOLERANCE) && found == f64::INFINITY.copysign(expected);
    overflows || (found - expected).abs() <= TOLERANCE * expected.abs() + absolute
}

/// Any result is right where forward mode has none.
fn check(function: &str, inputs: &[Value], wrong: &mut Vec<String>) {
    let names = &["x", "y"][..inputs.len()];
    let parameters: String = names.iter().map(|name| format!("{name}: f32[N], ")).collect();
    let [types, wrt] = match names {
        [_] => ["f32[N]", "x"],
        _ => ["(f32[N], f32[N])", "[x, y]"],
    };
    let graphs = graphs(&format!(
        "fn value({parameters}) -> f32[N] {{ {function} }}
         fn gradient({parameters}c: f32[N]) -> {types} {{ grad({function}, wrt = {wrt}, cotangent = c) }}"
    ));
    let ones = value(&inputs[0].shape, &vec![1.0; inputs[0].data.len()]);
    let gradients = rounded(&graphs[1], &[inputs, &[ones]].concat());
    let absolute = if SATURATING.contains(&function) { f64::from(f32::EPSILON) } else { FLUSHED };
    for (parameter, gradient) in gradients.iter().enumerate() {
        for (i, ((result, expected), &found)) in
            forward(&graphs[0], inputs, parameter).into_iter().zip(gradient).enumerate()
        {
            let is_number = result.abs() <= f64::from(f32::MAX) && !expected.is_nan();
            if is_number && !admits(found, expected, absolute) {
                let at: Vec<f64> = inputs.iter().map(|input| input.data[i]).collect();
                wrong.push(format!("{function} at {at:?} by `{}`: {found:e}, not {expected:e}", names[parameter]));
            }
        }
    }
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_of_one_element() {
    let is_float = |op: &&UnaryOp| op.takes(DType::F32) && op.result(DType::F32) == DType::F32;
    let named = UnaryOp::ALL.iter().filter(is_float).map(|op| match op.row().symbol {
        Some(symbol) => format!("{symbol}x"),
        None => format!("{}(x)", op.name()),
    });
    let composed = ["elu(x)", "elu(x, alpha = 0.7)", "leaky_relu(x)", "clamp(x, -1.0, 1.0)", "sqrt(abs(x) + 1.0)"];
    let mut wrong = vec![];
    for function in named.chain(composed.map(str::to_owned)) {
        let x = points();
        check(&function, &[value(&[x.len()], &x)], &mut wrong);
    }
    assert_none(&wrong);
}

#[test]
fn functions_of_two_elements() {
    let pairs: Vec<[f64; 2]> = points().into_iter().flat_map(|x| points().into_iter().map(move |y| [x, y])).collect();
    let of = |side: usize| value(&[pairs.len()], &pairs.iter().map(|pair| pair[side]).collect::<Vec<_>>());
    let mut wrong = vec![];
    for op in BinaryOp::ALL.iter().filter(|op| op.takes(DType::F32)) {
        let function = match op.row().symbol {
            Some(symbol) => format!("x {symbol} y"),
            None => format!("{}(x, y)", op.name()),
        };
        check(&function, &[of(0), of(1)], &mut wrong);
    }
    assert_none(&wrong);
}

/// Relative to the row's largest.
#[test]
fn functions_of_rows() {
    let rows: &[&[f64]] = &[
        &[0.0, -0.0, 0.0],
        &[1e-30, -3e-30, 0.0],
        &[1e-20, 0.0, 2e-20],
        &[1e20, -2e20, 3e19],
        &[3e38, 0.0, 1.0],
        &[1.0, 1e-30, 1e10],
        &[17.0, 89.0, -104.0],
        &[f64::NEG_INFINITY, 0.0, 1.0],
    ];
    let functions = [
        ("norm(x, axis = 1)", "[M]"),
        ("x / max(norm(x, axis = 1, keepdim = true), 1e-12)", "[M, N]"),
        ("norm(unsqueeze(x, axis = 1) - unsqueeze(x, axis = 0), axis = 2)", "[M, M]"),
        ("logsumexp(x, axis = 1)", "[M]"),
        ("softmax(x)", "[M, N]"),
        ("log_softmax(x)", "[M, N]"),
        ("max(x, axis = 1)", "[M]"),
        ("mean(x, axis = 1)", "[M]"),
    ];
    let mut wrong = vec![];
    for (function, shape) in functions {
        let graphs = graphs(&format!(
            "fn value(x: f32[M, N]) -> f32{shape} {{ {function} }}
             fn gradient(x: f32[M, N], c: f32{shape}) -> f32[M, N] {{ grad({function}, wrt = x, cotangent = c) }}"
        ));
        for row in rows {
            let x = value(&[1, row.len()], row);
            let along = |i: usize| {
                let mut direction = vec![0.0; row.len()];
                direction[i] = 1.0;
                run_forward(&graphs[0], std::slice::from_ref(&x), &[direction]).expect("it fits").remove(0)
            };
            let columns: Vec<_> = (0..row.len()).map(along).collect();
            for result in 0..columns[0].data.len() {
                let expected: Vec<f64> = columns.iter().map(|column| column.data[result].slope).collect();
                let is_number = columns[0].data[result].value.abs() <= f64::from(f32::MAX);
                // Only exponentials make infinities finite.
                let is_defined =
                    row.iter().all(|x| x.is_finite()) || function.contains("soft") || function.contains("exp");
                if !is_number || !is_defined || expected.iter().any(|x| x.is_nan()) {
                    continue;
                }
                let mut c = vec![0.0; columns[0].data.len()];
                c[result] = 1.0;
                let found = rounded(&graphs[1], &[x.clone(), value(&columns[0].shape, &c)]).remove(0);
                let largest = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
                // A probability is 1 minus the others.
                let absolute = if function.contains("soft") { f64::from(f32::EPSILON) } else { FLUSHED };
                let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= TOLERANCE * largest + absolute;
                if !found.iter().zip(&expected).all(near) {
                    wrong.push(format!("{function} of {row:?}, result {result}: {found:?}, not {expected:?}"));
                }
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn norms_neither_overflow_nor_underflow() {
    let graph = &graphs("fn f(x: f32[M, N]) -> f32[M] { norm(x, axis = 1) }")[0];
    for scale in [0.0, 1e-35, 1e-30, 1e-20, 1e-10, 1.0, 1e10, 1e18, 1e20, 5e37] {
        let found = rounded(graph, &[value(&[1, 4], &[1.0, -2.0, 2.0, 4.0].map(|x| x * scale))])[0][0];
        assert!((found - 5.0 * scale).abs() <= 1e-6 * 5.0 * scale, "{scale:e}: {found:e}");
    }
}

#[test]
fn second_derivatives_far_from_zero() {
    for function in ["elu(x)", "selu(x)", "gelu_tanh(x)", "asinh(x)", "acosh(x)"] {
        let graphs =
            graphs(&format!("fn f(x: f32[N]) -> f32[N] {{ grad(sum(grad(sum({function}), wrt = x)), wrt = x) }}"));
        let found = rounded(&graphs[0], &[value(&[4], &[17.0, 89.0, 1e10, 1e20])]).remove(0);
        assert!(found.iter().all(|x| x.abs() <= 0.01), "{function}: {found:?}");
    }
}

#[test]
fn third_derivatives_of_products_with_zeros() {
    let source = "fn second(x: f32[4], u: f32[4], v: f32[4]) -> f32 {
            let g = sum(grad(prod(x), wrt = x) * u);
            sum(grad(g, wrt = x) * v)
        }
        fn third(x: f32[4], u: f32[4], v: f32[4]) -> f32[4] { grad(second(x, u, v), wrt = x) }";
    // Over pairs of other factors, times the rest.
    let by_hand = |x: &[f64], u: &[f64], v: &[f64]| -> Vec<f64> {
        let others = |skipped: [usize; 3]| -> f64 { (0..4).filter(|i| !skipped.contains(i)).map(|i| x[i]).product() };
        let distinct = |i: usize, j: usize, k: usize| i != j && i != k && j != k;
        (0..4)
            .map(|k| {
                let pairs = (0..4).flat_map(|i| (0..4).map(move |j| (i, j))).filter(|&(i, j)| distinct(i, j, k));
                pairs.map(|(i, j)| u[i] * v[j] * others([i, j, k])).sum()
            })
            .collect()
    };
    let graph = &graphs(source)[1];
    let (u, v) = ([1.0, -2.0, 0.5, 3.0], [0.25, 1.5, -1.0, 2.0]);
    for x in [[2.0, 3.0, 4.0, 5.0], [0.0, 3.0, 4.0, 5.0], [0.0, 3.0, 0.0, 5.0], [0.0, 0.0, 4.0, 0.0], [0.0; 4]] {
        let found = rounded(graph, &[value(&[4], &x), value(&[4], &u), value(&[4], &v)]).remove(0);
        let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= TOLERANCE * expected.abs();
        assert!(found.iter().zip(&by_hand(&x, &u, &v)).all(near), "at {x:?}: {found:?}");
    }
}

const ATTENTION: &str = "
    fn value(q: f32[M, D], k: f32[N, D], v: f32[N, D], b: f32[M, N]) -> f32[M, D] {
        matmul(softmax(matmul(q, transpose(k)) + b), v)
    }
    fn gradient(q: f32[M, D], k: f32[N, D], v: f32[N, D], b: f32[M, N], c: f32[M, D]) -> (f32[M, D], f32[N, D], f32[N, D]) {
        grad(value(q, k, v, b), wrt = [q, k, v], cotangent = c)
    }";

/// Scores are exact multiples of `scale`.
fn operands(scale: f64) -> [Value; 3] {
    let q = value(&[3, 2], &[1.0, 2.0, 2.0, 1.0, -1.0, 3.0].map(|x| x * scale));
    let k = value(&[4, 2], &[1.0, 1.0, 1.0 + 0.5 / scale, 1.0, 1.0, 1.0 - 0.25 / scale, 1.0, 1.0]);
    [q, k, value(&[4, 2], &[0.5, -1.0, 0.25, 2.0, -0.75, 1.0, 1.0, 0.125])]
}

#[test]
fn attentions_with_large_scores_keep_the_digits_of_their_probabilities() {
    let graphs = graphs(ATTENTION);
    let c = value(&[3, 2], &[1.0, -0.5, 0.25, 2.0, -1.0, 0.75]);
    for (scale, hidden) in [(1.0, 0.0), (256.0, 0.0), (4096.0, 0.0), (1.0, -1e9), (1.0, -1e30)] {
        let bias = |hidden| value(&[3, 4], &[0.0, 0.0, 0.0, 0.0, hidden, hidden, hidden, hidden, 0.0, 0.0, 0.0, 0.0]);
        let found = rounded(&graphs[1], &[&operands(scale)[..], &[bias(hidden), c.clone()]].concat());
        // A score added to -1e9 is lost in `f32`, so gradients of queries and keys lack it; -1e30 has this effect in
        // `f64`.
        let lost = if hidden == 0.0 { 0.0 } else { -1e30 };
        let inputs = [&operands(scale)[..], &[bias(lost)]].concat();
        // Large scores come from nearly equal keys: gradients of queries cancel.
        let compared = if hidden == 0.0 && scale == 1.0 { 0..3 } else { 2..3 };
        for parameter in compared {
            let along = |element: usize| -> f64 {
                let mut direction: Vec<Vec<f64>> = inputs.iter().map(|input| vec![0.0; input.data.len()]).collect();
                direction[parameter][element] = 1.0;
                let result = run_forward(&graphs[0], &inputs, &direction).expect("it fits").remove(0);
                result.data.iter().zip(&c.data).map(|(x, c)| x.slope * c).sum()
            };
            let expected: Vec<f64> = (0..inputs[parameter].data.len()).map(along).collect();
            let largest = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let apart = found[parameter].iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(apart <= TOLERANCE * largest, "{scale}, {hidden}, {parameter}: {apart:e} of {largest}");
        }
    }
}

/// A row masked with -inf is NaN.
#[test]
fn rows_without_visible_keys_leave_the_gradients_of_others_alone() {
    let graph = &graphs(ATTENTION)[1];
    let c = value(&[3, 2], &[1.0, -0.5, 0.0, 0.0, -1.0, 0.75]);
    let [none, all] = [f64::NEG_INFINITY, 0.0].map(|hidden| {
        let bias =
            value(&[3, 4], &[0.0, 0.0, 0.0, 0.0, hidden, hidden, hidden, hidden, 0.0, f64::NEG_INFINITY, 0.0, 0.0]);
        rounded(graph, &[&operands(1.0)[..], &[bias, c.clone()]].concat())
    });
    assert!(none.iter().flatten().all(|x| x.is_finite()), "{none:?}");
    assert_eq!(none, all);
}

fn plans(source: &str) -> Vec<Function> {
    let function = compile(&graphs(source)[0], &Options::default()).unwrap_or_else(|error| panic!("{error}")).function;
    let alternatives = function.alternatives.to_vec();
    std::iter::once(function).chain(alternatives).collect()
}

/// Another kernel may round them differently.
#[test]
fn what_a_maximum_is_compared_with_is_stored() {
    let gradient = |x: &str, extent: &str| {
        format!(
            "fn f(x: f32[M, {extent}]) -> f32[M, {extent}] {{ let y = {x}; grad(sum(exp(max(y, axis = 1))), wrt = x) }}"
        )
    };
    // These do not round.
    let rounded = ["x * 3.0 + 1.0", "sin(x)", "transpose(transpose(x * 0.1))"].map(|x| (x, 1));
    let exact = ["x", "relu(-x)", "max(x, 0.5)"].map(|x| (x, 0));
    for (x, stored) in rounded.into_iter().chain(exact) {
        for plan in ["N", "4"].into_iter().flat_map(|extent| plans(&gradient(x, extent))) {
            let whole = plan.temporaries.iter().filter(|spec| spec.shape.len() == 2 && !spec.shape[1].is_one());
            assert_eq!(whole.count(), stored, "{x}\n{}", plan.plan);
        }
    }
}
