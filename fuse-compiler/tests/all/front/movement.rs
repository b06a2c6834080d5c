//! Tests of concatenation, gathers and random numbers.

use fuse_artifact::DType;
use fuse_compiler::interp::Value;

use super::{
    graphs::{graph, nodes},
    value, values,
};

fn integers(dtype: DType, shape: &[usize], data: &[f64]) -> Value {
    Value { dtype, ..value(shape, data) }
}

#[test]
fn concat_takes_each_element_from_its_piece() {
    assert_eq!(
        nodes("fn f(x: f32[M, N], y: f32[K, N]) -> f32[M + K, N] { concat([x, y], axis = 0) }")[2..],
        [
            "%2: i32[M + K, N] = index axis=0",
            "%3: f32[M + K, N] = take %0, %2 axis=0",
            "%4: i32[] = size M",
            "%5: i32[M + K, N] = broadcast %4",
            "%6: i32[M + K, N] = sub %2, %5",
            "%7: f32[M + K, N] = take %1, %6 axis=0",
            "%8: bool[M + K, N] = lt %2, %5",
            "%9: f32[M + K, N] = select %8, %3, %7",
        ]
    );
    let source = "fn f(x: f32[M, N], y: f32[M, 2], z: f32[M, K], e: f32[M, 0]) -> f32[M, N + K + 2] {
        concat([x, y, e, z], axis = 1) }";
    let inputs = [
        value(&[2, 1], &[1.0, 5.0]),
        value(&[2, 2], &[2.0, 3.0, 6.0, 7.0]),
        value(&[2, 1], &[4.0, 8.0]),
        value(&[2, 0], &[]),
    ];
    assert_eq!(values(source, &inputs), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let empty = [value(&[2, 0], &[]), inputs[1].clone(), value(&[2, 0], &[]), inputs[3].clone()];
    assert_eq!(values(source, &empty), [2.0, 3.0, 6.0, 7.0]);
    assert_eq!(nodes("fn f(x: f32[N]) -> f32[N] { concat([x], axis = 0) }").len(), 1);
}

#[test]
fn stack_adds_an_axis() {
    let inputs = [value(&[2], &[1.0, 2.0]), value(&[2], &[3.0, 4.0])];
    let last = "fn f(x: f32[N], y: f32[N]) -> f32[N, 3] { stack([x, y, x], axis = -1) }";
    assert_eq!(values(last, &inputs), [1.0, 3.0, 1.0, 2.0, 4.0, 2.0]);
    let first = "fn f(x: f32[N], y: f32[N]) -> f32[2, N] { stack([x, y], axis = 0) }";
    assert_eq!(values(first, &inputs), [1.0, 2.0, 3.0, 4.0]);
    assert!(!graph(first).contains("take"), "pieces of one layer are repeated and not taken");
    let numbers = "fn f(x: f32[N], s: f32) -> f32[3] { stack([sum(x), s, 7], axis = 0) }";
    assert_eq!(values(numbers, &[inputs[0].clone(), value(&[], &[9.0])]), [3.0, 9.0, 7.0]);
}

