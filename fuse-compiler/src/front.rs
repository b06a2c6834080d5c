//! Front end: from tokens to checked graphs and wrapper headers.

use std::collections::BTreeMap;

use fuse_artifact::DType;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

pub use crate::graph::lower::output::{Callee, DTypeClass, Derivatives, ExpressionDType, Instance, RankExpr};
use crate::{
    diag::{Code, Diagnostic, Diagnostics, Sink, range_of_stream},
    graph::{
        infer::{Inferred, infer},
        lower::{Ranks, check_imports, lower_expression, lower_items, program::Program, program_of},
    },
    span::SpanTable,
    syntax::{
        Converter, ast,
        imports::{Definition, Uses, split_uses},
        parse_body, parse_imports, parse_items,
    },
    webnn::{self, Missing},
};

/// Independent dtypes of an expression. Each multiplies the number of kernels.
const MAX_CLASSES: usize = 2;

/// Output for a `fuse! { fn … }` block.
pub struct Items {
    /// Functions of the block. One with errors has a header and no instances.
    pub functions: Vec<ItemFunction>,
    /// Imported functions, with those that they call.
    pub imported: Vec<Definition>,
    /// Constants as Rust items.
    pub constants: TokenStream,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// Source positions of the graphs.
    pub spans: SpanTable,
}

/// Function of a block.
pub struct ItemFunction {
    /// Parsed function.
    pub header: ast::Function,
    /// One graph per choice of generic dtypes.
    pub instances: Vec<Instance>,
    /// Called functions by local name.
    pub callees: Vec<(String, Callee)>,
}

/// `use` items at the head of a block.
pub struct Head {
    /// Imports and the tokens after them.
    pub uses: Uses,
    /// True if an expression follows, false if functions do.
    pub is_expression: bool,
    /// Errors and warnings about the imports.
    pub diagnostics: Diagnostics,
}

/// Output for `fuse!(expr)`.
pub struct Expression {
    /// Free variables by first use: the graph's parameters, padded to rank 6.
    pub variables: Vec<Variable>,
    /// Sets of variables that share one dtype.
    pub classes: Vec<DTypeClass>,
    /// Type of each result; a tuple has several.
    pub results: Vec<ExpressionResult>,
    /// Rank requirements besides those of the results.
    pub requirements: Vec<RankExpr>,
    /// One graph per choice of class dtypes.
    pub instances: Vec<Instance>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// Source positions of the graphs.
    pub spans: SpanTable,
}

/// Free variable, or a path that starts with one.
pub struct Variable {
    /// Variable or path.
    pub place: ast::HostOperand,
    /// Dtype.
    pub dtype: ExpressionDType,
}

/// Result type.
pub struct ExpressionResult {
    /// Dtype.
    pub dtype: ExpressionDType,
    /// Rank, computed by the caller's type checker.
    pub rank: RankExpr,
}

/// True for a block of functions, false for an expression.
pub fn is_items(tokens: &TokenStream) -> bool {
    const STARTS: [&str; 11] =
        ["fn", "pub", "const", "async", "unsafe", "extern", "mod", "use", "struct", "impl", "static"];
    match tokens.clone().into_iter().next() {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() == '#',
        Some(TokenTree::Ident(ident)) => STARTS.contains(&ident.to_string().as_str()),
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => false,
    }
}

/// Reads the `use` items at the head of a block or of an expression in braces.
///
/// A block with imports compiles after it is linked.
pub fn head(tokens: TokenStream) -> Option<Head> {
    let sink = Sink::new();
    let content = braces_content(&tokens);
    let braced = content.is_some();
    let uses = split_uses(content.unwrap_or(tokens), &sink);
    let is_expression = uses.as_ref().is_some_and(|uses| braced || !is_items(&uses.rest));
    if let Some(uses) = &uses
        && is_expression
        && !braced
    {
        // Formatters insert commas in parentheses.
        let (at, message) = (range_of_stream(uses.rest.clone()), "an expression with imports stands in braces");
        let diagnostic = Diagnostic::new(Code::BadImport, at, message);
        sink.report(diagnostic.help("write `fuse!({ use path::function; function(x) })`"));
    }
    let diagnostics = sink.finish();
    Some(Head { uses: uses?, is_expression, diagnostics })
}

