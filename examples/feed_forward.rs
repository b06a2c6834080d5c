//! The feed-forward block of a real transformer layer, fused and unfused, on real hidden states.
//!
//! Run `cargo xtask demo`, or pass a `.safetensors` file with the names of `examples/data/README.md`. It prints the
//! adapter, plans, largest errors, times and the path of the WGSL, and fails if an error exceeds its bound.

use std::{
    error::Error,
    fmt, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use fuse_gpu::{Device, Tensor1, Tensor2, fuse};
use safetensors::{Dtype, SafeTensors};

fuse! {
    /// gelu(x·W1ᵀ + b1): one dispatch.
    pub fn ffn_up(x: f32[S, E], w: f32[H, E], b: f32[H]) -> f32[S, H] {
        gelu(matmul(x, transpose(w)) + b)
    }

    /// h·W2ᵀ + b2 + x: one dispatch.
    pub fn ffn_down(h: f32[S, H], w: f32[E, H], b: f32[E], x: f32[S, E]) -> f32[S, E] {
        matmul(h, transpose(w)) + b + x
    }

    /// The block: both functions inlined into one plan.
    pub fn feed_forward(x: f32[S, E], w1: f32[H, E], b1: f32[H], w2: f32[E, H], b2: f32[E]) -> f32[S, E] {
        ffn_down(ffn_up(x, w1, b1), w2, b2, x)
    }

    fn unfused_matmul(x: f32[M, K], w: f32[N, K]) -> f32[M, N] {
        matmul(x, transpose(w))
    }

    fn unfused_bias(x: f32[M, N], b: f32[N]) -> f32[M, N] {
        x + b
    }

    fn unfused_gelu(x: f32[M, N]) -> f32[M, N] {
        gelu(x)
    }

    fn unfused_add(x: f32[M, N], y: f32[M, N]) -> f32[M, N] {
        x + y
    }
}

const LAYER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/minilm_layer0.safetensors");

/// Dispatches of [`Block::unfused`]; transposed weights cost none.
const UNFUSED_DISPATCHES: usize = 6;

/// Relative to the row's largest magnitude: sums of 384 and 1536 products in f32, in any order, against f64.
const BOUND: f64 = 1e-5;

/// This model's layer normalization.
const EPSILON: f64 = 1e-12;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from(LAYER), PathBuf::from);
    let layer = Layer::read(&path)?;
    let device = Device::blocking()?;
    let block = Block::upload(&device, &layer)?;

    println!("layer    {}", path.display());
    println!("shape    {} tokens, {} features, {} hidden", layer.tokens, layer.features, layer.hidden);
    println!("adapter  {}", device.info());
    println!("\n{}", feed_forward::PLAN);

    println!("largest error, relative to the largest magnitude of its row (at most {BOUND:.0e} allowed)");
    check_results(&layer, &block)?;

    println!("\ntime of the block, median of {BATCHES} batches after warming up");
    let fused = median_time(&device, || block.fused().map(drop))?;
    let unfused = median_time(&device, || block.unfused().map(drop))?;
    println!("  fused    {:>10.1} µs   {} dispatches", micros(fused), feed_forward::PLAN.groups.len());
    println!("  unfused  {:>10.1} µs   {UNFUSED_DISPATCHES} dispatches", micros(unfused));
    println!("  ratio    {:>10.2}", micros(unfused) / micros(fused));

    println!("\nWGSL: {} texts in `feed_forward::KERNELS`;", texts());
    println!("      building with FUSE_DUMP_DIR=/some/folder writes graph, groups, schedules and WGSL there");
    Ok(())
}

/// Over all variants.
fn texts() -> usize {
    let kernels = feed_forward::KERNELS;
    kernels.iter().flat_map(|kernel| kernel.variants.iter()).map(|variant| variant.passes.len()).sum()
}

