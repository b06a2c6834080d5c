//! Functions: checks signatures, then lowers bodies, callees first.

use std::{cell::Cell, collections::BTreeMap, rc::Rc};

use fuse_artifact::{DType, Size};
use syn::Ident;

use super::{
    Binding, Lowering, Program, Scope,
    calls::is_callee,
    catalog,
    definitions::{definitions, is_size, names_in},
    differentiable::check_differentiable,
    dims::size_of_dim,
    ident_range,
    output::{Derivatives, Instance},
    quantized,
    type_text::type_text,
    value::{Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, Sink},
    graph::{Graph, NodeId, TensorType, verify::verify},
    span::SpanTable,
    syntax::{
        Parsed,
        ast::{Function, Type},
        imports::Linked,
    },
};

const FLOATS: [DType; 2] = [DType::F32, DType::F16];

pub(crate) fn program_of(parsed: &Parsed) -> Program<'_> {
    let own = parsed.module.functions.len();
    let definitions = &parsed.links.definitions;
    let by_id = |id: &Ident| definitions.iter().position(|linked| linked.definition.id == *id).map(|i| own + i);
    let imports: BTreeMap<String, usize> = parsed
        .links
        .imports
        .iter()
        .rev()
        .filter_map(|import| Some((import.local.to_string(), by_id(import.id.as_ref()?)?)))
        .collect();
    let mut block = imports;
    for (index, function) in parsed.module.functions.iter().enumerate().rev() {
        block.insert(function.name.to_string(), index);
    }
    let imported = definitions.iter().map(|Linked { definition, .. }| {
        definition.callees.iter().filter_map(|(name, id)| Some((name.clone(), by_id(id)?))).collect()
    });
    let reported = parsed.links.imports.iter().filter(|import| import.id.is_none());
    Program {
        functions: parsed.module.functions.iter().chain(definitions.iter().map(|linked| &linked.function)).collect(),
        own,
        names: std::iter::repeat_n(block.clone(), own).chain(imported).chain([block]).collect(),
        sound: (0..own).map(|_| false).chain(definitions.iter().map(|linked| linked.definition.sound)).collect(),
        broken: parsed.broken.iter().cloned().chain(reported.map(|import| import.local.to_string())).collect(),
        open: parsed.links.open,
    }
}

pub(crate) fn lower_items(
    parsed: &Parsed,
    program: &mut Program<'_>,
    sink: &Sink,
    spans: &mut SpanTable,
) -> Vec<Vec<Instance>> {
    let functions = &parsed.module.functions;
    let enter = |index: usize| sink.enter(parsed.positions[index]);
    check_imports(parsed, sink);
    let mut sound = Vec::new();
    for index in 0..functions.len() {
        enter(index);
        let before = sink.errors();
        check_signature(functions, index, sink);
        sound.push(sink.errors() == before);
    }
    let order = callees_first(program, |cycle| {
        enter(cycle[0]);
        sink.report(circle(cycle, functions));
        cycle.iter().for_each(|&index| sound[index] = false);
    });
    let mut lowered: Vec<Vec<Instance>> = functions.iter().map(|_| Vec::new()).collect();
    for index in order {
        enter(index);
        if sound[index] {
            lowered[index] = lower_function(index, program, sink, spans);
            program.sound[index] = !lowered[index].is_empty();
        }
    }
    lowered
}

pub(crate) fn check_imports(parsed: &Parsed, sink: &Sink) {
    let imports = &parsed.links.imports;
    for (position, import) in imports.iter().enumerate() {
        let (name, at) = (&import.local, ident_range(&import.local));
        let collision = |message: String| Diagnostic::new(Code::ImportCollision, at, message);
        let help = format!("give it another name: `use … as my_{name};`");
        if let Some(function) = parsed.module.functions.iter().find(|function| function.name == *name) {
            let note = "the function of the block is here";
            let diagnostic = collision(format!("`{name}` is imported and defined in the same block"));
            sink.report(diagnostic.note(ident_range(&function.name), note).help(&help));
        } else if let Some(earlier) = imports[..position].iter().find(|other| other.local == *name) {
            let diagnostic = collision(format!("`{name}` is imported twice"));
            sink.report(diagnostic.note(ident_range(&earlier.local), "the first is here").help(&help));
        } else if catalog::is_reserved(&name.to_string()) {
            sink.report(collision(format!("`{name}` is the name of an operation")).help(&help));
        }
    }
}

