//! Prints kernels as WGSL.

use std::{
    cell::RefCell,
    fmt::{self, Write},
    iter,
};

use fuse_artifact::constants::INDEX_PLACE;

use super::{
    Arena, Block, Expr, Function, Literal, MatrixPlace, Order, Role, Scalar, Statement, Ty, UnaryOp, Val,
    types::Compound, value::BinaryOp,
};

/// Operator precedence; expressions looser than their context requires get parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Or,
    And,
    Bitwise,
    Relational,
    Shift,
    Additive,
    Multiplicative,
    Unary,
    Primary,
}

/// The syntax of a shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As naga reads it.
    #[default]
    Naga,
    /// As naga reads it, with checks of indices, for tests.
    Checked,
    /// As naga reads it, with software matrices, for tests.
    #[cfg(feature = "verify")]
    Software,
    /// With Chromium's `chromium_experimental_subgroup_matrix`, which naga does not read.
    Chromium,
}

impl Dialect {
    /// Extension that shaders with cooperative matrices enable.
    pub const fn matrix_extension(self) -> &'static str {
        match self {
            Self::Chromium => "chromium_experimental_subgroup_matrix",
            _ => "wgpu_cooperative_matrix",
        }
    }
}

/// The name of a type, except a matrix.
pub fn type_name(arena: &Arena, ty: Ty) -> String {
    match ty {
        Ty::Vector { scalar, lanes } => vector_name(scalar, lanes),
        Ty::Atomic(scalar) => format!("atomic<{}>", scalar.name()),
        _ => arena.parts(ty, |parts| compound_name(arena, parts)).unwrap_or_else(|| unreachable!("{ty:?} has no name")),
    }
}

/// The WGSL name of a scalar or vector type.
pub fn vector_name(scalar: Scalar, lanes: u32) -> String {
    if lanes == 1 { scalar.name().to_owned() } else { format!("vec{lanes}<{}>", scalar.name()) }
}

fn compound_name(arena: &Arena, parts: &Compound) -> String {
    match parts {
        Compound::Struct { name, .. } => name.clone(),
        Compound::Array { element, count: None } => format!("array<{}>", type_name(arena, *element)),
        Compound::Array { element, count: Some(count) } => format!("array<{}, {count}>", type_name(arena, *element)),
        Compound::Pointer { to } => format!("ptr<function, {}>", type_name(arena, *to)),
    }
}

/// The declaration of a structure.
pub fn structure(arena: &Arena, ty: Ty) -> String {
    let declaration = |parts: &Compound| {
        let Compound::Struct { name, fields } = parts else { unreachable!("{ty:?} is no structure") };
        let fields = fields.iter().map(|(field, ty)| format!("  {field}: {},\n", type_name(arena, *ty)));
        format!("struct {name} {{\n{}}}\n", fields.collect::<String>())
    };
    arena.parts(ty, declaration).unwrap_or_else(|| unreachable!("{ty:?} is no structure"))
}

/// Dialect differences inside functions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mode<'c> {
    /// Index checks, if the shader has any.
    pub checks: Option<&'c IndexChecks>,
    /// True for Chromium's matrices.
    pub chromium: bool,
}

/// Checks of indices, for tests: `x[i]` becomes `x[fuse_at(u32(i), length of x, place)]`.
///
/// The entry point reports one place whose index was too large.
#[derive(Debug, Default)]
pub struct IndexChecks {
    /// Accesses by number, printed without checks.
    places: RefCell<Vec<String>>,
}

impl IndexChecks {
    /// Declarations for the checks. The counter has four words: invocations out of bounds, and for one of them its
    /// first access, the index and the length.
    ///
    /// Nothing branches: compilers take minutes for a branch at each of a thousand indices.
    pub const HELPERS: &str = "
@group(1) @binding(0) var<storage, read_write> fuse_violations: array<atomic<u32>, 4>;
var<private> fuse_outside: vec3<u32>;
fn fuse_at(index: u32, length: u32, place: u32) -> u32 {
  let first = index >= length && fuse_outside.x == 0u;
  fuse_outside = select(fuse_outside, vec3<u32>(fuse_first_place + place + 1u, index, length), first);
  return min(index, length - 1u);
}
";

