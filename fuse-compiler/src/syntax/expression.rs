//! Converts syn's expressions to the language's. Reports all others with replacements.

use fuse_artifact::DType;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{BinOp, Expr, Lit, UnOp};

use super::{
    ast::{self, Argument, BinaryOperator, Call, ExprKind, HostOperand, Literal, UnaryOperator},
    depth::{operands_nest_too_deeply, too_deep},
    foreign, paths,
    types::{DTYPES, element_of},
};
use crate::diag::{Code, Diagnostic, Sink, SourceRange, range_of};

pub(crate) struct Converter<'a> {
    pub(super) generics: &'a [Ident],
    /// True if field paths mean host values.
    pub(super) places: bool,
    pub(super) sink: &'a Sink,
}

impl<'a> Converter<'a> {
    pub(crate) fn of_function(generics: &'a [Ident], sink: &'a Sink) -> Self {
        Self { generics, places: false, sink }
    }

    pub(crate) fn of_expression(sink: &'a Sink) -> Self {
        Self { generics: &[], places: true, sink }
    }

    pub(super) fn convert(&self, expr: &Expr) -> ast::Expr {
        let range = range_of(expr);
        if operands_nest_too_deeply(expr) {
            self.sink.report(too_deep(range));
            return ast::Expr::error(range);
        }
        self.expr(expr)
    }

    fn expr(&self, expr: &Expr) -> ast::Expr {
        let span = range_of(expr);
        match self.kind(expr, span) {
            Ok(kind) => ast::Expr { kind, span },
            Err(diagnostic) => {
                self.sink.report(diagnostic);
                ast::Expr::error(span)
            }
        }
    }

    fn boxed(&self, expr: &Expr) -> Box<ast::Expr> {
        Box::new(self.expr(expr))
    }

    fn kind(&self, expr: &Expr, span: SourceRange) -> Result<ExprKind, Diagnostic> {
        Ok(match expr {
            Expr::Paren(paren) => self.expr(&paren.expr).kind,
            Expr::Group(group) => self.expr(&group.expr).kind,
            Expr::Lit(literal) => ExprKind::Literal(literal_of(&literal.lit)?),
            Expr::Path(path) => self.path(path, span)?,
            Expr::Unary(unary) => {
                let operator = unary_operator(&unary.op, span)?;
                ExprKind::Unary(operator, self.boxed(&unary.expr))
            }
            Expr::Binary(binary) => self.chain(binary)?,
            Expr::Cast(cast) => self.cast(cast)?,
            Expr::Call(call) => ExprKind::Call(self.call(call)?),
            Expr::Tuple(tuple) if !tuple.elems.is_empty() => {
                ExprKind::Tuple(tuple.elems.iter().map(|element| self.expr(element)).collect())
            }
            Expr::Block(block) if block.label.is_none() => {
                let mut tokens = proc_macro2::TokenStream::new();
                block.block.stmts.iter().for_each(|statement| statement.to_tokens(&mut tokens));
                ExprKind::Block(Box::new(self.block(tokens, span)))
            }
            other => match self.places.then(|| place_of(other, span)).flatten() {
                Some(place) => ExprKind::HostOperand(place),
                None => match other {
                    Expr::MethodCall(call) => ExprKind::Method(self.method(call)),
                    Expr::Index(index) if matches!(*index.expr, Expr::MethodCall(_)) => self.expr(&index.expr).kind,
                    Expr::Index(index) => {
                        let content = index.index.to_token_stream();
                        return Err(foreign::indexed(&self.text(&index.expr), content, span, self.places));
                    }
                    _ => return Err(unsupported(other, span)),
                },
            },
        })
    }

    /// Flattens a chain that syn nests to the left.
    fn chain(&self, last: &syn::ExprBinary) -> Result<ExprKind, Diagnostic> {
        let mut links = vec![last];
        while let Expr::Binary(left) = &*links[links.len() - 1].left {
            links.push(left);
        }
        let first = self.boxed(&links[links.len() - 1].left);
        if let Some(power) = links.iter().rev().find_map(|link| self.power(link)) {
            return Err(power);
        }
        let operand = |link: &&syn::ExprBinary| Ok((binary_operator(&link.op)?, self.expr(&link.right)));
        Ok(ExprKind::Binary(first, links.iter().rev().map(operand).collect::<Result<_, Diagnostic>>()?))
    }

