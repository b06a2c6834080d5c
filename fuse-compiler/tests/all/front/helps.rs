//! Tests that suggestions compile: each mistake has one message with a correct program.

use fuse_compiler::diag::Code;

use super::messages;

#[derive(Clone, Copy)]
struct Case {
    wrong: &'static str,
    code: Code,
    help: &'static str,
    right: &'static str,
}

macro_rules! body {
    ($body:literal -> $result:literal) => {
        concat!(
            "fn f(x: f32[M, N], y: f32[M, J], v: f32[N], i: i32[N], b: bool[M, N], s: f32, k: i32) -> ",
            $result,
            " {",
            $body,
            "}"
        )
    };
    ($body:literal) => {
        body!($body -> "f32[M, N]")
    };
}

macro_rules! cases {
    ($($code:ident: $wrong:expr, $help:literal => $right:expr;)*) => {
        &[$(Case { code: Code::$code, wrong: $wrong, help: $help, right: $right },)*]
    };
}

const UPDATES: &[Case] = cases! {
    StaleRead:
        "fn f(x: f32[N], n: &mut f32[], mean: &mut f32[N]) { *n += 1.0; *mean += (x - mean) / n; }",
        "`let n_new = n + 1.0; *n = n_new;`" =>
        "fn f(x: f32[N], n: &mut f32[], mean: &mut f32[N]) {
            let n_new = n + 1.0; *n = n_new; *mean += (x - mean) / n_new; }";
    StaleRead:
        "fn f(x: &mut f32[N], y: &mut f32[N]) -> f32[N] { (*x, *y) = (y * (x - y), x / (x * y)); x + y }",
        "`let (x_new, y_new) = (y * (x - y), x / (x * y)); (*x, *y) = (x_new, y_new);`" =>
        "fn f(x: &mut f32[N], y: &mut f32[N]) -> f32[N] {
            let (x_new, y_new) = (y * (x - y), x / (x * y)); (*x, *y) = (x_new, y_new); x_new + y_new }";
    StaleRead:
        "fn f(x: f32[N], w: &mut f32[N]) -> f32[N] { *w -= 0.1 * x; grad(sum(x * w), wrt = w) }",
        "read `w` before it is updated" =>
        "fn f(x: f32[N], w: &mut f32[N]) -> f32[N] { let g = grad(sum(x * w), wrt = w); *w -= 0.1 * x; g }";
    UpdateTwice:
        "fn f(w: &mut f32[N]) { *w *= 0.5; *w += 1.0; }", "`let w_new = w * 0.5;`" =>
        "fn f(w: &mut f32[N]) { let w_new = w * 0.5; *w = w_new + 1.0; }";
    Assignment:
        "fn f(x: f32[N], w: &mut f32[N]) { w -= 2.0 * x; }", "`*w -= 2.0 * x;`" =>
        "fn f(x: f32[N], w: &mut f32[N]) { *w -= 2.0 * x; }";
    Assignment:
        "fn f(x: f32[N]) -> f32[N] { x *= x - 1.0; x }", "`let x_new = x * (x - 1.0);`" =>
        "fn f(x: f32[N]) -> f32[N] { let x_new = x * (x - 1.0); x_new }";
};

const STATEMENTS: &[Case] = cases! {
    MissingValue: body!("let a = x; relu(a);"), "end the body with `relu(a)`" => body!("let a = x; relu(a)");
    UnsupportedSyntax: body!("println!(\"{}\", x); x"), "`(y, value)`" =>
        body!("let (y, value) = (x, v); (y, value)" -> "(f32[M, N], f32[N])");
    MissingResultType: "fn f(x: f32[M], y: f32[N]) -> f32[M], f32[N] { (x, y) }", "`-> (f32[M], f32[N])`" =>
        "fn f(x: f32[M], y: f32[N]) -> (f32[M], f32[N]) { (x, y) }";
    UnknownType: "fn f(x: Tensor[M, K]) -> f32[M, K] { x }", "write `f32[M, K]`" =>
        "fn f(x: f32[M, K]) -> f32[M, K] { x }";
    UnsupportedType: "fn f(x: f32[N], n: usize) -> f32[N] { x * (n as f32) }", "use `u32`" =>
        "fn f(x: f32[N], n: u32) -> f32[N] { x * (n as f32) }";
};

