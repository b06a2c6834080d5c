//! Which programs a run draws: the seed of a commit, or the one that `FUSE_SEED` asks for, and for how long.

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
        Err(_) => commit().map_or(FALLBACK, |commit| of_commit(&commit)),
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

/// What this checkout has checked out.
fn commit() -> Option<String> {
    let output =
        Command::new("git").args(["rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !commit.is_empty()).then_some(commit)
}

/// 64-bit FNV-1a, which is the same in every build.
fn of_commit(commit: &str) -> u64 {
    commit.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn commits_have_seeds_of_their_own() {
    let seeds = ["0a1b", "0a1c", ""].map(of_commit);
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2], "{seeds:?}");
    assert_eq!(of_commit("0a1b"), seeds[0]);
}
