//! Functions of other blocks: `use` items, and the linked form of the block.
//!
//! Input: a block's tokens. Output: its [`Use`]s and the rest; for a linked block, the definitions of its imports.
//!
//! ```text
//! use crate::activations::swish2; pub fn layer(…) …                     as written
//! @fuse [swish2 {1 __fuse_swish2_ab12 sound {} {fn swish2(…) …}}] …     linked
//! ```
//!
//! `fuse-macros` finds the definitions by rustc's name resolution.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Ident, ItemUse, Token, UseTree, Visibility,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

use super::{ast, depth::brackets_nest_too_deeply, function::read_function};
use crate::diag::{Code, Diagnostic, Sink, SourceRange, range_of};

/// Version of definitions. Crates built with another one cannot be linked.
pub const FORMAT: u32 = 1;

/// Imported name.
pub struct Use {
    /// Whole item.
    pub range: SourceRange,
    /// Path as written.
    pub path: TokenStream,
    /// Name within the block.
    pub local: Ident,
    /// True if the block seems to call it.
    pub used: bool,
}

/// Head of a block.
pub struct Uses {
    /// Imports.
    pub imports: Vec<Use>,
    /// True if `imports` holds all that the author meant.
    pub complete: bool,
    /// Tokens after the imports.
    pub rest: TokenStream,
}

/// Function as seen by importers and callers.
#[derive(Clone)]
pub struct Definition {
    /// Equal ids mean equal definitions.
    pub id: Ident,
    /// True if it compiled; errors were reported at its definition.
    pub sound: bool,
    /// Ids of callees by local name.
    pub callees: BTreeMap<String, Ident>,
    /// `fn name(…) -> … { … }`.
    pub function: TokenStream,
}

impl ToTokens for Definition {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { id, function, .. } = self;
        let state = if self.sound { quote!(sound) } else { quote!(broken) };
        let callees = self.callees.iter().map(|(name, id)| {
            let name = Ident::parse_any.parse_str(name).unwrap_or_else(|_| format_ident!("_{name}"));
            quote!(#name = #id,)
        });
        tokens.extend(quote!(#id #state { #(#callees)* } { #function }));
    }
}

pub(crate) struct Import {
    /// Local name, with the span of its `use`.
    pub(crate) local: Ident,
    pub(crate) id: Option<Ident>,
}

pub(crate) struct Linked {
    pub(crate) definition: Definition,
    pub(crate) function: ast::Function,
}

#[derive(Default)]
pub(crate) struct Links {
    pub(crate) imports: Vec<Import>,
    /// Imports and all their callees, each once.
    pub(crate) definitions: Vec<Linked>,
    /// True if some imports were unreadable, so unknown functions are not reported.
    pub(crate) open: bool,
}

pub(crate) fn split_uses(tokens: TokenStream, sink: &Sink) -> Option<Uses> {
    if !may_start_with_use(&tokens) || brackets_nest_too_deeply(tokens.clone()) {
        return None;
    }
    let parser = |input: ParseStream<'_>| {
        let mut uses = Uses { imports: vec![], complete: true, rest: TokenStream::new() };
        let mut found = false;
        while starts_with_use(input) {
            found = true;
            match input.parse::<ItemUse>() {
                Ok(item) => read_use(&item, &mut uses, sink),
                Err(error) => {
                    sink.report(error.into());
                    uses.complete = false;
                    skip_use(input);
                }
            }
        }
        uses.rest = input.parse()?;
        Ok(found.then_some(uses))
    };
    let mut uses = parser.parse2(tokens).ok()??;
    let called = called_names(uses.rest.clone());
    for import in &mut uses.imports {
        import.used = called.contains(&import.local.to_string());
        if !import.used {
            let at = (import.local.span(), import.local.span());
            let message = format!("unused import `{}`", import.local);
            sink.report(Diagnostic::new(Code::UnusedImport, at, message).help("remove it"));
        }
    }
    Some(uses)
}

/// Spares most blocks the buffering.
fn may_start_with_use(tokens: &TokenStream) -> bool {
    let mut idents = tokens.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    });
    idents.find(|ident| ident != "pub").is_some_and(|ident| ident == "use")
}

