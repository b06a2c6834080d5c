//! The front end's face to the macro: tokens in, checked graphs and wrapper headers out.

use fuse_artifact::DType;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::{
    diag::{Code, Diagnostic, Diagnostics, Sink, range_of_stream},
    graph::{
        Graph,
        infer::{Inferred, infer},
        lower::{Ranks, lower_expression, lower_items},
    },
    span::SpanTable,
    syntax::{ast, parse_body, parse_items},
};

/// The most independent dtypes of an expression: each multiplies the number of kernels.
const MAX_CLASSES: usize = 2;

/// What a `fuse! { fn … }` block compiles to, before any choice about kernels.
pub struct Items {
    /// The functions of the block, in order. A function with errors has a header and no instances.
    pub functions: Vec<ItemFunction>,
    /// Everything wrong with the block.
    pub diagnostics: Diagnostics,
    /// What the spans of the graphs stand for.
    pub spans: SpanTable,
}

/// One function of a block.
pub struct ItemFunction {
    /// The parsed function: attributes, docs, visibility, name, generics, parameters and results.
    pub header: ast::Function,
    /// One graph per choice of dtypes for the generic parameters (one in all for a function without).
    pub instances: Vec<Instance>,
}

/// One graph of a generic function or expression.
pub struct Instance {
    /// The dtype of each generic parameter or dtype class, in order.
    pub dtypes: Vec<DType>,
    /// The graph.
    pub graph: Graph,
}

/// What a `fuse!(expr)` compiles to, before any choice about kernels.
pub struct Expression {
    /// The free variables, in order of first use; they are the graph's parameters, all padded tensors of rank 6.
    pub variables: Vec<Variable>,
    /// The dtype classes: sets of variables that must have one dtype, with what the operations allow.
    pub classes: Vec<DTypeClass>,
    /// The results: dtype and rank of each. More than one if the expression is a tuple.
    pub results: Vec<ExpressionResult>,
    /// Ranks that the caller's type checker must accept, besides those of the results.
    pub requirements: Vec<RankExpr>,
    /// One graph per choice of dtypes for the classes.
    pub instances: Vec<Instance>,
    /// Everything wrong with the expression.
    pub diagnostics: Diagnostics,
    /// What the spans of the graphs stand for.
    pub spans: SpanTable,
}

/// A free variable of an expression.
pub struct Variable {
    /// The identifier, with its span.
    pub ident: syn::Ident,
    /// Its dtype.
    pub dtype: ExpressionDType,
}

/// The dtype of a variable or result of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionDType {
    /// Fixed by the expression, for example `bool` for a condition.
    Known(DType),
    /// That of a class (index into [`Expression::classes`]), chosen by the caller's types.
    Class(usize),
}

/// What the operations on a class of variables allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DTypeClass {
    /// `f32` or `f16`.
    Float,
    /// `f32`, `f16`, `i32` or `u32`.
    Number,
    /// Any dtype.
    Any,
}

/// The type of a result of an expression.
pub struct ExpressionResult {
    /// Its dtype.
    pub dtype: ExpressionDType,
    /// Its rank, as a computation on the ranks of the variables that the caller's type checker performs.
    pub rank: RankExpr,
}

/// A rank in terms of the ranks of an expression's variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankExpr {
    /// A rank fixed by the expression (0 for literals; the length of a `reshape`'s or `permute`'s list).
    Known(usize),
    /// The rank of a variable (index into [`Expression::variables`]).
    Of(usize),
    /// The larger of two ranks (NumPy broadcasting).
    Broadcast(Box<RankExpr>, Box<RankExpr>),
    /// The rank of a matrix product: both at least 2, the larger of the two.
    Matmul(Box<RankExpr>, Box<RankExpr>),
    /// The rank, which must be at least this (`transpose`, negative axes).
    AtLeast(usize, Box<RankExpr>),
    /// The rank, which must be this (`permute`, vectors).
    Exactly(usize, Box<RankExpr>),
    /// Two ranks that must be equal (`concat`).
    Same(Box<RankExpr>, Box<RankExpr>),
    /// One more, at most 6 (`unsqueeze`).
    Plus1(Box<RankExpr>),
    /// One less, at least 0 (`squeeze`, reductions).
    Minus1(Box<RankExpr>),
}

