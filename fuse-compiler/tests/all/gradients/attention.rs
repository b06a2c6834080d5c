//! Plans of attention gradients: kernels, and reasons for stored scores.

use fuse_artifact::{DomainKind, Function, Size};
use fuse_compiler::{
    compile::{Options, compile},
    front,
    graph::Graph,
};

fn functions(source: &str) -> Vec<(Graph, Function)> {
    let items = front::items(source.parse().expect("Rust tokens"));
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{source}\n{}", errors.join("\n"));
    let instances = items.functions.into_iter().flat_map(|function| function.instances);
    let compiled = |graph: Graph| {
        let function =
            compile(&graph, &Options::default()).unwrap_or_else(|error| panic!("{source}\n{error}")).function;
        (graph, function)
    };
    instances.map(|instance| compiled(instance.graph)).collect()
}

fn plans(function: &Function) -> Vec<&Function> {
    std::iter::once(function).chain(function.alternatives.iter()).collect()
}

fn kernels(function: &Function) -> Vec<String> {
    function.plan.groups.iter().map(|group| group.kind.to_string()).collect()
}

fn square(graph: &Graph, function: &Function) -> Vec<String> {
    let of = |shape: &[Size], s: u64| {
        let symbols: Vec<u64> = graph.symbols.iter().map(|symbol| if symbol.name == "S" { s } else { 2 }).collect();
        shape.iter().map(|size| size.eval(&symbols).unwrap_or(0)).product::<u64>()
    };
    let stored = function.temporaries.iter().chain(function.results.iter());
    let grows = |shape: &&[Size]| of(shape, 2000) > 3 * of(shape, 1000);
    stored.map(|spec| &*spec.shape).filter(grows).map(|shape| format!("{shape:?}")).collect()
}

fn attention(name: &str, parameters: &str, scores: &str, wrt: &str, results: &str) -> String {
    format!(
        "pub fn {name}(q: f32[H, S, 32], k: f32[H, S, 32], v: f32[H, S, 32], c: f32[H, S, 32]{parameters}) -> {results} {{
            let s = matmul(q, transpose(k));
            let y = matmul(softmax({scores}), v);
            grad(y, wrt = {wrt}, cotangent = c)
        }}"
    )
}

fn grouped() -> String {
    "pub fn grouped(q: f32[B, H, G, S, 32], k: f32[B, H, 1, S, 32], v: f32[B, H, 1, S, 32], c: f32[B, H, G, S, 32])
     -> (f32[B, H, G, S, 32], f32[B, H, 1, S, 32], f32[B, H, 1, S, 32]) {
        let y = matmul(softmax(matmul(q, transpose(k)) * 0.125), v);
        grad(y, wrt = [q, k, v], cotangent = c)
    }"
    .to_owned()
}

const THREE: &str = "(f32[H, S, 32], f32[H, S, 32], f32[H, S, 32])";

#[test]
fn no_plan_stores_scores() {
    let all = "[q, k, v]";
    let source = [
        attention("plain", "", "s", all, THREE),
        attention("scaled", "", "s * 0.125", all, THREE),
        attention("causal", "", "select(index(s, axis = 2) <= index(s, axis = 1), s * 0.125, -inf)", all, THREE),
        attention("biased", ", b: f32[1, 1, S]", "s * 0.125 + b", all, THREE),
        attention("capped", ", w: f32", "w * tanh(s / w)", all, THREE),
        attention("queries", "", "s * 0.125", "[q]", "f32[H, S, 32]"),
        attention("keys", "", "s * 0.125", "[k]", "f32[H, S, 32]"),
        attention("values", "", "s * 0.125", "[v]", "f32[H, S, 32]"),
        grouped(),
    ];
    for (graph, function) in functions(&source.join("\n")) {
        for plan in plans(&function) {
            assert_eq!(square(&graph, plan), Vec::<String>::new(), "{}\n{}", graph.name, plan.plan);
        }
    }
}

/// Queries need one kernel, keys and values another.
#[test]
fn a_gradient_is_numbers_per_row_and_two_kernels() {
    let source = [attention("f", "", "s * 0.125", "[q, k, v]", THREE), grouped()];
    let functions = functions(&source.join("\n"));
    let fused = ["attention", "reduction", "weighted sum", "weighted sum"];
    assert_eq!(kernels(&functions[0].1), fused);
    assert_eq!(kernels(&functions[1].1), [&fused[..], &["reduction", "reduction"]].concat());
}

