//! Bodies: blocks, names, literals, operators, calls of operations.

use std::rc::Rc;

use super::{
    Binding, Lowering, Scope,
    calls::add_differentiated,
    catalog::{self, Kind, Operation, Pointwise},
    dims::argument_range,
    ident_range,
    options::Site,
    value::{Lazy, LazyDType, LazyKind, Operand, Value},
    vocabulary,
};
use crate::{
    diag::{Code, Diagnostic, SourceRange, suggest},
    graph::{CompareOp, Lowered, NodeId},
    operations::{BinaryOp, UnaryOp},
    syntax::{
        ast::{
            Argument, Block, Call, Element, Expr, ExprKind, Function, HostOperand, Literal, Statement, Target,
            UnaryOperator,
        },
        paths,
    },
};

/// In characters.
const MAX_EXAMPLE: usize = 100;

impl<'a> Lowering<'a> {
    pub(super) fn block(&mut self, block: &Block, scope: &Scope) -> Value {
        self.block_of(None, block, scope)
    }

    pub(super) fn block_of(&mut self, function: Option<&Function>, block: &Block, scope: &Scope) -> Value {
        let mut scope = scope.clone();
        let mut bound = Vec::new();
        add_differentiated(block, &mut self.differentiated);
        for Statement { target, value } in &block.statements {
            if let Target::Parameters(names) = target {
                self.check_first_update(names);
            }
            let (operand, range) = (self.operand(value, &scope), value.span);
            if function.is_some() {
                let node = if let Value::Node(node) = operand.value { Some(node) } else { None };
                self.graph.statements.push(Lowered { end: self.graph.nodes.len(), value: node });
            }
            let names = match target {
                Target::Names(names) => names,
                Target::Parameters(names) => {
                    let parts = self.destructure(names.len(), operand);
                    for (position, part) in parts.into_iter().enumerate() {
                        let part = Operand { value: part, range };
                        self.update(function, (names, position), (&part, value), &scope);
                    }
                    continue;
                }
            };
            for (name, value) in names.iter().zip(self.destructure(names.len(), operand)) {
                self.keep_if_differentiated(name, &value);
                let binding = Binding::new(value, ident_range(name));
                bound.push((name.to_string(), binding.clone()));
                scope.bind(name, binding);
            }
        }
        let value = self.expr(&block.value, &scope);
        if scope.warn && self.sink.errors_here() == 0 {
            self.warn_unused(&bound);
        }
        value
    }

    fn warn_unused(&self, bound: &[(String, Rc<Binding>)]) {
        for (name, binding) in bound.iter().filter(|(name, binding)| !binding.used.get() && !name.starts_with('_')) {
            self.sink.report(
                Diagnostic::new(Code::UnusedLet, binding.range, format!("unused binding `{name}`"))
                    .help(format!("remove it, or name it `_{name}` to say that this is meant")),
            );
        }
    }

    fn destructure(&self, names: usize, operand: Operand) -> Vec<Value> {
        let found = match operand.value {
            Value::Poison => return vec![Value::Poison; names],
            Value::Tuple(values) if values.len() == names => return values,
            Value::Tuple(values) => values.len(),
            value if names == 1 => return vec![value],
            _ => 1,
        };
        let plural = if names == 1 { "value" } else { "values" };
        self.sink.report(
            Diagnostic::new(Code::ResultCount, operand.range, format!("expected {names} {plural}, found {found}"))
                .help(match found {
                    1 => "write `let name = …;`".to_string(),
                    _ => format!("write `let ({}) = …;`", ["a", "b", "c", "d"][..found.min(4)].join(", ")),
                }),
        );
        vec![Value::Poison; names]
    }

    pub(super) fn operand(&mut self, expr: &Expr, scope: &Scope) -> Operand {
        Operand { value: self.expr(expr, scope), range: expr.span }
    }

