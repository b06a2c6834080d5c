//! Mistakes that only rustc can see, because the expression form takes dtypes and ranks from the types of its operands: the traits
//! of the runtime carry the messages.

#[test]
fn wrong_operands_are_explained() {
    trybuild::TestCases::new().compile_fail("types/*.rs");
}