/// Parses and checks a block, linked or not.
pub fn items(tokens: TokenStream) -> Items {
    let sink = Sink::new();
    let mut spans = SpanTable::default();
    let parsed = parse_items(tokens, &sink);
    let mut program = program_of(&parsed);
    let instances = lower_items(&parsed, &mut program, &sink, &mut spans);
    let callees: Vec<_> = (0..program.own).map(|index| program.callees(index)).collect();
    let functions = parsed
        .module
        .functions
        .into_iter()
        .zip(instances)
        .zip(callees)
        .map(|((header, instances), callees)| {
            let instances = allowed_in_webnn(instances, &spans, &sink);
            ItemFunction { header, instances, callees }
        })
        .collect();
    let imported = parsed.links.definitions.into_iter().map(|linked| linked.definition).collect();
    Items { functions, imported, constants: parsed.constants, diagnostics: sink.finish(), spans }
}

fn allowed_in_webnn(instances: Vec<Instance>, spans: &SpanTable, sink: &Sink) -> Vec<Instance> {
    let asks = |instance: &&Instance| instance.graph.options.webnn;
    let missing = instances.iter().filter(asks).find_map(|instance| webnn::lower(&instance.graph).err());
    let Some(missing) = missing else { return instances };
    for Missing { span, what } in missing {
        let message = format!("`#[webnn]` function with {what}");
        let help = "remove `#[webnn]`, or compute this in a function of its own, without it";
        sink.report(Diagnostic::new(Code::NotInWebNn, spans.range(span), message).help(help));
    }
    vec![]
}

impl Items {
    /// Definition of a function and of all its direct and indirect callees.
    ///
    /// Another block needs all of them. `id` maps a local name to its id.
    pub fn definitions(&self, index: usize, id: impl Fn(&syn::Ident) -> syn::Ident) -> Vec<Definition> {
        let mut own: Vec<usize> = vec![index];
        let mut imported: Vec<syn::Ident> = vec![];
        let mut definitions = vec![];
        while let Some(function) = own.get(definitions.len()).map(|&index| &self.functions[index]) {
            let mut callees = BTreeMap::new();
            for (name, callee) in function.sound_callees() {
                let callee_id = match *callee {
                    Callee::Own(index) => {
                        if !own.contains(&index) {
                            own.push(index);
                        }
                        id(&self.functions[index].header.name)
                    }
                    Callee::Imported(index) => {
                        let id = self.imported[index].id.clone();
                        imported.push(id.clone());
                        id
                    }
                };
                callees.insert(name.clone(), callee_id);
            }
            definitions.push(Definition {
                id: id(&function.header.name),
                sound: function.is_sound(),
                callees,
                function: function.header.tokens.clone(),
            });
        }
        self.add_imported(imported, definitions)
    }

    fn add_imported(&self, mut pending: Vec<syn::Ident>, mut definitions: Vec<Definition>) -> Vec<Definition> {
        let mut next = 0;
        while let Some(id) = pending.get(next).cloned() {
            next += 1;
            let known = definitions.iter().any(|definition| definition.id == id);
            if let Some(definition) = self.imported.iter().find(|definition| definition.id == id && !known) {
                pending.extend(definition.callees.values().cloned());
                definitions.push(definition.clone());
            }
        }
        definitions
    }
}

impl ItemFunction {
    fn is_sound(&self) -> bool {
        !self.instances.is_empty()
    }

    /// No callees for a broken function: importers never read its body.
    fn sound_callees(&self) -> &[(String, Callee)] {
        if self.is_sound() { &self.callees } else { &[] }
    }
}

