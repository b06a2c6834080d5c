//! Abstract syntax as written, with every span. `parse` creates it, `lower` reads it.
//!
//! Only grammar is checked: names may be unknown, shapes may disagree.

use fuse_artifact::{DType, Packing};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Ident, Visibility};

use crate::{diag::SourceRange, graph::FunctionOptions};

/// A `fuse! { … }` block.
pub struct Module {
    /// Functions, in order.
    pub functions: Vec<Function>,
}

/// `pub fn name<T: Float>(params) -> results { body }`.
#[derive(Clone)]
pub struct Function {
    /// Doc comments and attributes of the wrapper (`#[cfg]`, `#[inline]`, `#[allow]`, …).
    pub attributes: Vec<Attribute>,
    /// Attributes of the compiler (`#[no_fuse]`, `#[schedule(…)]`).
    pub options: FunctionOptions,
    /// `#[explain]`: the macro prints the plan as a note of the build.
    pub explain: bool,
    /// `#[differentiable]`, with the parameters that it names.
    pub differentiable: Option<Differentiable>,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: Visibility,
    /// Function name.
    pub name: Ident,
    /// Generic element types, each `T: Float` (`f32` and `f16`).
    pub generics: Vec<Ident>,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// Results. A tuple has several.
    pub results: Vec<Type>,
    /// True if the result was written as a tuple.
    pub tuple: bool,
    /// Function body.
    pub body: Block,
    /// Tokens from `fn` to the closing brace, for the blocks that import the function.
    pub tokens: TokenStream,
    /// Whole signature, for errors about it.
    pub span: Span,
}

/// `#[differentiable]`, or `#[differentiable(w, b)]`.
#[derive(Clone)]
pub struct Differentiable {
    /// Parameters to differentiate with respect to. `None` means all float tensors.
    pub names: Option<Vec<Ident>>,
    /// Position of the attribute.
    pub range: SourceRange,
}

/// `name: f32[M, K]`.
#[derive(Clone)]
pub struct Param {
    /// Parameter name.
    pub name: Ident,
    /// Parameter type.
    pub ty: Type,
    /// Position of `&mut` before the type, if the function updates the caller's tensor.
    pub updated: Option<Span>,
}

/// `f32[M, K]`, or `f32` for a host scalar (as a result: rank 0).
#[derive(Clone)]
pub struct Type {
    /// Element type.
    pub element: Element,
    /// Dimensions; `None` without brackets.
    pub dims: Option<Vec<Dim>>,
    /// Whole type.
    pub span: Span,
}

/// Element type of a tensor or scalar.
#[derive(Clone)]
pub enum Element {
    /// Plain dtype.
    DType(DType),
    /// Generic parameter, an index into [`Function::generics`].
    Generic(usize),
    /// Quantized values, packed into words.
    Quantized(Packing),
}

impl Type {
    /// Packing of a quantized type.
    pub fn packing(&self) -> Option<Packing> {
        if let Element::Quantized(packing) = self.element { Some(packing) } else { None }
    }
}

/// Dimension in a type, a `reshape` list or a slice bound.
#[derive(Clone)]
pub enum Dim {
    /// `64`.
    Literal(u64, Span),
    /// `M`.
    Name(Ident),
    /// `H * D`.
    Product(Vec<Dim>),
    /// `M + N - 1`: terms, each with a flag that is true if it is subtracted.
    Sum(Vec<(bool, Dim)>),
}

/// Prints a sum. `text` prints each term.
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
    /// Statements, in order.
    pub statements: Vec<Statement>,
    /// Value; a tuple for several results, or for none.
    pub value: Expr,
}

/// `let name = value;`, `let (a, b) = call(…);` or `*name = value;`.
#[derive(Clone)]
pub struct Statement {
    /// Assigned names or parameters.
    pub target: Target,
    /// Assigned value.
    pub value: Expr,
}

/// Left-hand side of a statement.
#[derive(Clone)]
pub enum Target {
    /// New names. A tuple pattern has several.
    Names(Vec<Ident>),
    /// Parameters of type `&mut`. A tuple has several.
    Parameters(Vec<Ident>),
}

impl Statement {
    /// Names that the statement binds.
    pub fn names(&self) -> &[Ident] {
        match &self.target {
            Target::Names(names) => names,
            Target::Parameters(_) => &[],
        }
    }
}

/// Expression with its span.
#[derive(Clone)]
pub struct Expr {
    /// Kind of the expression.
    pub kind: ExprKind,
    /// First and last token.
    pub span: (Span, Span),
}

impl Expr {
    /// The place of an expression that was reported.
    pub(super) fn error(span: SourceRange) -> Self {
        Self { kind: ExprKind::Error, span }
    }
}

/// Kind of an expression, with its operands.
#[derive(Clone)]
pub enum ExprKind {
    /// Parameter, `let`, or (in the expression form) variable in scope.
    Name(Ident),
    /// `model.w`, in the expression form.
    HostOperand(HostOperand),
    /// `1`, `0.5`, `true`.
    Literal(Literal),
    /// `-x`, `!x`.
    Unary(UnaryOperator, Box<Expr>),
    /// `x + y - z`, `x < y`, `a && b`: the first operand, then operators with their right operands, left to right.
    ///
    /// A flat list keeps walks of a long sum from exhausting the stack.
    Binary(Box<Expr>, Vec<(BinaryOperator, Expr)>),
    /// `x as f16`.
    Cast(Box<Expr>, Element, Span),
    /// `name(arguments)`.
    Call(Call),
    /// `receiver.name(arguments)`, as a call whose first argument is the receiver. The language has no methods:
    /// lowering suggests what to write instead.
    Method(Call),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `{ let …; value }`.
    Block(Box<Block>),
    /// Placeholder for an expression with a reported error. Its users report nothing.
    Error,
}

/// Host value that an expression names: a variable, or a path of fields, indices and getter calls.
///
/// Paths with equal text are one operand.
#[derive(Clone)]
pub struct HostOperand {
    /// Spelling in messages: `model.layers[0].w`.
    pub text: String,
    /// Rust expression of the path.
    pub tokens: TokenStream,
    /// Variable that the path starts with.
    pub root: Ident,
    /// Methods called along the path, each as a call of an operation.
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
    /// Operation or function.
    pub name: Ident,
    /// Positional arguments.
    pub arguments: Vec<Argument>,
    /// Named arguments.
    pub options: Vec<(Ident, Argument)>,
}

/// Argument: an expression, or a list `[0, 2]` / `[B, H * D]` where an operation takes one.
#[derive(Clone)]
pub enum Argument {
    /// Single expression.
    Expr(Expr),
    /// Bracketed list.
    List(Vec<Expr>, Span),
}

/// Literal as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `1`, with the dtype of a suffix such as `1u32`.
    Integer(i128, Option<DType>),
    /// `0.5`, with the dtype of a suffix such as `0.5f32`.
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
