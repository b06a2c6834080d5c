//! The table of the language's operations: names, arguments, options and the dtypes they take.
//!
//! Pointwise operations come from the enumerations of `graph::types`; the rest is listed here. Adding an
//! operation means one row here and one arm where `Kind` is lowered.

use crate::graph::{BinaryOp, CompareOp, UnaryOp};

/// What an operation is lowered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A pointwise operation of the graph.
    Pointwise(Pointwise),
    Clamp,
    LeakyRelu,
    Elu,
    Matmul,
    Dot,
    Outer,
    Transpose,
    Permute,
    Reshape,
    BroadcastTo,
    Slice,
    Squeeze,
    Unsqueeze,
    Index,
}

/// A pointwise operation of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointwise {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Select,
}

/// The dtypes that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Any,
    Number,
    Float,
    Bool,
}

impl Pointwise {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unary(op) => op.name(),
            Self::Binary(op) => op.name(),
            Self::Compare(op) => op.name(),
            Self::Select => "select",
        }
    }

    /// The dtypes of its operands (of a select: of the two values).
    pub(crate) fn class(self) -> Class {
        match self {
            Self::Unary(UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sign | UnaryOp::Relu) => Class::Number,
            Self::Unary(UnaryOp::Not) | Self::Binary(BinaryOp::And | BinaryOp::Or) => Class::Bool,
            Self::Unary(_) | Self::Binary(BinaryOp::Pow) => Class::Float,
            Self::Binary(_) => Class::Number,
            Self::Compare(CompareOp::Eq | CompareOp::Ne) | Self::Select => Class::Any,
            Self::Compare(_) => Class::Number,
        }
    }

    /// How it is written between or before its operands, if it is an operator.
    pub(crate) fn symbol(self) -> Option<&'static str> {
        Some(match self {
            Self::Unary(UnaryOp::Neg) | Self::Binary(BinaryOp::Sub) => "-",
            Self::Unary(UnaryOp::Not) => "!",
            Self::Binary(BinaryOp::Add) => "+",
            Self::Binary(BinaryOp::Mul) => "*",
            Self::Binary(BinaryOp::Div) => "/",
            Self::Binary(BinaryOp::Rem) => "%",
            Self::Binary(BinaryOp::And) => "&&",
            Self::Binary(BinaryOp::Or) => "||",
            Self::Compare(CompareOp::Eq) => "==",
            Self::Compare(CompareOp::Ne) => "!=",
            Self::Compare(CompareOp::Lt) => "<",
            Self::Compare(CompareOp::Le) => "<=",
            Self::Compare(CompareOp::Gt) => ">",
            Self::Compare(CompareOp::Ge) => ">=",
            _ => return None,
        })
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The least and the most positional arguments.
    pub(crate) arguments: (usize, usize),
    /// Named arguments.
    pub(crate) options: &'static [Named],
    /// How it is written.
    pub(crate) usage: &'static str,
}

/// A named argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
}

const AXIS: Named = Named { name: "axis", required: true };

const fn optional(name: &'static str) -> Named {
    Named { name, required: false }
}

const fn row(
    name: &'static str,
    kind: Kind,
    arguments: (usize, usize),
    options: &'static [Named],
    usage: &'static str,
) -> Operation {
    Operation { name, kind, arguments, options, usage }
}

const TABLE: &[Operation] = &[
    row("select", Kind::Pointwise(Pointwise::Select), (3, 3), &[], "select(condition, a, b)"),
    row("clamp", Kind::Clamp, (3, 3), &[], "clamp(x, low, high)"),
    row("leaky_relu", Kind::LeakyRelu, (1, 1), &[optional("slope")], "leaky_relu(x, slope = 0.01)"),
    row("elu", Kind::Elu, (1, 1), &[optional("alpha")], "elu(x, alpha = 1.0)"),
    row("matmul", Kind::Matmul, (2, 2), &[], "matmul(a, b)"),
    row("dot", Kind::Dot, (2, 2), &[], "dot(a, b)"),
    row("outer", Kind::Outer, (2, 2), &[], "outer(a, b)"),
    row("transpose", Kind::Transpose, (1, 1), &[], "transpose(x)"),
    row("permute", Kind::Permute, (2, 2), &[], "permute(x, [0, 2, 1])"),
    row("reshape", Kind::Reshape, (2, 2), &[], "reshape(x, [M, 4])"),
    row("broadcast_to", Kind::BroadcastTo, (2, 2), &[], "broadcast_to(x, [M, N])"),
    row(
        "slice",
        Kind::Slice,
        (1, 1),
        &[AXIS, optional("start"), optional("end")],
        "slice(x, axis = 1, start = 0, end = 4)",
    ),
    row("squeeze", Kind::Squeeze, (1, 1), &[AXIS], "squeeze(x, axis = 0)"),
    row("unsqueeze", Kind::Unsqueeze, (1, 1), &[AXIS], "unsqueeze(x, axis = 0)"),
    row("index", Kind::Index, (0, 1), &[AXIS], "index(axis = 1)` or `index(x, axis = 1)"),
];

