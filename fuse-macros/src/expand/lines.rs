//! Lines of shaders, which a program carries once however many shaders of a function have them.
//!
//! Input: a function's artifacts for all its dtypes and derivatives, with whole texts. Output: a constant of the distinct lines, and the same
//! artifacts with texts that count in it.

use std::cmp::Reverse;

use fuse_artifact::{Function, Pass, SharedLines, Wgsl};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::artifact::only_outside_browsers;

/// Has the shaders of functions share their lines; returns the constant that holds these, `__FUSE_LINES`.
pub(crate) fn share<'a>(functions: impl Iterator<Item = &'a mut Function>) -> TokenStream {
    let mut functions: Vec<&mut Function> = functions.collect();
    let mut lines = SharedLines::default();
    for outside_browsers in [false, true] {
        let mut passes = vec![];
        for function in &mut functions {
            collect(function, outside_browsers, &mut passes);
        }
        // Long texts have the parts of short ones in their order: so there are few parts.
        passes.sort_by_cached_key(|pass| Reverse(pass.wgsl.text().len()));
        for pass in passes {
            let parts = lines.add(&pass.wgsl.text());
            pass.wgsl = Wgsl::Parts { lines: &[], parts: parts.into() };
        }
        // What only variants that pages do not carry have comes last, so that pages do not carry it either.
        if !outside_browsers {
            lines.cut();
        }
    }
    let [everywhere, rest] = lines.texts().map(Literal::string);
    quote!(const __FUSE_LINES: &[&str] = &[#everywhere, #[cfg(not(target_arch = "wasm32"))] #rest];)
}

/// Adds the passes of a function and of its alternatives whose variants pages carry, or of those that they do not.
fn collect<'a>(function: &'a mut Function, outside_browsers: bool, passes: &mut Vec<&'a mut Pass>) {
    let kernels = function.kernels.to_mut().iter_mut();
    let variants = kernels.flat_map(|kernel| kernel.variants.to_mut());
    passes.extend(
        variants
            .filter(|variant| only_outside_browsers(variant) == outside_browsers)
            .flat_map(|variant| variant.passes.to_mut()),
    );
    for alternative in function.alternatives.to_mut() {
        collect(alternative, outside_browsers, passes);
    }
}
