//! Reduction kernels: all schedules pass naga, and families match the layout.

use fuse_artifact::Kernel;
use fuse_compiler::{
    compile::{Options, compile},
    front,
};

fn kernels(source: &str) -> Vec<Kernel> {
    let items = front::items(source.parse().expect("Rust tokens"));
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let instances = items.functions.into_iter().flat_map(|function| function.instances);
    let compiled = instances.map(|i| compile(&i.graph, &Options::default()).unwrap_or_else(|error| panic!("{error}")));
    compiled.flat_map(|compiled| compiled.function.kernels.into_owned()).collect()
}

fn names(kernel: &Kernel) -> Vec<&str> {
    kernel.variants.iter().map(|variant| &*variant.name).collect()
}

fn has(kernel: &Kernel, part: &str) -> bool {
    names(kernel).iter().any(|name| name.contains(part))
}

const NUMBERS: [&str; 6] = ["sum", "prod", "max", "min", "argmax", "argmin"];

#[test]
fn every_reduction_of_every_dtype_in_both_directions() {
    for dtype in ["f32", "f16", "i32", "u32", "bool"] {
        let ops: &[&str] = if dtype == "bool" { &["any", "all"] } else { &NUMBERS };
        for op in ops {
            let result = match *op {
                "argmax" | "argmin" => "i32",
                _ => dtype,
            };
            let kernels = kernels(&format!(
                "pub fn rows(x: {dtype}[M, N]) -> {result}[M] {{ {op}(x, axis = 1) }}
                 pub fn columns(x: {dtype}[M, N]) -> {result}[N] {{ {op}(x, axis = 0) }}"
            ));
            assert_eq!(kernels.len(), 2);
            assert!(has(&kernels[0], "row 256 held 4") && !has(&kernels[0], "columns"), "{:?}", names(&kernels[0]));
            assert!(has(&kernels[1], "columns 64x16") && !has(&kernels[1], "held 4 sub"), "{:?}", names(&kernels[1]));
        }
    }
}

#[test]
fn norms_are_one_kernel_of_one_pass_unless_split() {
    let kernels = kernels(
        "pub fn a<T: Float>(x: T[M, N]) -> T[M, N] { softmax(x) }
         pub fn b<T: Float>(x: T[M, N], g: T[N], b: T[N]) -> T[M, N] { gelu(layer_norm(x, g, b)) }
         pub fn c<T: Float>(x: T[M, N], g: T[N]) -> T[M, N] { rms_norm(x, g) }
         pub fn d(x: f32[A, B, C], m: bool[A, C]) -> f32[A, B, C] { softmax(select(unsqueeze(m, axis = 1), x, -1e9)) }
         pub fn e(x: f32[A, B, C]) -> f32[A, B, C] { softmax(x, axis = 1) }",
    );
    assert_eq!(kernels.len(), 8);
    for kernel in &kernels {
        for variant in kernel.variants.iter() {
            // One pass and word per dependent reduction, and one pass for the output.
            let reductions = if kernel.name.starts_with("c.") { 1 } else { 2 };
            let (passes, words) = if variant.name.contains("split") { (reductions + 1, reductions) } else { (1, 0) };
            assert_eq!(variant.passes.len(), passes, "{} {}", kernel.name, variant.name);
            assert_eq!(variant.scratch.per_row as usize, words);
        }
    }
    assert!(has(&kernels[6], "axes 1+1"), "rows of [A, B, C] may merge: {:?}", names(&kernels[6]));
}

#[test]
fn rows_of_known_length_have_the_members_that_fit() {
    let kernels = kernels("pub fn f(x: f32[M, 384]) -> f32[M, 384] { softmax(x) }");
    let held: Vec<&str> = names(&kernels[0]).into_iter().filter(|name| name.contains("held")).collect();
    assert!(held.iter().all(|name| !name.contains("1024") && !name.starts_with("rows 32x8")), "{held:?}");
    assert!(held.contains(&"rows 8x32 held 4 subgroups"), "{held:?}");
}

#[test]
fn coordinates_and_takes_are_values() {
    kernels(
        "pub fn causal(x: f32[B, S, S]) -> f32[B, S, S] { softmax(select(index(axis = 2) <= index(axis = 1), x, -1e9)) }
         pub fn taken(t: f32[V, D], ids: i32[N]) -> f32[N] { sum(embedding(t, ids), axis = 1) }
         pub fn picked(x: f32[M, N], ids: i32[M]) -> f32[M] {
             sum(select(index(axis = 1) == unsqueeze(ids, axis = 1), x, 0.0), axis = 1)
         }
         pub fn dropped(x: f32[M, N], p: f32, seed: u32) -> f32[M, N] { dropout(softmax(x), p, seed) }",
    );
}
