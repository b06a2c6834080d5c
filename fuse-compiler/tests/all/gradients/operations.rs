//! Gradients compared with forward mode in `f64`: every operation and library function.

use fuse_artifact::DType;
use fuse_compiler::{
    compile::{Options, compile},
    front,
    graph::{Graph, verify},
    interp::{Value, run_exact, run_forward},
};

/// Relative to the tensor's largest number, or to 1.
const TOLERANCE: f64 = 1e-11;

pub(super) fn graphs(source: &str) -> Vec<Graph> {
    let items = front::items(source.parse().expect("Rust tokens"));
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{source}\n{}", errors.join("\n"));
    let instances = items.functions.into_iter().flat_map(|function| function.instances);
    let graphs: Vec<Graph> = instances.map(|instance| instance.graph).collect();
    for graph in &graphs {
        assert_eq!(verify::verify(graph), Vec::<String>::new(), "{source}");
    }
    graphs
}

pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
    pub(super) dtype: DType,
}

fn spread(count: usize, seed: u64, low: f64, high: f64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    (0..count).map(|_| low + (high - low) * (0.02 + 0.96 * next())).collect()
}

pub(super) fn floats(name: &'static str, shape: &[usize], seed: u64, [low, high]: [f64; 2]) -> Parameter {
    let values = spread(shape.iter().product(), seed, low, high);
    Parameter { name, shape: shape.to_vec(), values, dtype: DType::F32 }
}

fn inputs(parameters: &[Parameter]) -> Vec<Value> {
    parameters.iter().map(|p| Value::from_data(p.dtype, &p.shape, p.values.clone()).unwrap()).collect()
}

