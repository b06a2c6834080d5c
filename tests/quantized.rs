//! Quantized operands against the interpreter's ranges, on the installed adapters and in every variant that may run.

use fuse_artifact::Packing;
use fuse_test_support::{Sweep, compile, data};

/// Awkward and even sizes; groups of 32 where 32 divides the depth.
const SIZES: &[[(&str, usize); 3]] = &[
    [("M", 1), ("N", 1), ("K", 1)],
    [("M", 1), ("N", 36), ("K", 96)],
    [("M", 1), ("N", 260), ("K", 512)],
    [("M", 5), ("N", 7), ("K", 3)],
    [("M", 17), ("N", 64), ("K", 128)],
    [("M", 65), ("N", 68), ("K", 37)],
    [("M", 33), ("N", 132), ("K", 192)],
    [("M", 3), ("N", 8), ("K", 0)],
    [("M", 3), ("N", 0), ("K", 32)],
];

fn check(what: &str, source: &str, sizes: &[[(&str, usize); 3]], batch: &[(&str, usize)], share: usize) {
    let mut sweep = Sweep::new(what).sharing_variants(share);
    for program in compile(source) {
        for (seed, dims) in sizes.iter().enumerate() {
            let dims = [dims.as_slice(), batch].concat();
            sweep.run(&program, &data::inputs(&program.graph, &dims, seed as u64));
        }
    }
    sweep.finish();
}

#[test]
fn layers_of_every_width() {
    for packing in Packing::ALL {
        let q = packing.name();
        let source = format!(
            "pub fn layer(x: f32[M, K], w: {q}[K, N], b: f32[N]) -> f32[M, N] {{ gelu(matmul(x, w) + b) }}
            pub fn transposed(x: f32[M, K], w: {q}[N, K], b: f32[N]) -> f32[M, N] {{ relu(matmul(x, transpose(w)) + b) }}"
        );
        check(&format!("layer {q}"), &source, SIZES, &[], 2);
    }
}
