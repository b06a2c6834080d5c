//! Calls: functions of a block, and gradients with their variables' names.

use std::collections::BTreeSet;

use crate::syntax::ast::{Argument, Block, Call, Expr, ExprKind, Function};

pub(crate) fn is_callee(function: &Function, name: &str) -> bool {
    block_calls(&function.body, name)
}

fn block_calls(block: &Block, name: &str) -> bool {
    block.statements.iter().any(|statement| expr_calls(&statement.value, name)) || expr_calls(&block.value, name)
}

fn expr_calls(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::HostOperand(_) | ExprKind::Literal(_) | ExprKind::Error => false,
        ExprKind::Unary(_, x) | ExprKind::Cast(x, ..) => expr_calls(x, name),
        ExprKind::Binary(first, others) => {
            expr_calls(first, name) || others.iter().any(|(_, operand)| expr_calls(operand, name))
        }
        ExprKind::Tuple(values) => values.iter().any(|value| expr_calls(value, name)),
        ExprKind::Block(block) => block_calls(block, name),
        ExprKind::Method(_) => false,
        ExprKind::Call(call) => call.name == name || call_arguments(call).any(|argument| expr_calls(argument, name)),
    }
}

pub(crate) fn add_differentiated(block: &Block, names: &mut BTreeSet<String>) {
    for statement in &block.statements {
        add_differentiated_in(&statement.value, names);
    }
    add_differentiated_in(&block.value, names);
}

fn add_differentiated_in(expr: &Expr, names: &mut BTreeSet<String>) {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::HostOperand(_) | ExprKind::Literal(_) | ExprKind::Method(_) | ExprKind::Error => {
        }
        ExprKind::Unary(_, x) | ExprKind::Cast(x, ..) => add_differentiated_in(x, names),
        ExprKind::Binary(first, others) => {
            add_differentiated_in(first, names);
            others.iter().for_each(|(_, operand)| add_differentiated_in(operand, names));
        }
        ExprKind::Tuple(values) => values.iter().for_each(|value| add_differentiated_in(value, names)),
        ExprKind::Block(block) => add_differentiated(block, names),
        ExprKind::Call(call) => {
            let wrt = call.options.iter().filter(|(option, _)| call.name == "grad" && *option == "wrt");
            for value in wrt.flat_map(|(_, argument)| argument_exprs(argument)) {
                if let ExprKind::Name(name) = &value.kind {
                    names.insert(name.to_string());
                }
            }
            call_arguments(call).for_each(|argument| add_differentiated_in(argument, names));
        }
    }
}

pub(crate) fn call_arguments(call: &Call) -> impl Iterator<Item = &Expr> {
    let arguments = call.arguments.iter().chain(call.options.iter().map(|(_, argument)| argument));
    arguments.flat_map(argument_exprs)
}

fn argument_exprs(argument: &Argument) -> &[Expr] {
    match argument {
        Argument::Expr(expr) => std::slice::from_ref(expr),
        Argument::List(list, _) => list.as_slice(),
    }
}
