//! Our kernels for pages that compare libraries in the same browser (`cargo xtask web bench`).
//!
//! The pages (`page/`) define measurements. With the feature `specializations` they choose variants by name.
#![cfg(target_arch = "wasm32")]

mod launches;
#[cfg(feature = "minilm")]
mod minilm;
#[cfg(feature = "specializations")]
mod specializations;

use fuse_gpu::{
    __private::RawTensor, Device, Error, Float, Kernels, Tensor, Tensor1, Tensor2, Tensor3, artifact::Function, fuse,
};
use js_sys::Float32Array;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

fuse! {
    /// A layer with bias and residual.
    pub fn linear(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] {
        relu(matmul(x, w) + b + r)
    }

    /// A pointwise chain.
    pub fn gate(a: f32[N], b: f32[N], c: f32[N]) -> f32[N] {
        sigmoid(a * b + c)
    }

    /// Probabilities of rows.
    pub fn probabilities(x: f32[M, N]) -> f32[M, N] {
        softmax(x)
    }

    /// Normalized rows, activated.
    pub fn norm_gelu(x: f32[M, N], gamma: f32[N], beta: f32[N]) -> f32[M, N] {
        gelu(layer_norm(x, gamma, beta))
    }

    /// Scaled dot-product attention of heads with 64 columns.
    pub fn attention(q: f32[H, S, 64], k: f32[H, L, 64], v: f32[H, L, 64]) -> f32[H, S, 64] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }
}

type Launch = Box<dyn Fn() -> Result<RawTensor, Error>>;

/// Opened device.
#[wasm_bindgen]
pub struct Bench {
    device: Device,
    #[cfg(feature = "specializations")]
    choice: specializations::Shared,
}

/// Function with operands on the device.
#[wasm_bindgen]
pub struct Case {
    device: Device,
    launch: Launch,
    #[cfg_attr(
        not(feature = "specializations"),
        expect(dead_code, reason = "only specializations are looked up by function")
    )]
    subject: Subject,
    #[cfg(feature = "specializations")]
    choice: specializations::Shared,
    #[cfg(feature = "specializations")]
    captured: specializations::Captured,
}

/// Launch of a case.
#[cfg_attr(
    not(feature = "specializations"),
    expect(dead_code, reason = "only specializations are looked up by function")
)]
struct Subject {
    function: &'static Function,
    shapes: Vec<Vec<usize>>,
}

#[wasm_bindgen]
impl Bench {
    /// Opens the browser's device. Scripts get a promise (`wasm_bindgen_futures`).
    pub async fn open() -> Result<Bench, JsError> {
        Ok(Self {
            device: Device::new().await?,
            #[cfg(feature = "specializations")]
            choice: specializations::Shared::default(),
        })
    }

    /// Uploads operands. Sizes: rows, columns and depth of a product; elements; rows and their length; heads, queries
    /// and keys of an attention.
    pub fn case(&self, kind: &str, sizes: Vec<usize>, operands: Vec<Float32Array>) -> Result<Case, JsError> {
        let (launch, subject) = self.prepare(kind, &sizes, &operands)?;
        Ok(Case {
            device: self.device.clone(),
            launch,
            subject,
            #[cfg(feature = "specializations")]
            choice: self.choice.clone(),
            #[cfg(feature = "specializations")]
            captured: specializations::Captured::default(),
        })
    }
}

impl Bench {
    fn prepare(&self, kind: &str, sizes: &[usize], operands: &[Float32Array]) -> Result<(Launch, Subject), JsError> {
        #[cfg(feature = "specializations")]
        if let Some((launch, kernels, shapes)) = specializations::prepare(self, kind, sizes, operands)? {
            return subject(launch, kernels, shapes);
        }
        let (launch, kernels, shapes): (Launch, _, Vec<Vec<usize>>) = match (kind, sizes, operands) {
            ("linear", &[m, n, k], [x, w, b, r]) => {
                let (x, w) = (self.upload(x, [m, k])?, self.upload(w, [k, n])?);
                let (b, r): (Tensor1<f32>, Tensor2<f32>) = (self.upload(b, [n])?, self.upload(r, [m, n])?);
                let launch = move || Ok(linear(&x, &w, &b, &r)?.raw().clone());
                (Box::new(launch), linear::KERNELS, vec![vec![m, k], vec![k, n], vec![n], vec![m, n]])
            }
            ("gate", &[n], [a, b, c]) => {
                let (a, b, c) = (self.upload(a, [n])?, self.upload(b, [n])?, self.upload(c, [n])?);
                (Box::new(move || Ok(gate(&a, &b, &c)?.raw().clone())), gate::KERNELS, vec![vec![n]; 3])
            }
            ("softmax", &[m, n], [x]) => {
                let x = self.upload(x, [m, n])?;
                (Box::new(move || Ok(probabilities(&x)?.raw().clone())), probabilities::KERNELS, vec![vec![m, n]])
            }
            ("norm_gelu", &[m, n], [x, gamma, beta]) => {
                let (x, gamma, beta) = (self.upload(x, [m, n])?, self.upload(gamma, [n])?, self.upload(beta, [n])?);
                let launch = move || Ok(norm_gelu(&x, &gamma, &beta)?.raw().clone());
                (Box::new(launch), norm_gelu::KERNELS, vec![vec![m, n], vec![n], vec![n]])
            }
            ("attention", &[h, s, l], [q, k, v]) => {
                let (q, k): (Tensor3<f32>, Tensor3<f32>) = (self.upload(q, [h, s, 64])?, self.upload(k, [h, l, 64])?);
                let v = self.upload(v, [h, l, 64])?;
                let launch = move || Ok(attention(&q, &k, &v)?.raw().clone());
                (Box::new(launch), attention::KERNELS, vec![vec![h, s, 64], vec![h, l, 64], vec![h, l, 64]])
            }
            _ => {
                let message = format!("no case `{kind}` has sizes {sizes:?} and {} operands", operands.len());
                return Err(JsError::new(&message));
            }
        };
        subject(launch, kernels, shapes)
    }

    fn upload<T: Float, const D: usize>(
        &self,
        values: &Float32Array,
        shape: [usize; D],
    ) -> Result<Tensor<T, D>, JsError> {
        Ok(Tensor::from_vec(&self.device, values.to_vec().into_iter().map(T::from_f32).collect(), shape)?)
    }
}

fn subject(launch: Launch, kernels: &Kernels, shapes: Vec<Vec<usize>>) -> Result<(Launch, Subject), JsError> {
    let function = kernels.functions().first().ok_or_else(|| JsError::new("a function without an artifact"))?;
    Ok((launch, Subject { function, shapes }))
}

#[wasm_bindgen]
impl Case {
    /// Records launches and submits them.
    pub fn run(&self, launches: usize) -> Result<(), JsError> {
        #[cfg(feature = "specializations")]
        self.replay(launches)?;
        #[cfg(not(feature = "specializations"))]
        for _ in 0..launches {
            self.once()?;
        }
        Ok(self.device.submit()?)
    }

    /// Result of a launch.
    pub async fn values(&self) -> Result<Vec<f32>, JsError> {
        let bytes = self.once()?.to_bytes().await?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    #[cfg(not(feature = "specializations"))]
    fn once(&self) -> Result<RawTensor, Error> {
        (self.launch)()
    }
}
