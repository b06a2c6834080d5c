//! Expansion of `fuse!`, from tokens to tokens, outside of rustc.
//!
//! ```text
//! tokens -> chain (imports) -> front (graphs, headers, diagnostics) -> compile (artifacts) -> items | expression -> tokens
//!                 \-> the macro of an imported function \-> fallback, where something is wrong
//! ```
//!
//! Diagnostics become `compile_error!`s; a panic of the compiler is caught and reported like them.

mod artifact;
mod chain;
mod companion;
mod diagnostics;
mod dialects;
mod differentiable;
mod dump;
mod expression;
mod fallback;
mod items;
mod lines;
mod signature;

use std::{
    any::Any,
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use fuse_artifact::{DType, Function};
use fuse_compiler::{
    compile::{self, Compiled, Options},
    diag::{Code, Diagnostic},
    front::{self, Instance, ItemFunction},
    graph::Graph,
    validate::Valid,
};
use proc_macro2::{Span, TokenStream};
use quote::quote;

use differentiable::{Derivative, Derivatives};
use items::Item;
use signature::Signature;

pub(crate) struct Context {
    pub(crate) runtime: TokenStream,
    pub(crate) callback: TokenStream,
    /// Position of the call, as a file name.
    pub(crate) place: String,
    /// Unique to this call of the macro.
    pub(crate) unique: String,
    pub(crate) dump: Option<PathBuf>,
    pub(crate) valid: &'static Valid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Items,
    Expression,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Expression => "expression",
        }
    }
}

/// Block or expression with all its imports.
pub(crate) struct Source {
    tokens: TokenStream,
    form: Form,
    /// As [`Context::place`].
    place: String,
}

pub(crate) fn expand(tokens: TokenStream, context: &Context) -> TokenStream {
    if let Some(texts) = lines::whole_texts(&tokens) {
        return texts;
    }
    let form = if front::is_items(&tokens) { Form::Items } else { Form::Expression };
    match guard(|| chain::next(tokens, context)) {
        Ok(chain::Next::Ask(tokens)) => tokens,
        Ok(chain::Next::Compile(source)) => compile(source, context),
        Err(message) => failure(form, &message),
    }
}

fn compile(source: Source, context: &Context) -> TokenStream {
    let form = source.form;
    let expanded = guard(|| match form {
        Form::Items => expand_items(source, context),
        Form::Expression => expand_expression(source, context),
    });
    expanded.unwrap_or_else(|message| failure(form, &message))
}

fn failure(form: Form, message: &str) -> TokenStream {
    let diagnostic = internal(Span::call_site(), message);
    match form {
        Form::Items => diagnostics::items(&[diagnostic]),
        Form::Expression => diagnostics::expression(&[diagnostic], &[]),
    }
}

fn expand_items(source: Source, context: &Context) -> TokenStream {
    let text = source.tokens.to_string();
    let items = front::items(source.tokens);
    let mut diagnostics: Vec<Diagnostic> = items.diagnostics.iter().cloned().collect();
    let mut names = BTreeSet::new();
    // Duplicates were reported. One is enough for the callers.
    let functions: Vec<(usize, &ItemFunction)> =
        items.functions.iter().enumerate().filter(|(_, one)| names.insert(one.header.name.to_string())).collect();
    let graphs: Vec<Vec<Compilation<'_>>> = functions.iter().map(|(_, function)| compilations(function)).collect();
    let mut compiled = compile_parallel(&graphs.iter().flatten().collect::<Vec<_>>(), context.valid).into_iter();
    let mut expanded = TokenStream::new();
    for ((index, function), graphs) in functions.into_iter().zip(&graphs) {
        let definitions = items.definitions(index, |name| companion::id(name, context));
        // The module names the macro.
        expanded.extend(companion::expand(&function.header, &definitions, context));
        let compiled = finished(graphs, &mut compiled, function.header.name.span(), context);
        expanded.extend(expand_function(function, compiled, &text, context, &mut diagnostics));
    }
    let diagnostics = diagnostics::items(&diagnostics);
    let rebuild = (!items.functions.is_empty()).then(rebuild_on_dump);
    let constants = &items.constants;
    quote!(#constants #expanded #diagnostics #rebuild)
}

fn expand_function(
    function: &ItemFunction,
    compiled: Result<Vec<Function>, Diagnostic>,
    source: &str,
    context: &Context,
    diagnostics: &mut Vec<Diagnostic>,
) -> TokenStream {
    let signature = Signature { header: &function.header, runtime: &context.runtime };
    let import = companion::import(&function.header, context);
    let derived = function.header.derived();
    match compiled.map(|compiled| parts(function, compiled)) {
        Ok((mut instances, mut derivatives)) if !instances.is_empty() => {
            if function.header.explain {
                let derivatives = derivatives.iter().flat_map(Derivatives::functions);
                dump::explain(instances.iter().map(|(_, function)| function).chain(derivatives));
            }
            let own = instances.iter_mut().map(|(_, function)| function);
            let lines = lines::share(own.chain(derivatives.iter_mut().flat_map(Derivatives::functions_mut)), context);
            let derived = derived.as_ref().zip(derivatives).map(|(derived, compiled)| {
                Derivative { own: signature, derived, compiled, source, has_lines: true }.expand()
            });
            let (path, derived) = (function.header.name.to_string(), derived.unwrap_or_default());
            Item { signature, instances, lines, source, import: &import, path, derived }.expand()
        }
        Ok(_) => fallback::expand(signature, derived.as_ref(), &import),
        Err(diagnostic) => {
            diagnostics.push(diagnostic);
            fallback::expand(signature, derived.as_ref(), &import)
        }
    }
}

type Instances<'a> = Vec<(&'a [DType], Function)>;

