//! Weights on the host: named tensors of a `.safetensors` file, checked by shape and uploaded in the kernels'
//! precision.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, bail};
use fuse_gpu::{Device, Element, Tensor};
use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

#[cfg(feature = "quantized")]
use crate::codes::Codes;

/// Tensors of a file, some possibly replaced.
pub struct Weights<'a> {
    tensors: SafeTensors<'a>,
    replaced: BTreeMap<String, Vec<f32>>,
    #[cfg(feature = "quantized")]
    codes: Option<Codes>,
}

/// Device and conversion of uploads.
pub struct Upload<'a, T> {
    /// Device.
    pub device: &'a Device,
    /// From the file's precision to the kernels'.
    pub convert: fn(f32) -> T,
}

impl<'a> Weights<'a> {
    /// Parses the bytes of the file at `path`.
    ///
    /// # Errors
    /// If the bytes are not a whole `.safetensors` file.
    pub fn parse(path: &Path, bytes: &'a [u8]) -> anyhow::Result<Self> {
        let tensors = SafeTensors::deserialize(bytes)
            .with_context(|| format!("`{}` is not a whole .safetensors file", path.display()))?;
        Ok(Self {
            tensors,
            replaced: BTreeMap::new(),
            #[cfg(feature = "quantized")]
            codes: None,
        })
    }

    /// Replaces tensors by quantized layers; [`values`](Self::values) returns them dequantized.
    ///
    /// # Errors
    /// If the file lacks such tensors, or has them in other shapes.
    #[cfg(feature = "quantized")]
    pub fn overlay(&mut self, codes: Codes) -> anyhow::Result<()> {
        for (name, weights) in &codes.weights {
            let (expected, found) = (self.view(name)?.shape().to_vec(), &weights.shape);
            if expected != *found {
                bail!("tensor `{name}`: expected shape {expected:?}, found quantized weights of {found:?}");
            }
            self.replaced.insert(name.clone(), weights.dequantize());
        }
        for (name, values) in &codes.values {
            self.replace(name, values.clone())?;
        }
        self.codes = Some(codes);
        Ok(())
    }

    /// Quantized weights `name`, if [`overlay`](Self::overlay) added them.
    #[cfg(feature = "quantized")]
    pub fn codes(&self, name: &str) -> Option<&fuse_gpu::Quantized> {
        self.codes.as_ref()?.weights.get(name)
    }

    /// Replaces the values of a tensor.
    ///
    /// # Errors
    /// If there is no such tensor, or it has another number of elements.
    pub fn replace(&mut self, name: &str, values: Vec<f32>) -> anyhow::Result<()> {
        let expected: usize = self.view(name)?.shape().iter().product();
        if values.len() != expected {
            bail!("tensor `{name}`: expected {expected} values, found {}", values.len());
        }
        self.replaced.insert(name.to_owned(), values);
        Ok(())
    }

    /// Rows of a matrix with `columns` columns.
    ///
    /// # Errors
    /// If there is no such tensor, or it is not such a matrix.
    pub fn rows(&self, name: &str, columns: usize) -> anyhow::Result<usize> {
        match *self.view(name)?.shape() {
            [rows, found] if found == columns => Ok(rows),
            ref found => bail!("tensor `{name}`: expected shape [rows, {columns}], found {found:?}"),
        }
    }

    /// Values of the tensor `name`.
    ///
    /// # Errors
    /// If there is no such tensor, it has another shape than expected, or its dtype is not a float.
    pub fn values(&self, name: &str, shape: &[usize]) -> anyhow::Result<Vec<f32>> {
        let view = self.view(name)?;
        if view.shape() != shape {
            bail!("tensor `{name}`: expected shape {shape:?}, found {:?}", view.shape());
        }
        if let Some(values) = self.replaced.get(name) {
            return Ok(values.clone());
        }
        let data = view.data();
        let halves = || data.as_chunks::<2>().0.iter().copied();
        Ok(match view.dtype() {
            Dtype::F32 => data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
            Dtype::F16 => halves().map(|bytes| f16::from_le_bytes(bytes).to_f32()).collect(),
            Dtype::BF16 => halves().map(|bytes| bf16::from_le_bytes(bytes).to_f32()).collect(),
            other => bail!("tensor `{name}`: expected F32, F16 or BF16, found {other:?}"),
        })
    }

