//! Parser of blocks: imports, constants and functions.
//!
//! An unreadable function is reported, skipped, and remembered by name, so that its calls are not reported. A readable
//! signature survives any body.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};

use super::{
    ast,
    constants::{self, Replaced},
    depth::{brackets_nest_too_deeply, too_deep},
    function::parse_function,
    imports::{Links, split_links},
};
use crate::diag::{Code, Diagnostic, Sink};

pub(crate) struct Parsed {
    pub(crate) module: ast::Module,
    /// Positions in the block, counting unreadable functions.
    pub(crate) positions: Vec<usize>,
    pub(crate) broken: Vec<String>,
    pub(crate) links: Links,
    pub(crate) constants: TokenStream,
}

impl Parsed {
    fn new() -> Self {
        let module = ast::Module { functions: Vec::new() };
        Self {
            module,
            positions: Vec::new(),
            broken: Vec::new(),
            links: Links::default(),
            constants: TokenStream::new(),
        }
    }
}

pub(crate) fn parse_items(tokens: TokenStream, sink: &Sink) -> Parsed {
    if brackets_nest_too_deeply(tokens.clone()) {
        sink.report(too_deep((Span::call_site(), Span::call_site())));
        return Parsed::new();
    }
    let (links, tokens) = split_links(tokens, sink);
    let Replaced { constants, rest } = constants::replace(tokens, sink);
    if rest.is_empty() && !constants.is_empty() {
        return Parsed { links, constants, ..Parsed::new() };
    }
    let parser = |input: ParseStream<'_>| Ok(parse_functions(input, sink));
    let parsed = match parser.parse2(rest) {
        Ok(parsed) => parsed,
        Err(error) => {
            sink.report(error.into());
            Parsed::new()
        }
    };
    Parsed { links, constants, ..parsed }
}

pub(crate) fn parse_imports(tokens: TokenStream, sink: &Sink) -> (Parsed, TokenStream) {
    let (links, tokens) = split_links(tokens, sink);
    (Parsed { links, ..Parsed::new() }, tokens)
}

fn parse_functions(input: ParseStream<'_>, sink: &Sink) -> Parsed {
    let mut parsed = Parsed::new();
    if input.is_empty() {
        let at = Span::call_site();
        sink.report(
            Diagnostic::new(Code::EmptyBlock, (at, at), "`fuse!` was given nothing to compile")
                .help("write a function, or an expression such as `fuse!(relu(x + y))`"),
        );
    }
    for position in 0.. {
        if input.is_empty() {
            break;
        }
        sink.enter(position);
        let mut name = None;
        match parse_function(input, sink, &mut name) {
            Ok(Some(function)) => {
                parsed.module.functions.push(function);
                parsed.positions.push(position);
            }
            Ok(None) => parsed.broken.extend(name.map(|name| name.to_string())),
            Err(diagnostic) => {
                sink.report(diagnostic);
                parsed.broken.extend(name.map(|name| name.to_string()));
                skip_function(input);
            }
        }
    }
    parsed
}

fn skip_function(input: ParseStream<'_>) {
    while let Ok(token) = input.parse::<TokenTree>() {
        if matches!(&token, TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Brace) {
            return;
        }
    }
}
