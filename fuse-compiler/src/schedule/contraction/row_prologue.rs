//! How a workgroup reduces the rows of its left operand before it multiplies.
//!
//! Invocations share a row, side by side along the depth; what each found is kept in workgroup memory until an invocation
//! per row takes it together. Results stay in workgroup memory for the loads of the operand.

use super::Facts;
use crate::fusion::{Contraction, Group, body::ValueId, reduction_depth::Level};

/// Invocations that share a row, if the workgroup has no more than that for each: they read whole cache lines.
pub(crate) const SHARING: u32 = 16;

/// The reductions of a left operand.
#[derive(Clone, Debug)]
pub(crate) struct RowPrologue {
    /// The level of each value of the operand's program.
    pub(crate) levels: Vec<Level>,
    /// For each stage, its reductions with what they reduce.
    pub(crate) stages: Vec<Vec<(ValueId, ValueId)>>,
    /// For each reduction in order, the first of its words among those of a row.
    pub(crate) words: Vec<(ValueId, u32)>,
    /// Words of a row's results.
    result_words: u32,
    /// Words of what an invocation found of a row in one stage, at most.
    pub(crate) part_words: u32,
}

impl RowPrologue {
    /// The reductions of a contraction's left operand, if it has some.
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

    /// Invocations of a workgroup that share each of its rows: a power of two.
    pub(crate) fn sharing(rows: u32, invocations: u32) -> u32 {
        let most = (invocations / rows).max(SHARING);
        1 << most.ilog2()
    }

    /// Entries of an array of what invocations found: of a row, one more than those that share it, so that neighboring rows
    /// lie in different banks.
    pub(crate) fn part_entries(rows: u32, invocations: u32) -> u32 {
        rows * (Self::sharing(rows, invocations) + 1)
    }

    /// Entries of the array of results.
    pub(crate) fn result_entries(&self, rows: u32) -> u32 {
        self.result_words * rows
    }

    /// Bytes of workgroup memory.
    pub(super) fn bytes(&self, rows: u32, invocations: u32) -> u32 {
        4 * (self.result_entries(rows) + self.part_words * Self::part_entries(rows, invocations))
    }
}

impl Facts<'_> {
    /// Bytes that the rows of the left operand take.
    pub(super) fn row_bytes(&self, rows: u32, invocations: u32) -> u32 {
        self.row_prologue.as_ref().map_or(0, |operand| operand.bytes(rows, invocations))
    }
}
