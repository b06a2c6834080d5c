//! Operations at special numbers: NaN, infinities, signed zeros and extremes.

use fuse_artifact::DType;
use fuse_compiler::interp::Value;
use fuse_test_support::{
    Numbers, Sweep, compile, data,
    operations::{ALL, FLOATS, NUMBERS, binary_texts, compare_texts, functions, unary_texts},
};

fn vector(dtype: DType, data: Vec<f64>) -> Value {
    Value { dtype, shape: vec![data.len()], data }
}

fn unary_numbers(dtype: DType) -> Vec<f64> {
    let mut numbers = data::special(dtype);
    let mut random = Numbers::new(7);
    for i in 0..4000 {
        let x = match dtype {
            DType::F32 | DType::F16 => {
                let (largest, smallest) = if dtype == DType::F32 { (127.0, -126.0) } else { (15.0, -14.0) };
                let unit = random.below(1 << 24) as f64 / f64::from(1 << 24);
                // A quarter each from -30 to 30 and on domains of inverse functions; half over all exponents.
                let exponent: f64 = smallest + (largest - smallest) * (random.below(4096) as f64 / 4096.0);
                match i % 4 {
                    0 => 60.0 * unit - 30.0,
                    1 => -(1.0 + unit) * exponent.exp2(),
                    2 => 2.5 * unit - 1.25,
                    _ => (1.0 + unit) * exponent.exp2(),
                }
            }
            DType::I32 => f64::from(random.bits() as i32),
            DType::U32 => f64::from(random.bits() as u32),
            DType::Bool => random.ordinary(dtype),
        };
        numbers.push(data::round(dtype, x));
    }
    numbers
}

fn pairs(dtype: DType) -> (Value, Value) {
    let special = data::special(dtype);
    let x = special.iter().flat_map(|&x| special.iter().map(move |_| x)).collect();
    let y = special.iter().flat_map(|_| special.iter().copied()).collect();
    (vector(dtype, x), vector(dtype, y))
}

#[test]
fn unary_at_special_numbers() {
    for dtype in ALL {
        let mut sweep = Sweep::new(&format!("special {dtype}")).with_loose_numbers();
        let params = format!("x: {dtype}[N]");
        for result in ALL {
            let texts = unary_texts(dtype, result, "x");
            let source = functions(&params, &format!("{result}[N]"), &texts);
            for program in if texts.is_empty() { vec![] } else { compile(&source) } {
                sweep.run(&program, &[vector(dtype, unary_numbers(dtype))]);
            }
        }
        sweep.finish();
    }
}

#[test]
fn binary_at_all_pairs_of_special_numbers() {
    for dtype in ALL {
        let mut sweep = Sweep::new(&format!("special pairs {dtype}")).with_loose_numbers();
        let (x, y) = pairs(dtype);
        let params = format!("x: {dtype}[N], y: {dtype}[N]");
        let arithmetic = functions(&params, &format!("{dtype}[N]"), &binary_texts(dtype, "x", "y"));
        let comparison = functions(&params, "bool[N]", &compare_texts(dtype, "x", "y"));
        for program in [arithmetic, comparison].iter().flat_map(|source| compile(source)) {
            sweep.run(&program, &[x.clone(), y.clone()]);
        }
        sweep.finish();
    }
}

#[test]
fn casts_at_special_numbers() {
    for from in ALL {
        let mut sweep = Sweep::new(&format!("special casts from {from}")).with_loose_numbers();
        for to in NUMBERS.into_iter().filter(|&to| to != from) {
            let source = format!("pub fn f(x: {from}[N]) -> {to}[N] {{ x as {to} }}");
            for program in compile(&source) {
                sweep.run(&program, &[vector(from, unary_numbers(from))]);
            }
        }
        sweep.finish();
    }
}

#[test]
fn select_takes_the_other_value_even_beside_nan() {
    for dtype in FLOATS {
        let mut sweep = Sweep::new("select beside NaN");
        let source = format!(
            "pub fn f(c: bool[N], x: {dtype}[N], y: {dtype}[N]) -> {dtype}[N] {{ select(c, x, y) }}
             pub fn relus(c: bool[N], x: {dtype}[N], y: {dtype}[N]) -> {dtype}[N] {{ select(c, relu(x), relu(y)) }}"
        );
        let (x, y) = pairs(dtype);
        let c = vector(DType::Bool, (0..x.data.len()).map(|i| f64::from(u8::from(i % 3 == 0))).collect());
        for program in compile(&source) {
            sweep.run(&program, &[c.clone(), x.clone(), y.clone()]);
        }
        sweep.finish();
    }
}

#[test]
fn special_host_scalars() {
    for dtype in NUMBERS {
        let mut sweep = Sweep::new(&format!("special scalars {dtype}")).with_loose_numbers();
        let source =
            format!("pub fn f(x: {dtype}[N], s: {dtype}) -> ({dtype}[N], {dtype}[N]) {{ (x * s, max(x, s)) }}");
        let numbers = data::special(dtype);
        for program in compile(&source) {
            for &s in &numbers {
                sweep.run(&program, &[vector(dtype, numbers.clone()), Value::scalar(dtype, s)]);
            }
        }
        sweep.finish();
    }
}
