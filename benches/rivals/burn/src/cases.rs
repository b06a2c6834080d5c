//! Cases of `benches/bars.toml` in Burn, with operands of `benches/kernels` and some expected values.

use anyhow::{Context, bail, ensure};
use burn::tensor::{
    DType, Device, Tensor, TensorData,
    activation::{gelu, relu, sigmoid, softmax},
    f16,
    module::{attention, layer_norm, linear},
    ops::AttentionModuleOptions,
    quantization::{QuantScheme, QuantValue, ScaleDtype},
};
use fuse_bench_results::results::Key;

use crate::measure::{Effort, Opened, Times};

pub(crate) struct Measured {
    pub(crate) times: Times,
    /// Counted as in `benches/kernels`.
    pub(crate) flops: f64,
    pub(crate) bytes: f64,
}

struct Case<'a> {
    opened: &'a Opened,
    effort: Effort,
    dtype: DType,
}

/// Multiples of 1/64 in [-1, 1), exact in `f16`.
#[derive(Clone, Copy)]
struct Values(u32);

const A: Values = Values(1);
const B: Values = Values(2);
const C: Values = Values(3);
const D: Values = Values(4);

impl Values {
    fn at(self, index: usize) -> f64 {
        let hash = (index as u32 ^ self.0.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        f64::from((hash >> 25) as i32 - 64) / 64.0
    }
}

pub(crate) fn run(opened: &Opened, effort: Effort, key: Key<'_>) -> anyhow::Result<Measured> {
    let dtype = match key.dtype {
        "f32" => DType::F32,
        "f16" => DType::F16,
        other => bail!("no dtype `{other}`"),
    };
    ensure!(opened.device.supports_dtype(dtype), "the device has no {}", key.dtype);
    let case = Case { opened, effort, dtype };
    let extents = extents(key.size).with_context(|| format!("no size `{}`", key.size))?;
    match (key.case, &extents[..]) {
        ("(a + b) * c", &[n]) => case.chain(n, 3, 2, |[a, b, c]| (a + b) * c, |[a, b, c]| (a + b) * c),
        ("relu(a + b)", &[n]) => case.chain(n, 2, 2, |[a, b, _]| relu(a + b), |[a, b, _]| (a + b).max(0.0)),
        ("sigmoid(a * b + c)", &[n]) => {
            case.chain(n, 3, 3, |[a, b, c]| sigmoid(a * b + c), |[a, b, c]| 1.0 / (1.0 + (-(a * b + c)).exp()))
        }
        ("matmul", &[m, n, k]) => case.product([m, n, k]),
        ("relu(matmul + b + r)", &[m, n, k]) => case.linear([m, n, k]),
        ("matmul(gelu(x)) + b", &[m, n, k]) => case.gelu_linear([m, n, k]),
        ("matmul, 8-bit weights", &[m, n, k]) => case.quantized([m, n, k]),
        ("softmax", &[m, n]) => case.softmax([m, n]),
        ("gelu(layer_norm)", &[m, n]) => case.norm([m, n]),
        ("attention", &[heads, queries, keys, width]) if queries == keys => case.attention([heads, keys, width]),
        (name, _) => bail!("this program has no `{name}` of size {}", key.size),
    }
}

fn extents(size: &str) -> Option<Vec<usize>> {
    match size.strip_prefix("2^") {
        Some(exponent) => Some(vec![1 << exponent.parse::<u32>().ok()?]),
        None => size.split('x').map(|extent| extent.parse().ok()).collect(),
    }
}

impl Case<'_> {
    fn upload<const R: usize>(&self, values: Values, shape: [usize; R]) -> Tensor<R> {
        let count = shape.iter().product();
        let device: &Device = &self.opened.device;
        let data = match self.dtype {
            DType::F16 => TensorData::new((0..count).map(|i| f16::from_f64(values.at(i))).collect(), shape),
            _ => TensorData::new((0..count).map(|i| values.at(i) as f32).collect(), shape),
        };
        Tensor::from_data(data, (device, self.dtype))
    }