const NOTATION: &[Case] = cases! {
    UnsupportedOperator: body!("x @ transpose(x)" -> "f32[M, M]"), "`matmul(x, transpose(x))`" =>
        body!("matmul(x, transpose(x))" -> "f32[M, M]");
    UnsupportedOperator: "fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { relu(x @ w) }", "`matmul(x, w)`" =>
        "fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { relu(matmul(x, w)) }";
    UnsupportedOperator: body!("x ** 2.0"), "`pow(x, 2.0)`" => body!("pow(x, 2.0)");
    UnsupportedOperator: body!("v + s * x ** 2"), "`pow(x, 2)`" => body!("v + s * pow(x, 2)");
    UnsupportedOperator: body!("2.0 * *x"), "remove the second `*`" => body!("2.0 * x");
    UnsupportedOperator: body!("x ** s"), "`pow(x, s)`" => body!("pow(x, s)");
    IntegerRequired: body!("x ^ 2"), "`pow(x, 2.0)`" => body!("pow(x, 2.0)");
    MethodCall: body!("x.T" -> "f32[N, M]"), "`transpose(x)`" => body!("transpose(x)" -> "f32[N, M]");
    MethodCall: "matmul(x.T, y)", "`transpose(x)`" => "matmul(transpose(x), y)";
    MethodCall: body!("x.matmul(transpose(x))"), "`matmul(x, transpose(x))`" => body!("matmul(x, transpose(x))" -> "f32[M, M]");
    MethodCall: body!("x.shape()[0]"), "`M as f32`" => body!("x / (M as f32)");
    MethodCall: body!("x.map(|a| a * 2.0)"), "`x * 2.0`" => body!("x * 2.0");
    MethodCall: body!("x.sum(axis = 1)" -> "f32[M]"), "`sum(x, axis = 1)`" => body!("sum(x, axis = 1)" -> "f32[M]");
    IndexExpression: body!("x[.., 0..2]" -> "f32[M, 2]"), "`slice(x, axis = 1, start = 0, end = 2)`" =>
        body!("slice(x, axis = 1, start = 0, end = 2)" -> "f32[M, 2]");
    IndexExpression: body!("x[3, 1..]" -> "f32[N - 1]"),
        "`squeeze(slice(slice(x, axis = 1, start = 1), axis = 0, start = 3, end = 4), axis = 0)`" =>
        body!("squeeze(slice(slice(x, axis = 1, start = 1), axis = 0, start = 3, end = 4), axis = 0)" -> "f32[N - 1]");
    IndexExpression: "x[.., 0..2]", "`slice(x, axis = -1, start = 0, end = 2)`" => "slice(x, axis = -1, start = 0, end = 2)";
    IndexExpression: body!("x[i]"), "`gather(x, ids)`" => "fn f(x: f32[M, N], ids: i32[B]) -> f32[B, N] { gather(x, ids) }";
};

const NAMES: &[Case] = cases! {
    UnknownOperation: "g(x) + 1.0", "`fuse!({ use g; g(x) + 1.0 })`" => "x + 1.0";
    UnknownOperation: "let a = x - (y - 1); sigmiod(a * (a + 2.0))", "`sigmoid`" => "sigmoid(x)";
    UnknownOperation: body!("g(x)"), "`use path::g;`" => body!("x");
    UnsupportedSyntax: body!("a::g(x)"), "`use a::g;`" => body!("x");
    UnsupportedSyntax: "a::g(x)", "`fuse!({ use a::g; g(x) })`" => "x + 1.0";
    UnsupportedSyntax: body!("x + crate::EPS"), "`const EPS: f32 = 0.5;`" => "const EPS: f32 = 0.5; fn f(x: f32[N]) -> f32[N] { x + EPS }";
    UnknownVariable: body!("x + EPS"), "`eps: f32`" => "fn f(x: f32[N], eps: f32) -> f32[N] { x + eps }";
    UnknownVariable: body!("x * PI"), "`std::f32::consts::PI`" => body!("x * std::f32::consts::PI");
    UnknownAxis: body!("sum(x, axis = k)" -> "f32[M]"), "`sum(x, axis = 1)`" => body!("sum(x, axis = 1)" -> "f32[M]");
    BadDimension: body!("slice(v, axis = 0, start = k, end = N)"),
        "declare it as `k: u32` and write `slice(x, axis = 0, start = k, end = k + 4)`" =>
        "fn f(x: f32[M, N], k: u32) -> f32[4, N] { slice(x, axis = 0, start = k, end = k + 4) }";
    BadDimension: body!("let j = k * 2; slice(v, axis = 0, start = j, end = N)"),
        "`gather(x, broadcast_to(j, [4]) + index(axis = 0), axis = 0)`" =>
        body!("let j = k * 2; gather(x, broadcast_to(j, [4]) + index(axis = 0), axis = 0)" -> "f32[4, N]");
    BroadcastMismatch: body!("x / norm(x, axis = 1)"), "`norm(x, axis = 1, keepdim = true)`" =>
        body!("x / norm(x, axis = 1, keepdim = true)");
    BroadcastMismatch: body!("(max(x + 1.0, axis = N) - 2.0) * x"), "`max(x + 1.0, axis = N, keepdim = true)`" =>
        body!("(max(x + 1.0, axis = N, keepdim = true) - 2.0) * x");
    ReshapeElements: body!("reshape(x, [-1, 4])"), "`x: f32[M, 4 * N]`" => "fn f(x: f32[M, 4 * N]) -> f32[M * N, 4] { reshape(x, [-1, 4]) }";
};

