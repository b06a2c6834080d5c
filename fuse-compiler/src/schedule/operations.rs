//! Arithmetic per element of a kernel, for time estimates at launch.
//!
//! Output: [`Work`], in units of `fusion::heuristics`. The runtime estimates time from it.

use std::collections::BTreeSet;

use fuse_artifact::Work;

use super::{contraction::reduces, mask_bounds};
use crate::fusion::{
    Group, GroupKind,
    body::{Body, ValueId},
    heuristics::{body_cost, values_cost},
    reduction_depth::operand_parts,
};

/// Arithmetic of a group's bodies.
pub fn work(group: &Group) -> Work {
    let point = body_cost(&group.body);
    match &group.kind {
        GroupKind::Pointwise | GroupKind::Reduction(_) => Work { point, ..Work::default() },
        GroupKind::Contraction(contraction) => {
            let rhs = contraction.rhs.iter().fold(0, |sum: u32, (body, _)| sum.saturating_add(body_cost(body)));
            let (body, value) = &contraction.lhs;
            let parts = operand_parts(body, *value, &group.accesses, group.shape.len() - 1);
            let sum = |values: &BTreeSet<ValueId>| values_cost(body, values.iter().copied());
            let row = parts.stages.iter().fold(0, |total: u32, stage| total.saturating_add(sum(stage)));
            Work {
                point,
                lhs: sum(&parts.elements),
                rhs,
                row,
                row_passes: parts.stages.len() as u32,
                row_epilogue: reduces(&group.body),
                ..Work::default()
            }
        }
        GroupKind::Attention(attention) => {
            let (body, score) = &attention.score;
            let limits = mask_bounds::limits(body, *score, &group.accesses, group.shape.len() - 2);
            Work {
                point,
                lhs: body_cost(&attention.query.0),
                rhs: body_cost(&attention.key.0),
                score: body_cost(&attention.score.0),
                value: body_cost(&attention.value.0),
                causal: mask_bounds::grows(&limits),
                window: mask_bounds::window(&limits),
                ..Work::default()
            }
        }
        GroupKind::WeightedSum(sum) => {
            let (body, weights) = &sum.weights;
            let limits = mask_bounds::weight_limits(body, weights, &group.accesses, group.shape.len() - 2);
            let window = mask_bounds::window(&limits);
            let cost = |programs: &mut dyn Iterator<Item = &(Body, ValueId)>| {
                programs.fold(0, |sum: u32, (body, _)| sum.saturating_add(body_cost(body)))
            };
            Work {
                point,
                lhs: cost(&mut sum.products.iter().map(|product| &product.lhs)),
                rhs: cost(&mut sum.products.iter().map(|product| &product.rhs)),
                score: body_cost(body),
                value: cost(&mut sum.values.iter()),
                causal: window.is_none() && limits.iter().any(|limit| limit.slope != 0),
                window,
                ..Work::default()
            }
        }
    }
}
