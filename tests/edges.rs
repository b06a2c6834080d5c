//! Combinations and sizes at the edge of what kernels hold: rows of products whose width decides who owns them, and tables
//! without rows.

use fuse_compiler::interp::{Stores, Value, run_bounded};
use fuse_test_support::{Numbers, Program, Sweep, adapter::Arguments, compile, data, devices, expression};

/// Widths that one invocation, one workgroup, and no workgroup holds.
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
        // A bias of more axes than the product repeats it.
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
