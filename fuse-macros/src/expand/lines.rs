//! Lines of shaders, which a program carries once for all shaders of a function.
//!
//! Input: a function's artifacts for all its dtypes and derivatives, with whole sources. Output: a constant of the
//! distinct sources, which share their lines, and the same artifacts with numbers of sources. For pages, a second
//! expansion converts the constant to whole sources.

use std::{cmp::Reverse, collections::BTreeMap};

use fuse_artifact::{Function, Pass, SharedLines, SharedTexts, Wgsl, wgsl};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::{
    Ident, LitStr, Token, bracketed,
    parse::{ParseStream, Parser},
};

use super::{Context, artifact::only_outside_browsers};

/// Deduplicates lines among the shaders of functions. Returns the constant that holds them, `__FUSE_TEXTS`.
pub(crate) fn share<'a>(functions: impl Iterator<Item = &'a mut Function>, context: &Context) -> TokenStream {
    let mut functions: Vec<&mut Function> = functions.collect();
    let mut lines = SharedLines::default();
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut parts: [Vec<String>; 2] = [vec![], vec![]];
    // Lines used only by variants that pages do not carry come last, so that pages do not carry them either.
    for (parts, outside_browsers) in parts.iter_mut().zip([false, true]) {
        let mut passes = vec![];
        for function in &mut functions {
            collect(function, outside_browsers, &mut passes);
        }
        // Long sources contain the parts of short ones in their order, which gives few parts.
        passes.sort_by_cached_key(|pass| Reverse(pass.wgsl.text().len()));
        for pass in passes {
            let next = numbers.len() as u32;
            let number = *numbers.entry(pass.wgsl.text().into_owned()).or_insert_with_key(|text| {
                parts.push(lines.add(text));
                next
            });
            pass.wgsl = Wgsl::Shared { texts: &SharedTexts { lines: &[], parts: &[] }, number };
        }
        if !outside_browsers {
            lines.cut();
        }
    }
    let [everywhere, rest] = lines.texts().map(Literal::string);
    let [in_pages, elsewhere] = parts;
    let Context { runtime, callback, .. } = context;
    quote! {
        #runtime::artifact::shared_texts! {
            [#callback] [__FUSE_TEXTS] [#everywhere] [#rest] [#(#in_pages)*] [#(#elsewhere)*]
        }
    }
}

/// Constant of whole sources, if these tokens ask for it: `@texts [NAME] [lines] [parts of each source]`, as pages do.
pub(crate) fn whole_texts(tokens: &TokenStream) -> Option<TokenStream> {
    let parser = |input: ParseStream<'_>| {
        input.parse::<Token![@]>()?;
        if input.parse::<Ident>()? != "texts" {
            return Err(input.error("expected `texts`"));
        }
        let (name, lines, parts);
        bracketed!(name in input);
        bracketed!(lines in input);
        bracketed!(parts in input);
        let (name, lines): (Ident, LitStr) = (name.parse()?, lines.parse()?);
        let lines = lines.value();
        let mut texts = vec![];
        while !parts.is_empty() {
            texts.push(wgsl::join(&[&lines], &parts.parse::<LitStr>()?.value()));
        }
        Ok(quote!(const #name: &[&str] = &[#(#texts),*];))
    };
    parser.parse2(tokens.clone()).ok()
}

/// Collects the passes of a function and of its alternatives: either those of variants that pages carry, or the others.
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
