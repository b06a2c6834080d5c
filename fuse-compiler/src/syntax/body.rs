//! Bodies: `let` statements and a value. Each statement is read on its own, so that each reports its mistakes.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Expr, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    token,
};

use super::{
    ast::{self, Block, ExprKind, Let},
    expression::Converter,
    types::{parenthesized, split, split_commas},
};
use crate::diag::{Code, Diagnostic, Sink, SourceRange, range_of_stream};

/// How deep brackets, prefix operators and operands may nest.
pub(super) const MAX_DEPTH: usize = 200;

/// Reads the content of a body; `range` is where an empty one is reported.
pub(crate) fn parse_body(tokens: TokenStream, range: SourceRange, generics: &[Ident], sink: &Sink) -> Block {
    if nests_too_deeply(tokens.clone()) {
        sink.report(too_deep(range));
        return Block { lets: Vec::new(), value: error_at(range) };
    }
    parse_block(tokens, range, &Converter { generics, sink })
}

/// Reads the content of braces.
pub(super) fn parse_block(tokens: TokenStream, range: SourceRange, converter: &Converter<'_>) -> Block {
    let (mut pieces, trailing) = split(tokens, ';');
    let value = if trailing.is_none() { pieces.pop() } else { None };
    let mut lets = Vec::new();
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        if starts_with_let(&piece) {
            lets.extend(parse_let(piece, converter));
        } else {
            report_useless(piece, converter);
        }
    }
    let value = match value {
        Some(piece) if starts_with_let(&piece) => {
            lets.extend(parse_let(piece, converter));
            missing_value(range, converter.sink)
        }
        Some(piece) => parse_value(piece, converter),
        None => missing_value(trailing.map_or(range, |span| (span, span)), converter.sink),
    };
    Block { lets, value }
}

fn starts_with_let(piece: &TokenStream) -> bool {
    matches!(piece.clone().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == "let")
}

fn missing_value(at: SourceRange, sink: &Sink) -> ast::Expr {
    sink.report(
        Diagnostic::new(Code::MissingValue, at, "the body must end with a value")
            .help("end it with the expression to return, without `;`"),
    );
    error_at(at)
}

fn report_useless(piece: TokenStream, converter: &Converter<'_>) {
    let at = range_of_stream(piece.clone());
    let before = converter.sink.errors();
    let _ = parse_value(piece, converter);
    if converter.sink.errors() == before {
        converter.sink.report(
            Diagnostic::new(Code::UselessStatement, at, "the value of this statement is thrown away")
                .help("bind it with `let name = …;`, or remove it"),
        );
    }
}

/// Reads an expression. Loops and `if`s may stand before it without `;`, and are reported.
fn parse_value(piece: TokenStream, converter: &Converter<'_>) -> ast::Expr {
    let at = range_of_stream(piece.clone());
    let parser = |input: ParseStream<'_>| {
        let mut value = converter.convert(&input.parse::<Expr>()?);
        while !input.is_empty() {
            if !matches!(value.kind, ExprKind::Error) {
                return Err(input.error("expected an operator or `;`"));
            }
            value = converter.convert(&input.parse::<Expr>()?);
        }
        Ok(value)
    };
    match parser.parse2(piece) {
        Ok(value) => value,
        Err(error) => {
            converter.sink.report(error.into());
            error_at(at)
        }
    }
}

fn parse_let(piece: TokenStream, converter: &Converter<'_>) -> Option<Let> {
    let at = range_of_stream(piece.clone());
    let intended = intended_names(piece.clone());
    let mut names = Vec::new();
    let mut problem = None;
    let parser = |input: ParseStream<'_>| {
        input.parse::<Token![let]>()?;
        match parse_pattern(input) {
            Ok(found) => names = found,
            Err(diagnostic) => {
                problem = Some(diagnostic);
                return input.parse();
            }
        }
        input.parse::<Token![=]>()?;
        input.parse::<TokenStream>()
    };
    let value = match parser.parse2(piece) {
        _ if problem.is_some() => {
            converter.sink.report(problem?);
            // The names exist for what follows, whatever they stand for.
            return Some(Let { names: intended, value: error_at(at) });
        }
        Ok(value) => value,
        Err(error) => return report(error.into(), converter.sink),
    };
    if value.is_empty() {
        return report(bad_let(at, "`let` without a value"), converter.sink);
    }
    Some(Let { names, value: parse_value(value, converter) })
}

