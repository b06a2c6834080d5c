//! Tests of reductions, row operations and normalizations.

use super::{
    graphs::{graph, nodes},
    value, values,
};

const INF: f64 = f64::INFINITY;

fn body(result: &str, body: &str) -> Vec<String> {
    nodes(&format!("fn f(x: f32[B, M, N]) -> {result} {{ {body} }}"))[1..].to_vec()
}

fn rows(result: &str, body: &str, x: [[f64; 3]; 2]) -> Vec<f64> {
    values(&format!("fn f(x: f32[M, N]) -> {result} {{ {body} }}"), &[value(&[2, 3], x.as_flattened())])
}

fn close(found: &[f64], expected: &[f64]) {
    let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-6 * b.abs().max(1.0);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| same(*a, *b)), "{found:?}");
}

#[test]
fn axes_are_numbers_names_or_lists() {
    assert_eq!(body("f32", "sum(x)"), ["%1: f32[1, 1, 1] = sum %0 axes=[0, 1, 2]", "%2: f32[] = reshape %1"]);
    let middle = ["%1: f32[B, 1, N] = max %0 axes=[1]", "%2: f32[B, N] = reshape %1"];
    for axis in ["1", "-2", "M", "[1]", "[M]", "[-2]"] {
        assert_eq!(body("f32[B, N]", &format!("max(x, axis = {axis})")), middle);
    }
    let outer = ["%1: f32[1, M, 1] = prod %0 axes=[0, 2]", "%2: f32[M] = reshape %1"];
    for axes in ["[0, 2]", "[N, B]", "[-1, 0]"] {
        assert_eq!(body("f32[M]", &format!("prod(x, axis = {axes})")), outer);
    }
    assert_eq!(body("f32[B, M, 1]", "min(x, axis = N, keepdim = true)"), ["%1: f32[B, M, 1] = min %0 axes=[2]"]);
    assert_eq!(body("f32[1, 1, 1]", "sum(x, keepdim = true)").len(), 1);
    assert_eq!(body("i32[B, M]", "argmax(x, axis = 2)")[0], "%1: i32[B, M, 1] = argmax %0 axes=[2]");
    assert_eq!(body("bool[B]", "any(x > 0, axis = [1, 2])")[3], "%4: bool[B, 1, 1] = any %3 axes=[1, 2]");
    assert_eq!(nodes("fn f(x: i32[N]) -> i32 { argmin(x) }")[1], "%1: i32[1] = argmin %0 axes=[0]");
    assert_eq!(nodes("fn f(x: f32[N], y: f32[N]) -> f32[N] { max(x, y) }")[2], "%2: f32[N] = max %0, %1");
}

#[test]
fn an_axis_of_one_element_is_not_reduced() {
    assert_eq!(nodes("fn f(x: f32[M, 1]) -> f32[M] { sum(x, axis = 1) }")[1..], ["%1: f32[M] = reshape %0"]);
    assert_eq!(nodes("fn f(x: f32[M, 1]) -> f32[M, 1] { max(x, axis = 1, keepdim = true) }").len(), 1);
    let zeros = nodes("fn f(x: f32[M, 1]) -> i32[M] { argmax(x, axis = 1) }");
    assert_eq!(zeros.last().map(String::as_str), Some("%2: i32[M] = reshape %1"), "{zeros:?}");
    assert_eq!(nodes("fn f(_x: f32[M], s: f32) -> f32 { mean(s) }"), ["%0: f32[] = scalar s"]);
    let some = nodes("fn f(x: f32[1, N]) -> f32 { sum(x) }");
    assert_eq!(some[1], "%1: f32[1, 1] = sum %0 axes=[1]");
}

#[test]
fn unsqueeze_undoes_the_dropping_of_an_axis() {
    let lines = body("f32[B, M, N]", "x - unsqueeze(max(x, axis = -1), axis = -1)");
    assert_eq!(
        lines,
        ["%1: f32[B, M, 1] = max %0 axes=[2]", "%2: f32[B, M, N] = broadcast %1", "%3: f32[B, M, N] = sub %0, %2",]
    );
    let twice = nodes("fn f(x: f32[M, N]) -> f32[M, N] { reshape(reshape(x, [N, M]), [M, N]) * 2.0 }");
    assert_eq!(twice[3], "%3: f32[M, N] = mul %0, %2", "{twice:?}");
}

