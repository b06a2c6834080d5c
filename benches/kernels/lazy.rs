//! Costs of lazy tensors: host time to record and evaluate, large evaluations beside `fuse!`, and compile time of new
//! graphs in a separate process.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use fuse_gpu::{
    Device, Tensor1, Tensor2, Tensor3,
    auto::{Dim, Error, LazyTensor, explain},
};

use crate::{
    cases::sigmoid_product,
    launches::{Measured, cost},
    measure::{Effort, Times, measure},
};

/// Hidden option: this binary starts itself to measure its first compilations.
pub(crate) const FIRST_EVALUATION: &str = "--first-evaluation";

/// Small, because only the host's time counts.
const ELEMENTS: usize = 1024;

const CALLS: u32 = 1024;

pub(crate) fn run(device: &Device, effort: Effort) -> Result<Vec<Measured>, Box<dyn std::error::Error>> {
    let mut measured = host(device, effort)?;
    for (exponent, names) in [
        (20, ["lazy sigmoid(a*b + c), 2^20, GPU included", "the same by `fuse!`, 2^20, GPU included"]),
        (22, ["lazy sigmoid(a*b + c), 2^22, GPU included", "the same by `fuse!`, 2^22, GPU included"]),
        (24, ["lazy sigmoid(a*b + c), 2^24, GPU included", "the same by `fuse!`, 2^24, GPU included"]),
    ] {
        measured.extend(names.into_iter().zip(gate(device, effort, 1 << exponent)?.map(Into::into)));
    }
    measured.extend(first_evaluations(effort)?);
    Ok(measured)
}

fn vector(device: &Device, elements: usize, seed: u64) -> Result<Tensor1<f32>, Error> {
    Ok(Tensor1::rand(device, [elements], seed)?)
}

fn host(device: &Device, effort: Effort) -> Result<Vec<Measured>, Error> {
    let (x, b) = (vector(device, ELEMENTS, 1)?, vector(device, ELEMENTS, 2)?);
    let (x, b) = (LazyTensor::from(&x), LazyTensor::from(&b));
    let timed = |launch: &mut dyn FnMut() -> Result<(), Error>| {
        cost(effort, CALLS, launch, || Ok(device.submit()?), || Ok(device.synchronize_blocking()?))
    };
    const OPERATIONS: u32 = 8;
    let mut recorded = timed(&mut || {
        let y = x.add(&b)?.mul(&b)?.sub(&x)?.tanh()?.add(&x)?.mul(&b)?.exp()?.add(&b)?;
        drop(y);
        Ok(())
    })?;
    recorded = recorded.per(OPERATIONS);
    let evaluated = timed(&mut || x.add(&b)?.relu()?.eval())?;
    Ok(vec![("lazy: a recorded operation", recorded), ("lazy relu(x + b), recorded and evaluated", evaluated)])
}

fn gate(device: &Device, effort: Effort, elements: usize) -> Result<[Times; 2], Error> {
    let [a, b, c] = [vector(device, elements, 1)?, vector(device, elements, 2)?, vector(device, elements, 3)?];
    let [x, y, z] = [&a, &b, &c].map(LazyTensor::from);
    let lazily = || x.mul(&y)?.add(&z)?.sigmoid();
    let runtime = |error: Error| match error {
        Error::Runtime(error) => error,
        other => fuse_gpu::Error::Internal { message: other.to_string() },
    };
    let (found, expected) = (lazily()?.to_vec_blocking::<f32>()?, sigmoid_product(&a, &b, &c)?.to_vec_blocking()?);
    if found != expected {
        return Err(fuse_gpu::Error::Internal { message: "lazily, `sigmoid(a·b + c)` is something else".into() }.into());
    }
    let wait = || device.synchronize_blocking();
    let lazy = measure(effort, || lazily().and_then(|y| y.eval()).map_err(runtime), wait)?;
    let fused = measure(effort, || sigmoid_product(&a, &b, &c).map(drop), wait)?;
    Ok([lazy, fused])
}

