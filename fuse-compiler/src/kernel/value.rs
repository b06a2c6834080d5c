//! Values: typed expressions in an arena, with operators.

use std::{
    cell::RefCell,
    ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub},
};

use super::{
    Block, MatrixPlace,
    types::{Compound, Scalar, Ty},
};

/// Expressions and compound types of one shader.
#[derive(Debug, Default)]
pub struct Arena {
    nodes: RefCell<Vec<(Expr, Ty)>>,
    compounds: RefCell<Vec<Compound>>,
}

/// A typed expression: a copyable handle into an [`Arena`].
#[derive(Clone, Copy)]
pub struct Val<'k> {
    arena: &'k Arena,
    id: u32,
}

/// A literal of a scalar type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// `true` or `false`.
    Bool(bool),
    /// An `i32`.
    I32(i32),
    /// A `u32`.
    U32(u32),
    /// A finite `f32`.
    F32(f32),
    /// An integer beyond `u32`: naga reports it as an error.
    TooLarge(u64),
}

/// An operator of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-x`.
    Neg,
    /// `!x`.
    Not,
    /// `~x` of integers.
    BitNot,
    /// `&x`, a pointer to a variable.
    AddressOf,
    /// `*x`, the variable that a pointer points to.
    Deref,
}

/// An operator of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in WGSL")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    LogicalAnd,
    LogicalOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An expression; operands are indices into the same arena.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A literal scalar.
    Literal(Literal),
    /// A variable, parameter, buffer or named value.
    Name(String),
    /// An operator.
    Unary(UnaryOp, u32),
    /// An operator.
    Binary(BinaryOp, u32, u32),
    /// `base[index]`: an element of an array or a component of a vector.
    Index(u32, u32),
    /// `base.field`.
    Field(u32, String),
    /// `vec4<f32>(…)`, `u32(x)`, `Sums()`: composition, conversion or zero.
    Construct(Vec<u32>),
    /// `bitcast<T>(x)`.
    Bitcast(u32),
    /// The call of a function.
    Call(String, Vec<u32>),
    /// A row of the operation table: WGSL with `$x`, `$y` and `$d` for operands.
    Operation(String, Vec<(char, u32)>),
    /// Loads a cooperative matrix.
    MatrixLoad(MatrixPlace<u32>),
    /// Stores a cooperative matrix.
    MatrixStore(u32, MatrixPlace<u32>),
    /// `x * y + z` of cooperative matrices.
    MatrixMultiplyAdd([u32; 3]),
}

impl Expr {
    pub(super) fn operands(&self) -> Vec<u32> {
        let at = |place: &MatrixPlace<u32>| vec![place.array, place.index, place.stride];
        match self {
            Self::Literal(_) | Self::Name(_) => vec![],
            Self::Unary(_, x) | Self::Field(x, _) | Self::Bitcast(x) => vec![*x],
            Self::Binary(_, x, y) | Self::Index(x, y) => vec![*x, *y],
            Self::Construct(operands) | Self::Call(_, operands) => operands.clone(),
            Self::Operation(_, operands) => operands.iter().map(|(_, operand)| *operand).collect(),
            Self::MatrixLoad(place) => at(place),
            Self::MatrixStore(matrix, place) => [at(place), vec![*matrix]].concat(),
            Self::MatrixMultiplyAdd(operands) => operands.to_vec(),
        }
    }
}

/// Operands: values, and numbers that take the other operand's type.
pub trait IntoVal<'k> {
    /// Converts to a value of `like`'s type.
    fn into_val(self, like: Val<'k>) -> Val<'k>;
}

impl<'k> IntoVal<'k> for Val<'k> {
    fn into_val(self, _: Val<'k>) -> Val<'k> {
        self
    }
}

impl<'k> IntoVal<'k> for u32 {
    fn into_val(self, like: Val<'k>) -> Val<'k> {
        let arena = like.arena;
        let literal = match like.ty().scalar() {
            Some(Scalar::I32) => Literal::I32(self as i32),
            Some(Scalar::F32 | Scalar::F16) => Literal::F32(self as f32),
            Some(Scalar::U32 | Scalar::Bool) | None => Literal::U32(self),
        };
        arena.literal(literal).splat(like.ty().lanes())
    }
}

impl Arena {
    /// Adds an expression of this type.
    pub fn push(&self, expr: Expr, ty: Ty) -> Val<'_> {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push((expr, ty));
        Val { arena: self, id: nodes.len() as u32 - 1 }
    }

