//! Launches of a closure on one thread, collected instead of recorded for the GPU.

use std::cell::RefCell;

use fuse_artifact::{DType, Function, MlGraph};

use crate::{
    api::{arg, capture, device::Device, launch::checked::Launch, raw::RawTensor, webnn::open},
    context::{callable::Callable, error::Error, shape::Shape},
    plan::check,
};

thread_local! {
    static OPEN: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

struct Recording {
    jobs: Vec<Job>,
}

pub(super) struct Job {
    pub(super) function: &'static Function,
    pub(super) graph: &'static MlGraph,
    pub(super) symbols: Vec<u64>,
    pub(super) args: Vec<Arg>,
    pub(super) results: Vec<RawTensor>,
}

pub(super) enum Arg {
    Tensor(RawTensor),
    /// A host number in WebNN's encoding.
    Scalar {
        dtype: DType,
        bytes: Vec<u8>,
    },
}

impl Job {
    pub(super) fn error(&self, reason: String) -> Error {
        Error::WebNn { kernel: self.function.name.to_string(), reason }
    }

    pub(super) fn tensors(&self) -> impl Iterator<Item = &RawTensor> {
        let args = self.args.iter().filter_map(|arg| if let Arg::Tensor(tensor) = arg { Some(tensor) } else { None });
        args.chain(&self.results)
    }
}

/// Returns `outputs` or new tensors, if this thread collects launches.
pub(crate) fn record(launch: &Launch<'_>, outputs: Option<&[&RawTensor]>) -> Result<Option<Vec<RawTensor>>, Error> {
    if !open::is_open(launch.device.context()) {
        return Ok(None);
    }
    if capture::is_open(launch.device.context()) {
        return Err(Error::Capturing { what: "WebNN" });
    }
    // Functions made at run time have no graph.
    let Callable::Program(function) = launch.function else {
        let reason = "the function was made at run time".to_owned();
        return Err(Error::WebNn { kernel: launch.function.name.to_string(), reason });
    };
    let refused = |reason: String| Error::WebNn { kernel: function.name.to_string(), reason };
    let graph = function.webnn.as_ref().ok_or_else(|| refused("the function is not marked `#[webnn]`".to_owned()))?;
    let shapes: Vec<Shape> = launch.shapes().collect();
    let bound = check::bind(function, &shapes, launch.device.info().limits.binding_bytes)?;
    let tensors = launch.args().iter().filter_map(arg::Arg::tensor);
    if tensors.map(RawTensor::dims).chain(&bound.results).any(|shape| shape.contains(&0)) {
        return Err(refused("a tensor without elements, which WebNN does not have".to_owned()));
    }
    let results = match outputs {
        Some(outputs) => {
            launch.check_outputs(&bound.results, outputs)?;
            outputs.iter().map(|output| (*output).clone()).collect()
        }
        None => {
            let context = launch.device.context();
            let make = |(shape, spec): (&Shape, &fuse_artifact::TensorSpec)| {
                let bytes = shape.elements().unwrap_or(0) * spec.dtype.bytes();
                let lease = context.pool.lease_for_later(context.take(bytes)?.0);
                Ok(RawTensor::from_parts(launch.device, lease, spec.dtype, *shape))
            };
            bound.results.iter().zip(function.results.iter()).map(make).collect::<Result<Vec<_>, Error>>()?
        }
    };
    let args = launch.args().iter().map(argument).collect::<Option<Vec<_>>>();
    let args = args.ok_or_else(|| refused("a quantized tensor, which has no counterpart there".to_owned()))?;
    let job = Job { function, graph, symbols: bound.symbols, args, results: results.clone() };
    OPEN.with(|open| open.borrow_mut().as_mut().map(|recording| recording.jobs.push(job)));
    Ok(Some(results))
}

fn argument(arg: &arg::Arg<'_>) -> Option<Arg> {
    match *arg {
        arg::Arg::Tensor(tensor) => Some(Arg::Tensor(tensor.clone())),
        arg::Arg::Quantized(_) => None,
        arg::Arg::Scalar { dtype: DType::F16, bits } => {
            let value = half::f16::from_f32(f32::from_bits(bits));
            Some(Arg::Scalar { dtype: DType::F16, bytes: value.to_le_bytes().to_vec() })
        }
        arg::Arg::Scalar { dtype, bits } => Some(Arg::Scalar { dtype, bytes: bits.to_le_bytes().to_vec() }),
    }
}

/// Ends the recording, also after errors and panics.
pub(super) struct Guard;

impl Guard {
    pub(super) fn open(device: &Device) -> Result<Self, Error> {
        OPEN.with(|open| match &mut *open.borrow_mut() {
            Some(_) => Err(Error::Capturing { what: "WebNN within WebNN" }),
            open @ None => {
                *open = Some(Recording { jobs: vec![] });
                open::collect(Some(device.context()));
                Ok(Self)
            }
        })
    }

    pub(super) fn finish(self) -> Vec<Job> {
        OPEN.take().map(|recording| recording.jobs).unwrap_or_default()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        open::collect(None);
        drop(OPEN.take());
    }
}
