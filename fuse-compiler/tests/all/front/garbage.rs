//! Tests that the front end never panics or accepts nonsense silently.

use fuse_compiler::{diag::Code, front::*};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::messages;

#[test]
fn nasty_texts_are_reported() {
    let deep = format!("fn f(x: f32[N]) -> f32[N] {{ {}x{} }}", "(".repeat(5000), ")".repeat(5000));
    let minus = format!("fn f(x: f32[N]) -> f32[N] {{ {}x }}", "-".repeat(5000));
    let chain = format!("fn f(x: f32[N]) -> f32[N] {{ x{} }}", " + x".repeat(5000));
    let returns = format!("fn f(x: f32[N]) -> f32[N] {{ {} x }}", "return ".repeat(5000));
    let matches = format!("fn f(x: f32[N]) -> f32[N] {{ {} x }}", "match ".repeat(5000));
    let dims = format!("fn f(x: f32[N{}]) -> f32[N] {{ x }}", " + N".repeat(5000));
    let calls = format!("fn f(x: f32[N]) -> f32[N] {{ x{} }}", "(x)".repeat(5000));
    let texts = [
        "fn",
        "fn f",
        "fn f(",
        "fn f<",
        "pub",
        "#",
        "#[",
        "fn f(x: f32[N]) ->",
        "fn f(x: f32[N]) -> f32[N]",
        "fn f()",
        "fn f(x: ) -> {}",
        "fn f(,) -> f32 {}",
        "fn f(x: f32[,]) -> f32[,] { x }",
        "fn f(x: f32[N]) -> f32[N] { ; }",
        "fn f(x: f32[N]) -> f32[N] { let }",
        "fn f(x: f32[N]) -> f32[N] { let (a, ) = ; a }",
        "fn f(x: f32[N]) -> f32[N] { () }",
        "fn f(x: f32[N]) -> f32[N] { relu }",
        "fn f(x: f32[N]) -> f32[N] { relu() }",
        "fn f(x: f32[N]) -> f32[N] { x as }",
        "fn f(x: f32[N]) -> f32[N] { permute(x, []) }",
        "fn f(x: f32[N]) -> f32[N] { permute(x, [9223372036854775807]) }",
        "fn f(x: f32[N]) -> f32[N] { squeeze(x, axis = -9223372036854775808) }",
        "fn f(x: f32[N]) -> f32[N] { reshape(x, [4294967295, 4294967295, 4294967295, 4294967295]) }",
        "fn f(x: f32[4294967295, 4294967295, 4294967295]) -> f32[1] { reshape(x, [1]) }",
        "fn f(x: f32[N]) -> f32[N] { slice(x, axis = 0, start = N - 5, end = N - 9) }",
        "fn f(x: f32[N]) -> f32[N] { { { } } }",
        "fn f(x: f32[N]) -> f32[N] { if }",
        "fn f(x: f32[N]) -> f32[N] { @ }",
        "fn f(x: f32[N]) -> f32[N] { x.. }",
        "fn f(x: f32[N]) -> f32[N] { 'a }",
        "fn f(x: f32[N]) -> f32[N] { x; }",
        "fn f(x: f32[0]) -> f32[1] { x }",
        "fn f(x: f32[-1]) -> f32[1] { x }",
        "fn f(x: f32[99999999999]) -> f32[1] { x }",
        "+",
        "x +",
        "1",
        "'c'",
        "{}",
        "[]",
        "()",
        "x, y",
        "let",
        "let a = 1",
        "_",
        "x as f99",
        "f(x)",
        "a.b.c(d)",
        "...",
        "matmul(1.0, 2.0)",
        "index(axis = -1)",
        "transpose(1.0)",
        "reshape(x, [A])",
        "permute(x, [0, 1, 2, 3, 4, 5, 6])",
        "select()",
        "(x, (y, z))",
        "((x))(y)",
        "unsqueeze(reshape(x, [1, 1, 1, 1, 1, 1]), axis = 0)",
        "170141183460469231731687303715884105727 * 2 + x",
        "fn f(x: f32[N]) -> f32[N] { sum(x, axis = []) }",
        "fn f(x: f32[N]) -> f32[N] { sum(x, axis = [[0]]) }",
        "fn f(x: f32[N]) -> f32 { sum(x, axis = 9223372036854775807) }",
        "fn f(x: f32[N]) -> f32[N] { concat([], axis = 0) }",
        "fn f(x: f32[N]) -> f32[N] { concat(x, axis = 0) }",
        "fn f(x: f32[N]) -> f32[N] { concat([[x]], axis = 0) }",
        "fn f(x: f32[N]) -> f32[N] { concat([x, 1.0], axis = 0) }",
        "fn f(x: f32[N]) -> f32[N] { stack([x, x], axis = 5) }",
        "fn f(x: f32[A, B, C, D, E, F]) -> f32[A] { stack([x, x], axis = 0) }",
        "fn f(x: f32[A, B, C, D, E, F], i: i32[G, H]) -> f32[A] { gather(x, i) }",
        "fn f(x: f32[N]) -> f32[N] { group_norm(x, x, x, groups = 2) }",
        "fn f(x: f32[B, N]) -> f32[B, N] { group_norm(x, x, x, groups = N - N) }",
        "fn f(x: f32[N]) -> f32[N] { x * ((N - N - 1) as f32) }",
        "fn f(x: f32[N]) -> f32[N] { dropout(x, x, x) }",
        "fn f(x: f32[N]) -> f32[N] { softmax() }",
        "fn f(x: f32[N], s: f32) -> f32[N] { softmax(s) + x }",
        "fn f(x: f32[N]) -> f32[N] { max([x, x]) }",
        "sum(x, axis = 0)",
        "sum(x, axis = N)",
        "sum(x, axis = -7)",
        "group_norm(x, g, b, groups = 2)",
        "stack([x, 1.0], axis = 0)",
        "concat([1.0, x], axis = -1)",
        "batch_norm(x, m, v, g, b)",
        "one_hot(i, classes = N)",
        "dropout(x, reshape(p, [4]), 1)",
    ];
    for text in texts.into_iter().chain([deep.as_str(), &minus, &chain, &returns, &matches, &dims, &calls]) {
        let Ok(tokens) = text.parse::<proc_macro2::TokenStream>() else { continue };
        let diagnostics = if is_items(&tokens) { items(tokens).diagnostics } else { expression(tokens).diagnostics };
        assert!(diagnostics.has_errors(), "{}", &text[..text.len().min(80)]);
        let internal = diagnostics.iter().find(|diagnostic| diagnostic.code == Code::InternalError);
        assert!(internal.is_none(), "{text}: {internal:?}");
    }
}

