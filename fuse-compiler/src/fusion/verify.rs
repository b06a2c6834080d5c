//! Invariants of [`Groups`], checked after fusion:
//!
//! 1. Results and temporaries are stored exactly once; a result that updates a parameter is stored there.
//! 2. A group reads only parameters and stores of earlier groups.
//! 3. Operands precede users in bodies; loads refer to the group's accesses.
//! 4. A store's value exists; its node has the elements of the domain, or one per row.
//! 5. An access has an entry per axis of its space, each an axis of its view.
//! 6. A group binds at most as many tensors as [`Policy::FUSED`] allows.

use std::collections::BTreeSet;

use fuse_artifact::{Size, Slot};

use super::{Group, GroupKind, Groups, Policy, body::Body};
use crate::graph::Graph;

/// Returns the violated invariants.
pub fn verify(graph: &Graph, groups: &Groups) -> Vec<String> {
    let mut errors = vec![];
    let mut written = BTreeSet::new();
    for group in &groups.groups {
        for access in &group.accesses {
            let slot = access.access.slot;
            if !matches!(slot, Slot::Param(_) | Slot::Scales(_)) && !written.contains(&slot) {
                errors.push(format!("{} reads {slot:?} before it is stored", group.name));
            }
        }
        for store in &group.stores {
            if !written.insert(store.slot) {
                errors.push(format!("{} stores {:?} again", group.name, store.slot));
            }
            let elements = graph.nodes[store.node].ty.elements();
            let row_elements = match &group.kind {
                GroupKind::Reduction(reduction) => Size::product(&group.shape[..group.shape.len() - reduction.axes]),
                GroupKind::Contraction(_) | GroupKind::Attention(_) => {
                    Size::product(&group.shape[..group.shape.len() - 1])
                }
                GroupKind::Pointwise | GroupKind::WeightedSum(_) => Size::product(&group.shape),
            };
            if elements != Size::product(&group.shape) && elements != row_elements {
                errors.push(format!("{} stores {}, which is not of its shape", group.name, store.node));
            }
        }
        group_errors(group, &mut errors);
    }
    let slot = |result: usize| graph.updated_by(result).map_or(Slot::Result(result as u16), Slot::Param);
    let results = (0..graph.results.len()).map(slot);
    let temporaries = (0..groups.temporaries.len()).map(|i| Slot::Temporary(i as u16));
    errors.extend(
        results.chain(temporaries).filter(|slot| !written.contains(slot)).map(|s| format!("{s:?} is not stored")),
    );
    errors
}

fn group_errors(group: &Group, errors: &mut Vec<String>) {
    let rank = group.shape.len();
    let name = &group.name;
    for (i, value) in group.bodies().iter().flat_map(|body| body.values.iter().enumerate()) {
        let backwards = Body::operands(&value.op).iter().all(|&x| x < i);
        let known = value.op.accesses().into_iter().all(|access| usize::from(access) < group.accesses.len());
        if !backwards || !known {
            errors.push(format!("value {i} of {name} uses what does not exist yet"));
        }
    }
    if group.stores.is_empty() || group.stores.iter().any(|store| store.value >= group.body.values.len()) {
        errors.push(format!("{name} stores nothing or an unknown value"));
    }
    for access in &group.accesses {
        let view = access.access.view.len();
        let axes_exist = access.access.axes.iter().flatten().all(|&axis| usize::from(axis) < view);
        if access.access.axes.len() != rank || !axes_exist {
            errors.push(format!("{name} has an access that does not fit its domain"));
        }
    }
    if group.tensors().len() > Policy::FUSED.bindings {
        errors.push(format!("{name} binds too many storage buffers"));
    }
}
