//! Seed and number of random programs: from the commit's code, or `FUSE_SEED` and `PROPTEST_CASES`.

use std::io::Write as _;

const FALLBACK: u64 = 0x6c61_7a79;

pub(crate) fn seed(form: &str) -> u64 {
    let seed = fuse_test_support::seed(&["fuse-auto", "fuse-compiler", "fuse-runtime", "tests/lazy"], FALLBACK);
    say(form, &format!("seed {seed} (FUSE_SEED={seed} runs these again)"));
    seed
}

/// Prints even if the test passes.
pub(crate) fn say(form: &str, text: &str) {
    let _ = writeln!(std::io::stderr(), "random lazy {form}: {text}");
}

pub(crate) fn cases(usual: u64) -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
