//! Products with quantized weights: one matrix repeatedly, and several in turns, beyond any cache.

use fuse_gpu::{
    Bits, Device, Error, Q1, Q2, Q3, Q4, Q8, QTensor, Quantized, Tensor2, Tuning, artifact::Function, f16, fuse,
    quantize::ScaleDType,
};

use crate::{
    cases::{Case, Sizes, extents},
    data::A,
    formulas::{Prepared, prepared},
};

fuse! {
    pub fn product_q8(x: f16[M, K], w: q8[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_q4(x: f16[M, K], w: q4[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_q3(x: f16[M, K], w: q3[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_q2(x: f16[M, K], w: q2[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_q1(x: f16[M, K], w: q1[K, N]) -> f16[M, N] { matmul(x, w) }
    pub fn product_t_q8(x: f16[M, K], w: q8[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }
    pub fn product_t_q4(x: f16[M, K], w: q4[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }
    pub fn product_t_q3(x: f16[M, K], w: q3[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }
    pub fn product_t_q2(x: f16[M, K], w: q2[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }
    pub fn product_t_q1(x: f16[M, K], w: q1[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }
}

/// Kernels of one width, for weights `[K, N]` and `[N, K]`.
macro_rules! kernels {
    ($($kernel:ident),*) => {
        [$(Kernel { function: || &$kernel::FUNCTION, launch: $kernel::launch_into }),*]
    };
}

pub(crate) fn all(sizes: &Sizes) -> Vec<Case> {
    let mut cases = vec![];
    for &shape in sizes.weights {
        cases.extend(of_width::<Q8>(shape, kernels!(product_q8, product_t_q8)));
        cases.extend(of_width::<Q4>(shape, kernels!(product_q4, product_t_q4)));
        cases.extend(of_width::<Q3>(shape, kernels!(product_q3, product_t_q3)));
        cases.extend(of_width::<Q2>(shape, kernels!(product_q2, product_t_q2)));
        cases.extend(of_width::<Q1>(shape, kernels!(product_q1, product_t_q1)));
    }
    cases
}

type Launch<Q> = fn(&Tensor2<f16>, &QTensor<Q, 2>, &mut Tensor2<f16>) -> Result<(), Error>;

#[derive(Clone, Copy)]
struct Kernel<Q: Bits> {
    function: fn() -> &'static Function,
    launch: Launch<Q>,
}

/// Both layouts; with one row also in turns, and with activations of 8 bits.
fn of_width<Q: Bits>(shape: [usize; 3], kernels: [Kernel<Q>; 2]) -> Vec<Case> {
    let of_one_row: &[bool] = if shape[0] == 1 { &[false, true] } else { &[false] };
    let mut cases = vec![];
    for (axis, (kernel, layout)) in kernels.into_iter().zip(["", " [N, K]"]).enumerate() {
        for &int8 in of_one_row {
            for &in_turns in of_one_row {
                let mut name = format!("matmul, {}-bit weights{layout}", Q::PACKING.bits());
                name += if in_turns { " in turns" } else { "" };
                name += if int8 { ", activations of 8 bits" } else { "" };
                let turns = if in_turns { turns(shape, Q::PACKING.bits() as usize) } else { 1 };
                cases.push(Product { shape, axis, turns, int8, kernel }.case(name.leak()));
            }
        }
    }
    cases
}

/// More bytes than any GPU cache holds.
const UNCACHED: usize = 200 << 20;

fn turns([_, n, k]: [usize; 3], bits: usize) -> usize {
    (UNCACHED * 8 / (n * k * bits).max(1)).clamp(2, 96)
}

/// Values per scale, if they divide the depth.
const GROUP: usize = 64;

fn groups(k: usize) -> usize {
    if k.is_multiple_of(GROUP) { k / GROUP } else { 1 }
}

fn codes(places: impl Iterator<Item = usize>) -> Vec<u32> {
    let word = |i: usize| (i as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(15).wrapping_mul(0xc2b2_ae35);
    places.map(word).collect()
}

/// The scale keeps sums small.
fn packed<Q: Bits>(shape: [usize; 2], axis: usize, words: Vec<u32>) -> Quantized {
    let (packing, groups) = (Q::PACKING, groups(shape[axis]));
    let scale = 2.0 / f32::from(1u16 << packing.bits());
    let offset = -scale * (packing.largest() as f32 + 1.0) / 2.0;
    let [low, high] = [scale, offset].map(|x| u32::from(f16::from_f32(x).to_bits()));
    let scales = vec![low | high << 16; shape[1 - axis] * groups];
    let parts = Quantized::from_parts(packing, &shape, axis, groups, ScaleDType::F16, words, scales);
    parts.unwrap_or_else(|error| panic!("{}: {error}", packing.name()))
}

/// Weights packed along `axis`; cycles through `turns` matrices.
#[derive(Clone, Copy)]
struct Product<Q: Bits> {
    shape: [usize; 3],
    axis: usize,
    turns: usize,
    /// Activations may be rounded to 8 bits.
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
        let words = Q::PACKING.words(k);
        let host = packed::<Q>(if axis == 0 { [k, n] } else { [n, k] }, axis, codes(0..n * words));
        let x: Vec<f16> = (0..m * k).map(|i| f16::from_f64(activation(i))).collect();
        let x = Tensor2::from_slice(device, &x, [m, k])?;
        let weights = (0..turns).map(|_| QTensor::<Q, 2>::upload(device, &host)).collect::<Result<Vec<_>, _>>()?;
        let next = std::cell::Cell::new(0);
        let output = Tensor2::<f16>::zeros(device, [m, n])?;
        let expected = move |i: usize| {
            let (row, column) = (i / n, i % n);
            let place = |word| if axis == 0 { word * n + column } else { column * words + word };
            let column = packed::<Q>([k, 1], 0, codes((0..words).map(place))).dequantize();
            column.iter().enumerate().map(|(depth, weight)| activation(row * k + depth) * f64::from(*weight)).sum()
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

/// Exact after rounding to 8 bits ([`Tuning::int8_activations`]): multiples of 1/128, with 127 the largest of each 32.
fn activation(i: usize) -> f64 {
    if i % 32 == 3 { 127.0 / 128.0 } else { A.at(i).max(-63.0 / 64.0) }
}

fn weights_bytes<Q: Bits>([_, n, k]: [usize; 3]) -> usize {
    4 * n * (Q::PACKING.words(k) + groups(k))
}
