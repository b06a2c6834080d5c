//! Stages that load elements or vectors of four: any operand, with its prologue.
//!
//! Coordinates outside the operand are clamped to its last element; values of steps beyond the end are replaced by zero, so that
//! they add nothing.

use super::{Slice, scope};
use crate::{
    kernel::{Block, Ty, Val},
    schedule::contraction::Direction,
    wgsl::{
        operand::{Operand, OperandPlace},
        row_prologue::{RowNames, RowPrologueKernel},
        shader::Shader,
    },
};

/// An operand that is staged by elements, and its slices.
pub(in crate::wgsl) struct Elements<'k> {
    /// Its program; its prefix is that of the names of its loads, too.
    pub operand: Operand<'k>,
    /// The reductions of its rows.
    pub row_prologue: Option<&'k RowPrologueKernel<'k>>,
    /// The direction of a load's elements.
    pub direction: Direction,
    /// The axis that is summed over, and the other one.
    pub axes: [usize; 2],
    /// The coordinates of the batch.
    pub batch: Vec<Val<'k>>,
    /// The first place of all slices along the span: offsets are then clamped and multiplied once, for a register per load. Else
    /// each fetch does so, with a register per access.
    pub origin: Option<Val<'k>>,
    /// The extent of the other axis.
    pub extent: Val<'k>,
    /// The end of the steps, if slices may reach beyond it.
    pub end: Option<Val<'k>>,
    /// Steps of a slice, and elements of a step.
    pub shape: [u32; 2],
    /// Invocations that load a slice.
    pub invocations: u32,
    /// True if invocations that take no part in a load repeat the last one, which spares a branch, instead of leaving it out, which
    /// spares requests to memory.
    pub repeats_last: bool,
    /// The slices in workgroup memory.
    pub slice: Slice<'k>,
    /// True if slices hold elements as buffers do.
    pub stored: bool,
}

/// A stage of elements, with the places and registers of an invocation.
pub(in crate::wgsl) struct ElementStage<'k> {
    /// The slices in workgroup memory.
    pub slice: Slice<'k>,
    source: Elements<'k>,
    loads: Vec<Load<'k>>,
}

/// An invocation's load of a slice.
struct Load<'k> {
    /// Its place along the span, and its step in the slice.
    outer: Val<'k>,
    step: Val<'k>,
    /// Its first vector in the slice.
    to: Val<'k>,
    /// The condition for the invocations that take part, if some do not.
    takes_part: Option<Val<'k>>,
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

impl<'k> Elements<'k> {
    /// The coordinates of an element in the operand's space.
    fn at<T>(&self, batch: impl Fn(Val<'k>) -> T, [step, outer]: [T; 2]) -> Vec<T> {
        let [summed, other] = self.axes;
        let place = if summed > other { [outer, step] } else { [step, outer] };
        self.batch.iter().map(|&coordinate| batch(coordinate)).chain(place).collect()
    }

    /// Elements of a load along the steps, and along the span.
    const fn load_extents(&self) -> [u32; 2] {
        match self.direction {
            Direction::Depth => [self.operand.lanes, 1],
            Direction::Outer => [1, self.operand.lanes],
        }
    }

    fn row_names<'n>(&self, prefix: &'n str) -> RowNames<'n> {
        RowNames { prefix, lanes: self.load_extents()[1] }
    }

    /// Binds the part of each access's offset that stays, at a place along the span or without it.
    fn bases(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        name: &str,
        outer: Option<Val<'k>>,
    ) -> Vec<(u16, Val<'k>)> {
        let (at, operand) = (self.at(Some, [None, outer]), &self.operand);
        let accesses = self.row_prologue.map_or_else(|| operand.loads(), RowPrologueKernel::loads);
        let base = |access| (access, b.bind(format!("{name}_base{access}"), operand.offset(shader, access, &at)));
        accesses.into_iter().map(base).collect()
    }
}

