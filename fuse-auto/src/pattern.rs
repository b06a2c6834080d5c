//! What people call the fusions that the planner finds.
//!
//! The planner knows no patterns: it cuts a graph into kernels. Each kernel that does more than one operation is given the name that
//! says most about it, so that a program can count, explain and turn off kinds of fusion.

/// The kind of a fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FusionPattern {
    /// An operation of two tensors and an activation: `relu(a + b)`.
    BinaryActivation {
        /// The operation.
        binary_op: BinaryOp,
        /// The activation.
        activation: Activation,
    },
    /// A product with what follows it: `relu(x·w + b)`.
    LinearLayer {
        /// Whether something is added to the product.
        has_bias: bool,
        /// The activation, if there is one.
        activation: Option<Activation>,
    },
    /// An operation with a number and an activation: `relu(2·x)`.
    ScalarActivation {
        /// The operation.
        scalar_op: BinaryOp,
        /// The activation.
        activation: Activation,
    },
    /// Every [`LinearLayer`](Self::LinearLayer) with an activation.
    LinearActivation,
    /// Several pointwise operations.
    ElementWiseChain,
    /// An operation of two values and one of its result: every [`BinaryActivation`](Self::BinaryActivation) and
    /// [`ScalarActivation`](Self::ScalarActivation), and others.
    BinaryUnary,
    /// Movements of elements with what is computed of them.
    ReshapeOp,
    /// Several activations.
    ActivationChain,
    /// A normalization or another operation on rows, with what is computed before and after.
    NormActivation,
    /// Products around a softmax.
    AttentionPattern,
    /// Several products.
    MatrixChain,
    /// A product with quantized weights.
    QuantizedMatmul,
    /// The same with an activation.
    QuantizedMatmulActivation,
    /// An attention of quantized keys or values.
    QuantizedAttention,
    /// Another fusion.
    Other,
}

/// An operation of two values in a [`FusionPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
}

/// An activation in a [`FusionPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Activation {
    Relu,
    LeakyRelu,
    Elu,
    Selu,
    Gelu,
    GeluTanh,
    Silu,
    Sigmoid,
    HardSigmoid,
    HardSwish,
    Softplus,
    Mish,
    Tanh,
}

impl BinaryOp {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "add" => Self::Add,
            "sub" => Self::Sub,
            "mul" => Self::Mul,
            "div" => Self::Div,
            _ => return None,
        })
    }
}

impl Activation {
    /// All, with their names.
    pub(crate) const ALL: [(&'static str, Self); 13] = [
        ("relu", Self::Relu),
        ("leaky_relu", Self::LeakyRelu),
        ("elu", Self::Elu),
        ("selu", Self::Selu),
        ("gelu", Self::Gelu),
        ("gelu_tanh", Self::GeluTanh),
        ("silu", Self::Silu),
        ("sigmoid", Self::Sigmoid),
        ("hard_sigmoid", Self::HardSigmoid),
        ("hard_swish", Self::HardSwish),
        ("softplus", Self::Softplus),
        ("mish", Self::Mish),
        ("tanh", Self::Tanh),
    ];

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, activation)| *activation)
    }
}

impl FusionPattern {
    /// Whether what this names is part of what `general` names.
    pub fn is_a(self, general: Self) -> bool {
        match general {
            Self::LinearActivation => self == general || matches!(self, Self::LinearLayer { activation: Some(_), .. }),
            Self::BinaryUnary => {
                self == general || matches!(self, Self::BinaryActivation { .. } | Self::ScalarActivation { .. })
            }
            _ => self == general,
        }
    }
}
