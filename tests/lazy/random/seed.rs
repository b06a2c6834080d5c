//! Which programs a run draws: by the code of a commit, or by the seed that `FUSE_SEED` asks for, and how many.

use std::{io::Write as _, process::Command};

/// The seed where there is no repository.
const FALLBACK: u64 = 0x6c61_7a79;

/// The seed of this run, which it prints.
///
/// # Panics
/// When `FUSE_SEED` is no number.
pub(crate) fn seed(form: &str) -> u64 {
    let seed = match std::env::var("FUSE_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("FUSE_SEED: expected a number, found `{text}`")),
        Err(_) => code().map_or(FALLBACK, |code| hash(&code)),
    };
    say(form, &format!("seed {seed} (FUSE_SEED={seed} runs these again)"));
    seed
}

/// Prints, also from tests that pass.
pub(crate) fn say(form: &str, text: &str) {
    let _ = writeln!(std::io::stderr(), "random lazy {form}: {text}");
}

/// How many programs are drawn: so many unless `PROPTEST_CASES` says otherwise.
pub(crate) fn cases(usual: u64) -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The trees of this commit that programs go through.
fn code() -> Option<String> {
    let trees = ["fuse-auto", "fuse-compiler", "fuse-runtime", "tests/lazy"].map(|path| format!("HEAD:./{path}"));
    let output =
        Command::new("git").arg("rev-parse").args(trees).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let code = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(code)
}

/// 64-bit FNV-1a, which is the same in every build.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