/// Operations of the language that are not built yet.
const PLANNED: &[&str] = &[
    "all",
    "any",
    "argmax",
    "argmin",
    "batch_norm",
    "concat",
    "dequantize",
    "dropout",
    "embedding",
    "flip",
    "gather",
    "group_norm",
    "layer_norm",
    "log_softmax",
    "logsumexp",
    "mean",
    "one_hot",
    "prod",
    "rms_norm",
    "softmax",
    "sum",
    "var",
];

/// Names that other libraries give to operations, with what they are called here.
const SYNONYMS: &[(&str, &str)] = &[
    ("absolute", "abs(x)"),
    ("arange", "index(axis = 0)"),
    ("cast", "x as f32"),
    ("divide", "div(x, y)"),
    ("expand", "broadcast_to(x, [M, N])"),
    ("inverse", "recip(x)"),
    ("iota", "index(axis = 0)"),
    ("ln", "log(x)"),
    ("log10", "log(x) * 0.4342944819"),
    ("maximum", "max(x, y)"),
    ("minimum", "min(x, y)"),
    ("mm", "matmul(a, b)"),
    ("multiply", "mul(x, y)"),
    ("negative", "neg(x)"),
    ("power", "pow(x, y)"),
    ("powf", "pow(x, y)"),
    ("powi", "pow(x, y)"),
    ("reciprocal", "recip(x)"),
    ("square", "x * x"),
    ("subtract", "sub(x, y)"),
    ("swish", "silu(x)"),
    ("t", "transpose(x)"),
    ("view", "reshape(x, [M, 4])"),
    ("where_", "select(condition, a, b)"),
];

/// The operation of this name.
pub(crate) fn find(name: &str) -> Option<Operation> {
    let unary = UnaryOp::ALL.iter().find(|op| op.name() == name);
    let binary = BinaryOp::ALL.iter().find(|op| op.name() == name);
    let compare = CompareOp::ALL.iter().find(|op| op.name() == name);
    if let Some(op) = unary {
        return Some(row(op.name(), Kind::Pointwise(Pointwise::Unary(*op)), (1, 1), &[], ""));
    }
    if let Some(op) = binary {
        return Some(row(op.name(), Kind::Pointwise(Pointwise::Binary(*op)), (2, 2), &[], ""));
    }
    if let Some(op) = compare {
        return Some(row(op.name(), Kind::Pointwise(Pointwise::Compare(*op)), (2, 2), &[], ""));
    }
    TABLE.iter().find(|operation| operation.name == name).copied()
}

impl Operation {
    /// How the operation is written.
    pub(crate) fn usage(&self) -> String {
        match (self.usage, self.arguments.0) {
            ("", 1) => format!("{}(x)", self.name),
            ("", _) => format!("{}(x, y)", self.name),
            (usage, _) => usage.into(),
        }
    }
}

/// The names of all operations.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    let unary = UnaryOp::ALL.iter().map(|op| op.name());
    let binary = BinaryOp::ALL.iter().map(|op| op.name());
    let compare = CompareOp::ALL.iter().map(|op| op.name());
    unary.chain(binary).chain(compare).chain(TABLE.iter().map(|operation| operation.name))
}

/// Whether the name belongs to an operation that is not built yet.
pub(crate) fn is_planned(name: &str) -> bool {
    PLANNED.contains(&name)
}

/// What another library's operation is written as.
pub(crate) fn synonym(name: &str) -> Option<&'static str> {
    SYNONYMS.iter().find(|(other, _)| *other == name).map(|(_, here)| *here)
}
