//! Lowering of the ast to a graph: checks names, dtypes and shapes, makes broadcasts explicit, inlines calls.
//!
//! Input: functions (`functions`) or an expression (`padded`). Output: a [`Graph`] per choice of dtypes, or reports to
//! the [`Sink`].
//!
//! Literals wait for a dtype and `index` for a shape: see [`value::Lazy`]. Users of a reported [`Value::Poison`] report
//! nothing.

pub(crate) mod calls;
pub(crate) mod catalog;
mod compose;
mod contract;
mod definitions;
mod differentiable;
mod dims;
mod expression;
mod functions;
mod gather;
mod gradient;
mod inline;
mod join;
mod library;
mod normalize;
mod options;
pub(crate) mod output;
mod padded;
mod pointwise;
pub(crate) mod program;
mod quantized;
mod random;
mod ranks;
mod reduce;
mod resolve;
mod shape;
mod type_text;
mod update;
pub(crate) mod value;
mod vocabulary;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use fuse_artifact::{Check, DType, Relation, Size, Symbol, SymbolSource};

pub(crate) use functions::{check_imports, lower_items, program_of};
pub(crate) use padded::lower_expression;
pub(crate) use ranks::Ranks;

use crate::{
    arena::Arena,
    diag::{Code, Diagnostic, Sink, SourceRange},
    grad::Marks,
    graph::{
        FunctionOptions, Graph, Node, NodeId, Op, Param, TensorType,
        infer::{Literals, literals_of_function},
    },
    span::SpanTable,
    syntax::ast::{self, Element},
};
use output::RankExpr;
use program::Program;
use value::{Operand, Value};

/// Nodes of a graph. Bounds build time and repeated inlining.
///
/// A training step of a language model with 24 layers has 15,700. All walks are iterative, so the stack sets no limit.
const MAX_NODES: usize = 16_384;

/// Operations in one lazy value, whose walks are recursive.
const MAX_WAITING: usize = 1024;

pub(crate) struct Lowering<'a> {
    sink: &'a Sink,
    spans: &'a mut SpanTable,
    program: &'a Program<'a>,
    /// Index of the function being lowered.
    caller: usize,
    graph: Graph,
    place: SourceRange,
    origins: Vec<(String, SourceRange)>,
    padded: bool,
    /// Visible rank of each node.
    ranks: Vec<RankExpr>,
    /// For the caller's type checker.
    requirements: Vec<RankExpr>,
    weights: BTreeSet<NodeId>,
    /// Packed axis of each parameter whose use determined it.
    packed: BTreeMap<u16, usize>,
    marks: Marks,
    differentiated: BTreeSet<String>,
    /// Nodes bound to these names are never merged.
    kept: BTreeSet<NodeId>,
    too_large: bool,
    inlined: bool,
    updates: Vec<update::Update>,
    literals: Rc<Literals>,
    /// Inferred literals by function and dtypes of generic parameters.
    inferred: BTreeMap<(usize, Vec<DType>), Rc<Literals>>,
    /// Reductions that dropped axes, with the spelling that keeps them.
    reduced: BTreeMap<NodeId, String>,
    expression: Option<&'a ast::Block>,
}

#[derive(Clone)]
pub(crate) struct Scope {
    variables: BTreeMap<String, Rc<Binding>>,
    dims: Rc<BTreeMap<String, Size>>,
    dtypes: Rc<[DType]>,
    warn: bool,
}

pub(crate) struct Binding {
    value: Value,
    range: SourceRange,
    used: Cell<bool>,
}

impl Binding {
    fn new(value: Value, range: SourceRange) -> Rc<Self> {
        Rc::new(Self { value, range, used: Cell::new(false) })
    }
}

impl Scope {
    /// Binds a name, and hides paths that start with it.
    fn bind(&mut self, name: &syn::Ident, binding: Rc<Binding>) {
        let name = name.to_string();
        for start in [format!("{name}."), format!("{name}[")] {
            let behind = self.variables.range(start.clone()..).map(|(path, _)| path);
            let hidden: Vec<String> = behind.take_while(|path| path.starts_with(&start)).cloned().collect();
            hidden.iter().for_each(|path| _ = self.variables.remove(path));
        }
        self.variables.insert(name, binding);
    }

    fn dtype_of(&self, element: &Element) -> DType {
        match element {
            Element::DType(dtype) => *dtype,
            Element::Generic(index) => self.dtypes[*index],
            Element::Quantized(_) => DType::F32,
        }
    }
}

impl<'a> Lowering<'a> {
    fn new(
        (name, place): (String, SourceRange),
        caller: usize,
        options: FunctionOptions,
        sink: &'a Sink,
        spans: &'a mut SpanTable,
        program: &'a Program<'a>,
    ) -> Self {
        let graph = Graph {
            name,
            params: Vec::new(),
            symbols: Vec::new(),
            checks: Vec::new(),
            nodes: Arena::default(),
            results: Vec::new(),
            updates: Vec::new(),
            gradients: Vec::new(),
            statements: vec![],
            options,
        };
        Self {
            sink,
            spans,
            program,
            caller,
            graph,
            place,
            origins: vec![],
            padded: false,
            ranks: vec![],
            requirements: vec![],
            weights: BTreeSet::new(),
            packed: BTreeMap::new(),
            marks: Marks::default(),
            differentiated: BTreeSet::new(),
            kept: BTreeSet::new(),
            too_large: false,
            inlined: false,
            updates: Vec::new(),
            literals: Rc::default(),
            inferred: BTreeMap::new(),
            reduced: BTreeMap::new(),
            expression: None,
        }
    }

