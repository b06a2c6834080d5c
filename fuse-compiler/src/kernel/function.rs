//! Functions other than a shader's entry point.

use super::{Block, Ty};

/// A function.
#[derive(Clone, Default)]
pub struct Function<'k> {
    /// Its name.
    pub name: String,
    /// Names and types of its parameters.
    pub parameters: Vec<(String, Ty)>,
    /// The type of its result.
    pub result: Option<Ty>,
    /// Its statements.
    pub body: Block<'k>,
}