fn lower_function(index: usize, program: &Program<'_>, sink: &Sink, spans: &mut SpanTable) -> Vec<Instance> {
    let function = program.functions[index];
    let mut instances = Vec::new();
    for dtypes in choices(function.generics.len()) {
        let (first, before) = (instances.is_empty(), sink.len());
        let choice = choice_text(function, &dtypes);
        match lower_instance(index, &dtypes, first, program, sink, spans) {
            Some((graph, derivatives)) if sink.errors_here() == 0 => {
                instances.push(Instance { dtypes, graph, derivatives });
            }
            _ => {
                if !first {
                    sink.annotate(before, ident_range(&function.name), &choice);
                }
                return Vec::new();
            }
        }
    }
    instances
}

fn choice_text(function: &Function, dtypes: &[DType]) -> String {
    let parts: Vec<String> =
        function.generics.iter().zip(dtypes).map(|(name, dtype)| format!("`{name}` is `{dtype}`")).collect();
    format!("this is about the kernel in which {}", parts.join(" and "))
}

fn choices(generics: usize) -> Vec<Vec<DType>> {
    (0..generics).fold(vec![vec![]], |choices, _| {
        choices
            .iter()
            .flat_map(|choice| FLOATS.map(|dtype| choice.iter().copied().chain([dtype]).collect::<Vec<_>>()))
            .collect()
    })
}

fn lower_instance(
    index: usize,
    dtypes: &[DType],
    warn: bool,
    program: &Program<'_>,
    sink: &Sink,
    spans: &mut SpanTable,
) -> Option<(Graph, Option<Derivatives>)> {
    let function = program.functions[index];
    let (name, place) = (function.name.to_string(), ident_range(&function.name));
    let mut lowering = Lowering::new((name, place), index, function.options.clone(), sink, spans, program);
    let mut scope = Scope { variables: BTreeMap::new(), dims: Rc::default(), dtypes: dtypes.into(), warn };
    lowering.bind_params(function, &mut scope);
    lowering.literals = lowering.literals_of(index, dtypes);
    let value = lowering.block_of(Some(function), &function.body, &scope);
    let value = Operand { value, range: function.body.value.span };
    lowering.graph.results = lowering.results(function, &value, &scope)?;
    lowering.finish_updates(function)?;
    lowering.pack_params();
    if sink.errors_here() == 0 {
        if warn {
            warn_unused_params(function, &scope, sink);
        }
        report_violations(&lowering.graph, function.name.span(), sink);
    }
    let derivatives = if sink.errors_here() == 0 { lowering.derivatives(function) } else { None };
    for graph in derivatives.iter().flat_map(Derivatives::graphs) {
        report_violations(graph, function.name.span(), sink);
    }
    Some((lowering.graph, derivatives))
}

pub(super) fn report_violations(graph: &Graph, at: proc_macro2::Span, sink: &Sink) {
    for violation in verify(graph) {
        sink.report(
            Diagnostic::new(Code::InternalError, (at, at), format!("internal error of `fuse!`: {violation}"))
                .help("please report this with the function's text"),
        );
    }
}

fn warn_unused_params(function: &Function, scope: &Scope, sink: &Sink) {
    for param in &function.params {
        let name = param.name.to_string();
        let unused = scope.variables.get(&name).is_some_and(|binding| !binding.used.get());
        let defines = dims_of(&param.ty).iter().any(|dim| defined_only_by(function, &param.name, dim));
        if unused && !defines && !name.starts_with('_') {
            sink.report(
                Diagnostic::new(Code::UnusedParameter, ident_range(&param.name), format!("unused parameter `{name}`"))
                    .help(format!("remove it, or name it `_{name}` to say that this is meant")),
            );
        }
    }
}

/// True if only this parameter defines a result's dimension: it counts as used.
fn defined_only_by(function: &Function, name: &Ident, dim: &Ident) -> bool {
    let elsewhere = function.params.iter().any(|param| param.name != *name && dims_of(&param.ty).contains(&dim));
    let in_result = function.results.iter().any(|result| dims_of(result).contains(&dim));
    in_result && !elsewhere
}

fn dims_of(ty: &Type) -> Vec<&Ident> {
    ty.dims.iter().flatten().flat_map(names_in).collect()
}

