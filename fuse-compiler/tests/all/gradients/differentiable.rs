//! `#[differentiable]`: gradients compared with central differences, and residuals of pullbacks.

use std::collections::BTreeMap;

use fuse_artifact::DType;
use fuse_compiler::{
    compile::{Options, compile},
    diag::Code,
    front::{self, Derivatives, Instance},
    grad::pullback::Kept,
    graph::{Graph, verify},
    interp::{Value, run_exact},
};

/// Relative to the largest element, or to 1.
const TOLERANCE: f64 = 1e-6;

/// Balances the error of a fourth-order difference with rounding.
const STEP: f64 = 1e-3;

fn last(source: &str) -> (Vec<Instance>, Vec<usize>) {
    let mut items = front::items(source.parse().expect("Rust tokens"));
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{source}\n{}", errors.join("\n"));
    let function = items.functions.pop().expect("a function");
    (function.instances, function.header.derived().expect("a differentiable function").wrt)
}

fn derivatives(instance: &Instance) -> &Derivatives {
    let derivatives = instance.derivatives.as_ref().expect("derivatives");
    for graph in derivatives.graphs() {
        assert_eq!(verify::verify(graph), Vec::<String>::new(), "{}", graph.name);
    }
    derivatives
}

/// Floats between -1 and 1, indices below 3.
fn inputs(graph: &Graph, dims: &BTreeMap<&str, u64>, seed: u64) -> Vec<Value> {
    let symbols: Vec<u64> =
        graph.symbols.iter().map(|symbol| dims.get(symbol.name.as_ref()).copied().unwrap_or(1)).collect();
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let value = |param: &fuse_compiler::graph::Param| {
        let shape: Vec<usize> = param.ty.shape.iter().map(|size| size.eval(&symbols).unwrap() as usize).collect();
        let count = shape.iter().product();
        let number = |next: &mut dyn FnMut() -> f64| match param.ty.dtype {
            DType::F32 | DType::F16 => 0.02 + 1.9 * next() - 0.95,
            _ => (3.0 * next()).floor(),
        };
        Value::from_data(param.ty.dtype, &shape, (0..count).map(|_| number(&mut next)).collect()).unwrap()
    };
    graph.params.iter().map(value).collect()
}

fn run(graph: &Graph, inputs: &[Value]) -> Vec<Value> {
    run_exact(graph, inputs).unwrap_or_else(|error| panic!("{}: {error}", graph.name))
}

fn close(what: &str, found: &Value, expected: &Value, tolerance: f64) {
    assert_eq!(found.shape, expected.shape, "{what}");
    let largest = expected.data.iter().fold(1.0f64, |largest, x| largest.max(x.abs()));
    for (i, (found, expected)) in found.data.iter().zip(&expected.data).enumerate() {
        assert!((found - expected).abs() <= tolerance * largest, "{what}, element {i}: {found} beside {expected}");
    }
}

