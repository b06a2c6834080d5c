//! Workgroup memory stays within the limit of large adapters.

use fuse_artifact::Function;
use fuse_compiler::{
    compile::{Options, compile},
    front,
};

const LARGE: u32 = 48 * 1024;

fn functions(source: &str) -> Vec<Function> {
    let items = front::items(source.parse().expect("Rust tokens"));
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let instances = items.functions.into_iter().flat_map(|function| function.instances);
    instances
        .map(|i| compile(&i.graph, &Options::default()).unwrap_or_else(|error| panic!("{error}")).function)
        .collect()
}

fn largest(function: &Function) -> Vec<u32> {
    let all = std::iter::once(function).chain(function.alternatives.iter());
    let of_kernels = |function: &Function| {
        let variants = function.kernels.iter().flat_map(|kernel| kernel.variants.iter());
        variants.flat_map(|variant| variant.passes.iter()).map(|pass| pass.workgroup_bytes).max()
    };
    all.filter_map(of_kernels).collect()
}

/// Language model heads, and other row reductions beside a product.
#[test]
fn rows_that_are_reduced_leave_room_for_products() {
    let mut source = String::new();
    for (i, reduction) in ["argmax", "sum"].into_iter().enumerate() {
        let result = if reduction.starts_with("arg") { "i32" } else { "f32" };
        for columns in ["V", "100", "256", "512"] {
            source.push_str(&format!(
                "pub fn head{i}_{columns}(x: f32[T, K], g: f32[K], table: f32[K, {columns}]) -> {result}[T] {{
                    {reduction}(matmul(rms_norm(x, g, eps = 1e-5), table), axis = 1)
                }}
                pub fn most{i}_{columns}(x: f32[T, K], table: f32[K, {columns}]) -> {result}[T] {{
                    let largest = argmax(x, axis = 1, keepdim = true) as f32;
                    let least = argmin(x, axis = 1, keepdim = true) as f32;
                    {reduction}(matmul(x * largest - least, table), axis = 1)
                }}
                "
            ));
        }
    }
    for function in functions(&source) {
        for bytes in largest(&function) {
            assert!(bytes <= LARGE, "{}: {bytes} B", function.name);
        }
    }
}

#[test]
fn products_side_by_side_leave_room_for_reduced_rows() {
    for count in 1..=8 {
        let weights: String = (0..count).map(|i| format!("w{i}: f32[K, N], ")).collect();
        let products: Vec<String> = (0..count).map(|i| format!("matmul(y, w{i})")).collect();
        let source = format!(
            "pub fn f(x: f32[M, K], {weights}) -> f32[M, N] {{
                let largest = argmax(x, axis = 1, keepdim = true) as f32;
                let y = x * largest - (argmin(x, axis = 1, keepdim = true) as f32);
                {}
            }}",
            products.join(" + ")
        );
        for function in functions(&source) {
            for bytes in largest(&function) {
                assert!(bytes <= LARGE, "{count} products: {bytes} B");
            }
        }
    }
}
