//! Attention against the interpreter's ranges: one kernel for any pointwise scores; every legal variant, at sizes
//! below, at and beyond tiles.

use fuse_artifact::DType;
use fuse_compiler::interp::Value;
use fuse_test_support::{Numbers, Program, Sweep, adapter::Arguments, compile, data, devices, expression};

type Dims<'a> = &'a [(&'a str, usize)];

fn assert_one_attention(program: &Program) {
    let kernels: Vec<&str> = program.function.kernels.iter().map(|kernel| kernel.name.as_ref()).collect();
    assert!(matches!(kernels[..], [name] if name.ends_with("attention")), "{kernels:?}\n{}", program.function.plan);
}

/// Every function must be a single attention kernel.
fn check(what: &str, source: &str, sizes: &[Dims<'_>]) -> Vec<Program> {
    check_with(Sweep::new(what), source, sizes)
}

/// As [`check`], with one in `count` variants.
fn check_sharing(count: usize, what: &str, source: &str, sizes: &[Dims<'_>]) {
    check_with(Sweep::new(what).sharing_variants(count), source, sizes);
}

fn check_with(mut sweep: Sweep, source: &str, sizes: &[Dims<'_>]) -> Vec<Program> {
    let programs = compile(source);
    for program in &programs {
        assert_one_attention(program);
        for (seed, dims) in sizes.iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
    programs
}

/// Queries M and keys N: one row, few, small and odd, exact tiles, and beyond.
const SIZES: &[Dims<'_>] = &[
    &[("B", 2), ("M", 1), ("N", 1)],
    &[("B", 1), ("M", 1), ("N", 67)],
    &[("B", 2), ("M", 3), ("N", 5)],
    &[("B", 1), ("M", 4), ("N", 130)],
    &[("B", 1), ("M", 33), ("N", 31)],
    &[("B", 1), ("M", 64), ("N", 64)],
    &[("B", 1), ("M", 67), ("N", 71)],
];

/// For masks: several steps of keys, different first queries, and decoding.
const MASKED: &[Dims<'_>] = &[
    &[("B", 2), ("M", 5), ("N", 7)],
    &[("B", 3), ("M", 1), ("N", 150)],
    &[("B", 2), ("M", 96), ("N", 132)],
    &[("B", 1), ("M", 150), ("N", 90)],
];

fn plain(depth: u64, columns: u64) -> String {
    let types = format!("q: f32[B, M, {depth}], k: f32[B, N, {depth}], v: f32[B, N, {columns}]");
    format!(
        "pub fn head_{depth}_{columns}({types}) -> f32[B, M, {columns}] {{
            matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
        }}"
    )
}

#[test]
fn every_small_head() {
    for (depth, columns) in [(1, 1), (3, 5), (8, 8), (32, 32)] {
        check(&format!("{depth}, {columns}"), &plain(depth, columns), SIZES);
    }
}

#[test]
fn every_usual_head() {
    let source = [(40, 40), (64, 64), (64, 32)].map(|(depth, columns)| plain(depth, columns));
    check_sharing(3, "usual heads", &source.join("\n"), SIZES);
}

#[test]
fn every_large_head() {
    let source = [(256, 256), (8, 128), (128, 128), (200, 24)].map(|(depth, columns)| plain(depth, columns));
    check_sharing(3, "large heads", &source.join("\n"), &[SIZES[3], SIZES[4]]);
}

#[test]
fn f16_heads() {
    let source = "pub fn f(q: f16[B, M, 32], k: f16[B, N, 32], v: f16[B, N, 16]) -> f16[B, M, 16] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }
    pub fn wide(q: f16[B, M, 32], k: f16[B, N, 32], v: f16[B, N, 16]) -> f16[B, M, 16] {
        matmul(softmax((matmul(q, transpose(k)) as f32) * 0.125) as f16, v)
    }";
    check_sharing(2, "f16", source, SIZES);
}

/// Small heads take one kernel, large ones still run.
#[test]
fn heads_known_at_launch() {
    let source = "pub fn f(q: f32[B, M, D], k: f32[B, N, D], v: f32[B, N, E]) -> f32[B, M, E] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }";
    let sizes: &[Dims<'_>] = &[
        &[("B", 2), ("M", 5), ("N", 70), ("D", 7), ("E", 3)],
        &[("B", 1), ("M", 3), ("N", 68), ("D", 64), ("E", 32)],
        &[("B", 1), ("M", 35), ("N", 33), ("D", 128), ("E", 256)],
        &[("B", 1), ("M", 3), ("N", 9), ("D", 300), ("E", 16)],
        &[("B", 1), ("M", 3), ("N", 9), ("D", 16), ("E", 257)],
        &[("B", 2), ("M", 3), ("N", 9), ("D", 0), ("E", 4)],
    ];
    check_sharing(3, "symbolic heads", source, sizes);
}

#[test]
fn nothing_in_one_dimension() {
    let sizes: &[Dims<'_>] =
        &[&[("B", 0), ("M", 3), ("N", 5)], &[("B", 2), ("M", 0), ("N", 5)], &[("B", 2), ("M", 3), ("N", 0)]];
    check("empty", &plain(8, 8), sizes);
    let programs = compile(&plain(8, 8));
    let dims: Dims<'_> = &[("B", 1), ("M", 2), ("N", 0)];
    let inputs = data::inputs(&programs[0].graph, dims, 1);
    let outputs =
        fuse_compiler::interp::run_bounded(&programs[0].graph, &inputs, fuse_compiler::interp::Stores::Results)
            .unwrap();
    assert!(outputs[0].data.iter().all(|output| output.exact == 0.0), "a sum over no keys is 0");
}

#[test]
fn masks() {
    let function = |name: &str, parameters: &str, condition: &str| {
        format!(
            "pub fn {name}(q: f32[B, M, 16], k: f32[B, N, 16], v: f32[B, N, 16]{parameters}) -> f32[B, M, 16] {{
                let s = matmul(q, transpose(k)) * 0.25;
                matmul(softmax(select({condition}, s, -inf)), v)
            }}"
        )
    };
    let row_and_key = "index(s, axis = 1)";
    let source = [
        function("causal", "", "index(s, axis = 2) <= index(s, axis = 1)"),
        function("end_aligned", "", "index(s, axis = 2) - (N as i32) <= index(s, axis = 1) - (M as i32)"),
        function(
            "window",
            "",
            "index(s, axis = 2) <= index(s, axis = 1) && index(s, axis = 2) > index(s, axis = 1) - 19",
        ),
        function("lengths", ", n: i32[B, 1, 1]", "index(s, axis = 2) < n"),
        function(
            "causal_lengths",
            ", n: i32[B, 1, 1]",
            &format!("!(index(s, axis = 2) >= n * 4 || {row_and_key} < index(s, axis = 2))"),
        ),
        function("shifted", ", w: i32", "index(s, axis = 2) < index(s, axis = 1) + w"),
        function("backwards", "", "index(s, axis = 2) + index(s, axis = 1) < 60"),
        function("diagonal", "", "index(s, axis = 2) == index(s, axis = 1)"),
        function("stored", ", m: bool[M, N]", "m"),
        function("even", "", "index(s, axis = 2) % 2 == 0"),
    ]
    .join("\n");
    check_sharing(4, "masks", &source, MASKED);
}

/// Key limits must not be derived as if integers did not wrap around.
#[test]
fn comparisons_that_wrap_around() {
    let source = "pub fn f(q: f32[M, 8], k: f32[N, 8], v: f32[N, 8], w: i32) -> f32[M, 8] {
        let s = matmul(q, transpose(k));
        matmul(softmax(select(index(s, axis = 1) < index(s, axis = 0) + w, s, -inf)), v)
    }";
    let mut sweep = Sweep::new("wrapping");
    for program in compile(source) {
        for w in [i32::MAX, i32::MAX - 3, i32::MIN, 1 << 30] {
            let mut inputs = data::inputs(&program.graph, &[("M", 40), ("N", 70)], 5);
            inputs[3] = Value { dtype: DType::I32, shape: vec![], data: vec![w.into()] };
            sweep.run(&program, &inputs);
        }
    }
    sweep.finish();
}

#[test]
fn biases_of_every_broadcast() {
    let shapes = ["B, M, N", "1, M, N", "B, 1, N", "B, M, 1", "M, N", "N", "1, 1"];
    let function = |(i, shape): (usize, &&str)| {
        format!(
            "pub fn f{i}(q: f32[B, M, 8], k: f32[B, N, 8], v: f32[B, N, 8], bias: f32[{shape}]) -> f32[B, M, 8] {{
                matmul(softmax(matmul(q, transpose(k)) * 0.25 + bias), v)
            }}"
        )
    };
    let source: Vec<String> = shapes.iter().enumerate().map(function).collect();
    check_sharing(4, "bias", &source.join("\n"), MASKED);
}