const BLOCKS: &[(&str, &[(&str, u64)])] = &[
    ("#[differentiable] fn f(x: f32[N]) -> f32 { sum(x * x * x) }", &[("N", 4)]),
    ("#[differentiable] fn f(x: f32[N]) -> f32[N] { relu(x) }", &[("N", 4)]),
    ("#[differentiable] fn f(x: f32[N], b: f32[N]) -> f32[N] { x + b }", &[("N", 4)]),
    ("#[differentiable] fn f(x: f32[N], s: f32) -> f32[N] { tanh(x * s) }", &[("N", 4)]),
    ("#[differentiable] fn f(x: f32[M, N]) -> f32 { 2.0 * sum(x) }", &[("M", 2), ("N", 3)]),
    ("#[differentiable(b)] fn f(x: f32[M, N], b: f32[N]) -> f32[M, N] { exp(x) + b }", &[("M", 2), ("N", 3)]),
    ("#[differentiable] fn f(s: f32[], x: f32[N]) -> f32[N] { s * x * x }", &[("N", 3)]),
    (
        "#[differentiable] fn f(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] { gelu(matmul(x, w) + b) }",
        &[("M", 2), ("K", 3), ("N", 4)],
    ),
    (
        "fn layer(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] { tanh(matmul(x, w) + b) }
         #[differentiable(w, v, b)]
         fn f(x: f32[M, K], w: f32[K, N], b: f32[N], v: f32[N, 2], c: f32[2], classes: i32[M]) -> f32 {
             mean(cross_entropy(layer(layer(x, w, b), v, c), classes))
         }",
        &[("M", 3), ("K", 2), ("N", 4)],
    ),
    (
        "#[differentiable] fn f(x: f32[M, N], gamma: f32[N], beta: f32[N]) -> f32[M, N] { layer_norm(x, gamma, beta) }",
        &[("M", 2), ("N", 5)],
    ),
    ("#[differentiable] fn f(x: f32[M, N]) -> f32[M, N] { softmax(x) }", &[("M", 2), ("N", 4)]),
    (
        "#[differentiable] fn f(q: f32[H, S, D], k: f32[H, S, D], v: f32[H, S, D]) -> f32[H, S, D] {
             let scores = matmul(q, transpose(k)) / sqrt(D as f32);
             matmul(softmax(select(index(scores, axis = 2) <= index(scores, axis = 1), scores, -inf)), v)
         }",
        &[("H", 2), ("S", 3), ("D", 2)],
    ),
    (
        "#[differentiable] fn f(x: f32[M, N], y: f32[M, N]) -> (f32[M, N], i32[M], f32[M]) {
             let z = sin(x * y);
             (z, argmax(z, axis = 1), sum(z * z, axis = 1))
         }",
        &[("M", 2), ("N", 3)],
    ),
    (
        "#[differentiable] fn f(table: f32[3, D], ids: i32[B]) -> f32[B, D] { exp(embedding(table, ids)) }",
        &[("B", 4), ("D", 2)],
    ),
    (
        "#[differentiable] fn f(x: f32[N, 6]) -> f32[N, 3] { let (a, b) = split(x, axis = 1, parts = 2); a * b }",
        &[("N", 2)],
    ),
    (
        "#[differentiable] fn f(cotangent: f32[N], kept_0: f32[N]) -> f32[N] { sigmoid(cotangent * kept_0) }",
        &[("N", 2)],
    ),
    ("#[differentiable] fn f(x: f32[N]) -> f32 { let g = grad(sum(x * x * x), wrt = x); sum(g * g) }", &[("N", 3)]),
];

#[test]
fn gradients_of_cotangents_are_those_of_differences() {
    for (source, dims) in BLOCKS {
        let dims: BTreeMap<&str, u64> = dims.iter().copied().collect();
        let (instances, wrt) = last(source);
        let [instance] = &instances[..] else { panic!("{} instances", instances.len()) };
        let Derivatives { vjp, value_and_grad, .. } = derivatives(instance);
        let own = instance.graph.params.len();
        let all = inputs(vjp, &dims, 7);
        let found = run(vjp, &all);
        let total = |arguments: &[Value]| -> f64 {
            let results = run(&instance.graph, arguments);
            let floats = results.iter().filter(|result| result.dtype.is_float());
            floats.zip(&all[own..]).flat_map(|(result, g)| result.data.iter().zip(&g.data)).map(|(x, g)| x * g).sum()
        };
        assert_eq!(found.len(), wrt.len(), "{source}");
        for (found, &param) in found.iter().zip(&wrt) {
            let differences = (0..all[param].data.len()).map(|element| {
                let at = |step: f64| {
                    let mut arguments = all[..own].to_vec();
                    arguments[param].data[element] += step;
                    total(&arguments)
                };
                (8.0 * (at(STEP) - at(-STEP)) - (at(2.0 * STEP) - at(-2.0 * STEP))) / (12.0 * STEP)
            });
            let expected = Value { data: differences.collect(), ..all[param].clone() };
            close(&format!("{source}\n`{}`", vjp.params[param].name), found, &expected, TOLERANCE);
        }
        if let Some(graph) = value_and_grad {
            let found = run(graph, &all[..own]);
            let one = Value::from_data(DType::F32, &[], vec![1.0]).unwrap();
            let expected = run(vjp, &[&all[..own], &[one]].concat());
            close(source, &found[0], &run(&instance.graph, &all[..own])[0], 1e-12);
            found[1..].iter().zip(&expected).for_each(|(found, expected)| close(source, found, expected, 1e-12));
        }
    }
}

