//! Seed of random programs (the commit's code, or `FUSE_SEED`) and time for drawing them.

use std::time::Duration;

const FALLBACK: u64 = 0x6675_7365;

pub(crate) fn seed() -> u64 {
    fuse_test_support::seed(&["fuse-artifact", "fuse-compiler", "fuse-runtime", "tests/numeric"], FALLBACK)
}

/// Time for drawing programs, instead of a number of them.
///
/// # Panics
/// If `FUSE_MINUTES` is no number.
pub(crate) fn minutes() -> Option<Duration> {
    let text = std::env::var("FUSE_MINUTES").ok()?;
    let minutes: f64 = text.parse().unwrap_or_else(|_| panic!("FUSE_MINUTES: expected a number, found `{text}`"));
    Some(Duration::from_secs_f64(60.0 * minutes.clamp(0.0, 1e6)))
}
