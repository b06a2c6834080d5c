//! Products with quantized weights: the same weights again and again, and several in turns, so that no cache holds them.

use fuse_gpu::{
    Bits, Device, Error, Q1, Q2, Q3, Q4, Q8, QTensor, Quantized, Tensor2, artifact::Function, f16, fuse,
    quantize::ScaleDType,
};

use crate::{
    cases::{Case, Sizes, extents},
    data::A,
    formulas::{prepared, upload},
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
        cases.extend([
            case::<Q8>("matmul, 8-bit weights", shape, 0, 1, || &product_q8::FUNCTION, product_q8::launch_into),
            case::<Q4>("matmul, 4-bit weights", shape, 0, 1, || &product_q4::FUNCTION, product_q4::launch_into),
            case::<Q3>("matmul, 3-bit weights", shape, 0, 1, || &product_q3::FUNCTION, product_q3::launch_into),
            case::<Q2>("matmul, 2-bit weights", shape, 0, 1, || &product_q2::FUNCTION, product_q2::launch_into),
            case::<Q1>("matmul, 1-bit weights", shape, 0, 1, || &product_q1::FUNCTION, product_q1::launch_into),
            case::<Q8>(
                "matmul, 8-bit weights [N, K]",
                shape,
                1,
                1,
                || &product_t_q8::FUNCTION,
                product_t_q8::launch_into,
            ),
            case::<Q4>(
                "matmul, 4-bit weights [N, K]",
                shape,
                1,
                1,
                || &product_t_q4::FUNCTION,
                product_t_q4::launch_into,
            ),
        ]);
        if shape[0] == 1 {
            let (eight, four) = (turns(shape, 8), turns(shape, 4));
            cases.extend([
                case::<Q8>(
                    "matmul, 8-bit weights in turns",
                    shape,
                    0,
                    eight,
                    || &product_q8::FUNCTION,
                    product_q8::launch_into,
                ),
                case::<Q4>(
                    "matmul, 4-bit weights in turns",
                    shape,
                    0,
                    four,
                    || &product_q4::FUNCTION,
                    product_q4::launch_into,
                ),
                case::<Q3>(
                    "matmul, 3-bit weights in turns",
                    shape,
                    0,
                    turns(shape, 3),
                    || &product_q3::FUNCTION,
                    product_q3::launch_into,
                ),
                case::<Q2>(
                    "matmul, 2-bit weights in turns",
                    shape,
                    0,
                    turns(shape, 2),
                    || &product_q2::FUNCTION,
                    product_q2::launch_into,
                ),
                case::<Q1>(
                    "matmul, 1-bit weights in turns",
                    shape,
                    0,
                    turns(shape, 1),
                    || &product_q1::FUNCTION,
                    product_q1::launch_into,
                ),
            ]);
        }
    }
    cases
}

/// Bytes that no cache of a GPU holds.
const UNCACHED: usize = 200 << 20;

/// How many weights of so many bits are larger than any cache together.
fn turns([_, n, k]: [usize; 3], bits: usize) -> usize {
    (UNCACHED * 8 / (n * k * bits).max(1)).clamp(2, 96)
}

/// Values that share a scale; fewer where the depth is short.
const GROUP: usize = 64;

/// Codes that differ everywhere, with a scale at which sums stay small.
fn weights<Q: Bits>([_, n, k]: [usize; 3], axis: usize) -> Quantized {
    let (packing, shape) = (Q::PACKING, if axis == 0 { [k, n] } else { [n, k] });
    let groups = if k.is_multiple_of(GROUP) { k / GROUP } else { 1 };
    let word = |i: usize| (i as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(15).wrapping_mul(0xc2b2_ae35);
    let words = (0..n * packing.words(k)).map(word).collect();
    let scale = 2.0 / f32::from(1u16 << packing.bits());
    let offset = -scale * (packing.largest() as f32 + 1.0) / 2.0;
    let [low, high] = [scale, offset].map(|x| u32::from(f16::from_f32(x).to_bits()));
    let scales = vec![low | high << 16; n * groups];
    let parts = Quantized::from_parts(packing, &shape, axis, groups, ScaleDType::F16, words, scales);
    parts.unwrap_or_else(|error| panic!("{}: {error}", packing.name()))
}

type Launch<Q> = fn(&Tensor2<f16>, &QTensor<Q, 2>, &mut Tensor2<f16>) -> Result<(), Error>;

/// A product with weights that are packed along `axis`, as many of them in turns as `turns` says.
fn case<Q: Bits>(
    formula: &'static str,
    shape @ [m, n, k]: [usize; 3],
    axis: usize,
    turns: usize,
    function: fn() -> &'static Function,
    launch: Launch<Q>,
) -> Case {
    let bytes = weights_bytes::<Q>(shape) + 2 * (m * k + m * n);
    let prepare = Box::new(move |device: &Device| {
        let host = weights::<Q>(shape, axis);
        let x = upload::<f16, 2>(device, A, [m, k])?;
        let weights = (0..turns).map(|_| QTensor::<Q, 2>::upload(device, &host)).collect::<Result<Vec<_>, _>>()?;
        let (values, next) = (host.dequantize(), std::cell::Cell::new(0));
        let output = Tensor2::<f16>::zeros(device, [m, n])?;
        let expected = move |i: usize| {
            let (row, column) = (i / n, i % n);
            let weight = |depth: usize| if axis == 0 { values[depth * n + column] } else { values[column * k + depth] };
            (0..k).map(|depth| A.at(row * k + depth) * f64::from(weight(depth))).sum()
        };
        let run = move |y: &mut Tensor2<f16>| {
            let turn = next.replace((next.get() + 1) % turns);
            launch(&x, &weights[turn], y)
        };
        Ok(prepared(output, k, run, expected))
    });
    let flops = 2.0 * (m * n * k) as f64;
    Case { formula, size: extents(shape), f16: true, flops, bytes: bytes as f64, tokens: 0.0, function, prepare }
}

fn weights_bytes<Q: Bits>([_, n, k]: [usize; 3]) -> usize {
    let groups = if k.is_multiple_of(GROUP) { k / GROUP } else { 1 };
    4 * n * (Q::PACKING.words(k) + groups)
}
