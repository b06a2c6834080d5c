//! Parser of function bodies: `let` statements and a value. Each statement reports its own errors.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use syn::{
    Expr, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    token,
};

use super::{
    ast::{self, BinaryOperator, Block, ExprKind, Statement, Target},
    depth::{nests_too_deeply, too_deep},
    expression::Converter,
    foreign,
    types::{parenthesized, split, split_commas},
};
use crate::diag::{Code, Diagnostic, Sink, SourceRange, range_of_stream};

pub(crate) fn parse_body(tokens: TokenStream, range: SourceRange, converter: &Converter<'_>) -> Block {
    if nests_too_deeply(tokens.clone()) {
        converter.sink.report(too_deep(range));
        return Block { statements: Vec::new(), value: ast::Expr::error(range) };
    }
    converter.block(tokens, range)
}

pub(super) fn parse_updates(tokens: TokenStream, range: SourceRange, converter: &Converter<'_>) -> Block {
    let nothing = ast::Expr { kind: ExprKind::Tuple(Vec::new()), span: range };
    let (_, trailing) = split(tokens.clone(), ';');
    let semicolon = if trailing.is_none() { quote::quote!(;) } else { TokenStream::new() };
    let body = parse_body(quote::quote!(#tokens #semicolon 0), range, converter);
    Block { value: nothing, ..body }
}

impl Converter<'_> {
    pub(super) fn block(&self, tokens: TokenStream, range: SourceRange) -> Block {
        let (mut pieces, trailing) = split(tokens, ';');
        let last = if trailing.is_none() { pieces.pop() } else { None };
        let pieces: Vec<TokenStream> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        let mut statements = Vec::new();
        let mut lost = None;
        for (position, piece) in pieces.iter().enumerate() {
            let (at, before) = (range_of_stream(piece.clone()), self.sink.errors());
            let value = parse_statements(piece.clone(), false, &mut statements, self);
            let Some(value) = value.filter(|_| self.sink.errors() == before) else { continue };
            match trailing {
                _ if matches!(value.kind, ExprKind::Method(_)) => {
                    let names = vec![Ident::new("_", value.span.0)];
                    statements.push(Statement { target: Target::Names(names), value });
                }
                Some(mark) if position + 1 == pieces.len() => lost = Some((value, mark)),
                _ => self.sink.report(
                    Diagnostic::new(Code::UselessStatement, at, "the value of this statement is thrown away")
                        .help("bind it with `let name = …;`, or remove it"),
                ),
            }
        }
        let value = match (last, lost) {
            (Some(piece), _) => parse_statements(piece, true, &mut statements, self).ok_or(range),
            (None, Some((value, mark))) => {
                let message = "the body must end with a value, and this `;` throws it away";
                let diagnostic = Diagnostic::new(Code::MissingValue, (mark, mark), message);
                self.sink.report(diagnostic.help(format!("remove the `;`: end the body with `{value}`")));
                Ok(value)
            }
            (None, None) => Err(trailing.map_or(range, |span| (span, span))),
        };
        Block { statements, value: value.unwrap_or_else(|at| missing_value(at, self.sink)) }
    }
}

/// Parses the tokens between two `;`, and returns a trailing value. `is_last` allows it after a `let`.
///
/// Several statements mean a missing `;`, reported once.
fn parse_statements(
    mut piece: TokenStream,
    is_last: bool,
    statements: &mut Vec<Statement>,
    converter: &Converter<'_>,
) -> Option<ast::Expr> {
    loop {
        let (at, before) = (range_of_stream(piece.clone()), converter.sink.errors());
        let whole = piece.clone();
        let (value, rest) = if starts_with_let(&piece) {
            let (statement, rest) = parse_let(piece, converter);
            statements.push(statement);
            (None, rest)
        } else if let Some((names, value)) = updates_of(&piece) {
            let (value, rest) = parse_value(value, converter);
            statements.push(Statement { target: Target::Parameters(names), value });
            (None, rest)
        } else if let Some((name, operator, value)) = update_of(&piece) {
            let (value, rest) = parse_value(value, converter);
            statements.push(update(name, operator, value));
            (None, rest)
        } else if let Some((name, operator, value)) = foreign::plain_assignment(&piece) {
            let (value, rest) = parse_value(value, converter);
            if converter.sink.errors() == before {
                converter.sink.report(foreign::assigned(&name, operator, &value));
            }
            (None, rest)
        } else {
            let (value, rest) = parse_value(piece, converter);
            (Some(value), rest)
        };
        if rest.is_empty() {
            return value;
        }
        let reported = converter.sink.errors() > before;
        if !reported {
            let at_sign =
                matches!(rest.clone().into_iter().next(), Some(TokenTree::Punct(mark)) if mark.as_char() == '@');
            let foreign = if at_sign { foreign::explain(whole, converter.places) } else { None };
            converter.sink.report(foreign.unwrap_or_else(|| missing_separator(&rest)));
        }
        // Reported loops and `if`s may precede a statement without `;`.
        let goes_on = starts_with_let(&rest) || reported || is_last && value.is_none();
        if !goes_on {
            return value.map(|_| ast::Expr::error(at));
        }
        piece = rest;
    }
}

fn missing_separator(rest: &TokenStream) -> Diagnostic {
    let (start, _) = range_of_stream(rest.clone());
    if starts_with_let(rest) {
        return Diagnostic::new(Code::SyntaxError, (start, start), "expected `;` before `let`")
            .help("end the statement before it with `;`");
    }
    Diagnostic::new(Code::SyntaxError, (start, start), "expected an operator or `;`")
        .help("if a statement begins here, end the one before it with `;`")
}

fn starts_with_let(piece: &TokenStream) -> bool {
    matches!(piece.clone().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == "let")
}

/// Name, operator and value of `*name = value` or `*name += value`.
fn update_of(piece: &TokenStream) -> Option<(Ident, Option<BinaryOperator>, TokenStream)> {
    let mut tokens = piece.clone().into_iter();
    let mut next_mark = || match tokens.next() {
        Some(TokenTree::Punct(mark)) => Some((mark.as_char(), mark.spacing())),
        _ => None,
    };
    let ('*', _) = next_mark()? else { return None };
    let Some(TokenTree::Ident(name)) = tokens.next() else { return None };
    let mut next_mark = || match tokens.next() {
        Some(TokenTree::Punct(mark)) => Some((mark.as_char(), mark.spacing())),
        _ => None,
    };
    let operator = match next_mark()? {
        ('=', Spacing::Alone) => return Some((name, None, tokens.collect())),
        // `*name =-value` has adjacent marks.
        ('=', Spacing::Joint) => {
            let value: TokenStream = tokens.collect();
            let compared =
                matches!(value.clone().into_iter().next(), Some(TokenTree::Punct(mark)) if mark.as_char() == '=');
            return (!compared).then_some((name, None, value));
        }
        ('+', Spacing::Joint) => BinaryOperator::Add,
        ('-', Spacing::Joint) => BinaryOperator::Sub,
        ('*', Spacing::Joint) => BinaryOperator::Mul,
        ('/', Spacing::Joint) => BinaryOperator::Div,
        _ => return None,
    };
    matches!(next_mark()?, ('=', _)).then(|| (name, Some(operator), tokens.collect()))
}

/// Names and value of `(*a, *b) = value`.
fn updates_of(piece: &TokenStream) -> Option<(Vec<Ident>, TokenStream)> {
    let mut tokens = piece.clone().into_iter();
    let Some(TokenTree::Group(group)) = tokens.next() else { return None };
    let name = |target: TokenStream| match &target.into_iter().collect::<Vec<_>>()[..] {
        [TokenTree::Punct(mark), TokenTree::Ident(name)] if mark.as_char() == '*' => Some(name.clone()),
        _ => None,
    };
    let targets = split_commas(group.stream()).into_iter().map(name).collect::<Option<Vec<_>>>();
    let names = targets.filter(|names| group.delimiter() == Delimiter::Parenthesis && !names.is_empty())?;
    let assigns = matches!(tokens.next(), Some(TokenTree::Punct(mark)) if mark.as_char() == '=');
    let value: TokenStream = tokens.collect();
    let compared = matches!(value.clone().into_iter().next(), Some(TokenTree::Punct(mark)) if mark.as_char() == '=');
    (assigns && !compared).then_some((names, value))
}

fn update(name: Ident, operator: Option<BinaryOperator>, value: ast::Expr) -> Statement {
    let span = (name.span(), value.span.1);
    let value = match operator {
        None => value,
        Some(operator) => {
            let old = ast::Expr { kind: ExprKind::Name(name.clone()), span: (name.span(), name.span()) };
            ast::Expr { kind: ExprKind::Binary(Box::new(old), vec![(operator, value)]), span }
        }
    };
    Statement { target: Target::Parameters(vec![name]), value }
}

fn missing_value(at: SourceRange, sink: &Sink) -> ast::Expr {
    sink.report(
        Diagnostic::new(Code::MissingValue, at, "the body must end with a value")
            .help("end it with the expression to return, without `;`"),
    );
    ast::Expr::error(at)
}

fn parse_value(piece: TokenStream, converter: &Converter<'_>) -> (ast::Expr, TokenStream) {
    let at = range_of_stream(piece.clone());
    let parser = |input: ParseStream<'_>| {
        let value = input.parse::<Expr>()?;
        Ok((value, input.parse::<TokenStream>()?))
    };
    match parser.parse2(piece.clone()) {
        Ok((value, rest)) => (converter.convert(&value), rest),
        Err(error) => {
            converter.sink.report(foreign::explain(piece, converter.places).unwrap_or_else(|| error.into()));
            (ast::Expr::error(at), TokenStream::new())
        }
    }
}

