//! Names of fusions.
//!
//! The planner knows no patterns; it cuts a graph into kernels. Each kernel of several operations gets the most
//! specific name, so that programs can count, explain and disable kinds of fusion.

/// A kind of fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FusionPattern {
    /// An operation on two tensors, then an activation: `relu(a + b)`.
    BinaryActivation {
        /// Operation.
        binary_op: BinaryOp,
        /// Activation.
        activation: Activation,
    },
    /// A product with its epilogue: `relu(x·w + b)`.
    LinearLayer {
        /// True if something is added to the product.
        has_bias: bool,
        /// Activation, if any.
        activation: Option<Activation>,
    },
    /// An operation with a number, then an activation: `relu(2·x)`.
    ScalarActivation {
        /// Operation.
        scalar_op: BinaryOp,
        /// Activation.
        activation: Activation,
    },
    /// Every [`LinearLayer`](Self::LinearLayer) with an activation.
    LinearActivation,
    /// Several pointwise operations.
    ElementWiseChain,
    /// A binary operation, then a unary one: includes [`BinaryActivation`](Self::BinaryActivation) and
    /// [`ScalarActivation`](Self::ScalarActivation).
    BinaryUnary,
    /// Movements of elements with pointwise operations.
    ReshapeOp,
    /// Several activations.
    ActivationChain,
    /// A row operation, such as a normalization, with its prologue and epilogue.
    NormActivation,
    /// Products around a softmax.
    AttentionPattern,
    /// Several products.
    MatrixChain,
    /// A product with quantized weights.
    QuantizedMatmul,
    /// A product with quantized weights, then an activation.
    QuantizedMatmulActivation,
    /// An attention with quantized keys or values.
    QuantizedAttention,
    /// Any other fusion.
    Other,
}

/// A binary operation in a [`FusionPattern`].
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
    /// True if `general` includes this kind.
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
