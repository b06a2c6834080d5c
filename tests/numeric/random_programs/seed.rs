//! Which programs a run draws: by the code of a commit, or by the seed that `FUSE_SEED` asks for, and for how long.

use std::time::Duration;

/// The seed where there is no repository.
const FALLBACK: u64 = 0x6675_7365;

/// The seed of this run.
pub(crate) fn seed() -> u64 {
    fuse_test_support::seed(&["fuse-artifact", "fuse-compiler", "fuse-runtime", "tests/numeric"], FALLBACK)
}

/// For how long programs are drawn, if not a certain number of them.
///
/// # Panics
/// When `FUSE_MINUTES` is no number.
pub(crate) fn minutes() -> Option<Duration> {
    let text = std::env::var("FUSE_MINUTES").ok()?;
    let minutes: f64 = text.parse().unwrap_or_else(|_| panic!("FUSE_MINUTES: expected a number, found `{text}`"));
    Some(Duration::from_secs_f64(60.0 * minutes.clamp(0.0, 1e6)))
}
