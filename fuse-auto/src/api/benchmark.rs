//! Benchmarks of kinds of fusion.

use std::sync::Arc;

use fuse_runtime::{Device, Q4, QTensor, QuantScheme, Tensor1, Tensor2};

use crate::{
    api::lazy::LazyTensor,
    cache::{adaptive::measure, graphs::Mode},
    error::Error,
    eval::session::Session,
    node::Node,
    pattern::{Activation, BinaryOp, FusionPattern},
    trace::Trace,
};

/// Times of a kind of fusion.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BenchmarkResult {
    /// Kind of fusion.
    pub pattern: FusionPattern,
    /// Elements of the result.
    pub tensor_size: usize,
    /// Time with one kernel per operation, in milliseconds.
    pub unfused_time_ms: f64,
    /// Time of fused kernels, in milliseconds.
    pub fused_time_ms: f64,
    /// `unfused_time_ms / fused_time_ms`.
    pub speedup: f32,
}

/// Measures a kind of fusion on about `size` elements, fused and unfused. Blocks.
///
/// # Errors
/// Those of evaluation.
pub fn benchmark_pattern(device: &Device, pattern: FusionPattern, size: usize) -> Result<BenchmarkResult, Error> {
    let value = example(device, pattern, size)?;
    let node: &Arc<Node> = value.node()?;
    let auto = Session::of(device);
    let mut trace = Trace::default();
    trace.collect(&[node], |graph| auto.memory.needed(graph))?;
    let mut version = |mode| auto.graphs.function(&mut trace, mode, device);
    let versions = [version(Mode::Fused)?, version(Mode::Unfused)?];
    let times = measure(device, [&versions[0].code.function, &versions[1].code.function], &trace.args())?;
    let [fused_time_ms, unfused_time_ms] = times.map(|time| time.as_secs_f64() * 1e3);
    let speedup = auto.adaptive.add_speedup(pattern, times);
    Ok(BenchmarkResult { pattern, tensor_size: node.elements(), unfused_time_ms, fused_time_ms, speedup })
}

fn example(device: &Device, pattern: FusionPattern, size: usize) -> Result<LazyTensor, Error> {
    // Quantized rows need a multiple of 32.
    let side = (size as f64).sqrt().ceil().max(1.0) as usize;
    let side = side.next_multiple_of(32);
    let vector = |seed: u64| -> Result<LazyTensor, Error> { Ok(Tensor1::<f32>::rand(device, [size], seed)?.into()) };
    let matrix =
        |seed: u64| -> Result<LazyTensor, Error> { Ok(Tensor2::<f32>::rand(device, [side, side], seed)?.into()) };
    let row = |seed: u64| -> Result<LazyTensor, Error> { Ok(Tensor1::<f32>::rand(device, [side], seed)?.into()) };
    let packed = |axis: usize| -> Result<LazyTensor, Error> {
        let values = vec![0.5f32; side * side];
        let scheme = QuantScheme::asymmetric().per_group(32).axis(axis);
        Ok((&QTensor::<Q4, 2>::quantize(device, &values, [side, side], &scheme)?).into())
    };
    match pattern {
        FusionPattern::BinaryActivation { binary_op, activation } => {
            activated(&binary(binary_op, &vector(1)?, &vector(2)?)?, activation)
        }
        FusionPattern::ScalarActivation { scalar_op, activation } => {
            let x = vector(1)?;
            let scaled = match scalar_op {
                BinaryOp::Add => x.add(1.5),
                BinaryOp::Sub => x.sub(1.5),
                BinaryOp::Mul => x.mul(1.5),
                BinaryOp::Div => x.div(1.5),
            };
            activated(&scaled?, activation)
        }
        FusionPattern::LinearLayer { has_bias, activation } => {
            let mut y = matrix(1)?.matmul(&matrix(2)?)?;
            if has_bias {
                y = y.add(row(3)?)?;
            }
            match activation {
                Some(activation) => activated(&y, activation),
                None => Ok(y),
            }
        }
        FusionPattern::LinearActivation => matrix(1)?.matmul(&matrix(2)?)?.relu(),
        FusionPattern::ElementWiseChain => vector(1)?.add(vector(2)?)?.mul(vector(3)?)?.add(vector(4)?),
        FusionPattern::BinaryUnary => vector(1)?.add(vector(2)?)?.exp(),
        FusionPattern::ReshapeOp => matrix(1)?.transpose()?.add(matrix(2)?),
        FusionPattern::ActivationChain => vector(1)?.relu()?.sigmoid(),
        FusionPattern::NormActivation => matrix(1)?.layer_norm(&row(2)?, &row(3)?, 1e-5)?.gelu(),
        FusionPattern::AttentionPattern => {
            let scores = matrix(1)?.matmul(&matrix(2)?.transpose()?)?.mul(0.125)?;
            scores.softmax(-1)?.matmul(&matrix(3)?)
        }
        FusionPattern::MatrixChain => {
            let x = matrix(1)?;
            x.matmul(&matrix(2)?)?.mul(x.matmul(&matrix(3)?)?)
        }
        FusionPattern::QuantizedMatmul => matrix(1)?.matmul(&packed(0)?)?.add(row(2)?),
        FusionPattern::QuantizedMatmulActivation => matrix(1)?.matmul(&packed(0)?)?.relu(),
        FusionPattern::QuantizedAttention => {
            matrix(1)?.matmul(&packed(1)?.transpose()?)?.softmax(-1)?.matmul(&packed(0)?)
        }
        FusionPattern::Other => vector(1)?.exp()?.add(1.0)?.log(),
    }
}

fn binary(op: BinaryOp, a: &LazyTensor, b: &LazyTensor) -> Result<LazyTensor, Error> {
    match op {
        BinaryOp::Add => a.add(b),
        BinaryOp::Sub => a.sub(b),
        BinaryOp::Mul => a.mul(b),
        BinaryOp::Div => a.div(b),
    }
}

fn activated(x: &LazyTensor, activation: Activation) -> Result<LazyTensor, Error> {
    match activation {
        Activation::Relu => x.relu(),
        Activation::LeakyRelu => x.leaky_relu(0.01),
        Activation::Elu => x.elu(1.0),
        Activation::Selu => x.selu(),
        Activation::Gelu => x.gelu(),
        Activation::GeluTanh => x.gelu_tanh(),
        Activation::Silu => x.silu(),
        Activation::Sigmoid => x.sigmoid(),
        Activation::HardSigmoid => x.hard_sigmoid(),
        Activation::HardSwish => x.hard_swish(),
        Activation::Softplus => x.softplus(),
        Activation::Mish => x.mish(),
        Activation::Tanh => x.tanh(),
    }
}
