//! Blocks of codes with their scales.

/// Codes, and a scale for each of their equal runs.
pub(super) struct Block<const LEN: usize, const RUNS: usize> {
    pub(super) codes: [u8; LEN],
    pub(super) scales: [f32; RUNS],
    pub(super) base: Base<RUNS>,
}

/// Zero point of codes, which determines the rounding of ggml's formula.
pub(super) enum Base<const RUNS: usize> {
    /// `(q - zero) * scale`: exact, since scales have at most 18 significant bits.
    Zero(u8),
    /// `q * scale + offset`, an offset per run: the product is exact, the sum rounds.
    Offsets([f32; RUNS]),
}

impl<const LEN: usize, const RUNS: usize> Block<LEN, RUNS> {
    pub(super) fn values(&self, out: &mut [f32; LEN]) {
        match self.base {
            Base::Zero(zero) => {
                let zero = f32::from(zero);
                self.each_run(out, |_, scale, code| (f32::from(code) - zero) * scale);
            }
            Base::Offsets(ref offsets) => {
                self.each_run(out, |run, scale, code| f32::from(code) * scale + offsets[run]);
            }
        }
    }

    #[inline(always)]
    fn each_run(&self, out: &mut [f32; LEN], value: impl Fn(usize, f32, u8) -> f32) {
        let len = LEN / RUNS;
        let runs = out.chunks_exact_mut(len).zip(self.codes.chunks_exact(len)).zip(&self.scales);
        for (run, ((out, codes), &scale)) in runs.enumerate() {
            for (out, &code) in out.iter_mut().zip(codes) {
                *out = value(run, scale, code);
            }
        }
    }

    pub(super) fn offsets(&self) -> [f32; RUNS] {
        match self.base {
            Base::Zero(zero) => self.scales.map(|scale| -(f32::from(zero) * scale)),
            Base::Offsets(offsets) => offsets,
        }
    }
}