/// Times from recording a new graph to compiled functions, without pipelines.
fn first_evaluations(effort: Effort) -> Result<Vec<Measured>, Box<dyn std::error::Error>> {
    let names = [
        "lazy: a new graph, pointwise",
        "lazy: a new graph, product with epilogue",
        "lazy: a new graph, encoder layer",
    ];
    let mut samples: [Vec<Duration>; 3] = Default::default();
    for _ in 0..effort.batches {
        let output = Command::new(std::env::current_exe()?).arg(FIRST_EVALUATION).output()?;
        let text = String::from_utf8(output.stdout)?;
        let parts: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        if parts.len() != samples.len() {
            return Err(
                format!("the process of first evaluations printed `{}` ({})", text.trim(), output.status).into()
            );
        }
        samples.iter_mut().zip(parts).for_each(|(samples, micros)| samples.push(Duration::from_micros(micros)));
    }
    Ok(names.into_iter().zip(samples.map(|samples| Times::of(samples, 1).into())).collect())
}

pub(crate) fn first_evaluation() -> Result<(), Error> {
    let device = Device::blocking()?;
    let (x, b) = (LazyTensor::from(&vector(&device, 64, 1)?), LazyTensor::from(&vector(&device, 64, 2)?));
    // Initializes the process.
    explain(&[&x.exp()?.log()?])?;
    let graphs = [x.mul(&b)?.add(&x)?.sigmoid()?, product(&device)?, encoder_layer(&device)?];
    let mut micros = vec![];
    for graph in &graphs {
        let start = Instant::now();
        explain(&[graph])?;
        micros.push(start.elapsed().as_micros().to_string());
    }
    println!("{}", micros.join(" "));
    Ok(())
}

fn matrix(device: &Device, shape: [usize; 2]) -> Result<LazyTensor, Error> {
    Ok(Tensor2::<f32>::zeros(device, shape)?.into())
}

fn row(device: &Device, elements: usize) -> Result<LazyTensor, Error> {
    Ok(Tensor1::<f32>::zeros(device, [elements])?.into())
}

fn product(device: &Device) -> Result<LazyTensor, Error> {
    let (x, w) = (matrix(device, [64, 96])?, matrix(device, [96, 128])?);
    x.matmul(&w)?.add(&row(device, 128)?)?.add(&matrix(device, [64, 128])?)?.relu()
}

/// The encoder layer of README.md.
fn encoder_layer(device: &Device) -> Result<LazyTensor, Error> {
    let linear = |x: &LazyTensor, inputs: usize, outputs: usize| {
        x.matmul(&matrix(device, [outputs, inputs])?.transpose()?)?.add(&row(device, outputs)?)
    };
    let norm = |x: &LazyTensor| x.layer_norm(&row(device, 384)?, &row(device, 384)?, 1e-12);
    let h = LazyTensor::from(Tensor3::<f32>::zeros(device, [2, 16, 384])?);
    let lengths = LazyTensor::from(Tensor1::full(device, 16i32, [2])?);
    let (batch, length) = (h.dim(0), h.dim(1));
    let heads = |x: LazyTensor| {
        x.reshape([batch.clone(), length.clone(), Dim::from(12), Dim::from(32)])?.permute(&[0, 2, 1, 3])
    };
    let (q, k, v) = (heads(linear(&h, 384, 384)?)?, heads(linear(&h, 384, 384)?)?, heads(linear(&h, 384, 384)?)?);
    let scores = q.matmul(&k.transpose()?)?.div(32f32.sqrt())?;
    let one = || Dim::from(1);
    let visible = scores.index(3)?.lt(lengths.reshape([batch.clone(), one(), one(), one()])?)?;
    let context = visible.select(&scores, f32::NEG_INFINITY)?.softmax(-1)?.matmul(&v)?;
    let merged = context.permute(&[0, 2, 1, 3])?.reshape([batch.clone(), length.clone(), Dim::from(384)])?;
    let a = norm(&linear(&merged, 384, 384)?.add(&h)?)?;
    norm(&linear(&linear(&a, 384, 1536)?.gelu()?, 1536, 384)?.add(&a)?)
}
