//! First steps that go wrong: one mistake is one error.

#[test]
fn first_steps_are_helped() {
    trybuild::TestCases::new().compile_fail("newcomer/*.rs");
}
