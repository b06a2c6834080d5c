//! Parser of one function.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{
    Attribute, ItemUse, Lifetime, Token, Visibility,
    buffer::Cursor,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    token,
};

use super::{
    ast::{self, Element, Param, Type},
    attributes::{Attributes, read_attributes},
    body::{parse_body, parse_updates},
    expression::Converter,
    types::{braced, parenthesized, parse_type, split_commas, split_params},
};
use crate::diag::{Code, Diagnostic, Sink, range_of};

/// Generic element types. Each doubles the number of kernels.
const MAX_GENERICS: usize = 2;

/// The flag is true without grammar errors.
pub(super) fn read_function(tokens: TokenStream) -> Option<(ast::Function, bool)> {
    let sink = Sink::new();
    let parser = |input: ParseStream<'_>| Ok(parse_function(input, &sink, &mut None));
    let function = parser.parse2(tokens);
    let sound = !sink.finish().has_errors();
    Some((function.ok()?.ok()??, sound))
}

/// `None` if its signature was reported; an error if its end cannot be found.
pub(super) fn parse_function(
    input: ParseStream<'_>,
    sink: &Sink,
    found_name: &mut Option<Ident>,
) -> Result<Option<ast::Function>, Diagnostic> {
    let Attributes { wrapper, options, explain, differentiable } =
        read_attributes(input.call(Attribute::parse_outer)?, sink);
    let visibility: Visibility = input.parse()?;
    if input.peek(Token![use]) {
        let item: ItemUse = input.parse()?;
        let message = "an import stands below a function";
        let diagnostic = Diagnostic::new(Code::BadImport, range_of(&item), message);
        sink.report(diagnostic.help("move it to the head of the block"));
        return Ok(None);
    }
    let start = input.cursor();
    parse_fn_keyword(input)?;
    let name = input.call(Ident::parse_any)?;
    *found_name = Some(name.clone());
    let before = sink.errors();
    check_name(&name, sink);
    let generics = parse_generics(input, sink)?;
    let mut params = parse_params(parenthesized(input)?, &generics, sink);
    let updates = params.iter().any(|param| param.updated.is_some());
    let (results, tuple) = parse_results(input, &name, &generics, updates, sink)?;
    if input.peek(Token![where]) {
        let at = input.span();
        return Err(Diagnostic::new(Code::UnsupportedGeneric, (at, at), "kernels take no `where` clause")
            .help("write the bound in the list: `fn name<T: Float>(…)`"));
    }
    if !input.peek(token::Brace) {
        let at = input.span();
        let _: Option<Token![;]> = input.parse()?;
        return Err(Diagnostic::new(Code::MissingValue, (at, at), format!("`{name}` has no body"))
            .help("write its value in braces: `{ relu(x) }`"));
    }
    let (body, range) = braced(input)?;
    if sink.errors() > before {
        return Ok(None);
    }
    rename_duplicates(&mut params, sink);
    let read = if results.is_empty() { parse_updates } else { parse_body };
    let body = read(body, range, &Converter::of_function(&generics, sink));
    let span = name.span();
    Ok(Some(ast::Function {
        attributes: wrapper,
        options,
        explain,
        differentiable,
        visibility,
        name,
        generics,
        params,
        results,
        tuple,
        body,
        tokens: tokens_between(start, input.cursor()),
        span,
    }))
}

fn tokens_between(mut at: Cursor<'_>, end: Cursor<'_>) -> TokenStream {
    let mut tokens = Vec::new();
    while at != end
        && let Some((token, next)) = at.token_tree()
    {
        tokens.push(token);
        at = next;
    }
    tokens.into_iter().collect()
}

fn parse_fn_keyword(input: ParseStream<'_>) -> Result<(), Diagnostic> {
    let at = (input.span(), input.span());
    for (qualifier, present) in [
        ("const", input.peek(Token![const])),
        ("async", input.peek(Token![async])),
        ("unsafe", input.peek(Token![unsafe])),
        ("extern", input.peek(Token![extern])),
    ] {
        if present {
            return Err(Diagnostic::new(Code::FunctionQualifier, at, format!("a kernel cannot be `{qualifier}`"))
                .help("write `pub fn`; a launch is queued and returns at once"));
        }
    }
    if !input.peek(Token![fn]) {
        return Err(Diagnostic::new(Code::ExpectedFunction, at, "expected a function")
            .help("a block holds functions: `pub fn name(x: f32[N]) -> f32[N] { relu(x) }`"));
    }
    input.parse::<Token![fn]>()?;
    Ok(())
}