    pub(super) fn expr(&mut self, expr: &Expr, scope: &Scope) -> Value {
        match &expr.kind {
            ExprKind::Error => Value::Poison,
            ExprKind::Name(name) => self.name(name, expr, scope),
            ExprKind::HostOperand(place) => self.place(place, scope),
            ExprKind::Literal(literal) => Lazy::inferred(literal.clone(), self.literals.of(expr), expr.span),
            ExprKind::Unary(operator, x) => {
                let op = match operator {
                    UnaryOperator::Neg => UnaryOp::Neg,
                    UnaryOperator::Not => UnaryOp::Not,
                };
                let operands = [self.operand(x, scope)];
                self.operator(Pointwise::Unary(op), &operands, expr.span)
            }
            ExprKind::Binary(first, others) => {
                let mut left = self.operand(first, scope);
                for (operator, right) in others {
                    let range = (first.span.0, right.span.1);
                    let operands = [left, self.operand(right, scope)];
                    left = Operand { value: self.operator((*operator).into(), &operands, range), range };
                }
                left.value
            }
            ExprKind::Cast(x, element, _) => {
                if let Element::Quantized(packing) = element {
                    let message = format!("a conversion cannot quantize, found `as {}`", packing.name());
                    return self.poison(
                        Diagnostic::new(Code::QuantizedType, expr.span, message)
                            .help("`QTensor::quantize` packs values, before or after a launch"),
                    );
                }
                let dtype = scope.dtype_of(element);
                if self.is_dimension(x, scope) {
                    return self.dimension_number(x, dtype, expr.span, scope);
                }
                let operand = self.operand(x, scope);
                if self.refuses_quantized("a conversion", std::slice::from_ref(&operand)) {
                    return Value::Poison;
                }
                self.cast(&operand, dtype, expr.span)
            }
            ExprKind::Tuple(values) => Value::Tuple(values.iter().map(|value| self.expr(value, scope)).collect()),
            ExprKind::Block(block) => self.block(block, scope),
            ExprKind::Call(call) => self.call(call, expr.span, scope),
            ExprKind::Method(call) => self.method(call),
        }
    }

    fn operator(&mut self, op: Pointwise, operands: &[Operand], at: SourceRange) -> Value {
        let name = op.symbol().unwrap_or(op.name());
        if self.refuses_quantized(&format!("operator `{name}`"), operands) {
            return Value::Poison;
        }
        self.pointwise(op, operands, at)
    }

    fn cast(&mut self, operand: &Operand, dtype: fuse_artifact::DType, at: SourceRange) -> Value {
        let Some(operand) = self.single(operand) else { return Value::Poison };
        match &operand.value {
            Value::Node(node) => Value::Node(self.cast_node(*node, dtype, at)),
            Value::Lazy(lazy) => match lazy.as_literal() {
                Some(Literal::Integer(value, _)) if dtype.is_float() => {
                    Lazy::literal(Literal::Float(*value as f64, Some(dtype)), at)
                }
                Some(Literal::Float(value, _)) if dtype.is_float() => {
                    Lazy::literal(Literal::Float(*value, Some(dtype)), at)
                }
                _ => Value::Lazy(Rc::new(Lazy {
                    kind: LazyKind::Cast(lazy.clone()),
                    dtype: LazyDType::Known(dtype),
                    indexed: lazy.indexed,
                    weight: lazy.weight.saturating_add(1),
                    range: at,
                })),
            },
            Value::Tuple(_) | Value::Poison => Value::Poison,
        }
    }

