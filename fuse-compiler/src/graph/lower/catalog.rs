//! Table of operations: names, arguments, options, dtypes.
//!
//! Pointwise operations come from `operations`. A new one needs a row here and an arm where `Kind` is lowered.

use fuse_artifact::{
    DType,
    operations::{BINARY, Operation as Signature, REDUCTIONS, UNARY},
};

use crate::{
    graph::CompareOp,
    operations::{BinaryOp, DTypes, UnaryOp},
    syntax::ast::{Argument, BinaryOperator, Call, Expr, ExprKind, Literal},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Pointwise(Pointwise),
    Clamp,
    Lerp,
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
    Reduce(Reduction),
    Row(Row),
    BatchNorm,
    GroupNorm,
    Concat,
    Stack,
    Flip,
    Gather,
    OneHot,
    Dropout,
    Dequantize,
    Pad,
    Roll,
    Repeat,
    Tile,
    Split,
    Tril,
    Triu,
    Glu,
    CrossEntropy,
    Grad,
    StopGradient,
    Checkpoint,
}

/// Operation over some axes, in the order of [`REDUCTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Prod,
    Max,
    Min,
    Mean,
    Var,
    LogSumExp,
    Norm,
    ArgMax,
    ArgMin,
    Any,
    All,
}

/// Operation on rows, by default along the last axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Softmax,
    LogSoftmax,
    LayerNorm,
    RmsNorm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointwise {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Select,
}

impl Reduction {
    fn signature(self) -> &'static Signature {
        &REDUCTIONS[self as usize]
    }

    pub(crate) fn takes(self) -> DTypes {
        self.signature().takes
    }

    pub(crate) fn is_index(self) -> bool {
        self.signature().yields.is_some()
    }
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

    fn signature(self) -> Option<&'static Signature> {
        let table = if matches!(self, Self::Unary(_)) { UNARY } else { BINARY };
        table.iter().find(|signature| signature.name == self.name())
    }

    /// Dtypes of operands (of a select: of the two values).
    pub(crate) fn takes(self) -> DTypes {
        self.signature().map_or(DTypes::ANY, |signature| signature.takes)
    }

    pub(crate) fn yields(self) -> Option<DType> {
        self.signature()?.yields
    }

    pub(crate) fn symbol(self) -> Option<&'static str> {
        self.signature()?.symbol
    }
}