    /// Statements at the end of the entry point.
    pub const REPORT: &str = "  if fuse_outside.x != 0u && atomicAdd(&fuse_violations[0], 1u) == 0u {
    atomicStore(&fuse_violations[1], fuse_outside.x - 1u);
    atomicStore(&fuse_violations[2], fuse_outside.y);
    atomicStore(&fuse_violations[3], fuse_outside.z);
  }
";

    /// A comment for each access, in order.
    pub fn places(&self) -> String {
        self.places.borrow().iter().map(|place| format!("{INDEX_PLACE}{place}\n")).collect()
    }

    fn place(&self, place: String) -> usize {
        let mut places = self.places.borrow_mut();
        places.push(place);
        places.len() - 1
    }
}

/// The declaration of a function.
pub fn function(arena: &Arena, mode: Mode<'_>, function: &Function<'_>) -> String {
    let mut text = format!("fn {}(", function.name);
    for (i, (name, ty)) in function.parameters.iter().enumerate() {
        let separator = if i > 0 { ", " } else { "" };
        let _ = write!(text, "{separator}{name}: {}", type_name(arena, *ty));
    }
    text.push(')');
    if let Some(ty) = function.result {
        let _ = write!(text, " -> {}", type_name(arena, ty));
    }
    let mut writer = Writer { arena, mode, text: text + " {\n", depth: 1 };
    writer.block(&function.body);
    writer.text + "}\n"
}

/// Statements, indented by `depth`.
pub fn block(arena: &Arena, mode: Mode<'_>, block: &Block<'_>, depth: usize) -> String {
    let mut writer = Writer { arena, mode, text: String::new(), depth };
    writer.block(block);
    writer.text
}

/// Prints the expression as an operand of any operator.
impl fmt::Display for Val<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer { arena: self.arena(), mode: Mode::default(), text: String::new(), depth: 0 };
        writer.expr(self.id(), Precedence::Primary);
        f.write_str(&writer.text)
    }
}

struct Writer<'k> {
    arena: &'k Arena,
    mode: Mode<'k>,
    text: String,
    depth: usize,
}

