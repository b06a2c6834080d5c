//! Cases of a search: kernel classes of typical programs, at the sizes of `shapes`.

use fuse_gpu::{
    __private::RawTensor,
    Arg, Device, DeviceInfo, Error, Float, Kernels, Tensor1, Tuning,
    artifact::{DType, Function, ParamKind},
    f16, fuse,
};

use super::shapes::{self, Shapes};

fuse! {
    /// Numbers between -1 and 1 that differ: the power draw of a GPU depends on them.
    pub fn noise<T: Float>(x: T[N]) -> T[N] {
        sin((index(x, axis = 0) as f32) * 0.7) as T
    }

    /// Moves memory and computes almost nothing.
    pub fn copies(x: f32[N]) -> f32[N] {
        x + 1.0
    }

    pub fn linear<T: Float>(x: T[B, M, K], w: T[B, K, N], b: T[N]) -> T[B, M, N] {
        relu(matmul(x, w) + b)
    }

    pub fn linear_transposed<T: Float>(x: T[B, M, K], w: T[B, N, K], b: T[N]) -> T[B, M, N] {
        relu(matmul(x, transpose(w)) + b)
    }

    pub fn gelu_linear<T: Float>(x: T[B, M, K], w: T[B, K, N], b: T[N]) -> T[B, M, N] {
        matmul(gelu(x), w) + b
    }

    pub fn gated<T: Float>(x: T[B, M, K], w: T[B, K, N], v: T[B, K, N]) -> T[B, M, N] {
        silu(matmul(x, w)) * matmul(x, v)
    }

    pub fn gated_transposed<T: Float>(x: T[B, M, K], w: T[B, N, K], v: T[B, N, K]) -> T[B, M, N] {
        silu(matmul(x, transpose(w))) * matmul(x, transpose(v))
    }

    pub fn three<T: Float>(
        x: T[B, M, K], u: T[B, K, N], v: T[B, K, N], w: T[B, K, N],
    ) -> (T[B, M, N], T[B, M, N], T[B, M, N]) {
        (matmul(x, u), matmul(x, v), matmul(x, w))
    }

    pub fn three_transposed<T: Float>(
        x: T[B, M, K], u: T[B, N, K], v: T[B, N, K], w: T[B, N, K],
    ) -> (T[B, M, N], T[B, M, N], T[B, M, N]) {
        (matmul(x, transpose(u)), matmul(x, transpose(v)), matmul(x, transpose(w)))
    }

    pub fn normalized<T: Float>(x: T[B, M, K], w: T[B, K, N], gamma: T[K]) -> T[B, M, N] {
        matmul(rms_norm(x, gamma), w)
    }

    pub fn normalized_transposed<T: Float>(x: T[B, M, K], w: T[B, N, K], gamma: T[K]) -> T[B, M, N] {
        matmul(rms_norm(x, gamma), transpose(w))
    }

    pub fn reduced<T: Float>(x: T[B, M, K], w: T[B, K, N], r: T[B, M, N], gamma: T[N], beta: T[N]) -> T[B, M, N] {
        layer_norm(matmul(x, w) + r, gamma, beta)
    }

    pub fn reduced_transposed<T: Float>(
        x: T[B, M, K], w: T[B, N, K], r: T[B, M, N], gamma: T[N], beta: T[N],
    ) -> T[B, M, N] {
        layer_norm(matmul(x, transpose(w)) + r, gamma, beta)
    }

    pub fn siblings<T: Float>(x: T[B, M, K], w: T[B, K, N], v: T[B, K, N]) -> (T[B, M, N], T[B, M, N]) {
        (relu(matmul(x, w)), matmul(x, v))
    }

    pub fn row_sums<T: Float>(x: T[M, N]) -> T[M] {
        sum(x, axis = 1)
    }

    pub fn column_sums<T: Float>(x: T[M, N]) -> T[N] {
        sum(x, axis = 0)
    }

    pub fn row_softmax<T: Float>(x: T[M, N]) -> T[M, N] {
        softmax(x)
    }

    pub fn row_norms<T: Float>(x: T[M, N], gamma: T[N], beta: T[N]) -> T[M, N] {
        layer_norm(x, gamma, beta)
    }

    /// The rest of an `f16` product with its layer norm, if they are two kernels.
    pub fn mixed_norms(x: f32[M, N], r: f16[M, N], gamma: f16[N], beta: f16[N]) -> f16[M, N] {
        layer_norm(x + (r as f32), gamma as f32, beta as f32) as f16
    }

    pub fn row_rms_norms<T: Float>(x: T[M, N], gamma: T[N]) -> T[M, N] {
        rms_norm(x, gamma)
    }

    pub fn attention<T: Float>(q: T[B, H, S, D], k: T[B, H, L, D], v: T[B, H, L, D]) -> T[B, H, S, D] {
        matmul(softmax(matmul(q, transpose(k)) / (sqrt(D as f32) as T)), v)
    }

    pub fn causal_attention<T: Float>(q: T[B, H, S, D], k: T[B, H, S, D], v: T[B, H, S, D]) -> T[B, H, S, D] {
        let scores = matmul(q, transpose(k)) / (sqrt(D as f32) as T);
        matmul(softmax(select(index(scores, axis = 3) <= index(scores, axis = 2), scores, -inf)), v)
    }
}

