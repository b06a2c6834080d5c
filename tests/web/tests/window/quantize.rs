//! Quantization on the browser's adapter: codes, scales or the error equal the host's, to the bit.

use fuse_gpu::{
    Bits, Device, Error, Q1, Q2, Q3, Q4, Q8, QTensor, Tensor2,
    quantize::{QuantScheme, ScaleDType, quantize},
};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::device;

const SHAPE: [usize; 2] = [24, 64];

/// About normally distributed, with a scale per row; the first is subnormal.
fn values() -> Vec<f32> {
    let bits = |i: u32| (i ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(15).wrapping_mul(0xc2b2_ae35);
    let uniform = |i: u32| bits(i) as f32 / u32::MAX as f32 - 0.5;
    let value = |i: u32| {
        let sum: f32 = (0..4).map(|part| uniform(4 * i + part)).sum();
        sum * f32::powi(2.0, i as i32 / SHAPE[1] as i32 * 6 - 130)
    };
    (0..(SHAPE[0] * SHAPE[1]) as u32).map(value).collect()
}

async fn agrees<Q: Bits>(device: &Device, values: &[f32], scheme: &QuantScheme) -> Result<(), Error> {
    let tensor = Tensor2::from_slice(device, values, SHAPE)?;
    let found = match QTensor::<Q, 2>::quantize_tensor(&tensor, scheme).await {
        Ok(tensor) => Ok(tensor.to_host().await?),
        Err(error) => Err(error.to_string()),
    };
    let expected = quantize(Q::PACKING, values, &SHAPE, scheme);
    match (found, expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{} {scheme:?}", Q::PACKING.name()),
        (Err(found), Err(expected)) => assert!(found.ends_with(&expected.to_string()), "{found}: {expected}"),
        (found, expected) => panic!("{} {scheme:?}: {found:?}, on the host {expected:?}", Q::PACKING.name()),
    }
    Ok(())
}

#[wasm_bindgen_test]
async fn tensors_are_quantized_as_on_the_host() -> Result<(), Error> {
    let (device, values) = (device().await, values());
    let mut not_finite = values.clone();
    not_finite[100] = f32::NAN;
    for scheme in [QuantScheme::symmetric(), QuantScheme::asymmetric()] {
        // `f16` scales cannot represent the extremes of these values.
        let scheme = scheme.scales(ScaleDType::F32).axis(1);
        for scheme in [scheme.per_group(32), scheme.per_channel(), scheme.per_tensor(), scheme.scales(ScaleDType::F16)]
        {
            agrees::<Q8>(&device, &values, &scheme).await?;
            agrees::<Q4>(&device, &values, &scheme).await?;
            agrees::<Q3>(&device, &values, &scheme).await?;
            agrees::<Q2>(&device, &values, &scheme).await?;
            agrees::<Q1>(&device, &values, &scheme).await?;
        }
        agrees::<Q4>(&device, &not_finite, &scheme).await?;
    }
    Ok(())
}