fn check_results(layer: &Layer, block: &Block) -> Result<()> {
    let hidden = ffn_up(&block.x, &block.w1, &block.b1)?.to_vec_blocking()?;
    report("hidden layer against the reference", &hidden, &layer.reference_hidden, layer.hidden)?;

    let fused = block.fused()?.to_vec_blocking()?;
    let unfused = block.unfused()?.to_vec_blocking()?;
    let [interpreted] = feed_forward::reference(&block.x, &block.w1, &block.b1, &block.w2, &block.b2)?;
    let interpreted = interpreted.data;
    report("fused block against the f64 interpreter", &fused, &interpreted, layer.features)?;
    report("unfused block against the f64 interpreter", &unfused, &interpreted, layer.features)?;

    let normalized = layer.normalize(&fused);
    report("layer output against the reference", &normalized, &layer.reference_out, layer.features)
}

fn report<T: Copy + Into<f64>, U: Copy + Into<f64>>(
    what: &str,
    actual: &[T],
    expected: &[U],
    row: usize,
) -> Result<()> {
    let error = actual.chunks(row).zip(expected.chunks(row)).map(|(a, e)| row_error(a, e)).fold(0.0, worse);
    println!("  {what:<45} {error:.1e}");
    // Fails for NaN.
    if error <= BOUND { Ok(()) } else { Err(format!("{what}: error {error:.1e} exceeds {BOUND:.0e}").into()) }
}

fn row_error<T: Copy + Into<f64>, U: Copy + Into<f64>>(actual: &[T], expected: &[U]) -> f64 {
    let magnitude = expected.iter().map(|&e| e.into().abs()).fold(0.0, f64::max);
    actual.iter().zip(expected).map(|(&a, &e)| (a.into() - e.into()).abs()).fold(0.0, worse) / magnitude
}

/// NaN is the larger error; `f64::max` would drop it.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

struct Block {
    x: Tensor2<f32>,
    w1: Tensor2<f32>,
    b1: Tensor1<f32>,
    w2: Tensor2<f32>,
    b2: Tensor1<f32>,
}

impl Block {
    fn upload(device: &Device, layer: &Layer) -> Result<Self, fuse_gpu::Error> {
        let (s, e, h) = (layer.tokens, layer.features, layer.hidden);
        Ok(Self {
            x: Tensor2::from_slice(device, &layer.x, [s, e])?,
            w1: Tensor2::from_slice(device, &layer.w1, [h, e])?,
            b1: Tensor1::from_slice(device, &layer.b1, [h])?,
            w2: Tensor2::from_slice(device, &layer.w2, [e, h])?,
            b2: Tensor1::from_slice(device, &layer.b2, [e])?,
        })
    }

    fn fused(&self) -> Result<Tensor2<f32>, fuse_gpu::Error> {
        feed_forward(&self.x, &self.w1, &self.b1, &self.w2, &self.b2)
    }

    fn unfused(&self) -> Result<Tensor2<f32>, fuse_gpu::Error> {
        let hidden = unfused_gelu(&unfused_bias(&unfused_matmul(&self.x, &self.w1)?, &self.b1)?)?;
        unfused_add(&unfused_bias(&unfused_matmul(&hidden, &self.w2)?, &self.b2)?, &self.x)
    }
}

const BATCHES: usize = 9;

/// GPUs raise their clocks only under load.
const WARM_UP: Duration = Duration::from_millis(250);

/// So long that the wait at its end hardly counts.
const BATCH_TIME: Duration = Duration::from_millis(50);

/// Calls are queued back to back and waited for once.
fn median_time(device: &Device, call: impl Fn() -> Result<(), fuse_gpu::Error>) -> Result<Duration> {
    let batch = |calls: u32| -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        device.synchronize_blocking()?;
        Ok(start.elapsed() / calls)
    };
    let (start, mut calls, mut time) = (Instant::now(), 1, Duration::ZERO);
    while start.elapsed() < WARM_UP {
        time = batch(calls)?;
        calls = (BATCH_TIME.as_nanos() / time.as_nanos().max(1)).clamp(1, 10_000) as u32;
    }
    let mut times = vec![time; BATCHES];
    for time in &mut times {
        *time = batch(calls)?;
    }
    times.sort();
    Ok(times[BATCHES / 2])
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Shapes are checked.
struct Layer {
    tokens: usize,
    features: usize,
    hidden: usize,
    x: Vec<f32>,
    w1: Vec<f32>,
    b1: Vec<f32>,
    w2: Vec<f32>,
    b2: Vec<f32>,
    gamma: Vec<f32>,
    beta: Vec<f32>,
    reference_hidden: Vec<f32>,
    reference_out: Vec<f32>,
}

