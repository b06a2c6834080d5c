//! Stages of the operands: which elements of a slice an invocation loads, and where it puts them in workgroup memory.
//!
//! A slice holds, for some steps along the depth, a span of rows or columns. Coordinates outside the operand are clamped to its
//! last element; steps beyond the end are replaced by zero, so that they add nothing.

use fuse_artifact::schedule::{TILE_PAD, Tile};

use super::{MatmulKernel, coop_matrix::LineStage, packed::PackedStage};
use crate::{
    fusion::Contraction,
    kernel::{Block, Function, Ty, Val},
    schedule::contraction::Direction,
    wgsl::{
        epilogue::parameters,
        operand::{Operand, OperandPlace},
        row_prologue::{RowNames, RowPrologueKernel},
        shader::Shader,
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
    /// Element by element or by vectors, through registers.
    Elements(Box<Stage<'a>>),
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
        let name = side.array(self.contraction);
        Slice { array: self.shader.array(&name), name, direction, vectors }
    }

    fn stage(&self, side: Side) -> Stage<'a> {
        Stage {
            operand: self.operand(side),
            row_prologue: self.row_prologue.filter(|_| side == Side::Lhs),
            direction: self.direction(side),
            axes: side.axes(self.axes.batch),
            batch: self.axes.batch(),
            origin: self.index(side.origin()),
            extent: if side == Side::Lhs { self.axes.rows } else { self.axes.columns },
            end: (!self.tile.k_aligned).then(|| self.index("k_end")),
            steps: self.tile.depth,
            span: side.span(self.tile),
            invocations: self.tile.invocations(),
            slice: self.slice(side),
            stored: self.tile.coop_matrix().is_some(),
            loads: vec![],
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
                let mut stage = self.stage(side);
                stage.declare(&mut self.shader, b);
                Mover::Elements(Box::new(stage))
            });
        }
        movers
    }
}

impl<'a> Mover<'a> {
    /// Loads the slice that starts at depth `step` into registers.
    pub(super) fn fetch(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        match self {
            Self::Elements(stage) => stage.fetch(shader, b, step),
            Self::Lines(lines) => lines.fetch(b, step),
            Self::Words(stage) => stage.fetch(shader, b, step),
        }
    }

    /// Writes the fetched slice, which starts at depth `step`, to workgroup memory.
    pub(super) fn fill(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        match self {
            Self::Elements(stage) => stage.fill(shader, b, step),
            Self::Lines(lines) => lines.fill(b),
            Self::Words(stage) => stage.fill(shader, b),
        }
    }
}

/// Slices in workgroup memory, in vectors of four.
pub(super) struct Slice<'k> {
    name: String,
    pub(super) array: Val<'k>,
    /// The direction of its vectors.
    pub(super) direction: Direction,
    /// Vectors from one step to the next, or from one row or column to the next if they lie along the depth.
    vectors: u32,
}

impl<'k> Slice<'k> {
    /// The vector at a step and a place along the span, one of which is a multiple of four.
    pub(super) fn at(&self, step: Val<'k>, outer: Val<'k>) -> Val<'k> {
        self.array.at(match self.direction {
            Direction::Depth => outer * self.vectors + step / 4,
            Direction::Outer => step * self.vectors + outer / 4,
        })
    }

    /// Puts a load of so many elements along a direction in its place.
    fn put(&self, b: &mut Block<'k>, direction: Direction, [outer, step, value]: [Val<'k>; 3]) {
        if value.ty().lanes() > 1 && direction == self.direction {
            b.set(self.at(step, outer), value);
            return;
        }
        for e in 0..value.ty().lanes() {
            b.set(self.at(step + e, outer).at(outer % 4), value.lane(e));
        }
    }
}

/// An operand's slices on their way from memory through registers into workgroup memory.
pub(super) struct Stage<'a> {
    operand: Operand<'a>,
    /// The reductions of its rows.
    row_prologue: Option<&'a RowPrologueKernel<'a>>,
    /// The direction of a load's elements.
    direction: Direction,
    /// The axis that is summed over, and the other one.
    axes: [usize; 2],
    /// The coordinates of the batch.
    batch: Vec<Val<'a>>,
    /// The workgroup's first place along the other axis, and the extent of that axis.
    origin: Val<'a>,
    extent: Val<'a>,
    /// The end of the steps, if slices may reach beyond it.
    end: Option<Val<'a>>,
    /// Steps of a slice.
    steps: u32,
    /// Elements of a step.
    span: u32,
    invocations: u32,
    slice: Slice<'a>,
    /// True if slices hold elements as buffers do.
    stored: bool,
    loads: Vec<Load<'a>>,
}

/// An invocation's load of a slice.
struct Load<'k> {
    /// Its place along the span, and its step in the slice.
    outer: Val<'k>,
    step: Val<'k>,
    /// The condition for the invocations that take part, if some do not.
    inside: Option<Val<'k>>,
    /// The prefix of the values of its rows.
    rows: String,
    registers: Vec<Register<'k>>,
}

/// A register for the elements that a load reads through an access.
struct Register<'k> {
    access: u16,
    /// The part of the offset that stays from slice to slice.
    base: Val<'k>,
    value: Val<'k>,
}

