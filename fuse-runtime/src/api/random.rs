//! Counter-based random numbers on the host: number `index` of stream `seed`, without state.

use fuse_artifact::DType;

/// SplitMix64's output function (Steele, Lea and Flood 2014) on a counter.
fn bits(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// In [0, 1), a multiple of 2^-24; for `f16` of 2^-11 (the leading bits), so that it does not round up to 1.
pub(crate) fn uniform(dtype: DType, seed: u64, index: u64) -> f32 {
    let digits = if dtype == DType::F16 { 11 } else { 24 };
    (bits(seed, index) >> (64 - digits)) as f32 / (1u32 << digits) as f32
}

/// Standard normal, by the Box-Muller transform.
pub(crate) fn normal(seed: u64, index: u64) -> f32 {
    let word = bits(seed, index);
    // In (0, 1]: the logarithm is finite.
    let radius = ((word >> 32) as f64 + 1.0) / 4_294_967_296.0;
    let angle = (word & 0xffff_ffff) as f64 / 4_294_967_296.0;
    ((-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_right() {
        let n = 100_000;
        let mean = |f: &dyn Fn(u64) -> f64| (0..n).map(f).sum::<f64>() / n as f64;
        assert!((mean(&|i| uniform(DType::F32, 7, i).into()) - 0.5).abs() < 0.01);
        assert!(mean(&|i| normal(7, i).into()).abs() < 0.02);
        assert!((mean(&|i| f64::from(normal(7, i)).powi(2)) - 1.0).abs() < 0.03);
        assert_ne!(uniform(DType::F32, 1, 0), uniform(DType::F32, 2, 0));
    }

    #[test]
    fn no_uniform_number_is_1_in_its_dtype() {
        for i in 0..100_000 {
            let [wide, half] = [DType::F32, DType::F16].map(|dtype| uniform(dtype, 3, i));
            assert!((0.0..1.0).contains(&wide));
            let rounded = half::f16::from_f32(half).to_f32();
            assert!(
                rounded == half && rounded < 1.0 && rounded <= wide && wide - rounded < 1.0 / 2048.0,
                "{i}: {half}"
            );
        }
    }
}