impl From<BinaryOperator> for Pointwise {
    fn from(operator: BinaryOperator) -> Self {
        match operator {
            BinaryOperator::Add => Self::Binary(BinaryOp::Add),
            BinaryOperator::Sub => Self::Binary(BinaryOp::Sub),
            BinaryOperator::Mul => Self::Binary(BinaryOp::Mul),
            BinaryOperator::Div => Self::Binary(BinaryOp::Div),
            BinaryOperator::Rem => Self::Binary(BinaryOp::Rem),
            BinaryOperator::And => Self::Binary(BinaryOp::And),
            BinaryOperator::Or => Self::Binary(BinaryOp::Or),
            BinaryOperator::BitAnd => Self::Binary(BinaryOp::BitAnd),
            BinaryOperator::BitOr => Self::Binary(BinaryOp::BitOr),
            BinaryOperator::BitXor => Self::Binary(BinaryOp::BitXor),
            BinaryOperator::Shl => Self::Binary(BinaryOp::Shl),
            BinaryOperator::Shr => Self::Binary(BinaryOp::Shr),
            BinaryOperator::Eq => Self::Compare(CompareOp::Eq),
            BinaryOperator::Ne => Self::Compare(CompareOp::Ne),
            BinaryOperator::Lt => Self::Compare(CompareOp::Lt),
            BinaryOperator::Le => Self::Compare(CompareOp::Le),
            BinaryOperator::Gt => Self::Compare(CompareOp::Gt),
            BinaryOperator::Ge => Self::Compare(CompareOp::Ge),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) arguments: (usize, usize),
    pub(crate) options: &'static [Named],
    pub(crate) usage: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
}

const AXIS: Named = required("axis");

const OVER: &[Named] = &[optional("axis"), optional("keepdim")];

const NORM: &[Named] = &[optional("axis"), optional("eps")];

const fn required(name: &'static str) -> Named {
    Named { name, required: true }
}

const fn optional(name: &'static str) -> Named {
    Named { name, required: false }
}

const fn reduction(name: &'static str, kind: Reduction, usage: &'static str) -> Operation {
    row(name, Kind::Reduce(kind), (1, 1), OVER, usage)
}

/// Reductions of one value, pointwise with two.
const EXTREMA: &[Operation] =
    &[reduction("max", Reduction::Max, "max(x, axis = 1)"), reduction("min", Reduction::Min, "min(x, axis = 1)")];

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
    row("lerp", Kind::Lerp, (3, 3), &[], "lerp(x, y, t)"),
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
    reduction("sum", Reduction::Sum, "sum(x, axis = 1)"),
    reduction("prod", Reduction::Prod, "prod(x, axis = 1)"),
    reduction("mean", Reduction::Mean, "mean(x, axis = 1)"),
    row(
        "var",
        Kind::Reduce(Reduction::Var),
        (1, 1),
        &[optional("axis"), optional("keepdim"), optional("correction")],
        "var(x, axis = 1, correction = 0)",
    ),
    reduction("logsumexp", Reduction::LogSumExp, "logsumexp(x, axis = 1)"),
    reduction("norm", Reduction::Norm, "norm(x, axis = 1)"),
    reduction("argmax", Reduction::ArgMax, "argmax(x, axis = 1)"),
    reduction("argmin", Reduction::ArgMin, "argmin(x, axis = 1)"),
    reduction("any", Reduction::Any, "any(x, axis = 1)"),
    reduction("all", Reduction::All, "all(x, axis = 1)"),
    row("softmax", Kind::Row(Row::Softmax), (1, 1), &[optional("axis")], "softmax(x, axis = -1)"),
    row("log_softmax", Kind::Row(Row::LogSoftmax), (1, 1), &[optional("axis")], "log_softmax(x, axis = -1)"),
    row("layer_norm", Kind::Row(Row::LayerNorm), (3, 3), NORM, "layer_norm(x, gamma, beta, eps = 1e-5)"),
    row("rms_norm", Kind::Row(Row::RmsNorm), (2, 2), NORM, "rms_norm(x, gamma, eps = 1e-6)"),
    row("batch_norm", Kind::BatchNorm, (5, 5), NORM, "batch_norm(x, mean, var, gamma, beta, eps = 1e-5)"),
    row(
        "group_norm",
        Kind::GroupNorm,
        (3, 3),
        &[required("groups"), optional("eps")],
        "group_norm(x, gamma, beta, groups = 8, eps = 1e-5)",
    ),
    row("concat", Kind::Concat, (1, 1), &[AXIS], "concat([a, b], axis = 0)"),
    row("stack", Kind::Stack, (1, 1), &[AXIS], "stack([a, b], axis = 0)"),
    row("flip", Kind::Flip, (1, 1), &[AXIS], "flip(x, axis = 0)"),
    row("gather", Kind::Gather, (2, 2), &[optional("axis")], "gather(table, ids)"),
    row("embedding", Kind::Gather, (2, 2), &[], "embedding(table, ids)"),
    row("one_hot", Kind::OneHot, (1, 1), &[required("classes")], "one_hot(ids, classes = 10)"),
    row("dropout", Kind::Dropout, (3, 3), &[], "dropout(x, p, seed)"),
    row("dequantize", Kind::Dequantize, (1, 1), &[optional("axis")], "dequantize(w)"),
    row(
        "pad",
        Kind::Pad,
        (1, 1),
        &[AXIS, optional("before"), optional("after"), optional("value")],
        "pad(x, axis = 1, before = 1, after = 1, value = 0)",
    ),
    row("roll", Kind::Roll, (1, 1), &[AXIS, required("shift")], "roll(x, axis = 1, shift = 1)"),
    row("repeat", Kind::Repeat, (1, 1), &[AXIS, required("times")], "repeat(x, axis = 1, times = 2)"),
    row("tile", Kind::Tile, (1, 1), &[AXIS, required("times")], "tile(x, axis = 1, times = 2)"),
    row(
        "split",
        Kind::Split,
        (1, 1),
        &[AXIS, optional("parts"), optional("sizes")],
        "split(x, axis = 1, parts = 2)` or `split(x, axis = 1, sizes = [2, 4])",
    ),
    row("tril", Kind::Tril, (1, 1), &[optional("diagonal")], "tril(x, diagonal = 0)"),
    row("triu", Kind::Triu, (1, 1), &[optional("diagonal")], "triu(x, diagonal = 0)"),
    row("glu", Kind::Glu, (1, 1), &[optional("axis")], "glu(x, axis = -1)"),
    row("grad", Kind::Grad, (1, 1), &[required("wrt"), optional("cotangent")], "grad(loss, wrt = w)"),
    row("stop_gradient", Kind::StopGradient, (1, 1), &[], "stop_gradient(x)"),
    row("checkpoint", Kind::Checkpoint, (1, 1), &[], "checkpoint(x)"),
    row("cross_entropy", Kind::CrossEntropy, (2, 2), &[optional("axis")], "cross_entropy(logits, classes)"),
];

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

