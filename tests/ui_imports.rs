//! Mistakes in imports that rustc reports, or that are about two blocks at once. `TRYBUILD=overwrite cargo test --test
//! ui_imports` writes the `.stderr` files anew.

#[test]
fn wrong_imports_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/imports/*.rs");
}