pub(crate) struct Case {
    name: String,
    kernels: &'static Kernels,
    function: &'static Function,
    shapes: Vec<Vec<usize>>,
}

pub(crate) struct Known {
    pub(crate) class: String,
    pub(crate) sizes: Vec<u64>,
    pub(crate) chosen: String,
    pub(crate) decision: String,
    pub(crate) schedules: Vec<String>,
}

pub(crate) fn grid(quick: bool) -> Vec<Case> {
    all(&if quick { shapes::quick_grid() } else { shapes::grid() })
}

/// The grid, and products with a shared operand.
pub(crate) fn with_specializations(quick: bool) -> Vec<Case> {
    let mut cases = grid(quick);
    cases.extend(siblings_of::<f32>(quick));
    cases.extend(siblings_of::<f16>(quick));
    cases
}

fn siblings_of<T: Float>(quick: bool) -> impl Iterator<Item = Case> {
    let sizes: &[[usize; 3]] = match quick {
        true => &[[16, 256, 256], [64, 64, 64], [128, 128, 128], [256, 256, 256]],
        false => &[[128, 384, 384], [128, 1024, 1024], [512, 512, 512], [1024, 1024, 1024]],
    };
    sizes.iter().map(|&[m, n, k]| Case {
        name: format!("siblings {} {m}x{n}x{k}", T::DTYPE),
        kernels: siblings::KERNELS,
        function: siblings::function::<T>(),
        shapes: vec![vec![1, m, k], vec![1, k, n], vec![1, k, n]],
    })
}

pub(crate) fn moved(elements: usize) -> Case {
    let name = format!("copy f32 {elements}");
    Case { name, kernels: copies::KERNELS, function: &copies::FUNCTION, shapes: vec![vec![elements]] }
}

pub(crate) fn product([m, n, k]: [usize; 3]) -> Case {
    let name = format!("linear f32 1x{m}x{n}x{k}");
    let shapes = vec![vec![1, m, k], vec![1, k, n], vec![n]];
    Case { name, kernels: linear::KERNELS, function: linear::function::<f32>(), shapes }
}

pub(crate) fn held_out(quick: bool) -> Vec<Case> {
    all(&if quick { shapes::quick_held_out() } else { shapes::held_out() })
}

fn all(shapes: &Shapes) -> Vec<Case> {
    let mut cases = of_type::<f32>(shapes);
    cases.extend(of_type::<f16>(shapes));
    cases.extend(shapes.mixed.iter().map(|&[m, n]| Case {
        name: format!("mixed norm {m}x{n}"),
        kernels: mixed_norms::KERNELS,
        function: &mixed_norms::FUNCTION,
        shapes: vec![vec![m, n], vec![m, n], vec![n], vec![n]],
    }));
    cases
}