    /// `work`: operations, and elements moved.
    fn finish<const R: usize>(
        &self,
        work: [usize; 2],
        compute: impl Fn() -> Tensor<R>,
        expected: impl Fn(usize) -> f64,
    ) -> anyhow::Result<Measured> {
        let result = compute();
        self.opened.wait();
        let values = result.into_data().convert_dtype(DType::F32).try_to_vec::<f32>();
        let values = values.map_err(|error| anyhow::anyhow!("the result cannot be read: {error:?}"))?;
        // Sums may be rounded at every step; the check only has to catch wrong kernels.
        let tolerance = if self.dtype == DType::F16 { 0.1 } else { 1e-3 };
        let step = (values.len() / 64).max(1) | 1;
        for index in (0..values.len()).step_by(step) {
            let (found, expected) = (f64::from(values[index]), expected(index));
            let error = (found - expected).abs() / expected.abs().max(1.0);
            ensure!(error <= tolerance, "wrong result: {found} at {index}, expected {expected}");
        }
        ensure!(values.iter().any(|&value| value != 0.0), "wrong result: nothing but zeros");
        let times = self.opened.measure(self.effort, compute);
        let bytes = if self.dtype == DType::F16 { 2 } else { 4 };
        Ok(Measured { times, flops: work[0] as f64, bytes: (work[1] * bytes) as f64 })
    }

    fn chain(
        &self,
        n: usize,
        operands: usize,
        operations: usize,
        compute: impl Fn([Tensor<1>; 3]) -> Tensor<1>,
        expected: impl Fn([f64; 3]) -> f64,
    ) -> anyhow::Result<Measured> {
        let tensors = [self.upload(A, [n]), self.upload(B, [n]), self.upload(C, [n])];
        let work = [operations * n, (operands + 1) * n];
        self.finish(work, || compute(tensors.clone()), |i| expected([A, B, C].map(|values| values.at(i))))
    }

    fn product(&self, [m, n, k]: [usize; 3]) -> anyhow::Result<Measured> {
        let (x, w) = (self.upload(A, [m, k]), self.upload(B, [k, n]));
        let work = [2 * m * n * k, m * k + k * n + m * n];
        self.finish(work, || x.clone().matmul(w.clone()), |i| dot([n, k], i, |x| x))
    }

    fn linear(&self, [m, n, k]: [usize; 3]) -> anyhow::Result<Measured> {
        let (x, w) = (self.upload(A, [m, k]), self.upload(B, [k, n]));
        let (b, r) = (self.upload(C, [n]), self.upload(D, [m, n]));
        let work = [2 * m * n * k, m * k + k * n + n + 2 * m * n];
        let compute = || relu(linear(x.clone(), w.clone(), Some(b.clone())) + r.clone());
        self.finish(work, compute, |i| (dot([n, k], i, |x| x) + C.at(i % n) + D.at(i)).max(0.0))
    }

    fn gelu_linear(&self, [m, n, k]: [usize; 3]) -> anyhow::Result<Measured> {
        let (x, w, b) = (self.upload(A, [m, k]), self.upload(B, [k, n]), self.upload(C, [n]));
        let work = [2 * m * n * k, m * k + k * n + n + m * n];
        let compute = || linear(gelu(x.clone()), w.clone(), Some(b.clone()));
        self.finish(work, compute, |i| dot([n, k], i, gelu_of) + C.at(i % n))
    }