    fn name(&mut self, name: &syn::Ident, expr: &Expr, scope: &Scope) -> Value {
        let text = name.to_string();
        let at = ident_range(name);
        if let Some(binding) = scope.variables.get(&text) {
            binding.used.set(true);
            let value = binding.value.clone();
            return if self.reports_stale_read(&text, &value, at) { Value::Poison } else { value };
        }
        if scope.dims.contains_key(&text) {
            return self.poison(
                Diagnostic::new(Code::DimensionAsValue, at, format!("`{text}` is a dimension, not a value"))
                    .help(format!("its number is `{text} as f32`, or `as i32`")),
            );
        }
        if let Some(value) = catalog::constant(&text) {
            return Lazy::inferred(Literal::Float(value, None), self.literals.of(expr), at);
        }
        let diagnostic = Diagnostic::new(Code::UnknownVariable, at, format!("unknown variable `{text}`"));
        let names = scope.variables.keys().map(String::as_str);
        let constant = text.len() > 1 && !text.contains(char::is_lowercase) || text == "E";
        self.poison(match suggest(&text, names) {
            _ if catalog::find(&text).is_some() || self.function_named(&text).is_some() => {
                diagnostic.help(format!("`{text}` is an operation; call it: `{text}(…)`"))
            }
            Some(close) => diagnostic.help(format!("did you mean `{close}`?")),
            None if constant => diagnostic.help(match paths::path_of_constant(&text) {
                Some(path) => format!("write `{path}`"),
                None => paths::constant_help(&text),
            }),
            None => diagnostic.help("names are parameters, or bound with `let` before they are used"),
        })
    }

    /// Host value: a variable by inference, unless it starts with a `let`.
    fn place(&mut self, place: &HostOperand, scope: &Scope) -> Value {
        if let Some(call) = place.methods.iter().find(|call| vocabulary::is_operation(&call.name.to_string())) {
            return self.method(call);
        }
        let Some(binding) = scope.variables.get(&place.text) else {
            if scope.variables.get(&place.root.to_string()).is_some_and(|root| matches!(root.value, Value::Poison)) {
                return Value::Poison;
            }
            let diagnostic = Diagnostic::new(Code::MethodCall, place.span, "values have no fields");
            let help = if place.text.ends_with(".T") { "write `transpose(x)`" } else { "use the value itself" };
            return self.poison(diagnostic.help(help));
        };
        binding.used.set(true);
        binding.value.clone()
    }

    fn function_named(&self, name: &str) -> Option<usize> {
        self.program.names[self.caller].get(name).copied()
    }

    fn call(&mut self, call: &Call, at: SourceRange, scope: &Scope) -> Value {
        let name = call.name.to_string();
        if let Some(index) = self.function_named(&name) {
            return self.call_function(index, call, at, scope);
        }
        let Some(operation) = catalog::find_call(call) else {
            self.evaluate_arguments(call, scope);
            return self.unknown_operation(call, scope);
        };
        if !self.check_call(&operation, call) {
            self.evaluate_arguments(call, scope);
            return Value::Poison;
        }
        self.operation(&operation, call, at, scope)
    }

    fn evaluate_arguments(&mut self, call: &Call, scope: &Scope) {
        for argument in &call.arguments {
            if let Argument::Expr(expr) = argument
                && !self.is_dimension(expr, scope)
            {
                self.expr(expr, scope);
            }
        }
    }

    fn method(&mut self, call: &Call) -> Value {
        let own = self.function_named(&call.name.to_string()).map(|_| format!("write `{call}`"));
        let at = ident_range(&call.name);
        let diagnostic = Diagnostic::new(Code::MethodCall, at, "operations are functions, not methods");
        let unknown =
            || "an operation is called as `relu(x)`, and a function of the same block as `function(x)`".into();
        self.poison(diagnostic.help(own.or_else(|| vocabulary::method_help(call)).unwrap_or_else(unknown)))
    }

