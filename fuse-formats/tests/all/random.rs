//! Random numbers for tests.

use half::f16;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn many<T>(&mut self, count: usize, map: impl Fn(u64) -> T) -> Vec<T> {
        let next = |_| {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            map(self.0 >> 32)
        };
        (0..count).map(next).collect()
    }

    pub(crate) fn scales(&mut self, count: usize) -> Vec<f16> {
        self.many(count, |word| f16::from_bits(word as u16 & 0xbfff))
    }
}