#[test]
fn functions_of_scores() {
    let source = "
        pub fn soft_capped(q: f32[B, M, 8], k: f32[B, N, 8], v: f32[B, N, 8], cap: f32) -> f32[B, M, 8] {
            let c = abs(cap) + 1.0;
            matmul(softmax(c * tanh(matmul(q, transpose(k)) / c)), v)
        }
        pub fn linear_bias(q: f32[B, M, 8], k: f32[B, N, 8], v: f32[B, N, 8], slope: f32[B, 1, 1]) -> f32[B, M, 8] {
            let s = matmul(q, transpose(k)) * 0.25;
            let distance = (index(s, axis = 2) - index(s, axis = 1)) as f32;
            matmul(softmax(s + distance * slope * 0.01), v)
        }
        pub fn buckets(q: f32[B, M, 8], k: f32[B, N, 8], v: f32[B, N, 8], table: f32[R]) -> f32[B, M, 8] {
            let s = matmul(q, transpose(k)) * 0.25;
            matmul(softmax(s + gather(table, index(s, axis = 2) - index(s, axis = 1) + 3)), v)
        }
        pub fn by_hand(q: f32[B, M, 8], k: f32[B, N, 8], v: f32[B, N, 8]) -> f32[B, M, 8] {
            let s = matmul(q, transpose(k));
            let e = exp(s - max(s, axis = 2, keepdim = true));
            matmul(e / sum(e, axis = 2, keepdim = true), v)
        }";
    let sizes: Vec<Vec<(&str, usize)>> = MASKED.iter().map(|dims| [*dims, &[("R", 12)]].concat()).collect();
    let sizes: Vec<Dims<'_>> = sizes.iter().map(Vec::as_slice).collect();
    check_sharing(2, "functions of scores", source, &sizes);
}

