//! The front end as a whole: from text to graphs and to diagnostics.

mod diagnostics;
mod expressions;
mod garbage;
mod graphs;
mod imports;

use proc_macro2::TokenStream;

use super::{Expression, Items, expression, head, is_items, items};

fn items_of(source: &str) -> Items {
    items(source.parse().expect("the test's tokens are balanced"))
}

fn expression_of(source: &str) -> Expression {
    expression(source.parse().expect("the test's tokens are balanced"))
}

/// All messages of a text, whichever form it has.
fn messages(source: &str) -> Vec<crate::diag::Diagnostic> {
    let tokens: TokenStream = source.parse().expect("the test's tokens are balanced");
    let diagnostics = match head(tokens.clone()) {
        Some(head) => head.diagnostics,
        None if is_items(&tokens) || source.starts_with("@fuse") => items(tokens).diagnostics,
        None => expression(tokens).diagnostics,
    };
    diagnostics.into_iter().collect()
}