impl Layer {
    fn read(path: &Path) -> Result<Self> {
        let about = |error: &dyn fmt::Display| format!("cannot read layer `{}`: {error}", path.display());
        let bytes = fs::read(path).map_err(|error| about(&error))?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|error| about(&error))?;
        Self::from_tensors(&tensors).map_err(|error| about(&error).into())
    }

    fn from_tensors(tensors: &SafeTensors) -> Result<Self> {
        let (shape, x) = matrix(tensors, "reference.attn_out")?;
        let [tokens, features] = shape;
        let ([hidden, _], w1) = matrix(tensors, "encoder.layer.0.intermediate.dense.weight")?;
        expect(tensors, "encoder.layer.0.intermediate.dense.weight", &[hidden, features])?;
        Ok(Self {
            tokens,
            features,
            hidden,
            x,
            w1,
            b1: expect(tensors, "encoder.layer.0.intermediate.dense.bias", &[hidden])?,
            w2: expect(tensors, "encoder.layer.0.output.dense.weight", &[features, hidden])?,
            b2: expect(tensors, "encoder.layer.0.output.dense.bias", &[features])?,
            gamma: expect(tensors, "encoder.layer.0.output.LayerNorm.weight", &[features])?,
            beta: expect(tensors, "encoder.layer.0.output.LayerNorm.bias", &[features])?,
            reference_hidden: expect(tensors, "reference.ffn_hidden", &[tokens, hidden])?,
            reference_out: expect(tensors, "reference.layer_out", &[tokens, features])?,
        })
    }

    /// Layer norm of the block's output, `(y - mean)/sqrt(var + ε)·γ + β` (Ba et al. 2016), in f64.
    fn normalize(&self, rows: &[f32]) -> Vec<f64> {
        rows.chunks(self.features).flat_map(|row| self.normalize_row(row)).collect()
    }

    fn normalize_row<'a>(&'a self, row: &'a [f32]) -> impl Iterator<Item = f64> + 'a {
        let n = row.len() as f64;
        let mean = row.iter().map(|&y| f64::from(y)).sum::<f64>() / n;
        let variance = row.iter().map(|&y| (f64::from(y) - mean).powi(2)).sum::<f64>() / n;
        let scale = (variance + EPSILON).sqrt().recip();
        let affine = self.gamma.iter().zip(&self.beta);
        row.iter().zip(affine).map(move |(&y, (&g, &b))| (f64::from(y) - mean) * scale * f64::from(g) + f64::from(b))
    }
}

fn matrix(tensors: &SafeTensors, name: &str) -> Result<([usize; 2], Vec<f32>)> {
    let (shape, values) = tensor(tensors, name)?;
    let shape = shape.try_into().map_err(|shape| format!("tensor `{name}`: expected rank 2, found shape {shape:?}"))?;
    Ok((shape, values))
}

fn expect(tensors: &SafeTensors, name: &str, expected: &[usize]) -> Result<Vec<f32>> {
    let (shape, values) = tensor(tensors, name)?;
    if shape != expected {
        return Err(format!("tensor `{name}`: expected shape {expected:?}, found {shape:?}").into());
    }
    Ok(values)
}

fn tensor(tensors: &SafeTensors, name: &str) -> Result<(Vec<usize>, Vec<f32>)> {
    let view = tensors.tensor(name).map_err(|_| format!("it has no tensor `{name}`"))?;
    if view.dtype() != Dtype::F32 {
        return Err(format!("tensor `{name}`: expected F32, found {:?}", view.dtype()).into());
    }
    let values = view.data().chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    Ok((view.shape().to_vec(), values.collect()))
}