impl<'a> Stage<'a> {
    /// The coordinates of an element in the operand's space.
    fn at<T>(&self, batch: impl Fn(Val<'a>) -> T, step: T, outer: T) -> Vec<T> {
        let [summed, other] = self.axes;
        let place = if summed > other { [outer, step] } else { [step, outer] };
        self.batch.iter().map(|&coordinate| batch(coordinate)).chain(place).collect()
    }

    /// The accesses that loads read.
    fn accesses(&self) -> Vec<u16> {
        self.row_prologue.map_or_else(|| self.operand.loads(), RowPrologueKernel::loads)
    }

    /// Elements of a load along the steps, and along the span.
    const fn extents(&self) -> [u32; 2] {
        match self.direction {
            Direction::Depth => [self.operand.lanes, 1],
            Direction::Outer => [1, self.operand.lanes],
        }
    }

    fn row_names<'n>(&self, prefix: &'n str) -> RowNames<'n> {
        RowNames { prefix, lanes: self.extents()[1] }
    }

    /// Binds the place of each of this invocation's loads in a slice, `{p}{l}_o` (along the span) and `{p}{l}_k` (step), and the
    /// part of each offset that stays, and declares the registers.
    fn declare(&mut self, shader: &mut Shader<'a>, b: &mut Block<'a>) {
        let (p, lanes, [_, width]) = (self.operand.prefix, self.operand.lanes, self.extents());
        let units = self.steps * self.span / lanes;
        for l in 0..units.div_ceil(self.invocations) {
            let unit = shader.local() + l * self.invocations;
            let inside = (units < (l + 1) * self.invocations).then(|| unit.lt(units));
            let (outer, step) = match self.direction {
                Direction::Depth => (unit / (self.steps / lanes), unit % (self.steps / lanes) * lanes),
                Direction::Outer => (unit % (self.span / lanes) * lanes, unit / (self.span / lanes)),
            };
            let outer = b.bind(format!("{p}{l}_o"), outer);
            let step = b.bind(format!("{p}{l}_k"), step);
            let at = b.bind(format!("{p}{l}_at"), (self.origin + outer).min(self.extent - width));
            let rows = format!("{p}{l}_row");
            if let Some(row_prologue) = self.row_prologue {
                // Invocations that do not take part in the load have no row in the tile.
                let row = inside.map_or(outer, |_| outer.min(self.span - width));
                let at = self.at(|coordinate| coordinate, shader.u32(0), at);
                row_prologue.declare(shader, b, self.row_names(&rows), &at, row);
            }
            let at = self.at(Some, None, Some(at));
            let mut registers = vec![];
            for access in self.accesses() {
                let base = self.operand.offset(shader, access, &at);
                let base = b.bind(format!("{p}{l}_base{access}"), base);
                let dtype = self.operand.group.accesses[usize::from(access)].dtype;
                let ty = if self.stored { Ty::stored(dtype, lanes) } else { Ty::of(dtype, lanes) };
                let value = b.declare(shader.arena(), format!("{p}{l}_x{access}"), ty);
                registers.push(Register { access, base, value });
            }
            self.loads.push(Load { outer, step, inside, rows, registers });
        }
    }

    /// Loads the slice that starts at `step` into registers.
    fn fetch(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        let (operand, [depths, _]) = (&self.operand, self.extents());
        for (l, load) in self.loads.iter().enumerate() {
            b.when_some(load.inside, |b| {
                let at = step + load.step;
                let at = self.end.map_or(at, |end| at.min(end - depths));
                let at = b.bind(format!("{}{l}_depth", operand.prefix), at);
                for &Register { access, base, value } in &load.registers {
                    let offset = operand.advance(shader, access, self.axes[0], base, at);
                    let loaded = match self.stored {
                        true => operand.load_stored(shader, access, offset),
                        false => operand.load(shader, access, offset),
                    };
                    b.set(value, loaded);
                }
            });
        }
    }

    /// Writes the fetched slice, which starts at `step`, to workgroup memory, after the operand's prologue.
    fn fill(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, step: Val<'a>) {
        for load in &self.loads {
            let at = step + load.step;
            let block = Block::of(|b| {
                let value =
                    self.value(shader, b, load, &self.at(|coordinate| coordinate, at, self.origin + load.outer));
                let zero = shader.arena().construct(value.ty(), &[]);
                let value = self.end.map_or(value, |end| at.lt(end).select(value, zero));
                self.put(shader, b, [load.outer, load.step, value]);
            });
            match load.inside {
                Some(inside) => b.when(inside, |b| b.append(&block)),
                None if block.is_single() => b.append(&block),
                None => b.scope(|b| b.append(&block)),
            }
        }
    }

    /// The value of a load at these coordinates.
    fn value(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, load: &Load<'a>, at: &[Val<'a>]) -> Val<'a> {
        if self.stored {
            return load.registers[0].value;
        }
        let loaded = |access| {
            let register = load.registers.iter().find(|register| register.access == access);
            register.expect("every access has its register").value
        };
        let operand = &self.operand;
        match self.row_prologue {
            Some(row_prologue) => {
                let place = OperandPlace { operand, loaded: &loaded, at, accumulators: &[] };
                row_prologue.value(shader, b, self.row_names(&load.rows), &place)
            }
            None => operand.value(shader, b, &loaded, at),
        }
    }

    /// Puts a load in its place of the slice: the call of a function that is declared once.
    fn put(&self, shader: &mut Shader<'a>, b: &mut Block<'a>, load: [Val<'a>; 3]) {
        let (arena, name) = (shader.arena(), format!("put_{}", self.slice.name));
        if shader.declares(&name) {
            let [outer, step] = ["outer", "depth"].map(|name| arena.name(name, Ty::U32));
            let values = [outer, step, arena.name("value", load[2].ty())];
            let body = Block::of(|b| self.slice.put(b, self.direction, values));
            shader.function(Function {
                name: name.clone(),
                parameters: parameters(&values).collect(),
                result: None,
                body,
            });
        }
        b.run(arena.call(name, &load, Ty::Void));
    }
}
