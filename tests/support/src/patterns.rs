//! Programs of every operation with every operand access; only `N` is free.

use fuse_artifact::DType;

use crate::operations::{ALL, NUMBERS, binary_texts, compare_texts, functions, unary_texts};

/// Functions with a description.
#[derive(Clone, Debug)]
pub struct Case {
    /// Description.
    pub what: String,
    /// Source.
    pub source: String,
}

impl Case {
    fn new(source: &str, what: &str) -> Self {
        Self { what: what.to_owned(), source: source.to_owned() }
    }
}

/// Reads an operand as a tensor of shape `[3, N]`.
struct Pattern {
    name: &'static str,
    /// Parameter type after the dtype; empty for a host scalar.
    dims: &'static str,
    /// Expression that reads the operand `@`.
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

fn read(pattern: &Pattern, name: &str) -> String {
    pattern.read.replace('@', name)
}

/// Every unary operation of a dtype.
pub fn unary(dtype: DType) -> Vec<Case> {
    let mut cases = vec![];
    for pattern in PATTERNS {
        let x = read(pattern, "x");
        // A broadcast operand takes its shape from elsewhere; a launch needs a tensor.
        let (params, x, columns) = match pattern.dims {
            "" => (format!("x: {dtype}, like: bool[3, N]"), x, "N"),
            "[N]" => (format!("x: {dtype}[N]"), format!("broadcast_to({x}, [3, N])"), "N"),
            dims if dims.contains('N') => (format!("x: {dtype}{dims}"), x, "N"),
            dims => (format!("x: {dtype}{dims}"), format!("broadcast_to({x}, [3, 20])"), "20"),
        };
        for result in ALL {
            let mut texts = unary_texts(dtype, result, &x);
            if pattern.dims.is_empty() {
                texts = texts.iter().map(|text| format!("select(like, {text}, x as {result})")).collect();
            }
            if !texts.is_empty() {
                let source = functions(&params, &format!("{result}[3, {columns}]"), &texts);
                cases.push(Case::new(&source, &format!("{dtype} to {result}, {}", pattern.name)));
            }
        }
    }
    cases
}

/// Every arithmetic or logical operation of a dtype.
pub fn binary(dtype: DType) -> Vec<Case> {
    two_operands(dtype, dtype, |x, y| binary_texts(dtype, x, y))
}

/// Every comparison of a dtype.
pub fn comparisons(dtype: DType) -> Vec<Case> {
    two_operands(dtype, DType::Bool, |x, y| compare_texts(dtype, x, y))
}

fn two_operands(dtype: DType, result: DType, texts: impl Fn(&str, &str) -> Vec<String>) -> Vec<Case> {
    let mut cases = vec![];
    for pattern in PATTERNS {
        let params = format!("x: {dtype}[3, N], y: {dtype}{}", pattern.dims);
        let (x, y) = ("x".to_owned(), read(pattern, "y"));
        let mut all = texts(&x, &y);
        if pattern.name != "same shape" {
            all.extend(texts(&y, &x));
        }
        let source = functions(&params, &format!("{result}[3, N]"), &all);
        cases.push(Case::new(&source, &format!("{dtype}, {}", pattern.name)));
    }
    cases
}

/// Literals with operands of every dtype.
pub fn literals_on_either_side() -> Vec<Case> {
    let mut cases = vec![];
    for dtype in NUMBERS {
        let literal = if dtype.is_float() { "1.5" } else { "3" };
        let mut texts = binary_texts(dtype, "x", literal);
        texts.extend(binary_texts(dtype, literal, "x"));
        let source = functions(&format!("x: {dtype}[3, N]"), &format!("{dtype}[3, N]"), &texts);
        cases.push(Case::new(&source, "literal"));
        let texts = compare_texts(dtype, "x", literal);
        let source = functions(&format!("x: {dtype}[3, N]"), "bool[3, N]", &texts);
        cases.push(Case::new(&source, "literal comparison"));
    }
    cases
}

/// `select` with every access of each operand.
pub fn select_with_every_pattern() -> Vec<Case> {
    let mut cases = vec![];
    for dtype in ALL {
        for pattern in PATTERNS {
            let operand = |dtype: DType, name: &str| format!("{name}: {dtype}{}", pattern.dims);
            let plain = |dtype: DType, name: &str| format!("{name}: {dtype}[3, N]");
            let x = read(pattern, "x");
            let calls = [
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
            for (params, text) in calls {
                let source = functions(&params, &format!("{dtype}[3, N]"), &[text]);
                cases.push(Case::new(&source, &format!("select {dtype}, {}", pattern.name)));
            }
        }
    }
    cases
}

/// Every conversion.
pub fn casts_between_all_dtypes() -> Vec<Case> {
    let mut cases = vec![];
    for from in ALL {
        for pattern in PATTERNS.iter().filter(|pattern| pattern.dims.contains("N,") || pattern.dims.contains(", N")) {
            let x = read(pattern, "x");
            let source: String = NUMBERS
                .iter()
                .filter(|&&to| to != from)
                .map(|to| format!("pub fn to_{to}(x: {from}{}) -> {to}[3, N] {{ {x} as {to} }}\n", pattern.dims))
                .collect();
            cases.push(Case::new(&source, &format!("cast {from}, {}", pattern.name)));
        }
    }
    cases
}

/// Coordinates as values.
pub fn index_along_every_axis() -> Vec<Case> {
    let source = "
        pub fn index_outer(x: i32[3, N]) -> i32[3, N] { index(x, axis = 0) + x }
        pub fn index_inner(x: i32[3, N]) -> i32[3, N] { index(x, axis = 1) * x }
        pub fn index_both(x: f32[3, N]) -> f32[3, N] { select(index(x, axis = 0) > index(x, axis = 1), x, -x) }
        pub fn index_moved(x: f32[N, 3]) -> f32[3, N] { transpose(x) * (index(transpose(x), axis = 1) as f32) }
        pub fn index_broadcast(x: f32[3, N]) -> f32[3, N] { x + (index(axis = 1) as f32) }";
    vec![Case::new(source, "index")]
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let of_dtypes = ALL.into_iter().flat_map(|dtype| [unary(dtype), binary(dtype), comparisons(dtype)].concat());
    let others = [literals_on_either_side(), select_with_every_pattern(), casts_between_all_dtypes()];
    of_dtypes.chain(others.concat()).chain(index_along_every_axis()).collect()
}
