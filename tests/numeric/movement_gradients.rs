//! Movements of many pieces, and gradients of movements, against the interpreter at awkward sizes.

use fuse_test_support::{Sweep, compile, data};

#[test]
fn gradients_of_movements() {
    let source = "
        pub fn rolled(x: f32[N, M], dy: f32[N, M], s: i32) -> f32[N, M] {
            grad(tanh(roll(roll(x, axis = 0, shift = s), axis = 1, shift = -3)), wrt = x, cotangent = dy)
        }
        pub fn repeated(x: f32[N, M], dy: f32[N * T, M]) -> f32[N, M] {
            grad(tanh(repeat(x, axis = 0, times = T)), wrt = x, cotangent = dy * dy)
        }
        pub fn tiled(x: f16[N, M], dy: f16[N, M * T]) -> f16[N, M] {
            grad(tile(x, axis = 1, times = T) * dy, wrt = x, cotangent = dy)
        }
        pub fn upsampled(x: f32[N, M, T], w: f32[T, 2]) -> f32[N, M, T] {
            let y = matmul(repeat(repeat(x, axis = 0, times = 2), axis = 1, times = 2), w);
            relu(grad(sum(y * y), wrt = x)) * x
        }
        pub fn windows(x: f32[N * 2, M * 3, T], w: f32[T, T]) -> f32[N * 2, M * 3, T] {
            let moved = roll(roll(x, axis = 0, shift = -1), axis = 1, shift = -1);
            let cut = permute(reshape(moved, [N, 2, M, 3, T]), [0, 2, 1, 3, 4]);
            let y = matmul(reshape(cut, [N * M, 6, T]), w);
            grad(sum(y * y), wrt = x)
        }";
    let sizes: [&[(&str, usize)]; 5] = [
        &[("N", 1), ("M", 1), ("T", 1)],
        &[("N", 7), ("M", 13), ("T", 3)],
        &[("N", 2), ("M", 131), ("T", 5)],
        &[("N", 0), ("M", 3), ("T", 2)],
        &[("N", 67), ("M", 2), ("T", 0)],
    ];
    let mut sweep = Sweep::new("gradients of movements").sharing_variants(3);
    for program in compile(source) {
        for (seed, dims) in sizes.iter().enumerate() {
            sweep.run(&program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}

#[test]
fn values_of_many_pieces() {
    let all = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<Vec<_>>().join(", ");
    let (parameters, names) = (all(40, &|i| format!("x{i}: f32[N, M]")), all(40, &|i| format!("x{i}")));
    let slices =
        all(70, &|i| format!("slice(y, axis = 1, start = {}, end = {})", (i * 7) % 31, (i * 7) % 31 + 1 + i % 3));
    let columns = (0..70).map(|i| 1 + i % 3).sum::<usize>();
    let source = format!(
        "pub fn tensors({parameters}) -> f32[N * 40, M] {{ relu(concat([{names}], axis = 0)) }}
         pub fn of_tensors({parameters}, dy: f32[N, 40, M]) -> (f32[N, M], f32[N, M]) {{
             grad(tanh(stack([{names}], axis = 1)), wrt = [x3, x39], cotangent = dy)
         }}
         pub fn slices(x: f32[N, 33], dy: f32[N, {columns}]) -> (f32[N, {columns}], f32[N, 33]) {{
             let y = exp(x); let z = concat([{slices}], axis = 1); (z, grad(z, wrt = x, cotangent = dy))
         }}"
    );
    let mut sweep = Sweep::new("values of many pieces").sharing_variants(3);
    for program in compile(&source) {
        for (seed, dims) in [[("N", 1), ("M", 1)], [("N", 7), ("M", 13)], [("N", 3), ("M", 0)]].iter().enumerate() {
            sweep.run(&program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}
