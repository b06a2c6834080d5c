//! One kernel to be: what it computes, of which bodies, and what it stores.

use std::collections::BTreeSet;

use fuse_artifact::{DType, Size, Slot};

use super::body::{self, Body, KernelAccess, ValueId, ValueOp};
use crate::graph::NodeId;

/// One kernel to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The kernel's name, unique in the function.
    pub name: String,
    /// What kind of kernel.
    pub kind: GroupKind,
    /// The domain: the shape of every output; of a reduction, kept axes and then reduced axes.
    pub shape: Vec<Size>,
    /// The nodes that the kernel computes, in order (for plans and prints).
    pub nodes: Vec<NodeId>,
    /// Buffer accesses of all bodies.
    pub accesses: Vec<KernelAccess>,
    /// Whether coordinates are used as values, so that the domain must stay as it is.
    pub fixed: bool,
    /// The program per element of the domain; for a contraction, the epilogue.
    pub body: Body,
    /// What is stored, contiguous over the domain.
    pub stores: Vec<Store>,
}

impl Group {
    /// The tensors that the kernel reads or writes.
    pub(super) fn tensors(&self) -> BTreeSet<Slot> {
        let reads = self.accesses.iter().map(|access| access.access.slot);
        reads.chain(self.stores.iter().map(|store| store.slot)).collect()
    }

    /// The programs of the kernel.
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

    /// Whether the kernel reads, stores or rounds to `f16`, so that its shaders need that feature.
    pub fn uses_f16(&self) -> bool {
        let rounds = |value: &body::Value| value.dtype == DType::F16 && matches!(value.op, ValueOp::Cast(_));
        self.accesses.iter().any(|access| access.dtype == DType::F16)
            || self.stores.iter().any(|store| self.body.values[store.value].dtype == DType::F16)
            || self.bodies().into_iter().any(|body| body.values.iter().any(rounds))
    }
}

/// The kind of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupKind {
    /// One value per element.
    Pointwise,
    /// Rows taken together, with the pointwise operations around.
    Reduction(Reduction),
    /// Sums of products per element.
    Contraction(Box<Contraction>),
    /// An attention.
    Attention(Box<Attention>),
    /// Sums weighted with a function of products.
    WeightedSum(Box<WeightedSum>),
}

/// The reduction of a group. The group's body computes with values of two levels: per element, and per row
/// ([`body::ValueOp::Reduce`] and what follows from it alone); [`body::Body::levels`] tells them apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// How many of the last axes of the group's shape are reduced.
    pub axes: usize,
}

/// The contraction of a group: one product, or several that share their left operand and have equal shapes. Where its
/// body has reductions, they run along the columns: such a group needs a workgroup to own whole rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Contraction {
    /// The `matmul` nodes.
    pub matmuls: Vec<NodeId>,
    /// The extent that is summed over.
    pub depth: Size,
    /// The left operand's program (prologue) and its value. Where it has reductions, they run along the depth: a workgroup
    /// reduces its rows before it multiplies.
    pub lhs: (Body, ValueId),
    /// For each product, the right operand's program (prologue) and its value.
    pub rhs: Vec<(Body, ValueId)>,
}

/// The attention of a group, `softmax(score(query · key))·value`; the softmax runs over the keys. The group's shape is
/// batch axes, queries M, value columns E, and its body starts from the normalized output; numbers per row, from the row's
/// largest score and sum of exponentials ([`is_of_row`](super::attention::is_of_row)).
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The `matmul` node of the weighted sum of values.
    pub output: NodeId,
    /// Keys N.
    pub keys: Size,
    /// Depth D of the scores' products.
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

/// The sums of a group, `Σ f(a·b, c·d)[m, n] · w[n, :]`, over the keys n. The group's shape is batch axes, rows M, columns E of
/// each sum, and its body starts from the sums.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedSum {
    /// The `matmul` nodes of the sums.
    pub outputs: Vec<NodeId>,
    /// Keys N.
    pub keys: Size,
    /// The products that weights follow from: one or two.
    pub products: Vec<ScoreProduct>,
    /// The program of the weights, in [`Space::Score`](fuse_artifact::Space::Score), and those of each sum.
    pub weights: (Body, Vec<ValueId>),
    /// For each sum, the program of what is summed, in [`Space::Value`](fuse_artifact::Space::Value).
    pub values: Vec<(Body, ValueId)>,
}

/// A product that weights follow from.
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
    /// Its value in the group's body.
    pub value: ValueId,
    /// Where it goes.
    pub slot: Slot,
    /// Of a reduction, and of numbers per row of an attention: how indices of the domain become offsets (kept indices only, for a
    /// value per row). These accesses follow the group's `accesses` in the kernel. Elsewhere outputs are contiguous over the
    /// domain, and this is `None`.
    pub access: Option<KernelAccess>,
}
