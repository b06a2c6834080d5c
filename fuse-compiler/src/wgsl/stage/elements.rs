//! Stages that load elements or vectors of four: any operand, with its prologue.
//!
//! Coordinates outside are clamped to the last element; values of steps beyond the end become zero, so that they add
//! nothing.

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

pub(in crate::wgsl) struct Elements<'k> {
    /// Its program, whose prefix its loads share.
    pub operand: Operand<'k>,
    pub row_prologue: Option<&'k RowPrologueKernel<'k>>,
    pub direction: Direction,
    /// The summed axis, and the other one.
    pub axes: [usize; 2],
    pub batch: Vec<Val<'k>>,
    /// First place of all slices along the span: offsets are then clamped and multiplied once, for a register per load.
    /// Else each fetch does so, with a register per access.
    pub origin: Option<Val<'k>>,
    pub extent: Val<'k>,
    /// End of the steps, if slices may exceed it.
    pub end: Option<Val<'k>>,
    /// Steps of a slice, and elements of a step.
    pub shape: [u32; 2],
    pub invocations: u32,
    /// True if idle invocations repeat the last load, which spares a branch; else they skip it, which spares memory
    /// requests.
    pub repeats_last: bool,
    pub slice: Slice<'k>,
    /// True if slices hold elements as buffers do.
    pub stored: bool,
}

pub(in crate::wgsl) struct ElementStage<'k> {
    pub slice: Slice<'k>,
    source: Elements<'k>,
    loads: Vec<Load<'k>>,
}

struct Load<'k> {
    outer: Val<'k>,
    step: Val<'k>,
    to: Val<'k>,
    /// The condition to take part, if some do not.
    takes_part: Option<Val<'k>>,
    rows: String,
    registers: Vec<Register<'k>>,
}

struct Register<'k> {
    access: u16,
    /// The offset's constant part.
    base: Val<'k>,
    value: Val<'k>,
}

impl<'k> Elements<'k> {
    fn at<T>(&self, batch: impl Fn(Val<'k>) -> T, [step, outer]: [T; 2]) -> Vec<T> {
        let [summed, other] = self.axes;
        let place = if summed > other { [outer, step] } else { [step, outer] };
        self.batch.iter().map(|&coordinate| batch(coordinate)).chain(place).collect()
    }

    const fn load_extents(&self) -> [u32; 2] {
        match self.direction {
            Direction::Depth => [self.operand.lanes, 1],
            Direction::Outer => [1, self.operand.lanes],
        }
    }

    fn row_names<'n>(&self, prefix: &'n str) -> RowNames<'n> {
        RowNames { prefix, lanes: self.load_extents()[1] }
    }

    /// Binds the constant part of each access's offset, with or without a place along the span.
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
    /// Binds each load's place in a slice, `{p}{l}_o` (along the span), `{p}{l}_k` (step) and `{p}{l}_to`, and the
    /// constant part of each offset, and declares the registers.
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
                    // Idle invocations have no row in the tile.
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

    /// Writes the fetched slice at `step` and `outer` to workgroup memory, after the prologue, `first` vectors from the
    /// array's start.
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
