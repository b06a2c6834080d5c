//! Fusions of a compiled graph: operations that share a kernel, and their names.

use crate::{
    cache::code_cache::{Compiled, Shared},
    op::Op,
    pattern::{Activation, BinaryOp, FusionPattern},
    source::Source,
    trace::{Ref, Trace},
};

#[derive(Clone, Debug)]
pub(crate) struct Fusion {
    pub(crate) pattern: FusionPattern,
    pub(crate) nodes: Vec<usize>,
    pub(crate) inner: Vec<usize>,
}

pub(crate) fn fusions(trace: &Trace, source: &Source, code: &Compiled) -> Vec<Fusion> {
    if cfg!(not(feature = "jit")) || source.text != code.source {
        return vec![];
    }
    named(trace, &code.shared)
}

pub(crate) fn named(trace: &Trace, shared: &[Shared]) -> Vec<Fusion> {
    let nodes = statements(trace);
    let of = |list: &[usize]| list.iter().filter_map(|&statement| nodes.get(statement).copied()).collect::<Vec<_>>();
    let fusion = |shared: &Shared| {
        let (nodes, inner) = (of(&shared.statements), of(&shared.inner));
        Fusion { pattern: FusionPattern::of(trace, &nodes), nodes, inner }
    };
    shared.iter().filter(|shared| shared.statements.len() > 1).map(fusion).collect()
}

pub(crate) fn statements(trace: &Trace) -> Vec<usize> {
    let is_statement = |node: &usize| {
        !trace.is_leaf(*node) && !matches!(trace.nodes[*node].op, Op::Part(_)) && trace.owner(*node).is_none()
    };
    (0..trace.nodes.len()).filter(is_statement).collect()
}

impl FusionPattern {
    pub(crate) fn of(trace: &Trace, nodes: &[usize]) -> Self {
        let ops: Vec<&Op> = nodes.iter().map(|&node| &trace.nodes[node].op).collect();
        let names: Vec<&str> = ops.iter().map(|op| op.name()).collect();
        let activation = names.iter().rev().find_map(|name| Activation::of(name));
        let products = ops.iter().filter(|op| matches!(op, Op::Matmul)).count();
        let quantized = nodes.iter().any(|&node| {
            trace
                .inputs(node)
                .iter()
                .any(|input| matches!(input, Ref::Node(input) if trace.is_quantized(*input as usize)))
        });
        if products > 0 {
            return Self::of_product(&names, products, quantized, activation);
        }
        if ops.iter().any(|op| {
            matches!(op, Op::Row(..) | Op::Norm(..) | Op::GroupNorm(_) | Op::Reduce(..) | Op::CrossEntropy(_))
        }) {
            return Self::NormActivation;
        }
        if ops.iter().any(|op| is_movement(op)) {
            return Self::ReshapeOp;
        }
        if names.iter().all(|name| Activation::of(name).is_some() || *name == "dropout") {
            return Self::ActivationChain;
        }
        let [first, second] = nodes else { return Self::ElementWiseChain };
        let (binary, then) = (&trace.nodes[*first].op, &trace.nodes[*second].op);
        let operands = trace.inputs(*first);
        match (operands.len(), trace.inputs(*second).len(), BinaryOp::of(binary.name()), Activation::of(then.name())) {
            (2, _, Some(op), Some(activation)) => {
                let with_number = operands.iter().any(|operand| matches!(operand, Ref::Number(_)));
                match with_number {
                    true => Self::ScalarActivation { scalar_op: op, activation },
                    false => Self::BinaryActivation { binary_op: op, activation },
                }
            }
            (2, 1, ..) => Self::BinaryUnary,
            _ => Self::ElementWiseChain,
        }
    }

    fn of_product(names: &[&str], products: usize, quantized: bool, activation: Option<Activation>) -> Self {
        let attends = products >= 2 && names.contains(&"softmax");
        match (attends, quantized, activation) {
            (true, true, _) => Self::QuantizedAttention,
            (true, false, _) => Self::AttentionPattern,
            (false, true, Some(_)) => Self::QuantizedMatmulActivation,
            (false, true, None) => Self::QuantizedMatmul,
            _ if products >= 2 => Self::MatrixChain,
            _ => {
                let product = names.iter().position(|name| *name == "matmul").unwrap_or(0);
                Self::LinearLayer { has_bias: names[product..].contains(&"add"), activation }
            }
        }
    }
}

fn is_movement(op: &Op) -> bool {
    matches!(
        op,
        Op::Transpose
            | Op::Permute(_)
            | Op::Reshape(_)
            | Op::BroadcastTo(_)
            | Op::Slice { .. }
            | Op::Squeeze(_)
            | Op::Unsqueeze(_)
            | Op::Concat(_)
            | Op::Stack(_)
            | Op::Flip(_)
            | Op::Gather(_)
            | Op::Pad(..)
            | Op::Roll(_)
            | Op::Repeat(..)
    )
}
