//! Types of parameters and results: `f32[M, 64]`, `T[B, H * D]`, `f32`.

use fuse_artifact::{DType, Packing};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{
    BinOp, Expr, Lit,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

use super::{
    ast::{Dim, Element, Type},
    body::{nests_too_deeply, too_deep},
};
use crate::diag::{Code, Diagnostic, SourceRange, range_of, range_of_stream, suggest};

/// Every dtype, by name.
pub(super) const DTYPES: [DType; 5] = [DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool];

/// Rust's (and other) number types that kernels cannot hold, with what to take instead.
const UNSUPPORTED: [(&str, &str); 13] = [
    ("f64", "f32"),
    ("bf16", "f16"),
    ("i8", "i32"),
    ("i16", "i32"),
    ("i64", "i32"),
    ("i128", "i32"),
    ("isize", "i32"),
    ("u8", "u32"),
    ("u16", "u32"),
    ("u64", "u32"),
    ("u128", "u32"),
    ("usize", "u32"),
    ("char", "u32"),
];

/// What the dtypes are called elsewhere.
const SYNONYMS: [(&str, &str); 12] = [
    ("float", "f32"),
    ("float32", "f32"),
    ("single", "f32"),
    ("half", "f16"),
    ("float16", "f16"),
    ("int", "i32"),
    ("int32", "i32"),
    ("uint", "u32"),
    ("uint32", "u32"),
    ("boolean", "bool"),
    ("double", "f32"),
    ("float64", "f32"),
];

/// The most axes of a tensor.
pub(crate) const MAX_RANK: usize = 6;

/// Reads `f32[M, K]` or `f32`.
pub(super) fn parse_type(input: ParseStream<'_>, generics: &[Ident]) -> Result<Type, Diagnostic> {
    if !input.peek(Ident::peek_any) {
        let at = input.span();
        return Err(Diagnostic::new(Code::UnknownType, (at, at), "expected an element type")
            .help("write a type such as `f32[M, N]` for a tensor or `f32` for a number"));
    }
    let name = input.call(Ident::parse_any)?;
    let element = element_of(&name, generics)?;
    if !input.peek(syn::token::Bracket) {
        return Ok(Type { element, dims: None, span: name.span() });
    }
    let tokens = bracketed(input)?;
    let dims: Vec<Dim> = split_commas(tokens).into_iter().map(parse_dim).collect::<Result<_, _>>()?;
    let span = name.span();
    if dims.len() > MAX_RANK {
        return Err(Diagnostic::new(
            Code::RankTooHigh,
            (span, span),
            format!("a tensor has at most {MAX_RANK} axes, this type has {}", dims.len()),
        )
        .help("merge neighboring axes, for example `B * H` in place of `B, H`"));
    }
    Ok(Type { element, dims: Some(dims), span })
}

/// The element type of this name.
pub(super) fn element_of(name: &Ident, generics: &[Ident]) -> Result<Element, Diagnostic> {
    let text = name.to_string();
    let at = (name.span(), name.span());
    if let Some(index) = generics.iter().position(|generic| *generic == text) {
        return Ok(Element::Generic(index));
    }
    if let Some(dtype) = DTYPES.iter().find(|dtype| dtype.name() == text) {
        return Ok(Element::DType(*dtype));
    }
    if let Some(packing) = Packing::ALL.into_iter().find(|packing| packing.name() == text) {
        return Ok(Element::Quantized(packing));
    }
    if let Some((_, instead)) = UNSUPPORTED.iter().find(|(name, _)| *name == text) {
        return Err(Diagnostic::new(Code::UnsupportedType, at, format!("kernels cannot hold `{text}`"))
            .help(format!("use `{instead}`; the element types are `f32`, `f16`, `i32`, `u32` and `bool`")));
    }
    let names: Vec<String> = generics.iter().map(ToString::to_string).collect();
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == text).map(|(_, dtype)| *dtype);
    let close = suggest(&text, DTYPES.iter().map(|dtype| dtype.name()).chain(names.iter().map(String::as_str)));
    let generic_like = text.len() == 1 && text.starts_with(char::is_uppercase);
    Err(Diagnostic::new(Code::UnknownType, at, format!("unknown element type `{text}`")).help(
        match synonym.or(close) {
            Some(close) => format!("did you mean `{close}`?"),
            None if generic_like => format!("declare it as generic: `fn name<{text}: Float>(…)`"),
            None => {
                "write a type such as `f32[M, N]`; the element types are `f32`, `f16`, `i32`, `u32` and `bool`".into()
            }
        },
    ))
}

