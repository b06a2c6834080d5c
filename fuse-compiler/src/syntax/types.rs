//! Parser of types: `f32[M, 64]`, `T[B, H * D]`, `f32`.

use fuse_artifact::{DType, Packing};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{
    BinOp, Expr, Lit,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

use super::{
    ast::{Dim, Element, Type},
    depth::{nests_too_deeply, operands_nest_too_deeply, too_deep},
};
use crate::diag::{Code, Diagnostic, SourceRange, range_of, range_of_stream, suggest};

pub(super) const DTYPES: [DType; 5] = [DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool];

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

pub(crate) const MAX_RANK: usize = 6;

pub(super) fn parse_type(input: ParseStream<'_>, generics: &[Ident]) -> Result<Type, Diagnostic> {
    if !input.peek(Ident::peek_any) {
        let at = input.span();
        return Err(Diagnostic::new(Code::UnknownType, (at, at), "expected an element type")
            .help("write a type such as `f32[M, N]` for a tensor or `f32` for a number"));
    }
    let name = input.call(Ident::parse_any)?;
    if let Some(diagnostic) = tensor_type(&name, input) {
        return Err(diagnostic);
    }
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
        let sizes = match text.as_str() {
            "usize" => "; the size of a tensor is the name of a dimension, such as `N` in `f32[N]`",
            _ => "",
        };
        return Err(Diagnostic::new(Code::UnsupportedType, at, format!("kernels cannot hold `{text}`"))
            .help(format!("use `{instead}`; the element types are `f32`, `f16`, `i32`, `u32` and `bool`{sizes}")));
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
        Ok(expr) if operands_nest_too_deeply(&expr) => Err(too_deep(at)),
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
                Err(_) if int.suffix().is_empty() => {
                    let message = format!("`{int}` is too large for a dimension");
                    Err(Diagnostic::new(Code::BadDimension, range_of(expr), message)
                        .help(format!("a dimension is from 0 to {}", u32::MAX)))
                }
                Err(_) => Err(bad_dimension(range_of(expr))),
            },
            _ => Err(bad_dimension(range_of(expr))),
        },
        Expr::Binary(binary) => match binary.op {
            BinOp::Mul(_) => {
                let factors = operands(binary, |op| matches!(op, BinOp::Mul(_)));
                Ok(Dim::Product(factors.into_iter().map(|(_, factor)| dim_of(factor)).collect::<Result<_, _>>()?))
            }
            BinOp::Add(_) | BinOp::Sub(_) => {
                let terms = operands(binary, |op| matches!(op, BinOp::Add(_) | BinOp::Sub(_)));
                let is_subtracted = |op: Option<&BinOp>| matches!(op, Some(BinOp::Sub(_)));
                let term = |(op, term)| Ok((is_subtracted(op), dim_of(term)?));
                Ok(Dim::Sum(terms.into_iter().map(term).collect::<Result<_, Diagnostic>>()?))
            }
            _ => Err(bad_dimension(range_of(expr))),
        },
        _ => Err(bad_dimension(range_of(expr))),
    }
}

/// Operands of a chain that `is_link` accepts, each with the operator before it. syn nests them to the left.
fn operands(last: &syn::ExprBinary, is_link: impl Fn(&BinOp) -> bool) -> Vec<(Option<&BinOp>, &Expr)> {
    let mut operands = vec![(Some(&last.op), &*last.right)];
    let mut left = &*last.left;
    while let Expr::Binary(link) = left
        && is_link(&link.op)
    {
        operands.push((Some(&link.op), &link.right));
        left = &link.left;
    }
    operands.push((None, left));
    operands.reverse();
    operands
}

fn bad_dimension(at: SourceRange) -> Diagnostic {
    Diagnostic::new(Code::BadDimension, at, "expected a dimension")
        .help("a dimension is a name such as `N`, a number such as `64`, or a product such as `H * D`")
}

fn bracketed(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let content;
    syn::bracketed!(content in input);
    content.parse()
}

pub(super) fn parenthesized(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let content;
    syn::parenthesized!(content in input);
    content.parse()
}

pub(super) fn braced(input: ParseStream<'_>) -> syn::Result<(TokenStream, SourceRange)> {
    let content;
    let braces = syn::braced!(content in input);
    Ok((content.parse()?, (braces.span.open(), braces.span.close())))
}

const TENSORS: [&str; 9] =
    ["Tensor", "Tensor0", "Tensor1", "Tensor2", "Tensor3", "Tensor4", "Tensor5", "Tensor6", "QTensor"];

fn tensor_type(name: &Ident, input: ParseStream<'_>) -> Option<Diagnostic> {
    let text = name.to_string();
    if !TENSORS.contains(&text.as_str()) {
        return None;
    }
    let at = (name.span(), name.span());
    if let Some(TokenTree::Group(group)) = input.cursor().token_stream().into_iter().next()
        && group.delimiter() == proc_macro2::Delimiter::Bracket
    {
        let dims: Vec<String> = split_commas(group.stream()).iter().map(ToString::to_string).collect();
        let dims = dims.join(", ");
        let message = format!("a kernel names the element type of a tensor, found `{text}[{dims}]`");
        return Some(Diagnostic::new(Code::UnknownType, at, message).help(format!("write `f32[{dims}]`")));
    }
    let behind = input.cursor().token_stream().into_iter().map(|token| token.to_string());
    let arguments: Vec<String> = behind.skip(1).take_while(|token| token != ">").collect();
    let found = match arguments.as_slice() {
        [] => text.clone(),
        some => format!("{text}<{}>", some.concat().replace(',', ", ")),
    };
    let rank = text.trim_start_matches(char::is_alphabetic).parse().ok();
    let rank = rank.or_else(|| arguments.iter().find_map(|token| token.parse::<usize>().ok())).unwrap_or(2);
    let names = Packing::ALL.map(Packing::name).into_iter().chain(DTYPES.map(DType::name));
    let mut named = names.filter(|dtype| arguments.iter().any(|token| token.eq_ignore_ascii_case(dtype)));
    let element = named.next().unwrap_or("f32");
    let dims = ["A", "B", "H", "K", "M", "N"];
    let dims = dims[dims.len() - rank.min(dims.len())..].join(", ");
    let message = format!("a kernel names the dimensions of a tensor, found `{found}`");
    let help = format!("write `{element}[{dims}]`; the launch takes a `&{found}`");
    Some(Diagnostic::new(Code::UnknownType, at, message).help(help))
}

/// Ignores commas between `<` and `>`, unlike [`split_commas`].
pub(super) fn split_params(tokens: TokenStream) -> Vec<TokenStream> {
    let mut open: Vec<TokenStream> = Vec::new();
    let mut whole = Vec::new();
    for piece in split_commas(tokens) {
        let text: Vec<String> = piece.clone().into_iter().map(|token| token.to_string()).collect();
        let count = |mark: &str| text.iter().filter(|token| *token == mark).count();
        let inside = !open.is_empty();
        if inside {
            open.push(quote::quote!(,));
        }
        open.push(piece);
        if inside && count(">") <= count("<") || !inside && count("<") > count(">") {
            continue;
        }
        whole.push(open.drain(..).collect());
    }
    if !open.is_empty() {
        whole.push(open.into_iter().collect());
    }
    whole
}

/// Ignores a trailing comma.
pub(super) fn split_commas(tokens: TokenStream) -> Vec<TokenStream> {
    split(tokens, ',').0
}

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
