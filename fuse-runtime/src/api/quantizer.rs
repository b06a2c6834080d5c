//! Quantization of tensors on their device, bit-identical to `fuse-quantize`.
//!
//! Output: recorded work that writes words and scales, and a flag for values that the host would refuse. Three steps:
//! reduce each group to a statistic, 32 values at a time; compute its scale and offset; pack each 32 values.
//!
//! Not here: shaders (`shader`), handling of the flag (`quantized`).

mod shader;
mod wgsl;

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex},
};

use fuse_artifact::{Binding, DType, Features, Grid, Packing, Pass, Slot, Uniform};
use fuse_quantize::{Granularity, QuantScheme, Rounding};

use self::shader::{INVOCATIONS, NEIGHBOURS, Shader, Statistic};
use crate::{
    api::{
        capture,
        device::Device,
        raw::{RawTensor, tensor_bytes},
        raw_quantized::{RawQuantized, check_rank, part_shapes, refused},
    },
    context::{
        bind::{Buffers, MAX_BINDINGS},
        error::Error,
        label::Label,
        lock::lock,
        pool::{Lease, Storage},
        shape::Shape,
        specialization::{Specialization, Style},
        step::{Filled, Step},
        upload::Source,
    },
};

pub(crate) struct Recorded {
    pub(crate) quantized: RawQuantized,
    /// Nonzero if a value, scale or offset is not finite: the result is then meaningless.
    pub(crate) refused: RawTensor,
}

pub(crate) fn record(packing: Packing, tensor: &RawTensor, scheme: &QuantScheme) -> Result<Recorded, Error> {
    let (device, shape) = (tensor.device(), tensor.shape());
    check_rank(packing, shape)?;
    let (axis, groups) = scheme.axis_and_groups(shape).map_err(|reason| refused(packing, shape, &reason))?;
    if scheme.rounding != Rounding::Nearest {
        let reason = format!(
            "rounding: expected `Nearest`, found `{:?}`, which searches on the host; help: `QTensor::quantize`",
            scheme.rounding
        );
        return Err(refused(packing, shape, &reason));
    }
    device.context().fault.check()?;
    capture::forbid(device.context(), "quantizing a tensor")?;
    if !tensor.buffer().is_ready() {
        return Err(Error::NotReplayed { what: format!("a tensor of {}{shape:?}", tensor.dtype()) });
    }
    let flag = RawTensor::upload(device, DType::U32, Shape::SCALAR, Source::Repeat([0; 4], 4))?;
    if tensor.elements() == 0 {
        let quantized = fuse_quantize::quantize(packing, &[], shape, scheme);
        let quantized = RawQuantized::upload(device, &quantized.map_err(|reason| refused(packing, shape, &reason))?)?;
        return Ok(Recorded { quantized, refused: flag });
    }
    let [words, scales] = part_shapes(packing, shape, axis, groups, scheme.scales);
    let (words, scales) = (allocate(device, "words", &words)?, allocate(device, "scales", &scales)?);
    let nothing = scales.elements() == 0;
    let quantized = RawQuantized::from_parts(packing, shape, axis, words, scales)?;
    if nothing {
        return Ok(Recorded { quantized, refused: flag });
    }
    let work = Work {
        device,
        style: device.applied().style(),
        tensor,
        refused: &flag,
        quantized: &quantized,
        scheme,
        // The scales exist, so these products fit memory.
        outer: shape[..axis].iter().product::<usize>() as u64,
        inner: shape[axis + 1..].iter().product::<usize>() as u64,
        extent: shape[axis] as u64,
        groups: groups as u64,
    };
    work.record()?;
    Ok(Recorded { quantized, refused: flag })
}

fn allocate(device: &Device, what: &str, shape: &[usize]) -> Result<RawTensor, Error> {
    let shape = Shape::new(shape)?;
    let bytes = tensor_bytes(device, what, DType::U32, &shape)?;
    Ok(RawTensor::from_parts(device, lease(device, bytes)?, DType::U32, shape))
}

/// Memory that a later step may reuse at once: recorded work runs in order.
fn lease(device: &Device, bytes: u64) -> Result<Arc<Lease>, Error> {
    let context = device.context();
    Ok(context.pool.lease(context.take(bytes)?.0))
}

struct Work<'a> {
    device: &'a Device,
    style: Style,
    tensor: &'a RawTensor,
    refused: &'a RawTensor,
    quantized: &'a RawQuantized,
    scheme: &'a QuantScheme,
    /// Extents before the packed axis.
    outer: u64,
    /// Extents after it.
    inner: u64,
    extent: u64,
    /// Groups along the packed axis.
    groups: u64,
}

/// `[count, length, inner]`, groups along the middle axis.
#[derive(Clone, Copy)]
struct Rows {
    count: u64,
    length: u64,
    inner: u64,
}

/// Uniform words after the first. All fit 32 bits: tensors have fewer than 2^32 elements.
#[derive(Clone, Copy, Default)]
struct Params {
    count: u64,
    length: u64,
    inner: u64,
    group: u64,
    words: u64,
    reciprocal: u32,
    stride: u64,
}

