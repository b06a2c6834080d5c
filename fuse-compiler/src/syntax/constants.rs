//! Constants of a block: `const EPS: f32 = 1e-5;`.
//!
//! Input: a block's tokens. Output: the constants as Rust items, and the other tokens with literals for their names.
//! Later stages see no constants.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Literal as Token, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{BinOp, Expr, ItemConst, Lit, UnOp};

use super::{ast::Literal, depth::nests_too_deeply, paths};
use crate::diag::{Code, Diagnostic, Sink, range_of};

pub(super) struct Replaced {
    pub(super) constants: TokenStream,
    pub(super) rest: TokenStream,
}

#[derive(Clone, Copy)]
enum Value {
    Float(f32),
    /// Value and dtype suffix; a `usize` has none, since dimensions are plain numbers.
    Integer(i64, &'static str),
    Bool(bool),
}

pub(super) fn replace(tokens: TokenStream, sink: &Sink) -> Replaced {
    let mut replaced = Replaced { constants: TokenStream::new(), rest: TokenStream::new() };
    let mut values = BTreeMap::new();
    let mut others = Vec::new();
    for item in items(tokens) {
        if !is_constant(&item) || nests_too_deeply(item.clone()) {
            others.push(item);
            continue;
        }
        match syn::parse2::<ItemConst>(item) {
            Ok(item) => {
                let value = read(&item, &values).unwrap_or_else(|diagnostic| {
                    sink.report(diagnostic);
                    Value::Integer(1, "")
                });
                values.insert(item.ident.to_string(), value);
                replaced.constants.extend(quote!(#[allow(dead_code)] #item));
            }
            Err(error) => sink.report(error.into()),
        }
    }
    let names = Names { values, sink };
    replaced.rest = others.into_iter().flat_map(|item| names.replace(item)).collect();
    replaced
}

/// Splits a block into items, which end with braces or `;`.
fn items(tokens: TokenStream) -> Vec<TokenStream> {
    let mut items = vec![TokenStream::new()];
    for token in tokens {
        let ends = match &token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(mark) => mark.as_char() == ';',
            _ => false,
        };
        items.last_mut().expect("never empty").extend([token]);
        if ends {
            items.push(TokenStream::new());
        }
    }
    items
}

fn is_constant(item: &TokenStream) -> bool {
    let mut words = item.clone().into_iter().skip_while(|token| match token {
        TokenTree::Punct(mark) => mark.as_char() == '#',
        TokenTree::Group(_) => true,
        TokenTree::Ident(word) => word == "pub",
        TokenTree::Literal(_) => false,
    });
    let mut word = || match words.next() {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    };
    word().is_some_and(|first| first == "const") && word().is_some_and(|name| name != "fn")
}

fn read(item: &ItemConst, values: &BTreeMap<String, Value>) -> Result<Value, Diagnostic> {
    let name = item.ident.to_string();
    let bad = |at, message: String| Diagnostic::new(Code::BadConstant, at, message);
    let own = (item.ident.span(), item.ident.span());
    if name.contains(char::is_lowercase) {
        let message = format!("the constant `{name}` is not written in capitals");
        return Err(bad(own, message).help(format!("write `{}`", name.to_uppercase())));
    }
    if let Some(attribute) = item.attrs.iter().find(|one| one.path().is_ident("cfg") || one.path().is_ident("cfg_attr"))
    {
        let message = format!("the constant `{name}` depends on a condition, which the macro cannot know");
        return Err(bad(range_of(attribute), message).help("put the condition on functions instead"));
    }
    let ty = item.ty.to_token_stream().to_string();
    let value = match ty.as_str() {
        "f32" => float(&item.expr, values).map(Value::Float),
        "i32" => integer(&item.expr, values).and_then(|value| in_range::<i32>(value, "i32")),
        "u32" => integer(&item.expr, values).and_then(|value| in_range::<u32>(value, "u32")),
        "usize" => integer(&item.expr, values).and_then(|value| in_range::<u32>(value, "")),
        "bool" => match &*item.expr {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Bool(value) => Some(Value::Bool(value.value)),
                _ => None,
            },
            _ => None,
        },
        _ => {
            let message = format!("the constant `{name}` has the type `{ty}`");
            let help = "constants of a block are `f32`, `i32`, `u32`, `bool`, or `usize` for dimensions";
            return Err(bad(range_of(&item.ty), message).help(help));
        }
    };
    let example = if ty == "f32" { "0.5" } else { "2" };
    value.ok_or_else(|| {
        let message = format!("the value of `{name}` is not written out, and a macro cannot look it up");
        bad(range_of(&item.expr), message).help(format!(
            "write the number here, as in `const {name}: {ty} = {example};`, and name this constant elsewhere; or take it as a \
             parameter `{}: {ty}`",
            name.to_lowercase()
        ))
    })
}

fn in_range<T: TryFrom<i64>>(value: i64, suffix: &'static str) -> Option<Value> {
    T::try_from(value).is_ok().then_some(Value::Integer(value, suffix))
}

/// Rounds as rustc does.
fn float(expr: &Expr, values: &BTreeMap<String, Value>) -> Option<f32> {
    match expr {
        Expr::Paren(paren) => float(&paren.expr, values),
        Expr::Group(group) => float(&group.expr, values),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Float(literal) => literal.base10_parse().ok(),
            Lit::Int(literal) => literal.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Some(-float(&unary.expr, values)?),
        Expr::Path(path) => match path.path.get_ident().and_then(|name| values.get(&name.to_string())) {
            Some(Value::Float(value)) => Some(*value),
            Some(_) => None,
            None => match paths::constant(&path.path) {
                Some(Literal::Float(value, _)) => Some(value as f32),
                _ => None,
            },
        },
        Expr::Binary(binary) => {
            let (left, right) = (float(&binary.left, values)?, float(&binary.right, values)?);
            match binary.op {
                BinOp::Add(_) => Some(left + right),
                BinOp::Sub(_) => Some(left - right),
                BinOp::Mul(_) => Some(left * right),
                BinOp::Div(_) => Some(left / right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Intermediate overflow is left to rustc.
fn integer(expr: &Expr, values: &BTreeMap<String, Value>) -> Option<i64> {
    match expr {
        Expr::Paren(paren) => integer(&paren.expr, values),
        Expr::Group(group) => integer(&group.expr, values),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(literal) => literal.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => integer(&unary.expr, values)?.checked_neg(),
        Expr::Path(path) => match path.path.get_ident().and_then(|name| values.get(&name.to_string())) {
            Some(Value::Integer(value, _)) => Some(*value),
            Some(_) => None,
            None => match paths::constant(&path.path) {
                Some(Literal::Integer(value, _)) => i64::try_from(value).ok(),
                _ => None,
            },
        },
        Expr::Binary(binary) => {
            let (left, right) = (integer(&binary.left, values)?, integer(&binary.right, values)?);
            match binary.op {
                BinOp::Add(_) => left.checked_add(right),
                BinOp::Sub(_) => left.checked_sub(right),
                BinOp::Mul(_) => left.checked_mul(right),
                BinOp::Div(_) => left.checked_div(right),
                BinOp::Rem(_) => left.checked_rem(right),
                _ => None,
            }
        }
        _ => None,
    }
}

struct Names<'a> {
    values: BTreeMap<String, Value>,
    sink: &'a Sink,
}

impl Names<'_> {
    fn replace(&self, tokens: TokenStream) -> TokenStream {
        if self.values.is_empty() {
            return tokens;
        }
        let mut replaced = TokenStream::new();
        let mut last: Option<TokenTree> = None;
        let mut ahead = tokens.into_iter().peekable();
        while let Some(token) = ahead.next() {
            let new = match &token {
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.replace(group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner).into()
                }
                TokenTree::Ident(name) => match self.values.get(&name.to_string()) {
                    Some(_) if is_mark(last.as_ref(), &['.', ':', '\'']) => token.clone().into(),
                    Some(value) => {
                        let declares = matches!(&last, Some(TokenTree::Ident(word)) if word == "let" || word == "fn");
                        if declares || is_mark(ahead.peek(), &[':']) && !is_path(ahead.peek()) {
                            self.report_collision(name);
                        }
                        written(*value, name.span())
                    }
                    None => token.clone().into(),
                },
                _ => token.clone().into(),
            };
            replaced.extend(new);
            last = Some(token);
        }
        replaced
    }

    fn report_collision(&self, name: &Ident) {
        let message = format!("`{name}` is a constant of this block");
        let diagnostic = Diagnostic::new(Code::BadConstant, (name.span(), name.span()), message);
        self.sink.report(diagnostic.help("give one of them another name"));
    }
}

fn is_mark(token: Option<&TokenTree>, marks: &[char]) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if marks.contains(&mark.as_char()))
}

fn is_path(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.spacing() == Spacing::Joint)
}

fn written(value: Value, span: Span) -> TokenStream {
    let (negative, text) = match value {
        Value::Float(value) if value.is_nan() => (false, "nan".to_owned()),
        Value::Float(value) if value.is_infinite() => (value < 0.0, "inf".to_owned()),
        Value::Float(value) => (value.is_sign_negative(), format!("{:?}f32", value.abs())),
        Value::Integer(value, suffix) => (value < 0, format!("{}{suffix}", value.unsigned_abs())),
        Value::Bool(value) => (false, value.to_string()),
    };
    let mut token = match text.parse::<Token>() {
        Ok(literal) => TokenTree::Literal(literal),
        Err(_) => TokenTree::Ident(Ident::new(&text, span)),
    };
    token.set_span(span);
    if !negative {
        return token.into();
    }
    let mut minus = Punct::new('-', Spacing::Alone);
    minus.set_span(span);
    let mut group = Group::new(Delimiter::Parenthesis, [TokenTree::Punct(minus), token].into_iter().collect());
    group.set_span(span);
    TokenTree::Group(group).into()
}