/// `loss` has rank 0.
pub(super) fn check(parameters: Vec<Parameter>, statements: &str, loss: &str) {
    let declared: Vec<String> = parameters
        .iter()
        .map(|p| {
            format!("{}: {}[{}]", p.name, p.dtype, p.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
        })
        .map(|text| text.replace("[]", ""))
        .collect();
    let declared = declared.join(", ");
    let wrt: Vec<usize> = (0..parameters.len()).filter(|&i| parameters[i].dtype.is_float()).collect();
    let types: Vec<String> = wrt
        .iter()
        .map(|&i| {
            let shape: Vec<String> = parameters[i].shape.iter().map(usize::to_string).collect();
            if shape.is_empty() { "f32".to_owned() } else { format!("f32[{}]", shape.join(", ")) }
        })
        .collect();
    let names: Vec<&str> = wrt.iter().map(|&i| parameters[i].name).collect();
    let (types, wrt_text) = match types.len() {
        1 => (types[0].clone(), names[0].to_owned()),
        _ => (format!("({})", types.join(", ")), format!("[{}]", names.join(", "))),
    };
    let source = format!(
        "fn value({declared}) -> f32 {{ {statements} {loss} }}
         fn gradient({declared}) -> {types} {{ {statements} grad({loss}, wrt = {wrt_text}) }}"
    );
    let graphs = graphs(&source);
    let [value, gradient] = graphs.as_slice() else { panic!("{} graphs", graphs.len()) };
    let found = unrounded(gradient, &inputs(&parameters));
    for (found, &parameter) in found.iter().zip(&wrt) {
        assert_eq!(found.shape, parameters[parameter].shape, "{source}");
        let largest = found.data.iter().fold(1.0f64, |largest, x| largest.max(x.abs()));
        for (element, &found) in found.data.iter().enumerate() {
            let expected = slopes(value, &inputs(&parameters), (parameter, element))[0];
            assert!(
                (found - expected).abs() <= TOLERANCE * largest,
                "{source}\n`{}`, element {element}: found {found}, expected {expected}",
                parameters[parameter].name,
            );
        }
    }
}

fn unrounded(graph: &Graph, inputs: &[Value]) -> Vec<Value> {
    let still: Vec<Vec<f64>> = inputs.iter().map(|input| vec![0.0; input.data.len()]).collect();
    let found = run_forward(graph, inputs, &still).unwrap_or_else(|error| panic!("{}: {error}", graph.name));
    let values = found.into_iter().map(|x| (x.dtype, x.shape, x.data.iter().map(|x| x.value).collect()));
    values.map(|(dtype, shape, data)| Value { dtype, shape, data }).collect()
}

fn slopes(graph: &Graph, inputs: &[Value], (parameter, element): (usize, usize)) -> Vec<f64> {
    let mut direction: Vec<Vec<f64>> = inputs.iter().map(|input| vec![0.0; input.data.len()]).collect();
    direction[parameter][element] = 1.0;
    let found = run_forward(graph, inputs, &direction).unwrap_or_else(|error| panic!("{}: {error}", graph.name));
    found[0].data.iter().map(|x| x.slope).collect()
}

const UNARY: &[(&str, [f64; 2])] = &[
    ("-x", [-2.0, 2.0]),
    ("abs(x)", [-2.0, 2.0]),
    ("sign(x) * x", [-2.0, 2.0]),
    ("floor(x) * x", [-2.0, 2.0]),
    ("ceil(x) * x", [-2.0, 2.0]),
    ("round(x) * x", [-2.0, 2.0]),
    ("trunc(x) * x", [-2.0, 2.0]),
    ("fract(x)", [-2.0, 2.0]),
    ("sqrt(x)", [0.5, 3.0]),
    ("rsqrt(x)", [0.5, 3.0]),
    ("exp(x)", [-2.0, 2.0]),
    ("exp2(x)", [-2.0, 2.0]),
    ("log(x)", [0.5, 3.0]),
    ("log2(x)", [0.5, 3.0]),
    ("log1p(x)", [-0.5, 3.0]),
    ("expm1(x)", [-2.0, 2.0]),
    ("sin(x)", [-3.0, 3.0]),
    ("cos(x)", [-3.0, 3.0]),
    ("tan(x)", [-1.0, 1.0]),
    ("tanh(x)", [-2.0, 2.0]),
    ("atan(x)", [-2.0, 2.0]),
    ("asin(x)", [-0.8, 0.8]),
    ("acos(x)", [-0.8, 0.8]),
    ("sinh(x)", [-2.0, 2.0]),
    ("cosh(x)", [-2.0, 2.0]),
    ("asinh(x)", [-2.0, 2.0]),
    ("acosh(x)", [1.5, 3.0]),
    ("atanh(x)", [-0.8, 0.8]),
    ("erf(x)", [-2.0, 2.0]),
    ("erfc(x)", [-2.0, 2.0]),
    ("recip(x)", [0.5, 2.0]),
    ("relu(x)", [-2.0, 2.0]),
    ("selu(x)", [-2.0, 2.0]),
    ("gelu(x)", [-3.0, 3.0]),
    ("gelu_tanh(x)", [-3.0, 3.0]),
    ("silu(x)", [-3.0, 3.0]),
    ("sigmoid(x)", [-3.0, 3.0]),
    ("hard_sigmoid(x)", [-4.0, 4.0]),
    ("hard_swish(x)", [-4.0, 4.0]),
    ("softplus(x)", [-3.0, 3.0]),
    ("mish(x)", [-3.0, 3.0]),
    ("leaky_relu(x, slope = 0.1)", [-2.0, 2.0]),
    ("elu(x, alpha = 0.7)", [-2.0, 2.0]),
    ("clamp(x, -1.0, 1.0)", [-2.0, 2.0]),
    ("(x as f16) as f32 * 0.0 + x", [-1.0, 1.0]),
];

#[test]
fn functions_of_one_element() {
    for (i, &(function, range)) in UNARY.iter().enumerate() {
        let x = floats("x", &[2, 3], i as u64 + 1, range);
        let c = floats("c", &[2, 3], i as u64 + 100, [0.5, 2.0]);
        check(vec![x, c], "", &format!("sum(({function}) * c)"));
    }
}

#[test]
fn second_derivatives_of_functions_of_one_element() {
    for (i, &(function, range)) in UNARY.iter().enumerate() {
        let x = floats("x", &[2, 3], i as u64 + 1, range);
        let c = floats("c", &[2, 3], i as u64 + 100, [0.5, 2.0]);
        check(vec![x, c], &format!("let g = grad(sum(({function}) * c), wrt = x);"), "sum(g * g * x)");
    }
}

#[test]
fn functions_of_two_elements_that_broadcast() {
    let cases: &[(&str, [f64; 2], [f64; 2])] = &[
        ("x + y", [-1.0, 1.0], [-1.0, 1.0]),
        ("x - y", [-1.0, 1.0], [-1.0, 1.0]),
        ("x * y", [-1.0, 1.0], [-1.0, 1.0]),
        ("x / y", [-1.0, 1.0], [0.5, 2.0]),
        ("x % y", [-2.8, 2.8], [0.3, 1.05]),
        ("pow(x, y)", [0.5, 2.0], [-2.0, 2.0]),
        ("min(x, y)", [-1.0, 1.0], [-1.0, 1.0]),
        ("max(x, y)", [-1.0, 1.0], [-1.0, 1.0]),
        ("atan2(x, y)", [0.5, 2.0], [-1.0, 1.0]),
        ("hypot(x, y)", [0.5, 2.0], [-1.0, 1.0]),
        ("lerp(x, y, 0.3)", [-1.0, 1.0], [-1.0, 1.0]),
        ("select(x < y, x * y, x - y)", [-1.0, 1.0], [-1.0, 1.0]),
    ];
    for (i, &(function, of_x, of_y)) in cases.iter().enumerate() {
        for shape in [&[2, 3][..], &[3], &[2, 1], &[]] {
            let x = floats("x", &[2, 3], i as u64 + 1, of_x);
            let y = floats("y", shape, i as u64 + 50, of_y);
            check(vec![x, y], "", &format!("sum(({function}) * ({function}))"));
        }
    }
}

#[test]
fn reductions_and_rows() {
    for (i, function) in [
        "sum(x, axis = 1)",
        "mean(x, axis = 0)",
        "prod(x, axis = 1)",
        "max(x, axis = 1)",
        "min(x, axis = 0)",
        "var(x, axis = 1)",
        "var(x, axis = 0, correction = 1)",
        "norm(x, axis = 1)",
        "logsumexp(x, axis = 1)",
        "softmax(x)",
        "softmax(x, axis = 0)",
        "log_softmax(x)",
        "rms_norm(x, g)",
        "layer_norm(x, g, g)",
        "cumulative(x)",
    ]
    .iter()
    .enumerate()
    .filter(|(_, function)| !function.starts_with("cumulative"))
    {
        let x = floats("x", &[3, 4], i as u64 + 7, [-2.0, 2.0]);
        let g = floats("g", &[4], i as u64 + 70, [0.5, 2.0]);
        check(vec![x, g], &format!("let y = {function};"), "sum(y * y * y) + sum(g)");
    }
    let x = floats("x", &[2, 6, 3], 5, [-2.0, 2.0]);
    let g = floats("g", &[6], 6, [0.5, 2.0]);
    check(vec![x, g], "let y = group_norm(x, g, g, groups = 2);", "sum(y * y * y)");
}

#[test]
fn a_product_with_zeros_is_right() {
    let graph = &graphs("fn g(x: f32[3, 3]) -> f32[3, 3] { grad(sum(prod(x, axis = 1)), wrt = x) }")[0];
    let x = Value::from_data(DType::F32, &[3, 3], vec![2.0, 3.0, 4.0, 2.0, 0.0, 4.0, 0.0, 3.0, 0.0]).unwrap();
    let found = run_exact(graph, &[x]).unwrap();
    assert_eq!(found[0].data, [12.0, 8.0, 6.0, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_gradient_of_a_gradient_of_a_product_with_zeros_is_right() {
    for zeros in [&[][..], &[1], &[0, 2], &[0, 1, 3]] {
        let mut x = floats("x", &[4], 1, [0.5, 1.5]);
        zeros.iter().for_each(|&place: &usize| x.values[place] = 0.0);
        let v = floats("v", &[4], 2, [-1.0, 1.0]);
        check(vec![x, v], "let g = grad(prod(x), wrt = x);", "sum(g * v)");
    }
}

#[test]
fn corners_have_the_derivatives_that_the_rules_say() {
    let at = |body: &str, values: &[f64]| {
        let count = values.len();
        let source = format!(
            "fn g(x: f32[{count}]) -> f32[{count}] {{ grad({body}, wrt = x) }} fn f(x: f32[{count}]) -> f32 {{ {body} }}"
        );
        let x = [Value::from_data(DType::F32, &[count], values.to_vec()).unwrap()];
        let graphs = graphs(&source);
        let found = run_exact(&graphs[0], &x).unwrap().remove(0).data;
        let forward: Vec<f64> = (0..count).map(|element| slopes(&graphs[1], &x, (0, element))[0]).collect();
        assert_eq!(found, forward, "{body}: forward mode has other derivatives");
        found
    };
    assert_eq!(at("sum(relu(x))", &[-1.0, 0.0, 1.0]), [0.0, 0.0, 1.0]);
    assert_eq!(at("sum(abs(x))", &[-1.0, 0.0, 1.0]), [-1.0, 0.0, 1.0]);
    assert_eq!(at("sum(sign(x) + floor(x))", &[-1.0, 0.5]), [0.0, 0.0]);
    // Also next to a factor without slope.
    assert_eq!(at("sum(sign(acosh(x)))", &[-0.5, 1.0, 2.0]), [0.0; 3]);
    assert_eq!(at("sum(x * x + round(log(x)))", &[-1.0, 2.0]), [-2.0, 4.0]);
    assert_eq!(at("max(x)", &[1.0, 3.0, 3.0, 2.0]), [0.0, 0.5, 0.5, 0.0]);
    assert_eq!(at("sum(max(x, 1.0))", &[0.0, 1.0, 2.0]), [0.0, 0.5, 1.0]);
    assert_eq!(at("sum(pow(x, 0.0))", &[0.0, 2.0]), [0.0, 0.0]);
    assert_eq!(at("sum(hypot(x, 0.0))", &[0.0, 2.0]), [0.0, 1.0]);
}

#[test]
fn products_of_matrices_whatever_is_broadcast() {
    let cases: &[(&[usize], &[usize])] = &[
        (&[3, 4], &[4, 2]),
        (&[2, 3, 4], &[2, 4, 5]),
        (&[2, 3, 4], &[4, 5]),
        (&[3, 4], &[2, 4, 5]),
        (&[2, 1, 3, 4], &[1, 5, 4, 2]),
        (&[2, 3, 2, 4], &[2, 1, 4, 3]),
        (&[2, 3, 2, 4], &[3, 4, 3]),
    ];
    for (i, &(of_a, of_b)) in cases.iter().enumerate() {
        let a = floats("a", of_a, i as u64 + 3, [-1.0, 1.0]);
        let b = floats("b", of_b, i as u64 + 30, [-1.0, 1.0]);
        check(vec![a, b], "let y = matmul(a, b);", "sum(y * y * y)");
    }
    let a = || floats("a", &[4], 1, [-1.0, 1.0]);
    check(vec![a(), floats("b", &[4], 2, [-1.0, 1.0])], "", "exp(dot(a, b))");
    check(vec![a(), floats("b", &[3], 2, [-1.0, 1.0])], "let y = outer(a, b);", "sum(y * y * y)");
}

#[test]
fn nothing_of_all_batches_is_stored_for_the_gradient_of_a_weight() {
    let graph =
        &graphs("fn g(x: f32[B, S, K], w: f32[K, N]) -> f32[K, N] { let y = matmul(x, w); grad(sum(y * y), wrt = w) }")
            [0];
    let batch = graph.nodes.iter().next().unwrap().1.ty.shape[0].clone();
    let [k, n] = [2, 1].map(|back| graph.nodes[graph.results[0]].ty.shape[2 - back].clone());
    let whole = batch.mul(&k).mul(&n);
    assert!(graph.nodes.iter().all(|(_, node)| node.ty.elements() != whole), "a value of [B, K, N]");
}

#[test]
fn movements() {
    for (i, function) in [
        "transpose(x)",
        "permute(x, [1, 0])",
        "reshape(x, [2, 6])",
        "broadcast_to(unsqueeze(x, axis = 0), [2, 3, 4])",
        "slice(x, axis = 1, start = 1, end = 3)",
        "concat([slice(x, axis = 0, start = 0, end = 1), x * x, slice(x, axis = 0, start = 1, end = 3)], axis = 0)",
        "stack([x, x * x], axis = 1)",
        "flip(x, axis = 1)",
        "flip(x, axis = [0, 1])",
        "pad(x, axis = 1, before = 2, after = 1)",
        "roll(x, axis = 1, shift = 1)",
        "repeat(x, axis = 0, times = 2)",
        "tile(x, axis = 1, times = 2)",
        "tril(x)",
        "triu(x, diagonal = 1)",
        "glu(x)",
    ]
    .iter()
    .enumerate()
    {
        let x = floats("x", &[3, 4], i as u64 + 11, [-2.0, 2.0]);
        check(vec![x], &format!("let y = {function};"), "sum(y * y * y)");
    }
}

#[test]
fn elements_at_computed_places() {
    let ids = |values: &[f64]| Parameter {
        name: "ids",
        shape: vec![values.len()],
        values: values.to_vec(),
        dtype: DType::I32,
    };
    let table = || floats("x", &[3, 4], 21, [-2.0, 2.0]);
    // One twice, some never, and beyond the ends.
    check(vec![table(), ids(&[2.0, 0.0, 2.0, 7.0, -1.0])], "let y = gather(x, ids);", "sum(y * y * y)");
    check(vec![table(), ids(&[1.0, 1.0])], "let y = gather(x, ids, axis = 1);", "sum(y * y * y)");
    check(vec![table(), ids(&[1.0, 3.0, 0.0])], "", "mean(cross_entropy(x, ids))");
    // Rank 6, and a tied table.
    for axis in [0, 1, 2, 5] {
        let x = floats("x", &[2, 3, 1, 2, 1, 2], 22, [-2.0, 2.0]);
        check(vec![x, ids(&[1.0, 0.0, 1.0])], &format!("let y = gather(x, ids, axis = {axis});"), "sum(y * y * y)");
    }
    check(
        vec![table(), ids(&[2.0, 2.0, 0.0])],
        "let y = gather(x, ids) * 2.0; let z = gather(x, 2 - ids);",
        "sum(y * y * z)",
    );
    check(
        vec![table(), ids(&[2.0, 0.0, 2.0])],
        "let y = gather(x, ids); let g = grad(sum(y * y * y), wrt = x);",
        "sum(g * g)",
    );
    let v = floats("x", &[5], 3, [-1.0, 1.0]);
    check(vec![v, ids(&[0.0])], "let y = gather(x, index(x, axis = 0) - 2) * (ids as f32 + 1.0);", "sum(y * y * y)");
}

#[test]
fn layers_and_losses() {
    let x = || floats("x", &[3, 4], 1, [-1.0, 1.0]);
    let w = || floats("w", &[4, 5], 2, [-1.0, 1.0]);
    let b = || floats("b", &[5], 3, [-0.5, 0.5]);
    check(vec![x(), w(), b()], "let h = tanh(matmul(x, w) + b);", "mean(h * h)");
    let v = floats("v", &[5, 2], 4, [-1.0, 1.0]);
    check(vec![x(), w(), b(), v], "let h = gelu(matmul(x, w) + b); let y = matmul(h, v);", "sum(softmax(y) * y)");
    let [q, k, v] = [("q", 5), ("k", 6), ("v", 7)].map(|(name, seed)| floats(name, &[2, 3, 4], seed, [-1.0, 1.0]));
    let attention = "let y = matmul(softmax(matmul(q, transpose(k)) * 0.5), v);";
    check(vec![q, k, v], attention, "sum(y * y * y)");
}

#[test]
fn gradients_of_gradients() {
    let x = || floats("x", &[4], 9, [0.5, 1.5]);
    check(vec![x()], "let g = grad(sum(exp(x * x)), wrt = x);", "sum(g * g)");
    check(vec![x()], "let g = grad(sum(tanh(x) / x), wrt = x); let h = grad(sum(g * g), wrt = x);", "sum(h)");
    let w = floats("w", &[4, 4], 10, [-1.0, 1.0]);
    check(
        vec![x(), w],
        "let y = matmul(unsqueeze(x, axis = 0), w); let g = grad(sum(sigmoid(y)), wrt = x);",
        "sum(g * g)",
    );
}

#[test]
fn cotangents_and_what_is_stopped() {
    let x = || floats("x", &[2, 3], 12, [-1.0, 1.0]);
    let c = floats("c", &[2, 3], 13, [-1.0, 1.0]);
    // A cotangent weights the elements of the sum.
    check(vec![x(), c], "let g = grad(x * x * x, wrt = x, cotangent = c);", "sum(g * g)");
    let graph = &graphs("fn g(x: f32[3]) -> f32[3] { grad(sum(stop_gradient(x * x) * x), wrt = x) }")[0];
    let x = Value::from_data(DType::F32, &[3], vec![1.0, 2.0, 3.0]).unwrap();
    assert_eq!(run_exact(graph, &[x]).unwrap()[0].data, [1.0, 4.0, 9.0]);
}

#[test]
fn values_between_and_functions_of_the_block() {
    let graphs = graphs(
        "fn layer(x: f32[N], w: f32[N]) -> f32[N] { tanh(x * w) }
         fn g(x: f32[N], w: f32[N]) -> (f32[N], f32[N]) {
             let h = layer(x, w);
             let loss = sum(h * h);
             grad(loss, wrt = [h, w])
         }",
    );
    let [x, w] = [0.5, 2.0].map(|value| Value::from_data(DType::F32, &[1], vec![value]).unwrap());
    let found = run_exact(&graphs[1], &[x, w]).unwrap();
    let h = 1.0f64.tanh();
    assert!((found[0].data[0] - 2.0 * h).abs() < 1e-12);
    assert!((found[1].data[0] - 2.0 * h * (1.0 - h * h) * 0.5).abs() < 1e-12);
}

#[test]
fn gradients_compile() {
    for source in [
        "fn f(x: f32[M, K], w: q8[K, N]) -> f32[M, K] { grad(sum(tanh(matmul(x, w))), wrt = x) }",
        "fn f(x: f16[M, K], w: q4[N, K]) -> f16[M, K] { grad(sum(matmul(x, transpose(w))), wrt = x) }",
        "fn f<T: Float>(x: T[B, S, K], w: T[K, N], b: T[N]) -> (T[B, S, K], T[K, N], T[N]) {
             let y = gelu(matmul(x, w) + b);
             grad(y, wrt = [x, w, b], cotangent = y)
         }",
        "fn f(x: f32[N, D], seed: u32) -> f32[N, D] { grad(sum(dropout(x * x, 0.1, seed)), wrt = x) }",
        "fn f(table: f32[V, D], ids: u32[B, S]) -> f32[V, D] { grad(sum(exp(embedding(table, ids))), wrt = table) }",
        "fn f(x: f32[N], s: f32) -> f32 { grad(sum(sin(x * s)), wrt = s) }",
        "fn f(x: f32[0, 3]) -> f32[0, 3] { grad(mean(x * x), wrt = x) }",
        "fn f(x: f32[1, 1]) -> f32[1, 1] { grad(sum(softmax(x) * x), wrt = x) }",
        "#[no_fuse] fn f(x: f32[M, N]) -> f32[M, N] { grad(logsumexp(x), wrt = x) }",
        // Integers computed by many operations.
        "fn f(x: f32[N], y: f32[K], i: i32[K], k: i32[K]) -> f32[N] {
             let a = (i * 3 + k) % 7; let b = (a * 3 + k) % 7; let c = (b * 3 + k) % 7; let d = (c * 3 + k) % 7;
             let e = (d * 3 + k) % 7; let g = (e * 3 + k) % 7; let h = (g * 3 + k) % 7; let j = (h * 3 + k) % 7;
             grad(sum(gather(x, j) * y), wrt = x)
         }",
        // Together, dependents of a product exceed eight buffers.
        "fn f(x: f32[M, K], w: f32[K, N], b: f32[N], u: f32[N]) -> (f32[N], f32[N]) {
             let g = grad(sum(gelu(matmul(x, w) + b) * u), wrt = x);
             grad(mean(g * g), wrt = [b, u])
         }",
    ] {
        for graph in graphs(source) {
            compile(&graph, &Options::default()).unwrap_or_else(|error| panic!("{source}\n{error}"));
        }
    }
    let twice = &graphs("fn f(x: f32[N]) -> (f32[N], f32[N]) { grad(sum(x * x), wrt = [x, x]) }")[0];
    assert_eq!(twice.results[0], twice.results[1]);
}

/// Nested ones, several results, attention, moved elements and constants.
#[test]
fn checkpoints_change_no_gradient() {
    let parameters = || vec![floats("x", &[5, 4], 1, [-1.0, 1.0]), floats("w", &[4, 4], 2, [-1.0, 1.0])];
    for statements in [
        "let y = checkpoint(tanh(matmul(x, w)));",
        "let y = checkpoint(softmax(checkpoint(matmul(x, w)) * x)) * x;",
        "let (a, b) = checkpoint(split(exp(x) * stop_gradient(x), axis = 1, parts = 2)); let y = matmul(concat([b, a], axis = 1), w);",
        "let q = checkpoint(matmul(x, w)); let y = checkpoint(matmul(softmax(matmul(q, transpose(x))), q + x));",
        "let h = checkpoint(flip(relu(x) * x, axis = 0)); let y = checkpoint(matmul(h, w) * sum(h)) + checkpoint(x);",
    ] {
        // Forward mode lacks constants.
        if !statements.contains("stop_gradient") {
            check(parameters(), statements, "sum(y * y)");
        }
        let plain = statements.replace("checkpoint", "");
        let gradient = |statements: &str| {
            let of = "fn f(x: f32[5, 4], w: f32[4, 4]) -> (f32[5, 4], f32[4, 4])";
            let found = "grad(sum(y * y) + sum(grad(sum(y * y * y), wrt = x)) + sum(w), wrt = [x, w])";
            let graph = graphs(&format!("{of} {{ {statements} {found} }}")).remove(0);
            run_exact(&graph, &inputs(&parameters())).unwrap()
        };
        for (found, expected) in gradient(statements).iter().zip(gradient(&plain)) {
            for (found, expected) in found.data.iter().zip(&expected.data) {
                assert!(
                    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                    "{statements}: {found}, {expected}"
                );
            }
        }
    }
}

/// The plan names forward values that gradients read, and no more.
#[test]
fn the_plan_says_what_is_kept() {
    let attention = "let p = softmax(matmul(x, transpose(x))); let y = matmul(p, matmul(x, w));";
    let cases = [
        ("let y = matmul(tanh(matmul(x, w)), w);", "16*B", "f32[B, 4]"),
        ("let y = tanh(matmul(tanh(matmul(tanh(matmul(x, w)), w)), w));", "32*B", "f32[B, 4] f32[B, 4]"),
        // The loss reads its result.
        ("let y = checkpoint(tanh(matmul(tanh(matmul(tanh(matmul(x, w)), w)), w)));", "16*B", "f32[B, 4]"),
        ("let y = exp(x * x) * sum(w);", "4", "f32[1, 1]"),
        // Values, and two numbers per row of scores.
        (attention, "24*B", "f32[B, 4] f32[B, 1] f32[B, 1]"),
    ];
    for (statements, bytes, kept) in cases {
        let source = format!(
            "fn f(x: f32[B, 4], w: f32[4, 4]) -> (f32[B, 4], f32[4, 4]) {{ {statements} grad(sum(y * y), wrt = [x, w]) }}"
        );
        let plan = compile(&graphs(&source)[0], &Options::default()).unwrap().function.plan;
        let found: Vec<&str> = plan.kept.iter().filter_map(|text| Some(text.split_once(": ")?.1)).collect();
        assert_eq!((plan.kept_bytes.as_ref(), found.join(" ").as_str()), (bytes, kept), "{}", plan);
    }
    let plan =
        compile(&graphs("fn f(x: f32[B, 4]) -> f32[B, 4] { exp(x) }")[0], &Options::default()).unwrap().function.plan;
    assert!(plan.kept_bytes.is_empty() && !plan.to_string().contains("kept"));
}
