//! Every operation with operands read in every way, at sizes around the vector and workgroup widths.

use fuse_artifact::DType;
use fuse_test_support::{Sweep, compile, data};

use crate::{ALL, FLOATS, NUMBERS, binary_texts, compare_texts, functions, unary_texts};

/// A way of reading an operand as a tensor of shape `[3, N]`.
struct Pattern {
    name: &'static str,
    /// The parameter's type after the dtype; empty for a host scalar.
    dims: &'static str,
    /// How the operand `@` is read.
    read: &'static str,
}

const PATTERNS: &[Pattern] = &[
    Pattern { name: "same shape", dims: "[3, N]", read: "@" },
    Pattern { name: "row", dims: "[N]", read: "@" },
    Pattern { name: "column", dims: "[3, 1]", read: "@" },
    Pattern { name: "rank 0", dims: "[]", read: "@" },
    Pattern { name: "host scalar", dims: "", read: "@" },
    Pattern { name: "permuted", dims: "[N, 3]", read: "transpose(@)" },
    Pattern { name: "outer slice", dims: "[7, N]", read: "slice(@, axis = 0, start = 2, end = 5)" },
    Pattern { name: "reshaped", dims: "[N, 3]", read: "reshape(@, [3, N])" },
];

/// Extents of `N`: empty, single, around 4, and around workgroups, prime and not.
const EXTENTS: &[usize] = &[0, 1, 3, 4, 5, 21, 64, 86, 257];

fn sweep(source: &str, what: &str) {
    let mut sweep = Sweep::new(what);
    for program in compile(source) {
        for (seed, &n) in EXTENTS.iter().enumerate() {
            let inputs = data::inputs(&program.graph, &[("N", n)], seed as u64);
            sweep.run(&program, &inputs);
        }
    }
    sweep.finish();
}

fn read(pattern: &Pattern, name: &str) -> String {
    pattern.read.replace('@', name)
}

fn unary(dtype: DType) {
    for pattern in PATTERNS {
        let x = read(pattern, "x");
        // An operand that is broadcast takes its shape from elsewhere; a launch needs a tensor.
        let (params, x, columns) = match pattern.dims {
            "" => (format!("x: {dtype}, like: bool[3, N]"), x, "N"),
            "[N]" => (format!("x: {dtype}[N]"), format!("broadcast_to({x}, [3, N])"), "N"),
            dims if dims.contains('N') => (format!("x: {dtype}{dims}"), x, "N"),
            dims => (format!("x: {dtype}{dims}"), format!("broadcast_to({x}, [3, 20])"), "20"),
        };
        let mut texts = unary_texts(dtype, &x);
        if pattern.dims.is_empty() {
            texts = texts.iter().map(|text| format!("select(like, {text}, x)")).collect();
        }
        sweep(&functions(&params, &format!("{dtype}[3, {columns}]"), &texts), &format!("{dtype}, {}", pattern.name));
    }
}

fn binary(dtype: DType, result: DType, texts: impl Fn(&str, &str) -> Vec<String>) {
    for pattern in PATTERNS {
        let params = format!("x: {dtype}[3, N], y: {dtype}{}", pattern.dims);
        let (x, y) = ("x".to_owned(), read(pattern, "y"));
        let mut all = texts(&x, &y);
        if pattern.name != "same shape" {
            all.extend(texts(&y, &x));
        }
        sweep(&functions(&params, &format!("{result}[3, N]"), &all), &format!("{dtype}, {}", pattern.name));
    }
}

#[test]
fn unary_f32() {
    unary(DType::F32);
}

#[test]
fn unary_f16() {
    unary(DType::F16);
}

#[test]
fn unary_integers_and_bool() {
    for dtype in [DType::I32, DType::U32, DType::Bool] {
        unary(dtype);
    }
}

#[test]
fn binary_floats() {
    for dtype in FLOATS {
        binary(dtype, dtype, |x, y| binary_texts(dtype, x, y));
    }
}

#[test]
fn binary_integers_and_bool() {
    for dtype in [DType::I32, DType::U32, DType::Bool] {
        binary(dtype, dtype, |x, y| binary_texts(dtype, x, y));
    }
}

#[test]
fn comparisons() {
    for dtype in ALL {
        binary(dtype, DType::Bool, |x, y| compare_texts(dtype, x, y));
    }
}

#[test]
fn literals_on_either_side() {
    for dtype in NUMBERS {
        let literal = if dtype.is_float() { "1.5" } else { "3" };
        let mut texts = binary_texts(dtype, "x", literal);
        texts.extend(binary_texts(dtype, literal, "x"));
        sweep(&functions(&format!("x: {dtype}[3, N]"), &format!("{dtype}[3, N]"), &texts), "literal");
        let texts = compare_texts(dtype, "x", literal);
        sweep(&functions(&format!("x: {dtype}[3, N]"), "bool[3, N]", &texts), "literal comparison");
    }
}

#[test]
fn select_with_every_pattern() {
    for dtype in ALL {
        for pattern in PATTERNS {
            let operand = |dtype: DType, name: &str| format!("{name}: {dtype}{}", pattern.dims);
            let plain = |dtype: DType, name: &str| format!("{name}: {dtype}[3, N]");
            let x = read(pattern, "x");
            let cases = [
                (
                    format!("{}, {}, {}", operand(DType::Bool, "x"), plain(dtype, "y"), plain(dtype, "z")),
                    format!("select({x}, y, z)"),
                ),
                (
                    format!("{}, {}, {}", operand(dtype, "x"), plain(DType::Bool, "c"), plain(dtype, "y")),
                    format!("select(c, {x}, y)"),
                ),
                (
                    format!("{}, {}, {}", operand(dtype, "x"), plain(DType::Bool, "c"), plain(dtype, "y")),
                    format!("select(c, y, {x})"),
                ),
            ];
            for (params, text) in cases {
                let source = functions(&params, &format!("{dtype}[3, N]"), &[text]);
                sweep(&source, &format!("select {dtype}, {}", pattern.name));
            }
        }
    }
}

#[test]
fn casts_between_all_dtypes() {
    for from in ALL {
        for pattern in PATTERNS.iter().filter(|pattern| pattern.dims.contains("N,") || pattern.dims.contains(", N")) {
            let x = read(pattern, "x");
            let source: String = NUMBERS
                .iter()
                .filter(|&&to| to != from)
                .map(|to| format!("pub fn to_{to}(x: {from}{}) -> {to}[3, N] {{ {x} as {to} }}\n", pattern.dims))
                .collect();
            sweep(&source, &format!("cast {from}, {}", pattern.name));
        }
    }
}

#[test]
fn index_along_every_axis() {
    let source = "
        pub fn index_outer(x: i32[3, N]) -> i32[3, N] { index(x, axis = 0) + x }
        pub fn index_inner(x: i32[3, N]) -> i32[3, N] { index(x, axis = 1) * x }
        pub fn index_both(x: f32[3, N]) -> f32[3, N] { select(index(x, axis = 0) > index(x, axis = 1), x, -x) }
        pub fn index_moved(x: f32[N, 3]) -> f32[3, N] { transpose(x) * (index(transpose(x), axis = 1) as f32) }
        pub fn index_broadcast(x: f32[3, N]) -> f32[3, N] { x + (index(axis = 1) as f32) }";
    sweep(source, "index");
}