impl Work<'_> {
    fn record(&self) -> Result<(), Error> {
        let (packing, dtype) = (self.quantized.packing(), self.tensor.dtype());
        let QuantScheme { symmetry, scales, granularity, .. } = *self.scheme;
        let Self { outer, inner, extent, groups, .. } = *self;
        let shared = granularity == Granularity::Tensor;
        let rows = match shared {
            true => Rows { count: 1, length: self.tensor.elements() as u64, inner: 1 },
            false => Rows { count: outer * groups, length: extent / groups, inner },
        };
        // As on the host: no shader divides.
        let reciprocal = (1.0 / rows.length as f32).to_bits();
        let statistic = Statistic::of(packing, symmetry);
        let sums = match statistic {
            Statistic::Distances => Some(self.reduce(rows, Statistic::Sum, reciprocal, None)?),
            _ => None,
        };
        let partials = self.reduce(rows, statistic, reciprocal, sums.as_deref())?;

        let refused = self.refused.buffer().storage();
        let pairs = self.quantized.scales().buffer().storage();
        let buffers = [Some(partials.storage()), Some(refused), Some(pairs), sums.as_deref().map(Lease::storage)];
        let params =
            Params { count: outer * groups * inner, stride: u64::from(!shared), reciprocal, ..Params::default() };
        self.dispatch(Shader::Pairs { packing, symmetry, scales }, params, &buffers)?;

        let words = self.quantized.words().buffer().storage();
        let params = Params {
            count: outer * extent.div_ceil(NEIGHBOURS.into()) * inner,
            length: extent,
            inner,
            group: extent / groups,
            words: packing.words(extent as usize) as u64,
            ..Params::default()
        };
        let buffers = [self.tensor.buffer().storage(), pairs, words].map(Some);
        self.dispatch(Shader::Codes { packing, scales, values: dtype }, params, &buffers)
    }

    /// Distances need the sums of rows.
    fn reduce(
        &self,
        rows: Rows,
        statistic: Statistic,
        reciprocal: u32,
        sums: Option<&Lease>,
    ) -> Result<Arc<Lease>, Error> {
        let parts_of = |length: u64| length.div_ceil(NEIGHBOURS.into());
        let params_for = |length: u64| Params {
            count: rows.count * parts_of(length) * rows.inner,
            length,
            inner: rows.inner,
            reciprocal,
            ..Params::default()
        };
        let partials_for = |params: Params| lease(self.device, params.count * statistic.words() * 4);

        let params = params_for(rows.length);
        let mut partials = partials_for(params)?;
        let (values, refused) = (self.tensor.buffer().storage(), self.refused.buffer().storage());
        let buffers = [Some(values), Some(refused), Some(partials.storage()), sums.map(Lease::storage)];
        self.dispatch(Shader::Values { statistic, values: self.tensor.dtype() }, params, &buffers)?;

        let mut parts = parts_of(rows.length);
        while parts > 1 {
            let params = params_for(parts);
            let fewer = partials_for(params)?;
            let buffers = [partials.storage(), fewer.storage()].map(Some);
            self.dispatch(Shader::Partials { statistic: statistic.kind() }, params, &buffers)?;
            (partials, parts) = (fewer, parts_of(parts));
        }
        Ok(partials)
    }

    fn dispatch(&self, shader: Shader, params: Params, buffers: &[Option<&Storage>]) -> Result<(), Error> {
        let context = self.device.context();
        let (pass, label) = (pass(shader), label(shader));
        let specialization = Specialization::new(pass, self.style, None, &[]);
        let pipeline = context.pipelines.get((pass, None), specialization, Features::default(), &label)?;
        let workgroups = params.count.div_ceil(INVOCATIONS.into()) as u32;
        let mut filled = Filled::new(label.kernel, workgroups, context.info.limits.workgroups_per_dimension)?;
        filled.words = params.words(workgroups).into();
        let mut bound: Buffers<'_> = [None; MAX_BINDINGS];
        bound[..buffers.len()].copy_from_slice(buffers);
        let step = Step { label, pipeline, slots: [].into(), filled };
        lock(&context.recorder).dispatch(&step, &bound, |_| 0);
        Ok(())
    }
}

const PARAMS: u16 = 8;

impl Params {
    fn words(self, workgroups: u32) -> [u32; PARAMS as usize] {
        let Self { count, length, inner, group, words, reciprocal, stride } = self;
        let [count, length, inner, group, words, stride] =
            [count, length, inner, group, words, stride].map(|size| size as u32);
        [workgroups, count, length, inner, group, words, reciprocal, stride]
    }
}

fn label(shader: Shader) -> Label {
    Label { function: "quantize_tensor", kernel: shader.name(), variant: shader.variant(), pass: 0 }
}

/// Leaks the pass: there are few, and pipelines are known by its address.
fn pass(shader: Shader) -> &'static Pass {
    static PASSES: LazyLock<Mutex<HashMap<Shader, &'static Pass>>> = LazyLock::new(Mutex::default);
    let make = || {
        let binding =
            |(i, &writable): (usize, &bool)| Binding { slot: Slot::Temporary(i as u16), dtype: DType::U32, writable };
        Pass {
            wgsl: shader.text().into(),
            bindings: shader.writes().iter().enumerate().map(binding).collect(),
            uniforms: (0..PARAMS).map(|param| Uniform::Scalar { param }).collect(),
            grid: Grid::Elements { per_workgroup: INVOCATIONS },
            workgroup_size: INVOCATIONS,
            workgroup_bytes: 0,
            pins_loads: false,
        }
    };
    lock(&PASSES).entry(shader).or_insert_with(|| Box::leak(Box::new(make())))
}
