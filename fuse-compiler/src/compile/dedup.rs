//! Deduplicates groups that differ only in tensor bindings, such as a network's layers.
//!
//! Shaders name tensors by role, so equal groups share variants.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use fuse_artifact::{Slot, Variant};

use crate::{
    arena::Handle,
    fusion::{Group, GroupKind},
};

#[derive(Default)]
pub(super) struct GroupDedup {
    firsts: HashMap<u64, Vec<First>>,
}

struct First {
    at: usize,
    canonical: Group,
}

pub(super) struct DedupEntry {
    /// First equal group.
    pub first: usize,
    /// Tensors in a shared order.
    pub slots: Vec<Slot>,
}

impl GroupDedup {
    /// Looks up the group of request `at`, after all earlier ones. `fits` tells earlier requests with equal options.
    pub(super) fn find(&mut self, at: usize, group: &Group, fits: impl Fn(usize) -> bool) -> DedupEntry {
        let (canonical, slots) = canonical(group);
        let mut hasher = DefaultHasher::new();
        (&canonical.shape, &canonical.body.values, canonical.accesses.len(), slots.len()).hash(&mut hasher);
        let firsts = self.firsts.entry(hasher.finish()).or_default();
        let alike = |known: &&First| fits(known.at) && known.canonical == canonical;
        match firsts.iter().find(alike) {
            Some(known) => DedupEntry { first: known.at, slots },
            None => {
                firsts.push(First { at, canonical });
                DedupEntry { first: at, slots }
            }
        }
    }
}

/// A group with numbered tensors, without names and nodes, and these tensors.
fn canonical(group: &Group) -> (Group, Vec<Slot>) {
    let mut group = Group { name: String::new(), nodes: vec![], ..group.clone() };
    let mut slots: Vec<Slot> = vec![];
    let mut number = |slot: &mut Slot| {
        let at = slots.iter().position(|known| known == slot).unwrap_or_else(|| {
            slots.push(*slot);
            slots.len() - 1
        });
        *slot = Slot::Temporary(at as u16);
    };
    for store in &mut group.stores {
        number(&mut store.slot);
        store.node = Handle::FIRST;
        if let Some(access) = &mut store.access {
            number(&mut access.access.slot);
        }
    }
    group.accesses.iter_mut().for_each(|access| number(&mut access.access.slot));
    match &mut group.kind {
        GroupKind::Pointwise | GroupKind::Reduction(_) => {}
        GroupKind::Contraction(contraction) => contraction.matmuls.clear(),
        GroupKind::Attention(attention) => attention.output = Handle::FIRST,
        GroupKind::WeightedSum(sum) => sum.outputs.clear(),
    }
    (group, slots)
}

pub(super) fn rebind_slots(variants: &[Variant], from: &[Slot], to: &[Slot]) -> Vec<Variant> {
    let mut variants = variants.to_vec();
    if from == to {
        return variants;
    }
    let passes = variants.iter_mut().flat_map(|variant| variant.passes.to_mut());
    for binding in passes.flat_map(|pass| pass.bindings.to_mut()) {
        // Scratch buffers are no tensors of a group.
        if let Some(at) = from.iter().position(|slot| *slot == binding.slot) {
            binding.slot = to[at];
        }
    }
    variants
}

#[cfg(all(test, feature = "syntax"))]
mod tests {
    use crate::{
        compile::{
            Planned, plans,
            variants::{FamilyScope, VariantRequest, variants},
        },
        front,
        graph::Graph,
        kernel::print::Dialect,
    };

    const LAYERS: &str = "
        fn layer(x: f32[M, 64], w: f32[64, 64], b: f32[64], s: f32) -> f32[M, 64] { softmax(relu(matmul(x, w) + b) * s) + x }
        pub fn layers(
            x: f32[M, 64], w1: f32[64, 64], b1: f32[64], w2: f32[64, 64], b2: f32[64], w3: f32[64, 64], b3: f32[64],
            s: f32, t: f32,
        ) -> f32[M, 64] {
            layer(layer(layer(x, w1, b1, s), w2, b2, s), w3, b3, t)
        }";

    fn planned() -> Vec<Planned> {
        let items = front::items(LAYERS.parse().unwrap());
        let graph: &Graph = &items.functions.last().unwrap().instances[0].graph;
        plans(graph).unwrap()
    }

    #[test]
    fn what_is_alike_has_the_variants_that_it_would_have_alone() {
        let plans = planned();
        let groups = || plans.iter().flat_map(|plan| &plan.groups.groups);
        let wanted = |group| VariantRequest { group, scope: FamilyScope::Full, schedule: None, features: None };
        let together = variants(&groups().map(wanted).collect::<Vec<_>>(), Dialect::Naga);
        let alone: Vec<_> = groups().map(|group| variants(&[wanted(group)], Dialect::Naga).remove(0)).collect();
        assert!(together == alone);
        let mut alike = super::GroupDedup::default();
        let firsts: Vec<usize> =
            groups().enumerate().map(|(at, group)| alike.find(at, group, |_| true).first).collect();
        let distinct = firsts.iter().enumerate().filter(|(at, first)| at == *first).count();
        // The last layer has another scalar.
        assert!(distinct < firsts.len(), "{firsts:?}");
    }
}