    fn unknown_operation(&mut self, call: &Call, scope: &Scope) -> Value {
        let (name, at) = (call.name.to_string(), ident_range(&call.name));
        if self.program.is_reported(&name) {
            return Value::Poison;
        }
        if let Some(binding) = scope.variables.get(&name) {
            binding.used.set(true);
            if matches!(binding.value, Value::Poison) {
                return Value::Poison;
            }
            return self.poison(
                Diagnostic::new(Code::CallOfVariable, at, format!("`{name}` is a value and cannot be called"))
                    .help(format!("for a product write `{name} * (…)`")),
            );
        }
        let diagnostic = Diagnostic::new(Code::UnknownOperation, at, format!("unknown operation `{name}`"));
        if let Some(help) = vocabulary::help(call) {
            return self.poison(diagnostic.help(help));
        }
        let names = catalog::names().chain(self.program.names[self.caller].keys().map(String::as_str));
        // A short name is close to some operation by chance.
        let close = suggest(&name, names).filter(|_| name.chars().count() > 3);
        let own = match (close, self.padded, self.expression) {
            (None, false, _) => Some(format!(
                "call an operation such as `relu(x)`, a function of the same block, or one that `use path::{name};` at \
                 the head of the block imports"
            )),
            (Some(_), false, _) => None,
            (_, true, None) => Some(format!("for a function of your own, add `use {name};` at the head")),
            (_, true, Some(body)) => {
                let text = body.to_string();
                let shown = if text.chars().count() > MAX_EXAMPLE { "…" } else { &text };
                Some(format!("for a function of your own, write `fuse!({{ use {name}; {shown} }})`"))
            }
        };
        let close = close.map(|close| format!("did you mean `{close}`?"));
        self.poison(close.into_iter().chain(own).fold(diagnostic, Diagnostic::help))
    }

    fn check_call(&self, operation: &Operation, call: &Call) -> bool {
        let before = self.sink.errors();
        let at = ident_range(&call.name);
        let name = operation.name;
        let usage = format!("write `{}`", operation.usage());
        let (least, most) = operation.arguments;
        let found = call.arguments.len();
        if !(least..=most).contains(&found) {
            let expected = if least == most { format!("{least}") } else { format!("{least} or {most}") };
            let plural = if most == 1 { "argument" } else { "arguments" };
            let message = format!("`{name}` takes {expected} {plural}, found {found}");
            self.sink.report(Diagnostic::new(Code::ArgumentCount, at, message).help(&usage));
        }
        for (position, (option, _)) in call.options.iter().enumerate() {
            let text = option.to_string();
            let range = ident_range(option);
            if call.options[..position].iter().any(|(earlier, _)| *earlier == text) {
                let message = format!("`{text}` is given twice");
                self.sink.report(Diagnostic::new(Code::DuplicateOption, range, message).help("remove one of them"));
            } else if !operation.options.iter().any(|known| known.name == text) {
                let close = suggest(&text, operation.options.iter().map(|known| known.name));
                let message = format!("`{name}` has no named argument `{text}`");
                let help = close.map_or(usage.clone(), |close| format!("did you mean `{close}`?"));
                self.sink.report(Diagnostic::new(Code::UnknownOption, range, message).help(help));
            }
        }
        for needed in operation.options.iter().filter(|option| option.required) {
            if !call.options.iter().any(|(option, _)| *option == needed.name) && found <= most {
                let message = format!("`{name}` needs the named argument `{}`", needed.name);
                self.sink.report(Diagnostic::new(Code::MissingOption, at, message).help(&usage));
            }
        }
        self.sink.errors() == before
    }

