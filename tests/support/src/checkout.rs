//! Checkout whose files tests read.

use std::path::{Path, PathBuf};

/// Root of the repository: `FUSE_CHECKOUT` on other machines, otherwise where the test program was built.
///
/// # Panics
/// If there is no repository.
pub fn checkout() -> PathBuf {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = std::env::var_os("FUSE_CHECKOUT").map_or_else(built, PathBuf::from);
    assert!(
        root.join("tests/support").is_dir(),
        "{} is no checkout; help: set FUSE_CHECKOUT to the root of one",
        root.display()
    );
    root.canonicalize().unwrap_or(root)
}

/// Folder for files of a test, below the checkout's `target`.
///
/// # Panics
/// If it cannot be made.
pub fn scratch(name: &str) -> PathBuf {
    let folder = checkout().join("target/tmp").join(name);
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    folder
}