/// `max(x)` and `min(x, axis = 1)` are reductions, unlike `max(x, y)`.
pub(crate) fn find_call(call: &Call) -> Option<Operation> {
    let name = call.name.to_string();
    let over = call.options.iter().any(|(option, _)| OVER.iter().any(|known| *option == known.name));
    let extremum = EXTREMA.iter().find(|operation| operation.name == name && (call.arguments.len() == 1 || over));
    extremum.copied().or_else(|| find(&name))
}

impl Operation {
    pub(crate) fn usage(&self) -> String {
        match (self.usage, self.arguments.0) {
            ("", 1) => format!("{}(x)", self.name),
            ("", _) => format!("{}(x, y)", self.name),
            (usage, _) => usage.into(),
        }
    }
}

pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    let unary = UnaryOp::ALL.iter().map(|op| op.name());
    let binary = BinaryOp::ALL.iter().map(|op| op.name());
    let compare = CompareOp::ALL.iter().map(|op| op.name());
    unary.chain(binary).chain(compare).chain(TABLE.iter().map(|operation| operation.name))
}

/// True if no function may have this name.
///
/// Operators stay available, and functions can replace composite operations.
pub(crate) fn is_reserved(name: &str) -> bool {
    find(name).is_some_and(|operation| match operation.kind {
        Kind::Pointwise(op) => op.symbol().is_none(),
        Kind::Reduce(Reduction::Norm) => false,
        Kind::Pad | Kind::Roll | Kind::Repeat | Kind::Tile | Kind::Split => false,
        Kind::Tril | Kind::Triu | Kind::Glu | Kind::CrossEntropy => false,
        _ => true,
    })
}

pub(crate) fn split_parts(call: &Call) -> usize {
    let parts = call.options.iter().find_map(|(name, argument)| match argument {
        Argument::List(list, _) if name == "sizes" => Some(list.len()),
        Argument::Expr(Expr { kind: ExprKind::Literal(Literal::Integer(count, _)), .. }) if name == "parts" => {
            usize::try_from(*count).ok()
        }
        _ => None,
    });
    parts.unwrap_or(1).min(64)
}

/// Named constant. Parameters and bindings take precedence.
pub(crate) fn constant(name: &str) -> Option<f64> {
    match name {
        "inf" => Some(f64::INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_have_their_signatures() {
        let rows = TABLE.iter().chain(EXTREMA);
        let reductions = rows.filter_map(|row| match row.kind {
            Kind::Reduce(reduction) => Some((row.name, reduction)),
            _ => None,
        });
        let mut seen = 0;
        for (name, reduction) in reductions {
            assert_eq!(reduction.signature().name, name);
            seen += 1;
        }
        assert_eq!(seen, REDUCTIONS.len());
    }

    #[test]
    fn pointwise_operations_have_signatures() {
        let unary = UnaryOp::ALL.iter().map(|op| Pointwise::Unary(*op));
        let binary = BinaryOp::ALL.iter().map(|op| Pointwise::Binary(*op));
        let compare = CompareOp::ALL.iter().map(|op| Pointwise::Compare(*op));
        let all: Vec<Pointwise> = unary.chain(binary).chain(compare).collect();
        assert!(all.iter().all(|op| op.signature().is_some()));
        assert_eq!(all.len(), UNARY.len() + BINARY.len());
    }
}
