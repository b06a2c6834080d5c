//! Quantization of weights that products read.
//!
//! A weight is quantized when a graph first reads it as the right operand of products only, and keeps the result.
//! Weights that other operations read, or that cannot be quantized, stay unchanged and are reported.

use fuse_artifact::DType;

#[cfg(not(target_arch = "wasm32"))]
use crate::node::value::QuantizedWeight;
use crate::{
    config::WeightQuantization,
    error::Error,
    node::{
        Node,
        value::{Data, Value},
    },
    op::Op,
    trace::Trace,
};

/// Quantizes weights where products read them. Returns the unchanged ones, with reasons.
///
/// # Errors
/// Those of the device; in browsers always.
pub(crate) fn quantize(trace: &mut Trace, by: WeightQuantization) -> Result<Vec<String>, Error> {
    let mut left = vec![];
    if !trace.leaves.iter().any(|(leaf, _)| trace.nodes[*leaf as usize].is_weight) {
        return Ok(left);
    }
    let readers = trace.readers();
    for position in 0..trace.leaves.len() {
        let index = trace.leaves[position].0 as usize;
        if !trace.nodes[index].is_weight {
            continue;
        }
        let node = &trace.nodes[index];
        let mut stays = |why: &str| left.push(format!("weight `{}`: {why}", node.type_text()));
        let Some(axis) = summed_axis(trace, &readers, index) else {
            stays("it is no right operand of products alone, or no matrix of floats");
            continue;
        };
        let mut by = by;
        by.scheme.axis = Some(axis);
        match quantized(node, &trace.leaves[position].1, by)? {
            Ok(data) => {
                trace.leaves[position].1.data = data;
                trace.key.extend([u64::MAX - 2, index as u64, by.packing as u64 | (axis as u64) << 8]);
            }
            Err(why) => stays(&why),
        }
    }
    Ok(left)
}

/// Summed axis of a float matrix that is only the right operand of products, all transposed or none.
fn summed_axis(trace: &Trace, readers: &[Vec<(usize, usize)>], leaf: usize) -> Option<usize> {
    let node = &trace.nodes[leaf];
    let rank = node.shape.len();
    if !matches!(node.dtype, DType::F32 | DType::F16) || !(2..=4).contains(&rank) || node.shape.contains(&0) {
        return None;
    }
    let multiplies = |&(reader, input): &(usize, usize)| matches!(trace.nodes[reader].op, Op::Matmul) && input == 1;
    let transposes = |&(reader, _): &(usize, usize)| {
        matches!(trace.nodes[reader].op, Op::Transpose)
            && !trace.outputs.contains(&(reader as u32))
            && readers[reader].iter().all(multiplies)
    };
    match readers[leaf].as_slice() {
        [] => None,
        readers if readers.iter().all(multiplies) => Some(rank - 2),
        readers if readers.iter().all(transposes) => Some(rank - 1),
        _ => None,
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn quantized(node: &Node, value: &Value, by: WeightQuantization) -> Result<Result<Data, String>, Error> {
    use fuse_runtime::__private::RawQuantized;

    let Data::Tensor(tensor) = &value.data else { return Ok(Ok(value.data.clone())) };
    let writes = value.data.writes();
    if let Some(known) = node.lock().quantized.as_deref().filter(|known| known.by == by && known.writes == writes) {
        return Ok(known.data.clone());
    }
    let data = match RawQuantized::quantize_blocking(by.packing, tensor, &by.scheme) {
        Ok(quantized) => Ok(Data::Quantized(quantized)),
        // A retry would repeat an error of values or shape.
        Err(error @ fuse_runtime::Error::Quantized { .. }) => Err(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    let kept = QuantizedWeight { by, writes, data: data.clone() };
    node.lock().quantized = Some(Box::new(kept));
    Ok(data)
}

#[cfg(target_arch = "wasm32")]
fn quantized(_: &Node, _: &Value, _: WeightQuantization) -> Result<Result<Data, String>, Error> {
    Err(Error::operation(
        "quantize_weights",
        "a page cannot wait for the device, which quantizing does",
        "make the weights with `QTensor::quantize_tensor(…).await`, and lazy tensors of these",
    ))
}