/// Whether the tokens of a `fuse!` are a block of functions, rather than an expression.
pub fn is_items(tokens: &TokenStream) -> bool {
    const STARTS: [&str; 11] =
        ["fn", "pub", "const", "async", "unsafe", "extern", "mod", "use", "struct", "impl", "static"];
    match tokens.clone().into_iter().next() {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() == '#',
        Some(TokenTree::Ident(ident)) => STARTS.contains(&ident.to_string().as_str()),
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => false,
    }
}

/// Reads and checks a block of functions.
pub fn items(tokens: TokenStream) -> Items {
    let sink = Sink::new();
    let mut spans = SpanTable::default();
    let parsed = parse_items(tokens, &sink);
    let instances = lower_items(&parsed, &sink, &mut spans);
    let functions = parsed
        .module
        .functions
        .into_iter()
        .zip(instances)
        .map(|(header, instances)| ItemFunction { header, instances })
        .collect();
    Items { functions, diagnostics: sink.finish(), spans }
}

/// Reads and checks an expression.
pub fn expression(tokens: TokenStream) -> Expression {
    let sink = Sink::new();
    let mut spans = SpanTable::default();
    let range = range_of_stream(tokens.clone());
    let body = parse_body(within_braces(tokens), range, &[], &sink);
    let inferred = infer(&body);
    check_expression(&body, &inferred, &sink);
    let (instances, ranks) = match sink.errors() {
        0 => instances(&body, &inferred, &sink, &mut spans),
        _ => Default::default(),
    };
    let results =
        inferred.results.iter().zip(ranks.results).map(|(dtype, rank)| ExpressionResult { dtype: *dtype, rank });
    Expression {
        results: results.collect(),
        requirements: ranks.requirements,
        variables: inferred.variables.into_iter().map(|(ident, dtype)| Variable { ident, dtype }).collect(),
        classes: inferred.classes,
        instances,
        diagnostics: sink.finish(),
        spans,
    }
}

/// The content of the braces, if that is all there is: `fuse!({ let a = …; a })`.
fn within_braces(tokens: TokenStream) -> TokenStream {
    let mut all = tokens.clone().into_iter();
    match (all.next(), all.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => group.stream(),
        _ => tokens,
    }
}

fn check_expression(body: &ast::Block, inferred: &Inferred, sink: &Sink) {
    if sink.errors() > 0 {
        return;
    }
    if inferred.variables.is_empty() {
        sink.report(
            Diagnostic::new(Code::NoVariable, body.value.span, "the expression has no tensor")
                .help("a launch runs on the device of its tensors; use at least one variable"),
        );
    }
    if let Some(extra) = inferred.witnesses.get(MAX_CLASSES) {
        let at = (extra.span(), extra.span());
        let names = inferred.witnesses.iter().map(|ident| format!("`{ident}`")).collect::<Vec<_>>().join(", ");
        sink.report(
            Diagnostic::new(Code::TooManyDTypes, at, format!("the dtypes of {names} are independent of each other"))
                .help(format!(
                    "an expression has at most {MAX_CLASSES} independent dtypes; write a `fn` with declared types"
                )),
        );
    }
}

/// One graph per choice of dtypes; nothing but reports once a choice is wrong.
fn instances(body: &ast::Block, inferred: &Inferred, sink: &Sink, spans: &mut SpanTable) -> (Vec<Instance>, Ranks) {
    let mut instances = Vec::new();
    let mut ranks = Ranks::default();
    for dtypes in choices(&inferred.classes) {
        let variables: Vec<_> = inferred
            .variables
            .iter()
            .map(|(ident, dtype)| match dtype {
                ExpressionDType::Known(dtype) => (ident.clone(), *dtype),
                ExpressionDType::Class(class) => (ident.clone(), dtypes[*class]),
            })
            .collect();
        let before = sink.len();
        let (graph, found) = lower_expression(body, &variables, sink, spans);
        if sink.errors() > 0 {
            return Default::default();
        }
        if !instances.is_empty() {
            // Warnings of the first choice repeat.
            sink.truncate(before);
        }
        ranks = found;
        instances.push(Instance { dtypes, graph });
    }
    (instances, ranks)
}

fn choices(classes: &[DTypeClass]) -> Vec<Vec<DType>> {
    classes.iter().fold(vec![vec![]], |choices, class| {
        let extend = |choice: &Vec<DType>| {
            let choice = choice.clone();
            class.dtypes().iter().map(move |dtype| choice.iter().copied().chain([*dtype]).collect::<Vec<_>>())
        };
        choices.iter().flat_map(extend).collect()
    })
}

#[cfg(test)]
mod tests;
