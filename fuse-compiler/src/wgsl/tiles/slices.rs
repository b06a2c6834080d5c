//! Slices of the operands: their layout in workgroup memory, and how they get there.

use fuse_artifact::schedule::{TILE_PAD, Tile};

use super::{MatmulKernel, packed::PackedStage};
use crate::{
    fusion::Contraction,
    kernel::{Block, Val},
    schedule::contraction::Direction,
    wgsl::{
        operand::Operand,
        shader::Shader,
        stage::{ElementStage, Elements, LineStage, Slice},
    },
};

/// An operand.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// The left operand.
    Lhs,
    /// The right operand of the product with this number.
    Rhs(usize),
}

impl Side {
    /// The operands of a contraction, the left one first.
    pub(super) fn all(contraction: &Contraction) -> Vec<Self> {
        std::iter::once(Self::Lhs).chain((0..contraction.rhs.len()).map(Self::Rhs)).collect()
    }

    /// The side's slice in workgroup memory: for each depth, its rows or columns in vectors of four.
    pub(super) fn array(self, contraction: &Contraction) -> String {
        match self {
            Self::Lhs => "lhs_tile".to_owned(),
            Self::Rhs(_) if contraction.rhs.len() == 1 => "rhs_tile".to_owned(),
            Self::Rhs(product) => format!("rhs_tile{product}"),
        }
    }

    /// Rows or columns of the side's slice.
    pub(super) const fn span(self, tile: Tile) -> u32 {
        match self {
            Self::Lhs => tile.rows,
            Self::Rhs(_) => tile.columns,
        }
    }

    /// Vectors of four from one depth of the slice to the next.
    pub(super) const fn row_vectors(self, tile: Tile) -> u32 {
        (self.span(tile) + TILE_PAD) / 4
    }

    /// The axes of the operand's space, after those of the batch: the one that is summed over, and the other one.
    pub(super) const fn axes(self, batch: usize) -> [usize; 2] {
        match self {
            Self::Lhs => [batch + 1, batch],
            Self::Rhs(_) => [batch, batch + 1],
        }
    }

    /// The workgroup's first row or column.
    pub(super) const fn origin(self) -> &'static str {
        match self {
            Self::Lhs => "row0",
            Self::Rhs(_) => "column0",
        }
    }
}

/// An operand on its way from memory into workgroup memory.
pub(super) enum Mover<'a> {
    /// By elements or vectors, from this row or column on.
    Elements(Box<ElementStage<'a>>, Val<'a>),
    /// By whole lines of a tile that lies inside the result.
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

    /// The slices of an operand in workgroup memory.
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

    /// Declares the loads of all operands that pass through workgroup memory.
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
    /// Loads the slice that starts at depth `step` into registers.
    pub(super) fn fetch(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        match self {
            Self::Elements(stage, origin) => stage.fetch(shader, b, [step, *origin]),
            Self::Lines(lines) => lines.fetch(b, step),
            Self::Words(stage) => stage.fetch(shader, b, step),
        }
    }

    /// Writes the fetched slice, which starts at depth `step`, to workgroup memory.
    pub(super) fn fill(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        match self {
            Self::Elements(stage, origin) => stage.fill(shader, b, [step, *origin], shader.u32(0)),
            Self::Lines(lines) => lines.fill(b),
            Self::Words(stage) => stage.fill(shader, b),
        }
    }
}
