//! Slices of the operands: their layout in workgroup memory, and how they get there.

use super::{MatmulKernel, packed::PackedStage, side::Side};
use crate::{
    kernel::{Block, Val},
    schedule::contraction::Direction,
    wgsl::{
        operand::Operand,
        shader::Shader,
        stage::{ElementStage, Elements, LineStage, Slice},
    },
};

/// An operand on its way into workgroup memory.
pub(super) enum Mover<'a> {
    /// By elements or vectors, from this row or column on.
    Elements(Box<ElementStage<'a>>, Val<'a>),
    /// By whole lines of a tile inside the result.
    Lines(LineStage<'a>),
    /// By whole words of quantized weights.
    Words(PackedStage<'a>),
}

impl<'a> MatmulKernel<'a> {
    pub(super) fn direction(&self, side: Side) -> Direction {
        match side {
            Side::Lhs => self.scheduled.lhs,
            Side::Rhs(product) => self.scheduled.rhs[product],
        }
    }

    pub(super) fn operand(&self, side: Side) -> Operand<'a> {
        let ((body, value), prefix) = match side {
            Side::Lhs => (&self.contraction.lhs, "a"),
            Side::Rhs(product) => (&self.contraction.rhs[product], self.rhs_prefixes[product]),
        };
        let [summed, other] = side.axes(self.axes.batch);
        Operand {
            group: self.group,
            body,
            value: *value,
            prefix,
            lanes: self.tile.lanes,
            buffer_lanes: self.tile.lanes,
            lane_axis: if self.direction(side) == Direction::Depth { summed } else { other },
        }
    }

    pub(super) fn slice(&self, side: Side) -> Slice<'a> {
        let (direction, vectors) = match self.tile.coop_matrix() {
            Some(_) => (self.direction(side), self.line_vectors(side)),
            None if side == Side::Lhs && self.slices_along_depth() => (Direction::Depth, self.depth_vectors()),
            None => (Direction::Outer, side.row_vectors(self.tile)),
        };
        let array = self.shader.array(&side.array(self.contraction));
        Slice { array, direction, vectors, swizzled: false }
    }

    fn elements(&self, side: Side) -> Elements<'a> {
        Elements {
            operand: self.operand(side),
            row_prologue: self.row_prologue.filter(|_| side == Side::Lhs),
            direction: self.direction(side),
            axes: side.axes(self.axes.batch),
            batch: self.axes.batch(),
            origin: Some(self.index(side.origin())),
            extent: if side == Side::Lhs { self.axes.rows } else { self.axes.columns },
            end: (!self.tile.k_aligned).then(|| self.index("k_end")),
            shape: [self.tile.depth, side.span(self.tile)],
            invocations: self.tile.invocations(),
            repeats_last: false,
            slice: self.slice(side),
            stored: self.tile.coop_matrix().is_some(),
        }
    }

    pub(super) fn declare_movers(&mut self, b: &mut Block<'a>) -> Vec<Mover<'a>> {
        let mut movers = vec![];
        for side in self.staged() {
            movers.push(if let Some(weights) = self.packed(side) {
                Mover::Words(self.packed_stage(b, side, weights))
            } else if self.tile.shifted_at_edge() {
                Mover::Lines(self.declare_lines(b, side))
            } else {
                let elements = self.elements(side);
                let stage = ElementStage::declare(&mut self.shader, b, elements);
                Mover::Elements(Box::new(stage), self.index(side.origin()))
            });
        }
        movers
    }
}

impl<'a> Mover<'a> {
    pub(super) fn fetch(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        match self {
            Self::Elements(stage, origin) => stage.fetch(shader, b, [step, *origin]),
            Self::Lines(lines) => lines.fetch(b, step),
            Self::Words(stage) => stage.fetch(shader, b, step),
        }
    }

    pub(super) fn fill(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        match self {
            Self::Elements(stage, origin) => stage.fill(shader, b, [step, *origin], shader.u32(0)),
            Self::Lines(lines) => lines.fill(b),
            Self::Words(stage) => stage.fill(shader, b),
        }
    }
}
