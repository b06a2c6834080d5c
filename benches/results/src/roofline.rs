//! Roofline: least time under the adapter's bandwidth and arithmetic rate.

use crate::line::Roof;

impl Roof {
    /// Peak operations per second: `f16` with cooperative matrices if available, else `f32`'s.
    pub fn flops_per_s(&self, dtype: &str) -> f64 {
        let matrices = self.matrices_tflops.filter(|_| dtype == "f16");
        matrices.unwrap_or(self.f32_tflops) * 1e12
    }

    /// Roofline over measured time; `None` without flops and bytes. Bytes move at the copy's bandwidth: caches may
    /// exceed 1.
    pub fn fraction(&self, dtype: &str, flops: f64, bytes: f64, median_us: f64) -> Option<f64> {
        let least = (bytes / (self.copy_gb_per_s * 1e9)).max(flops / self.flops_per_s(dtype)) * 1e6;
        let fraction = least / median_us;
        (least > 0.0 && fraction.is_finite()).then_some(fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOF: Roof = Roof { copy_gb_per_s: 1000.0, dispatch_us: 2.0, f32_tflops: 10.0, matrices_tflops: Some(100.0) };

    #[test]
    fn the_longer_of_bytes_and_operations_counts() {
        // 1 GB takes 1000 µs; 20 GFLOP take 2000 µs in f32 and 200 µs in matrices.
        assert_eq!(ROOF.fraction("f32", 20e9, 1e9, 4000.0), Some(0.5));
        assert_eq!(ROOF.fraction("f16", 20e9, 1e9, 4000.0), Some(0.25));
        assert_eq!(ROOF.fraction("f32", 0.0, 1e9, 500.0), Some(2.0));
        assert_eq!(ROOF.fraction("f32", 0.0, 0.0, 500.0), None);
    }

    #[test]
    fn without_matrices_halves_are_computed_as_floats() {
        let plain = Roof { matrices_tflops: None, ..ROOF };
        assert_eq!(plain.fraction("f16", 20e9, 1e9, 4000.0), Some(0.5));
    }
}
