//! Programs of every kernel shape, dtype and operand access against the interpreter's ranges.

use fuse_artifact::{DType, Function};
use fuse_gpu::Device;
use fuse_test_support::{
    Directives, Program, Sweep, Value,
    adapter::Arguments,
    compile, corpus, data,
    patterns::{self, Case},
    thorough,
};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::device;

/// Programs run with the runtime's choice and one in this many variants: software adapters take about a second per
/// large one. `--thorough` runs all.
const SHARED_AMONG: usize = 16;

/// Extents of `N`: empty, odd, and more than a workgroup of vectors.
const EXTENTS: &[usize] = &[0, 5, 257];

/// One in this many operation programs runs, different ones for each access. `--thorough` runs all.
const EVERY: usize = 4;

/// Runs a program; a device without its features must refuse it.
async fn run(sweep: &mut Sweep, device: &Device, program: &Program, inputs: &[Value]) {
    if runs_on(program, device) {
        sweep.run_on(device, program, inputs).await;
    } else {
        let arguments = Arguments::new(device, program, inputs).expect("inputs need no features");
        let refusal = match arguments.launch(program, None).await {
            Ok(results) => return assert!(results.iter().all(|result| result.data.is_empty()), "{results:?}"),
            Err(refusal) => refusal,
        };
        assert!(refusal.contains("needs 16-bit floats (`shader-f16`), which adapter"), "{refusal}");
    }
}

fn runs_on(program: &Program, device: &Device) -> bool {
    let f16 = device.info().features.f16;
    let has = |function: &Function| {
        function.kernels.iter().all(|kernel| kernel.variants.iter().any(|variant| f16 || !variant.features.f16))
    };
    program.plans().any(has)
}

async fn run_cases(cases: Vec<Case>) {
    let device = device().await;
    let (mut runs, every) = (0, if thorough() { 1 } else { EVERY });
    for (number, Case { what, source }) in cases.into_iter().enumerate() {
        let mut sweep = Sweep::new(&what).sharing_variants(SHARED_AMONG);
        let before = runs;
        for (i, program) in compile(&source).iter().enumerate().filter(|(i, _)| (i + number) % every == 0) {
            for (seed, &n) in EXTENTS.iter().enumerate() {
                run(&mut sweep, &device, program, &data::inputs(&program.graph, &[("N", n)], (seed + i) as u64)).await;
                runs += usize::from(runs_on(program, &device));
            }
        }
        if runs > before {
            sweep.finish();
        }
    }
    assert!(runs > 0 || !device.info().features.f16, "nothing was run");
}

/// Runs a part of the file tests; parts narrow down failures.
async fn run_files(part: usize, of: usize) {
    let device = device().await;
    for (name, source) in corpus::FILES.iter().skip(part).step_by(of) {
        let directives = Directives::parse(source).expect("a file test");
        let sweep = Sweep::new(name).sharing_variants(SHARED_AMONG);
        let mut sweep = if directives.wide_ranges { sweep.with_wide_ranges() } else { sweep };
        let programs = compile(source);
        let launches = directives.launches(&programs);
        let runs = launches.iter().filter(|(program, _)| runs_on(program, &device)).count();
        for (program, inputs) in &launches {
            run(&mut sweep, &device, program, inputs).await;
        }
        if runs > 0 {
            sweep.finish();
        }
    }
}

#[wasm_bindgen_test]
async fn file_tests_1() {
    run_files(0, 4).await;
}

#[wasm_bindgen_test]
async fn file_tests_2() {
    run_files(1, 4).await;
}

#[wasm_bindgen_test]
async fn file_tests_3() {
    run_files(2, 4).await;
}

#[wasm_bindgen_test]
async fn file_tests_4() {
    run_files(3, 4).await;
}

async fn run_operations(dtype: DType) {
    run_cases([patterns::unary(dtype), patterns::binary(dtype), patterns::comparisons(dtype)].concat()).await;
}

#[wasm_bindgen_test]
async fn operations_of_f32() {
    run_operations(DType::F32).await;
}

#[wasm_bindgen_test]
async fn operations_of_f16() {
    run_operations(DType::F16).await;
}

#[wasm_bindgen_test]
async fn operations_of_integers_and_bool() {
    for dtype in [DType::I32, DType::U32, DType::Bool] {
        run_operations(dtype).await;
    }
}

#[wasm_bindgen_test]
async fn literals_selections_and_coordinates() {
    run_cases(patterns::literals_on_either_side()).await;
    run_cases(patterns::select_with_every_pattern().into_iter().step_by(EVERY).collect()).await;
    run_cases(patterns::index_along_every_axis()).await;
}

#[wasm_bindgen_test]
async fn casts_between_all_dtypes() {
    run_cases(patterns::casts_between_all_dtypes()).await;
}

const PRODUCTS: &[[(&str, usize); 3]] = &[
    [("M", 7), ("K", 13), ("N", 11)],
    [("M", 64), ("K", 32), ("N", 64)],
    [("M", 1), ("K", 129), ("N", 33)],
    [("M", 3), ("K", 0), ("N", 5)],
    [("M", 0), ("K", 4), ("N", 5)],
];

#[wasm_bindgen_test]
async fn products_and_reductions_of_every_dtype() {
    let device = device().await;
    for dtype in [DType::F32, DType::F16, DType::I32] {
        let source = format!(
            "pub fn product(x: {dtype}[M, K], w: {dtype}[K, N], b: {dtype}[N]) -> {dtype}[M, N] {{ relu(matmul(x, w) + b) }}
             pub fn transposed(x: {dtype}[M, K], w: {dtype}[N, K]) -> {dtype}[M, N] {{ matmul(x, transpose(w)) }}
             pub fn rows(x: {dtype}[M, K]) -> ({dtype}[M], {dtype}[M]) {{ (sum(x, axis = 1), max(x, axis = 1)) }}
             pub fn columns(x: {dtype}[M, K]) -> {dtype}[K] {{ sum(x, axis = 0) }}"
        );
        let mut sweep = Sweep::new(dtype.name()).sharing_variants(SHARED_AMONG);
        let mut runs = 0;
        for program in &compile(&source) {
            for (seed, dims) in PRODUCTS.iter().enumerate() {
                if program.graph.name == "rows" && dims[1].1 == 0 {
                    continue;
                }
                run(&mut sweep, &device, program, &data::inputs(&program.graph, dims, seed as u64)).await;
                runs += usize::from(runs_on(program, &device));
            }
        }
        if runs > 0 {
            sweep.finish();
        }
    }
}