impl Lowering<'_> {
    fn bind_params(&mut self, function: &Function, scope: &mut Scope) {
        scope.dims = Rc::new(self.symbols_of(function));
        for param in &function.params {
            let ty = declared(&param.ty, scope);
            let at = ident_range(&param.name);
            let name = param.name.to_string();
            let node = match param.ty.packing() {
                Some(packing) => self.add_quantized(name, packing, ty, at),
                None => self.add_param(name, ty, param.ty.dims.is_none(), at),
            };
            let binding = Binding::new(Value::Node(node), at);
            binding.used.set(is_size(param, function));
            scope.variables.insert(param.name.to_string(), binding);
        }
    }

    pub(super) fn results(&mut self, function: &Function, value: &Operand, scope: &Scope) -> Option<Vec<NodeId>> {
        let values = match &value.value {
            Value::Poison => return None,
            Value::Tuple(values) => values.clone(),
            single => vec![single.clone()],
        };
        if values.len() != function.results.len() {
            let declared = function.results.iter().map(|ty| type_text(ty, function)).collect::<Vec<_>>().join(", ");
            let expected = function.results.len();
            let plural = if expected == 1 { "result" } else { "results" };
            let message = format!("expected {expected} {plural}, found {}", values.len());
            let diagnostic = Diagnostic::new(Code::ResultCount, value.range, message)
                .note(ident_range(&function.name), format!("`{}` declares `{declared}`", function.name));
            self.sink.report(match values.len() {
                1 => diagnostic.help("several results are written as a tuple: `(a, b)`"),
                _ => diagnostic.help("declare all results: `-> (f32[N], f32[N])`"),
            });
            return None;
        }
        let nodes: Vec<Option<NodeId>> = values
            .into_iter()
            .zip(&function.results)
            .map(|(value_, result)| {
                let operand = Operand { value: value_, range: value.range };
                self.result(&operand, (result, None), scope, function)
            })
            .collect();
        nodes.into_iter().collect()
    }

    pub(super) fn result(
        &mut self,
        operand: &Operand,
        (result, updated): (&Type, Option<&Ident>),
        scope: &Scope,
        function: &Function,
    ) -> Option<NodeId> {
        let operand = self.single(operand)?;
        if self.refuses_quantized("a result", std::slice::from_ref(&operand)) {
            return None;
        }
        let want = declared(result, scope);
        let node = match &operand.value {
            Value::Lazy(lazy) => {
                let fits = super::pointwise::join(lazy.dtype, super::value::LazyDType::Known(want.dtype)).is_some();
                let dtype = if fits { want.dtype } else { lazy.dtype.default_dtype() };
                let shape = if lazy.indexed { self.pad(want.shape.clone()) } else { vec![] };
                self.resolve(lazy, dtype, &shape)?
            }
            _ => self.force(&operand)?,
        };
        if self.padded
            && let Some(node) = self.padded_result(node, &want, &function.name.to_string())
        {
            return Some(node);
        }
        let found = &self.graph.nodes[node].ty;
        if *found == want {
            return Some(node);
        }
        let found_text = self.type_text(node);
        let (code, help) = if found.dtype != want.dtype {
            (Code::ResultDType, format!("convert the result with `… as {}`, or declare `{found_text}`", want.dtype))
        } else if found.rank() != want.rank() {
            (Code::ResultRank, format!("declare `{found_text}`, or change the shape of the value"))
        } else {
            (Code::ResultShape, format!("declare `{found_text}`, or change the shape of the value"))
        };
        let expected = format!("{}[{}]", want.dtype, self.shape_text(&want.shape));
        let what = updated.map_or("a result".to_owned(), |name| format!("a value for `{name}`"));
        let message = format!("expected {what} of type `{expected}`, found `{found_text}`");
        let declared_at = (result.span, result.span);
        let diagnostic = Diagnostic::new(code, operand.range, message)
            .note(declared_at, format!("`{}` declares `{}`", function.name, type_text(result, function)));
        self.sink.report(diagnostic.help(help));
        None
    }
}

pub(super) fn declared(ty: &Type, scope: &Scope) -> TensorType {
    let shape = ty.dims.iter().flatten().map(|dim| size_of_dim(dim, &scope.dims).unwrap_or(Size::ONE)).collect();
    TensorType::new(scope.dtype_of(&ty.element), shape)
}