fn of_type<T: Float>(shapes: &Shapes) -> Vec<Case> {
    let mut cases = vec![];
    let mut add = |name: &str, size: &[usize], kernels, function, shapes: Vec<Vec<usize>>| {
        let size: Vec<String> = size.iter().map(usize::to_string).collect();
        let name = format!("{name} {} {}", T::DTYPE, size.join("x"));
        cases.push(Case { name, kernels, function, shapes });
    };
    for &[b, m, n, k] in &shapes.products {
        let size = [b, m, n, k];
        let (x, bias) = (vec![b, m, k], vec![n]);
        let operands = |w| vec![x.clone(), w, bias.clone()];
        add("linear", &size, linear::KERNELS, linear::function::<T>(), operands(vec![b, k, n]));
        let function = linear_transposed::function::<T>();
        add("linear transposed", &size, linear_transposed::KERNELS, function, operands(vec![b, n, k]));
    }
    for &[b, m, n, k] in &shapes.computed {
        let operands = vec![vec![b, m, k], vec![b, k, n], vec![n]];
        add("gelu linear", &[b, m, n, k], gelu_linear::KERNELS, gelu_linear::function::<T>(), operands);
    }
    for &[b, m, n, k] in &shapes.gated {
        let operands = |w: Vec<usize>| vec![vec![b, m, k], w.clone(), w];
        let function = gated_transposed::function::<T>();
        add("gated", &[b, m, n, k], gated::KERNELS, gated::function::<T>(), operands(vec![b, k, n]));
        add("gated transposed", &[b, m, n, k], gated_transposed::KERNELS, function, operands(vec![b, n, k]));
    }
    for &[b, m, n, k] in &shapes.grouped {
        let operands = |w: Vec<usize>| vec![vec![b, m, k], w.clone(), w.clone(), w];
        let function = three_transposed::function::<T>();
        add("three", &[b, m, n, k], three::KERNELS, three::function::<T>(), operands(vec![b, k, n]));
        add("three transposed", &[b, m, n, k], three_transposed::KERNELS, function, operands(vec![b, n, k]));
    }
    for &[b, m, n, k] in &shapes.normalized {
        let operands = |w| vec![vec![b, m, k], w, vec![k]];
        let function = normalized_transposed::function::<T>();
        add("normalized", &[b, m, n, k], normalized::KERNELS, normalized::function::<T>(), operands(vec![b, k, n]));
        add("normalized transposed", &[b, m, n, k], normalized_transposed::KERNELS, function, operands(vec![b, n, k]));
    }
    for &[b, m, n, k] in &shapes.reduced {
        let operands = |w| vec![vec![b, m, k], w, vec![b, m, n], vec![n], vec![n]];
        let function = reduced_transposed::function::<T>();
        add("reduced", &[b, m, n, k], reduced::KERNELS, reduced::function::<T>(), operands(vec![b, k, n]));
        add("reduced transposed", &[b, m, n, k], reduced_transposed::KERNELS, function, operands(vec![b, n, k]));
    }
    for &[m, n] in &shapes.reductions {
        let (size, x, row) = ([m, n], vec![m, n], vec![n]);
        add("sum of rows", &size, row_sums::KERNELS, row_sums::function::<T>(), vec![x.clone()]);
        let columns = vec![vec![n, m]];
        add("sum of columns", &[n, m], column_sums::KERNELS, column_sums::function::<T>(), columns);
        add("softmax", &size, row_softmax::KERNELS, row_softmax::function::<T>(), vec![x.clone()]);
        let operands = vec![x.clone(), row.clone(), row.clone()];
        add("layer norm", &size, row_norms::KERNELS, row_norms::function::<T>(), operands);
        add("rms norm", &size, row_rms_norms::KERNELS, row_rms_norms::function::<T>(), vec![x, row]);
    }
    for &[b, h, s, l, d] in &shapes.attentions {
        let (q, k) = (vec![b, h, s, d], vec![b, h, l, d]);
        let operands = vec![q, k.clone(), k];
        add("attention", &[b, h, s, l, d], attention::KERNELS, attention::function::<T>(), operands.clone());
        if s == l {
            let function = causal_attention::function::<T>();
            add("causal attention", &[b, h, s, l, d], causal_attention::KERNELS, function, operands);
        }
    }
    cases
}

pub(crate) struct Inputs(Vec<RawTensor>);

impl Inputs {
    pub(crate) fn arguments(&self) -> Vec<Arg<'_>> {
        self.0.iter().map(Arg::Tensor).collect()
    }
}

impl Case {
    /// For example `linear f32 1x64x64x64`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    pub(crate) fn function(&self) -> &'static Function {
        self.function
    }

    pub(crate) fn fits(&self, info: &DeviceInfo) -> bool {
        let bytes = |(shape, dtype): (&Vec<usize>, DType)| shape.iter().product::<usize>() as u64 * dtype.bytes();
        let largest = self.shapes.iter().zip(self.dtypes()).map(bytes).max().unwrap_or(0);
        (info.features.f16 || self.dtypes().all(|dtype| dtype != DType::F16)) && largest <= info.limits.binding_bytes
    }

    pub(crate) fn inputs(&self, device: &Device) -> Result<Inputs, Error> {
        let input = |(shape, dtype): (&Vec<usize>, DType)| match dtype {
            DType::F16 => noisy::<f16>(device, shape),
            _ => noisy::<f32>(device, shape),
        };
        self.shapes.iter().zip(self.dtypes()).map(input).collect::<Result<_, _>>().map(Inputs)
    }

    fn dtypes(&self) -> impl Iterator<Item = DType> {
        self.function.params.iter().filter_map(|param| match &param.kind {
            ParamKind::Tensor(spec) => Some(spec.dtype),
            _ => None,
        })
    }

    pub(crate) fn known(&self, device: &Device, tuning: &Tuning) -> Result<Known, Error> {
        let shapes: Vec<&[usize]> = self.shapes.iter().map(Vec::as_slice).collect();
        device.force_alternative(Some(0));
        let explanation = device.with_tuning(tuning, || device.explain(self.function, &shapes));
        device.force_alternative(None);
        let missing = || Error::Internal { message: format!("{} has no kernel", self.name) };
        let kernel = explanation?.kernels.into_iter().next().ok_or_else(missing)?;
        Ok(Known {
            schedules: kernel
                .variants
                .into_iter()
                .filter(|(_, verdict)| verdict.is_ok())
                .map(|(name, _)| name)
                .collect(),
            chosen: kernel.chosen.unwrap_or_default(),
            decision: kernel.decision.map_or_else(String::new, |decision| decision.to_string()),
            class: kernel.class,
            sizes: kernel.sizes,
        })
    }
}

fn noisy<T: Float>(device: &Device, shape: &[usize]) -> Result<RawTensor, Error> {
    let elements = shape.iter().product();
    let zeros = Tensor1::<T>::zeros(device, [elements])?;
    noise(&zeros)?.raw().reshape(shape)
}
