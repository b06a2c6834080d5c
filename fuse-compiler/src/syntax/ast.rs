//! Abstract syntax as written, with every span.
//!
//! Only grammar is checked: names may be unknown, shapes may disagree.

use fuse_artifact::{DType, Packing};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Ident, Visibility};

use crate::{diag::SourceRange, graph::FunctionOptions};

/// `fuse! { … }` block.
pub struct Module {
    /// Functions.
    pub functions: Vec<Function>,
}

/// `pub fn name<T: Float>(params) -> results { body }`.
#[derive(Clone)]
pub struct Function {
    /// Attributes of the wrapper (`#[cfg]`, `#[inline]`, docs, …).
    pub attributes: Vec<Attribute>,
    /// Compiler attributes (`#[no_fuse]`, `#[schedule(…)]`).
    pub options: FunctionOptions,
    /// `#[explain]`: the build prints the plan.
    pub explain: bool,
    /// `#[differentiable]`.
    pub differentiable: Option<Differentiable>,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: Visibility,
    /// Function name.
    pub name: Ident,
    /// Generic element types, `T: Float` (`f32` and `f16`).
    pub generics: Vec<Ident>,
    /// Parameters.
    pub params: Vec<Param>,
    /// Results; a tuple has several.
    pub results: Vec<Type>,
    /// True if written as a tuple.
    pub tuple: bool,
    /// Function body.
    pub body: Block,
    /// Tokens from `fn` to the closing brace, for importers.
    pub tokens: TokenStream,
    /// Whole signature.
    pub span: Span,
}

/// `#[differentiable]`, or `#[differentiable(w, b)]`.
#[derive(Clone)]
pub struct Differentiable {
    /// Named parameters; `None` means all float tensors.
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
    /// Position of `&mut`, if the function updates the tensor.
    pub updated: Option<Span>,
}

/// `f32[M, K]`, or `f32` for a scalar.
#[derive(Clone)]
pub struct Type {
    /// Element type.
    pub element: Element,
    /// Dimensions; `None` without brackets.
    pub dims: Option<Vec<Dim>>,
    /// Whole type.
    pub span: Span,
}

/// Element type.
#[derive(Clone)]
pub enum Element {
    /// Plain dtype.
    DType(DType),
    /// Index into [`Function::generics`].
    Generic(usize),
    /// Values packed into words.
    Quantized(Packing),
}

impl Type {
    /// Packing of a quantized type.
    pub fn packing(&self) -> Option<Packing> {
        if let Element::Quantized(packing) = self.element { Some(packing) } else { None }
    }
}

/// Dimension of a type, `reshape` list or slice bound.
#[derive(Clone)]
pub enum Dim {
    /// `64`.
    Literal(u64, Span),
    /// `M`.
    Name(Ident),
    /// `H * D`.
    Product(Vec<Dim>),
    /// `M + N - 1`: terms, each flagged if subtracted.
    Sum(Vec<(bool, Dim)>),
}

/// Prints a sum with `text` for each term.
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
    /// Statements.
    pub statements: Vec<Statement>,
    /// Value; a tuple for several results or none.
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
    /// Parameters of type `&mut`; a tuple has several.
    Parameters(Vec<Ident>),
}

impl Statement {
    /// Bound names.
    pub fn names(&self) -> &[Ident] {
        match &self.target {
            Target::Names(names) => names,
            Target::Parameters(_) => &[],
        }
    }
}

/// Expression.
#[derive(Clone)]
pub struct Expr {
    /// Kind.
    pub kind: ExprKind,
    /// First and last token.
    pub span: (Span, Span),
}

impl Expr {
    pub(super) fn error(span: SourceRange) -> Self {
        Self { kind: ExprKind::Error, span }
    }
}

/// Kind of expression.
#[derive(Clone)]
pub enum ExprKind {
    /// Parameter, `let` or, in the expression form, variable in scope.
    Name(Ident),
    /// `model.w`, in the expression form.
    HostOperand(HostOperand),
    /// `1`, `0.5`, `true`.
    Literal(Literal),
    /// `-x`, `!x`.
    Unary(UnaryOperator, Box<Expr>),
    /// Operator chain, left to right: first operand, then operators with right operands.
    ///
    /// A flat list keeps walks of long sums from exhausting the stack.
    Binary(Box<Expr>, Vec<(BinaryOperator, Expr)>),
    /// `x as f16`.
    Cast(Box<Expr>, Element, Span),
    /// `name(arguments)`.
    Call(Call),
    /// `receiver.name(arguments)`, as a call with the receiver first. The language has no methods: lowering suggests
    /// replacements.
    Method(Call),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `{ let …; value }`.
    Block(Box<Block>),
    /// Placeholder after a reported error; users report nothing.
    Error,
}

/// Host value: a variable, or a path of fields, indices and getter calls.
///
/// Paths with equal text are one operand.
#[derive(Clone)]
pub struct HostOperand {
    /// Spelling: `model.layers[0].w`.
    pub text: String,
    /// Rust expression.
    pub tokens: TokenStream,
    /// Variable at the start.
    pub root: Ident,
    /// Methods along the path.
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

/// Argument: expression, or list `[0, 2]` / `[B, H * D]`.
#[derive(Clone)]
pub enum Argument {
    /// Single expression.
    Expr(Expr),
    /// Bracketed list.
    List(Vec<Expr>, Span),
}

/// Literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `1`, or `1u32` with its suffix.
    Integer(i128, Option<DType>),
    /// `0.5`, or `0.5f32` with its suffix.
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
