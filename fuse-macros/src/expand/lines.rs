//! Lines of shaders, which a program carries once however many shaders of a function have them.
//!
//! Input: a function's artifacts for all its dtypes, with whole texts. Output: a constant of the distinct lines, and the same
//! artifacts with texts that count in it.

use fuse_artifact::{Function, LineNumbers, List, Pass, Variant, Wgsl};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::artifact::only_outside_browsers;

/// Has the shaders of functions share their lines; returns the constant that holds these, `__FUSE_LINES`.
pub(crate) fn share(functions: &mut [(&[fuse_artifact::DType], Function)], runtime: &TokenStream) -> TokenStream {
    let mut numbers = LineNumbers::default();
    let mut number = |outside_browsers: bool| {
        for (_, function) in functions.iter_mut() {
            each_variant(function, &mut |variant| {
                if only_outside_browsers(variant) == outside_browsers {
                    variant.passes.to_mut().iter_mut().for_each(|pass| number_lines(pass, &mut numbers));
                }
            });
        }
        numbers.count()
    };
    // What only variants that pages do not carry have comes last, so that pages do not carry it either.
    let (everywhere, all) = (number(false), number(true));
    let lines = |range| Literal::string(&numbers.text(range));
    let first = lines(0..everywhere);
    let rest = (everywhere < all).then(|| {
        let rest = lines(everywhere..all);
        quote!(#[cfg(not(target_arch = "wasm32"))] #runtime::artifact::Text::Borrowed(#rest))
    });
    quote! {
        const __FUSE_LINES: &[#runtime::artifact::Text] = &[#runtime::artifact::Text::Borrowed(#first), #rest];
    }
}

/// Visits the variants of a function and of its alternatives.
fn each_variant(function: &mut Function, visit: &mut dyn FnMut(&mut Variant)) {
    for kernel in function.kernels.to_mut() {
        kernel.variants.to_mut().iter_mut().for_each(&mut *visit);
    }
    for alternative in function.alternatives.to_mut() {
        each_variant(alternative, visit);
    }
}

fn number_lines(pass: &mut Pass, numbers: &mut LineNumbers) {
    let order = numbers.add(&pass.wgsl.text());
    pass.wgsl = Wgsl::Lines { lines: List::Borrowed(&[]), order: order.into() };
}
