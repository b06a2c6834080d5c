//! Operands of a gemv that reads quantized weights in runs.

use fuse_artifact::schedule::LANES;

use super::{
    elements::read_vectors,
    k_groups::{KGroups, Place, Sums},
};
use crate::{
    kernel::{Block, Val},
    wgsl::{
        operand::Operand,
        shader::Shader,
        weights::{PackedWeights, RUN, Run, WeightColumn},
    },
};

/// One column of an invocation, or its four neighbors.
pub(super) struct Column<'a, 'k> {
    pub(super) weights: WeightColumn<'a, 'k>,
    pub(super) product: usize,
    /// Its accumulator lane, unless it is all four.
    pub(super) lane: Option<u32>,
}

impl<'a, 'k> Column<'a, 'k> {
    pub(super) fn all(
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        weights: &[PackedWeights<'a>],
        place: &Place<'k>,
    ) -> Vec<Self> {
        let mut columns = vec![];
        for (product, weights) in weights.iter().enumerate() {
            let lanes = if weights.is_vector() { vec![None] } else { (0..LANES).map(Some).collect() };
            for lane in lanes {
                let (name, column) = match lane {
                    Some(lane) => (format!("{}_c{lane}", weights.name()), place.column + lane),
                    None => (weights.name().to_owned(), place.column),
                };
                let weights = weights.locate(shader, b, name, place.axes.batch(), column);
                columns.push(Self { weights, product, lane });
            }
        }
        columns
    }

    pub(super) fn sum(&self, sums: &Sums<'k>, row: u32) -> Val<'k> {
        let sum = sums[self.product][row as usize];
        self.lane.map_or(sum, |lane| sum.at(lane))
    }
}

pub(super) struct Runs<'a, 'k> {
    pub(super) lhs: Operand<'a>,
    pub(super) place: &'a Place<'k>,
    pub(super) k_groups: &'a KGroups,
    pub(super) weights: &'a [PackedWeights<'a>],
    pub(super) columns: Vec<Column<'a, 'k>>,
    pub(super) sums: Sums<'k>,
}

impl<'k> Runs<'_, 'k> {
    pub(super) fn each(
        &self,
        b: &mut Block<'k>,
        [begin, end]: [Val<'k>; 2],
        body: impl FnOnce(&mut Block<'k>, Val<'k>),
    ) {
        b.unrollable("k", begin + self.place.k_group * RUN, end, self.k_groups.count() * RUN, body);
    }

    /// Loads the runs of all columns; `groups` has an index per product.
    pub(super) fn load(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        k: Val<'k>,
        groups: &[Val<'k>],
    ) -> Vec<Run<'k>> {
        self.columns.iter().map(|column| column.weights.load_run(shader, b, k, groups[column.product])).collect()
    }

    pub(super) fn read_vectors(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        row: u32,
        depth: Val<'k>,
        vectors: u32,
    ) -> Vec<Val<'k>> {
        let row = self.k_groups.row(self.place, row);
        read_vectors(shader, b, &self.lhs, (&self.place.axes, row, depth), "x", vectors)
    }
}
