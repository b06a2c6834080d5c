//! Quantized weights as right operands, loaded by whole words.
//!
//! Applies to plain quantized tensors packed along the depth; other functions of one are read value by value. Loads are
//! vectors of words for four contiguous columns, or words of one column. A chunk is the unit of work: few depths that
//! share a word, a scale and an offset.

use fuse_artifact::{
    DType, Packing, Require, Space,
    schedule::{Gemv, GemvRhs, GemvRows, LANES},
};

use super::{
    ContractionSchedule, Direction, Facts, ScheduleSpec,
    gemv::{of_rows, push_gemv},
};
use crate::fusion::{
    Contraction, Group,
    body::{Body, Dequantize, ValueId, ValueOp},
};
use crate::schedule::layout::multiples_of_lanes;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights<'a> {
    pub value: &'a Dequantize,
    /// Converted to `f16`, like the left operand.
    pub half: bool,
    /// Axis of contiguous words.
    pub layout: Direction,
}

impl<'a> Weights<'a> {
    pub(crate) fn new(group: &Group, (body, value): (&'a Body, ValueId)) -> Option<Self> {
        let depth = group.shape.len() - 2;
        let (half, value) = match body.values[value].op {
            ValueOp::Cast(x) if body.values[value].dtype == DType::F16 => (true, x),
            _ => (false, value),
        };
        let ValueOp::Dequantize(value) = &body.values[value].op else { return None };
        let words = &group.accesses[usize::from(value.words)].access;
        let last = words.view.len() as u8 - 1;
        let layout = match words.axes[depth + 1] {
            _ if value.axis == last => Direction::Depth,
            Some(axis) if axis == last => Direction::Outer,
            _ => return None,
        };
        (value.along == Some(depth as u8) && value.at.is_empty()).then_some(Self { value, half, layout })
    }

    /// All right operands, if quantized with equal layout and packing.
    pub(crate) fn all(group: &'a Group, contraction: &'a Contraction) -> Option<Vec<Self>> {
        let weights = contraction.rhs.iter().map(|(body, value)| Self::new(group, (body, *value)));
        let weights = weights.collect::<Option<Vec<_>>>()?;
        let alike = |other: &Self| other.layout == weights[0].layout && other.value.packing == weights[0].value.packing;
        weights.iter().all(alike).then_some(weights)
    }

    /// Depths read at a time, with one scale, and one word unless values straddle words.
    pub(crate) fn chunk(&self) -> u32 {
        chunk(self.value.packing)
    }
}

pub(crate) const fn chunk(packing: Packing) -> u32 {
    if matches!(packing, Packing::Q8) { 4 } else { 8 }
}

const RUN: u32 = Packing::GROUP_MULTIPLE as u32;

/// Columns and depth lanes of int8 schedules with contiguous columns. More columns round less and read whole cache
/// lines, but need 512 invocations, which not every adapter allows.
const INT8_ROWS: &[[u32; 2]] = &[[32, 64], [16, 64]];

/// Sums and depth lanes of int8 schedules with contiguous depths, and their minimum columns: fewer workgroups than
/// twice a large GPU's units do not pay. Words of one column fill cache lines in any case.
const INT8_DOTS: &[([u32; 2], Option<u32>)] = &[([32, 64], Some(8192)), ([16, 64], None)];

/// Columns and depth lanes for one row of contiguous columns: few columns for many workgroups.
const ROWS: &[([u32; 2], bool)] = &[([64, 16], true), ([16, 64], false)];

// Parts of a split depth are multiples of four depths per lane, and must also start at runs.
const _: () = {
    let mut row = 0;
    while row < ROWS.len() {
        let ([_, depth_lanes], split) = ROWS[row];
        assert!(!split || (depth_lanes * LANES).is_multiple_of(RUN));
        row += 1;
    }
};

/// Sums and depth lanes for few sums with contiguous depths; an invocation has four sums.
const DOTS: &[[u32; 2]] = &[[32, 32], [8, 128]];

/// Columns and depth lanes for few rows, and maximum rows with one product. Twice the rows would halve the workgroups
/// that fit in registers.
const FEW_ROWS: [u32; 2] = [16, 64];
const MAX_FEW_ROWS: u32 = 4;

impl Facts<'_> {
    pub(super) fn packed_weights(&self) -> Option<Vec<Weights<'_>>> {
        Weights::all(self.group, self.contraction)
            .filter(|_| self.row_prologue.is_none() && self.lhs == Some(Direction::Depth))
    }

    pub(super) fn push_packed_gemvs(&self, family: &mut Vec<ScheduleSpec>, weights: &[Weights<'_>]) {
        let bits = weights[0].value.packing.bits();
        let (packed, int8) = (GemvRhs::Packed { bits }, GemvRhs::Int8 { bits });
        let rhs = vec![weights[0].layout; weights.len()];
        let mut requires = vec![Require::Multiple { axis: self.depth(), of: RUN }];
        requires.extend(multiples_of_lanes(vec![self.columns()]));
        requires.extend(self.vector_loads(|_, space| match space {
            Space::Lhs => vec![self.batch + 1],
            Space::Point => vec![self.columns()],
            _ => vec![],
        }));
        requires.extend(self.word_loads());
        // Int8 schedules first: among equal estimates the first wins.
        match weights[0].layout {
            Direction::Outer => {
                let of_one = [requires.as_slice(), &[Require::AtMost { axis: self.rows(), value: 1 }]].concat();
                for sizes in INT8_ROWS {
                    push_gemv(family, of_rows(1, *sizes, int8), false, &rhs, &of_one);
                }
                for (sizes, split) in ROWS {
                    push_gemv(family, of_rows(1, *sizes, packed), *split, &rhs, &of_one);
                }
            }
            Direction::Depth => {
                let mut push = |[columns, depth_lanes]: [u32; 2], of: GemvRhs, requires: &[Require]| {
                    let gemv = Gemv { rows: GemvRows::One, columns, depth_lanes, rhs: of };
                    family.push(ScheduleSpec::new(ContractionSchedule::Gemv(gemv), (Direction::Depth, &rhs), requires));
                };
                for (sizes, columns) in INT8_DOTS {
                    // A workgroup has one row.
                    let mut requires = requires.clone();
                    requires.push(Require::Multiple { axis: self.columns(), of: sizes[0] });
                    requires.extend(columns.map(|value| Require::AtLeast { axis: self.columns(), value }));
                    push(*sizes, int8, &requires);
                }
                for sizes in DOTS {
                    push(*sizes, packed, &requires);
                }
            }
        }
        let Some(rows) = self.several_rows(MAX_FEW_ROWS) else { return };
        let [columns, depth_lanes] = FEW_ROWS;
        let along_depth = weights[0].layout == Direction::Depth;
        let few = GemvRows::AtMost { rows, along_depth, split: false };
        requires.push(Require::AtMost { axis: self.rows(), value: rows });
        push_gemv(family, Gemv { rows: few, columns, depth_lanes, rhs: packed }, false, &rhs, &requires);
    }

    pub(super) fn word_loads(&self) -> Vec<Require> {
        let axis = self.batch + 1;
        let rhs = self.contraction.rhs.iter().map(|(body, value)| Weights::new(self.group, (body, *value)));
        let of_operand = |weights: Weights<'_>| {
            let Dequantize { words, scales, .. } = *weights.value;
            let aligned = |access| Require::Aligned { access, axis, of: LANES };
            let unit = |access| Require::Stride { access, axis, stride: 1 };
            match weights.layout {
                Direction::Outer => vec![unit(words), aligned(words), unit(scales), aligned(scales)],
                Direction::Depth => vec![aligned(words)],
            }
        };
        let mut requires: Vec<Require> = vec![];
        for require in rhs.flatten().flat_map(of_operand) {
            if !requires.contains(&require) {
                requires.push(require);
            }
        }
        requires
    }
}
