//! Notation of other languages: `where(…)`, `x @ y`, `x[.., 0..2]`, `w -= x` without `*`. Each gets a diagnostic with
//! this language's spelling.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

use super::{
    ast::{self, BinaryOperator, ExprKind},
    types::split_commas,
};
use crate::diag::{Code, Diagnostic, SourceRange};

pub(super) fn explain(tokens: TokenStream, expression: bool) -> Option<Diagnostic> {
    let mut last: Option<TokenTree> = None;
    let mut ahead = tokens.into_iter().peekable();
    while let Some(token) = ahead.next() {
        match (&token, &last) {
            (TokenTree::Punct(mark), _) if mark.as_char() == '@' => {
                let left = match &last {
                    Some(TokenTree::Ident(name)) => name.to_string(),
                    _ => "a".to_owned(),
                };
                let right = match (ahead.next(), ahead.next()) {
                    (Some(TokenTree::Ident(name)), Some(TokenTree::Group(arguments))) => {
                        format!("{name}({})", arguments.stream())
                    }
                    (Some(TokenTree::Ident(name)), _) => name.to_string(),
                    _ => "b".to_owned(),
                };
                let at = (mark.span(), mark.span());
                let diagnostic = Diagnostic::new(Code::UnsupportedOperator, at, "`@` is no operator");
                return Some(diagnostic.help(format!("write `matmul({left}, {right})`")));
            }
            (TokenTree::Group(group), Some(TokenTree::Ident(name)))
                if group.delimiter() == Delimiter::Parenthesis && name == "where" =>
            {
                let at = (name.span(), name.span());
                let diagnostic = Diagnostic::new(Code::UnknownOperation, at, "unknown operation `where`");
                return Some(diagnostic.help("write `select(condition, a, b)`"));
            }
            (TokenTree::Group(group), Some(TokenTree::Ident(name)))
                if group.delimiter() == Delimiter::Bracket && split_commas(group.stream()).len() > 1 =>
            {
                let at = (name.span(), group.span_close());
                return Some(indexed(&name.to_string(), group.stream(), at, expression));
            }
            _ => {}
        }
        if let TokenTree::Group(group) = &token
            && let Some(found) = explain(group.stream(), expression)
        {
            return Some(found);
        }
        last = Some(token);
    }
    None
}

/// Diagnostic for bracket indexing. Suggests equivalent slices for explicit ranges.
pub(super) fn indexed(base: &str, content: TokenStream, at: SourceRange, expression: bool) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::IndexExpression, at, "values are not indexed with brackets");
    let places = split_commas(content);
    let axis = |position: usize| match expression {
        true => format!("-{}", places.len() - position),
        false => position.to_string(),
    };
    let mut text = base.to_owned();
    // Backwards, so that a removed axis shifts no other.
    for (position, place) in places.iter().enumerate().rev() {
        let axis = axis(position);
        match selection(place) {
            Some(Selection::All) => {}
            Some(Selection::Range(start, end)) => {
                let start = start.map_or(String::new(), |start| format!(", start = {start}"));
                let end = end.map_or(String::new(), |end| format!(", end = {end}"));
                text = format!("slice({text}, axis = {axis}{start}{end})");
            }
            Some(Selection::One(number)) => {
                let end = number + 1;
                text = format!("squeeze(slice({text}, axis = {axis}, start = {number}, end = {end}), axis = {axis})");
            }
            None => {
                return diagnostic.help(format!(
                    "for a range write `slice({base}, axis = {}, start = 0, end = 4)`, for rows by number `gather({base}, \
                     ids)`",
                    axis_of_example(expression)
                ));
            }
        }
    }
    diagnostic.help(format!("write `{text}`"))
}

fn axis_of_example(expression: bool) -> &'static str {
    if expression { "-1" } else { "0" }
}

enum Selection {
    All,
    Range(Option<String>, Option<String>),
    One(u32),
}

/// Parses `..`, `a..b`, `:`, `a:b` or a number.
fn selection(place: &TokenStream) -> Option<Selection> {
    let tokens: Vec<TokenTree> = place.clone().into_iter().collect();
    let mark = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if ['.', ':'].contains(&mark.as_char()));
    let bound = |tokens: &[TokenTree]| match tokens {
        [] => Some(None),
        [TokenTree::Ident(name)] if name.to_string().starts_with(char::is_uppercase) => Some(Some(name.to_string())),
        [TokenTree::Literal(literal)] if literal.to_string().parse::<u32>().is_ok() => Some(Some(literal.to_string())),
        _ => None,
    };
    let (Some(first), Some(last)) = (tokens.iter().position(mark), tokens.iter().rposition(mark)) else {
        return match tokens.as_slice() {
            [TokenTree::Literal(literal)] => literal.to_string().parse().ok().map(Selection::One),
            _ => None,
        };
    };
    match (bound(&tokens[..first])?, bound(&tokens[last + 1..])?) {
        (None, None) => Some(Selection::All),
        (start, end) => Some(Selection::Range(start, end)),
    }
}

/// `name = value` or `name += value`, which lack a `*`.
pub(super) fn plain_assignment(piece: &TokenStream) -> Option<(Ident, Option<BinaryOperator>, TokenStream)> {
    let mut tokens = piece.clone().into_iter();
    let Some(TokenTree::Ident(name)) = tokens.next() else { return None };
    let (mark, joint) = next_mark(&mut tokens)?;
    let operator = match (mark, joint) {
        ('=', false) => return Some((name, None, tokens.collect())),
        ('+', true) => BinaryOperator::Add,
        ('-', true) => BinaryOperator::Sub,
        ('*', true) => BinaryOperator::Mul,
        ('/', true) => BinaryOperator::Div,
        _ => return None,
    };
    let (mark, _) = next_mark(&mut tokens)?;
    (mark == '=').then(|| (name, Some(operator), tokens.collect()))
}

fn next_mark(tokens: &mut impl Iterator<Item = TokenTree>) -> Option<(char, bool)> {
    match tokens.next() {
        Some(TokenTree::Punct(mark)) => Some((mark.as_char(), mark.spacing() == Spacing::Joint)),
        _ => None,
    }
}

pub(super) fn assigned(name: &Ident, operator: Option<BinaryOperator>, value: &ast::Expr) -> Diagnostic {
    let at = (name.span(), name.span());
    let diagnostic = Diagnostic::new(Code::Assignment, at, format!("`{name}` is assigned to without `*`"));
    let symbol = operator.map_or(String::new(), |operator| operator.symbol().to_owned());
    let new = match operator {
        None => value.to_string(),
        Some(operator) => {
            let old = ast::Expr { kind: ExprKind::Name(name.clone()), span: at };
            ast::Expr { kind: ExprKind::Binary(Box::new(old), vec![(operator, value.clone())]), span: at }.to_string()
        }
    };
    diagnostic
        .help(format!("to update a parameter `{name}: &mut f32[…]`, write `*{name} {symbol}= {value};`"))
        .help(format!("to name a new value, write `let {name}_new = {new};`"))
}