fn starts_with_use(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.call(Attribute::parse_outer).is_ok() && ahead.parse::<Visibility>().is_ok() && ahead.peek(Token![use])
}

/// Skips an unreadable `use`: to after its `;`, or to the next item.
fn skip_use(input: ParseStream<'_>) {
    let at_item =
        || input.peek(Token![pub]) || input.peek(Token![fn]) || input.peek(Token![#]) || input.peek(Token![use]);
    while !at_item() {
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Punct(punct)) if punct.as_char() == ';' => return,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

fn read_use(item: &ItemUse, uses: &mut Uses, sink: &Sink) {
    let bad = |at: SourceRange, message: &str, help: &str| {
        sink.report(Diagnostic::new(Code::BadImport, at, message).help(help));
    };
    if let Some(attribute) = item.attrs.first() {
        bad(range_of(attribute), "an import of a block takes no attributes", "remove the attribute");
    }
    if !matches!(item.vis, Visibility::Inherited) {
        let help = "write it without `pub`; to pass a function on, write `pub use` outside of `fuse!`";
        bad(range_of(&item.vis), "an import is for its block only", help);
    }
    let range = range_of(item);
    let mut pending = vec![(item.leading_colon.to_token_stream(), &item.tree)];
    while let Some((path, tree)) = pending.pop() {
        let (path, local) = match tree {
            UseTree::Path(tree) => {
                let (ident, colons) = (&tree.ident, &tree.colon2_token);
                pending.push((quote!(#path #ident #colons), &tree.tree));
                continue;
            }
            UseTree::Group(group) => {
                pending.extend(group.items.iter().rev().map(|tree| (path.clone(), tree)));
                continue;
            }
            UseTree::Name(name) => {
                let path = with_last(path, &name.ident);
                let Some(local) = last_ident(&path) else { continue };
                (path, local)
            }
            UseTree::Rename(rename) if rename.rename != "_" => (with_last(path, &rename.ident), rename.rename.clone()),
            UseTree::Rename(rename) => {
                uses.complete = false;
                bad(range_of(rename), "an import needs a name", "name it: `use path::function as my_function;`");
                continue;
            }
            other => {
                uses.complete = false;
                let help = "name each function: `use crate::activations::{swish, scale};`";
                bad(range_of(other), "a block imports functions by name", help);
                continue;
            }
        };
        uses.imports.push(Use { range, path, local, used: false });
    }
}

/// Appends the last part of a path; `self` stands for the path before it.
fn with_last(path: TokenStream, ident: &Ident) -> TokenStream {
    if ident != "self" || path.is_empty() {
        return quote!(#path #ident);
    }
    let parts: Vec<TokenTree> = path.into_iter().collect();
    let end = parts.iter().rposition(|part| matches!(part, TokenTree::Ident(_))).map_or(0, |last| last + 1);
    parts.into_iter().take(end).collect()
}

fn last_ident(path: &TokenStream) -> Option<Ident> {
    let last = path.clone().into_iter().last()?;
    match last {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

fn called_names(tokens: TokenStream) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut pending = vec![tokens];
    while let Some(tokens) = pending.pop() {
        let mut last = None;
        for token in tokens {
            if let TokenTree::Group(group) = &token {
                pending.push(group.stream());
                if group.delimiter() == Delimiter::Parenthesis {
                    names.extend(last.take());
                }
            }
            last = match token {
                TokenTree::Ident(ident) => Some(ident.to_string()),
                _ => None,
            };
        }
    }
    names
}

/// Tokens of a linked block: each import's name and answer.
///
/// A leading `*` marks further, reported imports.
pub fn link(answers: &TokenStream, rest: &TokenStream) -> TokenStream {
    quote!(@fuse [#answers] #rest)
}

pub(crate) fn is_linked(tokens: &TokenStream) -> bool {
    matches!(tokens.clone().into_iter().next(), Some(TokenTree::Punct(punct)) if punct.as_char() == '@')
}

/// Splits a linked block into imports and rest; other blocks are all rest.
pub(crate) fn split_links(tokens: TokenStream, sink: &Sink) -> (Links, TokenStream) {
    if !is_linked(&tokens) {
        return (Links::default(), tokens);
    }
    let parser = |input: ParseStream<'_>| {
        input.parse::<Token![@]>()?;
        input.call(Ident::parse_any)?;
        let content;
        syn::bracketed!(content in input);
        let links = parse_links(&content, sink)?;
        Ok((links, input.parse()?))
    };
    match parser.parse2(tokens) {
        Ok(split) => split,
        Err(error) => {
            sink.report(error.into());
            (Links { open: true, ..Links::default() }, TokenStream::new())
        }
    }
}

fn parse_links(input: ParseStream<'_>, sink: &Sink) -> syn::Result<Links> {
    let mut links = Links { open: input.parse::<Option<Token![*]>>()?.is_some(), ..Links::default() };
    while !input.is_empty() {
        let local = input.call(Ident::parse_any)?;
        let content;
        syn::braced!(content in input);
        let answer: TokenStream = content.parse()?;
        let answer = parse_answer.parse2(locate(answer, local.span()));
        let read = answer.and_then(|definitions| definitions.into_iter().map(read_definition).collect());
        let id = match read {
            Ok(definitions) => {
                let definitions: Vec<Linked> = definitions;
                let root = definitions.first().map(|root| root.definition.id.clone());
                for linked in definitions {
                    if !links.definitions.iter().any(|known| known.definition.id == linked.definition.id) {
                        links.definitions.push(linked);
                    }
                }
                root
            }
            Err(_) => {
                let at = (local.span(), local.span());
                let message = format!("`{local}` was compiled by another version of `fuse!`");
                let help = "depend on one version of `fuse-gpu` in all crates that share functions";
                sink.report(Diagnostic::new(Code::ImportVersion, at, message).help(help));
                None
            }
        };
        links.imports.push(Import { local, id });
    }
    Ok(links)
}

fn read_definition(definition: Definition) -> syn::Result<Linked> {
    match read_function(definition.function.clone()) {
        Some((function, sound)) if sound || !definition.sound => Ok(Linked { definition, function }),
        _ => Err(syn::Error::new(definition.id.span(), "a function that cannot be read")),
    }
}

/// Gives a definition's tokens the hygiene of a name in the calling block. Positions stay, so that rustc shows the
/// definition.
fn locate(tokens: TokenStream, hygiene: Span) -> TokenStream {
    let relocate = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            let mut located = Group::new(group.delimiter(), locate(group.stream(), hygiene));
            located.set_span(group.span());
            token = TokenTree::Group(located);
        }
        token.set_span(token.span().resolved_at(hygiene));
        token
    };
    tokens.into_iter().map(relocate).collect()
}

/// Parses `1 id sound {…} {…} id sound {…} {…}`.
fn parse_answer(input: ParseStream<'_>) -> syn::Result<Vec<Definition>> {
    let format: syn::LitInt = input.parse()?;
    if format.base10_parse::<u32>()? != FORMAT {
        return Err(input.error("another format"));
    }
    let mut definitions = vec![];
    while !input.is_empty() {
        definitions.push(parse_definition(input)?);
    }
    Ok(definitions)
}

fn parse_definition(input: ParseStream<'_>) -> syn::Result<Definition> {
    let id = input.call(Ident::parse_any)?;
    let sound = input.call(Ident::parse_any)? == "sound";
    let (names, function);
    syn::braced!(names in input);
    syn::braced!(function in input);
    let mut callees = BTreeMap::new();
    while !names.is_empty() {
        let name = names.call(Ident::parse_any)?;
        names.parse::<Token![=]>()?;
        callees.insert(name.to_string(), names.call(Ident::parse_any)?);
        names.parse::<Option<Token![,]>>()?;
    }
    Ok(Definition { id, sound, callees, function: function.parse()? })
}
