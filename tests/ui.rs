//! Every diagnostic of the catalogue has a program in `tests/ui` that fails with it, named after it. The messages
//! are in the `.stderr` file beside it; `TRYBUILD=overwrite cargo test --test ui` writes them anew.

use std::{collections::BTreeSet, fs, path::Path};

use fuse_compiler::diag::Code;

#[test]
fn programs_fail_as_documented() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

#[test]
fn every_diagnostic_has_a_program() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let stems = |extension: &str| -> BTreeSet<String> {
        fs::read_dir(&directory)
            .expect("tests/ui can be read")
            .map(|entry| entry.expect("tests/ui can be read").path())
            .filter(|path| path.extension().is_some_and(|found| found == extension))
            .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
            .collect()
    };
    // A mistake of the compiler itself has no program, or it would be mended.
    let names: BTreeSet<String> =
        Code::ALL.iter().filter(|code| **code != Code::InternalError).map(|code| code.name().to_string()).collect();
    assert_eq!(stems("rs"), names);
    assert_eq!(stems("stderr"), names);
}
