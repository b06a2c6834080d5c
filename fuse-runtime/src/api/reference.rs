//! `f::reference(…)`: the function on the host, in `f64`, by the compiler's reference interpreter.
//!
//! The source of a `fuse!` block is compiled at run time, so that programs without the feature `reference` carry
//! nothing for it. Slow: for tests.

use fuse_artifact::DType;
use fuse_compiler::{
    front::{self, Instance},
    graph::Graph,
    interp,
};
use half::f16;

pub use fuse_compiler::interp::Value;

use crate::{
    api::{arg::Arg, raw::RawTensor},
    context::{element::Element, error::Error},
};

/// Evaluates function `name` of the block `source`, or one that `#[differentiable]` adds to it (`f::vjp`), for the
/// element types `dtypes`.
///
/// # Errors
/// [`Error::Reference`] if the arguments do not fit the function, and those of reading tensors back.
pub fn run<const N: usize>(
    source: &str,
    name: &str,
    dtypes: &[DType],
    arguments: &[Arg<'_>],
) -> Result<[Value; N], Error> {
    let error = |message: String| Error::Reference { function: name.to_owned(), message };
    let graph = graph(source, name, dtypes).map_err(error)?;
    let inputs = arguments.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    let results = interp::run(&graph, &inputs).map_err(|reason| error(reason.to_string()))?;
    let count = results.len();
    results.try_into().map_err(|_| error(format!("expected {N} results, found {count}")))
}

fn graph(source: &str, name: &str, dtypes: &[DType]) -> Result<Graph, String> {
    let tokens = source.parse().map_err(|error| format!("its source cannot be read again: {error}"))?;
    let functions = front::items(tokens).functions;
    let (name, derived) = name.split_once("::").map_or((name, None), |(name, derived)| (name, Some(derived)));
    let function = functions.into_iter().find(|function| function.header.name == name);
    let instances = function.map(|function| function.instances).unwrap_or_default();
    let instance = instances.into_iter().find(|instance| instance.dtypes == dtypes);
    let graph = instance.and_then(|Instance { graph, derivatives, .. }| match derived {
        None => Some(graph),
        Some("vjp") => Some(derivatives?.vjp),
        Some("value_and_grad") => derivatives?.value_and_grad,
        Some(_) => None,
    });
    Ok(graph.ok_or("its source has no such function")?)
}

fn value(argument: &Arg<'_>) -> Result<Value, Error> {
    match *argument {
        Arg::Tensor(tensor) => {
            let (dtype, shape) = (tensor.dtype(), tensor.shape().to_vec());
            Ok(Value { dtype, shape, data: numbers(tensor)? })
        }
        Arg::Quantized(tensor) => Ok(Value {
            dtype: DType::F32,
            shape: tensor.shape().to_vec(),
            data: convert(tensor.to_host_blocking()?.dequantize()),
        }),
        Arg::Scalar { dtype, bits } => Ok(Value::scalar(dtype, scalar(dtype, bits))),
    }
}

fn numbers(tensor: &RawTensor) -> Result<Vec<f64>, Error> {
    let bytes = tensor.to_bytes_blocking()?;
    Ok(match tensor.dtype() {
        DType::F32 => convert(f32::decode(&bytes)),
        DType::F16 => convert(f16::decode(&bytes)),
        DType::I32 => convert(i32::decode(&bytes)),
        DType::U32 => convert(u32::decode(&bytes)),
        DType::Bool => convert(bool::decode(&bytes).into_iter().map(u8::from).collect()),
    })
}

fn convert<T: Into<f64>>(values: Vec<T>) -> Vec<f64> {
    values.into_iter().map(Into::into).collect()
}

/// Decodes [`Uniform::Scalar`](fuse_artifact::Uniform::Scalar).
fn scalar(dtype: DType, bits: u32) -> f64 {
    match dtype {
        DType::F32 | DType::F16 => f32::from_bits(bits).into(),
        DType::I32 => bits.cast_signed().into(),
        DType::U32 | DType::Bool => bits.into(),
    }
}
