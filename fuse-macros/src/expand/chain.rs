//! Collects the functions that a block imports.
//!
//! Only rustc resolves paths. So the block imports, under an alias, the macro in the module of each `fuse!` function
//! (`companion`). It passes itself to that macro, which adds its definition and calls `fuse!` again for the next
//! import. Then the block is linked and compiles.
//!
//! ```text
//! use crate::activations::swish2; fn layer(…) …
//!     -> use crate::activations::swish2::__fuse as alias0;
//!        alias0! { @fuse [::fuse_gpu::fuse] ["items" "lib_3_1"] [] [swish2] [] { fn layer(…) … } }
//!     -> ::fuse_gpu::fuse! { @fuse {1 __fuse_swish2_ab12 …} ["items" "lib_3_1"] [] [swish2] [] { fn layer(…) … } }
//! ```
//!
//! The groups: answer, form and position of the block, earlier answers, name of this answer, remaining names with
//! aliases, block.

use fuse_compiler::{
    diag::{Code, Diagnostic},
    front::{self, Head},
    syntax::imports::{Use, link},
};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, LitStr, ext::IdentExt, parse::ParseStream, parse::Parser};

use super::{Context, Form, Source, companion, diagnostics};

pub(crate) enum Next {
    Compile(Source),
    Ask(TokenStream),
}

struct ChainState {
    form: Form,
    place: String,
    answers: TokenStream,
    pending: Vec<(Ident, Ident)>,
    block: TokenStream,
}

/// Classifies a call: without imports, with imports, or returning with a definition.
pub(crate) fn next(tokens: TokenStream, context: &Context) -> Next {
    if let Some(state) = resume(&tokens) {
        return state.next(context);
    }
    let place = context.place.clone();
    match front::head(tokens.clone()) {
        None => {
            let form = if front::is_items(&tokens) { Form::Items } else { Form::Expression };
            Next::Compile(Source { tokens, form, place })
        }
        Some(head) => start(head, context),
    }
}

fn start(head: Head, context: &Context) -> Next {
    let Head { uses, is_expression, diagnostics } = head;
    let form = if is_expression { Form::Expression } else { Form::Items };
    let diagnostics: Vec<Diagnostic> =
        diagnostics.into_iter().filter(|diagnostic| diagnostic.code != Code::UnusedImport).collect();
    let broken = !diagnostics.is_empty();
    if broken && form == Form::Expression {
        return Next::Ask(diagnostics::expression(&diagnostics, &[]));
    }
    let (used, unused): (Vec<Use>, Vec<Use>) = uses.imports.into_iter().partition(|import| import.used);
    let aliases: Vec<Ident> = (0..used.len()).map(|i| alias(&used[i], i, context)).collect();
    let imports = used.iter().zip(&aliases).map(|(import, alias)| import_as(import, alias));
    let state = ChainState {
        form,
        place: context.place.clone(),
        answers: if uses.complete { TokenStream::new() } else { quote!(*) },
        pending: used.iter().map(|import| import.local.clone()).zip(aliases.iter().cloned()).collect(),
        block: uses.rest,
    };
    let unused = unused.iter().map(unused_import);
    let diagnostics = diagnostics::items(&diagnostics);
    let head = quote!(#(#imports)* #(#unused)* #diagnostics);
    let rest = match state.next(context) {
        Next::Ask(tokens) => tokens,
        Next::Compile(source) => super::compile(source, context),
    };
    Next::Ask(match form {
        Form::Items => quote!(#head #rest),
        Form::Expression => quote!({ #head #rest }),
    })
}

impl ChainState {
    fn next(self, context: &Context) -> Next {
        let Self { form, place, answers, pending, block } = self;
        let Some(((name, alias), later)) = pending.split_first() else {
            return Next::Compile(Source { tokens: link(&answers, &block), form, place });
        };
        let (callback, form_name) = (&context.callback, form.name());
        let later = later.iter().map(|(name, alias)| quote!(#name #alias));
        let request = quote!(
            @fuse [#callback] [#form_name #place] [#answers] [#name] [#(#later)*] { #block }
        );
        Next::Ask(match form {
            Form::Items => quote!(#alias! { #request }),
            Form::Expression => quote!(#alias!(#request)),
        })
    }
}

fn resume(tokens: &TokenStream) -> Option<ChainState> {
    if !matches!(tokens.clone().into_iter().next(), Some(TokenTree::Punct(punct)) if punct.as_char() == '@') {
        return None;
    }
    let parser = |input: ParseStream<'_>| {
        input.parse::<syn::Token![@]>()?;
        input.call(Ident::parse_any)?;
        let (answer, place, answers, name, pending, block);
        syn::braced!(answer in input);
        syn::bracketed!(place in input);
        syn::bracketed!(answers in input);
        syn::bracketed!(name in input);
        syn::bracketed!(pending in input);
        syn::braced!(block in input);
        let form: LitStr = place.parse()?;
        let form = if form.value() == Form::Items.name() { Form::Items } else { Form::Expression };
        let place = place.parse::<LitStr>()?.value();
        let mut answers: TokenStream = answers.parse()?;
        let (name, answer): (Ident, TokenStream) = (name.call(Ident::parse_any)?, answer.parse()?);
        answers.extend(quote!(#name { #answer }));
        let mut names = vec![];
        while !pending.is_empty() {
            names.push((pending.call(Ident::parse_any)?, pending.parse()?));
        }
        Ok(ChainState { form, place, answers, pending: names, block: block.parse()? })
    };
    parser.parse2(tokens.clone()).ok()
}

fn alias(import: &Use, index: usize, context: &Context) -> Ident {
    let mut alias = format_ident!("__fuse_function_{}_{}_{index}", import.local.unraw(), context.unique);
    alias.set_span(import.local.span());
    alias
}

/// `use path as alias;` with the original spans, so that rustc reports a wrong path there.
fn import_as(import: &Use, alias: &Ident) -> TokenStream {
    let path = &import.path;
    let (start, end) = import.range;
    let (keyword, semicolon) = (quote_spanned!(start=> use), quote_spanned!(end=> ;));
    let entry = companion::entry();
    let renamed = quote_spanned!(import.local.span()=> :: #entry as #alias);
    quote!(#keyword #path #renamed #semicolon)
}

/// Import that rustc reports as unused, and whose path it checks.
fn unused_import(import: &Use) -> TokenStream {
    let Use { path, local, .. } = import;
    let (start, end) = import.range;
    let (keyword, semicolon) = (quote_spanned!(start=> use), quote_spanned!(end=> ;));
    let renamed = match path.clone().into_iter().last() {
        Some(TokenTree::Ident(last)) if last == *local => TokenStream::new(),
        _ => quote_spanned!(local.span()=> as #local),
    };
    let item = quote!(#keyword #path #renamed #semicolon);
    let block = proc_macro2::Group::new(Delimiter::Brace, item).into_token_stream();
    let place = Span::call_site();
    quote_spanned!(place=> const _: () = #block;)
}
