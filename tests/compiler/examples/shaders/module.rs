//! Canonical form of a shader's module: without names and spans, pure expressions inlined.
//!
//! Expressions are numbered by value. Loads and statement results depend on side effects: each has its own number, in
//! evaluation order.

use std::{collections::HashMap, fmt::Write};

use naga::{
    Arena, Block, Expression, Function, Handle, Module, Statement,
    front::wgsl,
    valid::{Capabilities, FunctionInfo, ValidationFlags, Validator},
};

/// # Panics
/// If naga refuses the shader.
pub(crate) fn canonical(text: &str) -> String {
    let module = wgsl::parse_str(text).unwrap_or_else(|error| panic!("{}\n{text}", error.emit_to_string(text)));
    let info = Validator::new(ValidationFlags::empty(), Capabilities::all()).validate(&module);
    let info = info.unwrap_or_else(|error| panic!("{}\n{text}", error.emit_to_string(text)));
    let mut out = String::new();
    for (_, constant) in module.constants.iter() {
        let _ = writeln!(out, "const {} = {}", ty(&module, constant.ty), value(&module, constant.init));
    }
    for (_, global) in module.global_variables.iter() {
        let init = global.init.map(|init| value(&module, init)).unwrap_or_default();
        let _ = writeln!(out, "var {:?} {:?} {} {init}", global.space, global.binding, ty(&module, global.ty));
    }
    for (handle, function) in module.functions.iter() {
        Writer::new(&module, function, &info[handle], &mut out).function();
    }
    for (i, entry) in module.entry_points.iter().enumerate() {
        let _ = writeln!(out, "entry {:?} {:?}", entry.stage, entry.workgroup_size);
        Writer::new(&module, &entry.function, info.get_entry_point(i), &mut out).function();
    }
    out
}

fn ty(module: &Module, handle: Handle<naga::Type>) -> String {
    use naga::TypeInner::{Array, Pointer, Struct};
    match &module.types[handle].inner {
        Struct { members, span } => {
            let members = members.iter().map(|member| format!("{} at {}", ty(module, member.ty), member.offset));
            format!("struct {{ {} }} of {span}", members.collect::<Vec<_>>().join(", "))
        }
        Array { base, size, stride } => format!("array {} {size:?} {stride}", ty(module, *base)),
        Pointer { base, space } => format!("pointer {} {space:?}", ty(module, *base)),
        inner => format!("{inner:?}"),
    }
}

fn value(module: &Module, handle: Handle<Expression>) -> String {
    let expression = &module.global_expressions[handle];
    filled(expression, |handle| value(module, handle), module)
}

fn filled(expression: &Expression, mut operand: impl FnMut(Handle<Expression>) -> String, module: &Module) -> String {
    let text = format!("{expression:?}");
    // Declarations are numbered in their order, which is compared.
    if let Expression::GlobalVariable(_)
    | Expression::LocalVariable(_)
    | Expression::Constant(_)
    | Expression::Override(_)
    | Expression::CallResult(_) = expression
    {
        return text;
    }
    let mut handles: HashMap<String, Handle<Expression>> = HashMap::new();
    let mut note = |handle: Handle<Expression>| {
        handles.insert(format!("{handle:?}"), handle);
    };
    operands(expression, &mut note);
    let type_text = match expression {
        Expression::ZeroValue(handle) | Expression::Compose { ty: handle, .. } => {
            Some((format!("{handle:?}"), ty(module, *handle)))
        }
        Expression::AtomicResult { ty: handle, .. }
        | Expression::WorkGroupUniformLoadResult { ty: handle }
        | Expression::SubgroupOperationResult { ty: handle } => Some((format!("{handle:?}"), ty(module, *handle))),
        _ => None,
    };
    let mut filled = String::new();
    let mut rest = &text[..];
    // A type's handle precedes all operands.
    if let Some((handle, name)) = type_text {
        let at = rest.find(&handle).expect("the debug text has the handle");
        filled += &rest[..at];
        filled += &name;
        rest = &rest[at + handle.len()..];
    }
    while let Some(start) = rest.find('[') {
        filled += &rest[..start];
        rest = &rest[start..];
        let known = rest.find(']').and_then(|end| Some((end, *handles.get(&rest[..=end])?)));
        match known {
            Some((end, handle)) => {
                filled += &operand(handle);
                rest = &rest[end + 1..];
            }
            None => {
                filled.push('[');
                rest = &rest[1..];
            }
        }
    }
    filled + rest
}

