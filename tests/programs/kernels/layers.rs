//! Linear layers, feed-forward blocks, products and element-wise chains against the interpreter.

use fuse_gpu::{Float, Tensor};

use crate::kernels::{check, device, in_both_types, tensor};

in_both_types!(linear_layers, activated_layers, feed_forward_blocks, gates, products, element_wise_chains, dropouts);

fn linear_layers<T: Float + Into<f64>>() {
    let device = device();
    let x = &tensor::<T, 2>(&device, [5, 24], 1);
    let (w, wt) = (&tensor(&device, [24, 7], 2), &tensor(&device, [7, 24], 3));
    let (b, r) = (&tensor(&device, [7], 4), &tensor(&device, [5, 7], 5));
    check!(linear(x, w, b));
    check!(linear_t(x, wt, b));
    check!(linear_relu(x, w, b));
    check!(linear_residual(x, w, b, r));
    check!(linear_residual_relu(x, w, b, r));
}

fn activated_layers<T: Float + Into<f64>>() {
    let device = device();
    let x = &tensor::<T, 2>(&device, [3, 13], 1);
    let (w, b) = (&tensor(&device, [13, 9], 2), &tensor(&device, [9], 4));
    check!(linear_gelu(x, w, b));
    check!(linear_gelu_tanh(x, w, b));
    check!(linear_silu(x, w, b));
    check!(linear_sigmoid(x, w, b));
    check!(linear_tanh(x, w, b));
    check!(gelu_linear(x, w, b));
}

fn feed_forward_blocks<T: Float + Into<f64>>() {
    let device = device();
    let x = &tensor::<T, 2>(&device, [5, 12], 1);
    let (up, down) = (&tensor(&device, [24, 12], 2), &tensor(&device, [12, 24], 3));
    let (b1, b2) = (&tensor(&device, [24], 4), &tensor(&device, [12], 5));
    check!(feed_forward_t(x, up, b1, down, b2));
    check!(swiglu(x, down, down, up));
    check!(geglu(x, down, down, up));
}

fn gates<T: Float + Into<f64>>() {
    let device = device();
    let (gate, up) = (&tensor::<T, 2>(&device, [3, 7], 1), &tensor(&device, [3, 7], 2));
    check!(swiglu_gate(gate, up));
    check!(geglu_gate(gate, up));
}

/// Sizes that favor the first order, and sizes that favor the second.
fn products<T: Float + Into<f64>>() {
    let device = device();
    for [m, k, l, n] in [[3, 11, 5, 13], [13, 5, 11, 3], [1, 7, 7, 1]] {
        let a: &Tensor<T, 2> = &tensor(&device, [m, k], 1);
        let (b, c) = (&tensor(&device, [k, l], 2), &tensor(&device, [l, n], 3));
        check!(matrix_chain(a, b, c));
    }
}

fn element_wise_chains<T: Float + Into<f64>>() {
    let device = device();
    for n in [1, 131] {
        let a = &tensor::<T, 1>(&device, [n], 1);
        let (b, c) = (&tensor(&device, [n], 2), &tensor(&device, [n], 3));
        check!(add_mul(a, b, c));
        check!(add_relu(a, b));
        check!(mul_add_sigmoid(a, b, c));
    }
}

fn dropouts<T: Float + Into<f64>>() {
    let device = device();
    let x = &tensor::<T, 2>(&device, [7, 19], 1);
    for p in [0.0, 0.25, 0.75] {
        check!(relu_dropout(x, p, 42));
    }
    check!(relu_dropout(x, 0.5, u32::MAX));
}
