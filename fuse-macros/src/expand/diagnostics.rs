//! Diagnostics as Rust: errors through `compile_error!`, warnings through code that rustc warns of.
//!
//! Input: everything that is wrong with a block. Output: items that make rustc report all of it at once, each at the
//! tokens that it is about.

use fuse_compiler::{
    diag::{Diagnostic, Severity, SourceRange},
    front::Variable,
};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, ext::IdentExt, parse::Parser};

/// Items that report every diagnostic.
pub(crate) fn items(diagnostics: &[Diagnostic]) -> TokenStream {
    let errors = errors(diagnostics).into_iter().map(|error| quote!(#error;));
    errors.chain(warnings(diagnostics)).collect()
}

/// An expression that reports every diagnostic.
///
/// It uses the variables, so that rustc does not call them unused, and ends in an error: rustc says nothing more about
/// a value that is one.
pub(crate) fn expression(diagnostics: &[Diagnostic], variables: &[Variable]) -> TokenStream {
    let variables = variables.iter().map(|variable| &variable.ident);
    let errors = errors(diagnostics);
    let warnings = warnings(diagnostics);
    match errors.split_last() {
        Some((last, others)) => quote!({ #(#warnings)* #(#others;)* #(_ = &#variables;)* #last }),
        None => quote!({ #(#warnings)* #(_ = &#variables;)* }),
    }
}

fn errors(diagnostics: &[Diagnostic]) -> Vec<TokenStream> {
    diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).flat_map(error_and_notes).collect()
}

fn warnings(diagnostics: &[Diagnostic]) -> Vec<TokenStream> {
    diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).map(warning).collect()
}

/// One error, and one more for every other place that it is about: stable Rust lets a macro attach a text to tokens
/// by an error only.
fn error_and_notes(diagnostic: &Diagnostic) -> Vec<TokenStream> {
    let notes = diagnostic.secondary.iter().map(|(range, note)| error(*range, &format!("note: {note}")));
    let main = error(diagnostic.span, &diagnostic.without_notes());
    std::iter::once(main).chain(notes).collect()
}

/// `::core::compile_error!("…")`, whose first and last token have the spans that the error is to cover.
fn error((start, end): SourceRange, message: &str) -> TokenStream {
    let path = quote_spanned!(start=> ::core::compile_error!);
    let mut message = proc_macro2::Group::new(proc_macro2::Delimiter::Parenthesis, quote_spanned!(end=> #message));
    message.set_span(end);
    quote!(#path #message)
}

/// A warning of unused names is left to rustc's own lint: an unused variable of that name, at that place.
fn warning(diagnostic: &Diagnostic) -> TokenStream {
    let mut name = unused_name(&diagnostic.message);
    name.set_span(diagnostic.span.0);
    quote! {
        const _: () = {
            #[allow(dead_code)]
            fn unused(#name: ()) {}
        };
    }
}

/// The name that a message quotes.
fn unused_name(message: &str) -> Ident {
    let quoted = message.split('`').nth(1).and_then(|name| Ident::parse_any.parse_str(name).ok());
    quoted.unwrap_or_else(|| Ident::new("unused", Span::call_site()))
}