fn operands(expression: &Expression, note: &mut dyn FnMut(Handle<Expression>)) {
    match expression {
        Expression::Compose { components, .. } => components.iter().copied().for_each(note),
        Expression::Access { base, index } => [*base, *index].into_iter().for_each(note),
        Expression::AccessIndex { base, .. } => note(*base),
        Expression::Splat { value, .. } => note(*value),
        Expression::Swizzle { vector, .. } => note(*vector),
        Expression::Load { pointer } => note(*pointer),
        Expression::Unary { expr, .. } | Expression::As { expr, .. } => note(*expr),
        Expression::Binary { left, right, .. } => [*left, *right].into_iter().for_each(note),
        Expression::Select { condition, accept, reject } => {
            [*condition, *accept, *reject].into_iter().for_each(note);
        }
        Expression::Relational { argument, .. } => note(*argument),
        Expression::Math { arg, arg1, arg2, arg3, .. } => {
            [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten().for_each(note);
        }
        Expression::ArrayLength(array) => note(*array),
        Expression::CooperativeLoad { data, .. } => [data.pointer, data.stride].into_iter().for_each(note),
        Expression::CooperativeMultiplyAdd { a, b, c } => [*a, *b, *c].into_iter().for_each(note),
        _ => {}
    }
}

struct Writer<'a> {
    module: &'a Module,
    function: &'a Function,
    info: &'a FunctionInfo,
    out: &'a mut String,
    depth: usize,
    numbers: HashMap<Handle<Expression>, usize>,
    known: HashMap<String, usize>,
    texts: Vec<String>,
    loads: usize,
}

impl<'a> Writer<'a> {
    fn new(module: &'a Module, function: &'a Function, info: &'a FunctionInfo, out: &'a mut String) -> Self {
        Self {
            module,
            function,
            info,
            out,
            depth: 1,
            numbers: HashMap::new(),
            known: HashMap::new(),
            texts: vec![],
            loads: 0,
        }
    }

