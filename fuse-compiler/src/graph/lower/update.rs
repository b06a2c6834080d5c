//! Parameters of type `&mut`, which take new values in place: `*w = w - rate * gradient;`.
//!
//! Whatever reads such a parameter sees its old value, wherever it stands.

use syn::Ident;

use super::{Lowering, Scope, ident_range, value::Operand};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::NodeId,
    syntax::ast::Function,
};

/// The new value of a parameter.
pub(super) struct Update {
    param: usize,
    /// Nothing if it was reported.
    value: Option<NodeId>,
    range: SourceRange,
}

impl Lowering<'_> {
    /// Gives a parameter of `function` a new value; without a function, no parameter can take one.
    pub(super) fn update(&mut self, function: Option<&Function>, name: &Ident, value: &Operand, scope: &Scope) {
        let at = ident_range(name);
        let refused = |message: String| Diagnostic::new(Code::UpdateTarget, at, message);
        let Some(function) = function else {
            let diagnostic = refused(format!("`{name}` cannot be assigned to here"));
            self.sink.report(diagnostic.help("assign to a parameter `name: &mut f32[…]` in its function's own block"));
            return;
        };
        let Some(position) = function.params.iter().position(|param| param.name == *name) else {
            let diagnostic = refused(format!("`{name}` is no parameter of `{}`", function.name));
            self.sink.report(diagnostic.help("only parameters can be assigned to; bind other values with `let`"));
            return;
        };
        let param = &function.params[position];
        if param.updated.is_none() {
            let diagnostic = refused(format!("parameter `{name}` cannot be assigned to"));
            let diagnostic = diagnostic.note(ident_range(&param.name), "it is declared without `&mut`");
            let ty = super::functions::type_text(&param.ty, function);
            self.sink.report(diagnostic.help(format!("declare `{name}: &mut {ty}`")));
            return;
        }
        if let Some(binding) = scope.variables.get(&name.to_string()) {
            binding.used.set(true);
        }
        if let Some(first) = self.updates.iter().find(|update| update.param == position) {
            let diagnostic = Diagnostic::new(Code::UpdateTwice, at, format!("`{name}` is assigned to twice"));
            let diagnostic = diagnostic.note(first.range, "the first is here");
            self.sink
                .report(diagnostic.help("reads see the old value: compute the new one with `let`, and assign it once"));
            return;
        }
        let value = self.result(value, (&param.ty, Some(name)), scope, function);
        self.updates.push(Update { param: position, value, range: at });
    }

    /// Makes the new values results of the graph, in the order of the parameters.
    pub(super) fn finish_updates(&mut self, function: &Function) -> Option<()> {
        let mut updates = std::mem::take(&mut self.updates);
        updates.sort_by_key(|update| update.param);
        for (position, param) in function.params.iter().enumerate().filter(|(_, param)| param.updated.is_some()) {
            if !updates.iter().any(|update| update.param == position) {
                let message = format!("nothing is assigned to `{}`", param.name);
                let diagnostic = Diagnostic::new(Code::UpdateMissing, ident_range(&param.name), message);
                self.sink
                    .report(diagnostic.help(format!("write `*{} = …;`, or declare it without `&mut`", param.name)));
            }
        }
        for update in updates {
            self.graph.results.push(update.value?);
            self.graph.updates.push(update.param as u16);
        }
        Some(())
    }
}