    /// `x ** 2.0`, to Rust `x * (*2.0)`. Between names it may be a product with a reference.
    fn power(&self, link: &syn::ExprBinary) -> Option<Diagnostic> {
        let (BinOp::Mul(star), Expr::Unary(unary)) = (&link.op, &*link.right) else { return None };
        let UnOp::Deref(second) = &unary.op else { return None };
        let base = match &*link.left {
            Expr::Binary(left) => &left.right,
            left => left,
        };
        let power = format!("`pow({}, {})`", self.text(base), self.text(&unary.expr));
        let at = (star.span, second.span);
        Some(match &*unary.expr {
            Expr::Lit(_) => {
                Diagnostic::new(Code::UnsupportedOperator, at, "`**` is no operator").help(format!("write {power}"))
            }
            _ => Diagnostic::new(Code::UnsupportedOperator, at, "tensors are not references")
                .help(format!("remove the second `*`; for a power write {power}")),
        })
    }

    fn cast(&self, cast: &syn::ExprCast) -> Result<ExprKind, Diagnostic> {
        let at = range_of(&cast.ty);
        let name = match &*cast.ty {
            syn::Type::Path(path) => path.path.get_ident(),
            _ => None,
        };
        let Some(name) = name else {
            return Err(Diagnostic::new(Code::UnknownType, at, "expected an element type after `as`")
                .help("write `x as f32`, `f16`, `i32`, `u32` or `bool`"));
        };
        let element = element_of(name, self.generics)?;
        Ok(ExprKind::Cast(self.boxed(&cast.expr), element, name.span()))
    }

    fn call(&self, call: &syn::ExprCall) -> Result<Call, Diagnostic> {
        let at = range_of(&call.func);
        let Expr::Path(path) = &*call.func else {
            return Err(Diagnostic::new(Code::UnsupportedSyntax, at, "only operations and functions can be called")
                .help("write `name(…)`; for a product write `a * b`"));
        };
        let Some(name) = plain_name(path) else { return Err(paths::not_a_function(&path.path, at, self.places)) };
        let mut arguments = Vec::new();
        let mut options = Vec::new();
        for argument in &call.args {
            match argument {
                Expr::Assign(assign) => match option_name(assign) {
                    Some(name) => options.push((name, self.argument(&assign.right))),
                    None => self.sink.report(unsupported(argument, range_of(argument))),
                },
                _ => arguments.push(self.argument(argument)),
            }
        }
        Ok(Call { name, arguments, options })
    }

    fn path(&self, path: &syn::ExprPath, span: SourceRange) -> Result<ExprKind, Diagnostic> {
        if let Some(name) = plain_name(path) {
            return Ok(ExprKind::Name(name));
        }
        if let Some(literal) = paths::constant(&path.path).filter(|_| path.qself.is_none()) {
            return Ok(ExprKind::Literal(literal));
        }
        match path.path.segments.last() {
            Some(last) if self.places => {
                let tokens = path.to_token_stream();
                let text = tokens.to_string().replace(' ', "");
                Ok(ExprKind::HostOperand(HostOperand {
                    text,
                    tokens,
                    root: last.ident.clone(),
                    methods: Vec::new(),
                    span,
                }))
            }
            _ => Err(paths::not_a_variable(&path.path, span)),
        }
    }

    /// Lowering reports the call; other errors in it are dropped.
    fn method(&self, call: &syn::ExprMethodCall) -> Call {
        let sink = Sink::new();
        let quiet = Converter { sink: &sink, ..*self };
        let mut function = function_of(call, quiet.expr(&call.receiver));
        for argument in &call.args {
            match argument {
                Expr::Assign(assign) => {
                    function.options.extend(option_name(assign).map(|name| (name, quiet.argument(&assign.right))))
                }
                _ => function.arguments.push(quiet.argument(argument)),
            }
        }
        drop(sink.finish());
        function
    }

    fn text(&self, expr: &Expr) -> String {
        let sink = Sink::new();
        let text = Converter { sink: &sink, ..*self }.expr(expr).to_string();
        drop(sink.finish());
        text
    }

    fn argument(&self, expr: &Expr) -> Argument {
        match expr {
            Expr::Array(array) => {
                let elements = array.elems.iter().map(|element| self.expr(element)).collect();
                Argument::List(elements, array.bracket_token.span.join())
            }
            Expr::Group(group) => self.argument(&group.expr),
            _ => Argument::Expr(self.expr(expr)),
        }
    }
}

fn option_name(argument: &syn::ExprAssign) -> Option<Ident> {
    match &*argument.left {
        Expr::Path(path) => plain_name(path),
        _ => None,
    }
}

fn plain_name(path: &syn::ExprPath) -> Option<Ident> {
    path.path.get_ident().filter(|_| path.qself.is_none()).cloned()
}