#[test]
fn flip_reverses() {
    let x = value(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let flipped = |axis: &str| {
        values(&format!("fn f(x: f32[M, N]) -> f32[M, N] {{ flip(x, axis = {axis}) }}"), std::slice::from_ref(&x))
    };
    assert_eq!(flipped("N"), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    assert_eq!(flipped("0"), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    assert_eq!(flipped("[0, 1]"), [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
    let empty = values("fn f(x: f32[N]) -> f32[N] { flip(x, axis = 0) }", &[value(&[0], &[])]);
    assert!(empty.is_empty());
}

#[test]
fn gather_clamps_indices() {
    let table = value(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let ids = integers(DType::I32, &[2, 2], &[2.0, 0.0, -7.0, 9.0]);
    let embed = "fn f(t: f32[V, D], i: i32[B, S]) -> f32[B, S, D] { embedding(t, i) }";
    assert_eq!(values(embed, &[table.clone(), ids]), [5.0, 6.0, 1.0, 2.0, 1.0, 2.0, 5.0, 6.0]);
    assert_eq!(
        nodes(embed)[2..],
        [
            "%2: f32[1, V, D] = reshape %0",
            "%3: f32[B, V, D] = broadcast %2",
            "%4: i32[B, S, 1] = reshape %1",
            "%5: i32[B, S, D] = broadcast %4",
            "%6: f32[B, S, D] = take %3, %5 axis=1",
        ]
    );
    let unsigned = integers(DType::U32, &[2], &[4294967295.0, 1.0]);
    let columns = "fn f(t: f32[V, D], i: u32[K]) -> f32[V, K] { gather(t, i, axis = D) }";
    assert_eq!(values(columns, &[table.clone(), unsigned]), [2.0, 2.0, 4.0, 4.0, 6.0, 6.0]);
    let one = "fn f(t: f32[V, D], i: i32) -> f32[D] { gather(t, i) }";
    assert_eq!(values(one, &[table.clone(), integers(DType::I32, &[], &[1.0])]), [3.0, 4.0]);
    let within = "fn f(t: f32[V, D], i: i32[1, K]) -> f32[V, 1, K] { gather(t, i, axis = 1) }";
    let found = values(within, &[table, integers(DType::I32, &[1, 1], &[1.0])]);
    assert_eq!(found, [2.0, 4.0, 6.0]);
}

#[test]
fn one_hot_rows_of_other_indices_are_zero() {
    let ids = integers(DType::I32, &[3], &[1.0, -1.0, 3.0]);
    let hot = values("fn f(i: i32[N]) -> f32[N, 3] { one_hot(i, classes = 3) }", &[ids]);
    assert_eq!(hot, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let named = nodes("fn f(i: u32[N], w: f32[C, D]) -> f32[N, D] { matmul(one_hot(i, classes = C), w) }");
    assert!(named.iter().any(|line| line.contains("i32[N, C] = index axis=1")), "{named:?}");
}

#[test]
fn dropout_scales_what_it_keeps() {
    let ones = value(&[4, 64], &[1.0; 256]);
    let kept = |p: &str| {
        values(&format!("fn f(x: f32[M, N]) -> f32[M, N] {{ dropout(x, {p}, 7) }}"), std::slice::from_ref(&ones))
    };
    assert_eq!(kept("0"), [1.0; 256]);
    assert_eq!(kept("1.0"), [0.0; 256]);
    let quarter = kept("0.25");
    assert!(quarter.iter().all(|x| *x == 0.0 || (x - 4.0 / 3.0).abs() < 1e-6));
    let count = quarter.iter().filter(|x| **x > 0.0).count();
    assert!((160..224).contains(&count), "{count} of 256 are kept");
    // Only the row-major position matters.
    let flat = values(
        "fn f(x: f32[N], p: f32, seed: u32) -> f32[N] { dropout(x, p, seed) }",
        &[value(&[256], &[1.0; 256]), value(&[], &[0.25]), integers(DType::U32, &[], &[7.0])],
    );
    assert_eq!(flat, quarter);
    let infinite = value(&[2], &[f64::INFINITY, f64::NAN]);
    assert_eq!(values("fn f(x: f32[N]) -> f32[N] { dropout(x, 1, 7) }", &[infinite]), [0.0, 0.0]);
}

#[test]
fn dropout_draws_the_words_of_philox() {
    let words =
        values("fn f(x: u32[N]) -> u32[N] { philox(x, 0) }", &[integers(DType::U32, &[4], &[0.0, 1.0, 2.0, 3.0])]);
    // Random123's vector for counter 0 and key 0.
    assert_eq!(words, [0x6627e8d5u32, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8].map(f64::from));
}

#[test]
fn reshapes_of_what_gradients_stop_at_or_are_of_stay() {
    let x = value(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let stopped = "fn f(x: f32[2, 3]) -> f32[2, 3] { \
                   let y = sum(reshape(stop_gradient(x), [6]) * reshape(x, [6])); grad(y, wrt = x) }";
    assert_eq!(values(stopped, std::slice::from_ref(&x)), x.data);
    let between = "fn f(x: f32[2, 3]) -> f32[2] { \
                   let m = sum(x, axis = 1); let y = sum(x * unsqueeze(m, axis = 1)); grad(y, wrt = m) }";
    assert_eq!(values(between, std::slice::from_ref(&x)), [6.0, 15.0]);
    let of_argument = "fn g(v: f32[6]) -> f32[6] { grad(sum(reshape(v, [3, 2]) * reshape(v, [3, 2])), wrt = v) } \
                       fn f(x: f32[2, 3]) -> f32[6] { g(reshape(x, [6])) }";
    assert_eq!(values(of_argument, &[x]), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
}
