//! Diagnostics as Rust: errors through `compile_error!`, warnings through code that rustc warns of.
//!
//! Input: everything that is wrong with a block. Output: items that make rustc report all of it at once, each at the
//! tokens that it is about.

// The benchmark of expansions holds this file, too, and is no crate of macros.
extern crate proc_macro;

use fuse_compiler::{
    diag::{Diagnostic, Severity},
    front::Variable,
};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
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
    let variables = variables.iter().map(|variable| match &variable.place {
        place if place.text.contains("::") => place.tokens.clone(),
        place => place.root.to_token_stream(),
    });
    let errors = errors(diagnostics);
    let warnings = warnings(diagnostics);
    match errors.split_last() {
        Some((last, others)) => quote!({ #(#warnings)* #(#others;)* #(_ = &#variables;)* #last }),
        None => quote!({ #(#warnings)* #(_ = &#variables;)* }),
    }
}

fn errors(diagnostics: &[Diagnostic]) -> Vec<TokenStream> {
    diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).map(error).collect()
}

fn warnings(diagnostics: &[Diagnostic]) -> Vec<TokenStream> {
    diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).map(warning).collect()
}

/// `::core::compile_error!("…")`, whose first and last token have the spans that the error is to cover. Stable Rust lets a
/// macro attach a text to tokens by an error only, so what belongs to other places is part of the one text, with the lines
/// of these places.
fn error(diagnostic: &Diagnostic) -> TokenStream {
    let ((start, end), message) = (diagnostic.span, text(diagnostic));
    let path = quote_spanned!(start=> ::core::compile_error!);
    let mut message = proc_macro2::Group::new(proc_macro2::Delimiter::Parenthesis, quote_spanned!(end=> #message));
    message.set_span(end);
    quote!(#path #message)
}

/// The message, its notes with their lines, and its help.
fn text(diagnostic: &Diagnostic) -> String {
    let own = place(diagnostic.span.0);
    let notes = diagnostic.secondary.iter().map(|(range, note)| match (&own, place(range.0)) {
        (Some(own), Some(other)) if *own == other => format!("\nnote: {note}"),
        (Some((file, _)), Some((other, line))) if *file == other => format!("\nnote: {note} (line {line})"),
        (_, Some((other, line))) => format!("\nnote: {note} ({other}:{line})"),
        (_, None) => format!("\nnote: {note}"),
    });
    let help = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    std::iter::once(diagnostic.message.clone()).chain(notes).chain(help).collect()
}

/// The file and line of a token; `None` outside of rustc.
fn place(span: Span) -> Option<(String, usize)> {
    proc_macro::is_available().then(|| {
        let span = span.unwrap();
        (span.file(), span.line())
    })
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
