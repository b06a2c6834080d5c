//! Mistakes in imports that rustc reports, or that are about two blocks at once.

#[test]
fn wrong_imports_are_explained() {
    trybuild::TestCases::new().compile_fail("imports/*.rs");
}
