//! The encoder of all-MiniLM-L6-v2 with lazy tensors, against `examples/minilm_model`, with random weights of its
//! widths.

use fuse_gpu::{
    Device, Tensor1, Tensor2,
    auto::{Dim, Error, LazyTensor, Over, explain, stats},
};
use fuse_minilm_model::encoder::{HIDDEN, WIDTH, embed_tokens, encoder_layer, pool};

use super::{assert_near, device};

const HEADS: usize = 12;
const EPS: f32 = 1e-12;
const WORDS: usize = 50;
const POSITIONS: usize = 64;

struct Linear {
    w: LazyTensor,
    b: LazyTensor,
}

struct Norm {
    gamma: LazyTensor,
    beta: LazyTensor,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    output_norm: Norm,
}

struct Encoder {
    words: LazyTensor,
    positions: LazyTensor,
    segments: LazyTensor,
    norm: Norm,
    layers: Vec<Layer>,
}

impl Linear {
    fn apply(&self, x: &LazyTensor) -> Result<LazyTensor, Error> {
        x.matmul(&self.w.transpose()?)?.add(&self.b)
    }
}

impl Norm {
    fn apply(&self, x: &LazyTensor) -> Result<LazyTensor, Error> {
        x.layer_norm(&self.gamma, &self.beta, EPS)
    }
}

fn heads(x: &LazyTensor) -> Result<LazyTensor, Error> {
    x.reshape([x.dim(0), x.dim(1), Dim::from(HEADS), Dim::from(WIDTH / HEADS)])?.permute(&[0, 2, 1, 3])
}

impl Layer {
    fn apply(&self, h: &LazyTensor, lengths: &LazyTensor) -> Result<LazyTensor, Error> {
        let (q, k, v) = (heads(&self.query.apply(h)?)?, heads(&self.key.apply(h)?)?, heads(&self.value.apply(h)?)?);
        let scores = q.matmul(&k.transpose()?)? / 32f32.sqrt();
        let lengths = lengths.unsqueeze(-1)?.unsqueeze(-1)?.unsqueeze(-1)?;
        let real = scores.index(3)?.lt(&lengths)?;
        let context = real.select(&scores, f32::NEG_INFINITY)?.softmax(-1)?.matmul(&v)?;
        let merged = context.permute(&[0, 2, 1, 3])?.reshape([h.dim(0), h.dim(1), Dim::from(WIDTH)])?;
        let a = self.attention_norm.apply(&(self.output.apply(&merged)? + h))?;
        let hidden = self.up.apply(&a)?.gelu()?;
        self.output_norm.apply(&(self.down.apply(&hidden)? + &a))
    }
}

impl Encoder {
    fn apply(&self, ids: &LazyTensor, lengths: &LazyTensor) -> Result<LazyTensor, Error> {
        let positions = self.positions.embedding(&ids.index(1)?)?;
        let sum = self.words.embedding(ids)? + positions + self.segments.slice(0, 0, 1)?;
        let mut h = self.norm.apply(&sum)?;
        for layer in &self.layers {
            h = layer.apply(&h, lengths)?;
        }
        let counts = lengths.unsqueeze(-1)?;
        let real = h.index(1)?.lt(&counts.unsqueeze(-1)?)?;
        let mean = real.select(&h, 0.0)?.sum(1)? / counts.cast(fuse_gpu::auto::DType::F32)?;
        let norm = (&mean * &mean).sum(Over::from(1).keep())?;
        mean.mul(norm.rsqrt()?)
    }
}

struct Tensors {
    matrices: [Tensor2<f32>; 6],
    biases: [Tensor1<f32>; 6],
    norms: [Tensor1<f32>; 4],
}

impl Tensors {
    fn random(device: &Device, seed: u64) -> Result<Self, fuse_gpu::Error> {
        let shapes = [[WIDTH, WIDTH]; 4].into_iter().chain([[HIDDEN, WIDTH], [WIDTH, HIDDEN]]);
        let (mut matrices, mut biases) = (vec![], vec![]);
        for (at, [outputs, inputs]) in shapes.enumerate() {
            matrices.push(uniform(device, [outputs, inputs], (3.0 / inputs as f32).sqrt(), 0.0, seed + at as u64)?);
            biases.push(uniform(device, [outputs], 0.2, 0.0, seed + 10 + at as u64)?);
        }
        let norm = |at: u64, offset: f32| uniform(device, [WIDTH], 0.2, offset, seed + 20 + at);
        Ok(Self {
            matrices: matrices.try_into().unwrap_or_else(|_| panic!("six")),
            biases: biases.try_into().unwrap_or_else(|_| panic!("six")),
            norms: [norm(0, 1.0)?, norm(1, 0.0)?, norm(2, 1.0)?, norm(3, 0.0)?],
        })
    }

    fn layer(&self) -> Layer {
        let linear = |at: usize| Linear { w: (&self.matrices[at]).into(), b: (&self.biases[at]).into() };
        let norm = |at: usize| Norm { gamma: (&self.norms[at]).into(), beta: (&self.norms[at + 1]).into() };
        Layer {
            query: linear(0),
            key: linear(1),
            value: linear(2),
            output: linear(3),
            attention_norm: norm(0),
            up: linear(4),
            down: linear(5),
            output_norm: norm(2),
        }
    }

