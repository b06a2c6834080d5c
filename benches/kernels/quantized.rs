//! Products with quantized weights: the same weights again and again, and several in turns, so that no cache holds them.

use fuse_gpu::{
    Bits, Device, Error, Q1, Q2, Q3, Q4, Q8, QTensor, Quantized, Tensor2, Tuning,
    artifact::Function,
    f16, fuse,
    quantize::{Packing, ScaleDType},
};

use crate::{
    cases::{Case, Sizes, extents},
    data::A,
    formulas::{Prepared, prepared, upload},
};

fuse! {
    pub fn product_q8(x: f16[M, K], w: q8[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_q4(x: f16[M, K], w: q4[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_q3(x: f16[M, K], w: q3[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_q2(x: f16[M, K], w: q2[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_q1(x: f16[M, K], w: q1[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_t_q8(x: f16[M, K], w: q8[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }
    pub fn product_t_q4(x: f16[M, K], w: q4[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }
}

/// The cases at the sizes of a run.
pub(crate) fn all(sizes: &Sizes) -> Vec<Case> {
    let mut cases = vec![];
    for &shape in sizes.weights {
        let q8 = Kernel { function: || &product_q8::FUNCTION, launch: product_q8::launch_into };
        let t8 = Kernel { function: || &product_t_q8::FUNCTION, launch: product_t_q8::launch_into };
        let q4 = Kernel { function: || &product_q4::FUNCTION, launch: product_q4::launch_into };
        let t4 = Kernel { function: || &product_t_q4::FUNCTION, launch: product_t_q4::launch_into };
        let q3 = Kernel { function: || &product_q3::FUNCTION, launch: product_q3::launch_into };
        let q2 = Kernel { function: || &product_q2::FUNCTION, launch: product_q2::launch_into };
        let q1 = Kernel { function: || &product_q1::FUNCTION, launch: product_q1::launch_into };
        cases.extend(of_width::<Q8>(shape, q8, Some(t8)));
        cases.extend(of_width::<Q4>(shape, q4, Some(t4)));
        cases.extend(of_width::<Q3>(shape, q3, None));
        cases.extend(of_width::<Q2>(shape, q2, None));
        cases.extend(of_width::<Q1>(shape, q1, None));
    }
    cases
}

type Launch<Q> = fn(&Tensor2<f16>, &QTensor<Q, 2>, &mut Tensor2<f16>) -> Result<(), Error>;

/// A product with weights of one width.
#[derive(Clone, Copy)]
struct Kernel<Q: Bits> {
    function: fn() -> &'static Function,
    launch: Launch<Q>,
}

/// The cases of weights of one width, for some also `[N, K]`. Of 8 bits only those have a variant with activations of 8 bits.
fn of_width<Q: Bits>(shape: [usize; 3], kernel: Kernel<Q>, transposed: Option<Kernel<Q>>) -> Vec<Case> {
    let name = format!("matmul, {}-bit weights", Q::PACKING.bits());
    let product = Product { shape, axis: 0, turns: 1, int8: false, kernel };
    let mut products = vec![(name.clone(), product)];
    if let Some(kernel) = transposed {
        products.push((format!("{name} [N, K]"), Product { axis: 1, kernel, ..product }));
    }
    if shape[0] == 1 {
        let turns = turns(shape, Q::PACKING.bits() as usize);
        products.push((format!("{name} in turns"), Product { turns, ..product }));
        if let Some(kernel) = transposed {
            products.push((format!("{name} [N, K] in turns"), Product { axis: 1, turns, kernel, ..product }));
            let rounds = |product: &Product<Q>| Q::PACKING == Packing::Q4 || product.axis == 1;
            let rounded: Vec<_> = (products.iter().filter(|(_, product)| rounds(product)))
                .map(|(name, product)| (format!("{name}, activations of 8 bits"), Product { int8: true, ..*product }))
                .collect();
            products.extend(rounded);
        }
    }
    products.into_iter().map(|(name, product)| product.case(name.leak())).collect()
}

/// Bytes that no cache of a GPU holds.
const UNCACHED: usize = 200 << 20;

/// How many weights of so many bits are larger than any cache together.
fn turns([_, n, k]: [usize; 3], bits: usize) -> usize {
    (UNCACHED * 8 / (n * k * bits).max(1)).clamp(2, 96)
}

/// Values that share a scale, where they divide the depth.
const GROUP: usize = 64;

fn groups(k: usize) -> usize {
    if k.is_multiple_of(GROUP) { k / GROUP } else { 1 }
}

/// Codes that differ everywhere, with a scale at which sums stay small.
fn weights<Q: Bits>([_, n, k]: [usize; 3], axis: usize) -> Quantized {
    let (packing, shape) = (Q::PACKING, if axis == 0 { [k, n] } else { [n, k] });
    let groups = groups(k);
    let word = |i: usize| (i as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(15).wrapping_mul(0xc2b2_ae35);
    let words = (0..n * packing.words(k)).map(word).collect();
    let scale = 2.0 / f32::from(1u16 << packing.bits());
    let offset = -scale * (packing.largest() as f32 + 1.0) / 2.0;
    let [low, high] = [scale, offset].map(|x| u32::from(f16::from_f32(x).to_bits()));
    let scales = vec![low | high << 16; n * groups];
    let parts = Quantized::from_parts(packing, &shape, axis, groups, ScaleDType::F16, words, scales);
    parts.unwrap_or_else(|error| panic!("{}: {error}", packing.name()))
}

/// A product with weights that are packed along `axis`, as many of them in turns as `turns` says.
#[derive(Clone, Copy)]
struct Product<Q: Bits> {
    /// Rows M, columns N, depth K.
    shape: [usize; 3],
    axis: usize,
    turns: usize,
    /// Whether activations may be rounded to 8 bits.
    int8: bool,
    kernel: Kernel<Q>,
}

impl<Q: Bits> Product<Q> {
    fn case(self, formula: &'static str) -> Case {
        let Self { shape: [m, n, k], kernel: Kernel { function, .. }, .. } = self;
        let bytes = weights_bytes::<Q>(self.shape) + 2 * (m * k + m * n);
        let flops = 2.0 * (m * n * k) as f64;
        let prepare = Box::new(move |device: &Device| self.prepare(device));
        Case {
            formula,
            size: extents(self.shape),
            f16: true,
            flops,
            bytes: bytes as f64,
            tokens: 0.0,
            function,
            prepare,
        }
    }

    fn prepare(self, device: &Device) -> Result<Prepared, Error> {
        let Self { shape: [m, n, k], axis, turns, int8, kernel: Kernel { launch, .. } } = self;
        let host = weights::<Q>(self.shape, axis);
        let x = upload::<f16, 2>(device, A, [m, k])?;
        let weights = (0..turns).map(|_| QTensor::<Q, 2>::upload(device, &host)).collect::<Result<Vec<_>, _>>()?;
        let (values, next) = (host.dequantize(), std::cell::Cell::new(0));
        let output = Tensor2::<f16>::zeros(device, [m, n])?;
        let expected = move |i: usize| {
            let (row, column) = (i / n, i % n);
            let weight = |depth: usize| if axis == 0 { values[depth * n + column] } else { values[column * k + depth] };
            let activation = |depth: usize| if int8 { rounded(row * k + depth) } else { A.at(row * k + depth) };
            (0..k).map(|depth| activation(depth) * f64::from(weight(depth))).sum()
        };
        let tuning = Tuning::default().int8_activations(true);
        let run = move |y: &mut Tensor2<f16>| {
            let weights = &weights[next.replace((next.get() + 1) % turns)];
            match int8 {
                true => x.device().with_tuning(&tuning, || launch(&x, weights, y)),
                false => launch(&x, weights, y),
            }
        };
        Ok(prepared(output, k, run, expected))
    }
}

/// An activation rounded to 8 bits, as [`Tuning::int8_activations`] says.
fn rounded(i: usize) -> f64 {
    let group = (i / 16 * 16..i / 16 * 16 + 16).map(|i| A.at(i).abs());
    let scale = group.fold(0.0, f64::max) / 127.0;
    if scale == 0.0 { 0.0 } else { (A.at(i) / scale).round() * scale }
}

fn weights_bytes<Q: Bits>([_, n, k]: [usize; 3]) -> usize {
    4 * n * (Q::PACKING.words(k) + groups(k))
}
