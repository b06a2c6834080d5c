//! Blocks: lists of statements under construction.

use fuse_artifact::constants::{MOST_ROUNDS, ROUNDS};

use super::{Arena, IntoVal, Ty, Val};

/// A statement.
#[derive(Clone)]
pub enum Statement<'k> {
    /// `let name = value;`
    Let(String, Val<'k>),
    /// `var name = value;`, or `var name: T;` without a value.
    Var(String, Ty, Option<Val<'k>>),
    /// `place = value;`
    Set(Val<'k>, Val<'k>),
    /// `if condition { … }`, with an `else` unless the second block is empty.
    If(Val<'k>, Block<'k>, Block<'k>),
    /// `for (var counter = begin; counter < end && also; counter += step) { … }`
    For(Range<'k>, Block<'k>),
    /// `for (var counter = first; counter > 0; counter /= 2) { … }`
    Halve(String, Val<'k>, Block<'k>),
    /// `while condition { … }`
    While(Val<'k>, Block<'k>),
    /// `{ … }`
    Scope(Block<'k>),
    /// `switch selector { … }`: the block with the selector's number, or the last one.
    Switch(Val<'k>, Vec<Block<'k>>),
    /// `return value;`
    Return(Option<Val<'k>>),
    /// `call(…);`
    Call(Val<'k>),
    /// `workgroupBarrier();`
    WorkgroupBarrier,
    /// `storageBarrier();`
    StorageBarrier,
}

impl<'k> Statement<'k> {
    #[cfg(feature = "verify")]
    pub(super) fn blocks_mut(&mut self) -> Vec<&mut Block<'k>> {
        match self {
            Self::If(_, then, otherwise) => vec![then, otherwise],
            Self::For(_, block) | Self::Halve(_, _, block) | Self::While(_, block) | Self::Scope(block) => vec![block],
            Self::Switch(_, cases) => cases.iter_mut().collect(),
            _ => vec![],
        }
    }
}

/// A loop counter and its range.
#[derive(Clone)]
pub struct Range<'k> {
    /// The counter's name.
    pub counter: String,
    /// The first value.
    pub begin: Val<'k>,
    /// The end, exclusive.
    pub end: Val<'k>,
    /// The increment.
    pub step: Val<'k>,
    /// Additional condition to continue.
    pub also: Option<Val<'k>>,
}

/// Statements in order.
#[derive(Clone, Default)]
pub struct Block<'k> {
    pub(super) statements: Vec<Statement<'k>>,
}

impl<'k> Block<'k> {
    /// No statements.
    pub const fn new() -> Self {
        Self { statements: vec![] }
    }

    /// True if there are no statements.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// A block built by a closure.
    pub fn of(build: impl FnOnce(&mut Self)) -> Self {
        let mut block = Self::new();
        build(&mut block);
        block
    }

    /// Adds another block's statements.
    pub fn append(&mut self, other: &Self) {
        self.statements.extend(other.statements.iter().cloned());
    }

    /// Binds a value: `let name = value;`.
    pub fn bind(&mut self, name: impl Into<String>, value: Val<'k>) -> Val<'k> {
        let name = name.into();
        self.statements.push(Statement::Let(name.clone(), value));
        value.arena().name(name, value.ty())
    }

    /// Binds values as `name_0 …`.
    pub fn bind_all(&mut self, name: &str, values: &[Val<'k>]) -> Vec<Val<'k>> {
        values.iter().enumerate().map(|(i, &value)| self.bind(format!("{name}_{i}"), value)).collect()
    }

    /// Declares a variable with its first value.
    pub fn var(&mut self, name: impl Into<String>, value: Val<'k>) -> Val<'k> {
        let name = name.into();
        self.statements.push(Statement::Var(name.clone(), value.ty(), Some(value)));
        value.arena().name(name, value.ty())
    }

    /// Declares a zero-initialized variable.
    pub fn declare(&mut self, arena: &'k Arena, name: impl Into<String>, ty: Ty) -> Val<'k> {
        let name = name.into();
        self.statements.push(Statement::Var(name.clone(), ty, None));
        arena.name(name, ty)
    }

    /// Assigns to a variable, an element or a field.
    pub fn set(&mut self, place: Val<'k>, value: impl IntoVal<'k>) {
        let value = value.into_val(place);
        self.statements.push(Statement::Set(place, value));
    }

    /// Runs statements if a condition holds.
    pub fn when(&mut self, condition: Val<'k>, then: impl FnOnce(&mut Self)) {
        self.when_else(condition, then, |_| {});
    }

    /// Runs `then` if a condition holds, else `otherwise`.
    pub fn when_else(&mut self, condition: Val<'k>, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        self.statements.push(Statement::If(condition, Self::of(then), Self::of(otherwise)));
    }

    /// Adds `else` to the preceding `when`.
    pub fn otherwise(&mut self, otherwise: impl FnOnce(&mut Self)) {
        match self.statements.last_mut() {
            Some(Statement::If(_, _, block)) => *block = Self::of(otherwise),
            _ => unreachable!("`otherwise` follows a `when`"),
        }
    }

    /// As [`when`](Self::when); `None` always holds.
    pub fn when_some(&mut self, condition: Option<Val<'k>>, then: impl FnOnce(&mut Self)) {
        match condition {
            Some(condition) => self.when(condition, then),
            None => then(self),
        }
    }

    /// Returns if a condition holds.
    pub fn return_if(&mut self, condition: Val<'k>) {
        self.when(condition, Self::leave);
    }

    /// Returns from the function.
    pub fn leave(&mut self) {
        self.statements.push(Statement::Return(None));
    }

    /// Returns a result from the function.
    pub fn answer(&mut self, value: Val<'k>) {
        self.statements.push(Statement::Return(Some(value)));
    }

    /// Loops over `begin .. end` with an increment.
    pub fn range(
        &mut self,
        counter: &str,
        begin: Val<'k>,
        end: impl IntoVal<'k>,
        step: impl IntoVal<'k>,
        body: impl FnOnce(&mut Self, Val<'k>),
    ) {
        let (end, step) = (end.into_val(begin), step.into_val(begin));
        self.add_range(counter, [begin, end, step], |_| None, body);
    }

    /// As [`range`](Self::range), while a condition holds.
    pub fn range_while(
        &mut self,
        counter: &str,
        begin: Val<'k>,
        end: impl IntoVal<'k>,
        step: impl IntoVal<'k>,
        condition: impl FnOnce(Val<'k>) -> Val<'k>,
        body: impl FnOnce(&mut Self, Val<'k>),
    ) {
        let (end, step) = (end.into_val(begin), step.into_val(begin));
        self.add_range(counter, [begin, end, step], |counter| Some(condition(counter)), body);
    }

    /// As [`range`](Self::range); the runtime may unroll by the shader's constant [`ROUNDS`].
    ///
    /// # Invariant
    /// The body has no barriers.
    pub fn unrollable(
        &mut self,
        counter: &str,
        begin: Val<'k>,
        end: Val<'k>,
        step: u32,
        body: impl FnOnce(&mut Self, Val<'k>),
    ) {
        let rounds = begin.arena().name(ROUNDS, Ty::U32);
        let count = match (begin.as_u32(), end.as_u32()) {
            (Some(begin), Some(end)) => Some(end.saturating_sub(begin).div_ceil(step)),
            _ => None,
        };
        // Otherwise the last iteration may be partial.
        let full = count.is_some_and(|count| count.is_multiple_of(MOST_ROUNDS));
        self.range(&format!("{counter}_0"), begin, end, rounds * step, |b, first| {
            b.range("iteration", begin.arena().u32(0), rounds, 1, |b, iteration| {
                let value = b.bind(counter, first + iteration * step);
                b.when_some((!full).then(|| rounds.eq(1).or(value.lt(end))), |b| body(b, value));
            });
        });
    }

    /// Loops over `first`, its half, and so on down to 1.
    pub fn halve(&mut self, counter: &str, first: Val<'k>, body: impl FnOnce(&mut Self, Val<'k>)) {
        let value = first.arena().name(counter, first.ty());
        let block = Self::of(|b| body(b, value));
        self.statements.push(Statement::Halve(counter.to_owned(), first, block));
    }

    fn add_range(
        &mut self,
        counter: &str,
        [begin, end, step]: [Val<'k>; 3],
        also: impl FnOnce(Val<'k>) -> Option<Val<'k>>,
        body: impl FnOnce(&mut Self, Val<'k>),
    ) {
        let value = begin.arena().name(counter, begin.ty());
        let block = Self::of(|b| body(b, value));
        let range = Range { counter: counter.to_owned(), begin, end, step, also: also(value) };
        self.statements.push(Statement::For(range, block));
    }

    /// Loops while a condition holds.
    pub fn repeat_while(&mut self, condition: Val<'k>, body: impl FnOnce(&mut Self)) {
        self.statements.push(Statement::While(condition, Self::of(body)));
    }

    /// Runs the case with the selector's number, or the last one.
    pub fn switch(&mut self, selector: Val<'k>, cases: Vec<Self>) {
        self.statements.push(Statement::Switch(selector, cases));
    }

    /// Statements in their own scope.
    pub fn scope(&mut self, body: impl FnOnce(&mut Self)) {
        self.statements.push(Statement::Scope(Self::of(body)));
    }

    /// Calls a function for its effect.
    pub fn run(&mut self, call: Val<'k>) {
        self.statements.push(Statement::Call(call));
    }

    /// A workgroup barrier; makes earlier writes to workgroup memory visible.
    pub fn workgroup_barrier(&mut self) {
        self.statements.push(Statement::WorkgroupBarrier);
    }

    /// A workgroup barrier; makes earlier writes to buffers visible.
    pub fn storage_barrier(&mut self) {
        self.statements.push(Statement::StorageBarrier);
    }
}