    fn literals_of(&mut self, index: usize, dtypes: &[DType]) -> Rc<Literals> {
        let program = self.program;
        let found = self.inferred.entry((index, dtypes.to_vec()));
        found.or_insert_with(|| Rc::new(literals_of_function(index, dtypes, program))).clone()
    }

    fn poison(&self, diagnostic: Diagnostic) -> Value {
        self.sink.report(diagnostic);
        Value::Poison
    }

    fn keep_if_differentiated(&mut self, name: &syn::Ident, value: &Value) {
        if let Value::Node(node) = value
            && self.differentiated.contains(&name.to_string())
        {
            self.kept.insert(*node);
        }
    }

    fn push(&mut self, op: Op, dtype: DType, shape: Vec<Size>, at: SourceRange) -> NodeId {
        if self.graph.nodes.len() >= MAX_NODES {
            self.report_too_large();
        }
        let rank = match op.operands().first() {
            Some(first) => self.ranks[first.index()].clone(),
            None => RankExpr::Known(0),
        };
        let span = self.spans.add(at);
        self.ranks.push(rank);
        self.graph.nodes.push(Node { op, ty: TensorType::new(dtype, shape), span })
    }

    fn report_too_large(&mut self) {
        let message = format!("`{}` grows beyond {MAX_NODES} operations", self.graph.name);
        let help = match self.inlined {
            true => "calls are inlined; call fewer functions, or launch parts of it separately",
            false => "cut it into functions that are launched one after the other",
        };
        self.report_once(Diagnostic::new(Code::TooLarge, self.place, message).help(help));
    }

    fn report_too_many_waiting(&mut self, waiting: usize) {
        let message = format!(
            "`{}` computes {waiting} operations of numbers and coordinates alone in a row, at most {MAX_WAITING}",
            self.graph.name
        );
        let help = "compute numbers before the launch, and pass them as parameters";
        self.report_once(Diagnostic::new(Code::TooLarge, self.place, message).help(help));
    }

    fn report_once(&mut self, diagnostic: Diagnostic) {
        if !self.too_large {
            self.too_large = true;
            self.sink.report(diagnostic);
        }
    }

    fn dtype(&self, node: NodeId) -> DType {
        self.graph.nodes[node].ty.dtype
    }

    fn shape(&self, node: NodeId) -> &[Size] {
        &self.graph.nodes[node].ty.shape
    }

    fn add_param(&mut self, name: String, ty: TensorType, scalar: bool, at: SourceRange) -> NodeId {
        let index = self.graph.params.len() as u16;
        let op = if scalar { Op::Scalar(index) } else { Op::Input(index) };
        let padded = self.padded && !scalar;
        self.graph.params.push(Param { name, ty: ty.clone(), scalar, padded, quantized: None });
        self.push(op, ty.dtype, ty.shape, at)
    }

    fn add_symbol(&mut self, name: String, source: SymbolSource, origin: (String, SourceRange)) -> Size {
        let id = self.graph.symbols.len() as u16;
        self.graph.symbols.push(Symbol { name: name.into(), source });
        self.origins.push(origin);
        Size::symbol(id)
    }

    fn check(&mut self, relation: Relation, left: Size, right: Size, what: impl Into<String>) {
        let check = Check { relation, left, right, what: what.into().into() };
        let holds = match relation {
            Relation::Equal => check.left == check.right,
            Relation::AtMost => dims::always_at_most(&check.left, &check.right),
        };
        if !holds && !self.graph.checks.contains(&check) {
            self.graph.checks.push(check);
        }
    }

    fn size_text(&self, size: &Size) -> String {
        size.display(|id| self.graph.symbols[usize::from(id)].name.as_ref()).to_string()
    }

    fn shape_text(&self, shape: &[Size]) -> String {
        shape.iter().map(|size| self.size_text(size)).collect::<Vec<_>>().join(", ")
    }

    fn type_text(&self, node: NodeId) -> String {
        let ty = &self.graph.nodes[node].ty;
        if self.padded {
            return format!("{} tensor", ty.dtype);
        }
        format!("{}[{}]", ty.dtype, self.shape_text(&ty.shape))
    }

    fn label(&self, node: NodeId) -> &str {
        match self.graph.nodes[node].op {
            Op::Input(index) | Op::Dequantize(index) | Op::Scalar(index) => &self.graph.params[usize::from(index)].name,
            _ => "x",
        }
    }

    fn operand_label(&self, operand: &Operand) -> &str {
        match &operand.value {
            Value::Node(node) => self.label(*node),
            _ => "x",
        }
    }

    fn with_origins(&self, mut diagnostic: Diagnostic, sizes: &[&Size]) -> Diagnostic {
        let mut symbols: Vec<u16> =
            sizes.iter().flat_map(|size| size.terms.iter()).flat_map(|term| term.symbols.iter().copied()).collect();
        symbols.dedup();
        for symbol in symbols {
            if let Some((text, range)) = self.origins.get(usize::from(symbol)) {
                diagnostic = diagnostic.note(*range, text.clone());
            }
        }
        diagnostic
    }

    fn single(&self, operand: &Operand) -> Option<Operand> {
        match &operand.value {
            Value::Poison => None,
            Value::Tuple(values) => {
                self.sink.report(
                    Diagnostic::new(
                        Code::TupleAsValue,
                        operand.range,
                        format!("expected one value, found {}", values.len()),
                    )
                    .help("bind them first: `let (a, b) = …;`"),
                );
                None
            }
            Value::Node(_) | Value::Lazy(_) => Some(operand.clone()),
        }
    }
}

pub(crate) fn axes_text(rank: usize) -> String {
    if rank == 1 { "1 axis".into() } else { format!("{rank} axes") }
}

pub(crate) fn ident_range(ident: &syn::Ident) -> SourceRange {
    (ident.span(), ident.span())
}