#[test]
fn the_mean_divides_by_the_count() {
    assert_eq!(
        body("f32[M]", "mean(x, axis = [0, -1])"),
        [
            "%1: f32[1, M, 1] = sum %0 axes=[0, 2]",
            "%2: f32[] = size B*N",
            "%3: f32[1, M, 1] = broadcast %2",
            "%4: f32[1, M, 1] = div %1, %3",
            "%5: f32[M] = reshape %4",
        ]
    );
    let literal = nodes("fn f(x: f32[M, 8]) -> f32[M] { mean(x, axis = 1) }");
    assert_eq!(literal[2], "%2: f32[] = literal 8.0");
    // Neither count nor sum has to fit f16.
    let half = nodes("fn f(x: f16[N]) -> f16 { mean(x) }");
    assert_eq!(half[1], "%1: f32[N] = cast %0");
    assert_eq!(half.last().map(String::as_str), Some("%7: f16[] = reshape %6"), "{half:?}");
    close(&rows("f32[M]", "mean(x, axis = 1)", [[1.0, 2.0, 6.0], [0.0, -1.0, 1.0]]), &[3.0, 0.0]);
}

#[test]
fn the_variance_takes_the_mean_away_first() {
    let x = [[10001.0, 10002.0, 10006.0], [1.0, 1.0, 1.0]];
    close(&rows("f32[M]", "var(x, axis = 1)", x), &[14.0 / 3.0, 0.0]);
    close(&rows("f32[M]", "var(x, axis = 1, correction = 1)", x), &[7.0, 0.0]);
    close(&rows("f32", "var(x, axis = [0, 1], correction = 1.5)", [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]), &[6.0 / 4.5]);
    let single = values("fn f(x: f32[N]) -> f32 { var(x, correction = 1) }", &[value(&[1], &[3.0])]);
    assert!(single[0].is_nan(), "one element has no unbiased variance: {single:?}");
}

#[test]
fn logsumexp_is_safe_for_infinite_rows() {
    close(&rows("f32[M]", "logsumexp(x, axis = 1)", [[-INF, -INF, -INF], [INF, 0.0, -INF]]), &[-INF, INF]);
    let far = (2f64).ln();
    close(&rows("f32[M]", "logsumexp(x, axis = 1)", [[1e4, 1e4, -INF], [-1e4, -1e4, -2e4]]), &[1e4 + far, far - 1e4]);
    assert!(rows("f32[M]", "logsumexp(x, axis = 1)", [[f64::NAN, 0.0, INF], [0.0; 3]])[0].is_nan());
}

#[test]
fn softmax_is_what_the_planner_looks_for() {
    assert_eq!(
        nodes("fn f(x: f16[M, N]) -> f16[M, N] { softmax(x) }")[1..],
        [
            "%1: f16[M, 1] = max %0 axes=[1]",
            "%2: f16[M, N] = broadcast %1",
            "%3: f16[M, N] = sub %0, %2",
            "%4: f16[M, N] = exp %3",
            "%5: f16[M, 1] = sum %4 axes=[1]",
            "%6: f16[M, N] = broadcast %5",
            "%7: f16[M, N] = div %4, %6",
        ]
    );
    let x = [[0.0, 2f64.ln(), -INF], [-INF; 3]];
    let nan = f64::NAN;
    close(&rows("f32[M, N]", "softmax(x)", x), &[1.0 / 3.0, 2.0 / 3.0, 0.0, nan, nan, nan]);
    let logs = rows("f32[M, N]", "log_softmax(x, axis = N)", x);
    close(&logs, &[-(3f64.ln()), (2.0f64 / 3.0).ln(), -INF, nan, nan, nan]);
    let columns = rows("f32[M, N]", "softmax(x, axis = 0)", [[0.0, 5.0, 1e5], [0.0, 5.0, -1e5]]);
    close(&columns, &[0.5, 0.5, 1.0, 0.5, 0.5, 0.0]);
}