fn parse_dim(tokens: TokenStream) -> Result<Dim, Diagnostic> {
    let at = range_of_stream(tokens.clone());
    if nests_too_deeply(tokens.clone()) {
        return Err(too_deep(at));
    }
    match <Expr as syn::parse::Parse>::parse.parse2(tokens) {
        Ok(expr) => dim_of(&expr),
        Err(_) => Err(bad_dimension(at)),
    }
}

fn dim_of(expr: &Expr) -> Result<Dim, Diagnostic> {
    match expr {
        Expr::Paren(paren) => dim_of(&paren.expr),
        Expr::Group(group) => dim_of(&group.expr),
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) => Ok(Dim::Name(name.clone())),
            None => Err(bad_dimension(range_of(expr))),
        },
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => match int.base10_parse::<u32>() {
                Ok(value) => Ok(Dim::Literal(u64::from(value), int.span())),
                Err(_) => Err(bad_dimension(range_of(expr))),
            },
            _ => Err(bad_dimension(range_of(expr))),
        },
        Expr::Binary(binary) => {
            let (left, right) = (dim_of(&binary.left)?, dim_of(&binary.right)?);
            match binary.op {
                BinOp::Mul(_) => Ok(Dim::Product(vec![left, right])),
                BinOp::Add(_) => Ok(Dim::Sum(Box::new(left), Box::new(right))),
                BinOp::Sub(_) => Ok(Dim::Difference(Box::new(left), Box::new(right))),
                _ => Err(bad_dimension(range_of(expr))),
            }
        }
        _ => Err(bad_dimension(range_of(expr))),
    }
}

fn bad_dimension(at: SourceRange) -> Diagnostic {
    Diagnostic::new(Code::BadDimension, at, "expected a dimension")
        .help("a dimension is a name such as `N`, a number such as `64`, or a product such as `H * D`")
}

/// The tokens in brackets.
fn bracketed(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let content;
    syn::bracketed!(content in input);
    content.parse()
}

/// The tokens in parentheses.
pub(super) fn parenthesized(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let content;
    syn::parenthesized!(content in input);
    content.parse()
}

/// The tokens in braces, and where the braces are.
pub(super) fn braced(input: ParseStream<'_>) -> syn::Result<(TokenStream, SourceRange)> {
    let content;
    let braces = syn::braced!(content in input);
    Ok((content.parse()?, (braces.span.open(), braces.span.close())))
}

/// Splits tokens at the commas that are in no bracket; a trailing comma counts for nothing.
pub(super) fn split_commas(tokens: TokenStream) -> Vec<TokenStream> {
    split(tokens, ',').0
}

/// Splits tokens at a punctuation mark. Also says whether the last token was that mark.
pub(super) fn split(tokens: TokenStream, mark: char) -> (Vec<TokenStream>, Option<Span>) {
    let mut pieces = vec![Vec::new()];
    let mut trailing = None;
    for token in tokens {
        trailing = None;
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == mark => {
                trailing = Some(punct.span());
                pieces.push(Vec::new());
            }
            _ => pieces.last_mut().expect("never empty").push(token),
        }
    }
    if pieces.last().is_some_and(Vec::is_empty) {
        pieces.pop();
    }
    (pieces.into_iter().map(|piece| piece.into_iter().collect()).collect(), trailing)
}
