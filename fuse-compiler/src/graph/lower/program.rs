//! Functions that a body may call.

use std::collections::BTreeMap;

use super::{calls::is_callee, output::Callee};
use crate::syntax::ast;

pub(crate) struct Program<'a> {
    /// The block's, then imported ones.
    pub(crate) functions: Vec<&'a ast::Function>,
    /// Number of the block's own.
    pub(crate) own: usize,
    /// Function of each name, per function, and last for an expression.
    pub(crate) names: Vec<BTreeMap<String, usize>>,
    pub(crate) sound: Vec<bool>,
    /// Reported, unreadable functions.
    pub(crate) broken: Vec<String>,
    /// True if any unknown name may be unreadable.
    pub(crate) open: bool,
}

impl Program<'_> {
    pub(crate) fn callees(&self, index: usize) -> Vec<(String, Callee)> {
        let callees = self.names[index].iter().filter(|(name, _)| is_callee(self.functions[index], name));
        let callee = |index: usize| index.checked_sub(self.own).map_or(Callee::Own(index), Callee::Imported);
        callees.map(|(name, &index)| (name.clone(), callee(index))).collect()
    }

    /// True if the lack of this function was reported.
    pub(crate) fn is_reported(&self, name: &str) -> bool {
        self.open || self.broken.iter().any(|broken| broken == name)
    }
}
