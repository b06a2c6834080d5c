//! What a function that did not compile leaves behind.
//!
//! Input: its header. Output: the wrapper and the module with the same signatures and types as if it had compiled,
//! so that callers get no second error. None of it ever runs, because a `compile_error!` stands beside it.

use fuse_artifact::{DType, Function};
use proc_macro2::TokenStream;

use super::{items::Item, signature::Signature};

/// Stands in for a function whose compilation failed.
pub(crate) fn expand(signature: Signature<'_>, import: &TokenStream) -> TokenStream {
    let choices = choices(signature.header.generics.len());
    let instances = choices.iter().map(|dtypes| (&dtypes[..], empty(signature))).collect();
    Item { signature, instances, lines: TokenStream::new(), source: "", import }.expand()
}

/// Every choice of dtypes for the generic element types.
fn choices(generics: usize) -> Vec<Vec<DType>> {
    let mut choices = vec![vec![]];
    for _ in 0..generics {
        choices = choices
            .into_iter()
            .flat_map(|choice: Vec<DType>| {
                [DType::F32, DType::F16].map(|dtype| choice.iter().copied().chain([dtype]).collect())
            })
            .collect();
    }
    choices
}

/// An artifact without kernels.
fn empty(signature: Signature<'_>) -> Function {
    Function {
        name: signature.header.name.to_string().into(),
        params: vec![].into(),
        results: vec![].into(),
        updates: vec![].into(),
        symbols: vec![].into(),
        checks: vec![].into(),
        temporaries: vec![].into(),
        kernels: vec![].into(),
        plan: fuse_artifact::Plan::default(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    }
}