    fn function(&mut self) {
        let arguments: Vec<String> = (self.function.arguments.iter())
            .map(|argument| format!("{} {:?}", ty(self.module, argument.ty), argument.binding))
            .collect();
        let result = self.function.result.as_ref().map(|result| ty(self.module, result.ty));
        let _ = writeln!(self.out, "fn ({}) -> {result:?}", arguments.join(", "));
        let locals: &Arena<naga::LocalVariable> = &self.function.local_variables;
        for (_, local) in locals.iter() {
            let init = local.init.map(|init| self.expression(init)).unwrap_or_default();
            self.line(&format!("var {} {init}", ty(self.module, local.ty)));
        }
        self.block(&self.function.body);
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.out, "{}{line}", "  ".repeat(self.depth));
    }

    fn expression(&mut self, handle: Handle<Expression>) -> String {
        if let Some(number) = self.numbers.get(&handle) {
            return format!("%{number}");
        }
        let (module, expression) = (self.module, &self.function.expressions[handle]);
        let mut text = filled(expression, |operand| self.expression(operand), module);
        if let Some(number) = self.folded(expression) {
            self.numbers.insert(handle, number);
            return format!("%{number}");
        }
        if let Expression::Binary { op: naga::BinaryOperator::Multiply, left, right } = *expression
            && self.info[handle].ty.inner_with(&module.types).scalar() == Some(naga::Scalar::U32)
        {
            let [left, right] = [left, right].map(|operand| {
                self.expression(operand);
                self.numbers[&operand]
            });
            let number = self.product(left, right);
            self.numbers.insert(handle, number);
            return format!("%{number}");
        }
        let own = matches!(
            expression,
            Expression::Load { .. }
                | Expression::CallResult(_)
                | Expression::AtomicResult { .. }
                | Expression::WorkGroupUniformLoadResult { .. }
                | Expression::SubgroupOperationResult { .. }
                | Expression::SubgroupBallotResult
                | Expression::CooperativeLoad { .. }
        );
        if own {
            text = format!("#{}", self.loads);
            self.loads += 1;
        }
        let number = self.number(text);
        self.numbers.insert(handle, number);
        format!("%{number}")
    }

    fn number(&mut self, text: String) -> usize {
        *self.known.entry(text.clone()).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        })
    }

    /// A product of `u32`, flattened from left to right: they are associative.
    fn product(&mut self, left: usize, right: usize) -> usize {
        let factors = self.texts[right].strip_prefix("Binary { op: Multiply, left: %").and_then(|rest| {
            let (x, rest) = rest.split_once(", right: %")?;
            Some((x.parse().ok()?, rest.trim_end_matches(" }").parse().ok()?))
        });
        match factors {
            Some((x, y)) => {
                let left = self.product(left, x);
                self.product(left, y)
            }
            None => self.number(format!("Binary {{ op: Multiply, left: %{left}, right: %{right} }}")),
        }
    }

    /// The operand that an operation returns unchanged: with the `u32` literal 0 or 1, or converted to its own type.
    fn folded(&mut self, expression: &Expression) -> Option<usize> {
        if let Expression::As { expr, kind, convert: Some(width) } = *expression
            && self.info[expr].ty.inner_with(&self.module.types).scalar() == Some(naga::Scalar { kind, width })
        {
            self.expression(expr);
            return self.numbers.get(&expr).copied();
        }
        use naga::BinaryOperator::{Add, Divide, Multiply, Subtract};
        let Expression::Binary { op, left, right } = *expression else { return None };
        let (x, y) = (self.tree(left), self.tree(right));
        let (zero, one) = ("Literal(U32(0))", "Literal(U32(1))");
        let kept = match op {
            Add if x == zero => right,
            Multiply if x == one => right,
            Add | Subtract if y == zero => left,
            Multiply | Divide if y == one => left,
            _ => return None,
        };
        self.numbers.get(&kept).copied()
    }

    fn tree(&mut self, handle: Handle<Expression>) -> String {
        let number = self.expression(handle);
        self.written(number[1..].parse().expect("numbers are numbers"))
    }

    fn written(&self, number: usize) -> String {
        let text = &self.texts[number];
        let mut written = String::new();
        let mut rest = &text[..];
        while let Some(start) = rest.find('%') {
            written += &rest[..start];
            rest = &rest[start + 1..];
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            written += &self.written(rest[..end].parse().expect("numbers are numbers"));
            rest = &rest[end..];
        }
        written + rest
    }

    fn block(&mut self, block: &Block) {
        self.depth += 1;
        block.iter().for_each(|statement| self.statement(statement));
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    if let Expression::Load { pointer } = self.function.expressions[handle] {
                        let pointer = self.tree(pointer);
                        let number = self.tree(handle);
                        self.line(&format!("{number} = load {pointer}"));
                    } else if let Expression::CooperativeLoad { data, .. } = &self.function.expressions[handle] {
                        let (pointer, stride) = (self.tree(data.pointer), self.tree(data.stride));
                        let number = self.tree(handle);
                        self.line(&format!("{number} = load matrix {pointer} {stride}"));
                    }
                }
            }
            Statement::Block(block) => {
                self.line("block");
                self.block(block);
            }
            Statement::If { condition, accept, reject } => {
                let condition = self.tree(*condition);
                self.line(&format!("if {condition}"));
                self.block(accept);
                self.line("else");
                self.block(reject);
            }
            Statement::Switch { selector, cases } => {
                let selector = self.tree(*selector);
                self.line(&format!("switch {selector}"));
                for case in cases {
                    self.line(&format!("case {:?} {}", case.value, case.fall_through));
                    self.block(&case.body);
                }
            }
            Statement::Loop { body, continuing, break_if } => {
                self.line("loop");
                self.block(body);
                self.line("continuing");
                self.block(continuing);
                if let Some(condition) = break_if {
                    let condition = self.tree(*condition);
                    self.line(&format!("break if {condition}"));
                }
            }
            Statement::Return { value } => {
                let value = value.map(|value| self.tree(value)).unwrap_or_default();
                self.line(&format!("return {value}"));
            }
            Statement::Store { pointer, value } => {
                let (pointer, value) = (self.tree(*pointer), self.tree(*value));
                self.line(&format!("store {pointer} {value}"));
            }
            Statement::Call { function, arguments, result } => {
                let arguments: Vec<String> = arguments.iter().map(|&argument| self.tree(argument)).collect();
                let result = result.map(|result| self.tree(result)).unwrap_or_default();
                self.line(&format!("{result} = call {function:?} {}", arguments.join(", ")));
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let (pointer, value) = (self.tree(*pointer), self.tree(*value));
                let result = result.map(|result| self.tree(result)).unwrap_or_default();
                self.line(&format!("{result} = atomic {fun:?} {pointer} {value}"));
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let (pointer, result) = (self.tree(*pointer), self.tree(*result));
                self.line(&format!("{result} = uniform load {pointer}"));
            }
            Statement::SubgroupGather { mode, argument, result } => {
                let mode = format!("{mode:?}");
                let mode = match statement {
                    Statement::SubgroupGather {
                        mode:
                            naga::GatherMode::Broadcast(by)
                            | naga::GatherMode::Shuffle(by)
                            | naga::GatherMode::ShuffleDown(by)
                            | naga::GatherMode::ShuffleUp(by)
                            | naga::GatherMode::ShuffleXor(by)
                            | naga::GatherMode::QuadBroadcast(by),
                        ..
                    } => format!("{} {}", mode.split('(').next().unwrap_or_default(), self.tree(*by)),
                    _ => mode,
                };
                let (argument, result) = (self.tree(*argument), self.tree(*result));
                self.line(&format!("{result} = gather {mode} {argument}"));
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                let (argument, result) = (self.tree(*argument), self.tree(*result));
                self.line(&format!("{result} = {op:?} {collective_op:?} {argument}"));
            }
            Statement::CooperativeStore { target, data } => {
                let parts = [*target, data.pointer, data.stride].map(|part| self.tree(part));
                self.line(&format!("store matrix {} {}", parts.join(" "), data.row_major));
            }
            Statement::Break | Statement::Continue | Statement::Kill => self.line(&format!("{statement:?}")),
            Statement::ControlBarrier(barrier) | Statement::MemoryBarrier(barrier) => {
                self.line(&format!("barrier {barrier:?}"));
            }
            other => panic!("no shader of ours has {other:?}"),
        }
    }
}
