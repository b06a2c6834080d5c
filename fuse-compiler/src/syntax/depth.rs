//! Limits of nesting: refuses expressions whose walk or drop would exhaust the stack.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::Expr;

use crate::diag::{Code, Diagnostic, SourceRange};

/// Nesting of brackets, prefix operators and operands.
const MAX_DEPTH: usize = 200;

/// Operators in one expression. syn nests them to the left, so each costs stack in every walk and drop.
///
/// A function may have many more, spread over `let`s.
const MAX_OPERATORS: usize = 1100;

pub(super) fn too_deep(at: SourceRange) -> Diagnostic {
    let message =
        format!("the expression nests more than {MAX_DEPTH} levels deep, or has more than {MAX_OPERATORS} operators");
    Diagnostic::new(Code::SyntaxError, at, message).help("bind parts of it with `let`")
}

pub(super) fn brackets_nest_too_deeply(tokens: TokenStream) -> bool {
    let mut pending = vec![(tokens, 0)];
    while let Some((tokens, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        pending.extend(tokens.into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some((group.stream(), depth + 1)),
            _ => None,
        }));
    }
    false
}

/// True if walking or dropping the tree could exhaust the stack.
///
/// Brackets, prefix operators, calls, conversions and keywords nest. syn nests operator chains to the left.
pub(super) fn nests_too_deeply(tokens: TokenStream) -> bool {
    let mut pending = vec![(tokens, 0)];
    while let Some((tokens, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        let mut levels = Levels::default();
        for token in tokens {
            levels.add(&token);
            if let TokenTree::Group(group) = &token {
                pending.push((group.stream(), depth + 1 + levels.prefix));
                levels.prefix = 0;
            }
            if levels.are_too_many() {
                return true;
            }
        }
    }
    false
}

const KEYWORDS: [&str; 12] =
    ["async", "await", "break", "for", "if", "in", "let", "loop", "match", "move", "return", "while"];

#[derive(Default)]
struct Levels {
    /// Tokens that nest everything after them.
    right: usize,
    /// Tokens that may add a level to their operand.
    operand: usize,
    prefix: usize,
    operators: usize,
    /// The last token ended an operand, was an identifier, or starts a multi-character operator.
    after: (bool, bool, bool),
}

impl Levels {
    fn add(&mut self, token: &TokenTree) {
        let (after_operand, after_ident, joined) = std::mem::take(&mut self.after);
        match token {
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => *self = Self::default(),
            TokenTree::Punct(punct) => {
                let (char, joint) = (punct.as_char(), punct.spacing() == Spacing::Joint);
                let operator = "+-*/%<>".contains(char) || joint && "=!&|".contains(char);
                match () {
                    () if joined => {}
                    () if after_operand && operator => {
                        (self.operators, self.operand, self.prefix) = (self.operators + 1, 0, 0);
                        self.after.2 = joint && "=!&|<>".contains(char);
                    }
                    () if char == '.' && !joint => self.operand += 1,
                    () => {
                        self.prefix += 1;
                        self.right += usize::from("=|&.".contains(char));
                        self.operand += 1;
                    }
                }
            }
            TokenTree::Group(_) => {
                self.operand += 1;
                self.after = (true, false, false);
            }
            TokenTree::Ident(ident) => {
                let keyword = KEYWORDS.iter().any(|keyword| ident == keyword);
                self.right += usize::from(keyword);
                self.operand += usize::from(after_ident);
                self.prefix = 0;
                self.after = (!keyword, true, false);
            }
            TokenTree::Literal(_) => {
                self.prefix = 0;
                self.after = (true, false, false);
            }
        }
    }

    fn are_too_many(&self) -> bool {
        self.right.max(self.operand) > 2 * MAX_DEPTH || self.operators > MAX_OPERATORS
    }
}

/// Iterative, since it guards recursion.
pub(super) fn operands_nest_too_deeply(expr: &Expr) -> bool {
    let mut pending = vec![(expr, 0)];
    while let Some((expr, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        let mut push = |child| pending.push((child, depth + 1));
        match expr {
            Expr::Binary(binary) => {
                push(&binary.right);
                // Left operands are walked in a loop.
                let chained = matches!(*binary.left, Expr::Binary(_));
                pending.push((&binary.left, if chained { depth } else { depth + 1 }));
            }
            Expr::Unary(unary) => push(&unary.expr),
            Expr::Paren(paren) => push(&paren.expr),
            Expr::Group(group) => push(&group.expr),
            Expr::Cast(cast) => push(&cast.expr),
            Expr::Call(call) => call.args.iter().for_each(push),
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(push),
            Expr::Array(array) => array.elems.iter().for_each(push),
            Expr::Assign(assign) => push(&assign.right),
            Expr::Field(field) => push(&field.base),
            Expr::Index(index) => push(&index.expr),
            Expr::MethodCall(call) => push(&call.receiver),
            _ => {}
        }
    }
    false
}
