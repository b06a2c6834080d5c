//! The front end's face to the macro: tokens in, checked graphs and wrapper headers out.

use std::collections::BTreeMap;

use fuse_artifact::DType;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::{
    diag::{Code, Diagnostic, Diagnostics, Sink, range_of_stream},
    grad::pullback::Pullback,
    graph::{
        Graph,
        infer::{Inferred, infer},
        lower::{Program, Ranks, check_imports, lower_expression, lower_items, program_of},
    },
    span::SpanTable,
    syntax::{
        Converter, ast,
        imports::{Definition, Uses, split_uses},
        parse_body, parse_imports, parse_items,
    },
    webnn::{self, Missing},
};

/// The most independent dtypes of an expression: each multiplies the number of kernels.
const MAX_CLASSES: usize = 2;

/// What a `fuse! { fn … }` block compiles to, before any choice about kernels.
pub struct Items {
    /// The functions of the block, in order. A function with errors has a header and no instances.
    pub functions: Vec<ItemFunction>,
    /// The functions of other blocks that it imports, and those that they call.
    pub imported: Vec<Definition>,
    /// The constants of the block, as items of Rust.
    pub constants: TokenStream,
    /// Everything wrong with the block.
    pub diagnostics: Diagnostics,
    /// What the spans of the graphs stand for.
    pub spans: SpanTable,
}

/// One function of a block.
pub struct ItemFunction {
    /// The parsed function: attributes, docs, visibility, name, generics, parameters and results.
    pub header: ast::Function,
    /// One graph per choice of dtypes for the generic parameters (one in all for a function without).
    pub instances: Vec<Instance>,
    /// The functions that its body calls, by the names that it calls them.
    pub callees: Vec<(String, Callee)>,
}

/// A function that another one calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// One of the block: an index into [`Items::functions`].
    Own(usize),
    /// One of another block: an index into [`Items::imported`].
    Imported(usize),
}

/// The `use` items at the head of a block, and what is wrong with them.
pub struct Head {
    /// The imports and what follows them.
    pub uses: Uses,
    /// Whether an expression follows, rather than functions.
    pub is_expression: bool,
    /// Everything wrong with the imports themselves.
    pub diagnostics: Diagnostics,
}

/// One graph of a generic function or expression.
pub struct Instance {
    /// The dtype of each generic parameter or dtype class, in order.
    pub dtypes: Vec<DType>,
    /// The graph.
    pub graph: Graph,
    /// What `#[differentiable]` adds to it.
    pub derivatives: Option<Derivatives>,
}

/// The graphs that `#[differentiable]` adds to a function's.
pub struct Derivatives {
    /// Gradients of cotangents.
    pub vjp: Graph,
    /// The value and its gradients, where the function's only result is one float.
    pub value_and_grad: Option<Graph>,
    /// The function with what is kept, and gradients of cotangents and what was kept.
    pub pullback: Pullback,
}

impl Derivatives {
    /// All of them.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        let Self { vjp, value_and_grad, pullback: Pullback { forward, backward, kept: _ } } = self;
        [Some(vjp), value_and_grad.as_ref(), Some(forward), Some(backward)].into_iter().flatten()
    }
}

/// What a `fuse!(expr)` compiles to, before any choice about kernels.
pub struct Expression {
    /// The free variables, in order of first use; they are the graph's parameters, all padded tensors of rank 6.
    pub variables: Vec<Variable>,
    /// The dtype classes: sets of variables that must have one dtype, with what the operations allow.
    pub classes: Vec<DTypeClass>,
    /// The results: dtype and rank of each. More than one if the expression is a tuple.
    pub results: Vec<ExpressionResult>,
    /// Ranks that the caller's type checker must accept, besides those of the results.
    pub requirements: Vec<RankExpr>,
    /// One graph per choice of dtypes for the classes.
    pub instances: Vec<Instance>,
    /// Everything wrong with the expression.
    pub diagnostics: Diagnostics,
    /// What the spans of the graphs stand for.
    pub spans: SpanTable,
}