    fn fused(
        &self,
        h: &fuse_gpu::Tensor3<f32>,
        lengths: &Tensor1<i32>,
    ) -> Result<fuse_gpu::Tensor3<f32>, fuse_gpu::Error> {
        let ([wq, wk, wv, wo, w1, w2], [bq, bk, bv, bo, b1, b2]) = (&self.matrices, &self.biases);
        let [g1, c1, g2, c2] = &self.norms;
        encoder_layer(h, lengths, wq, bq, wk, bk, wv, bv, wo, bo, g1, c1, w1, b1, w2, b2, g2, c2)
    }
}

fn uniform<const D: usize>(
    device: &Device,
    shape: [usize; D],
    scale: f32,
    offset: f32,
    seed: u64,
) -> Result<fuse_gpu::Tensor<f32, D>, fuse_gpu::Error> {
    let values = fuse_gpu::Tensor::<f32, D>::rand(device, shape, seed)?.to_vec_blocking()?;
    fuse_gpu::Tensor::from_vec(device, values.iter().map(|x| (2.0 * x - 1.0) * scale + offset).collect(), shape)
}

fn lengths(device: &Device, batch: usize, length: usize) -> Result<Tensor1<i32>, fuse_gpu::Error> {
    let lengths = (0..batch).map(|text| (length - text * (length - 1) / batch) as i32).collect();
    Tensor1::from_vec(device, lengths, [batch])
}

#[test]
fn a_layer_has_the_kernels_and_the_values_of_fuse() -> Result<(), Error> {
    let device = device();
    let tensors = Tensors::random(&device, 100)?;
    let layer = tensors.layer();
    let mut compiled = None;
    for (batch, length) in [(3, 16), (2, 7), (5, 32), (4, 3)] {
        let h = uniform(&device, [batch, length, WIDTH], 2.0, 0.0, 7)?;
        let lengths = lengths(&device, batch, length)?;
        let y = layer.apply(&LazyTensor::from(&h), &LazyTensor::from(&lengths))?;
        if compiled.is_none() {
            let plan = explain(&[&y])?.plan;
            let kinds =
                |plan: &fuse_artifact::Plan| plan.groups.iter().map(|group| group.kind.to_string()).collect::<Vec<_>>();
            assert_eq!(kinds(&plan), kinds(encoder_layer::PLAN), "{plan}");
            assert_eq!(plan.groups.len(), 5);
            assert_eq!(plan.alternatives.len(), encoder_layer::PLAN.alternatives.len(), "{plan}");
        }
        let expected = tensors.fused(&h, &lengths)?.to_vec_blocking()?;
        assert_near(&y.to_vec_blocking::<f32>()?, &expected, 1e-5);
        let now = stats(&device).compiled;
        assert_eq!(*compiled.get_or_insert(now), now, "{batch} texts of {length} tokens compile nothing");
    }
    assert_eq!(compiled, Some(1));
    Ok(())
}

#[test]
fn the_encoder_is_one_function_for_all_batches() -> Result<(), Error> {
    let device = device();
    let tensors = [Tensors::random(&device, 200)?, Tensors::random(&device, 300)?];
    let words = uniform(&device, [WORDS, WIDTH], 1.0, 0.0, 1)?;
    let positions = uniform(&device, [POSITIONS, WIDTH], 1.0, 0.0, 2)?;
    let segments = uniform(&device, [2, WIDTH], 1.0, 0.0, 3)?;
    let (gamma, beta) = (uniform(&device, [WIDTH], 0.2, 1.0, 4)?, uniform(&device, [WIDTH], 0.2, 0.0, 5)?);
    let encoder = Encoder {
        words: (&words).into(),
        positions: (&positions).into(),
        segments: (&segments).into(),
        norm: Norm { gamma: (&gamma).into(), beta: (&beta).into() },
        layers: tensors.iter().map(Tensors::layer).collect(),
    };
    for (batch, length) in [(2, 9), (3, 5), (4, 20)] {
        let ids = (0..batch * length).map(|at| (at * 37 % WORDS) as i32).collect();
        let ids = Tensor2::from_vec(&device, ids, [batch, length])?;
        let lengths = lengths(&device, batch, length)?;
        let found = encoder.apply(&LazyTensor::from(&ids), &LazyTensor::from(&lengths))?;

        let mut h = embed_tokens(&ids, &words, &positions, &segments, &gamma, &beta)?;
        for tensors in &tensors {
            h = tensors.fused(&h, &lengths)?;
        }
        let expected = pool(&h, &lengths)?.to_vec_blocking()?;
        let kernels = explain(&[&found])?.plan.groups.len();
        let parts = embed_tokens::PLAN.groups.len() + 2 * encoder_layer::PLAN.groups.len() + pool::PLAN.groups.len();
        assert!(kernels <= parts, "{kernels} kernels, {parts} as functions");
        assert_near(&found.to_vec_blocking::<f32>()?, &expected, 1e-5);
        assert_eq!(stats(&device).compiled, 1, "{batch} texts of {length} tokens");
    }
    Ok(())
}
