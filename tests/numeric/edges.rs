//! Edge cases: row widths that decide who owns rows, and tables without rows.

use fuse_compiler::interp::{Stores, Value, run_bounded};
use fuse_test_support::{Numbers, Program, Sweep, adapter::Arguments, compile, data, devices, expression, wait};

/// Widths that an invocation, a workgroup, or no workgroup holds.
const WIDTHS: [usize; 3] = [3, 130, 600];

#[test]
fn softmax_of_a_linear_layer_of_known_width() {
    let function = |n: usize| {
        format!("pub fn f{n}(x: f32[M, K], w: f32[K, {n}], b: f32[{n}]) -> f32[M, {n}] {{ softmax(matmul(x, w) + b) }}")
    };
    let mut sweep = Sweep::new("softmax of a linear layer");
    for program in compile(&WIDTHS.map(function).join("\n")) {
        assert!(program.function.plan.to_string().contains("matmul"), "{}", program.function.plan);
        for (seed, rows) in [1, 5, 33].into_iter().enumerate() {
            sweep.run(&program, &data::inputs(&program.graph, &[("M", rows), ("K", 7)], seed as u64));
        }
    }
    sweep.finish();
}

#[test]
fn softmax_of_a_linear_layer_of_unknown_width() {
    let source = "pub fn f(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] { softmax(matmul(x, w) + b) }";
    let mut sweep = Sweep::new("softmax of a linear layer");
    for program in compile(source) {
        for (seed, n) in WIDTHS.into_iter().enumerate() {
            sweep.run(&program, &data::inputs(&program.graph, &[("M", 5), ("K", 7), ("N", n)], seed as u64));
        }
    }
    sweep.finish();
}

#[test]
fn softmax_of_a_linear_layer_as_an_expression() {
    let (graph, dtypes) = expression("softmax(matmul(x, w) + b)").expect("a correct expression").swap_remove(0);
    let program = Program::new(graph, dtypes).expect("it compiles");
    let mut sweep = Sweep::new("softmax of a linear layer");
    for (seed, n) in WIDTHS.into_iter().enumerate() {
        let mut numbers = Numbers::new(seed as u64);
        // A bias with more axes repeats the product.
        for bias in [vec![n], vec![5, n], vec![2, 1, n], vec![]] {
            let shapes = [vec![5, 7], vec![7, n], bias];
            let params = program.graph.params.iter().zip(&shapes);
            let inputs: Vec<Value> =
                params.map(|(param, shape)| data::ordinary(param.ty.dtype, shape, &mut numbers)).collect();
            sweep.run(&program, &inputs);
        }
    }
    sweep.finish();
}