#[test]
fn norms() {
    let x = [[1.0, 2.0, 6.0], [0.0, -1.0, 1.0]];
    let unit =
        rows("f32[M, N]", "let z = x * 0.0; layer_norm(x, sum(z, axis = 0) + 1.0, sum(z, axis = 0), eps = 1e-9)", x);
    let scale = (14f64 / 3.0).sqrt();
    let half = 1.5f64.sqrt();
    close(&unit, &[-2.0 / scale, -1.0 / scale, 3.0 / scale, 0.0, -half, half]);
    let text = graph("fn f<T: Float>(x: T[M, N], g: T[N], e: f32) -> T[M, N] { rms_norm(x, g, eps = e) }");
    for line in ["mul %0, %0", "axes=[1]", "size N", "add %", "rsqrt %", "= scalar e", "reshape %1"] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let inputs = |x: &[f64], rest: [f64; 2]| {
        let mut inputs = vec![value(&[1, 2, 2], x)];
        inputs.extend((0..4).map(|i| value(&[2], &rest.map(|number| number + f64::from(i)))));
        inputs
    };
    let batch = "fn f(x: f32[B, C, N], m: f32[C], v: f32[C], g: f32[C], b: f32[C]) -> f32[B, C, N] {
        batch_norm(x, m, v, g, b, eps = 1.0) }";
    // Mean 2, variance 3, scale 4, shift 5; then mean 7, variance 8, scale 9, shift 10.
    let found = values(batch, &inputs(&[2.0, 4.0, 7.0, 1.0], [2.0, 7.0]));
    close(&found, &[5.0, 5.0 + 4.0, 10.0, 10.0 - 18.0]);
}

#[test]
fn groups_divide_the_channels() {
    let literal = graph(
        "fn f(x: f32[B, 64, H, W], g: f32[64], b: f32[64]) -> f32[B, 64, H, W] { group_norm(x, g, b, groups = 8) }",
    );
    assert!(literal.contains("f32[B, 8, 8, H*W] = reshape %0") && !literal.contains("check"), "{literal}");
    let named = graph(
        "fn f(x: f32[B, G * D, L], g: f32[G * D], y: f32[G, D]) -> (f32[B, G * D, L], f32[G, D]) {
            (group_norm(x, g, g, groups = G), y) }",
    );
    assert!(named.contains("f32[B, G, D, L] = reshape %0") && !named.contains("check"), "{named}");
    let source =
        "fn f(x: f32[B, C], g: f32[C], b: f32[C]) -> f32[B, C] { group_norm(x, g, b, groups = 2, eps = 1e-9) }";
    let text = graph(source);
    assert!(text.contains("let (C/2) = quotient C, 2"), "{text}");
    assert!(text.contains("check C == 2*(C/2) (channels of `group_norm`, cut into groups)"), "{text}");
    let inputs = [value(&[1, 4], &[1.0, 3.0, 7.0, 5.0]), value(&[4], &[1.0, 2.0, 3.0, 4.0]), value(&[4], &[0.5; 4])];
    close(&values(source, &inputs), &[-0.5, 2.5, 3.5, -3.5]);
    let mut items = super::items_of(source);
    let graph = items.functions.remove(0).instances.remove(0).graph;
    let odd = [value(&[1, 3], &[0.0; 3]), value(&[3], &[0.0; 3]), value(&[3], &[0.0; 3])];
    assert!(fuse_compiler::interp::run(&graph, &odd).is_err(), "3 channels have no 2 groups");
}

#[test]
fn dimensions_are_numbers_where_they_are_converted() {
    assert_eq!(
        body("f32[B, M, N]", "x / sqrt(N as f32)"),
        [
            "%1: f32[] = size N",
            "%2: f32[] = sqrt %1",
            "%3: f32[B, M, N] = broadcast %2",
            "%4: f32[B, M, N] = div %0, %3",
        ]
    );
    assert_eq!(body("f32[B, M, N]", "x * ((B * (M + 2)) as f32)")[0], "%1: f32[] = size 2*B + B*M");
    let literal = nodes("fn g(x: f32[D]) -> f32[D] { x * (D as f32) } fn f(x: f32[64]) -> f32[64] { g(x) }");
    assert_eq!(literal[1], "%1: f32[] = literal 64.0");
    let generic = super::items_of("fn f<T: Float>(x: T[D]) -> T[D] { x * (D as T) }");
    assert!(generic.diagnostics.is_empty());
    let half = fuse_compiler::graph::print::print(&generic.functions[0].instances[1].graph);
    assert!(half.contains("%2: f16[] = cast %1"), "{half}");
    let difference = graph("fn f(x: f32[M], y: f32[N]) -> (f32[M], f32[N]) { (x * ((M - N) as f32), y) }");
    assert!(difference.contains("check N <= M (a dimension used as a number)"), "{difference}");
    // A variable hides a dimension.
    let shadow = nodes("fn f(x: f32[N]) -> f32[N] { let N = x + 1.0; N as f32 }");
    assert_eq!(shadow.len(), 4, "{shadow:?}");
}
