//! Schedules for few rows: `gemv RxC` for right operands contiguous along columns, `gemv-t RxC` and `dot O` along the
//! depth.
//!
//! For quantized weights see `weights`.

use fuse_artifact::{
    Require, Space,
    schedule::{Gemv, GemvRhs, GemvRows, LANES},
};

use super::{ContractionSchedule, Direction, Facts, ScheduleSpec};
use crate::schedule::layout::multiples_of_lanes;

/// Depths per step: loads that an invocation has in flight.
pub(crate) const STEP: u32 = 8;

/// Columns and depth lanes for one row of contiguous columns; the flags ask for a split twin and whole steps, which
/// load the left operand in vectors and mask nothing. The second is faster where an adapter allows 512 invocations.
const ONE_ROW: &[([u32; 2], bool, bool)] = &[([64, 16], true, false), ([32, 64], false, true)];

/// Columns and depth lanes for few rows of contiguous columns. The first is faster if an adapter allows 512
/// invocations, the second for few columns. With several products, the second gained at most 14 % on an H200, and lost
/// up to 62 %, so they use the first only.
const FEW_ROWS: [[u32; 2]; 2] = [[32, 64], [16, 64]];

const FEW_ROWS_ALONG_DEPTH: [[u32; 2]; 2] = [[16, 64], [8, 128]];

const MAX_ROWS: u32 = 8;

const DOT: [u32; 2] = [8, 32];

impl Facts<'_> {
    pub(super) fn push_gemvs(&self, family: &mut Vec<ScheduleSpec>) {
        if self.one_direction() == Some(Direction::Depth) {
            let [columns, depth_lanes] = DOT;
            let rhs = GemvRhs::Elements { k_aligned: false };
            let gemv = Gemv { rows: GemvRows::One, columns, depth_lanes, rhs };
            let directions = vec![Direction::Depth; self.rhs.len()];
            let requires = self.dot_requirements();
            family.push(ScheduleSpec::new(ContractionSchedule::Gemv(gemv), (Direction::Depth, &directions), &requires));
        }
        if self.rhs.iter().all(|rhs| *rhs == Some(Direction::Outer)) {
            let rhs = vec![Direction::Outer; self.rhs.len()];
            for &(sizes, split, k_aligned) in ONE_ROW {
                let k_aligned = k_aligned && self.lhs == Some(Direction::Depth) && self.row_prologue.is_none();
                let gemv = of_rows(1, sizes, GemvRhs::Elements { k_aligned });
                push_gemv(family, gemv, split, &rhs, &self.row_requirements(k_aligned));
            }
        }
        let (Some(rhs), Some(rows)) = (self.one_direction(), self.several_rows(MAX_ROWS)) else { return };
        let (along_depth, sizes) = match rhs {
            Direction::Outer => (false, FEW_ROWS),
            Direction::Depth => (true, FEW_ROWS_ALONG_DEPTH),
        };
        let all = vec![rhs; self.rhs.len()];
        let count = if self.rhs.len() == 1 { sizes.len() } else { 1 };
        for [columns, depth_lanes] in sizes.into_iter().take(count) {
            let of = GemvRows::AtMost { rows, along_depth, split: false };
            let gemv = Gemv { rows: of, columns, depth_lanes, rhs: GemvRhs::Elements { k_aligned: true } };
            push_gemv(family, gemv, false, &all, &self.few_rows_requirements(rows, rhs));
        }
    }

    /// Direction of all right operands, if the left one is contiguous along the depth and has no reductions.
    fn one_direction(&self) -> Option<Direction> {
        let first = self.rhs[0]?;
        let alike = self.lhs == Some(Direction::Depth) && self.rhs.iter().all(|rhs| *rhs == Some(first));
        (alike && self.row_prologue.is_none()).then_some(first)
    }

    /// Rows of a few-rows schedule, if several fit: each further product takes four accumulators per row of an
    /// invocation.
    pub(super) fn several_rows(&self, most: u32) -> Option<u32> {
        let rows = most / (self.rhs.len() as u32).next_power_of_two();
        (rows > 1).then_some(rows)
    }

    fn dot_requirements(&self) -> Vec<Require> {
        let mut requires = multiples_of_lanes(vec![self.depth()]);
        requires.extend(self.vector_loads(|_, space| match space {
            Space::Lhs => vec![self.batch + 1],
            Space::Rhs => vec![self.batch],
            Space::Point | Space::SecondLhs | Space::SecondRhs | Space::Score | Space::Value => vec![],
        }));
        requires
    }

    fn row_requirements(&self, k_aligned: bool) -> Vec<Require> {
        let mut requires = vec![Require::AtMost { axis: self.rows(), value: 1 }];
        requires.extend(multiples_of_lanes(vec![self.columns()]));
        if k_aligned {
            requires.push(Require::Multiple { axis: self.depth(), of: STEP });
        }
        requires.extend(self.vector_loads(|_, space| match space {
            Space::Lhs if k_aligned => vec![self.batch + 1],
            Space::Lhs | Space::SecondLhs | Space::SecondRhs | Space::Score | Space::Value => vec![],
            Space::Rhs | Space::Point => vec![self.columns()],
        }));
        requires
    }

    fn few_rows_requirements(&self, rows: u32, rhs: Direction) -> Vec<Require> {
        let mut requires = vec![
            Require::AtMost { axis: self.rows(), value: rows },
            Require::Multiple { axis: self.columns(), of: LANES },
            Require::Multiple { axis: self.depth(), of: STEP },
        ];
        requires.extend(self.vector_loads(|_, space| match (space, rhs) {
            (Space::Lhs, _) => vec![self.batch + 1],
            (Space::Rhs, Direction::Depth) => vec![self.batch],
            (Space::Rhs, Direction::Outer) | (Space::Point, _) => vec![self.columns()],
            (Space::SecondLhs | Space::SecondRhs | Space::Score | Space::Value, _) => vec![],
        }));
        requires
    }
}

pub(super) const fn of_rows(rows: u32, [columns, depth_lanes]: [u32; 2], rhs: GemvRhs) -> Gemv {
    Gemv { rows: GemvRows::AtMost { rows, along_depth: false, split: false }, columns, depth_lanes, rhs }
}

pub(super) fn push_gemv(
    family: &mut Vec<ScheduleSpec>,
    gemv: Gemv,
    split: bool,
    rhs: &[Direction],
    requires: &[Require],
) {
    let rows = GemvRows::AtMost { rows: gemv.rows(), along_depth: gemv.along_depth(), split: true };
    let twin = split.then_some(Gemv { rows, ..gemv });
    let gemvs = twin.into_iter().chain([gemv]);
    family.extend(
        gemvs.map(|gemv| ScheduleSpec::new(ContractionSchedule::Gemv(gemv), (Direction::Depth, rhs), requires)),
    );
}