impl Writer<'_> {
    fn indent(&mut self) {
        self.text.extend(iter::repeat_n("  ", self.depth));
    }

    fn line(&mut self, parts: &[Part<'_>]) {
        self.indent();
        for part in parts {
            match part {
                Part::Text(text) => self.text.push_str(text),
                Part::Value(value) => self.expr(value.id(), Precedence::Or),
            }
        }
        self.text.push('\n');
    }

    fn nested(&mut self, block: &Block<'_>) {
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    fn block(&mut self, block: &Block<'_>) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement<'_>) {
        use Part::{Text as T, Value as V};
        match statement {
            Statement::Let(name, value) => self.line(&[T("let "), T(name), T(" = "), V(*value), T(";")]),
            Statement::Var(name, _, Some(value)) => self.line(&[T("var "), T(name), T(" = "), V(*value), T(";")]),
            Statement::Var(name, ty, None) => {
                let ty = self.type_name(*ty);
                self.line(&[T("var "), T(name), T(": "), T(&ty), T(";")]);
            }
            Statement::Set(place, value) => match self.compound(place.id(), value.id()) {
                Some((symbol, operand)) => {
                    self.indent();
                    self.expr(place.id(), Precedence::Or);
                    let _ = write!(self.text, " {symbol}= ");
                    self.expr(operand, Precedence::Or);
                    self.text.push_str(";\n");
                }
                None => self.line(&[V(*place), T(" = "), V(*value), T(";")]),
            },
            Statement::If(condition, then, otherwise) => {
                self.line(&[T("if "), V(*condition), T(" {")]);
                self.nested(then);
                if !otherwise.is_empty() {
                    self.line(&[T("} else {")]);
                    self.nested(otherwise);
                }
                self.line(&[T("}")]);
            }
            Statement::For(range, body) => {
                let counter = &range.counter;
                let one = matches!(range.step.as_literal(), Some(Literal::U32(1)));
                let step: &[Part<'_>] = if one { &[T("++")] } else { &[T(" += "), V(range.step)] };
                let head = [T("for (var "), T(counter), T(" = "), V(range.begin), T("; "), T(counter), T(" < ")];
                let also: &[Part<'_>] = &range.also.map_or(vec![], |also| vec![T(" && "), V(also)]);
                self.line(&[&head[..], &[V(range.end)], also, &[T("; "), T(counter)], step, &[T(") {")]].concat());
                self.nested(body);
                self.line(&[T("}")]);
            }
            Statement::Halve(counter, first, body) => {
                let (head, rest) = (format!("for (var {counter} = "), format!("; {counter} > 0u; {counter} /= 2u) {{"));
                self.line(&[T(&head), V(*first), T(&rest)]);
                self.nested(body);
                self.line(&[T("}")]);
            }
            Statement::While(condition, body) => {
                self.line(&[T("while "), V(*condition), T(" {")]);
                self.nested(body);
                self.line(&[T("}")]);
            }
            Statement::Scope(body) => {
                self.line(&[T("{")]);
                self.nested(body);
                self.line(&[T("}")]);
            }
            Statement::Switch(selector, cases) => {
                self.line(&[T("switch "), V(*selector), T(" {")]);
                self.depth += 1;
                for (i, case) in cases.iter().enumerate() {
                    let label = if i + 1 == cases.len() { "default".to_owned() } else { format!("case {i}u") };
                    self.line(&[T(&label), T(": {")]);
                    self.nested(case);
                    self.line(&[T("}")]);
                }
                self.depth -= 1;
                self.line(&[T("}")]);
            }
            Statement::Return(None) => self.line(&[T("return;")]),
            Statement::Return(Some(value)) => self.line(&[T("return "), V(*value), T(";")]),
            Statement::Call(call) => self.line(&[V(*call), T(";")]),
            Statement::WorkgroupBarrier => self.line(&[T("workgroupBarrier();")]),
            Statement::StorageBarrier => self.line(&[T("storageBarrier();")]),
        }
    }

    /// The operator and operand if `place op= operand` is equivalent to `place = value`.
    fn compound(&self, place: u32, value: u32) -> Option<(&'static str, u32)> {
        self.arena.expr(value, |value| match *value {
            Expr::Binary(op, x, y) if x == place && precedence(value) >= Precedence::Additive => {
                Some((operator(op).0, y))
            }
            _ => None,
        })
    }

    /// Prints an expression, with parentheses below this precedence.
    fn expr(&mut self, id: u32, least: Precedence) {
        let arena = self.arena;
        arena.expr(id, |expr| {
            let own = precedence(expr);
            if own < least {
                self.text.push('(');
            }
            self.unparenthesized(id, expr);
            if own < least {
                self.text.push(')');
            }
        });
    }

    fn unparenthesized(&mut self, id: u32, expr: &Expr) {
        match expr {
            Expr::Literal(literal) => self.literal(*literal),
            Expr::Name(text) => self.text.push_str(text),
            Expr::Unary(op, x) => {
                self.text.push_str(match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                    UnaryOp::AddressOf => "&",
                    UnaryOp::Deref => "*",
                });
                // `--x` would be a decrement.
                self.expr(*x, if *op == UnaryOp::Neg { Precedence::Primary } else { Precedence::Unary });
            }
            Expr::Binary(op, x, y) => {
                let (symbol, left, right) = operator(*op);
                let same = self.arena.expr(*x, |left| matches!(left, Expr::Binary(other, ..) if other == op));
                self.expr(*x, if same && chains(*op) { precedence(expr) } else { left });
                let _ = write!(self.text, " {symbol} ");
                self.expr(*y, right);
            }
            Expr::Index(base, index) => {
                self.expr(*base, Precedence::Primary);
                if let Some(component) = self.component(*base, *index) {
                    let _ = write!(self.text, ".{component}");
                    return;
                }
                self.text.push('[');
                self.index(*base, *index);
                self.text.push(']');
            }
            Expr::Field(base, field) => {
                self.expr(*base, Precedence::Primary);
                let _ = write!(self.text, ".{field}");
            }
            Expr::Construct(components) => {
                let ty = self.type_name(self.arena.ty(id));
                self.text.push_str(&ty);
                self.arguments(components);
            }
            Expr::Bitcast(x) => {
                let ty = self.type_name(self.arena.ty(id));
                let _ = write!(self.text, "bitcast<{ty}>");
                self.arguments(&[*x]);
            }
            Expr::Call(name, arguments) => {
                self.text.push_str(name);
                self.arguments(arguments);
            }
            Expr::Operation(text, operands) => {
                let mut parts = text.split('$');
                self.text.push_str(parts.next().unwrap_or_default());
                for part in parts {
                    let mut rest = part.chars();
                    let letter = rest.next();
                    match operands.iter().find(|(known, _)| Some(*known) == letter) {
                        Some((_, operand)) => self.expr(*operand, Precedence::Primary),
                        None => unreachable!("`{text}` has no operand `{letter:?}`"),
                    }
                    self.text.push_str(rest.as_str());
                }
            }
            Expr::MatrixLoad(place) => {
                let ty = self.type_name(self.arena.ty(id));
                let _ = match self.mode.chromium {
                    true => write!(self.text, "subgroupMatrixLoad<{ty}, {}>(", chromium_order(place.order)),
                    false => write!(self.text, "coopLoad{}<{ty}>(", by_lines(place.order)),
                };
                self.matrix_place(place, None);
            }
            Expr::MatrixStore(matrix, place) => {
                let _ = match self.mode.chromium {
                    true => write!(self.text, "subgroupMatrixStore<{}>(", chromium_order(place.order)),
                    false => write!(self.text, "coopStore{}(", by_lines(place.order)),
                };
                self.matrix_place(place, Some(*matrix));
            }
            Expr::MatrixMultiplyAdd(operands) => {
                let name = if self.mode.chromium { "subgroupMatrixMultiplyAccumulate" } else { "coopMultiplyAdd" };
                self.text.push_str(name);
                self.arguments(operands);
            }
        }
    }

    fn type_name(&self, ty: Ty) -> String {
        let Ty::Matrix { size, scalar, role } = ty else { return type_name(self.arena, ty) };
        let scalar = scalar.name();
        if !self.mode.chromium {
            return format!("coop_mat{size}x{size}<{scalar}, {role:?}>");
        }
        let side = match role {
            Role::A => "left",
            Role::B => "right",
            Role::C => "result",
        };
        format!("subgroup_matrix_{side}<{scalar}, {size}, {size}>")
    }

    /// Prints an array index, checked if the shader checks indices.
    fn index(&mut self, base: u32, index: u32) {
        match self.mode.checks.and_then(|checks| Some((checks, self.length(base)?))) {
            Some((checks, length)) => {
                let plain = |id| self.arena.value(id);
                let place = checks.place(format!("{}[{}]", plain(base), plain(index)));
                self.text.push_str("fuse_at(u32(");
                self.expr(index, Precedence::Or);
                let _ = write!(self.text, "), {length}, {place}u)");
            }
            None => self.expr(index, Precedence::Or),
        }
    }

    fn length(&self, base: u32) -> Option<String> {
        let name = self.arena.expr(base, |expr| if let Expr::Name(name) = expr { Some(name.clone()) } else { None })?;
        self.arena.parts(self.arena.ty(base), |parts| match parts {
            Compound::Array { count: None, .. } => Some(format!("arrayLength(&{name})")),
            Compound::Array { count: Some(count), .. } => Some(format!("{count}u")),
            _ => None,
        })?
    }

    fn matrix_place(&mut self, place: &MatrixPlace<u32>, matrix: Option<u32>) {
        let chromium = self.mode.chromium;
        if let Some(matrix) = matrix.filter(|_| !chromium) {
            self.expr(matrix, Precedence::Or);
            self.text.push_str(", ");
        }
        self.text.push('&');
        self.expr(place.array, Precedence::Primary);
        self.text.push_str(if chromium { ", " } else { "[" });
        self.index(place.array, place.index);
        self.text.push_str(if chromium { ", " } else { "], " });
        if let Some(matrix) = matrix.filter(|_| chromium) {
            self.expr(matrix, Precedence::Or);
            self.text.push_str(", ");
        }
        self.expr(place.stride, Precedence::Or);
        self.text.push(')');
    }

    fn component(&self, base: u32, index: u32) -> Option<&'static str> {
        let Ty::Vector { lanes: 2.., .. } = self.arena.ty(base) else { return None };
        self.arena.expr(index, |index| match index {
            Expr::Literal(Literal::U32(lane)) => ["x", "y", "z", "w"].get(*lane as usize).copied(),
            _ => None,
        })
    }

    fn arguments(&mut self, arguments: &[u32]) {
        self.text.push('(');
        for (i, argument) in arguments.iter().enumerate() {
            if i > 0 {
                self.text.push_str(", ");
            }
            self.expr(*argument, Precedence::Or);
        }
        self.text.push(')');
    }

    fn literal(&mut self, literal: Literal) {
        let _ = match literal {
            Literal::Bool(x) => write!(self.text, "{x}"),
            Literal::U32(x) => write!(self.text, "{x}u"),
            Literal::TooLarge(x) => write!(self.text, "{x}u"),
            // WGSL literals have no sign.
            Literal::I32(i32::MIN) => write!(self.text, "i32(-2147483648)"),
            Literal::I32(x) => write!(self.text, "{x}i"),
            // Printed with few digits it would exceed the largest float, which browsers refuse.
            Literal::F32(x) if x.abs() == f32::MAX => write!(self.text, "{:?}f", f64::from(x)),
            Literal::F32(x) => write!(self.text, "{x:?}f"),
        };
    }
}

const fn chromium_order(order: Order) -> &'static str {
    match order {
        Order::RowMajor => "row_major",
        Order::ColumnMajor => "col_major",
    }
}

