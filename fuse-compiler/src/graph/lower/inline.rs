//! Inlines calls of functions.

use std::{collections::BTreeMap, rc::Rc};

use fuse_artifact::{DType, Relation, Size};

use super::{
    Binding, Lowering, Scope, axes_text,
    calls::add_differentiated,
    dims::{argument_range, size_of_dim},
    ident_range,
    output::RankExpr,
    pointwise::join,
    type_text::type_text,
    value::{LazyDType, Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::NodeId,
    syntax::ast::{Argument, Call, Dim, Element, Function, Param, Type},
};

impl<'a> Lowering<'a> {
    pub(super) fn call_function(&mut self, index: usize, call: &Call, at: SourceRange, scope: &Scope) -> Value {
        let function = self.program.functions[index];
        if let Some(param) = function.params.iter().find(|param| param.updated.is_some()) {
            let message = format!("`{}` updates `{}` in place, which a call cannot", function.name, param.name);
            let diagnostic = Diagnostic::new(Code::UpdateTarget, ident_range(&call.name), message);
            return self
                .poison(diagnostic.help("have a function return the new value, and assign it: `*w = step(w, …);`"));
        }
        let arguments = self.function_arguments(function, call, scope);
        if !self.program.sound[index] || self.too_large {
            return Value::Poison;
        }
        let Some(arguments) = arguments else { return Value::Poison };
        let Some(callee) = self.bind_arguments(function, &arguments, call) else { return Value::Poison };
        self.inlined = true;
        let before = self.sink.len();
        let caller = std::mem::replace(&mut self.caller, index);
        let literals = self.literals_of(index, &callee.dtypes);
        let literals = std::mem::replace(&mut self.literals, literals);
        let value = Operand { value: self.block(&function.body, &callee), range: at };
        self.caller = caller;
        self.literals = literals;
        if index >= self.program.own && (caller < self.program.own || caller == self.program.functions.len()) {
            // The definition is sound, so this call causes all errors.
            self.sink.relocate(before, at, &format!("in the definition of `{}`", function.name));
        }
        match self.results(function, &value, &callee) {
            Some(nodes) if function.tuple => Value::Tuple(nodes.into_iter().map(Value::Node).collect()),
            Some(nodes) => nodes.first().map_or(Value::Poison, |node| Value::Node(*node)),
            None => Value::Poison,
        }
    }

    fn function_arguments(&mut self, function: &Function, call: &Call, scope: &Scope) -> Option<Vec<Operand>> {
        let mut operands = Vec::new();
        for argument in &call.arguments {
            match argument {
                Argument::Expr(expr) => operands.push(self.operand(expr, scope)),
                Argument::List(..) => {
                    self.sink.report(
                        Diagnostic::new(
                            Code::UnexpectedList,
                            argument_range(argument),
                            "expected a value, found a list",
                        )
                        .help(usage(function)),
                    );
                }
            }
        }
        let at = ident_range(&call.name);
        if let Some((option, _)) = call.options.first() {
            let message = format!("function `{}` has no named arguments", function.name);
            self.sink.report(Diagnostic::new(Code::UnknownOption, ident_range(option), message).help(usage(function)));
            return None;
        }
        let (found, expected) = (call.arguments.len(), function.params.len());
        if found != expected {
            let plural = if expected == 1 { "argument" } else { "arguments" };
            let message = format!("`{}` takes {expected} {plural}, found {found}", function.name);
            self.sink.report(
                Diagnostic::new(Code::ArgumentCount, at, message)
                    .note(ident_range(&function.name), format!("`{}` is defined here", function.name))
                    .help(usage(function)),
            );
            return None;
        }
        (operands.len() == expected).then_some(operands)
    }

    fn bind_arguments(&mut self, function: &'a Function, arguments: &[Operand], call: &Call) -> Option<Scope> {
        let dtypes = self.bind_generics(function, arguments)?;
        let mut callee = Scope { variables: BTreeMap::new(), dims: Rc::default(), dtypes: dtypes.into(), warn: false };
        let mut nodes = Vec::new();
        for (argument, param) in arguments.iter().zip(&function.params) {
            nodes.push(self.argument_node(argument, param, &callee, function));
        }
        let nodes: Vec<NodeId> = nodes.into_iter().collect::<Option<_>>()?;
        let extents: Vec<Vec<Size>> = nodes
            .iter()
            .zip(&function.params)
            .map(|(node, param)| self.last_axes(*node, rank_of(&param.ty)).to_vec())
            .collect();
        let dims = self.dims_of_call(function, (arguments, &nodes), &extents)?;
        let before = self.sink.errors();
        for ((node, param), argument) in nodes.iter().zip(&function.params).zip(arguments) {
            self.check_argument_shape(*node, param, argument, &dims, function);
        }
        if self.sink.errors() > before {
            return None;
        }
        callee.dims = Rc::new(dims);
        add_differentiated(&function.body, &mut self.differentiated);
        for (node, param) in nodes.iter().zip(&function.params) {
            self.keep_if_differentiated(&param.name, &Value::Node(*node));
            let binding = Binding::new(Value::Node(*node), ident_range(&call.name));
            callee.variables.insert(param.name.to_string(), binding);
        }
        Some(callee)
    }

    /// Generic dtypes from the first arguments that have one.
    fn bind_generics(&self, function: &Function, arguments: &[Operand]) -> Option<Vec<DType>> {
        let mut dtypes = Vec::new();
        for generic in 0..function.generics.len() {
            let known: Option<(DType, &Operand)> =
                arguments.iter().zip(&function.params).find_map(|(argument, param)| {
                    let uses = matches!(param.ty.element, Element::Generic(index) if index == generic);
                    match self.dtype_of(argument) {
                        LazyDType::Known(dtype) if uses && !matches!(argument.value, Value::Poison) => {
                            Some((dtype, argument))
                        }
                        _ => None,
                    }
                });
            if let Some((dtype, argument)) = known.filter(|(dtype, _)| !dtype.is_float()) {
                let name = &function.generics[generic];
                let message = format!("`{}` takes `f32` or `f16` for `{name}: Float`, found `{dtype}`", function.name);
                self.sink.report(
                    Diagnostic::new(Code::GenericArgument, argument.range, message)
                        .help(format!("convert the argument: `{} as f32`", self.operand_label(argument))),
                );
                return None;
            }
            dtypes.push(known.map_or(DType::F32, |(dtype, _)| dtype));
        }
        Some(dtypes)
    }

    fn argument_node(
        &mut self,
        argument: &Operand,
        param: &Param,
        callee: &Scope,
        function: &Function,
    ) -> Option<NodeId> {
        let argument = self.single(argument)?;
        self.check_packing(&argument, param, function)?;
        let want = callee.dtype_of(&param.ty.element);
        let dtype = self.dtype_of(&argument);
        if join(dtype, LazyDType::Known(want)).is_none() {
            let found = match dtype {
                LazyDType::Known(dtype) => format!("`{dtype}`"),
                LazyDType::Number(_) | LazyDType::Float(_) => "a number".into(),
            };
            let message = format!("argument `{}` of `{}`: expected `{want}`, found {found}", param.name, function.name);
            self.sink.report(
                Diagnostic::new(Code::DTypeMismatch, argument.range, message)
                    .note(ident_range(&param.name), format!("declared `{}`", type_text(&param.ty, function)))
                    .help(format!("convert it: `{} as {want}`", self.operand_label(&argument))),
            );
            return None;
        }
        let node = match &argument.value {
            Value::Lazy(lazy) if !lazy.indexed => self.resolve(lazy, want, &[])?,
            _ => self.force(&argument)?,
        };
        let expected = rank_of(&param.ty);
        let rank = match self.rank_of(node) {
            RankExpr::Known(rank) if self.padded => *rank,
            _ if self.padded => {
                let what = format!("axes of argument `{}` of `{}`, which takes {expected}", param.name, function.name);
                self.require_visible_rank(node, expected, what);
                return Some(node);
            }
            _ => self.shape(node).len(),
        };
        if rank != expected {
            let message = format!(
                "argument `{}` of `{}`: expected `{}` with {}, found `{}` with {}",
                param.name,
                function.name,
                type_text(&param.ty, function),
                axes_text(expected),
                self.type_text(node),
                axes_text(rank),
            );
            self.sink.report(
                Diagnostic::new(Code::RankMismatch, argument.range, message)
                    .note(ident_range(&param.name), format!("declared `{}`", type_text(&param.ty, function)))
                    .help("change its shape with `reshape`, `unsqueeze` or `broadcast_to`"),
            );
            return None;
        }
        Some(node)
    }

    fn check_argument_shape(
        &mut self,
        node: NodeId,
        param: &Param,
        argument: &Operand,
        dims: &BTreeMap<String, Size>,
        function: &Function,
    ) {
        let shape = self.last_axes(node, rank_of(&param.ty)).to_vec();
        for (dim, size) in param.ty.dims.iter().flatten().zip(&shape) {
            let Ok(want) = size_of_dim(dim, dims) else { continue };
            if want == *size {
                continue;
            }
            let divided = matches!(dim, Dim::Product(_));
            if (self.padded || divided) && (want.as_constant().is_none() || size.as_constant().is_none()) {
                let what =
                    format!("argument `{}: {}` of `{}`", param.name, type_text(&param.ty, function), function.name);
                self.check(Relation::Equal, size.clone(), want, what);
                continue;
            }
            let (expected, found) = (self.size_text(&want), self.size_text(size));
            let message = format!(
                "argument `{}: {}` of `{}`: expected dimension `{expected}`, found `{found}`",
                param.name,
                type_text(&param.ty, function),
                function.name,
            );
            let diagnostic = Diagnostic::new(Code::DimensionMismatch, argument.range, message);
            let diagnostic = self.with_origins(diagnostic, &[&want, size]);
            self.sink.report(diagnostic.help("dimensions of one name must be equal in all arguments of a call"));
        }
    }
}

pub(super) fn rank_of(ty: &Type) -> usize {
    ty.dims.as_ref().map_or(0, Vec::len)
}

fn usage(function: &Function) -> String {
    let params: Vec<String> = function.params.iter().map(|param| param.name.to_string()).collect();
    format!("write `{}({})`", function.name, params.join(", "))
}