    fn quantized(&self, [m, n, k]: [usize; 3]) -> anyhow::Result<Measured> {
        let (x, w) = (self.upload(A, [m, k]), self.upload(B, [k, n]));
        let scheme = QuantScheme::default().with_value(QuantValue::Q8S).per_tensor(ScaleDtype::F32);
        let w = w.quantize_dynamic(&scheme);
        self.opened.wait();
        // Rounding weights changes a sum of k products by about √k of half a step of 1/127.
        let work = [2 * m * n * k, m * k + k * n / 2 + m * n];
        let rounding = (k as f64).sqrt() / 127.0;
        let compute = || x.clone().matmul(w.clone());
        let expected = |i: usize| dot([n, k], i, |x| x);
        let first =
            f64::from(compute().into_data().convert_dtype(DType::F32).try_to_vec::<f32>().unwrap_or_default()[0]);
        ensure!((first - expected(0)).abs() <= 4.0 * rounding, "wrong result: {first}, expected {}", expected(0));
        let times = self.opened.measure(self.effort, compute);
        Ok(Measured { times, flops: work[0] as f64, bytes: (work[1] * 2) as f64 })
    }

    fn softmax(&self, [m, n]: [usize; 2]) -> anyhow::Result<Measured> {
        let x: Tensor<2> = self.upload(A, [m, n]);
        let expected = |i: usize| {
            let row = i / n * n;
            A.at(i).exp() / (row..row + n).map(|j| A.at(j).exp()).sum::<f64>()
        };
        self.finish([5 * m * n, 2 * m * n], || softmax(x.clone(), 1), expected)
    }

    fn norm(&self, [m, n]: [usize; 2]) -> anyhow::Result<Measured> {
        let (x, gamma, beta) = (self.upload(A, [m, n]), self.upload::<1>(B, [n]), self.upload::<1>(C, [n]));
        let compute = || gelu(layer_norm::<2>(x.clone(), gamma.clone(), Some(beta.clone()), 1e-5));
        let expected = |i: usize| {
            let row = || (i / n * n..i / n * n + n).map(|j| A.at(j));
            let mean = row().sum::<f64>() / n as f64;
            let variance = row().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
            gelu_of((A.at(i) - mean) / (variance + 1e-5).sqrt() * B.at(i % n) + C.at(i % n))
        };
        self.finish([8 * m * n, 2 * m * n], compute, expected)
    }

    fn attention(&self, [heads, length, width]: [usize; 3]) -> anyhow::Result<Measured> {
        // Burn requires a batch axis for heads: two halves of them serve.
        ensure!(heads.is_multiple_of(2) && width == 64, "heads in pairs, of width 64");
        let shape = [2, heads / 2, length, width];
        let (q, k, v) = (self.upload(A, shape), self.upload(B, shape), self.upload(C, shape));
        let compute = || {
            let options = AttentionModuleOptions::default();
            attention(q.clone(), k.clone(), v.clone(), None, None, options)
        };
        let expected = |i: usize| {
            let (head, query, column) = (i / (length * width), i / width % length, i % width);
            let score = |key: usize| {
                let at = |row: usize, d: usize| (head * length + row) * width + d;
                let dot: f64 = (0..width).map(|d| A.at(at(query, d)) * B.at(at(key, d))).sum();
                (dot * 0.125).exp()
            };
            let scores: Vec<f64> = (0..length).map(score).collect();
            let weighted = scores.iter().enumerate().map(|(key, p)| p * C.at((head * length + key) * width + column));
            weighted.sum::<f64>() / scores.iter().sum::<f64>()
        };
        self.finish([4 * heads * length * length * width, 4 * heads * length * width], compute, expected)
    }
}

fn dot([n, k]: [usize; 2], i: usize, f: fn(f64) -> f64) -> f64 {
    (0..k).map(|d| f(A.at(i / n * k + d)) * B.at(d * n + i % n)).sum()
}

/// erf by its Maclaurin series, for small arguments.
fn gelu_of(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut erf) = (z, z);
    for n in 1..80 {
        let n = f64::from(n);
        term *= -z * z / n;
        erf += term / (2.0 * n + 1.0);
    }
    x / 2.0 * (1.0 + erf * std::f64::consts::FRAC_2_SQRT_PI)
}