    /// A literal.
    pub fn literal(&self, literal: Literal) -> Val<'_> {
        let scalar = match literal {
            Literal::Bool(_) => Scalar::Bool,
            Literal::I32(_) => Scalar::I32,
            Literal::U32(_) | Literal::TooLarge(_) => Scalar::U32,
            Literal::F32(_) => Scalar::F32,
        };
        self.push(Expr::Literal(literal), Ty::vector(scalar, 1))
    }

    /// A literal `u32`.
    pub fn u32(&self, value: u32) -> Val<'_> {
        self.literal(Literal::U32(value))
    }

    /// A literal `i32`.
    pub fn i32(&self, value: i32) -> Val<'_> {
        self.literal(Literal::I32(value))
    }

    /// A literal `f32`.
    pub fn f32(&self, value: f32) -> Val<'_> {
        self.literal(Literal::F32(value))
    }

    /// A variable, parameter, buffer or named value.
    pub fn name(&self, name: impl Into<String>, ty: Ty) -> Val<'_> {
        self.push(Expr::Name(name.into()), ty)
    }

    /// A function call.
    pub fn call<'k>(&'k self, name: impl Into<String>, arguments: &[Val<'k>], ty: Ty) -> Val<'k> {
        self.push(Expr::Call(name.into(), ids(arguments)), ty)
    }

    /// A vector or structure of components; zero without components.
    pub fn construct<'k>(&'k self, ty: Ty, components: &[Val<'k>]) -> Val<'k> {
        self.push(Expr::Construct(ids(components)), ty)
    }

    /// A row of the operation table.
    pub fn operation<'k>(&'k self, text: impl Into<String>, operands: &[(char, Val<'k>)], ty: Ty) -> Val<'k> {
        let operands = operands.iter().map(|&(letter, operand)| (letter, operand.id)).collect();
        self.push(Expr::Operation(text.into(), operands), ty)
    }

    /// A structure type.
    pub fn structure(&self, name: impl Into<String>, fields: Vec<(String, Ty)>) -> Ty {
        self.compound(Compound::Struct { name: name.into(), fields })
    }

    /// An array type; without a count, as long as its buffer.
    pub fn array(&self, element: Ty, count: Option<u32>) -> Ty {
        self.compound(Compound::Array { element, count })
    }

    /// A pointer to a local variable.
    pub fn pointer(&self, to: Ty) -> Ty {
        self.compound(Compound::Pointer { to })
    }

    fn compound(&self, compound: Compound) -> Ty {
        let mut compounds = self.compounds.borrow_mut();
        let known = compounds.iter().position(|known| *known == compound);
        Ty::Compound(known.unwrap_or_else(|| {
            compounds.push(compound);
            compounds.len() - 1
        }) as u16)
    }

    pub(super) fn parts<R>(&self, ty: Ty, read: impl FnOnce(&Compound) -> R) -> Option<R> {
        let Ty::Compound(number) = ty else { return None };
        self.compounds.borrow().get(usize::from(number)).map(read)
    }

    pub(super) fn value(&self, id: u32) -> Val<'_> {
        Val { arena: self, id }
    }

    pub(super) fn expr<R>(&self, id: u32, read: impl FnOnce(&Expr) -> R) -> R {
        read(&self.nodes.borrow()[id as usize].0)
    }

    pub(super) fn ty(&self, id: u32) -> Ty {
        self.nodes.borrow()[id as usize].1
    }
}

fn ids(values: &[Val<'_>]) -> Vec<u32> {
    values.iter().map(|value| value.id).collect()
}

impl<'k> Val<'k> {
    /// Its type.
    pub fn ty(self) -> Ty {
        self.arena.ty(self.id)
    }

    pub(super) fn id(self) -> u32 {
        self.id
    }

    /// Its arena.
    pub fn arena(self) -> &'k Arena {
        self.arena
    }

    /// Its value, if it is a literal.
    pub fn as_literal(self) -> Option<Literal> {
        self.arena.expr(self.id, |expr| match expr {
            Expr::Literal(literal) => Some(*literal),
            _ => None,
        })
    }

    pub(super) fn as_u32(self) -> Option<u32> {
        match self.as_literal() {
            Some(Literal::U32(value)) => Some(value),
            _ => None,
        }
    }

    fn unary(self, op: UnaryOp, ty: Ty) -> Self {
        self.arena.push(Expr::Unary(op, self.id), ty)
    }

    /// Applies an operator. Drops identities with the `u32` literals 0 and 1, and folds two `u32` literals.
    fn binary(self, op: BinaryOp, other: impl IntoVal<'k>) -> Self {
        let other = other.into_val(self);
        let ty = match op {
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                self.ty().with(Scalar::Bool)
            }
            // A scalar operand of a vector is broadcast.
            _ if self.ty().lanes() == 1 && other.ty().lanes() > 1 => other.ty(),
            _ => self.ty(),
        };
        let (x, y) = (self.as_u32(), other.as_u32());
        let folded = match (op, x, y) {
            (BinaryOp::Add, Some(x), Some(y)) => x.checked_add(y),
            (BinaryOp::Sub, Some(x), Some(y)) => x.checked_sub(y),
            (BinaryOp::Mul, Some(x), Some(y)) => x.checked_mul(y),
            (BinaryOp::Div, Some(x), Some(y)) => x.checked_div(y),
            (BinaryOp::Rem, Some(x), Some(y)) => x.checked_rem(y),
            _ => None,
        };
        if let Some(value) = folded {
            return self.arena.u32(value);
        }
        match (op, x, y) {
            (BinaryOp::Add, Some(0), _) | (BinaryOp::Mul, Some(1), _) => other,
            (BinaryOp::Add | BinaryOp::Sub, _, Some(0)) | (BinaryOp::Mul | BinaryOp::Div, _, Some(1)) => self,
            _ => self.arena.push(Expr::Binary(op, self.id, other.id), ty),
        }
    }

    fn builtin(self, name: &str, others: &[Self], ty: Ty) -> Self {
        let arguments: Vec<Self> = std::iter::once(self).chain(others.iter().copied()).collect();
        self.arena.call(name, &arguments, ty)
    }

    /// `self == other`.
    pub fn eq(self, other: impl IntoVal<'k>) -> Self {
        self.binary(BinaryOp::Eq, other)
    }

    /// `self != other`.
    pub fn ne(self, other: impl IntoVal<'k>) -> Self {
        self.binary(BinaryOp::Ne, other)
    }

    /// `self < other`.
    pub fn lt(self, other: impl IntoVal<'k>) -> Self {
        self.binary(BinaryOp::Lt, other)
    }

    /// `self <= other`.
    pub fn le(self, other: impl IntoVal<'k>) -> Self {
        self.binary(BinaryOp::Le, other)
    }

    /// `self > other`.
    pub fn gt(self, other: impl IntoVal<'k>) -> Self {
        self.binary(BinaryOp::Gt, other)
    }

    /// `self >= other`.
    pub fn ge(self, other: impl IntoVal<'k>) -> Self {
        self.binary(BinaryOp::Ge, other)
    }

    /// `self && other`.
    pub fn and(self, other: Self) -> Self {
        self.binary(BinaryOp::LogicalAnd, other)
    }

    /// `self || other`.
    pub fn or(self, other: Self) -> Self {
        self.binary(BinaryOp::LogicalOr, other)
    }

    /// `~self`.
    pub fn bit_not(self) -> Self {
        self.unary(UnaryOp::BitNot, self.ty())
    }

    /// The smaller one.
    pub fn min(self, other: impl IntoVal<'k>) -> Self {
        let other = other.into_val(self);
        self.builtin("min", &[other], self.ty())
    }

    /// The larger one.
    pub fn max(self, other: impl IntoVal<'k>) -> Self {
        let other = other.into_val(self);
        self.builtin("max", &[other], self.ty())
    }

    /// `self * factor + addend` with one rounding.
    pub fn fma(self, factor: Self, addend: Self) -> Self {
        self.builtin("fma", &[factor, addend], self.ty())
    }

    /// The dot product of two vectors.
    pub fn dot(self, other: Self) -> Self {
        self.builtin("dot", &[other], Ty::vector(self.ty().scalar().unwrap_or(Scalar::F32), 1))
    }

    /// The exponential function.
    pub fn exp(self) -> Self {
        self.builtin("exp", &[], self.ty())
    }

    /// `select(reject, accept, self)`: `accept` where `self` is true.
    pub fn select(self, accept: Self, reject: impl IntoVal<'k>) -> Self {
        let reject = reject.into_val(accept);
        self.arena.call("select", &[reject, accept, self], accept.ty())
    }

    /// Calls a WGSL function whose result has the type of `self`.
    pub fn call(self, name: &str, others: &[Self]) -> Self {
        self.builtin(name, others, self.ty())
    }

    /// `workgroupUniformLoad`: a workgroup variable's value, uniform, with barriers.
    pub fn uniform_load(self) -> Self {
        self.arena.call("workgroupUniformLoad", &[self.pointer()], self.ty())
    }

    /// The value of an atomic variable.
    pub fn atomic_load(self) -> Self {
        let ty = Ty::vector(self.ty().scalar().unwrap_or(Scalar::U32), 1);
        self.arena.call("atomicLoad", &[self.pointer()], ty)
    }

    /// Stores a value in an atomic variable.
    pub fn atomic_store(self, b: &mut Block<'k>, value: Self) {
        b.run(self.arena.call("atomicStore", &[self.pointer(), value], Ty::Void));
    }

    /// Sets bits of an atomic variable.
    pub fn atomic_or(self, b: &mut Block<'k>, value: Self) {
        b.run(self.arena.call("atomicOr", &[self.pointer(), value], Ty::Void));
    }

    /// An element of an array or buffer, or a vector component.
    pub fn at(self, index: impl IntoVal<'k>) -> Self {
        let zero = self.arena.u32(0);
        let index = index.into_val(zero);
        let element = |parts: &Compound| match parts {
            Compound::Array { element, .. } => *element,
            _ => Ty::Unknown,
        };
        let ty = match self.ty() {
            Ty::Vector { scalar, lanes: 2.. } => Ty::vector(scalar, 1),
            other => self.arena.parts(other, element).unwrap_or(Ty::Unknown),
        };
        self.arena.push(Expr::Index(self.id, index.id), ty)
    }

    /// A vector component; a scalar itself.
    pub fn lane(self, lane: u32) -> Self {
        if self.ty().lanes() == 1 { self } else { self.at(lane) }
    }

    /// A field of a structure.
    pub fn field(self, name: &str) -> Self {
        let field = |parts: &Compound| match parts {
            Compound::Struct { fields, .. } => fields.iter().find(|(known, _)| known == name).map(|&(_, ty)| ty),
            _ => None,
        };
        let ty = self.arena.parts(self.ty(), field).flatten().unwrap_or(Ty::Unknown);
        self.arena.push(Expr::Field(self.id, name.to_owned()), ty)
    }

    /// A pointer to this variable.
    pub fn pointer(self) -> Self {
        let ty = self.arena.pointer(self.ty());
        self.unary(UnaryOp::AddressOf, ty)
    }

    /// The variable that this pointer points to.
    pub fn deref(self) -> Self {
        let to = |parts: &Compound| match parts {
            Compound::Pointer { to } => *to,
            _ => Ty::Unknown,
        };
        self.unary(UnaryOp::Deref, self.arena.parts(self.ty(), to).unwrap_or(Ty::Unknown))
    }

    /// The value broadcast to `lanes` components.
    pub fn splat(self, lanes: u32) -> Self {
        let scalar = self.ty().scalar().unwrap_or(Scalar::U32);
        if lanes == self.ty().lanes() { self } else { self.arena.construct(Ty::vector(scalar, lanes), &[self]) }
    }

    /// Converts to another scalar type.
    pub fn convert(self, scalar: Scalar) -> Self {
        let ty = self.ty().with(scalar);
        if self.ty() == ty { self } else { self.arena.construct(ty, &[self]) }
    }

    /// Bitcasts to another scalar type.
    pub fn bitcast(self, scalar: Scalar) -> Self {
        let ty = self.ty().with(scalar);
        if self.ty() == ty { self } else { self.arena.push(Expr::Bitcast(self.id), ty) }
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $op:ident),*) => {
        $(
            impl<'k, R: IntoVal<'k>> $operator<R> for Val<'k> {
                type Output = Val<'k>;

                fn $method(self, other: R) -> Val<'k> {
                    self.binary(BinaryOp::$op, other)
                }
            }
        )*
    };
}
operators! {
    Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor,
    Shl shl Shl, Shr shr Shr
}

impl Neg for Val<'_> {
    type Output = Self;

    fn neg(self) -> Self {
        self.unary(UnaryOp::Neg, self.ty())
    }
}

impl Not for Val<'_> {
    type Output = Self;

    fn not(self) -> Self {
        self.unary(UnaryOp::Not, self.ty())
    }
}