    /// Tensor `name` on a device.
    ///
    /// # Errors
    /// Those of [`values`](Self::values) and of the upload.
    pub fn upload<T: Element, const D: usize>(
        &self,
        name: &str,
        shape: [usize; D],
        to: &Upload<'_, T>,
    ) -> anyhow::Result<Tensor<T, D>> {
        let values = self.values(name, &shape)?.into_iter().map(to.convert).collect();
        Tensor::from_vec(to.device, values, shape).with_context(|| format!("cannot upload tensor `{name}`"))
    }

    fn view(&self, name: &str) -> anyhow::Result<safetensors::tensor::TensorView<'_>> {
        self.tensors.tensor(name).with_context(|| format!("the weights have no tensor `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use safetensors::tensor::{TensorView, serialize};

    use super::*;

    /// Dtypes other than floats have the bits of `f32`.
    fn file(shape: &[usize], dtype: Dtype) -> Vec<u8> {
        let bytes: Vec<u8> = match dtype {
            Dtype::F16 => (0..6).flat_map(|i| f16::from_f32(i as f32).to_le_bytes()).collect(),
            Dtype::BF16 => (0..6).flat_map(|i| bf16::from_f32(i as f32).to_le_bytes()).collect(),
            _ => (0..6).flat_map(|i| (i as f32).to_le_bytes()).collect(),
        };
        let view = TensorView::new(dtype, shape.to_vec(), &bytes).unwrap();
        serialize(BTreeMap::from([("w".to_owned(), view)]), None).unwrap()
    }

    #[test]
    fn values_come_with_the_expected_shape() {
        for dtype in [Dtype::F32, Dtype::F16, Dtype::BF16] {
            let bytes = file(&[2, 3], dtype);
            let weights = Weights::parse(Path::new("w.safetensors"), &bytes).unwrap();
            assert_eq!(weights.values("w", &[2, 3]).unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "{dtype:?}");
            assert_eq!(weights.rows("w", 3).unwrap(), 2);
        }
    }

    #[test]
    fn mistakes_in_a_file_name_the_tensor() {
        let bytes = file(&[2, 3], Dtype::F32);
        let weights = Weights::parse(Path::new("w.safetensors"), &bytes).unwrap();
        let text = |result: anyhow::Result<Vec<f32>>| result.unwrap_err().to_string();
        assert_eq!(text(weights.values("w", &[3, 2])), "tensor `w`: expected shape [3, 2], found [2, 3]");
        assert_eq!(text(weights.values("v", &[3, 2])), "the weights have no tensor `v`");
        let rows = weights.rows("w", 4).unwrap_err().to_string();
        assert_eq!(rows, "tensor `w`: expected shape [rows, 4], found [2, 3]");

        let bytes = file(&[2, 3], Dtype::I32);
        let weights = Weights::parse(Path::new("w.safetensors"), &bytes).unwrap();
        assert_eq!(text(weights.values("w", &[2, 3])), "tensor `w`: expected F32, F16 or BF16, found I32");
    }

    #[test]
    fn values_can_be_replaced() {
        let bytes = file(&[2, 3], Dtype::F16);
        let mut weights = Weights::parse(Path::new("w.safetensors"), &bytes).unwrap();
        weights.replace("w", vec![9.0; 6]).unwrap();
        assert_eq!(weights.values("w", &[2, 3]).unwrap(), [9.0; 6]);
        let error = weights.replace("w", vec![9.0; 5]).unwrap_err().to_string();
        assert_eq!(error, "tensor `w`: expected 6 values, found 5");
        assert!(weights.replace("v", vec![]).is_err());
    }

    #[test]
    fn a_cut_off_file_is_named() {
        let bytes = file(&[2, 3], Dtype::F32);
        let error = Weights::parse(Path::new("cut.safetensors"), &bytes[..bytes.len() - 1]).err().unwrap();
        assert!(error.to_string().contains("`cut.safetensors` is not a whole"), "{error}");
    }
}