/// Deletes, doubles and swaps tokens. The front end must not panic or break a graph's invariant.
#[test]
fn mutated_programs_are_answered() {
    let programs = [
        "pub fn f<T: Float>(x: T[M, K], w: T[K, N], b: T[N], s: f32) -> (T[M, N], bool[M, N]) {
            let y = matmul(x, w) + b * (s as T); let z = select(y > 0.5, elu(y, alpha = 2.0), -y);
            (leaky_relu(z), index(axis = 0) >= index(z, axis = N)) }",
        "fn g(x: f32[B, M, N]) -> f32[B, N, 1] { unsqueeze(reshape(slice(transpose(x), axis = 2, start = 0, end = 1),
            [B, N]), axis = -1) }",
        "let m = index(axis = -2) >= index(axis = -1); (select(m, matmul(q, transpose(k)) * 0.125, -1e9), dot(a, b))",
        "fn h(x: f32[B, C, N], g: f32[C], i: i32[N], b: bool[B, N]) -> (f32[B, C, N], i32[B, C], f32[N, C, N], f32) {
            let m = mean(x, axis = [0, N], keepdim = true); let s = softmax(x - m, axis = 1) / sqrt(N as f32);
            (group_norm(s, g, g, groups = 2, eps = 1e-3), argmax(x, axis = -1),
             gather(concat([x, flip(x, axis = 0)], axis = B), i), var(x, correction = 1) + sum(b as f32)) }",
        "fn k(x: f32[M, N], i: i32[M], s: i32) -> (f32[M, N], f32[M], f32[M, N], f32) {
            let (a, b) = split(pad(x, axis = 1, before = N, value = -1), axis = N, sizes = [N, N]); (glu(tril(
            repeat(a + roll(b, axis = 0, shift = s), axis = 1, times = 2))), cross_entropy(x, i), triu(x, diagonal = s), norm(x)) }",
        "sum(dropout(layer_norm(x, g, b), 0.5, seed), axis = [-1, -2], keepdim = true) + logsumexp(embedding(t, i))",
        "(stack([x, y], axis = -1), concat([x, y, x], axis = -2), one_hot(argmin(x, axis = -1), classes = 7), any(b))",
        "broadcast_to(squeeze(x, axis = -1), [2, 3]) + permute(y, [1, 0]) % unsqueeze(z, axis = -2)",
    ];
    let mut answered = 0;
    for program in programs {
        let tokens = flatten(program.parse().expect("balanced"));
        for position in 0..tokens.len() {
            for kind in 0..3 {
                let mut text = tokens.clone();
                match kind {
                    0 => drop(text.remove(position)),
                    1 => text.insert(position, text[position].clone()),
                    _ => text.swap(position, (position + 1) % tokens.len()),
                }
                if text.join(" ").parse::<TokenStream>().is_ok() {
                    let found = messages(&text.join(" "));
                    let internal = found.iter().find(|diagnostic| diagnostic.code == Code::InternalError);
                    assert!(internal.is_none(), "{}: {internal:?}", text.join(" "));
                    answered += 1;
                }
            }
        }
    }
    assert!(answered > 600, "{answered}");
}

fn flatten(tokens: TokenStream) -> Vec<String> {
    let mut texts = Vec::new();
    for token in tokens {
        let TokenTree::Group(group) = &token else {
            texts.push(token.to_string());
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        texts.push(open.into());
        texts.extend(flatten(group.stream()));
        texts.push(close.into());
    }
    texts
}
