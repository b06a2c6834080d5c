//! Members for few rows, which share what is read of the right operands: `gemv RxC` where columns are neighbours, `gemv-t RxC`
//! where depths are. Those of quantized weights are in `weights`.

use fuse_artifact::{
    Require, Space,
    schedule::{Gemv, GemvRhs, GemvRows, LANES},
};

use super::{Direction, Facts, Member, ROW_STEP, push_gemv};

/// Columns and depth lanes of members where columns are neighbours. The first is faster where an adapter allows 512 invocations, the
/// second where columns are few. Several products come with the first only: there the second gained at most 14 % on an H200, and
/// lost up to 62 %.
const ROWS: [[u32; 2]; 2] = [[32, 64], [16, 64]];

/// The same where depths are neighbours.
const DOTS: [[u32; 2]; 2] = [[16, 64], [8, 128]];

/// The most rows of such a member with one product.
const MAX_ROWS: u32 = 8;

impl Facts<'_> {
    /// The direction of all right operands, if the left one lies along the depth and is not normalized on the way.
    fn one_direction(&self) -> Option<Direction> {
        let first = self.rhs[0]?;
        let alike = self.lhs == Some(Direction::Depth) && self.rhs.iter().all(|rhs| *rhs == Some(first));
        (alike && self.row_prologue.is_none()).then_some(first)
    }

    /// The members for few rows, where all right operands lie in one direction.
    pub(super) fn push_few_rows(&self, family: &mut Vec<Member>) {
        let (Some(rhs), Some(rows)) = (self.one_direction(), self.few_rows(MAX_ROWS)) else { return };
        let (along_depth, sizes) = match rhs {
            Direction::Outer => (false, ROWS),
            Direction::Depth => (true, DOTS),
        };
        let all = vec![rhs; self.rhs.len()];
        let count = if self.rhs.len() == 1 { sizes.len() } else { 1 };
        for [columns, depth_lanes] in sizes.into_iter().take(count) {
            let rows = GemvRows::AtMost { rows, along_depth, split: false };
            let gemv = Gemv { rows, columns, depth_lanes, rhs: GemvRhs::Elements { whole_steps: true } };
            let requires = self.requirements_of_few_rows(gemv.rows(), rhs);
            push_gemv(family, gemv, false, &all, &requires);
        }
    }

    /// The rows of a member for few rows, if that leaves several: at most so many with one product, fewer with several, as an
    /// invocation has four sums for each.
    pub(super) fn few_rows(&self, most: u32) -> Option<u32> {
        let rows = most / (self.rhs.len() as u32).next_power_of_two();
        (rows > 1).then_some(rows)
    }

    /// What a member for at most so many rows needs, whose right operands lie in one direction.
    fn requirements_of_few_rows(&self, rows: u32, rhs: Direction) -> Vec<Require> {
        let mut requires = vec![
            Require::AtMost { axis: self.rows(), value: rows },
            Require::Multiple { axis: self.columns(), of: LANES },
            Require::Multiple { axis: self.depth(), of: ROW_STEP },
        ];
        requires.extend(self.vector_loads(|_, space| match (space, rhs) {
            (Space::Lhs, _) => vec![self.batch + 1],
            (Space::Rhs, Direction::Depth) => vec![self.batch],
            (Space::Rhs, Direction::Outer) | (Space::Point, _) => vec![self.columns()],
            (Space::Score | Space::Value, _) => vec![],
        }));
        requires
    }
}
