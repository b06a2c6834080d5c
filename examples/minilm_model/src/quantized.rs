//! The encoder with quantized linear layers: weights of 8, 4, 3, 2 or 1 bits, activations of `f32`.
//!
//! Weights are loaded packed (`codes`) or packed on the host, and dequantized by kernels. Embedding tables and norms
//! stay `f32`.

use fuse_gpu::{
    Bits, Device, Error, Q1, Q2, Q3, Q4, Q8, QTensor, QuantScheme, Tensor1, Tensor2, Tensor3, fuse, quantize::Rounding,
};

use crate::{
    batch::Batch,
    encoder::pool,
    model::{Embeddings, Encoder, LAYERS, Layer, Norm},
    weights::{Upload, Weights},
};

/// Scheme without codes: the best that needs no calibration (docs/quantization.md), along the inputs, the weights'
/// second axis.
const SCHEME: QuantScheme = QuantScheme::asymmetric().per_group(32).rounding(Rounding::LeastSquares).axis(1);

fuse! {
    /// Splits the features into 12 heads of 32, as a batch axis.
    fn heads(x: f32[B, S, 384]) -> f32[B, 12, S, 32] {
        permute(reshape(x, [B, S, 12, 32]), [0, 2, 1, 3])
    }

    /// Attention over the real tokens of each text.
    fn attend(q: f32[B, S, 384], k: f32[B, S, 384], v: f32[B, S, 384], lengths: i32[B]) -> f32[B, S, 384] {
        let scores = matmul(heads(q), transpose(heads(k))) / sqrt(32.0);
        let real = index(scores, axis = 3) < reshape(lengths, [B, 1, 1, 1]);
        let context = matmul(softmax(select(real, scores, -inf)), heads(v));
        reshape(permute(context, [0, 2, 1, 3]), [B, S, 384])
    }
}

/// Bit widths of linear layers.
pub trait LinearBits: Bits {
    /// `x·wᵀ + b`.
    ///
    /// # Errors
    /// Those of launches.
    fn linear(x: &Tensor3<f32>, layer: &Linear<Self>) -> Result<Tensor3<f32>, Error>;

    /// `gelu(x·wᵀ + b)`.
    ///
    /// # Errors
    /// Those of launches.
    fn linear_gelu(x: &Tensor3<f32>, layer: &Linear<Self>) -> Result<Tensor3<f32>, Error>;

    /// `layer_norm(x·wᵀ + b + residual)`.
    ///
    /// # Errors
    /// Those of launches.
    fn linear_norm(
        x: &Tensor3<f32>,
        layer: &Linear<Self>,
        residual: &Tensor3<f32>,
        norm: &Norm<f32>,
    ) -> Result<Tensor3<f32>, Error>;
}

macro_rules! linear_layers {
    ($($bits:ident: $q:ident $kernels:ident;)*) => {$(
        mod $kernels {
            fuse_gpu::fuse! {
                pub(super) fn linear(x: f32[B, S, K], w: $q[N, K], b: f32[N]) -> f32[B, S, N] {
                    matmul(x, transpose(w)) + b
                }

                pub(super) fn linear_gelu(x: f32[B, S, K], w: $q[N, K], b: f32[N]) -> f32[B, S, N] {
                    gelu(matmul(x, transpose(w)) + b)
                }

                pub(super) fn linear_norm(
                    x: f32[B, S, K], w: $q[384, K], b: f32[384],
                    r: f32[B, S, 384], gamma: f32[384], beta: f32[384],
                ) -> f32[B, S, 384] {
                    layer_norm(matmul(x, transpose(w)) + b + r, gamma, beta, eps = 1e-12)
                }
            }
        }

        impl LinearBits for $bits {
            fn linear(x: &Tensor3<f32>, layer: &Linear<Self>) -> Result<Tensor3<f32>, Error> {
                $kernels::linear(x, &layer.weight, &layer.bias)
            }

            fn linear_gelu(x: &Tensor3<f32>, layer: &Linear<Self>) -> Result<Tensor3<f32>, Error> {
                $kernels::linear_gelu(x, &layer.weight, &layer.bias)
            }

            fn linear_norm(
                x: &Tensor3<f32>,
                layer: &Linear<Self>,
                residual: &Tensor3<f32>,
                norm: &Norm<f32>,
            ) -> Result<Tensor3<f32>, Error> {
                $kernels::linear_norm(x, &layer.weight, &layer.bias, residual, &norm.gamma, &norm.beta)
            }
        }
    )*};
}

linear_layers! {
    Q8: q8 kernels_q8;
    Q4: q4 kernels_q4;
    Q3: q3 kernels_q3;
    Q2: q2 kernels_q2;
    Q1: q1 kernels_q1;
}

/// Linear layer: quantized weights `[outputs, inputs]`, and a bias.
pub struct Linear<Q: Bits> {
    weight: QTensor<Q, 2>,
    bias: Tensor1<f32>,
}

type QuantizedLayer<Q> = Layer<f32, Linear<Q>>;

/// Model with quantized linear layers.
pub struct QuantizedModel<Q: LinearBits> {
    embeddings: Embeddings<f32>,
    layers: Vec<QuantizedLayer<Q>>,
}

impl<Q: LinearBits> QuantizedModel<Q> {
    /// Uploads the model; `vocabulary` is its tokenizer's.
    ///
    /// # Errors
    /// If a tensor is missing, has a wrong shape or is not finite, and those of uploads.
    pub fn load(weights: &Weights<'_>, vocabulary: usize, device: &Device) -> anyhow::Result<Self> {
        let to = Upload { device, convert: |x| x };
        let layer = |layer| Layer::load_with(layer, weights, &to, Linear::load);
        Ok(Self {
            embeddings: Embeddings::load(weights, vocabulary, &to)?,
            layers: (0..LAYERS).map(layer).collect::<anyhow::Result<_>>()?,
        })
    }
}

impl<Q: LinearBits> Encoder for QuantizedModel<Q> {
    fn encode(&self, batch: &Batch) -> Result<Tensor2<f32>, Error> {
        let (mut h, lengths) = self.embeddings.apply(batch)?;
        for layer in &self.layers {
            h = layer.apply(&h, &lengths)?;
        }
        pool(&h, &lengths)
    }
}

impl<Q: LinearBits> QuantizedLayer<Q> {
    fn apply(&self, h: &Tensor3<f32>, lengths: &Tensor1<i32>) -> Result<Tensor3<f32>, Error> {
        let Self { query, key, value, attention, attention_norm, intermediate, output, output_norm } = self;
        let context = attend(&Q::linear(h, query)?, &Q::linear(h, key)?, &Q::linear(h, value)?, lengths)?;
        let a = Q::linear_norm(&context, attention, h, attention_norm)?;
        Q::linear_norm(&Q::linear_gelu(&a, intermediate)?, output, &a, output_norm)
    }
}

impl<Q: Bits> Linear<Q> {
    fn load(name: &str, shape: [usize; 2], weights: &Weights<'_>, to: &Upload<'_, f32>) -> anyhow::Result<Self> {
        let weight = format!("{name}.weight");
        Ok(Self {
            weight: match weights.codes(&weight) {
                Some(codes) => QTensor::upload(to.device, codes)?,
                None => QTensor::quantize(to.device, &weights.values(&weight, &shape)?, shape, &SCHEME)?,
            },
            bias: weights.upload(&format!("{name}.bias"), [shape[0]], to)?,
        })
    }
}
