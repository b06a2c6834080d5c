//! Which programs a run draws: by the code of a commit, or by the seed that `FUSE_SEED` asks for, and for how long.

use std::{process::Command, time::Duration};

/// The seed where there is no repository.
const FALLBACK: u64 = 0x6675_7365;

/// The seed of this run.
///
/// # Panics
/// When `FUSE_SEED` is no number.
pub(crate) fn seed() -> u64 {
    match std::env::var("FUSE_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("FUSE_SEED: expected a number, found `{text}`")),
        Err(_) => code().map_or(FALLBACK, |code| hash(&code)),
    }
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

/// The trees of this commit that programs go through: documents may change without other programs being drawn.
fn code() -> Option<String> {
    let trees =
        ["fuse-artifact", "fuse-compiler", "fuse-runtime", "tests/numeric"].map(|path| format!("HEAD:./{path}"));
    let output =
        Command::new("git").arg("rev-parse").args(trees).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let code = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(code)
}

/// 64-bit FNV-1a, which is the same in every build.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn other_code_draws_other_programs() {
    let seeds = ["0a1b", "0a1c", ""].map(hash);
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2], "{seeds:?}");
    assert_eq!(hash("0a1b"), seeds[0]);
}