/// The second half recomputes row statistics in an additional kernel.
#[test]
fn halves_store_no_scores() {
    let source = "#[differentiable] pub fn f(q: f32[H, S, 32], k: f32[H, S, 32], v: f32[H, S, 32]) -> f32[H, S, 32] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }";
    let items = front::items(source.parse().expect("Rust tokens"));
    let derivatives = items.functions[0].instances[0].derivatives.as_ref().expect("it is differentiable");
    let halves = [&derivatives.pullback.forward, &derivatives.pullback.backward];
    let kernels = halves.map(|graph| {
        let function = compile(graph, &Options::default()).unwrap_or_else(|error| panic!("{error}")).function;
        assert_eq!(square(graph, &function), Vec::<String>::new(), "{}", function.plan);
        kernels(&function)
    });
    assert_eq!(kernels, [vec!["attention"], vec!["attention", "reduction", "weighted sum", "weighted sum"]]);
}

/// Visits each value once, not once per path.
#[test]
fn powers_are_planned_at_once() {
    let squares = |name: &str| (0..48).map(|_| format!("let {name} = {name} * {name};")).collect::<String>();
    let source = format!(
        "pub fn f(q: f32[H, S, 32], k: f32[H, S, 32], v: f32[H, S, 32], c: f32[H, S, 32]) -> ({THREE}, f32[H, S, 32]) {{
            let s = matmul(q, transpose(k));
            {}
            let y = matmul(softmax(s), v);
            let (dq, dk, dv) = grad(y, wrt = [q, k, v], cotangent = c);
            {}
            (dq, dk, dv, y)
        }}",
        squares("s"),
        squares("y")
    )
    .replace(&format!("({THREE}, "), &format!("{}, ", &THREE[..THREE.len() - 1]));
    assert_eq!(functions(&source).len(), 1);
}

#[test]
fn a_block_stores_no_scores() {
    let source = "pub fn step(x: f32[B, S, 64], wq: f32[64, 64], wk: f32[64, 64], wv: f32[64, 64], wo: f32[64, 64], y: f32[B, S, 64])
        -> (f32, f32[64, 64], f32[64, 64], f32[64, 64], f32[64, 64]) {
            let q = permute(reshape(matmul(x, wq), [B, S, 4, 16]), [0, 2, 1, 3]);
            let k = permute(reshape(matmul(x, wk), [B, S, 4, 16]), [0, 2, 1, 3]);
            let v = permute(reshape(matmul(x, wv), [B, S, 4, 16]), [0, 2, 1, 3]);
            let s = matmul(q, transpose(k)) * 0.25;
            let a = matmul(softmax(select(index(s, axis = 3) <= index(s, axis = 2), s, -inf)), v);
            let o = x + matmul(reshape(permute(a, [0, 2, 1, 3]), [B, S, 64]), wo);
            let loss = mean((o - y) * (o - y));
            let (dq, dk, dv, dw) = grad(loss, wrt = [wq, wk, wv, wo]);
            (loss, wq - dq, wk - dk, wv - dv, wo - dw)
        }";
    for (graph, function) in functions(source) {
        for plan in plans(&function) {
            assert_eq!(square(&graph, plan), Vec::<String>::new(), "{}", plan.plan);
        }
    }
}

/// A bias per score, and another reader of the softmax.
#[test]
fn a_plan_says_what_it_stores() {
    let source = [
        attention("of_bias", ", b: f32[S, S]", "s * 0.125 + b", "[q, b]", "(f32[H, S, 32], f32[S, S])"),
        "pub fn returned(q: f32[S, 32], k: f32[S, 32], v: f32[S, 32]) -> (f32[S, 32], f32[S, S]) {
             let p = softmax(matmul(q, transpose(k)));
             (grad(sum(matmul(p, v)), wrt = q), p)
         }"
        .to_owned(),
    ];
    let functions = functions(&source.join("\n"));
    let reasons = |function: &Function| -> Vec<String> {
        function.plan.refusals.iter().map(|refusal| refusal.reason.to_string()).collect()
    };
    let stored = "it is neither an attention nor a gradient of its queries, keys or values, so that scores are stored";
    assert!(reasons(&functions[0].1).iter().any(|reason| reason == stored), "{}", functions[0].1.plan);
    assert!(reasons(&functions[1].1).iter().any(|reason| reason.contains("result")), "{}", functions[1].1.plan);
}

#[test]
fn masks_are_found_in_gradients() {
    let masked = |name: &str, condition: &str| {
        let scores = format!("select({condition}, s, -inf)");
        attention(name, "", &scores, "[q, k, v]", THREE)
    };
    let causal = masked("causal", "index(s, axis = 2) <= index(s, axis = 1)");
    let window =
        masked("window", "index(s, axis = 2) <= index(s, axis = 1) && index(s, axis = 2) > index(s, axis = 1) - 19");
    for (graph, function) in functions(&[causal, window].join("\n")) {
        let sums = function.kernels.iter().filter(|kernel| kernel.domain.kind == DomainKind::WeightedSum);
        let found: Vec<(bool, Option<u32>)> = sums.map(|kernel| (kernel.work.causal, kernel.work.window)).collect();
        let expected = if graph.name == "causal" { (true, None) } else { (false, Some(19)) };
        assert_eq!(found, [expected; 2], "{}", graph.name);
    }
}
