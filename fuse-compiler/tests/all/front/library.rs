//! Evaluates composite operations in the interpreter.

use fuse_artifact::DType;
use fuse_compiler::interp::Value;

use super::{value, values};

fn matrix() -> Value {
    value(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
}

fn of_matrix(result: &str, body: &str) -> Vec<f64> {
    values(&format!("fn f(x: f32[M, N]) -> {result} {{ {body} }}"), &[matrix()])
}

#[test]
fn padding_surrounds() {
    let both = of_matrix("f32[M, N + 3]", "pad(x, axis = 1, before = 1, after = 2, value = -1.0)");
    assert_eq!(both, [-1.0, 1.0, 2.0, 3.0, -1.0, -1.0, -1.0, 4.0, 5.0, 6.0, -1.0, -1.0]);
    assert_eq!(of_matrix("f32[M + 1, N]", "pad(x, axis = 0, after = 1)")[6..], [0.0; 3]);
    assert_eq!(of_matrix("f32[M + N, N]", "pad(x, axis = 0, before = N)")[..9], [0.0; 9]);
    assert_eq!(of_matrix("f32[M, N]", "pad(x, axis = 1)"), matrix().data);
    let truth =
        values("fn f(x: f32[N]) -> bool[N + 1] { pad(x > 1.0, axis = 0, before = 1) }", &[value(&[2], &[1.0, 2.0])]);
    assert_eq!(truth, [0.0, 0.0, 1.0]);
}

#[test]
fn rolling_moves_to_higher_places() {
    for (shift, row) in
        [("1", [3.0, 1.0, 2.0]), ("-1", [2.0, 3.0, 1.0]), ("0", [1.0, 2.0, 3.0]), ("7", [3.0, 1.0, 2.0])]
    {
        let source = format!("roll(x, axis = 1, shift = {shift})");
        assert_eq!(of_matrix("f32[M, N]", &source)[..3], row, "{shift}");
        let literal = format!("fn f(x: f32[2, 3]) -> f32[2, 3] {{ {source} }}");
        assert_eq!(values(&literal, &[matrix()])[..3], row, "{shift} of a known extent");
        let scalar = "fn f(x: f32[M, N], s: i32) -> f32[M, N] { roll(x, axis = 1, shift = s) }";
        let shift = Value { dtype: DType::I32, ..value(&[], &[shift.parse().unwrap()]) };
        assert_eq!(values(scalar, &[matrix(), shift])[..3], row);
    }
}

#[test]
fn repeating_and_tiling_differ_in_order() {
    assert_eq!(of_matrix("f32[M, N * 2]", "repeat(x, axis = 1, times = 2)")[..6], [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    assert_eq!(of_matrix("f32[M, N * 2]", "tile(x, axis = 1, times = 2)")[..6], [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    assert_eq!(of_matrix("f32[M, M * N]", "tile(x, axis = 1, times = M)")[..6], [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    assert_eq!(of_matrix("f32[M, N]", "repeat(x, axis = 1, times = 1)"), matrix().data);
}

#[test]
fn split_cuts_an_axis() {
    let sizes = "let (a, b) = split(x, axis = 1, sizes = [1, N - 1]); a - b";
    assert_eq!(of_matrix("f32[M, N - 1]", sizes), [-1.0, -2.0, -1.0, -2.0]);
    assert_eq!(of_matrix("f32[1, N]", "let (a, b) = split(reshape(x, [2, N]), axis = 0, parts = 2); b - a"), [3.0; 3]);
    let thirds = "let (_a, b, _c) = split(reshape(x, [M, N * 3]), axis = 1, parts = 3); b";
    let thirds =
        values(&format!("fn f(x: f32[M, N, 3]) -> f32[M, N] {{ {thirds} }}"), &[value(&[1, 1, 3], &[1.0, 2.0, 3.0])]);
    assert_eq!(thirds, [2.0]);
}

#[test]
fn triangles_keep_one_side_of_a_diagonal() {
    assert_eq!(of_matrix("f32[M, N]", "tril(x)"), [1.0, 0.0, 0.0, 4.0, 5.0, 0.0]);
    assert_eq!(of_matrix("f32[M, N]", "tril(x, diagonal = 1)"), [1.0, 2.0, 0.0, 4.0, 5.0, 6.0]);
    assert_eq!(of_matrix("f32[M, N]", "triu(x)"), [1.0, 2.0, 3.0, 0.0, 5.0, 6.0]);
    assert_eq!(of_matrix("f32[M, N]", "triu(x, diagonal = -1)"), matrix().data);
}

#[test]
fn gates_norms_and_losses() {
    let gated = values("fn f(x: f32[N, 4]) -> f32[N, 2] { glu(x) }", &[value(&[1, 4], &[2.0, 3.0, 0.0, 0.0])]);
    assert_eq!(gated, [1.0, 1.5]);
    assert_eq!(values("fn f(x: f32[N]) -> f32 { norm(x) }", &[value(&[2], &[3.0, 4.0])]), [5.0]);
    assert_eq!(of_matrix("f32[1, N]", "norm(x, axis = 0, keepdim = true)")[0], f64::from(17f32.sqrt()));
    let classes = Value { dtype: DType::I32, ..value(&[2], &[0.0, 9.0]) };
    let source = "fn f(x: f32[M, C], i: i32[M]) -> f32[M] { cross_entropy(x, i) }";
    let found = values(source, &[value(&[2, 2], &[1000.0, 1001.0, 0.0, f64::NEG_INFINITY]), classes.clone()]);
    assert!((found[0] - (1.0 + (1.0 + (-1f64).exp()).ln())).abs() < 1e-6, "{found:?}");
    assert_eq!(found[1], f64::INFINITY, "a class beyond the last is the last, as in `gather`");
    let other = "fn f(x: f32[C, M], i: i32[M]) -> f32[M] { cross_entropy(x, i, axis = 0) }";
    let turned = values(other, &[value(&[2, 2], &[1000.0, 0.0, 1001.0, f64::NEG_INFINITY]), classes]);
    assert_eq!(turned, found);
}
