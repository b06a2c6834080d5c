//! Attention and the steps of optimizers against the interpreter.

use fuse_gpu::{Float, Tensor};

use crate::kernels::{check, device, in_both_types, positive, tensor, tensor_of};

in_both_types!(unmasked_attention, masked_attention);

fn unmasked_attention<T: Float + Into<f64>>() {
    let device = device();
    let q = &tensor::<T, 4>(&device, [2, 3, 5, 6], 1);
    let (k, v) = (&tensor(&device, [2, 3, 9, 6], 2), &tensor(&device, [2, 3, 9, 6], 3));
    check!(cross_attention(q, k, v));
    let (k, v) = (&tensor(&device, [2, 3, 5, 6], 2), &tensor(&device, [2, 3, 5, 6], 3));
    check!(self_attention(q, k, v));
    let q = &tensor::<T, 5>(&device, [2, 3, 2, 5, 6], 4);
    check!(grouped_attention(q, k, v));
}

fn masked_attention<T: Float + Into<f64>>() {
    let device = device();
    let q = &tensor::<T, 4>(&device, [2, 3, 7, 6], 1);
    let (k, v) = (&tensor(&device, [2, 3, 7, 6], 2), &tensor(&device, [2, 3, 7, 6], 3));
    check!(causal_attention(q, k, v));
    for window in [1, 3, 100] {
        check!(windowed_attention(q, k, v, window));
    }
    let slopes = &tensor_of(&device, [3], |head| 0.25 / (head + 1) as f32);
    check!(alibi_attention(q, k, v, slopes));
    let lengths = &Tensor::from_vec(&device, vec![4, 7], [2]).unwrap();
    check!(padded_attention(q, k, v, lengths));
}

macro_rules! optimizers {
    ($($test:ident $rank:literal $shapes:expr => $sgd:ident $adamw:ident $lion:ident $squared_norm:ident;)*) => {$(
        #[test]
        fn $test() {
            let device = device();
            for shape in $shapes {
                let (p, g) = (&tensor::<f32, $rank>(&device, shape, 1), &tensor(&device, shape, 2));
                let (m, s) = (&tensor(&device, shape, 3), &positive(&device, shape, 4));
                check!($sgd(p, g, m, 0.125, 0.9, 0.01) => p_next, v_next);
                for step in [1.0, 1000.0] {
                    check!($adamw(p, g, m, s, 0.001, 0.9, 0.999, 1e-8, 0.01, step) => p_next, m_next, s_next);
                }
                check!($lion(p, g, m, 0.001, 0.9, 0.99, 0.01) => p_next, m_next);
                check!($squared_norm(g));
                check!($squared_norm(&tensor::<fuse_gpu::f16, $rank>(&device, shape, 5)));
            }
        }
    )*};
}

optimizers! {
    optimizers_of_vectors 1 [[1], [131]] => sgd adamw lion squared_norm;
    optimizers_of_matrices 2 [[1, 1], [7, 19]] => sgd_matrix adamw_matrix lion_matrix squared_norm_matrix;
}

#[test]
fn clipping() {
    let device = device();
    for (squared, limit) in [(4.0f32, 1.0), (0.25, 1.0), (0.0, 1.0), (9.0, 0.5)] {
        let squared = &Tensor::from_vec(&device, vec![squared], []).unwrap();
        check!(clip_scale(squared, limit));
    }
}
