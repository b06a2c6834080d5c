//! Seed of random programs: from the commit's code, or `FUSE_SEED`.

use std::process::Command;

use crate::checkout;

/// Seed of this run: a hash of the commit's trees that affect programs, so that documents keep it; without a
/// repository, `fallback`.
///
/// # Panics
/// If `FUSE_SEED` is no number.
pub fn seed(trees: &[&str], fallback: u64) -> u64 {
    match std::env::var("FUSE_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("FUSE_SEED: expected a number, found `{text}`")),
        Err(_) => code(trees).map_or(fallback, |code| hash(&code)),
    }
}

fn code(trees: &[&str]) -> Option<String> {
    let trees = trees.iter().map(|path| format!("HEAD:./{path}"));
    let output = Command::new("git").arg("rev-parse").args(trees).current_dir(checkout()).output().ok()?;
    let code = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(code)
}

/// FNV-1a of 64 bits: the same in every build.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn other_code_draws_other_programs() {
    let seeds = ["0a1b", "0a1c", ""].map(hash);
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2], "{seeds:?}");
    assert_eq!(hash("0a1b"), seeds[0]);
}
