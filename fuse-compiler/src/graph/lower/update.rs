//! Updates of `&mut` parameters: `*w = w - rate * gradient;`.
//!
//! They take effect at the end of the function. A later read would see the old value, so it is an error.

use syn::Ident;

use super::{
    Lowering, Scope, ident_range,
    value::{Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::{NodeId, Op},
    syntax::ast::{Expr, Function},
};

pub(super) struct Update {
    param: usize,
    /// `None` if reported.
    value: Option<NodeId>,
    range: SourceRange,
    function: usize,
    /// Statements that let later ones read the new value, for the help.
    bound: [String; 2],
    reported: bool,
}

impl Lowering<'_> {
    /// Assigns each parameter its part of the value. Without a function, none can be assigned.
    pub(super) fn update(
        &mut self,
        function: Option<&Function>,
        (names, part): (&[Ident], usize),
        (value, assigned): (&Operand, &Expr),
        scope: &Scope,
    ) {
        let name = &names[part];
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
            let ty = super::type_text::type_text(&param.ty, function);
            self.sink.report(diagnostic.help(format!("declare `{name}: &mut {ty}`")));
            return;
        }
        if let Some(binding) = scope.variables.get(&name.to_string()) {
            binding.used.set(true);
        }
        if self.updates.iter().any(|update| update.param == position) {
            self.check_first_update(&names[part..=part]);
            return;
        }
        let value = self.result(value, (&param.ty, Some(name)), scope, function);
        let (function, bound) = (self.caller, bound_text(names, assigned));
        self.updates.push(Update { param: position, value, range: at, function, bound, reported: false });
    }

    /// Reports parameters with a new value. Runs before the assigned expression, so that its read is no second error.
    pub(super) fn check_first_update(&mut self, names: &[Ident]) {
        for name in names {
            let params = &self.graph.params;
            let updated = |update: &&mut Update| params[update.param].name == *name.to_string();
            let Some(update) = self.updates.iter_mut().find(updated).filter(|update| !update.reported) else {
                continue;
            };
            update.reported = true;
            let message = format!("`{name}` is assigned to twice");
            let diagnostic = Diagnostic::new(Code::UpdateTwice, ident_range(name), message);
            let diagnostic = diagnostic.note(update.range, "the first is here");
            let help = format!("bind the first value, `{}`, and assign to `{name}` once", update.bound[0]);
            self.sink.report(diagnostic.help(help));
        }
    }

    /// True if an earlier statement updated this parameter. Reports it once.
    pub(super) fn reports_stale_read(&mut self, name: &str, value: &Value, at: SourceRange) -> bool {
        let Value::Node(node) = value else { return false };
        let Op::Input(index) = self.graph.nodes[*node].op else { return false };
        let (param, caller) = (usize::from(index), self.caller);
        let updated = |update: &&mut Update| update.param == param && update.function == caller;
        let Some(update) = self.updates.iter_mut().find(updated) else { return false };
        if self.graph.params[param].name != name {
            return false;
        }
        if !std::mem::replace(&mut update.reported, true) {
            let (range, bound) = (update.range, update.bound.clone());
            self.updates.iter_mut().filter(|other| other.bound == bound).for_each(|other| other.reported = true);
            let message = format!(
                "`{name}` still has its old value here: updates take effect at the end of `{}`",
                self.graph.name
            );
            let diagnostic = Diagnostic::new(Code::StaleRead, at, message).note(range, "it is updated here");
            let help = format!("to read the new value, write `{}` and read that", bound.join(" "));
            let diagnostic = diagnostic.help(help);
            self.sink.report(diagnostic.help(format!("to read the old value, read `{name}` before it is updated")));
        }
        true
    }

    pub(super) fn finish_updates(&mut self, function: &Function) -> Option<()> {
        let mut updates = std::mem::take(&mut self.updates);
        updates.sort_by_key(|update| update.param);
        for (position, param) in function.params.iter().enumerate().filter(|(_, param)| param.updated.is_some()) {
            if !updates.iter().any(|update| update.param == position) && self.sink.errors_here() == 0 {
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

fn bound_text(names: &[Ident], assigned: &Expr) -> [String; 2] {
    let targets: Vec<String> = names.iter().map(|name| format!("*{name}")).collect();
    let bound: Vec<String> = names.iter().map(|name| format!("{name}_new")).collect();
    let (targets, bound) = match names {
        [_] => (targets.concat(), bound.concat()),
        _ => (format!("({})", targets.join(", ")), format!("({})", bound.join(", "))),
    };
    [format!("let {bound} = {assigned};"), format!("{targets} = {bound};")]
}
