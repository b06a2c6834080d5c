//! Verifier of kernels, for tests (feature `verify`): types, definitions before uses, names that hide no function,
//! barriers in uniform control flow.
//!
//! Control flow is uniform if all invocations of a workgroup take it together. A value is uniform if it is equal in all
//! of them: literals, uniform words, workgroup numbers, read-only buffers at uniform indices, and values computed from
//! these. The analysis is WGSL's, without its finer rules about loops.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::{Arena, BinaryOp, Block, Expr, Function, Scalar, Statement, Ty, UnaryOp, Val, types::Compound};

/// WGSL's functions without capitals in their names, which no variable of a kernel has.
#[rustfmt::skip]
const BUILTIN_FUNCTIONS: &[&str] = &[
    "abs", "acos", "acosh", "all", "any", "asin", "asinh", "atan", "atan2", "atanh", "bitcast", "ceil", "clamp", "cos",
    "cosh", "cross", "degrees", "determinant", "distance", "dot", "dpdx", "dpdy", "exp", "exp2", "floor", "fma",
    "fract", "frexp", "fwidth", "ldexp", "length", "log", "log2", "max", "min", "mix", "modf", "normalize", "pow",
    "radians", "reflect", "refract", "round", "saturate", "select", "sign", "sin", "sinh", "smoothstep", "sqrt",
    "step", "tan", "tanh", "transpose", "trunc",
];

/// A variable at module scope, or an input of the entry point.
pub struct Global {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// True if equal indices read the same value in all invocations of a workgroup.
    pub uniform: bool,
}

/// The declarations of a shader.
pub struct Module<'m, 'k> {
    /// The arena of its expressions.
    pub arena: &'k Arena,
    /// Variables, constants and inputs.
    pub globals: Vec<Global>,
    /// Functions beside the entry point.
    pub functions: Vec<&'m Function<'k>>,
    /// The statements of the entry point.
    pub main: &'m Block<'k>,
}

impl Module<'_, '_> {
    /// Checks a shader.
    ///
    /// # Errors
    /// The first fault.
    pub fn verify(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for function in &self.functions {
            if !names.insert(&*function.name) {
                return Err(format!("two functions `{}`", function.name));
            }
            let all = vec![true; function.parameters.len()];
            self.function(&mut Calls::new(), &function.name, &all)
                .map_err(|error| format!("`{}`: {error}", function.name))?;
        }
        let mut calls = Calls::new();
        self.body(&mut calls, &[], None, self.main).map(drop)
    }

    /// Effect of a function called with these uniform arguments.
    fn function(&self, calls: &mut Calls, name: &str, uniform: &[bool]) -> Result<Effect, String> {
        let key = (name.to_owned(), uniform.to_vec());
        if let Some(&effect) = calls.get(&key) {
            return Ok(effect);
        }
        let Some(function) = self.functions.iter().find(|function| function.name == name) else {
            return Err(format!("no function `{name}`"));
        };
        let parameters: Vec<_> =
            function.parameters.iter().zip(uniform).map(|((name, ty), &uniform)| (&**name, *ty, uniform)).collect();
        let effect = self.body(calls, &parameters, function.result, &function.body)?;
        calls.insert(key, effect);
        Ok(effect)
    }

    fn body(
        &self,
        calls: &mut Calls,
        parameters: &[(&str, Ty, bool)],
        result: Option<Ty>,
        block: &Block<'_>,
    ) -> Result<Effect, String> {
        let mut walk = Walk {
            module: self,
            calls,
            scopes: vec![HashMap::new()],
            locals: 0,
            divergent: HashSet::new(),
            result,
            uniform: true,
            effect: Effect { uniform: true, barrier: false },
            trial: 0,
        };
        for &(name, ty, uniform) in parameters {
            walk.define(name, ty, uniform)?;
        }
        walk.block(block)?;
        Ok(walk.effect)
    }
}

/// Effects of functions, by name and uniformity of arguments.
type Calls = HashMap<(String, Vec<bool>), Effect>;