/// A graph for each choice of dtypes, then those of `#[differentiable]`.
fn compilations(function: &ItemFunction) -> Vec<Compilation<'_>> {
    let own = instances(&function.instances, &function.header.name.to_string());
    own.into_iter().chain(Derivatives::graphs(function)).collect()
}

fn parts(function: &ItemFunction, mut compiled: Vec<Function>) -> (Instances<'_>, Option<Derivatives<'_>>) {
    let derived = compiled.split_off(function.instances.len());
    let own = function.instances.iter().map(|instance| &instance.dtypes[..]).zip(compiled).collect();
    (own, Derivatives::of(function, derived))
}

fn expand_expression(source: Source, context: &Context) -> TokenStream {
    let mut expression = front::expression(source.tokens);
    let mut diagnostics: Vec<Diagnostic> = std::mem::take(&mut expression.diagnostics).into_iter().collect();
    let graphs = instances(&expression.instances, &source.place);
    let mut compiled = compile_parallel(&graphs.iter().collect::<Vec<_>>(), context.valid).into_iter();
    let mut instances: Instances<'_> = match finished(&graphs, &mut compiled, Span::call_site(), context) {
        Ok(compiled) => graphs.iter().map(|graph| graph.dtypes).zip(compiled).collect(),
        Err(diagnostic) => {
            diagnostics.push(diagnostic);
            vec![]
        }
    };
    let warnings = diagnostics::items(&diagnostics);
    if instances.is_empty() {
        return diagnostics::expression(&diagnostics, &expression.variables);
    }
    let rebuild = rebuild_on_dump();
    let lines = lines::share(instances.iter_mut().map(|(_, function)| function), context);
    let launch = expression::expand(&expression, &instances, &context.runtime);
    quote!({ #warnings #rebuild #lines #launch })
}

pub(crate) struct Compilation<'a> {
    name: String,
    dtypes: &'a [DType],
    graph: &'a Graph,
}

fn instances<'a>(instances: &'a [Instance], name: &str) -> Vec<Compilation<'a>> {
    let of = |one: &'a Instance| Compilation { name: name.to_owned(), dtypes: &one.dtypes, graph: &one.graph };
    instances.iter().map(of).collect()
}

/// Next artifacts of `compiled`, or their first failure, reported at `place`. Failures are never the user's.
fn finished(
    graphs: &[Compilation<'_>],
    compiled: &mut impl Iterator<Item = Result<Compiled, String>>,
    place: Span,
    context: &Context,
) -> Result<Vec<Function>, Diagnostic> {
    let finish = |(graph, compiled): (&Compilation<'_>, Result<Compiled, String>)| {
        let compiled = compiled.map_err(|message| internal(place, &message))?;
        if let Some(directory) = &context.dump {
            let name = dump::instance_name(&graph.name, graph.dtypes);
            dump::write(directory, &name, &compiled.dump).map_err(|error| {
                let message = format!("`FUSE_DUMP_DIR`: cannot write to `{}`: {error}", directory.display());
                Diagnostic::new(Code::InternalError, (place, place), message)
            })?;
        }
        Ok(compiled.function)
    };
    // All, even after a failure: the following ones belong to the next function.
    let compiled: Vec<_> = compiled.take(graphs.len()).collect();
    graphs.iter().zip(compiled).map(finish).collect()
}

fn compile_parallel(graphs: &[&Compilation<'_>], valid: &'static Valid) -> Vec<Result<Compiled, String>> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(graphs.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut compiled = vec![];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = graphs.get(number) else { return compiled };
            let result = guard(|| compile_graph(one.graph, valid));
            compiled.push((number, result.and_then(|compiled| compiled)));
        }
    };
    let mut compiled: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    compiled.sort_by_key(|(number, _)| *number);
    compiled.into_iter().map(|(_, result)| result).collect()
}

fn compile_graph(graph: &Graph, valid: &'static Valid) -> Result<Compiled, String> {
    let options = Options { valid: Some(valid), ..Options::default() };
    let compiled = compile::compile(graph, &options).map_err(|error| error.to_string())?;
    dialects::note(graph, &compiled)?;
    Ok(compiled)
}

fn internal(place: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code::InternalError, (place, place), message)
        .help("this is a mistake of `fuse!`, not of yours; please report it with the code that shows it")
}

/// Converts a panic of the compiler to a message.
pub(crate) fn guard<T>(stage: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(stage)).map_err(|payload| panicked(&*payload))
}

fn panicked(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    format!("internal error: the compiler panicked: {}", text.unwrap_or("no message"))
}

/// Makes Cargo rebuild the crate when `FUSE_DUMP_DIR` changes.
fn rebuild_on_dump() -> TokenStream {
    quote!(
        const _: ::core::option::Option<&str> = ::core::option_env!("FUSE_DUMP_DIR");
    )
}
