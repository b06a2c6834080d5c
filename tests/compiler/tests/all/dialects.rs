//! Shaders in Chromium's dialect, which naga does not read: translated back, they equal naga's.

use fuse_artifact::{Function, Pass};
use fuse_compiler::{
    compile::{Options, compile as compile_graph},
    kernel::print::Dialect,
};
use fuse_test_support::compile;

/// Translates back by the parts between commas, without the printer's code.
fn in_naga(text: &str) -> String {
    let [naga, chromium] = [Dialect::Naga, Dialect::Chromium].map(Dialect::matrix_extension);
    let mut text = text.replace(chromium, naga).replace("subgroupMatrixMultiplyAccumulate", "coopMultiplyAdd");
    for size in [8, 16] {
        for (letter, side) in [('A', "left"), ('B', "right"), ('C', "result")] {
            for dtype in ["f16", "f32"] {
                let ty = format!("subgroup_matrix_{side}<{dtype}, {size}, {size}>");
                text = text.replace(&ty, &format!("coop_mat{size}x{size}<{dtype}, {letter}>"));
            }
        }
    }
    let line = |line: &str| -> String {
        for (suffix, order) in [("T", "row_major"), ("", "col_major")] {
            if let Some((before, call)) = line.split_once("subgroupMatrixLoad<") {
                let Some((ty, arguments)) = call.split_once(&format!(", {order}>(&")) else { continue };
                let parts: Vec<&str> = arguments.split(", ").collect();
                let [array, index, stride] = parts[..] else { panic!("a load of three: {line}") };
                return format!("{before}coopLoad{suffix}<{ty}>(&{array}[{index}], {stride}");
            }
            if let Some((before, arguments)) = line.split_once(&format!("subgroupMatrixStore<{order}>(&")) {
                let parts: Vec<&str> = arguments.split(", ").collect();
                let [array, index, matrix, stride] = parts[..] else { panic!("a store of four: {line}") };
                return format!("{before}coopStore{suffix}({matrix}, &{array}[{index}], {stride}");
            }
        }
        line.to_owned()
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

fn passes(function: &Function) -> Vec<&Pass> {
    let plans = std::iter::once(function).chain(function.alternatives.iter());
    let variants = plans.flat_map(|plan| plan.kernels.iter()).flat_map(|kernel| kernel.variants.iter());
    variants.flat_map(|variant| variant.passes.iter()).collect()
}

#[test]
fn chromium_has_the_same_matrices() {
    let source = "
        pub fn products(x: f16[M, K], w: f16[K, N], v: f16[K, N]) -> (f16[M, N], f16[M, N]) {
            (matmul(x, w), relu(matmul(x, v)))
        }
        pub fn turned(x: f16[B, K, M], w: f16[B, N, K]) -> f16[B, M, N] { matmul(transpose(x), transpose(w)) }
        pub fn attend(q: f16[B, M, 64], k: f16[B, N, 64], v: f16[B, N, 64]) -> f16[B, M, 64] {
            matmul(softmax(matmul(q, transpose(k))), v)
        }";
    let options = Options { validate: false, dialect: Dialect::Chromium, ..Options::default() };
    let mut with_matrices = 0;
    for program in compile(source) {
        let chromium = compile_graph(&program.graph, &options).unwrap().function;
        let (naga, chromium) = (passes(program.function), passes(&chromium));
        assert_eq!(naga.len(), chromium.len());
        for (naga, chromium) in naga.iter().zip(chromium) {
            let text = chromium.wgsl.text();
            assert!(!text.contains("coop"), "{text}");
            assert_eq!(in_naga(&text), naga.wgsl.text());
            with_matrices += usize::from(text.contains("subgroupMatrixLoad"));
        }
    }
    assert!(with_matrices >= 20, "only {with_matrices} shaders with matrices");
}