#[test]
fn rows_of_an_empty_table() {
    let source = "
        pub fn rows(t: f32[R, N], ids: i32[B]) -> f32[B, N] { gather(t, ids) }
        pub fn places(t: f32[N, R], ids: i32[B]) -> f32[N, B] { gather(t, ids, axis = 1) * 2.0 }
        pub fn total(t: f32[R, N], ids: i32[B]) -> f32[B] { sum(gather(t, ids) + 1.0, axis = 1) }";
    let mut sweep = Sweep::new("an empty table");
    let programs = compile(source);
    for program in &programs {
        let inputs = data::inputs(&program.graph, &[("R", 0), ("N", 5), ("B", 3)], 7);
        let error = run_bounded(&program.graph, &inputs, Stores::Results).expect_err("no index means anything");
        assert!(error.to_string().contains("indices of `gather` into `t`"), "{error}");
        let device = &devices()[0];
        let arguments = Arguments::new(device, program, &inputs).expect("they fit");
        let error = arguments.launch_here(program.function).expect_err("no index means anything").to_string();
        assert!(error.contains("indices of `gather` into `t`") && error.contains("`B` (3)"), "{error}");
    }
    for program in &programs {
        for (seed, dims) in [[("R", 0), ("N", 5), ("B", 3)], [("R", 0), ("N", 5), ("B", 0)]].iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}

#[test]
fn queries_that_are_computed_from_columns() {
    let source = "matmul(softmax(matmul(relu(transpose(x)), transpose(y)) * 0.5), z)";
    let (graph, dtypes) = expression(source).expect("a correct expression").swap_remove(0);
    let program = Program::new(graph, dtypes).expect("it compiles");
    let mut sweep = Sweep::new("queries from columns");
    for (seed, shapes) in [[[8, 4], [4, 8], [4, 8]], [[40, 7], [9, 40], [9, 33]]].iter().enumerate() {
        let mut numbers = Numbers::new(seed as u64);
        let params = program.graph.params.iter().zip(shapes);
        let inputs: Vec<Value> =
            params.map(|(param, shape)| data::ordinary(param.ty.dtype, shape, &mut numbers)).collect();
        sweep.run(&program, &inputs);
    }
    sweep.finish();
}

#[test]
fn empty_pieces_are_read_inside_their_tensors() {
    let source = "
        pub fn slices(x: f32[V, D], y: f32[S, D]) -> f32[V, D] { concat([slice(x, axis = 0, start = S, end = V), y], axis = 0) }
        pub fn turned(c: f32[C, D], k: f32[S, D]) -> f32[C + S, D] { flip(concat([c, k], axis = 0), axis = 1) }
        pub fn halves(c: f32[C, 64], k: f32[S, 64]) -> f32[C + S, 64] {
            let x = concat([c, k], axis = 0);
            concat([slice(x, axis = 1, start = 32, end = 64), -slice(x, axis = 1, start = 0, end = 32)], axis = 1)
        }";
    let mut sweep = Sweep::new("empty pieces");
    let programs = compile(source);
    for (program, dims) in programs.iter().zip([[("V", 3), ("S", 3)], [("C", 0), ("S", 3)], [("C", 0), ("S", 3)]]) {
        sweep.run(program, &data::inputs(&program.graph, &[dims[0], dims[1], ("D", 70)], 7));
    }
    sweep.finish();
}

#[test]
fn reductions_of_nothing_beside_axes_that_have_something() {
    let source = "
        pub fn mean_of(x: f32[3, 3, C, B]) -> f32[1, 3, 1, 1] {
            mean(slice(x, axis = 0, start = 1, end = 1), axis = [-4, -2, -1], keepdim = true)
        }
        pub fn sum_of(x: f32[R, 3, C, B]) -> f32[3] { sum(x, axis = [0, 2, 3]) }
        pub fn sum_of_last(x: f32[B, 3, R]) -> f32[3] { sum(x, axis = [0, 2]) }";
    let mut sweep = Sweep::new("reductions of nothing");
    for program in &compile(source) {
        sweep.run(program, &data::inputs(&program.graph, &[("R", 0), ("C", 1), ("B", 24)], 7));
    }
    sweep.finish();
}

#[test]
fn indices_and_variances_of_few_elements() {
    let source = "
        pub fn largest(x: f32[N, K]) -> i32[N] { argmax(x, axis = 1) }
        pub fn least(x: f32[K, N]) -> i32[N] { argmin(x, axis = 0) }";
    let device = &devices()[0];
    let launch = |program: &Program, k: usize| {
        let arguments =
            Arguments::new(device, program, &data::inputs(&program.graph, &[("N", 3), ("K", k)], 7)).unwrap();
        wait(arguments.launch(program, None))
    };
    let mut sweep = Sweep::new("indices of few elements");
    for program in &compile(source) {
        let error = launch(program, 0).expect_err("no index is the answer");
        assert!(error.contains("which needs an element") && error.contains("`K` (0)"), "{error}");
        for k in [0, 1, 2] {
            sweep.run(program, &data::inputs(&program.graph, &[("N", 3), ("K", k)], 7));
        }
    }
    sweep.finish();
    let source = "
        pub fn corrected(x: f32[N, K]) -> f32[N] { var(x, axis = 1, correction = 1) }
        pub fn known(x: f16[N, 0]) -> f16[N] { var(x, axis = 1, correction = 1) }
        pub fn beyond(x: f32[N, 1]) -> f32[N] { var(x, axis = 1, correction = 3) }
        pub fn plain(x: f32[N, K]) -> f32[N] { var(x, axis = 1) }";
    for program in &compile(source) {
        let found = launch(program, 0).unwrap().swap_remove(0).data;
        assert!(found.len() == 3 && found.iter().all(|x| x.is_nan()), "{}: {found:?}", program.function.name);
    }
}

#[test]
fn divisions_by_a_constant_zero() {
    let source = "
        pub fn by_zero(x: f32[N]) -> f32[N] { x / 0.0 + x / -0.0 }
        pub fn positive(x: f32[N]) -> f32[N] { (abs(x) + 1.0) / 0.0 }
        pub fn negative(x: f16[N]) -> f16[N] { (abs(x) + 1.0) / -0.0 }
        pub fn remainder(x: f32[N]) -> f32[N] { x % 0.0 }
        pub fn powers(x: f32[N]) -> f32[N] { pow(x, -1.0) / 0.0 }";
    let mut sweep = Sweep::new("divisions by zero");
    for program in &compile(source) {
        sweep.run(program, &data::inputs(&program.graph, &[("N", 7)], 7));
    }
    sweep.finish();
}

#[test]
fn what_follows_the_heads_of_batches() {
    let source = "
        pub fn least(x: f32[B, D, 1, C], w: f32[C, A], y: i32[1, D, 1]) -> i32[B, D, 1] {
            min(y, argmax(matmul(x, w), axis = -1))
        }
        pub fn later(x: f32[B, D, M, C], w: f32[C, A], y: i32[B, 1, M]) -> i32[B, D, M] {
            argmax(matmul(x, w), axis = -1) + y
        }
        pub fn summed(x: f32[B, D, 1, C], w: f32[C, A], y: f32[1, D, 1]) -> f32[B, D, 1] {
            y - sum(matmul(x, w), axis = -1)
        }
        pub fn added(x: f32[B, D, 1, C], w: f32[C, A], y: f32[1, D, 1, 1]) -> f32[B, D, 1, A] { matmul(x, w) + y }
        pub fn scaled(x: f32[B, D, 1, C], y: f32[D, 1, 1], w: f32[C, A]) -> f32[B, D, 1, A] { matmul(x * y, w) }";
    let mut sweep = Sweep::new("heads of batches");
    for program in &compile(source) {
        sweep.run(program, &data::inputs(&program.graph, &[("A", 9), ("B", 4), ("C", 4), ("D", 9), ("M", 3)], 7));
    }
    sweep.finish();
}

#[test]
fn values_with_themselves() {
    let source = "
        pub fn less(x: f32[N]) -> f32[N] { let y = 1.0 / x; y - y }
        pub fn by(x: f32[N]) -> f32[N] { let y = 1.0 / x; y / y + x / x }
        pub fn remainder(x: f32[N]) -> f32[N] { x % x }
        pub fn half(x: f16[N]) -> f16[N] { let y = x * 3.0; (y - y) / (x / x) }
        pub fn times_zero(x: f32[N]) -> (f32[N], f32[N]) { (x * 0.0, -0.0 * x) }
        pub fn zero_by(x: f32[N]) -> (f32[N], f32[N]) { (0.0 / x, -0.0 / x) }
        pub fn negated(x: f32[N]) -> f32[N] { x + (-x) }
        pub fn rooted(x: f32[N]) -> f32[N] { sqrt(x) * sqrt(x) }
        pub fn vanishing(x: f32[N]) -> (f32[N], bool[N]) { let y = sigmoid(x); (log(y), y > 0.0) }
        pub fn of_one(x: f32[N, K], w: f32[K, 0]) -> f32[N, 1] { softmax(max(matmul(x, w), axis = 1, keepdim = true), axis = 1) }";
    let mut sweep = Sweep::new("values with themselves");
    for program in &compile(source) {
        let mut inputs = data::inputs(&program.graph, &[("N", 16), ("K", 3)], 7);
        sweep.run(program, &inputs);
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        inputs[0].data.iter_mut().zip(special).for_each(|(x, special)| *x = special);
        sweep.run(program, &inputs);
    }
    sweep.finish();
}

#[test]
fn smaller_and_larger_by_comparison() {
    let source = "
        pub fn smaller(x: f32[N], y: f32[N]) -> f32[N] { select(x < y, x, y) }
        pub fn larger(x: f32[N], y: f32[N]) -> f32[N] { select(x < y, y, x) }
        pub fn at_least(x: f32[N], y: f32[N]) -> f32[N] { select(!(x >= y), y, x) }
        pub fn at_most(x: f16[N], y: f16[N]) -> f16[N] { select(y < x, y, x) }
        pub fn positive(x: f32[N]) -> f32[N] { select(x < 0.0, 0.0, x) }
        pub fn capped(x: f32[N]) -> f32[N] { select(x > 1.0, 1.0, x) }
        pub fn raised(x: f32[N]) -> f32[N] { select(x > 1.0, x, 1.0) }";
    let mut sweep = Sweep::new("smaller and larger by comparison");
    for program in &compile(source) {
        let mut inputs = data::inputs(&program.graph, &[("N", 16)], 7);
        for (input, special) in inputs.iter_mut().zip([[f64::NAN, 1.0, f64::NAN], [-2.0, f64::NAN, f64::NAN]]) {
            input.data[..3].copy_from_slice(&special);
        }
        sweep.run(program, &inputs);
    }
    sweep.finish();
}
