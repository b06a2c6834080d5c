//! The surface syntax as written, with every token's span kept: what `parse` makes and `lower` reads.
//!
//! Nothing here is checked beyond grammar: names may be unknown, shapes may disagree.

use fuse_artifact::{DType, Packing};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Ident, Visibility};

use super::differentiable::Differentiable;
use crate::graph::FunctionOptions;

/// A `fuse! { … }` block.
pub struct Module {
    /// The functions, in order.
    pub functions: Vec<Function>,
}

/// `pub fn name<T: Float>(params) -> results { body }`.
#[derive(Clone)]
pub struct Function {
    /// Doc comments and attributes that belong to the wrapper (`#[cfg]`, `#[inline]`, `#[allow]`, …).
    pub attributes: Vec<Attribute>,
    /// Attributes that the compiler obeys (`#[no_fuse]`, `#[schedule(…)]`).
    pub options: FunctionOptions,
    /// `#[explain]`: the macro prints the plan as a note while building.
    pub explain: bool,
    /// `#[differentiable]`, with the parameters that it names.
    pub differentiable: Option<Differentiable>,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: Visibility,
    /// The name.
    pub name: Ident,
    /// Generic element types, each `T: Float` (`f32` and `f16`).
    pub generics: Vec<Ident>,
    /// The parameters.
    pub params: Vec<Param>,
    /// The results; more than one for a tuple.
    pub results: Vec<Type>,
    /// Whether the result was written as a tuple.
    pub tuple: bool,
    /// The body.
    pub body: Block,
    /// Everything from `fn` to the closing brace, for the blocks that import the function.
    pub tokens: TokenStream,
    /// The whole signature, for errors about it.
    pub span: Span,
}

/// `name: f32[M, K]`.
#[derive(Clone)]
pub struct Param {
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: Type,
    /// Where `&mut` stands before the type, if the function updates the caller's tensor.
    pub updated: Option<Span>,
}

/// `f32[M, K]`, or `f32` for a host scalar (as a result: rank 0).
#[derive(Clone)]
pub struct Type {
    /// The element type.
    pub element: Element,
    /// The dimensions; `None` without brackets.
    pub dims: Option<Vec<Dim>>,
    /// The whole type.
    pub span: Span,
}

/// An element type.
#[derive(Clone)]
pub enum Element {
    /// A dtype.
    DType(DType),
    /// The generic parameter with this index in [`Function::generics`].
    Generic(usize),
    /// Packed values of few bits.
    Quantized(Packing),
}

impl Type {
    /// How values are packed, if the type is quantized.
    pub fn packing(&self) -> Option<Packing> {
        if let Element::Quantized(packing) = self.element { Some(packing) } else { None }
    }
}

/// A dimension in a type, a `reshape` list or a slice bound.
#[derive(Clone)]
pub enum Dim {
    /// `64`.
    Literal(u64, Span),
    /// `M`.
    Name(Ident),
    /// `H * D`.
    Product(Vec<Dim>),
    /// `M + N - 1`: terms, each with whether it is subtracted.
    Sum(Vec<(bool, Dim)>),
}

/// The text of a sum, its terms written by `text`.
pub fn sum_text(terms: &[(bool, Dim)], text: impl Fn(&Dim) -> String) -> String {
    let mut sum = String::new();
    for (i, (subtracted, term)) in terms.iter().enumerate() {
        if i > 0 {
            sum.push_str(if *subtracted { " - " } else { " + " });
        }
        sum.push_str(&text(term));
    }
    sum
}

/// `{ let a = …; let b = …; result }`.
#[derive(Clone)]
pub struct Block {
    /// The statements, in order.
    pub statements: Vec<Statement>,
    /// The value; a tuple for several results, or for none.
    pub value: Expr,
}

/// `let name = value;`, `let (a, b) = call(…);` or `*name = value;`.
#[derive(Clone)]
pub struct Statement {
    /// What takes the value.
    pub target: Target,
    /// The value.
    pub value: Expr,
}

/// What a statement gives its value to.
#[derive(Clone)]
pub enum Target {
    /// New names; more than one for a tuple pattern.
    Names(Vec<Ident>),
    /// Parameters of type `&mut`; more than one for a tuple.
    Parameters(Vec<Ident>),
}

impl Statement {
    /// The names that it binds.
    pub fn names(&self) -> &[Ident] {
        match &self.target {
            Target::Names(names) => names,
            Target::Parameters(_) => &[],
        }
    }
}

/// An expression with its span.
#[derive(Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// First and last token.
    pub span: (Span, Span),
}

/// The kinds of expression.
#[derive(Clone)]
pub enum ExprKind {
    /// A parameter, a `let` or, in the expression form, a variable in scope.
    Name(Ident),
    /// `model.w`, in the expression form.
    HostOperand(HostOperand),
    /// `1`, `0.5`, `true`.
    Literal(Literal),
    /// `-x`, `!x`.
    Unary(UnaryOperator, Box<Expr>),
    /// `x + y - z`, `x < y`, `a && b`: a first operand, and operators with their right operands, from left to right. A
    /// list, so that no walk of a long sum needs a deep stack.
    Binary(Box<Expr>, Vec<(BinaryOperator, Expr)>),
    /// `x as f16`.
    Cast(Box<Expr>, Element, Span),
    /// `name(arguments)`.
    Call(Call),
    /// `receiver.name(arguments)`, as a call whose first argument is the receiver. The language has none: lowering
    /// says what to write instead.
    Method(Call),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `{ let …; value }`.
    Block(Box<Block>),
    /// Something that was already reported; whatever uses it stays silent.
    Error,
}

/// A value of the host that an expression names: a variable, or what a path of fields, indices and calls of getters leads
/// to. Equal texts are one operand.
#[derive(Clone)]
pub struct HostOperand {
    /// As messages name it: `model.layers[0].w`.
    pub text: String,
    /// As Rust reads it.
    pub tokens: TokenStream,
    /// The variable that it starts with.
    pub root: Ident,
    /// The methods called on the way, each as a call of an operation.
    pub methods: Vec<Call>,
    /// First and last token.
    pub span: (Span, Span),
}

impl From<&Ident> for HostOperand {
    fn from(name: &Ident) -> Self {
        let (text, tokens, span) = (name.to_string(), name.to_token_stream(), (name.span(), name.span()));
        Self { text, tokens, root: name.clone(), methods: Vec::new(), span }
    }
}

/// `name(a, b, axis = 1)`.
#[derive(Clone)]
pub struct Call {
    /// The operation or function.
    pub name: Ident,
    /// Positional arguments.
    pub arguments: Vec<Argument>,
    /// Named arguments.
    pub options: Vec<(Ident, Argument)>,
}

/// An argument: an expression, or a list `[0, 2]` / `[B, H * D]` where an operation takes one.
#[derive(Clone)]
pub enum Argument {
    /// An expression.
    Expr(Expr),
    /// A bracketed list.
    List(Vec<Expr>, Span),
}

/// A literal as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `1`, with a suffix such as `1u32` if written.
    Integer(i128, Option<DType>),
    /// `0.5`, with a suffix such as `0.5f32` if written.
    Float(f64, Option<DType>),
    /// `true`.
    Bool(bool),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the operators")]
pub enum BinaryOperator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}