impl<'k> ElementStage<'k> {
    /// Binds the place of each of this invocation's loads in a slice, `{p}{l}_o` (along the span), `{p}{l}_k` (step) and
    /// `{p}{l}_to`, and the part of each offset that stays, and declares the registers.
    pub(in crate::wgsl) fn declare(shader: &mut Shader<'k>, b: &mut Block<'k>, source: Elements<'k>) -> Self {
        let Elements { shape: [steps, span], invocations, slice, stored, .. } = source;
        let (p, lanes, [_, width]) = (source.operand.prefix, source.operand.lanes, source.load_extents());
        let units = steps * span / lanes;
        let shared = if source.origin.is_none() { source.bases(shader, b, p, None) } else { vec![] };
        let mut loads = vec![];
        for l in 0..units.div_ceil(invocations) {
            let (name, unit) = (format!("{p}{l}"), shader.local() + l * invocations);
            let takes_part = (units < (l + 1) * invocations).then(|| unit.lt(units));
            let unit = if takes_part.is_some() && source.repeats_last { unit.min(units - 1) } else { unit };
            let (outer, step) = match source.direction {
                Direction::Depth => (unit / (steps / lanes), unit % (steps / lanes) * lanes),
                Direction::Outer => (unit % (span / lanes) * lanes, unit / (span / lanes)),
            };
            let outer = b.bind(format!("{name}_o"), outer);
            let step = b.bind(format!("{name}_k"), step);
            let to = b.bind(format!("{name}_to"), slice.index(step, outer));
            let (rows, mut bases) = (format!("{name}_row"), shared.clone());
            if let Some(origin) = source.origin {
                let at = b.bind(format!("{name}_at"), (origin + outer).min(source.extent - width));
                if let Some(row_prologue) = source.row_prologue {
                    // Invocations that do not take part in the load have no row in the tile.
                    let row = takes_part.map_or(outer, |_| outer.min(span - width));
                    let at = source.at(|coordinate| coordinate, [shader.u32(0), at]);
                    row_prologue.declare(shader, b, source.row_names(&rows), &at, row);
                }
                bases = source.bases(shader, b, &name, Some(at));
            }
            let register = |(access, base)| {
                let dtype = source.operand.group.accesses[usize::from(access)].dtype;
                let ty = if stored { Ty::stored(dtype, lanes) } else { Ty::of(dtype, lanes) };
                Register { access, base, value: b.declare(shader.arena(), format!("{name}_x{access}"), ty) }
            };
            let registers = bases.into_iter().map(register).collect();
            loads.push(Load { outer, step, to, takes_part, rows, registers });
        }
        Self { slice, source, loads }
    }

    /// Loads the slice that starts at `step` and `outer` into registers.
    pub(in crate::wgsl) fn fetch(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, [step, outer]: [Val<'k>; 2]) {
        let Elements { operand, axes, origin, extent, end, repeats_last, stored, .. } = &self.source;
        let [depths, width] = self.source.load_extents();
        let load_elements = if *stored { Operand::load_stored } else { Operand::load };
        for load in &self.loads {
            scope(b, load.takes_part.filter(|_| !repeats_last), |b| {
                let start = step + load.step;
                let start = b.bind("start", end.map_or(start, |end| start.min(end - depths)));
                let outer = (origin.is_none()).then(|| b.bind("outer", (outer + load.outer).min(*extent - width)));
                for &Register { access, base, value } in &load.registers {
                    let offset = operand.advance(shader, access, axes[0], base, start);
                    let offset = outer.map_or(offset, |o| operand.advance(shader, access, axes[1], offset, o));
                    b.set(value, load_elements(operand, shader, access, offset));
                }
            });
        }
    }

    /// Writes the fetched slice, which starts at `step` and `outer`, to workgroup memory, after the operand's prologue, `first`
    /// vectors from the array's start.
    pub(in crate::wgsl) fn fill(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        [step, outer]: [Val<'k>; 2],
        first: Val<'k>,
    ) {
        for load in &self.loads {
            scope(b, load.takes_part, |b| {
                let step = step + load.step;
                let at = self.source.at(|coordinate| coordinate, [step, outer + load.outer]);
                let value = self.value(shader, b, load, &at);
                let zero = shader.arena().construct(value.ty(), &[]);
                let value = self.source.end.map_or(value, |end| step.lt(end).select(value, zero));
                let value = b.bind("value", value);
                self.slice.put(b, self.source.direction, [first + load.to, load.outer, value]);
            });
        }
    }

    /// The value of a load at these coordinates.
    fn value(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, load: &Load<'k>, at: &[Val<'k>]) -> Val<'k> {
        let (source, operand) = (&self.source, &self.source.operand);
        if source.stored {
            return load.registers[0].value;
        }
        let loaded = |access| {
            let register = load.registers.iter().find(|register| register.access == access);
            register.expect("every access has its register").value
        };
        match source.row_prologue {
            Some(row_prologue) => {
                let place = OperandPlace { operand, loaded: &loaded, at, accumulators: &[] };
                row_prologue.value(shader, b, source.row_names(&load.rows), &place)
            }
            None => operand.value(shader, b, &loaded, at),
        }
    }
}
