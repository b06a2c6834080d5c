//! Which functions of a block a body calls.

use crate::syntax::ast::{Argument, Block, Call, Expr, ExprKind, Function};

/// Whether `function` calls a function of this name.
pub(crate) fn is_callee(function: &Function, name: &str) -> bool {
    block_calls(&function.body, name)
}

fn block_calls(block: &Block, name: &str) -> bool {
    block.statements.iter().any(|statement| expr_calls(&statement.value, name)) || expr_calls(&block.value, name)
}

fn expr_calls(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Place(_) | ExprKind::Literal(_) | ExprKind::Error => false,
        ExprKind::Unary(_, x) | ExprKind::Cast(x, ..) => expr_calls(x, name),
        ExprKind::Binary(first, others) => {
            expr_calls(first, name) || others.iter().any(|(_, operand)| expr_calls(operand, name))
        }
        ExprKind::Tuple(values) => values.iter().any(|value| expr_calls(value, name)),
        ExprKind::Block(block) => block_calls(block, name),
        ExprKind::Call(call) => call.name == name || call_arguments(call).any(|argument| expr_calls(argument, name)),
    }
}

/// All expressions among the arguments of a call.
pub(crate) fn call_arguments(call: &Call) -> impl Iterator<Item = &Expr> {
    let arguments = call.arguments.iter().chain(call.options.iter().map(|(_, argument)| argument));
    arguments.flat_map(|argument| match argument {
        Argument::Expr(expr) => std::slice::from_ref(expr),
        Argument::List(list, _) => list.as_slice(),
    })
}
