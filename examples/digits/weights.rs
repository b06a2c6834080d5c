//! Weights: initialization and storage.

use std::{collections::BTreeMap, error::Error, path::Path};

use fuse_gpu::{Device, Tensor1, Tensor2, fuse};
use safetensors::{Dtype, tensor::TensorView};

pub(crate) struct Weight {
    name: &'static str,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Weight {
    pub(crate) fn vector(name: &'static str, tensor: &Tensor1<f32>) -> Result<Self, fuse_gpu::Error> {
        Ok(Self::new(name, &tensor.shape(), &tensor.to_vec_blocking()?))
    }

    pub(crate) fn matrix(name: &'static str, tensor: &Tensor2<f32>) -> Result<Self, fuse_gpu::Error> {
        Ok(Self::new(name, &tensor.shape(), &tensor.to_vec_blocking()?))
    }

    fn new(name: &'static str, shape: &[usize], numbers: &[f32]) -> Self {
        Self { name, shape: shape.to_vec(), bytes: numbers.iter().flat_map(|x| x.to_le_bytes()).collect() }
    }
}

/// Normally distributed, scaled for inputs of variance 1.
pub(crate) fn random(device: &Device, shape: [usize; 2], seed: u64) -> Result<Tensor2<f32>, fuse_gpu::Error> {
    let x = Tensor2::<f32>::randn(device, shape, seed)?;
    let scale = (shape[0] as f32).sqrt().recip();
    fuse!(x * scale)
}

pub(crate) fn save(weights: &[Weight], path: &Path) -> Result<(), Box<dyn Error>> {
    let mut views = BTreeMap::new();
    for Weight { name, shape, bytes } in weights {
        views.insert(*name, TensorView::new(Dtype::F32, shape.clone(), bytes)?);
    }
    Ok(safetensors::serialize_to_file(views, None, path)?)
}
