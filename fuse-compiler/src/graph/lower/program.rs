//! The functions that a body may call.

use std::collections::BTreeMap;

use super::{calls::is_callee, output::Callee};
use crate::syntax::ast;

/// The functions that a body may call.
pub(crate) struct Program<'a> {
    /// Those of the block, then those that it imports.
    pub(crate) functions: Vec<&'a ast::Function>,
    /// How many are the block's own.
    pub(crate) own: usize,
    /// For each of them, and last for an expression, which function each name stands for.
    pub(crate) names: Vec<BTreeMap<String, usize>>,
    /// True at the index of a function that was lowered without errors.
    pub(crate) sound: Vec<bool>,
    /// Names of functions that could not be read, which was reported.
    pub(crate) broken: Vec<String>,
    /// True if any unknown name may be unreadable, too.
    pub(crate) open: bool,
}

impl Program<'_> {
    /// The functions that the block's function with this index calls, by the names that it calls them.
    pub(crate) fn callees(&self, index: usize) -> Vec<(String, Callee)> {
        let callees = self.names[index].iter().filter(|(name, _)| is_callee(self.functions[index], name));
        let callee = |index: usize| index.checked_sub(self.own).map_or(Callee::Own(index), Callee::Imported);
        callees.map(|(name, &index)| (name.clone(), callee(index))).collect()
    }

    /// True if it was reported that no function of this name exists.
    pub(crate) fn is_reported(&self, name: &str) -> bool {
        self.open || self.broken.iter().any(|broken| broken == name)
    }
}