/// Parses `let names = value`, and returns the tokens after it.
///
/// A malformed `let` still binds its names, to a placeholder.
fn parse_let(piece: TokenStream, converter: &Converter<'_>) -> (Statement, TokenStream) {
    let at = range_of_stream(piece.clone());
    let broken = |diagnostic: Diagnostic| {
        converter.sink.report(diagnostic);
        let target = Target::Names(intended_names(piece.clone()));
        (Statement { target, value: ast::Expr::error(at) }, TokenStream::new())
    };
    let mut problem = None;
    let parser = |input: ParseStream<'_>| {
        input.parse::<Token![let]>()?;
        match parse_pattern(input) {
            Ok(names) => {
                input.parse::<Token![=]>()?;
                Ok((names, input.parse::<TokenStream>()?))
            }
            Err(diagnostic) => {
                problem = Some(diagnostic);
                Ok((vec![], input.parse()?))
            }
        }
    };
    match (parser.parse2(piece.clone()), problem) {
        (_, Some(problem)) => broken(problem),
        (Err(error), None) => broken(error.into()),
        (Ok((_, value)), None) if value.is_empty() => broken(bad_let(at, "`let` without a value")),
        (Ok((names, value)), None) => {
            let (value, rest) = parse_value(value, converter);
            (Statement { target: Target::Names(names), value }, rest)
        }
    }
}

fn intended_names(piece: TokenStream) -> Vec<Ident> {
    let mut tokens =
        piece.into_iter().filter(|token| !matches!(token, TokenTree::Ident(i) if i == "let" || i == "mut"));
    match tokens.next() {
        Some(TokenTree::Ident(name)) => vec![name],
        Some(TokenTree::Group(group)) => split_commas(group.stream()).into_iter().flat_map(intended_names).collect(),
        _ => vec![],
    }
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