/// Path from a variable over fields, indices and getters: `self.layers[0].bias()`.
fn place_of(expr: &Expr, span: SourceRange) -> Option<HostOperand> {
    let (mut parts, mut methods) = (Vec::new(), Vec::new());
    let mut at = expr;
    let root = loop {
        at = match at {
            Expr::Field(field) if !is_transpose(&field.member) => {
                parts.push(format!(".{}", field.member.to_token_stream()));
                &field.base
            }
            Expr::Index(index) if !matches!(*index.index, Expr::Range(_)) => {
                parts.push(format!("[{}]", index.index.to_token_stream()));
                &index.expr
            }
            Expr::MethodCall(call) if call.args.is_empty() && call.turbofish.is_none() => {
                parts.push(format!(".{}()", call.method));
                methods.push(function_of(call, plain_receiver(&call.receiver)));
                &call.receiver
            }
            Expr::Group(group) => &group.expr,
            Expr::Path(path) => break path.path.get_ident().filter(|_| path.qself.is_none())?,
            _ => return None,
        };
    };
    parts.push(root.to_string());
    let text = parts.into_iter().rev().collect();
    Some(HostOperand { text, tokens: expr.to_token_stream(), root: root.clone(), methods, span })
}

fn unary_operator(operator: &UnOp, at: SourceRange) -> Result<UnaryOperator, Diagnostic> {
    match operator {
        UnOp::Neg(_) => Ok(UnaryOperator::Neg),
        UnOp::Not(_) => Ok(UnaryOperator::Not),
        _ => Err(Diagnostic::new(Code::UnsupportedOperator, at, "tensors are not references").help("remove the `*`")),
    }
}

fn binary_operator(operator: &BinOp) -> Result<BinaryOperator, Diagnostic> {
    Ok(match operator {
        BinOp::Add(_) => BinaryOperator::Add,
        BinOp::Sub(_) => BinaryOperator::Sub,
        BinOp::Mul(_) => BinaryOperator::Mul,
        BinOp::Div(_) => BinaryOperator::Div,
        BinOp::Rem(_) => BinaryOperator::Rem,
        BinOp::And(_) => BinaryOperator::And,
        BinOp::Or(_) => BinaryOperator::Or,
        BinOp::Eq(_) => BinaryOperator::Eq,
        BinOp::Ne(_) => BinaryOperator::Ne,
        BinOp::Lt(_) => BinaryOperator::Lt,
        BinOp::Le(_) => BinaryOperator::Le,
        BinOp::Gt(_) => BinaryOperator::Gt,
        BinOp::Ge(_) => BinaryOperator::Ge,
        BinOp::BitAnd(_) => BinaryOperator::BitAnd,
        BinOp::BitOr(_) => BinaryOperator::BitOr,
        BinOp::BitXor(_) => BinaryOperator::BitXor,
        BinOp::Shl(_) => BinaryOperator::Shl,
        BinOp::Shr(_) => BinaryOperator::Shr,
        _ => {
            return Err(Diagnostic::new(Code::Assignment, range_of(operator), "a body has no variables to assign to")
                .help("bind a new name: `let y = x + 1.0;`"));
        }
    })
}

fn literal_of(literal: &Lit) -> Result<Literal, Diagnostic> {
    let at = (literal.span(), literal.span());
    match literal {
        Lit::Bool(value) => Ok(Literal::Bool(value.value)),
        Lit::Int(int) => {
            let dtype = suffix(int.suffix(), at)?;
            let parsed = int.base10_parse::<i128>().map_err(|_| out_of_range(literal, at))?;
            match dtype {
                Some(dtype) if dtype.is_float() => Ok(Literal::Float(parsed as f64, Some(dtype))),
                dtype => Ok(Literal::Integer(parsed, dtype)),
            }
        }
        Lit::Float(float) => {
            let dtype = suffix(float.suffix(), at)?;
            let value = float.base10_parse::<f64>().map_err(|_| out_of_range(literal, at))?;
            match value.is_finite() {
                true => Ok(Literal::Float(value, dtype)),
                false => Err(out_of_range(literal, at)),
            }
        }
        _ => Err(Diagnostic::new(Code::UnsupportedLiteral, at, "expected a number, `true` or `false`")
            .help("tensors hold no text: write a number such as `1.0`")),
    }
}

