//! Every diagnostic of the catalogue has a program that fails with it, named after it.

#[test]
fn programs_fail_as_documented() {
    trybuild::TestCases::new().compile_fail("diagnostics/*.rs");
}