#[test]
fn layouts_and_work_around() {
    let source = "
        pub fn grouped(q: f32[B, H, G, M, 8], k: f32[B, H, 1, N, 8], v: f32[B, H, 1, N, 8]) -> f32[B, H, G, M, 8] {
            matmul(softmax(matmul(q, transpose(k)) * 0.25), v)
        }
        pub fn heads(q: f32[B, M, H, 8], k: f32[B, N, H, 8], v: f32[B, N, H, 8]) -> f32[B, M, H, 8] {
            let s = matmul(permute(q, [0, 2, 1, 3]), permute(k, [0, 2, 3, 1])) * 0.25;
            permute(matmul(softmax(s), permute(v, [0, 2, 1, 3])), [0, 2, 1, 3])
        }
        pub fn split_heads(q: f32[B, M, 24], k: f32[B, N, 24], v: f32[B, N, 24]) -> f32[B, 3, M, 8] {
            let q = permute(reshape(q, [B, M, 3, 8]), [0, 2, 1, 3]);
            let k = permute(reshape(k, [B, N, 3, 8]), [0, 2, 3, 1]);
            matmul(softmax(matmul(q, k)), permute(reshape(v, [B, N, 3, 8]), [0, 2, 1, 3]))
        }
        pub fn transposed(q: f32[B, 8, M], k: f32[B, 8, N], v: f32[B, 8, N]) -> f32[B, M, 8] {
            matmul(softmax(matmul(transpose(q), k)), transpose(v))
        }
        pub fn prologues(q: f32[M, 8], k: f32[N, 8], v: f32[N, 8], s: f32[8], t: f32[N, 1]) -> f32[M, 8] {
            matmul(softmax(matmul(q * s, transpose(k * 0.25))), relu(v) * t)
        }
        pub fn epilogues(q: f32[B, M, 8], k: f32[B, N, 8], v: f32[B, N, 8], r: f32[M, 8], g: f32[8]) -> f32[B, M, 8] {
            sigmoid(matmul(softmax(matmul(q, transpose(k)) * 0.25), v) * g) + r
        }";
    let sizes: &[Dims<'_>] = &[
        &[("B", 2), ("H", 2), ("G", 3), ("M", 5), ("N", 7)],
        &[("B", 1), ("H", 3), ("G", 2), ("M", 1), ("N", 136)],
        &[("B", 1), ("H", 1), ("G", 2), ("M", 68), ("N", 40)],
    ];
    check_sharing(3, "layouts", source, sizes);
}

