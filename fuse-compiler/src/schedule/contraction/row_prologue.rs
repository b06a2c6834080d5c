//! Row prologues: a workgroup reduces the rows of its left operand before the main loop.
//!
//! Invocations share a row side by side along the depth. One invocation per row combines their partial results in
//! workgroup memory, where loads of the operand find them.

use super::Facts;
use crate::fusion::{Contraction, Group, body::ValueId, reduction_depth::Level};

/// Minimum invocations per row, so that they read whole cache lines.
pub(crate) const SHARING: u32 = 16;

#[derive(Clone, Debug)]
pub(crate) struct RowPrologue {
    pub(crate) levels: Vec<Level>,
    /// Reductions with their inputs, by stage.
    pub(crate) stages: Vec<Vec<(ValueId, ValueId)>>,
    pub(crate) words: Vec<(ValueId, u32)>,
    result_words: u32,
    pub(crate) part_words: u32,
}

impl RowPrologue {
    pub(crate) fn new(group: &Group, contraction: &Contraction) -> Option<Self> {
        let body = &contraction.lhs.0;
        let depth = group.shape.len() - 1;
        let levels = body.levels(&group.accesses, |axis| axis == depth);
        let stages = body.stages(&levels);
        let (mut words, mut result_words) = (vec![], 0);
        for (reduction, _) in stages.iter().flatten() {
            words.push((*reduction, result_words));
            result_words += body.values[*reduction].op.state_words();
        }
        let words_of = |(reduction, _): &(ValueId, ValueId)| body.values[*reduction].op.state_words();
        let of_stage = |stage: &Vec<(ValueId, ValueId)>| stage.iter().map(words_of).sum::<u32>();
        let part_words = stages.iter().map(of_stage).max()?;
        Some(Self { levels, stages, words, result_words, part_words })
    }

    /// Invocations per row of a workgroup: a power of two.
    pub(crate) fn sharing(rows: u32, invocations: u32) -> u32 {
        let most = (invocations / rows).max(SHARING);
        1 << most.ilog2()
    }

    /// Entries of the array of partial results; one extra per row avoids bank conflicts.
    pub(crate) fn part_entries(rows: u32, invocations: u32) -> u32 {
        rows * (Self::sharing(rows, invocations) + 1)
    }

    pub(crate) fn result_entries(&self, rows: u32) -> u32 {
        self.result_words * rows
    }

    pub(super) fn bytes(&self, rows: u32, invocations: u32) -> u32 {
        4 * (self.result_entries(rows) + self.part_words * Self::part_entries(rows, invocations))
    }
}

impl Facts<'_> {
    pub(super) fn row_bytes(&self, rows: u32, invocations: u32) -> u32 {
        self.row_prologue.as_ref().map_or(0, |operand| operand.bytes(rows, invocations))
    }
}
