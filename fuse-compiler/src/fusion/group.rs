//! Groups: kernels with their bodies and stores.

use std::collections::BTreeSet;

use fuse_artifact::{DType, Size, Slot};

use super::body::{self, Body, KernelAccess, ValueId, ValueOp};
use crate::graph::NodeId;

/// One kernel of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Kernel name, unique in the function.
    pub name: String,
    /// The kind of kernel.
    pub kind: GroupKind,
    /// Domain: the shape of every output; for reductions, kept axes before reduced axes.
    pub shape: Vec<Size>,
    /// Computed nodes in order, for plans and prints.
    pub nodes: Vec<NodeId>,
    /// Buffer accesses of all bodies.
    pub accesses: Vec<KernelAccess>,
    /// Uses coordinates as values, so that axes of the domain must not be merged.
    pub fixed: bool,
    /// Program per element of the domain; for contractions, the epilogue.
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

    /// True if the kernel loads, stores or rounds to `f16`: its shaders then need that feature.
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
    /// Row-wise reductions with the pointwise operations around them.
    Reduction(Reduction),
    /// Sums of products per element.
    Contraction(Box<Contraction>),
    /// An attention.
    Attention(Box<Attention>),
    /// Sums weighted by a function of products.
    WeightedSum(Box<WeightedSum>),
}

/// Reduction of a group.
///
/// Values of the body are per element or per row ([`body::ValueOp::Reduce`] and its dependents); [`body::Body::levels`]
/// distinguishes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// Number of trailing axes of the group's shape that are reduced.
    pub axes: usize,
}

/// Contraction of a group: products of equal shapes that share their left operand.
///
/// Reductions of its body run along the columns and require that a workgroup owns whole rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Contraction {
    /// The `matmul` nodes.
    pub matmuls: Vec<NodeId>,
    /// Extent of the summed axis.
    pub depth: Size,
    /// Prologue of the left operand and its value. Its reductions run along the depth and precede the main loop.
    pub lhs: (Body, ValueId),
    /// Prologue of each product's right operand and its value.
    pub rhs: Vec<(Body, ValueId)>,
}

/// Attention of a group: `softmax(score(query · key))·value`, with the softmax over the keys.
///
/// The group's shape is batch axes, queries M, value columns E. Its body starts from the normalized output, or from the
/// row statistics ([`is_of_row`](super::attention::is_of_row)).
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The `matmul` node of the weighted sum of values.
    pub output: NodeId,
    /// Number of keys, N.
    pub keys: Size,
    /// Depth D of the score products.
    pub depth: Size,
    /// The program of the queries, in [`Space::Lhs`](fuse_artifact::Space::Lhs): batch axes, M, D.
    pub query: (Body, ValueId),
    /// The program of the keys, in [`Space::Rhs`](fuse_artifact::Space::Rhs): batch axes, D, N.
    pub key: (Body, ValueId),
    /// The program of the scores, in [`Space::Score`](fuse_artifact::Space::Score): batch axes, M, N.
    pub score: (Body, ValueId),
    /// The program of the values, in [`Space::Value`](fuse_artifact::Space::Value): batch axes, N, E.
    pub value: (Body, ValueId),
}

/// Weighted sums of a group, `Σ f(a·b, c·d)[m, n] · w[n, :]` over keys n.
///
/// The group's shape is batch axes, rows M, columns E of each sum. Its body starts from the sums.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedSum {
    /// The `matmul` nodes of the sums.
    pub outputs: Vec<NodeId>,
    /// Number of keys, N.
    pub keys: Size,
    /// One or two products that the weights are computed from.
    pub products: Vec<ScoreProduct>,
    /// Program of the weights, in [`Space::Score`](fuse_artifact::Space::Score), and the weights of each sum.
    pub weights: (Body, Vec<ValueId>),
    /// Program of each sum's values, in [`Space::Value`](fuse_artifact::Space::Value).
    pub values: Vec<(Body, ValueId)>,
}

/// A product that weights are computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreProduct {
    /// Its depth.
    pub depth: Size,
    /// The program of its left operand: batch axes, M, depth.
    pub lhs: (Body, ValueId),
    /// The program of its right operand: batch axes, depth, N.
    pub rhs: (Body, ValueId),
}

/// A value that a kernel stores.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// The node.
    pub node: NodeId,
    /// Value in the group's body.
    pub value: ValueId,
    /// Target.
    pub slot: Slot,
    /// Map of domain indices to offsets, for reductions and attention row statistics; values per row use kept indices
    /// only. These accesses follow the group's `accesses` in the kernel. `None`: contiguous over the domain.
    pub access: Option<KernelAccess>,
}