fn given(kept: &[Kept], arguments: &[Value], results: &[Value], cotangents: &[Value]) -> Vec<Value> {
    let value = |kept: &Kept| match *kept {
        Kept::Argument(index) => arguments[usize::from(index)].clone(),
        Kept::Result(index) => results[usize::from(index)].clone(),
        Kept::Cotangent(index) => cotangents[usize::from(index)].clone(),
    };
    kept.iter().map(value).collect()
}

#[test]
fn the_halves_give_what_the_whole_gives() {
    for (source, dims) in BLOCKS {
        let dims: BTreeMap<&str, u64> = dims.iter().copied().collect();
        let (instances, _) = last(source);
        let (graph, Derivatives { vjp, pullback, .. }) = (&instances[0].graph, derivatives(&instances[0]));
        let all = inputs(vjp, &dims, 3);
        let (arguments, cotangents) = all.split_at(graph.params.len());
        let results = run(&pullback.forward, arguments);
        let expected = run(graph, arguments);
        results.iter().zip(&expected).for_each(|(found, expected)| close(source, found, expected, 1e-12));
        let found = run(&pullback.backward, &given(&pullback.kept, arguments, &results, cotangents));
        let expected = run(vjp, &all);
        assert_eq!(found.len(), expected.len(), "{source}");
        found.iter().zip(&expected).for_each(|(found, expected)| close(source, found, expected, 1e-12));
    }
}

/// Residuals: arguments by name, results by index, others by shape.
fn kept(source: &str) -> String {
    let (instances, _) = last(source);
    let (own, pullback) = (instances[0].graph.results.len(), &derivatives(&instances[0]).pullback);
    let texts = pullback.kept.iter().map(|kept| match *kept {
        Kept::Argument(index) => pullback.forward.params[usize::from(index)].name.clone(),
        Kept::Cotangent(_) => "·".to_owned(),
        Kept::Result(index) if usize::from(index) < own => format!("result {index}"),
        Kept::Result(index) => {
            let graph = &pullback.forward;
            let ty = &graph.nodes[graph.results[usize::from(index)]].ty;
            let sizes =
                ty.shape.iter().map(|size| size.display(|id| graph.symbols[usize::from(id)].name.as_ref()).to_string());
            format!("{}[{}]", ty.dtype, sizes.collect::<Vec<_>>().join(", "))
        }
    });
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_kept_follows_the_rule() {
    let cases = [
        // Pointwise values are recomputed, products kept.
        ("#[differentiable] fn f(x: f32[N]) -> f32[N] { tanh(exp(x)) }", "x ·"),
        ("#[differentiable(b)] fn f(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] { matmul(x, w) + b }", "·"),
        ("#[differentiable] fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(x, w) }", "x w ·"),
        ("#[differentiable] fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { gelu(matmul(x, w)) }", "x w · f32[M, N]"),
        ("#[differentiable] fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { tanh(matmul(x, w)) }", "x w · result 0"),
        ("#[differentiable] fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { checkpoint(gelu(matmul(x, w))) }", "x w ·"),
        (
            "#[differentiable] fn f(x: f32[M, K], w: f32[K, N], v: f32[N, N]) -> f32[M, N] {
                 let h = checkpoint(gelu(matmul(x, w)));
                 checkpoint(checkpoint(tanh(matmul(h, v))) * 2.0)
             }",
            "x w v · f32[M, N]",
        ),
        // Reductions in place of dependents.
        ("#[differentiable] fn f(x: f32[M, N]) -> f32[M, N] { softmax(x) }", "x · f32[M, 1] f32[M, 1]"),
        // Nothing of shape [S, S].
        (
            "#[differentiable] fn f(q: f32[S, D], k: f32[T, D], v: f32[T, D]) -> f32[S, D] {
                 matmul(softmax(matmul(q, transpose(k)) / sqrt(D as f32)), v)
             }",
            "q k v ·",
        ),
        (
            "#[differentiable(w)] fn f(x: f32[S, E], w: f32[E, E]) -> f32[S, E] {
                 matmul(softmax(matmul(matmul(x, w), transpose(x))), x)
             }",
            "x · f32[S, E]",
        ),
        // An argument for its dimensions only.
        ("#[differentiable] fn f(x: f32[M, N]) -> f32 { sum(x) }", "x ·"),
        ("#[differentiable] fn f(x: f32[N], s: f32) -> f32[N] { x * s }", "s ·"),
    ];
    for (source, expected) in cases {
        assert_eq!(kept(source), expected, "{source}");
    }
}