#[test]
fn many_keys() {
    let sizes: &[Dims<'_>] =
        &[&[("B", 1), ("M", 1), ("N", 1031)], &[("B", 2), ("M", 4), ("N", 640)], &[("B", 1), ("M", 37), ("N", 769)]];
    let source = "
        pub fn whole(q: f32[B, M, 32], k: f32[B, N, 32], v: f32[B, N, 32]) -> f32[B, M, 32] {
            matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
        }
        pub fn seen(q: f32[B, M, 32], k: f32[B, N, 32], v: f32[B, N, 32], n: i32[B, 1, 1]) -> f32[B, M, 32] {
            let s = matmul(q, transpose(k)) * 0.125;
            let key = index(s, axis = 2);
            matmul(softmax(select(key < n * 50 + 400 && key >= 100 + n, s, -inf)), v)
        }";
    check("many keys", source, sizes);
}

/// Scores of any size, infinities and NaN.
#[test]
fn special_numbers() {
    let source = "pub fn f(q: f32[M, 4], k: f32[N, 4], v: f32[N, 4]) -> f32[M, 4] {
        matmul(softmax(matmul(q, transpose(k))), v)
    }
    pub fn masked(q: f32[M, 4], k: f32[N, 4], v: f32[N, 4], m: bool[M, N]) -> f32[M, 4] {
        matmul(softmax(select(m, matmul(q, transpose(k)), -inf)), v)
    }
    pub fn lowest(q: f32[M, 4], k: f32[N, 4], v: f32[N, 4], m: bool[M, N]) -> f32[M, 4] {
        matmul(softmax(select(m, matmul(q, transpose(k)), -3.4028234e38)), v)
    }";
    let mut sweep = Sweep::new("special numbers").with_loose_numbers();
    for program in compile(source) {
        assert_one_attention(&program);
        for (which, special) in [1e-30, 300.0, 1e4, f64::INFINITY, f64::NEG_INFINITY, f64::NAN].into_iter().enumerate()
        {
            for place in 0..3 {
                let mut inputs = data::inputs(&program.graph, &[("M", 9), ("N", 77)], which as u64);
                inputs[place].data[4 * which] = special;
                if program.graph.params.len() == 4 {
                    inputs[3].data[2 * 77..3 * 77].fill(0.0);
                }
                sweep.run(&program, &inputs);
            }
        }
    }
    sweep.finish();
}

type Shapes<'a> = &'a [(&'a str, &'a [usize])];