fn check_name(name: &Ident, sink: &Sink) {
    if syn::parse_str::<Ident>(&name.to_string()).is_err() {
        let at = (name.span(), name.span());
        sink.report(
            Diagnostic::new(Code::ReservedName, at, format!("`{name}` is a keyword of Rust")).help("rename it"),
        );
    }
}

fn parse_generics(input: ParseStream<'_>, sink: &Sink) -> Result<Vec<Ident>, Diagnostic> {
    let mut generics: Vec<Ident> = Vec::new();
    if !input.peek(Token![<]) {
        return Ok(generics);
    }
    input.parse::<Token![<]>()?;
    while !input.peek(Token![>]) {
        let at = (input.span(), input.span());
        if input.peek(Lifetime) || input.peek(Token![const]) {
            return Err(Diagnostic::new(Code::UnsupportedGeneric, at, "only element types can be generic")
                .help("write `<T: Float>`; dimensions such as `N` need no declaration, they are named in the types"));
        }
        let name: Ident = input.parse()?;
        check_bound(&name, parse_bound(input)?, sink);
        generics.push(name);
        if !input.peek(Token![>]) {
            input.parse::<Token![,]>()?;
        }
    }
    input.parse::<Token![>]>()?;
    if let Some(extra) = generics.get(MAX_GENERICS) {
        let at = (extra.span(), extra.span());
        sink.report(
            Diagnostic::new(
                Code::UnsupportedGeneric,
                at,
                format!("at most {MAX_GENERICS} element types can be generic"),
            )
            .help("each doubles the number of kernels; give the others a dtype"),
        );
    }
    Ok(generics)
}

fn parse_bound(input: ParseStream<'_>) -> Result<Option<(Span, String)>, Diagnostic> {
    if !input.peek(Token![:]) {
        return Ok(None);
    }
    input.parse::<Token![:]>()?;
    let span = input.span();
    let mut text = String::new();
    while !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![>]) {
        text.push_str(&input.parse::<TokenTree>()?.to_string());
    }
    Ok(Some((span, text)))
}

fn check_bound(name: &Ident, bound: Option<(Span, String)>, sink: &Sink) {
    let at = (name.span(), name.span());
    match bound {
        None => sink.report(
            Diagnostic::new(Code::MissingBound, at, format!("generic element type `{name}` has no bound"))
                .help(format!("write `{name}: Float`, which makes an `f32` and an `f16` kernel")),
        ),
        Some((span, text)) if text != "Float" => sink.report(
            Diagnostic::new(Code::UnknownBound, (span, span), format!("unknown bound `{text}`"))
                .help(format!("write `{name}: Float`, which makes an `f32` and an `f16` kernel")),
        ),
        Some(_) => {}
    }
}

fn parse_params(tokens: TokenStream, generics: &[Ident], sink: &Sink) -> Vec<Param> {
    let mut params = Vec::new();
    for piece in split_params(tokens) {
        match within(piece, |input| parse_param(input, generics)) {
            Ok(param) => params.push(param),
            Err(diagnostic) => sink.report(diagnostic),
        }
    }
    params
}

/// Reports equal names, and renames the later ones so that the signature can be emitted.
fn rename_duplicates(params: &mut [Param], sink: &Sink) {
    for position in 1..params.len() {
        let (earlier, rest) = params.split_at_mut(position);
        let name = &mut rest[0].name;
        let Some(first) = earlier.iter().find(|other| other.name == *name) else { continue };
        let at = (name.span(), name.span());
        sink.report(
            Diagnostic::new(Code::DuplicateParameter, at, format!("parameter `{name}` is declared twice"))
                .note((first.name.span(), first.name.span()), "the first is here")
                .help("rename one of them"),
        );
        *name = Ident::new(&format!("_{name}_{position}"), name.span());
    }
}