fn suffix(suffix: &str, at: SourceRange) -> Result<Option<DType>, Diagnostic> {
    if suffix.is_empty() {
        return Ok(None);
    }
    match DTYPES.iter().find(|dtype| dtype.name() == suffix) {
        Some(dtype) => Ok(Some(*dtype)),
        None => Err(Diagnostic::new(Code::LiteralSuffix, at, format!("`{suffix}` is not the suffix of a dtype"))
            .help("leave it out: a literal takes the dtype of what it meets")),
    }
}

fn out_of_range(literal: &Lit, at: SourceRange) -> Diagnostic {
    let text = literal.to_token_stream().to_string();
    Diagnostic::new(Code::LiteralOutOfRange, at, format!("`{text}` is too large for any dtype"))
        .help("the largest finite `f32` is about 3.4e38")
}

fn unsupported(expr: &Expr, at: SourceRange) -> Diagnostic {
    let (code, message, help) = match expr {
        Expr::If(_) | Expr::Match(_) => (
            Code::IfExpression,
            "a body has no `if` and no `match`",
            "write `select(condition, a, b)`, which is `a` where the condition holds and `b` elsewhere",
        ),
        Expr::ForLoop(_) | Expr::Loop(_) => (
            Code::LoopExpression,
            "a body has no loops",
            "operations work on all elements at once: `x * 2.0` doubles every element",
        ),
        Expr::Field(field) if is_transpose(&field.member) => {
            let help = format!("write `transpose({})`", plain_text(&field.base));
            return Diagnostic::new(Code::MethodCall, at, "values have no fields").help(help);
        }
        Expr::Field(_) => (Code::MethodCall, "values have no fields", "use the value itself"),
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Try(_) => (
            Code::ReturnExpression,
            "a body has no `return`, `break`, `continue` or `?`",
            "end the body with the value to return, without `;`",
        ),
        Expr::Closure(_) => {
            (Code::ClosureExpression, "a body has no closures", "write a function in the same block and call it")
        }
        Expr::Assign(_) => {
            (Code::Assignment, "a body has no variables to assign to", "bind a new name: `let y = x + 1.0;`")
        }
        Expr::Array(_) | Expr::Repeat(_) => (
            Code::UnexpectedList,
            "a list is not a value",
            "lists are arguments: `permute(x, [1, 0])`, `reshape(x, [M, 4])`",
        ),
        Expr::Reference(_) | Expr::RawAddr(_) => {
            (Code::UnsupportedSyntax, "values are used without `&`", "write `x` in place of `&x`")
        }
        Expr::Range(_) => {
            (Code::UnsupportedSyntax, "a body has no ranges", "write `slice(x, axis = 0, start = 0, end = 4)`")
        }
        Expr::Macro(call) if prints(&call.mac) => (
            Code::UnsupportedSyntax,
            "a kernel prints nothing",
            "return the value as a second result, `(y, value)`, and print it after the launch",
        ),
        Expr::Macro(_) => (Code::UnsupportedSyntax, "a body has no macro calls", "bind its value outside and pass it"),
        Expr::Verbatim(_) => (Code::UnsupportedSyntax, "this is not an expression", "write a value such as `relu(x)`"),
        _ if is_while(expr) => (
            Code::LoopExpression,
            "a body has no loops",
            "operations work on all elements at once: `x * 2.0` doubles every element",
        ),
        _ => (
            Code::UnsupportedSyntax,
            "this Rust syntax has no meaning in a kernel",
            "a body is made of `let`, operators, literals and calls",
        ),
    };
    Diagnostic::new(code, at, message).help(help)
}

fn is_transpose(member: &syn::Member) -> bool {
    matches!(member, syn::Member::Named(name) if name == "T")
}

fn prints(call: &syn::Macro) -> bool {
    ["print", "println", "eprint", "eprintln", "dbg"].iter().any(|name| call.path.is_ident(name))
}

fn is_while(expr: &Expr) -> bool {
    expr.to_token_stream().into_iter().next().is_some_and(|token| token.to_string() == "while")
}

fn plain_text(expr: &Expr) -> String {
    match expr {
        Expr::Path(path) => path.path.get_ident().map_or_else(|| "x".into(), ToString::to_string),
        _ => "x".into(),
    }
}

fn function_of(call: &syn::ExprMethodCall, receiver: ast::Expr) -> Call {
    Call { name: call.method.clone(), arguments: vec![Argument::Expr(receiver)], options: vec![] }
}

fn plain_receiver(receiver: &Expr) -> ast::Expr {
    let name = Ident::new(&plain_text(receiver), proc_macro2::Span::call_site());
    ast::Expr { kind: ExprKind::Name(name), span: range_of(receiver) }
}