const OPERATIONS: &[Case] = cases! {
    UnknownOperation: body!("masked_fill(x, b, 0.0)"), "`select(mask, value, x)`" =>
        "fn f(x: f32[N], mask: bool[N], value: f32) -> f32[N] { select(mask, value, x) }";
    UnknownOperation: body!("zeros_like(x)"), "`broadcast_to(0.0, [M, N])`" => body!("x + broadcast_to(0.0, [M, N])");
    UnknownOperation: body!("linear(x, x, v)"), "`matmul(x, transpose(w)) + b`" =>
        "fn f(x: f32[M, K], w: f32[N, K], b: f32[N]) -> f32[M, N] { matmul(x, transpose(w)) + b }";
    UnknownOperation: body!("bmm(y, x)"), "`matmul(y, x)`" => body!("matmul(x, transpose(x))" -> "f32[M, M]");
    UnknownOperation: body!("randn(M, N)"), "`philox(index(axis = 0) as u32, key)`" =>
        "fn f(x: u32[N], key: u32) -> u32[N] { x + philox(index(axis = 0) as u32, key) }";
    UnknownOperation: body!("cumsum(x, dim = 1)"), "`matmul(x, triu(broadcast_to(1.0, [N, N])))`" =>
        body!("matmul(x, triu(broadcast_to(1.0, [N, N])))");
    UnknownOperation: body!("conv1d(v, v)"), "`w0 * slice(p, axis = 0, start = 0, end = N) + w1 * slice(p, axis = 0, start = 1, end = N + 1)`" =>
        "fn f(x: f32[N], w0: f32, w1: f32) -> f32[N] { let p = pad(x, axis = 0, before = 1, after = 1);
            w0 * slice(p, axis = 0, start = 0, end = N) + w1 * slice(p, axis = 0, start = 1, end = N + 1) }";
    UnknownOperation: body!("max_pool(v)"), "`max(reshape(x, [N, 2]), axis = 1)`" =>
        "fn f(x: f32[N * 2]) -> f32[N] { max(reshape(x, [N, 2]), axis = 1) }";
    UnknownOperation: body!("topk(x, 5)"), "`max(x, axis = 1)`" => body!("max(x, axis = 1)" -> "f32[M]");
    UnknownOperation: body!("sort(x)"), "`to_vec_blocking()`" => body!("x");
    UnknownOperation: body!("len(x)"), "`M as f32`" => body!("x / (M as f32)");
    UnknownOperation: body!("view(x, -1)" -> "f32[M * N]"), "`reshape(x, [-1])`" => body!("reshape(x, [-1])" -> "f32[M * N]");
    UnknownOperation: body!("view(x, [N, M])" -> "f32[N, M]"), "`reshape(x, [N, M])`" => body!("reshape(x, [N, M])" -> "f32[N, M]");
    UnknownOperation: body!("cat([x, x], dim = 0)"), "`concat([x, x], axis = 0)`" =>
        body!("concat([x, x], axis = 0)" -> "f32[2 * M, N]");
    UnknownOperation: body!("float(i)" -> "f32[N]"), "`i as f32`" => body!("i as f32" -> "f32[N]");
    UnknownOperation: body!("std(x, axis = 1)"), "`sqrt(var(x))`" => body!("sqrt(var(x))" -> "f32");
    UnknownOperation: body!("diag(x)"), "`sum(select(index(axis = 0) == index(axis = 1), x, 0.0), axis = 1)`" =>
        "fn f(x: f32[N, N]) -> f32[N] { sum(select(index(axis = 0) == index(axis = 1), x, 0.0), axis = 1) }";
    UnknownOperation: body!("scatter(x, i)"), "`matmul(transpose(one_hot(ids, classes = 10)), x)`" =>
        "fn f(x: f32[M, N], ids: i32[M]) -> f32[10, N] { matmul(transpose(one_hot(ids, classes = 10)), x) }";
    UnknownOperation: body!("linspace(0, 1, 100)"), "`low + (high - low) * index(axis = 0) as f32 / 99.0`" =>
        "fn f(x: f32[100], low: f32, high: f32) -> f32[100] { x * (low + (high - low) * index(axis = 0) as f32 / 99.0) }";
};

#[test]
fn suggestions_compile() {
    let mut wrong = Vec::new();
    for case in [UPDATES, STATEMENTS, NOTATION, NAMES, OPERATIONS].concat() {
        let found = messages(case.wrong);
        let text: Vec<String> = found.iter().map(ToString::to_string).collect();
        if found.len() != 1 || found[0].code != case.code || !found[0].help.join("\n").contains(case.help) {
            wrong.push(format!("{}\n  expected {:?}, {}\n  found {text:#?}", case.wrong, case.code, case.help));
        }
        let left: Vec<String> = messages(case.right).iter().map(ToString::to_string).collect();
        if left.iter().any(|message| !message.starts_with("unused")) {
            wrong.push(format!("{}\n  {left:#?}", case.right));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