fn parse_param(input: ParseStream<'_>, generics: &[Ident]) -> Result<Param, Diagnostic> {
    let at = (input.span(), input.span());
    let bad = |message: &str| {
        Diagnostic::new(Code::BadParameter, at, message).help("write `name: f32[M, N]` or, for a number, `name: f32`")
    };
    if input.peek(Token![self]) || input.peek(Token![&]) && input.peek2(Token![self]) {
        return Err(bad("a kernel has no `self`"));
    }
    if input.peek(Token![mut]) {
        return Err(bad("parameters are immutable"));
    }
    if !input.peek(Ident::peek_any) || !input.peek2(Token![:]) {
        return Err(bad("expected a parameter"));
    }
    let name = input.call(Ident::parse_any)?;
    if syn::parse_str::<Ident>(&name.to_string()).is_err() {
        return Err(Diagnostic::new(Code::ReservedName, at, format!("`{name}` is a keyword of Rust")).help("rename it"));
    }
    input.parse::<Token![:]>()?;
    let reference = input.span();
    let updated = match input.parse::<Option<Token![&]>>()? {
        None => None,
        Some(_) if input.peek(Token![mut]) => {
            input.parse::<Token![mut]>()?;
            Some(reference)
        }
        Some(_) => {
            return Err(Diagnostic::new(Code::BadParameter, at, "a parameter's type is written without `&`")
                .help("write `name: f32[M, N]`; the launch wrapper takes tensors by reference"));
        }
    };
    let ty = parse_type(input, generics)?;
    expect_end(input, "after the parameter's type")?;
    if updated.is_some() && (ty.dims.is_none() || ty.packing().is_some()) {
        let what = if ty.dims.is_none() { "a number of the host" } else { "a quantized tensor" };
        return Err(Diagnostic::new(Code::BadParameter, at, format!("{what} cannot be updated")).help(
            "only tensors of plain numbers can: `name: &mut f32[M, N]`; a number in memory is `name: &mut f32[]`",
        ));
    }
    Ok(Param { name, ty, updated })
}

fn parse_results(
    input: ParseStream<'_>,
    name: &Ident,
    generics: &[Ident],
    updates: bool,
    sink: &Sink,
) -> Result<(Vec<Type>, bool), Diagnostic> {
    let missing = || {
        Diagnostic::new(
            Code::MissingResultType,
            (name.span(), name.span()),
            format!("`{name}` does not say what it returns"),
        )
        .help("write the result's type: `-> f32[M, N]`, or `-> (f32[M], bool[M])` for two results")
    };
    if !input.peek(Token![->]) && updates {
        return Ok((Vec::new(), true));
    }
    if !input.peek(Token![->]) {
        sink.report(missing());
        return Ok((Vec::new(), false));
    }
    input.parse::<Token![->]>()?;
    if !input.peek(token::Paren) {
        let first = parse_type(input, generics)?;
        if !input.peek(Token![,]) {
            return Ok((vec![first], false));
        }
        let at = (input.span(), input.span());
        return Err(Diagnostic::new(Code::MissingResultType, at, "several results stand in parentheses")
            .help("write `-> (f32[M], f32[N])`, and end the body with `(a, b)`"));
    }
    let mut results = Vec::new();
    for piece in split_commas(parenthesized(input)?) {
        results.push(within(piece, |input| {
            let ty = parse_type(input, generics)?;
            expect_end(input, "after the result's type")?;
            Ok(ty)
        })?);
    }
    if results.is_empty() {
        sink.report(missing());
    }
    Ok((results, true))
}

/// Tokens after an error are dropped.
fn within<T>(piece: TokenStream, read: impl FnOnce(ParseStream<'_>) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    let parser = |input: ParseStream<'_>| {
        let result = read(input);
        input.parse::<TokenStream>()?;
        Ok(result)
    };
    parser.parse2(piece)?
}

fn expect_end(input: ParseStream<'_>, place: &str) -> Result<(), Diagnostic> {
    if input.is_empty() {
        return Ok(());
    }
    let at = (input.span(), input.span());
    Err(Diagnostic::new(Code::SyntaxError, at, format!("unexpected token {place}")))
}

impl ast::Function {
    pub(crate) fn uses_generic(&self, index: usize) -> bool {
        self.params.iter().any(|param| matches!(param.ty.element, Element::Generic(i) if i == index))
    }
}
