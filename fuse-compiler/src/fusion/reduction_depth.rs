//! Levels of values in bodies with reductions: per element or per row, and the stage.

use std::collections::BTreeSet;

use super::body::{Body, KernelAccess, ValueId, ValueOp};
use crate::graph::Literal;

/// Position of a value among a body's reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Level {
    /// Number of chained reductions that must finish first.
    pub stage: usize,
    /// True if it varies along the row.
    pub per_element: bool,
}

impl Body {
    /// Values that an operation reads.
    pub fn operands(op: &ValueOp) -> Vec<usize> {
        match *op {
            ValueOp::Unary(_, x) | ValueOp::Cast(x) | ValueOp::Reduce(_, x) => vec![x],
            ValueOp::Binary(_, x, y) | ValueOp::Compare(_, x, y) => vec![x, y],
            ValueOp::Select(c, x, y) => vec![c, x, y],
            ValueOp::Gather { ref at, .. } => at.iter().map(|&(_, value)| value).collect(),
            ValueOp::Dequantize(ref dequantize) => {
                dequantize.at.iter().map(|&(_, value)| value).chain([dequantize.index]).collect()
            }
            ValueOp::Load(_)
            | ValueOp::Accumulator(_)
            | ValueOp::Size(_)
            | ValueOp::Coordinate { .. }
            | ValueOp::Scalar(_)
            | ValueOp::Literal(_) => vec![],
        }
    }

    /// Replaces unneeded values by literals, which emit no code.
    #[must_use]
    pub fn only(&self, roots: &[ValueId]) -> Self {
        let mut needed = vec![false; self.values.len()];
        let mut pending = roots.to_vec();
        while let Some(value) = pending.pop() {
            if !std::mem::replace(&mut needed[value], true) {
                pending.extend(Self::operands(&self.values[value].op));
            }
        }
        let mut body = self.clone();
        for (value, _) in body.values.iter_mut().zip(needed).filter(|(_, needed)| !needed) {
            value.op = ValueOp::Literal(Literal::Bool(false));
        }
        body
    }

    /// Values needed for `roots` after the reductions: their inputs are left out.
    pub fn needed(&self, roots: &[ValueId]) -> BTreeSet<ValueId> {
        let (mut found, mut pending) = (BTreeSet::new(), roots.to_vec());
        while let Some(value) = pending.pop() {
            let op = &self.values[value].op;
            if found.insert(value) && !matches!(op, ValueOp::Reduce(..)) {
                pending.extend(Self::operands(op));
            }
        }
        found
    }

    /// Reductions and inputs by stage.
    pub fn stages(&self, levels: &[Level]) -> Vec<Vec<(ValueId, ValueId)>> {
        let mut stages: Vec<Vec<(ValueId, ValueId)>> = vec![];
        for (value, known) in self.values.iter().enumerate() {
            if let ValueOp::Reduce(_, x) = known.op {
                let stage = levels[value].stage;
                stages.resize(stages.len().max(stage), vec![]);
                stages[stage - 1].push((value, x));
            }
        }
        stages
    }

    /// Level of every value; `along_row` tells axes along a row.
    pub fn levels(&self, accesses: &[KernelAccess], along_row: impl Fn(usize) -> bool) -> Vec<Level> {
        let moves = |access: u16| {
            let axes = accesses[usize::from(access)].access.axes.iter().enumerate();
            axes.into_iter().any(|(d, axis)| axis.is_some() && along_row(d))
        };
        let mut levels: Vec<Level> = Vec::with_capacity(self.values.len());
        for value in &self.values {
            let operands = Self::operands(&value.op);
            let stage = operands.iter().map(|&x| levels[x].stage).max().unwrap_or(0);
            let of_operands = operands.iter().any(|&x| levels[x].per_element);
            levels.push(match value.op {
                ValueOp::Reduce(..) => Level { stage: stage + 1, per_element: false },
                ValueOp::Coordinate { axis, .. } => {
                    Level { stage, per_element: axis.is_some_and(|d| along_row(usize::from(d))) }
                }
                ValueOp::Accumulator(_) => Level { stage, per_element: true },
                ref op => Level { stage, per_element: of_operands || op.accesses().into_iter().any(moves) },
            });
        }
        levels
    }
}

/// Per-element work of a left operand.
pub struct OperandParts {
    /// Per pass over a row: values up to that stage's reductions.
    pub stages: Vec<BTreeSet<ValueId>>,
    /// Values per tile load.
    pub elements: BTreeSet<ValueId>,
}

/// Splits the left operand's program; `depth` is the last axis.
pub fn operand_parts(body: &Body, value: ValueId, accesses: &[KernelAccess], depth: usize) -> OperandParts {
    let levels = body.levels(accesses, |axis| axis == depth);
    let stages = body.stages(&levels);
    let per_element = |value: &ValueId| stages.is_empty() || levels[*value].per_element;
    let elements = body.needed(&[value]).into_iter().filter(per_element).collect();
    let of_stage = |stage: &Vec<(ValueId, ValueId)>| {
        let roots: Vec<ValueId> = stage.iter().map(|(_, x)| *x).collect();
        let values = body.needed(&roots).into_iter().filter(per_element);
        values.chain(stage.iter().map(|(reduction, _)| *reduction)).collect()
    };
    OperandParts { stages: stages.iter().map(of_stage).collect(), elements }
}
