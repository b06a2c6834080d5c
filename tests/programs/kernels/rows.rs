//! Softmax, norms, losses and pooling against the interpreter.

use fuse_gpu::{Float, Tensor};

use crate::kernels::{check, device, in_both_types, positive, tensor};

in_both_types!(softmaxes, layer_norms, rms_norms, batch_norms, losses, poolings);

const SHAPES: [[usize; 2]; 3] = [[3, 5], [1, 37], [6, 130]];

fn softmaxes<T: Float + Into<f64>>() {
    let device = device();
    for shape in SHAPES {
        let x = &tensor::<T, 2>(&device, shape, 1);
        check!(row_softmax(x));
        check!(row_log_softmax(x));
    }
    check!(reshape_softmax(&tensor::<T, 3>(&device, [2, 3, 7], 1)));
}

fn layer_norms<T: Float + Into<f64>>() {
    let device = device();
    for [m, n] in SHAPES {
        let (x, r) = (&tensor::<T, 2>(&device, [m, n], 1), &tensor(&device, [m, n], 2));
        let (gamma, beta) = (&tensor(&device, [n], 3), &tensor(&device, [n], 4));
        check!(row_layer_norm(x, gamma, beta));
        check!(layer_norm_gelu(x, gamma, beta));
        check!(add_layer_norm(x, r, gamma, beta) => norm, sum);
    }
}

fn rms_norms<T: Float + Into<f64>>() {
    let device = device();
    for [m, n] in SHAPES {
        let (x, gamma) = (&tensor::<T, 2>(&device, [m, n], 1), &tensor(&device, [n], 3));
        check!(row_rms_norm(x, gamma));
        check!(rms_norm_silu(x, gamma));
    }
}

fn batch_norms<T: Float + Into<f64>>() {
    let device = device();
    let x = &tensor::<T, 3>(&device, [2, 3, 7], 1);
    let (mean, var) = (&tensor(&device, [3], 2), &positive(&device, [3], 3));
    let (gamma, beta) = (&tensor(&device, [3], 4), &tensor(&device, [3], 5));
    check!(batch_norm_relu(x, mean, var, gamma, beta));
}

fn losses<T: Float + Into<f64>>() {
    let device = device();
    for [m, n] in SHAPES {
        let (x, y) = (&tensor::<T, 2>(&device, [m, n], 1), &tensor(&device, [m, n], 2));
        check!(mse(x, y));
        // Includes classes out of range at both ends.
        let classes = (0..m).map(|i| (i * 7 % (n + 4)) as i32 - 2).collect();
        let classes = &Tensor::from_vec(&device, classes, [m]).unwrap();
        check!(cross_entropy(x, classes));
    }
}

fn poolings<T: Float + Into<f64>>() {
    let device = device();
    let h = &tensor::<T, 3>(&device, [3, 7, 5], 1);
    let lengths = &Tensor::from_vec(&device, vec![7, 1, 4], [3]).unwrap();
    check!(mean_pool_normalize(h, lengths));
    let lengths = &Tensor::from_vec(&device, vec![2, 0, 0], [3]).unwrap();
    check!(mean_pool_normalize(h, lengths));
    let pooled = fuse_gpu::kernels::mean_pool_normalize(h, lengths).unwrap().to_vec_blocking().unwrap();
    assert!(pooled[5..].iter().all(|&x| Into::<f64>::into(x) == 0.0), "texts of length 0 have the embedding 0");
    for shape in SHAPES {
        let (x, y) = (&tensor::<T, 2>(&device, shape, 1), &tensor(&device, shape, 2));
        check!(cosine_similarity(x, y));
        let zeros = &Tensor::<T, 2>::zeros(&device, shape).unwrap();
        let similarities = fuse_gpu::kernels::cosine_similarity(x, zeros).unwrap().to_vec_blocking().unwrap();
        assert!(similarities.iter().all(|&x| Into::<f64>::into(x) == 0.0), "nothing is similar to 0");
    }
}