/// The suffix of functions that load and store matrices with these lines.
const fn by_lines(order: Order) -> &'static str {
    match order {
        Order::RowMajor => "T",
        Order::ColumnMajor => "",
    }
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Text(&'a str),
    Value(Val<'a>),
}

fn precedence(expr: &Expr) -> Precedence {
    match expr {
        Expr::Unary(..) => Precedence::Unary,
        Expr::Literal(Literal::I32(i32::MIN)) => Precedence::Primary,
        Expr::Literal(Literal::I32(x)) if *x < 0 => Precedence::Unary,
        Expr::Literal(Literal::F32(x)) if x.is_sign_negative() => Precedence::Unary,
        Expr::Binary(op, ..) => match op {
            BinaryOp::Add | BinaryOp::Sub => Precedence::Additive,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Precedence::Multiplicative,
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Precedence::Bitwise,
            BinaryOp::Shl | BinaryOp::Shr => Precedence::Shift,
            BinaryOp::LogicalAnd => Precedence::And,
            BinaryOp::LogicalOr => Precedence::Or,
            _ => Precedence::Relational,
        },
        // An operation of the table may use any operator.
        Expr::Operation(..) => Precedence::Or,
        _ => Precedence::Primary,
    }
}

/// True if WGSL allows the chain `x op y op z` although operands of `op` must bind tighter.
const fn chains(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
}

/// An operator's symbol and its operands' minimum precedence. WGSL allows only unary operands for shifts and bitwise
/// operators, and does not mix `&&` with `||`.
const fn operator(op: BinaryOp) -> (&'static str, Precedence, Precedence) {
    use Precedence::{Additive, Multiplicative, Relational, Shift, Unary};
    match op {
        BinaryOp::Add => ("+", Additive, Multiplicative),
        BinaryOp::Sub => ("-", Additive, Multiplicative),
        BinaryOp::Mul => ("*", Multiplicative, Unary),
        BinaryOp::Div => ("/", Multiplicative, Unary),
        BinaryOp::Rem => ("%", Multiplicative, Unary),
        BinaryOp::And => ("&", Unary, Unary),
        BinaryOp::Or => ("|", Unary, Unary),
        BinaryOp::Xor => ("^", Unary, Unary),
        BinaryOp::Shl => ("<<", Unary, Unary),
        BinaryOp::Shr => (">>", Unary, Unary),
        BinaryOp::LogicalAnd => ("&&", Relational, Relational),
        BinaryOp::LogicalOr => ("||", Relational, Relational),
        BinaryOp::Eq => ("==", Shift, Shift),
        BinaryOp::Ne => ("!=", Shift, Shift),
        BinaryOp::Lt => ("<", Shift, Shift),
        BinaryOp::Le => ("<=", Shift, Shift),
        BinaryOp::Gt => (">", Shift, Shift),
        BinaryOp::Ge => (">=", Shift, Shift),
    }
}
