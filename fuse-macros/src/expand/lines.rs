//! Lines of shaders, which a program carries once for all shaders of a function.
//!
//! Output: a constant of the distinct sources, which share lines, and the artifacts with source numbers. For pages, a
//! second expansion converts it to whole sources.

use std::{cmp::Reverse, collections::BTreeMap};

use fuse_artifact::{Function, Pass, SharedLines, SharedTexts, Variant, Wgsl, wgsl};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::{
    Ident, LitStr, Token, bracketed,
    parse::{ParseStream, Parser},
};

use super::{Context, artifact::only_outside_browsers, dialects};

/// Deduplicates lines among the shaders of functions. Returns the constant that holds them, `__FUSE_TEXTS`.
pub(crate) fn share<'a>(functions: impl Iterator<Item = &'a mut Function>, context: &Context) -> TokenStream {
    let mut functions: Vec<&mut Function> = functions.collect();
    let mut lines = SharedLines::default();
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    // Lines used only by other sources come last, so that pages omit them.
    let mut parts: [Vec<String>; 3] = [vec![], vec![], vec![]];
    for class in [Class::Common, Class::Dialects, Class::OutsideBrowsers] {
        let mut passes = vec![];
        for function in &mut functions {
            collect(function, class, &mut passes);
        }
        // Long sources contain the parts of short ones in order, which gives few parts.
        passes.sort_by_cached_key(|pass| Reverse(pass.wgsl.text().len()));
        let mut others = vec![];
        for pass in passes {
            let next = numbers.len() as u32;
            let number = *numbers.entry(pass.wgsl.text().into_owned()).or_insert_with_key(|text| {
                match class {
                    Class::Common => parts[0].push(lines.add(text)),
                    Class::Dialects => {
                        parts[1].push(lines.add(&dialects::in_chromium(text)));
                        others.push(text.clone());
                    }
                    Class::OutsideBrowsers => parts[2].push(lines.add(text)),
                }
                next
            });
            pass.wgsl = Wgsl::Shared { texts: &SharedTexts { lines: &[], parts: &[] }, number };
        }
        if class == Class::Dialects {
            lines.cut();
        }
        parts[2].extend(others.iter().map(|text| lines.add(text)));
    }
    let [everywhere, rest] = lines.texts().map(Literal::string);
    let [common, of_pages, elsewhere] = parts;
    let Context { runtime, callback, .. } = context;
    quote! {
        #runtime::artifact::shared_texts! {
            [#callback] [__FUSE_TEXTS] [#everywhere] [#rest] [#(#common)*] [#(#of_pages)*] [#(#elsewhere)*]
        }
    }
}

/// Constant of whole sources for `@texts [NAME] [lines] [parts of each source]`, as pages ask.
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

/// Programs that carry a variant's shaders.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// All.
    Common,
    /// All, but pages in Chromium's dialect.
    Dialects,
    /// All but pages.
    OutsideBrowsers,
}

impl Class {
    fn of(variant: &Variant) -> Self {
        match variant.features.coop_matrix {
            0 => Self::Common,
            _ if only_outside_browsers(variant) => Self::OutsideBrowsers,
            _ => Self::Dialects,
        }
    }
}

fn collect<'a>(function: &'a mut Function, class: Class, passes: &mut Vec<&'a mut Pass>) {
    let kernels = function.kernels.to_mut().iter_mut();
    let variants = kernels.flat_map(|kernel| kernel.variants.to_mut());
    passes.extend(variants.filter(|variant| Class::of(variant) == class).flat_map(|variant| variant.passes.to_mut()));
    for alternative in function.alternatives.to_mut() {
        collect(alternative, class, passes);
    }
}