    fn operation(&mut self, operation: &Operation, call: &Call, at: SourceRange, scope: &Scope) -> Value {
        let site = Site { operation, call, scope, at };
        let (usage, first) = (operation.usage(), self.graph.nodes.len());
        let Some(operands) = self.operands(site) else { return Value::Poison };
        if self.call_refuses_quantized(site, &operands) {
            return Value::Poison;
        }
        let option = |name: &str| site.option(name);
        let list = || &call.arguments[1];
        let node = match operation.kind {
            Kind::Pointwise(op) => return self.pointwise(op, &operands, at),
            Kind::Clamp => return self.clamp(&operands, at),
            Kind::Lerp => return self.lerp(&operands, at),
            Kind::LeakyRelu => return self.leaky(&operands[0], option("slope"), 0.01, None, at, scope),
            Kind::Elu => return self.leaky(&operands[0], option("alpha"), 1.0, Some(UnaryOp::Expm1), at, scope),
            Kind::Index => return self.index(operands.first(), option("axis"), &usage, at, scope),
            Kind::Matmul => self.matmul(&operands[0], &operands[1], at),
            Kind::Dot => self.dot(&operands[0], &operands[1], at),
            Kind::Outer => self.outer(&operands[0], &operands[1], at),
            Kind::Transpose => self.transpose(&operands[0], at),
            Kind::Permute => self.permute(&operands[0], list(), at),
            Kind::Reshape => self.reshape(&operands[0], list(), scope, at),
            Kind::BroadcastTo => self.broadcast_to(&operands[0], list(), scope, at),
            Kind::Slice | Kind::Squeeze | Kind::Unsqueeze => self.along_axis(&operands[0], site),
            Kind::Reduce(reduction) => self.reduction(reduction, &operands[0], site),
            Kind::Row(row) => self.row_operation(row, &operands, site),
            Kind::BatchNorm => self.batch_norm(&operands, site),
            Kind::GroupNorm => self.group_norm(&operands, site),
            Kind::Concat => self.concat(&operands, site),
            Kind::Stack => self.stack(&operands, site),
            Kind::Flip => self.flip(&operands[0], site),
            Kind::Gather => self.gather(&operands, site),
            Kind::OneHot => self.one_hot(&operands[0], site),
            Kind::Dropout => self.dropout(&operands, site),
            Kind::Dequantize => self.dequantize(&operands[0], site),
            Kind::Pad => self.padding(&operands[0], site),
            Kind::Roll => self.roll(&operands[0], site),
            Kind::Repeat | Kind::Tile => self.repeated_elements(&operands[0], site),
            Kind::Split => return self.split(&operands[0], site),
            Kind::Tril | Kind::Triu => self.triangle(&operands[0], site),
            Kind::Glu => self.glu(&operands[0], site),
            Kind::CrossEntropy => self.cross_entropy(&operands, site),
            Kind::Grad => return self.gradient(&operands[0], site).unwrap_or(Value::Poison),
            Kind::StopGradient => self.stop_gradient(&operands[0], at),
            Kind::Checkpoint => return self.checkpoint(&operands[0], first).unwrap_or(Value::Poison),
        };
        node.map_or(Value::Poison, Value::Node)
    }