/// The names that a malformed `let` meant to bind.
fn intended_names(piece: TokenStream) -> Vec<Ident> {
    let pattern =
        piece.into_iter().take_while(|token| !matches!(token, TokenTree::Punct(p) if "=:".contains(p.as_char())));
    let mut names = Vec::new();
    for token in pattern {
        match token {
            TokenTree::Ident(ident) if ident != "let" && ident != "mut" => names.push(ident),
            TokenTree::Group(group) => names.extend(intended_names(group.stream())),
            _ => {}
        }
    }
    names
}

fn report<T>(diagnostic: Diagnostic, sink: &Sink) -> Option<T> {
    sink.report(diagnostic);
    None
}

fn bad_let(at: SourceRange, message: &str) -> Diagnostic {
    Diagnostic::new(Code::BadLet, at, message)
        .help("write `let name = value;`, or `let (a, b) = call(…);` for a function with two results")
}

fn parse_pattern(input: ParseStream<'_>) -> Result<Vec<Ident>, Diagnostic> {
    let at = (input.span(), input.span());
    if input.peek(Token![mut]) {
        return Err(bad_let(at, "bindings are immutable"));
    }
    let mut names = Vec::new();
    if input.peek(token::Paren) {
        for piece in split_commas(parenthesized(input)?) {
            names.push(Ident::parse_any.parse2(piece).map_err(|_| bad_let(at, "expected a name"))?);
        }
    } else if input.peek(Ident::peek_any) {
        names.push(input.call(Ident::parse_any)?);
    }
    let keyword = names.iter().find(|name| *name != "_" && syn::parse_str::<Ident>(&name.to_string()).is_err());
    if let Some(keyword) = keyword {
        let at = (keyword.span(), keyword.span());
        return Err(
            Diagnostic::new(Code::ReservedName, at, format!("`{keyword}` is a keyword of Rust")).help("rename it")
        );
    }
    if names.is_empty() {
        return Err(bad_let(at, "expected a name"));
    }
    if input.peek(Token![:]) {
        let at = (input.span(), input.span());
        return Err(
            bad_let(at, "`let` takes no type").help("the compiler knows the value's type; remove the annotation")
        );
    }
    Ok(names)
}

/// An expression that stands for something already reported.
pub(super) fn error_at(span: SourceRange) -> ast::Expr {
    ast::Expr { kind: ExprKind::Error, span }
}

pub(super) fn too_deep(at: SourceRange) -> Diagnostic {
    Diagnostic::new(Code::SyntaxError, at, format!("the expression nests more than {MAX_DEPTH} levels deep"))
        .help("bind parts of it with `let`")
}

/// Whether brackets nest so deep that even buffering the tokens could exhaust the stack.
pub(super) fn brackets_nest_too_deeply(tokens: TokenStream) -> bool {
    let mut pending = vec![(tokens, 0)];
    while let Some((tokens, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        pending.extend(tokens.into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some((group.stream(), depth + 1)),
            _ => None,
        }));
    }
    false
}

/// Whether the tokens could make a tree so deep that walking or dropping it exhausts the stack. Brackets nest;
/// so do prefix operators, operands of a chain of operators (to the left) and keywords before expressions.
pub(super) fn nests_too_deeply(tokens: TokenStream) -> bool {
    let mut pending = vec![(tokens, 0)];
    while let Some((tokens, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        // Tokens since the last separator that may each add a level, and those directly before this one.
        let (mut levels, mut prefix) = (0, 0);
        let mut after_ident = false;
        for token in tokens {
            let is_ident = matches!(token, TokenTree::Ident(_));
            match &token {
                TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => (levels, prefix) = (0, 0),
                TokenTree::Punct(_) => (levels, prefix) = (levels + 1, prefix + 1),
                TokenTree::Group(group) => {
                    pending.push((group.stream(), depth + 1 + prefix));
                    (levels, prefix) = (levels + 1, 0);
                }
                TokenTree::Ident(_) if after_ident => levels += 1,
                TokenTree::Ident(_) | TokenTree::Literal(_) => prefix = 0,
            }
            after_ident = is_ident;
            if levels > 2 * MAX_DEPTH {
                return true;
            }
        }
    }
    false
}
