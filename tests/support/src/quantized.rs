//! Quantized inputs of programs.
//!
//! An input holds dequantized values, and its shape determines its scheme. Scales are powers of two that differ between
//! neighbours: values are exact, and packing recovers their codes.

use fuse_artifact::Packing;
use fuse_compiler::{
    graph::{Graph, Quantized},
    interp::Value,
};
use fuse_runtime::{__private::RawQuantized, Device, quantize::ScaleDType};

use crate::Numbers;

struct Storage<'a> {
    packing: Packing,
    shape: &'a [usize],
    axis: usize,
    groups: usize,
    scales_dtype: ScaleDType,
}

impl<'a> Storage<'a> {
    /// Groups of 32 where possible; `f32` scales where the number of elements is divisible by 3.
    fn new(quantized: &Quantized, shape: &'a [usize]) -> Self {
        let (packing, axis) = (quantized.packing, quantized.axis);
        let groups = if shape[axis].is_multiple_of(Packing::GROUP_MULTIPLE) { (shape[axis] / 32).max(1) } else { 1 };
        let wide = shape.iter().product::<usize>().is_multiple_of(3);
        let scales_dtype = if wide { ScaleDType::F32 } else { ScaleDType::F16 };
        Self { packing, shape, axis, groups, scales_dtype }
    }

    fn inner(&self) -> usize {
        self.shape[self.axis + 1..].iter().product()
    }

    /// Index before the packed axis, coordinate along it, index behind.
    fn parts(&self, element: usize) -> [usize; 3] {
        let (extent, inner) = (self.shape[self.axis], self.inner());
        [element / inner / extent, element / inner % extent, element % inner]
    }

    fn group(&self, element: usize) -> usize {
        let [outer, index, inside] = self.parts(element);
        (outer * self.groups + index / (self.shape[self.axis] / self.groups)) * self.inner() + inside
    }

    /// Scale and offset; some groups are symmetric, some not.
    fn scale(&self, group: usize) -> [f64; 2] {
        let scale = [0.25, 0.5, 0.125][group % 3] / f64::from(1u32 << self.packing.bits());
        let codes = if group.is_multiple_of(2) { 1 << (self.packing.bits() - 1) } else { 1 };
        [8.0 * scale, -8.0 * scale * f64::from(codes)]
    }
}

pub(crate) fn input(quantized: &Quantized, shape: &[usize], numbers: &mut Numbers) -> Value {
    let storage = Storage::new(quantized, shape);
    let value = |element: usize| {
        let [scale, offset] = storage.scale(storage.group(element));
        numbers.below(u64::from(quantized.packing.largest()) + 1) as f64 * scale + offset
    };
    let data = (0..shape.iter().product()).map(value).collect();
    Value { dtype: fuse_artifact::DType::F32, shape: shape.to_vec(), data }
}

/// Value of the middle code per element of a parameter: 0 in symmetric groups.
///
/// # Panics
/// If the parameter is not quantized.
pub fn middle_codes(graph: &Graph, param: usize, shape: &[usize]) -> Vec<f64> {
    let quantized = graph.params[param].quantized.as_ref().expect("a quantized parameter");
    let storage = Storage::new(quantized, shape);
    let value = |element: usize| {
        let [scale, offset] = storage.scale(storage.group(element));
        f64::from(1u32 << (quantized.packing.bits() - 1)) * scale + offset
    };
    (0..shape.iter().product()).map(value).collect()
}

pub(crate) fn upload(device: &Device, quantized: &Quantized, value: &Value) -> Result<RawQuantized, String> {
    let storage = Storage::new(quantized, &value.shape);
    let code = |(element, x): (usize, &f64)| {
        let [scale, offset] = storage.scale(storage.group(element));
        ((x - offset) / scale) as u8
    };
    let codes: Vec<u8> = value.data.iter().enumerate().map(code).collect();
    let others = value.shape.iter().enumerate().filter(|(d, _)| *d != storage.axis).map(|(_, &extent)| extent);
    let pairs = others.product::<usize>() * storage.groups;
    let (scales, offsets): (Vec<f32>, Vec<f32>) =
        (0..pairs).map(|group| storage.scale(group).map(|x| x as f32)).map(|[scale, offset]| (scale, offset)).unzip();
    let Storage { packing, shape, axis, groups, scales_dtype } = storage;
    let host =
        fuse_runtime::Quantized::from_codes(packing, shape, axis, groups, scales_dtype, &codes, (&scales, &offsets));
    let host = host.map_err(|error| error.to_string())?;
    RawQuantized::upload(device, &host).map_err(|error| error.to_string())
}
