//! Groups: kernels with their bodies and stores.

use std::collections::BTreeSet;

use fuse_artifact::{DType, Size, Slot};

use super::body::{self, Body, KernelAccess, ValueId, ValueOp};
use crate::graph::NodeId;

/// Kernel of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Unique name.
    pub name: String,
    /// Kind of kernel.
    pub kind: GroupKind,
    /// Domain: the shape of every output; reductions put kept axes before reduced ones.
    pub shape: Vec<Size>,
    /// Computed nodes in order.
    pub nodes: Vec<NodeId>,
    /// Accesses of all bodies.
    pub accesses: Vec<KernelAccess>,
    /// True if coordinates are values; axes then must not merge.
    pub fixed: bool,
    /// Program per element; for contractions, the epilogue.
    pub body: Body,
    /// Stored values.
    pub stores: Vec<Store>,
}

impl Group {
    pub(super) fn tensors(&self) -> BTreeSet<Slot> {
        let reads = self.accesses.iter().map(|access| access.access.slot);
        reads.chain(self.stores.iter().map(|store| store.slot)).collect()
    }

    pub(crate) fn bodies(&self) -> Vec<&Body> {
        let mut weights = vec![];
        let operands: Vec<&(Body, ValueId)> = match &self.kind {
            GroupKind::Pointwise | GroupKind::Reduction(_) => vec![],
            GroupKind::Contraction(product) => product.rhs.iter().chain([&product.lhs]).collect(),
            GroupKind::Attention(attention) => {
                vec![&attention.query, &attention.key, &attention.score, &attention.value]
            }
            GroupKind::WeightedSum(sum) => {
                weights.push(&sum.weights.0);
                sum.products.iter().flat_map(|product| [&product.lhs, &product.rhs]).chain(&sum.values).collect()
            }
        };
        operands.into_iter().map(|(body, _)| body).chain(weights).chain([&self.body]).collect()
    }

    /// True if its shaders need the `f16` feature.
    pub fn uses_f16(&self) -> bool {
        let rounds = |value: &body::Value| value.dtype == DType::F16 && matches!(value.op, ValueOp::Cast(_));
        self.accesses.iter().any(|access| access.dtype == DType::F16)
            || self.stores.iter().any(|store| self.body.values[store.value].dtype == DType::F16)
            || self.bodies().into_iter().any(|body| body.values.iter().any(rounds))
    }
}

/// Kind of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupKind {
    /// One value per element.
    Pointwise,
    /// Row-wise reductions.
    Reduction(Reduction),
    /// Sums of products.
    Contraction(Box<Contraction>),
    /// Attention.
    Attention(Box<Attention>),
    /// Sums weighted by a function of products.
    WeightedSum(Box<WeightedSum>),
}

/// Reduction of a group.
///
/// [`body::Body::levels`] tells values per element from values per row ([`body::ValueOp::Reduce`] and its dependents).
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// Number of trailing, reduced axes.
    pub axes: usize,
}

/// Contraction: products of equal shapes with a shared left operand.
///
/// Reductions of the body run along columns; a workgroup must own whole rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Contraction {
    /// `matmul` nodes.
    pub matmuls: Vec<NodeId>,
    /// Extent of the summed axis.
    pub depth: Size,
    /// Prologue of the left operand and its value. Its reductions run along the depth, before the main loop.
    pub lhs: (Body, ValueId),
    /// Prologue and value of each right operand.
    pub rhs: Vec<(Body, ValueId)>,
}

/// Attention `softmax(score(query · key))·value`, with the softmax over the keys.
///
/// The shape is batch axes, queries M, value columns E. The body starts from the normalized output or row statistics
/// ([`is_of_row`](super::attention::is_of_row)).
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// `matmul` node of the weighted sum.
    pub output: NodeId,
    /// Number of keys, N.
    pub keys: Size,
    /// Depth D of the score products.
    pub depth: Size,
    /// Query program in [`Space::Lhs`](fuse_artifact::Space::Lhs): batch axes, M, D.
    pub query: (Body, ValueId),
    /// Key program in [`Space::Rhs`](fuse_artifact::Space::Rhs): batch axes, D, N.
    pub key: (Body, ValueId),
    /// Score program in [`Space::Score`](fuse_artifact::Space::Score): batch axes, M, N.
    pub score: (Body, ValueId),
    /// Value program in [`Space::Value`](fuse_artifact::Space::Value): batch axes, N, E.
    pub value: (Body, ValueId),
}

/// Weighted sums `Σ f(a·b, c·d)[m, n] · w[n, :]` over keys n.
///
/// The shape is batch axes, rows M, columns E. The body starts from the sums.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedSum {
    /// `matmul` nodes of the sums.
    pub outputs: Vec<NodeId>,
    /// Number of keys, N.
    pub keys: Size,
    /// One or two products behind the weights.
    pub products: Vec<ScoreProduct>,
    /// Weight program in [`Space::Score`](fuse_artifact::Space::Score), and the weights of each sum.
    pub weights: (Body, Vec<ValueId>),
    /// Program of each sum's values in [`Space::Value`](fuse_artifact::Space::Value).
    pub values: Vec<(Body, ValueId)>,
}

/// Product that weights are computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreProduct {
    /// Depth.
    pub depth: Size,
    /// Left operand: batch axes, M, depth.
    pub lhs: (Body, ValueId),
    /// Right operand: batch axes, depth, N.
    pub rhs: (Body, ValueId),
}

/// Stored value.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// Node.
    pub node: NodeId,
    /// Value in the group's body.
    pub value: ValueId,
    /// Target.
    pub slot: Slot,
    /// Map of domain indices to offsets; values per row use kept indices only. Follows the group's `accesses` in the
    /// kernel. `None`: contiguous.
    pub access: Option<KernelAccess>,
}
