//! A network whose layers are known only at run time: `cargo run --release --features jit --example lazy -- 32 64 10`.
//!
//! Code looks eager: each line records an operation. Reading values compiles the recorded graph once, as one function:
//! loss, gradients and update are a handful of kernels, whatever the widths.

use std::error::Error;

use fuse_gpu::{
    Device, Tensor1, Tensor2,
    auto::{self, LazyTensor, eval_all, explain, grad, stats},
};

const BATCH: usize = 96;
const STEPS: usize = 60;
const RATE: f32 = 0.2;

/// A layer: `x·w + b`.
struct Layer {
    w: LazyTensor,
    b: LazyTensor,
}

/// Layers of the given widths, such as `[32, 64, 10]`, with random weights.
fn network(device: &Device, widths: &[usize]) -> Result<Vec<Layer>, auto::Error> {
    let layer = |(seed, pair): (usize, &[usize])| {
        let w = LazyTensor::from(Tensor2::<f32>::randn(device, [pair[0], pair[1]], seed as u64)?);
        let b = LazyTensor::from(Tensor1::<f32>::zeros(device, [pair[1]])?);
        Ok(Layer { w: w * (2.0 / pair[0] as f32).sqrt(), b })
    };
    widths.windows(2).enumerate().map(layer).collect()
}

fn scores(layers: &[Layer], x: &LazyTensor) -> Result<LazyTensor, auto::Error> {
    let mut h = x.clone();
    for (number, layer) in layers.iter().enumerate() {
        h = h.matmul(&layer.w)?.add(&layer.b)?;
        if number + 1 < layers.len() {
            h = h.relu()?;
        }
    }
    Ok(h)
}

/// The loss, and the layers after a step of gradient descent. Nothing runs here.
fn step(layers: &[Layer], x: &LazyTensor, classes: &LazyTensor) -> Result<(LazyTensor, Vec<Layer>), auto::Error> {
    let loss = scores(layers, x)?.cross_entropy(classes, -1)?.mean(())?;
    let weights: Vec<&LazyTensor> = layers.iter().flat_map(|layer| [&layer.w, &layer.b]).collect();
    let gradients = grad(&loss, &weights)?;
    let updated =
        |(layer, of): (&Layer, &[LazyTensor])| Layer { w: &layer.w - RATE * &of[0], b: &layer.b - RATE * &of[1] };
    Ok((loss, layers.iter().zip(gradients.chunks(2)).map(updated).collect()))
}

fn values<'v>(loss: &'v LazyTensor, layers: &'v [Layer]) -> Vec<&'v LazyTensor> {
    std::iter::once(loss).chain(layers.iter().flat_map(|layer| [&layer.w, &layer.b])).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    // A wrong width becomes 0, which is refused below.
    let mut widths: Vec<usize> = std::env::args().skip(1).map(|width| width.parse().unwrap_or(0)).collect();
    if widths.is_empty() {
        widths = vec![32, 64, 10];
    }
    let (&[inputs, .., outputs], false) = (&widths[..], widths.contains(&0)) else {
        return Err("give the widths of at least two layers, such as `32 64 10`".into());
    };

    let device = Device::blocking()?;
    println!("layers of {widths:?} on {}", device.info().name);
    let mut layers = network(&device, &widths)?;
    // Targets: the argmax of another, random layer.
    let x = LazyTensor::from(Tensor2::<f32>::randn(&device, [BATCH, inputs], 100)?);
    let teacher = LazyTensor::from(Tensor2::<f32>::randn(&device, [inputs, outputs], 101)?);
    let classes = x.matmul(&teacher)?.argmax(-1)?;
    // Otherwise the first step would also compute weights and targets: another function.
    eval_all(&[values(&classes, &layers), vec![&x]].concat())?;

    for number in 0..STEPS {
        let (loss, next) = step(&layers, &x, &classes)?;
        if number == 0 {
            let plan = explain(&values(&loss, &next))?.plan; // `{plan}` has more to say
            println!("\na step is {} kernels instead of {}:", plan.groups.len(), plan.unfused_dispatches);
            plan.groups.iter().for_each(|group| println!("  {}: {}", group.kind, group.operations.join(", ")));
            println!();
        }
        eval_all(&values(&loss, &next))?; // one launch; compiled in the first step
        layers = next;
        if number % 10 == 0 || number + 1 == STEPS {
            println!("step {number:2}: loss {:.4}", loss.to_vec_blocking::<f32>()?[0]);
        }
    }

    let right = scores(&layers, &x)?.argmax(-1)?.eq(&classes)?.cast(auto::DType::F32)?.mean(())?;
    println!("{:.0} % are right\n\n{}", 100.0 * right.to_vec_blocking::<f32>()?[0], stats(&device));
    Ok(())
}
