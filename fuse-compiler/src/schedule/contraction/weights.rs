//! Right operands that are quantized weights, read by whole words.
//!
//! Where an operand is nothing but a quantized tensor whose packed axis is the depth, kernels read its words as they lie in
//! memory: vectors of four columns where columns are neighbours, a word of one column where depths are. A unit of work is a
//! chunk, the values of few depths that share a word, a scale and an offset.
//!
//! Anything else that is computed from a quantized tensor is read value by value.

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

/// A right operand that is a quantized tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights<'a> {
    /// The values.
    pub value: &'a Dequantize,
    /// Whether they are `f16`, as the left operand is.
    pub half: bool,
    /// Along which axis words are neighbours.
    pub layout: Direction,
}

impl<'a> Weights<'a> {
    /// The right operand with this program, if it is one.
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

    /// The operands of a product, if all are such, of one layout and packed alike.
    pub(crate) fn all(group: &'a Group, contraction: &'a Contraction) -> Option<Vec<Self>> {
        let weights = contraction.rhs.iter().map(|(body, value)| Self::new(group, (body, *value)));
        let weights = weights.collect::<Option<Vec<_>>>()?;
        let alike = |other: &Self| other.layout == weights[0].layout && other.value.packing == weights[0].value.packing;
        weights.iter().all(alike).then_some(weights)
    }

    /// Depths that are read at a time: of one scale, and of one word where values do not straddle words.
    pub(crate) fn chunk(&self) -> u32 {
        chunk(self.value.packing)
    }
}

/// See [`Weights::chunk`].
pub(crate) const fn chunk(packing: Packing) -> u32 {
    if matches!(packing, Packing::Q8) { 4 } else { 8 }
}

/// Depths that an invocation reads at a time where nothing is kept in workgroup memory.
const RUN: u32 = Packing::GROUP_MULTIPLE as u32;

/// Columns and depth lanes of schedules with a left operand of 8 bits where columns are neighbours. Workgroups of more columns
/// round less and read whole cache lines, but have 512 invocations, more than every adapter allows.
const INT8_ROWS: &[[u32; 2]] = &[[32, 64], [16, 64]];

/// ContractionSchedule and depth lanes of such schedules where depths are neighbours, and how many columns they need: words of one column fill
/// cache lines in any case, so that fewer workgroups than a large GPU holds at a time, twice its units, do not pay.
const INT8_DOTS: &[([u32; 2], Option<u32>)] = &[([32, 64], Some(8192)), ([16, 64], None)];

/// Columns and depth lanes of schedules for one row where columns are neighbours: few columns for many workgroups.
const ROWS: &[([u32; 2], bool)] = &[([64, 16], true), ([16, 64], false)];

// Parts of a split depth are multiples of four depths for each of its lanes. Here they begin at runs, too.
const _: () = {
    let mut row = 0;
    while row < ROWS.len() {
        let ([_, depth_lanes], split) = ROWS[row];
        assert!(!split || (depth_lanes * LANES).is_multiple_of(RUN));
        row += 1;
    }
};

/// ContractionSchedule and depth lanes of schedules for few sums where depths are neighbours; an invocation has four sums.
const DOTS: &[[u32; 2]] = &[[32, 32], [8, 128]];

/// Columns and depth lanes of schedules for few rows, and the most rows with one product: twice as many would leave registers for
/// half of the workgroups.
const FEW_ROWS: [u32; 2] = [16, 64];
const MAX_FEW_ROWS: u32 = 4;

impl Facts<'_> {
    /// The weights that gemvs read by packed words, if there are such schedules.
    pub(super) fn packed_weights(&self) -> Option<Vec<Weights<'_>>> {
        Weights::all(self.group, self.contraction)
            .filter(|_| self.row_prologue.is_none() && self.lhs == Some(Direction::Depth))
    }

    /// The gemvs of those weights.
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
        // Those with left operands of 8 bits come first: of equal estimates the first counts.
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
                    // A workgroup has one row of the left operand.
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

    /// What vectors of words need: of four columns, or of one column where runs are read as such.
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
