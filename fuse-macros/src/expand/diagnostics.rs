//! Diagnostics as Rust: errors become `compile_error!`, warnings become code that rustc warns about, each at its
//! tokens.

// The benchmark of expansions includes this file and is not a proc-macro crate.
extern crate proc_macro;

use fuse_compiler::{
    diag::{Diagnostic, Severity},
    front::Variable,
};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Ident, ext::IdentExt, parse::Parser};

pub(crate) fn items(diagnostics: &[Diagnostic]) -> TokenStream {
    let errors = errors(diagnostics).into_iter().map(|error| quote!(#error;));
    errors.chain(warnings(diagnostics)).collect()
}

/// Expression that reports every diagnostic.
///
/// It uses the variables, against warnings about unused ones, and ends in an error, so that rustc reports nothing else
/// about its value.
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

/// `::core::compile_error!("…")`, whose first and last token have the spans of the error.
///
/// Stable Rust attaches text to tokens only through errors, so notes at other positions join the message, with line
/// numbers.
fn error(diagnostic: &Diagnostic) -> TokenStream {
    let ((start, end), message) = (diagnostic.span, text(diagnostic));
    let path = quote_spanned!(start=> ::core::compile_error!);
    let mut message = proc_macro2::Group::new(proc_macro2::Delimiter::Parenthesis, quote_spanned!(end=> #message));
    message.set_span(end);
    quote!(#path #message)
}

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

fn place(span: Span) -> Option<(String, usize)> {
    proc_macro::is_available().then(|| {
        let span = span.unwrap();
        (span.file(), span.line())
    })
}

/// Triggers rustc's lint for unused variables, at the name's span.
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

fn unused_name(message: &str) -> Ident {
    let quoted = message.split('`').nth(1).and_then(|name| Ident::parse_any.parse_str(name).ok());
    quoted.unwrap_or_else(|| Ident::new("unused", Span::call_site()))
}