fn check_signature(functions: &[Function], index: usize, sink: &Sink) {
    let function = &functions[index];
    let name = function.name.to_string();
    let at = ident_range(&function.name);
    if catalog::is_reserved(&name) {
        sink.report(
            Diagnostic::new(Code::ReservedName, at, format!("`{name}` is the name of an operation"))
                .help(format!("rename the function, for example `my_{name}`")),
        );
    }
    if let Some(earlier) = functions[..index].iter().find(|other| other.name == name) {
        sink.report(
            Diagnostic::new(Code::DuplicateFunction, at, format!("function `{name}` is defined twice"))
                .note(ident_range(&earlier.name), "the first is here")
                .help("rename one of them"),
        );
    }
    if !function.params.iter().any(|param| param.ty.dims.is_some()) {
        sink.report(
            Diagnostic::new(Code::NoTensorParameter, at, format!("`{name}` has no tensor parameter"))
                .help("a launch runs on the device of its tensors; take at least one, such as `x: f32[N]`"),
        );
    }
    check_differentiable(function, sink);
    quantized::check_types(function).into_iter().for_each(|diagnostic| sink.report(diagnostic));
    for (generic, ident) in function.generics.iter().enumerate() {
        if !function.uses_generic(generic) {
            sink.report(
                Diagnostic::new(Code::UnusedGeneric, ident_range(ident), format!("no parameter uses `{ident}`"))
                    .help(format!("remove it, or use it: `x: {ident}[N]`")),
            );
        }
    }
    check_dims(function, sink);
}

fn check_dims(function: &Function, sink: &Sink) {
    let bound: BTreeMap<String, Size> =
        definitions(function).iter().map(|definition| (definition.name.to_string(), Size::ONE)).collect();
    let types = function.params.iter().map(|param| &param.ty).chain(&function.results);
    for dim in types.flat_map(|ty| ty.dims.iter().flatten()) {
        if let Err(diagnostic) = size_of_dim(dim, &bound) {
            sink.report(diagnostic);
        }
    }
}

/// Callees first. Passes call cycles to `found`. Imported functions call none of the block's own.
fn callees_first(program: &Program<'_>, mut found: impl FnMut(&[usize])) -> Vec<usize> {
    let calls: Vec<Vec<usize>> = (0..program.own)
        .map(|index| {
            let (function, names) = (program.functions[index], &program.names[index]);
            let mut callees: Vec<usize> = names
                .iter()
                .filter(|&(name, &callee)| callee < program.own && is_callee(function, name))
                .map(|(_, &callee)| callee)
                .collect();
            callees.sort_unstable();
            callees
        })
        .collect();
    let walk = Walk { calls: &calls, state: vec![Cell::new(FunctionState::New); program.own] };
    let mut order = Vec::new();
    for start in 0..program.own {
        walk.visit(start, &mut Vec::new(), &mut order, &mut found);
    }
    order
}

#[derive(Clone, Copy, PartialEq)]
enum FunctionState {
    New,
    Open,
    Done,
}

struct Walk<'a> {
    calls: &'a [Vec<usize>],
    state: Vec<Cell<FunctionState>>,
}

impl Walk<'_> {
    fn visit(&self, at: usize, path: &mut Vec<usize>, order: &mut Vec<usize>, found: &mut dyn FnMut(&[usize])) {
        match self.state[at].get() {
            FunctionState::Done => return,
            FunctionState::Open => {
                let start = path.iter().position(|&index| index == at).unwrap_or(0);
                return found(&path[start..]);
            }
            FunctionState::New => self.state[at].set(FunctionState::Open),
        }
        path.push(at);
        for &callee in &self.calls[at] {
            self.visit(callee, path, order, found);
        }
        path.pop();
        self.state[at].set(FunctionState::Done);
        order.push(at);
    }
}

fn circle(cycle: &[usize], functions: &[Function]) -> Diagnostic {
    let first = &functions[cycle[0]];
    let names: Vec<String> = cycle.iter().chain(&cycle[..1]).map(|&i| format!("`{}`", functions[i].name)).collect();
    let at = ident_range(&first.name);
    let diagnostic = match cycle {
        [_] => Diagnostic::new(Code::Recursion, at, format!("`{}` calls itself", first.name)),
        _ => Diagnostic::new(
            Code::Recursion,
            at,
            format!("functions call each other in a circle: {}", names.join(" → ")),
        ),
    };
    diagnostic.help("calls are inlined, so they must end; repeat the operations instead")
}