#[derive(Clone, Copy)]
struct Effect {
    uniform: bool,
    barrier: bool,
}

#[derive(Clone, Copy)]
struct Local {
    number: usize,
    ty: Ty,
}

struct Walk<'w, 'm, 'k> {
    module: &'w Module<'m, 'k>,
    calls: &'w mut Calls,
    scopes: Vec<HashMap<String, Local>>,
    locals: usize,
    /// Indices of names whose values are not uniform here.
    divergent: HashSet<usize>,
    result: Option<Ty>,
    /// Uniformity of the control flow.
    uniform: bool,
    effect: Effect,
    /// Enclosing loops with a still unknown effect on their variables.
    trial: usize,
}

impl Walk<'_, '_, '_> {
    fn define(&mut self, name: &str, ty: Ty, uniform: bool) -> Result<usize, String> {
        if BUILTIN_FUNCTIONS.contains(&name) || self.module.functions.iter().any(|function| function.name == name) {
            return Err(format!("`{name}` hides a function"));
        }
        let number = self.locals;
        self.locals += 1;
        if !uniform {
            self.divergent.insert(number);
        }
        self.scopes.last_mut().expect("a scope").insert(name.to_owned(), Local { number, ty });
        Ok(number)
    }

    fn local(&self, name: &str) -> Option<Local> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    fn scoped(&mut self, block: &Block<'_>) -> Result<(), String> {
        self.scopes.push(HashMap::new());
        let outcome = self.block(block);
        self.scopes.pop();
        outcome
    }

    /// Alternative blocks under a condition, which is `uniform` or not.
    fn one_of(&mut self, uniform: bool, blocks: &[&Block<'_>]) -> Result<(), String> {
        let (entry, before) = (self.uniform, self.divergent.clone());
        let (mut after, mut together) = (HashSet::new(), true);
        for block in blocks {
            self.uniform = entry && uniform;
            self.divergent.clone_from(&before);
            self.scoped(block)?;
            after.extend(self.divergent.drain());
            // If some invocations returned, control flow after this is not uniform.
            together &= self.uniform || !ends(block);
        }
        self.divergent = after;
        self.uniform = entry && (uniform || !blocks.iter().any(|block| ends(block))) && together;
        Ok(())
    }

    /// A counted loop's body. Names that become divergent are divergent from its start in later iterations.
    fn rounds(
        &mut self,
        counter: Option<(&str, Ty)>,
        body: &Block<'_>,
        condition: &mut dyn FnMut(&mut Self) -> Result<bool, String>,
    ) -> Result<(), String> {
        let entry = self.uniform;
        self.trial += 1;
        let mut uniform = true;
        loop {
            let before = (self.divergent.clone(), uniform);
            self.scopes.push(HashMap::new());
            if let Some((name, ty)) = counter {
                self.define(name, ty, uniform)?;
            }
            uniform &= condition(self)?;
            self.uniform = entry && uniform;
            self.scoped(body)?;
            uniform &= self.uniform || !ends(body);
            self.scopes.pop();
            self.divergent.extend(&before.0);
            let outer = self.scopes.iter().flat_map(HashMap::values).map(|local| local.number);
            let same = outer.filter(|number| self.divergent.contains(number)).all(|number| before.0.contains(&number));
            if same && before.1 == uniform {
                if self.trial == 0 {
                    break;
                }
                // Reports barriers now, unless an enclosing loop is still on trial.
                self.trial -= 1;
                if self.trial > 0 {
                    break;
                }
            }
        }
        self.uniform = entry && (uniform || !ends(body));
        Ok(())
    }

    fn block(&mut self, block: &Block<'_>) -> Result<(), String> {
        for statement in &block.statements {
            self.statement(statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement<'_>) -> Result<(), String> {
        match statement {
            Statement::Let(name, value) => {
                let uniform = self.value(*value)?;
                self.define(name, value.ty(), uniform)?;
            }
            Statement::Var(name, ty, value) => {
                let uniform = value.map_or(Ok(true), |value| self.value(value))?;
                self.define(name, *ty, uniform)?;
            }
            Statement::Set(place, value) => {
                let (_, uniform) = (self.expr(place.id())?, self.value(*value)?);
                if place.ty() != value.ty() {
                    return Err(format!("{place} is {:?}, {value} is {:?}", place.ty(), value.ty()));
                }
                let indices = self.indices(place.id())?;
                self.written(place.id(), uniform && indices);
            }
            Statement::If(condition, then, otherwise) => {
                let uniform = self.condition(*condition)?;
                self.one_of(uniform, &[then, otherwise])?;
            }
            Statement::Switch(selector, cases) => {
                let uniform = self.value(*selector)?;
                if !is_integer(selector.ty()) {
                    return Err(format!("{selector} selects a case, but is {:?}", selector.ty()));
                }
                self.one_of(uniform, &cases.iter().collect::<Vec<_>>())?;
            }
            Statement::For(range, body) => {
                let mut uniform = true;
                for bound in [range.begin, range.end, range.step] {
                    uniform &= self.value(bound)?;
                    if bound.ty() != range.begin.ty() || !is_integer(bound.ty()) {
                        return Err(format!("{bound} bounds a loop, but is {:?}", bound.ty()));
                    }
                }
                let counter = Some((&*range.counter, range.begin.ty()));
                self.rounds(counter, body, &mut |walk| {
                    let also = range.also.map_or(Ok(true), |also| walk.condition(also))?;
                    Ok(uniform && also)
                })?;
            }
            Statement::Halve(counter, first, body) => {
                let uniform = self.value(*first)?;
                self.rounds(Some((counter, first.ty())), body, &mut |_| Ok(uniform))?;
            }
            Statement::While(condition, body) => {
                self.rounds(None, body, &mut |walk| walk.condition(*condition))?;
            }
            Statement::Scope(body) => self.scoped(body)?,
            Statement::Return(value) => {
                let uniform = value.map_or(Ok(true), |value| self.value(value))?;
                if value.map(Val::ty) != self.result {
                    return Err(format!("returns {:?}, not {:?}", value.map(Val::ty), self.result));
                }
                self.effect.uniform &= uniform && self.uniform;
            }
            Statement::Call(call) => {
                self.expr(call.id())?;
            }
            Statement::WorkgroupBarrier | Statement::StorageBarrier => self.barrier()?,
        }
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), String> {
        self.effect.barrier = true;
        if self.trial == 0 && !self.uniform {
            Err("a barrier in control flow that is not uniform".to_owned())
        } else {
            Ok(())
        }
    }

    fn condition(&mut self, condition: Val<'_>) -> Result<bool, String> {
        if condition.ty() != Ty::BOOL {
            return Err(format!("the condition {condition} is {:?}", condition.ty()));
        }
        self.value(condition)
    }

    /// Checks an expression that has a value; returns its uniformity.
    fn value(&mut self, value: Val<'_>) -> Result<bool, String> {
        if value.ty() == Ty::Void {
            return Err(format!("{value} has no value"));
        }
        self.expr(value.id())
    }

    fn written(&mut self, place: u32, uniform: bool) {
        let Some(local) = self.root(place).and_then(|root| self.local(&root)) else { return };
        let whole = self.module.arena.expr(place, |expr| matches!(expr, Expr::Name(_)));
        if !(uniform && self.uniform) {
            self.divergent.insert(local.number);
        } else if whole {
            self.divergent.remove(&local.number);
        }
    }

    fn root(&self, place: u32) -> Option<String> {
        let next = self.module.arena.expr(place, |expr| match expr {
            Expr::Index(base, _) | Expr::Field(base, _) | Expr::Unary(_, base) => Err(*base),
            Expr::Name(name) => Ok(Some(root_name(name).to_owned())),
            _ => Ok(None),
        });
        next.unwrap_or_else(|base| self.root(base))
    }

    /// Checks a place's indices; returns their uniformity.
    fn indices(&mut self, place: u32) -> Result<bool, String> {
        let parts = self.module.arena.expr(place, |expr| match expr {
            Expr::Index(base, index) => Some((*base, Some(*index))),
            Expr::Field(base, _) => Some((*base, None)),
            _ => None,
        });
        let Some((base, index)) = parts else { return Ok(true) };
        let index = index.map_or(Ok(true), |index| self.expr(index))?;
        Ok(self.indices(base)? && index)
    }

    /// Checks an expression; returns its uniformity.
    fn expr(&mut self, id: u32) -> Result<bool, String> {
        let arena = self.module.arena;
        let (expr, ty) = (arena.expr(id, Clone::clone), arena.ty(id));
        let wrong = |this: &Self| Err(format!("types do not fit in {}", this.module.arena.value(id)));
        let of = |id: u32| arena.ty(id);
        Ok(match &expr {
            Expr::Literal(_) => true,
            Expr::Name(name) => return self.name(name, ty),
            Expr::Unary(op, x) => {
                let fits = match op {
                    UnaryOp::Neg => matches!(of(*x).scalar(), Some(Scalar::F32 | Scalar::F16 | Scalar::I32)),
                    UnaryOp::Not => of(*x).scalar() == Some(Scalar::Bool),
                    UnaryOp::BitNot => is_integer(of(*x)),
                    UnaryOp::AddressOf | UnaryOp::Deref => true,
                };
                if !fits {
                    return wrong(self);
                }
                self.expr(*x)?
            }
            Expr::Binary(op, x, y) => {
                if !fits(*op, of(*x), of(*y)) {
                    return wrong(self);
                }
                let (x, y) = (self.expr(*x)?, self.expr(*y)?);
                x && y
            }
            Expr::Index(base, index) => {
                let indexed = arena.parts(of(*base), |parts| matches!(parts, Compound::Array { .. }));
                if !(indexed.unwrap_or_else(|| of(*base).lanes() > 1) && is_integer(of(*index))) {
                    return wrong(self);
                }
                let (base, index) = (self.expr(*base)?, self.expr(*index)?);
                base && index
            }
            Expr::Field(base, _) => self.expr(*base)?,
            Expr::Construct(parts) => {
                if !constructs(arena, ty, parts) {
                    return wrong(self);
                }
                self.all(parts)?
            }
            Expr::Bitcast(x) => {
                if of(*x).lanes() != ty.lanes() {
                    return wrong(self);
                }
                self.expr(*x)?
            }
            Expr::Call(name, arguments) => return self.call(id, name, arguments),
            Expr::MatrixLoad(_) | Expr::MatrixStore(..) | Expr::MatrixMultiplyAdd(_) => {
                let is_matrix = |ty: Ty| matches!(ty, Ty::Matrix { .. });
                let fits = match &expr {
                    Expr::MatrixLoad(_) => is_matrix(ty),
                    Expr::MatrixStore(matrix, _) => is_matrix(of(*matrix)),
                    _ => expr.operands().iter().all(|&operand| is_matrix(of(operand))),
                };
                if !fits {
                    return wrong(self);
                }
                self.all(&expr.operands())?
            }
            Expr::Operation(..) => self.all(&expr.operands())?,
        })
    }

    fn all(&mut self, ids: &[u32]) -> Result<bool, String> {
        ids.iter().try_fold(true, |all, &id| Ok(self.expr(id)? && all))
    }

    fn name(&self, name: &str, ty: Ty) -> Result<bool, String> {
        let root = root_name(name);
        if let Some(local) = self.local(root) {
            if root == name && local.ty != ty {
                return Err(format!("`{name}` is {:?}, but used as {ty:?}", local.ty));
            }
            return Ok(!self.divergent.contains(&local.number));
        }
        match self.module.globals.iter().find(|global| global.name == root) {
            Some(global) if root == name && global.ty != ty => {
                Err(format!("`{name}` is {:?}, but used as {ty:?}", global.ty))
            }
            Some(global) => Ok(global.uniform),
            None => Err(format!("`{name}` is used before it is defined")),
        }
    }

    fn call(&mut self, id: u32, name: &str, arguments: &[u32]) -> Result<bool, String> {
        let (arena, module) = (self.module.arena, self.module);
        let mut uniform = vec![];
        for &argument in arguments {
            uniform.push(self.expr(argument)?);
        }
        if name == "workgroupUniformLoad" {
            self.barrier()?;
            return Ok(true);
        }
        let Some(function) = module.functions.iter().find(|function| function.name == name) else {
            // A function of WGSL or of the library has no barriers; subgroup functions differ between subgroups.
            let varies = name.starts_with("subgroup") || name.starts_with("atomic");
            return Ok(uniform.iter().all(|uniform| *uniform) && !varies);
        };
        let types: Vec<Ty> = arguments.iter().map(|&argument| arena.ty(argument)).collect();
        let expected: Vec<Ty> = function.parameters.iter().map(|(_, ty)| *ty).collect();
        if types != expected || arena.ty(id) != function.result.unwrap_or(Ty::Void) {
            return Err(format!("{} does not fit `{name}`: {types:?}, not {expected:?}", arena.value(id)));
        }
        let effect = module.function(self.calls, name, &uniform)?;
        if effect.barrier {
            self.barrier()?;
        }
        for &argument in arguments {
            if arena.expr(argument, |expr| matches!(expr, Expr::Unary(UnaryOp::AddressOf, _))) {
                self.written(argument, false);
            }
        }
        Ok(effect.uniform)
    }
}

/// The variable name in `p.rows`.
fn root_name(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// True if some statement returns.
fn ends(block: &Block<'_>) -> bool {
    block.statements.iter().any(|statement| match statement {
        Statement::Return(_) => true,
        Statement::If(_, then, otherwise) => ends(then) || ends(otherwise),
        Statement::Switch(_, cases) => cases.iter().any(ends),
        Statement::For(_, inner)
        | Statement::Halve(_, _, inner)
        | Statement::While(_, inner)
        | Statement::Scope(inner) => ends(inner),
        _ => false,
    })
}

fn is_integer(ty: Ty) -> bool {
    matches!(ty.scalar(), Some(Scalar::I32 | Scalar::U32))
}

fn fits(op: BinaryOp, x: Ty, y: Ty) -> bool {
    let same = x.scalar() == y.scalar() && x.scalar().is_some();
    let is_bool = x.scalar() == Some(Scalar::Bool);
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
            same && !is_bool && (x.lanes() == y.lanes() || x.lanes() == 1 || y.lanes() == 1)
        }
        BinaryOp::Shl | BinaryOp::Shr => is_integer(x) && y.scalar() == Some(Scalar::U32) && x.lanes() == y.lanes(),
        BinaryOp::Xor => x == y && is_integer(x),
        BinaryOp::And | BinaryOp::Or => x == y && (is_integer(x) || is_bool),
        BinaryOp::LogicalAnd | BinaryOp::LogicalOr => x == Ty::BOOL && y == Ty::BOOL,
        BinaryOp::Eq | BinaryOp::Ne => same && x == y,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => same && x == y && !is_bool,
    }
}

fn constructs(arena: &Arena, ty: Ty, parts: &[u32]) -> bool {
    let types: Vec<Ty> = parts.iter().map(|&part| arena.ty(part)).collect();
    if types.is_empty() {
        return true;
    }
    if let Ty::Vector { scalar, lanes } = ty {
        let all = types.iter().all(|part| part.scalar() == Some(scalar));
        let sum: u32 = types.iter().map(|part| part.lanes()).sum();
        // Broadcast, converted, or one by one.
        return match types[..] {
            [one] => (one.lanes() == 1 && all) || (one.lanes() == lanes && one.scalar().is_some()),
            _ => all && sum == lanes,
        };
    }
    let fields = arena.parts(ty, |compound| match compound {
        Compound::Struct { fields, .. } => fields.iter().map(|(_, ty)| *ty).collect(),
        Compound::Array { element, count } => vec![*element; count.unwrap_or(0) as usize],
        Compound::Pointer { .. } => vec![],
    });
    fields == Some(types)
}
