//! Slices of quantized weights: chunks of words are loaded, and their values stored to workgroup memory.
//!
//! Depths beyond the end repeat the last chunk: the left operand is zero there.

use fuse_artifact::{DType, schedule::LANES};

use super::{MatmulKernel, side::Side};
use crate::{
    kernel::{Block, Scalar, Ty, Val},
    schedule::contraction::{Direction, weights::Weights},
    wgsl::{
        shader::Shader,
        stage::{Slice, scope},
        weights::{Chunk, PackedWeights, WeightColumn},
    },
};

pub(super) struct PackedStage<'a> {
    loads: Vec<Load<'a>>,
    chunk: u32,
    /// End of the depth, if the last step may be partial.
    end: Option<Val<'a>>,
    slice: Slice<'a>,
}

struct Load<'a> {
    column: WeightColumn<'a, 'a>,
    registers: Chunk<'a>,
    /// First column in the tile, and first depth in the step.
    outer: Val<'a>,
    step: Val<'a>,
    /// The condition to take part; `None` if all do.
    inside: Option<Val<'a>>,
}

impl<'a> MatmulKernel<'a> {
    pub(super) fn packed(&self, side: Side) -> Option<Weights<'a>> {
        let Side::Rhs(product) = side else { return None };
        let (body, value) = &self.contraction.rhs[product];
        let weights = Weights::new(self.group, (body, *value))?;
        let fits =
            self.tile.lanes == LANES && self.tile.k_groups() == 1 && self.tile.depth.is_multiple_of(weights.chunk());
        (fits && weights.layout == self.direction(side)).then_some(weights)
    }

    /// Declares the registers of this invocation's chunks, and binds their places `{p}{l}_o` (column in the tile) and
    /// `{p}{l}_k` (depth in the step).
    pub(super) fn packed_stage(&mut self, b: &mut Block<'a>, side: Side, weights: Weights<'a>) -> PackedStage<'a> {
        let (chunk, tile, columns) = (weights.chunk(), self.tile, self.axes.columns);
        let packed = PackedWeights { weights, operand: self.operand(side) };
        let units = tile.columns / packed.lanes() * (tile.depth / chunk);
        let mut loads = vec![];
        for first in (0..units).step_by(tile.invocations() as usize) {
            let name = format!("{}{}", packed.operand.prefix, loads.len());
            packed.declare(&mut self.shader);
            let unit = self.shader.local() + first;
            let (outer, step) = match weights.layout {
                Direction::Outer => (unit % (tile.columns / LANES) * LANES, unit / (tile.columns / LANES) * chunk),
                Direction::Depth => (unit / (tile.depth / chunk), unit % (tile.depth / chunk) * chunk),
            };
            let outer = b.bind(format!("{name}_o"), outer);
            let step = b.bind(format!("{name}_k"), step);
            let column = (self.index(side.origin()) + outer).min(columns - packed.lanes());
            let column = b.bind(format!("{name}_column"), column);
            let column = packed.locate(&mut self.shader, b, name, self.axes.batch(), column);
            let registers = column.declare_chunk(b);
            let inside = (units < first + tile.invocations()).then(|| unit.lt(units));
            loads.push(Load { column, registers, outer, step, inside });
        }
        let end = (!tile.k_aligned).then(|| self.index("k_end"));
        PackedStage { loads, chunk, end, slice: self.slice(side) }
    }
}

impl<'a> PackedStage<'a> {
    pub(super) fn fetch(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        for load in &self.loads {
            scope(b, load.inside, |b| {
                let at = step + load.step;
                let at = self.end.map_or(at, |end| at.min((end - 1) / self.chunk * self.chunk));
                let at = b.bind("chunk", at);
                load.column.load(shader, b, &load.registers, at);
            });
        }
    }

    pub(super) fn fill(&self, shader: &mut Shader<'a>, b: &mut Block<'a>) {
        for load in &self.loads {
            scope(b, load.inside, |b| {
                let (codes, scale) = load.column.unpack(shader, b, &load.registers);
                let values: Vec<Val<'a>> =
                    (0..self.chunk).map(|i| load.column.value(shader, codes, scale, i)).collect();
                self.put(b, load, &values);
            });
        }
    }

    fn put(&self, b: &mut Block<'a>, &Load { step, outer, .. }: &Load<'a>, values: &[Val<'a>]) {
        let slice = &self.slice;
        let (index, scalar) = (slice.index(step, outer), slice.array.at(0).ty().scalar().unwrap_or(Scalar::F32));
        if slice.direction == Direction::Depth {
            for (i, four) in (0..).zip(values.chunks(LANES as usize)) {
                let four = outer.arena().construct(Ty::of(DType::F32, LANES), four);
                slice.put(b, Direction::Depth, [index + i, outer, four.convert(scalar)]);
            }
            return;
        }
        for (i, value) in (0..).zip(values) {
            slice.put(b, Direction::Outer, [index + i * slice.vectors, outer, value.convert(scalar)]);
        }
    }
}
