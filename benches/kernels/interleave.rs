//! Measures two computations interleaved (A B A B …), so that clocks, temperature and other programs affect both alike.

use std::time::Duration;

use super::measure::Times;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Interleaved {
    /// Per launch, first and second.
    pub(crate) times: [Times; 2],
    pub(crate) ratio: Ratio,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    /// Range over pairs of consecutive batches.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Ratio {
    /// `second` over `first`; at least one batch of each.
    pub(crate) fn of(first: &[Duration], second: &[Duration]) -> Self {
        let ratio = |first: Duration, second: Duration| {
            // The clock may not have advanced.
            second.as_secs_f64() / first.max(Duration::from_nanos(1)).as_secs_f64()
        };
        let pairs = || first.iter().zip(second).map(|(&first, &second)| ratio(first, second));
        let median = |times: &[Duration]| Times::of(times.to_vec(), 1).median;
        Self {
            median: ratio(median(first), median(second)),
            low: pairs().fold(f64::INFINITY, f64::min),
            high: pairs().fold(0.0, f64::max),
        }
    }
}

/// `batch(which, launches)` returns the time of one launch.
pub(crate) fn interleave<E>(
    batches: usize,
    launches: [u32; 2],
    mut batch: impl FnMut(usize, u32) -> Result<Duration, E>,
) -> Result<Interleaved, E> {
    let mut samples = [vec![], vec![]];
    for _ in 0..batches {
        for (which, samples) in samples.iter_mut().enumerate() {
            samples.push(batch(which, launches[which])?);
        }
    }
    let [first, second] = samples;
    let ratio = Ratio::of(&first, &second);
    Ok(Interleaved { times: [Times::of(first, launches[0]), Times::of(second, launches[1])], ratio })
}