/// A free variable of an expression, or a path that starts with one.
pub struct Variable {
    /// The variable, or the path to a field of one.
    pub place: ast::HostOperand,
    /// Its dtype.
    pub dtype: ExpressionDType,
}

/// The dtype of a variable or result of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionDType {
    /// Fixed by the expression, for example `bool` for a condition.
    Known(DType),
    /// That of a class (index into [`Expression::classes`]), chosen by the caller's types.
    Class(usize),
}

/// What the operations on a class of variables allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DTypeClass {
    /// `f32` or `f16`.
    Float,
    /// `i32` or `u32`.
    Integer,
    /// `f32`, `f16` or `i32`.
    Signed,
    /// `f32`, `f16`, `i32` or `u32`.
    Number,
    /// `f32`, `i32` or `u32`: an integer meets it that `f16` does not hold.
    Wide,
    /// `f32` or `i32`: such a negative integer.
    SignedWide,
    /// `f32` or `u32`: one that `i32` does not hold either.
    UnsignedWide,
    /// Any dtype.
    Any,
}

/// The type of a result of an expression.
pub struct ExpressionResult {
    /// Its dtype.
    pub dtype: ExpressionDType,
    /// Its rank, as a computation on the ranks of the variables that the caller's type checker performs.
    pub rank: RankExpr,
}

/// A rank in terms of the ranks of an expression's variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankExpr {
    /// A rank fixed by the expression (0 for literals; the length of a `reshape`'s or `permute`'s list).
    Known(usize),
    /// The rank of a variable (index into [`Expression::variables`]).
    Of(usize),
    /// The larger of two ranks (NumPy broadcasting).
    Broadcast(Box<RankExpr>, Box<RankExpr>),
    /// The rank of a matrix product: both at least 2, the larger of the two.
    Matmul(Box<RankExpr>, Box<RankExpr>),
    /// The rank, which must be at least this (`transpose`, negative axes).
    AtLeast(usize, Box<RankExpr>),
    /// The rank, which must be this (`permute`, vectors).
    Exactly(usize, Box<RankExpr>),
    /// Two ranks that must be equal (`concat`).
    Same(Box<RankExpr>, Box<RankExpr>),
    /// One more, at most 6 (`unsqueeze`).
    Plus1(Box<RankExpr>),
    /// One less, at least 0 (`squeeze`, reductions).
    Minus1(Box<RankExpr>),
}

/// Whether the tokens of a `fuse!` are a block of functions, rather than an expression.
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

/// The `use` items at the head of a block or of an expression in braces; `None` if there are none. A block with imports
/// compiles when it is linked.
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
        // Formatters take the content of parentheses for arguments, and write commas between them.
        let (at, message) = (range_of_stream(uses.rest.clone()), "an expression with imports stands in braces");
        let diagnostic = Diagnostic::new(Code::BadImport, at, message);
        sink.report(diagnostic.help("write `fuse!({ use path::function; function(x) })`"));
    }
    let diagnostics = sink.finish();
    Some(Head { uses: uses?, is_expression, diagnostics })
}

/// Reads and checks a block of functions, which may be linked.
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

/// The instances of a function; none if it is to run in WebNN and cannot.
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
    /// What another block needs to call the function with this index: its definition, then those of all functions that
    /// it calls, directly or not. `id` gives the functions of this block, by name, their ids.
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

    /// The functions that it calls; none if it is broken, because nobody will look into it.
    fn sound_callees(&self) -> &[(String, Callee)] {
        if self.is_sound() { &self.callees } else { &[] }
    }
}

/// Reads and checks an expression.
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

/// The content of the braces, if that is all there is: `fuse!({ let a = …; a })`.
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

/// One graph per choice of dtypes; nothing but reports once a choice is wrong.
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
            // Warnings of the first choice repeat.
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

#[cfg(test)]
mod tests;