    /// Tensor arguments: the first of a shape operation, the list of `concat`.
    fn operands(&mut self, site: Site<'_>) -> Option<Vec<Operand>> {
        let usage = site.usage();
        let mut arguments = site.call.arguments.as_slice();
        match site.operation.kind {
            Kind::Permute | Kind::Reshape | Kind::BroadcastTo => arguments = &arguments[..1],
            Kind::Concat | Kind::Stack => {
                let list = self.list(&arguments[0], &usage)?;
                return Some(list.iter().map(|expr| self.operand(expr, site.scope)).collect());
            }
            _ => {}
        }
        let mut operands = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Expr(expr) => operands.push(self.operand(expr, site.scope)),
                Argument::List(..) => {
                    self.sink.report(
                        Diagnostic::new(
                            Code::UnexpectedList,
                            argument_range(argument),
                            "expected a value, found a list",
                        )
                        .help(format!("write `{usage}`")),
                    );
                    return None;
                }
            }
        }
        Some(operands)
    }

    fn along_axis(&mut self, x: &Operand, site: Site<'_>) -> Option<NodeId> {
        let axis = self.axis(site.option("axis")?, site.scope, &site.usage())?;
        match site.operation.kind {
            Kind::Squeeze => self.squeeze(x, &axis, site.at),
            Kind::Unsqueeze => self.unsqueeze(x, &axis, site.at),
            _ => self.slice(x, &axis, (site.option("start"), site.option("end")), site.scope, site.at),
        }
    }

    /// `min(max(x, low), high)`.
    fn clamp(&mut self, operands: &[Operand], at: SourceRange) -> Value {
        let low = self.pointwise(Pointwise::Binary(BinaryOp::Max), &operands[..2], at);
        let low = Operand { value: low, range: at };
        self.pointwise(Pointwise::Binary(BinaryOp::Min), &[low, operands[2].clone()], at)
    }

    /// `x + t·(y - x)` (as PyTorch).
    fn lerp(&mut self, operands: &[Operand], at: SourceRange) -> Value {
        let [x, y, t] = operands else { return Value::Poison };
        if let Some(wrong) = operands
            .iter()
            .find(|operand| matches!(self.dtype_of(operand), LazyDType::Known(dtype) if !dtype.is_float()))
            && !operands.iter().any(|operand| matches!(operand.value, Value::Poison))
        {
            let found = self.dtype_of(wrong).default_dtype();
            return self.poison(
                Diagnostic::new(Code::FloatRequired, wrong.range, format!("`lerp` takes floats, found `{found}`"))
                    .help(format!("convert it: `{} as f32`", self.operand_label(wrong))),
            );
        }
        let here = |value| Operand { value, range: at };
        let distance = here(self.pointwise(Pointwise::Binary(BinaryOp::Sub), &[y.clone(), x.clone()], at));
        let part = here(self.pointwise(Pointwise::Binary(BinaryOp::Mul), &[t.clone(), distance], at));
        self.pointwise(Pointwise::Binary(BinaryOp::Add), &[x.clone(), part], at)
    }

    /// `x > 0 ? x : factor · below(x)`.
    fn leaky(
        &mut self,
        x: &Operand,
        factor: Option<&Argument>,
        default: f64,
        below: Option<UnaryOp>,
        at: SourceRange,
        scope: &Scope,
    ) -> Value {
        let here = |value| Operand { value, range: at };
        if let LazyDType::Known(found) = self.dtype_of(x)
            && !found.is_float()
            && !matches!(x.value, Value::Poison)
        {
            let name = if below.is_some() { "elu" } else { "leaky_relu" };
            return self.poison(
                Diagnostic::new(Code::FloatRequired, x.range, format!("`{name}` takes floats, found `{found}`"))
                    .help(format!("convert it: `{} as f32`", self.operand_label(x))),
            );
        }
        let factor = match factor {
            None => here(Lazy::literal(Literal::Float(default, None), at)),
            Some(Argument::Expr(expr)) => self.operand(expr, scope),
            Some(list) => {
                return self.poison(
                    Diagnostic::new(Code::BadOption, argument_range(list), "expected one number, found a list")
                        .help("write a number such as `0.01`"),
                );
            }
        };
        let zero = here(Lazy::literal(Literal::Integer(0, None), at));
        let positive = here(self.pointwise(Pointwise::Compare(CompareOp::Gt), &[x.clone(), zero.clone()], at));
        let low = match below {
            // `op` at 0 where it is not selected: a large operand overflows, and the gradient would be 0·∞.
            Some(op) => {
                let operand = here(self.pointwise(Pointwise::Select, &[positive.clone(), zero, x.clone()], at));
                here(self.pointwise(Pointwise::Unary(op), &[operand], at))
            }
            None => x.clone(),
        };
        let low = here(self.pointwise(Pointwise::Binary(BinaryOp::Mul), &[factor, low], at));
        if matches!(low.value, Value::Poison) {
            return Value::Poison;
        }
        self.pointwise(Pointwise::Select, &[positive, x.clone(), low], at)
    }

    fn index(
        &mut self,
        x: Option<&Operand>,
        axis: Option<&Argument>,
        usage: &str,
        at: SourceRange,
        scope: &Scope,
    ) -> Value {
        let Some(axis) = axis.and_then(|argument| self.axis(argument, scope, usage)) else { return Value::Poison };
        let Some(x) = x else { return Lazy::index(axis, at) };
        let Some(node) = self.force(x) else { return Value::Poison };
        let Some(position) = self.axis_of_node(&axis, node) else { return Value::Poison };
        let (shape, rank) = (self.shape(node).to_vec(), self.rank_of(node).clone());
        let index = self.push(crate::graph::Op::Index { axis: position }, fuse_artifact::DType::I32, shape, at);
        self.set_rank(index, rank);
        Value::Node(index)
    }
}