#[test]
fn derived_functions_compile_in_every_dtype() {
    for source in [
        "#[differentiable] fn f<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] { gelu(matmul(x, w) + b) }",
        "#[differentiable(x)] fn f(x: f16[M, K], w: q4[K, N]) -> f16[M, N] { tanh(matmul(x, w)) }",
        "#[differentiable] fn f<T: Float>(x: T[M, N], g: T[N]) -> T[M, N] { rms_norm(x, g) }",
        "#[no_fuse] #[differentiable] fn f(x: f32[M, N]) -> f32 { logsumexp(x) }",
        "#[webnn] #[differentiable] fn f(x: f32[N]) -> f32[N] { exp(x) }",
    ] {
        for instance in last(source).0 {
            for graph in derivatives(&instance).graphs() {
                compile(graph, &Options::default()).unwrap_or_else(|error| panic!("{source}\n{}: {error}", graph.name));
            }
        }
    }
}

#[test]
fn what_has_no_gradient_is_refused() {
    let code = |source: &str| {
        let items = front::items(source.parse().expect("Rust tokens"));
        items.diagnostics.errors().map(|error| error.code).collect::<Vec<_>>()
    };
    let cases = [
        ("#[differentiable(y)] fn f(x: f32[N]) -> f32[N] { x }", Code::DifferentiableParameter),
        ("#[differentiable()] fn f(x: f32[N]) -> f32[N] { x }", Code::DifferentiableParameter),
        ("#[differentiable = 1] fn f(x: f32[N]) -> f32[N] { x }", Code::DifferentiableParameter),
        ("#[differentiable(x, x)] fn f(x: f32[N]) -> f32[N] { x }", Code::DifferentiableParameter),
        ("#[differentiable(s)] fn f(x: f32[N], s: f32) -> f32[N] { x * s }", Code::DifferentiableParameter),
        ("#[differentiable(i)] fn f(x: f32[N], i: i32[N]) -> f32[N] { x * (i as f32) }", Code::DifferentiableParameter),
        (
            "#[differentiable(w)] fn f(x: f32[M, K], w: q8[K, N]) -> f32[M, N] { matmul(x, w) }",
            Code::DifferentiableParameter,
        ),
        ("#[differentiable] fn f(i: i32[N]) -> f32[N] { i as f32 }", Code::DifferentiableParameter),
        ("#[differentiable] fn f(x: f32[N]) -> bool[N] { x > 0.0 }", Code::DifferentiableResult),
        (
            "#[differentiable] fn f(x: f32[N], y: f32[N]) -> f32[N] { select(y > 0.0, x, 0.0) }",
            Code::DifferentiablePath,
        ),
        (
            "#[differentiable(x)] fn f(x: f32[N], y: f32[N]) -> f32[N] { stop_gradient(x) * y }",
            Code::DifferentiablePath,
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(code(source), [expected], "{source}");
    }
}
