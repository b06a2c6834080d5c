//! Placeholders for functions that did not compile.
//!
//! Signatures and types are those of a compiled function, so that callers get no second error. They never run, because
//! they come with a `compile_error!`.

use fuse_artifact::{DType, Function};
use fuse_compiler::syntax::differentiable::Derived;
use proc_macro2::TokenStream;

use super::{
    differentiable::{Derivative, Derivatives},
    items::Item,
    signature::Signature,
};

pub(crate) fn expand(signature: Signature<'_>, derived: Option<&Derived>, import: &TokenStream) -> TokenStream {
    let choices = choices(signature.header.generics.len());
    let instances = choices.iter().map(|dtypes| (&dtypes[..], empty(signature))).collect();
    // Without gradients, no derived signature makes sense to a caller.
    let derived = derived.filter(|derived| !derived.wrt.is_empty() && !derived.of.is_empty()).map(|derived| {
        let compiled = Derivatives::fallback(&choices, derived, |header| empty(Signature { header, ..signature }));
        Derivative { own: signature, derived, compiled, source: "", has_lines: false }.expand()
    });
    let (path, derived) = (signature.header.name.to_string(), derived.unwrap_or_default());
    Item { signature, instances, lines: TokenStream::new(), source: "", import, path, derived }.expand()
}

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

pub(crate) fn empty(signature: Signature<'_>) -> Function {
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