/// Parses and checks an expression.
pub fn expression(tokens: TokenStream) -> Expression {
    let sink = Sink::new();
    let mut spans = SpanTable::default();
    let (parsed, rest) = parse_imports(tokens, &sink);
    let program = program_of(&parsed);
    let range = range_of_stream(rest.clone());
    let body = parse_body(within_braces(rest), range, &Converter::of_expression(&sink));
    check_imports(&parsed, &sink);
    let inferred = infer(&body, &program);
    check_expression(&body, &inferred, &sink);
    let (instances, ranks) = match sink.errors() {
        0 => instances(&body, &inferred, &program, &sink, &mut spans),
        _ => Default::default(),
    };
    let results =
        inferred.results.iter().zip(ranks.results).map(|(dtype, rank)| ExpressionResult { dtype: *dtype, rank });
    Expression {
        results: results.collect(),
        requirements: ranks.requirements,
        variables: inferred.variables.into_iter().map(|(place, dtype)| Variable { place, dtype }).collect(),
        classes: inferred.classes,
        instances,
        diagnostics: sink.finish(),
        spans,
    }
}

/// Content of `fuse!({ let a = …; a })`, else the tokens.
fn within_braces(tokens: TokenStream) -> TokenStream {
    braces_content(&tokens).unwrap_or(tokens)
}

fn braces_content(tokens: &TokenStream) -> Option<TokenStream> {
    let mut all = tokens.clone().into_iter();
    match (all.next(), all.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}

fn check_expression(body: &ast::Block, inferred: &Inferred, sink: &Sink) {
    if sink.errors() > 0 {
        return;
    }
    if inferred.variables.is_empty() {
        sink.report(
            Diagnostic::new(Code::NoVariable, body.value.span, "the expression has no tensor")
                .help("a launch runs on the device of its tensors; use at least one variable"),
        );
    }
    if let Some(extra) = inferred.witnesses.get(MAX_CLASSES) {
        let names = inferred.witnesses.iter().map(|place| format!("`{}`", place.text)).collect::<Vec<_>>().join(", ");
        sink.report(
            Diagnostic::new(
                Code::TooManyDTypes,
                extra.span,
                format!("the dtypes of {names} are independent of each other"),
            )
            .help(format!(
                "an expression has at most {MAX_CLASSES} independent dtypes; write a `fn` with declared types"
            )),
        );
    }
}

fn instances(
    body: &ast::Block,
    inferred: &Inferred,
    program: &Program<'_>,
    sink: &Sink,
    spans: &mut SpanTable,
) -> (Vec<Instance>, Ranks) {
    let mut instances = Vec::new();
    let mut ranks = Ranks::default();
    for dtypes in choices(&inferred.classes) {
        let variables: Vec<_> = inferred
            .variables
            .iter()
            .map(|(place, dtype)| match dtype {
                ExpressionDType::Known(dtype) => (place.clone(), *dtype),
                ExpressionDType::Class(class) => (place.clone(), dtypes[*class]),
            })
            .collect();
        let before = sink.len();
        let literals = inferred.literals(&dtypes);
        let (graph, found) = lower_expression(body, &variables, literals, program, sink, spans);
        if sink.errors() > 0 {
            return Default::default();
        }
        if !instances.is_empty() {
            sink.truncate(before);
        }
        ranks = found;
        instances.push(Instance { dtypes, graph, derivatives: None });
    }
    (instances, ranks)
}

fn choices(classes: &[DTypeClass]) -> Vec<Vec<DType>> {
    classes.iter().fold(vec![vec![]], |choices, class| {
        let extend = |choice: &Vec<DType>| {
            let choice = choice.clone();
            class.dtypes().iter().map(move |dtype| choice.iter().copied().chain([*dtype]).collect::<Vec<_>>())
        };
        choices.iter().flat_map(extend).collect()
    })
}
