//! Tests of the front end: from source to graphs and diagnostics.

mod diagnostics;
mod expressions;
mod garbage;
mod graphs;
mod helps;
mod imports;
mod library;
mod literals;
mod movement;
mod reductions;

use fuse_artifact::DType;
use fuse_compiler::{
    diag::Diagnostic,
    front::{Expression, Items, expression, head, is_items, items},
    interp::{Value, run},
};
use proc_macro2::TokenStream;

fn items_of(source: &str) -> Items {
    items(source.parse().expect("the test's tokens are balanced"))
}

fn expression_of(source: &str) -> Expression {
    expression(source.parse().expect("the test's tokens are balanced"))
}

fn messages(source: &str) -> Vec<Diagnostic> {
    let tokens: TokenStream = source.parse().expect("the test's tokens are balanced");
    let diagnostics = match head(tokens.clone()) {
        Some(head) => head.diagnostics,
        None if is_items(&tokens) || source.starts_with("@fuse") => items(tokens).diagnostics,
        None => expression(tokens).diagnostics,
    };
    diagnostics.into_iter().collect()
}

fn value(shape: &[usize], data: &[f64]) -> Value {
    Value { dtype: DType::F32, shape: shape.to_vec(), data: data.to_vec() }
}

fn values(source: &str, inputs: &[Value]) -> Vec<f64> {
    let items = items_of(source);
    let messages: Vec<String> = items.diagnostics.iter().map(ToString::to_string).collect();
    assert!(messages.is_empty(), "{messages:?}");
    let last = items.functions.last().expect("the test has a function");
    let mut results = run(&last.instances[0].graph, inputs).expect("the inputs fit");
    results.remove(0).data
}