/// A case says whether it must take a single kernel.
fn check_expression(source: &str, cases: &[(bool, Shapes<'_>)]) {
    let mut sweep = Sweep::new(source);
    let (graph, dtypes) = expression(source).expect("a correct expression").swap_remove(0);
    let program = Program::new(graph, dtypes).expect("it compiles");
    assert_one_attention(&program);
    for (seed, (one, shapes)) in cases.iter().enumerate() {
        let mut numbers = Numbers::new(seed as u64);
        let shape = |name: &str| shapes.iter().find(|(other, _)| *other == name).expect("a shape").1;
        let params = program.graph.params.iter();
        let inputs: Vec<Value> =
            params.map(|param| data::ordinary(param.ty.dtype, shape(&param.name), &mut numbers)).collect();
        for device in devices() {
            let plans = Arguments::new(device, &program, &inputs).and_then(|x| x.plans(&program)).expect("plans");
            assert_eq!(plans[0] == 0, *one, "{source} at {shapes:?} has plans {plans:?}");
        }
        if *one {
            sweep.run_plan(&program, &inputs, 0);
        } else {
            sweep.run(&program, &inputs);
        }
    }
    sweep.finish();
}

/// Values, scales or biases that broadcast the scores, and large heads, take more kernels.
#[test]
fn expressions_of_any_rank() {
    let scaled = "matmul(softmax(matmul(q, transpose(k)) * s), v)";
    check_expression(
        scaled,
        &[
            (true, &[("q", &[5, 8]), ("k", &[7, 8]), ("s", &[]), ("v", &[7, 3])]),
            (true, &[("q", &[2, 33, 16]), ("k", &[2, 70, 16]), ("s", &[1]), ("v", &[2, 70, 16])]),
            (true, &[("q", &[2, 3, 4, 8]), ("k", &[2, 3, 65, 8]), ("s", &[3, 1, 1]), ("v", &[2, 3, 65, 8])]),
            (true, &[("q", &[2, 3, 4, 8]), ("k", &[1, 3, 6, 8]), ("s", &[4, 6]), ("v", &[6, 5])]),
            (true, &[("q", &[4, 8]), ("k", &[2, 6, 8]), ("s", &[]), ("v", &[2, 6, 5])]),
            (false, &[("q", &[4, 8]), ("k", &[6, 8]), ("s", &[]), ("v", &[2, 6, 5])]),
            (false, &[("q", &[4, 8]), ("k", &[6, 8]), ("s", &[2, 1, 1]), ("v", &[2, 6, 5])]),
            (false, &[("q", &[1, 8]), ("k", &[6, 8]), ("s", &[3, 6]), ("v", &[6, 5])]),
            (false, &[("q", &[2, 257]), ("k", &[6, 257]), ("s", &[]), ("v", &[6, 5])]),
        ],
    );
}

#[test]
fn expressions_with_masks() {
    let causal = "{
        let s = matmul(q, transpose(k)) * 0.25;
        matmul(softmax(select(index(s, axis = -1) <= index(s, axis = -2), s, -inf)), v)
    }";
    let biased = "{
        let s = matmul(q, transpose(k)) * 0.25 + b;
        matmul(softmax(select(index(s, axis = -1) <= index(s, axis = -2) + 2, s, -inf)), v)
    }";
    let plain: [(bool, Shapes<'_>); 4] = [
        (true, &[("q", &[5, 8]), ("k", &[7, 8]), ("v", &[7, 3])]),
        (true, &[("q", &[2, 70, 8]), ("k", &[2, 70, 8]), ("v", &[2, 70, 8])]),
        (true, &[("q", &[2, 3, 9, 8]), ("k", &[2, 1, 65, 8]), ("v", &[2, 1, 65, 8])]),
        (false, &[("q", &[9, 8]), ("k", &[9, 8]), ("v", &[3, 9, 8])]),
    ];
    check_expression(causal, &plain);
    let biases: [&[usize]; 4] = [&[], &[2, 1, 70], &[3, 9, 1], &[3, 9, 9]];
    let cases = plain.iter().zip(biases).map(|((one, shapes), b)| (*one, [*shapes, &[("b", b)]].concat()));
    let cases: Vec<_> = cases.collect();
    check_expression(biased, &cases.iter().map(|(one, shapes)| (*one, shapes.as_slice())).collect::<Vec<_>>());
}
