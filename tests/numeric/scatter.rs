//! Gradients of gathers (scatter-adds): every legal variant against the interpreter, at awkward sizes and ids.

use fuse_artifact::DType;
use fuse_compiler::interp::Value;
use fuse_test_support::{Numbers, Program, Sweep, adapter::Arguments, compile, data, devices, wait};

/// Ids into a table of this many rows.
type Ids = fn(usize, u64, &mut Numbers) -> f64;

/// Ordinary, few distinct, a single one, and beyond the ends, which clamp.
const IDS: [Ids; 4] = [
    |_, rows, numbers| numbers.below(rows.max(1)) as f64,
    |i, rows, _| ((i * i) as u64 % rows.clamp(1, 3)) as f64,
    |_, rows, _| rows.saturating_sub(1) as f64,
    |_, rows, numbers| numbers.below(3 * rows + 4) as f64 - rows as f64,
];

fn inputs(program: &Program, dims: &[(&str, usize)], ids: Ids, seed: u64) -> Vec<Value> {
    let mut inputs = data::inputs(&program.graph, dims, seed);
    let mut numbers = Numbers::new(seed + 1);
    let rows = dims.iter().find(|(name, _)| *name == "V").map_or(0, |(_, rows)| *rows as u64);
    for input in inputs.iter_mut().filter(|input| input.dtype == DType::I32) {
        input.data.iter_mut().enumerate().for_each(|(i, id)| *id = ids(i, rows, &mut numbers));
    }
    inputs
}

fn check(what: &str, source: &str, sizes: &[&[(&str, usize)]]) {
    let mut sweep = Sweep::new(what).sharing_variants(3);
    for program in compile(source) {
        let variants = program.function.kernels.iter().flat_map(|kernel| kernel.variants.iter());
        assert!(variants.into_iter().any(|variant| variant.name.starts_with("scatter")), "{}", program.function.plan);
        for (seed, dims) in sizes.iter().enumerate() {
            for ids in IDS {
                sweep.run(&program, &inputs(&program, dims, ids, seed as u64));
            }
        }
    }
    sweep.finish();
}

#[test]
fn gradients_of_embeddings() {
    let source = "
        pub fn of_table(table: f32[V, D], ids: i32[N], dy: f32[N, D]) -> f32[V, D] {
            grad(embedding(table, ids), wrt = table, cotangent = dy)
        }
        pub fn in_batches(table: f32[V, D], ids: i32[3, N], dy: f32[3, N, D], rate: f32) -> f32[V, D] {
            table - rate * grad(embedding(table, ids), wrt = table, cotangent = dy)
        }
        pub fn half(table: f16[V, D], ids: i32[N], dy: f16[N, D]) -> f16[V, D] {
            grad(gather(table, ids) * 0.5, wrt = table, cotangent = dy)
        }";
    let sizes: [&[(&str, usize)]; 8] = [
        &[("V", 1), ("D", 1), ("N", 1)],
        &[("V", 7), ("D", 4), ("N", 0)],
        &[("V", 0), ("D", 4), ("N", 0)],
        &[("V", 5), ("D", 0), ("N", 3)],
        &[("V", 37), ("D", 13), ("N", 131)],
        &[("V", 300), ("D", 8), ("N", 67)],
        &[("V", 3), ("D", 1028), ("N", 33)],
        &[("V", 2), ("D", 4), ("N", 4099)],
    ];
    check("gradients of embeddings", source, &sizes);
}

#[test]
fn gradients_along_other_axes() {
    let source = "
        pub fn columns(x: f32[D, V], ids: i32[N], dy: f32[D, N]) -> f32[D, V] {
            grad(gather(x, ids, axis = 1), wrt = x, cotangent = dy)
        }
        pub fn middle(x: f32[2, V, D], ids: i32[N], dy: f32[2, N, D]) -> f32[2, V, D] {
            grad(gather(x, ids, axis = 1), wrt = x, cotangent = dy)
        }
        pub fn twice(x: f32[V, D], ids: i32[N], dy: f32[N, D]) -> f32[V, D] {
            grad(gather(x, ids) + exp(gather(x, 4 - ids)), wrt = x, cotangent = dy)
        }
        pub fn of_six(x: f32[2, V, 1, D, 1, 3], ids: i32[N], dy: f32[2, N, 1, D, 1, 3]) -> f32[2, V, 1, D, 1, 3] {
            grad(gather(x, ids, axis = 1), wrt = x, cotangent = dy)
        }";
    let sizes: [&[(&str, usize)]; 4] = [
        &[("V", 5), ("D", 3), ("N", 4)],
        &[("V", 64), ("D", 36), ("N", 40)],
        &[("V", 131), ("D", 4), ("N", 7)],
        &[("V", 1), ("D", 8), ("N", 66)],
    ];
    check("along other axes", source, &sizes);
}

/// Sums far smaller than their terms, with the same bits each time.
#[test]
fn outliers_that_cancel_have_the_same_bits_every_time() {
    let source = "pub fn of_table(table: f32[V, D], ids: i32[N], dy: f32[N, D]) -> f32[V, D] {
        grad(embedding(table, ids), wrt = table, cotangent = dy)
    }";
    let program = &compile(source)[0];
    let mut sweep = Sweep::new("outliers").with_loose_numbers();
    let dims = [("V", 11), ("D", 12), ("N", 900)];
    for ids in IDS {
        let mut inputs = inputs(program, &dims, ids, 5);
        inputs[2] = data::cancelling(DType::F32, &[900, 12], 1e6, &mut Numbers::new(9));
        sweep.run(program, &inputs);
        for device in devices() {
            let arguments = Arguments::new(device, program, &inputs).unwrap();
            for choice in arguments.choices(program).unwrap().iter().filter(|c| c.names[0].starts_with("scatter")) {
                let run = || wait(arguments.launch(program, Some(&choice.indices))).unwrap()[0].data.clone();
                let first = run();
                assert!((0..3).all(|_| run() == first), "{choice:?}");
            }
        }
    }
    sweep.finish();
}
