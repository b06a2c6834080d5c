//! The front end as a whole: from text to graphs and to diagnostics.

mod diagnostics;
mod expressions;
mod garbage;
mod graphs;
mod movement;
mod reductions;

use super::{Expression, Items, expression, is_items, items};

fn items_of(source: &str) -> Items {
    items(source.parse().expect("the test's tokens are balanced"))
}

fn expression_of(source: &str) -> Expression {
    expression(source.parse().expect("the test's tokens are balanced"))
}

/// All messages of a text, whichever form it has.
fn messages(source: &str) -> Vec<crate::diag::Diagnostic> {
    let tokens = source.parse().expect("the test's tokens are balanced");
    let diagnostics = if is_items(&tokens) { items(tokens).diagnostics } else { expression(tokens).diagnostics };
    diagnostics.into_iter().collect()
}
