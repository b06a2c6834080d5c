//! Outlines blocks into functions.

use std::collections::HashSet;

use super::{Arena, Block, Expr, Function, Statement, Ty, Val};

/// Outlines a block into a function, which it returns with its call. Free names become parameters.
///
/// The block must not change variables around it.
pub fn outline<'k>(
    arena: &'k Arena,
    name: String,
    body: Block<'k>,
    is_global: impl Fn(&str) -> bool,
) -> (Function<'k>, Val<'k>) {
    let mut free = Free { arena, is_global: &is_global, scopes: vec![HashSet::new()], found: vec![] };
    free.block(&body);
    let parameters = free.found;
    let arguments: Vec<Val<'k>> = parameters.iter().map(|(name, ty)| arena.name(name.clone(), *ty)).collect();
    let call = arena.call(name.clone(), &arguments, Ty::Void);
    (Function { name, parameters, result: None, body }, call)
}

/// Collects the free names of a block.
struct Free<'f, 'k> {
    arena: &'k Arena,
    is_global: &'f dyn Fn(&str) -> bool,
    scopes: Vec<HashSet<String>>,
    found: Vec<(String, Ty)>,
}

impl<'k> Free<'_, 'k> {
    fn define(&mut self, name: &str) {
        self.scopes.last_mut().expect("a scope").insert(name.to_owned());
    }

    fn scoped(&mut self, block: &Block<'k>) {
        self.scopes.push(HashSet::new());
        self.block(block);
        self.scopes.pop();
    }

    fn block(&mut self, block: &Block<'k>) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement<'k>) {
        match statement {
            Statement::Let(name, value) => {
                self.value(*value);
                self.define(name);
            }
            Statement::Var(name, _, value) => {
                value.iter().for_each(|value| self.value(*value));
                self.define(name);
            }
            Statement::Set(place, value) => {
                self.value(*place);
                self.value(*value);
            }
            Statement::While(condition, block) => {
                self.value(*condition);
                self.scoped(block);
            }
            Statement::If(condition, then, otherwise) => {
                self.value(*condition);
                self.scoped(then);
                self.scoped(otherwise);
            }
            Statement::For(range, body) => {
                [range.begin, range.end, range.step].iter().for_each(|bound| self.value(*bound));
                self.scopes.push(HashSet::new());
                self.define(&range.counter);
                range.also.iter().for_each(|also| self.value(*also));
                self.scoped(body);
                self.scopes.pop();
            }
            Statement::Halve(counter, first, body) => {
                self.value(*first);
                self.scopes.push(HashSet::new());
                self.define(counter);
                self.scoped(body);
                self.scopes.pop();
            }
            Statement::Switch(selector, cases) => {
                self.value(*selector);
                cases.iter().for_each(|case| self.scoped(case));
            }
            Statement::Scope(block) => self.scoped(block),
            Statement::Return(value) => value.iter().for_each(|value| self.value(*value)),
            Statement::Call(call) => self.value(*call),
            Statement::WorkgroupBarrier | Statement::StorageBarrier => {}
        }
    }

    fn value(&mut self, value: Val<'k>) {
        self.expr(value.id());
    }

    fn expr(&mut self, id: u32) {
        let (name, operands) = self.arena.expr(id, |expr| match expr {
            Expr::Name(name) => (Some(name.clone()), vec![]),
            other => (None, other.operands()),
        });
        operands.into_iter().for_each(|operand| self.expr(operand));
        let Some(name) = name else { return };
        let is_known = self.scopes.iter().any(|scope| scope.contains(&name))
            || self.found.iter().any(|(known, _)| *known == name)
            || (self.is_global)(name.split('.').next().unwrap_or(&name));
        if !is_known {
            self.found.push((name, self.arena.ty(id)));
        }
    }
}
