//! Functions other than a shader's entry point.

use super::{Block, Ty};

/// A function.
#[derive(Clone, Default)]
pub struct Function<'k> {
    /// Its name.
    pub name: String,
    /// Parameter names and types.
    pub parameters: Vec<(String, Ty)>,
    /// Result type.
    pub result: Option<Ty>,
    /// Its statements.
    pub body: Block<'k>,
}
