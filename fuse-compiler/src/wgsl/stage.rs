//! Slices of the inputs of attentions and weighted sums on their way from memory through registers into workgroup memory.
//!
//! A slice holds, for some steps along the axis that is summed over, a span along the other axis, in vectors of four
//! along the span. Coordinates outside the input are clamped to its last element; values of steps beyond the end
//! are replaced by zero, so that they add nothing.

use fuse_artifact::Size;

use super::{attention::COMPUTED, operand::Operand, shader::Shader};
use crate::{
    kernel::{Block, Ty, Val},
    schedule::contraction::Direction,
};

/// An input that is staged, and where it lies in its space.
pub(super) struct Staged<'k> {
    /// Its program; its prefix is that of the names of its loads, too.
    pub(super) operand: Operand<'k>,
    /// Along which of its axes vectors lie.
    pub(super) direction: Direction,
    /// The axis that is summed over, and the other one.
    pub(super) axes: [usize; 2],
    /// The extents of these.
    pub(super) extents: [Val<'k>; 2],
    /// The extent that is summed over.
    pub(super) summed: &'k Size,
    /// The coordinates of the batch.
    pub(super) batch: Vec<Val<'k>>,
}

/// The layout of slices in workgroup memory.
#[derive(Clone, Copy)]
pub(super) struct Layout<'k> {
    /// The array that holds them, of vectors of four.
    pub(super) array: Val<'k>,
    /// Steps of a slice.
    pub(super) steps: u32,
    /// Elements of a step.
    pub(super) span: u32,
    /// Invocations that load a slice.
    pub(super) invocations: u32,
    /// True if vectors are moved in their steps, by [`swizzle`].
    pub(super) swizzled: bool,
}

/// One input's slices.
pub(super) struct Stage<'k> {
    staged: Staged<'k>,
    layout: Layout<'k>,
    /// True if steps beyond the end may occur.
    masked: bool,
    /// For each access, the offset of the batch.
    bases: Vec<(u16, Val<'k>)>,
    loads: Vec<Load<'k>>,
}

/// A load of an invocation: its place in a slice, and its registers.
struct Load<'k> {
    /// The condition that this invocation takes part in it, unless all do.
    takes_part: Option<Val<'k>>,
    step: Val<'k>,
    outer: Val<'k>,
    /// The vector of its step.
    vector: Val<'k>,
    /// The variable of each access.
    registers: Vec<(u16, Val<'k>)>,
}

/// Vectors of four that the place of a vector in its step is moved by, so that writes along the steps hit different
/// banks: with steps in groups of four, 2 for each group.
pub(super) const fn swizzle(step: u32) -> u32 {
    (step / 4 % 4) * 2
}

impl<'k> Stage<'k> {
    /// Binds the places of this invocation's loads in a slice, the offsets of the batch, and the registers.
    pub(super) fn new(shader: &mut Shader<'k>, b: &mut Block<'k>, staged: Staged<'k>, layout: Layout<'k>) -> Self {
        let masked = !is_multiple(staged.summed, layout.steps);
        let (operand, p) = (&staged.operand, staged.operand.prefix);
        let batch: Vec<Option<Val<'k>>> = staged.batch.iter().copied().map(Some).collect();
        let mut bases = vec![];
        for access in operand.loads() {
            let offset = operand.offset(shader, access, &staged.at(batch.clone(), [None, None]));
            bases.push((access, b.bind(format!("{p}_base{access}"), offset)));
        }
        let units = layout.steps * layout.span / operand.lanes;
        let loads = (0..units.div_ceil(layout.invocations)).map(|l| {
            let (arena, local, first) = (shader.arena(), shader.local(), l * layout.invocations);
            let partial = units < first + layout.invocations;
            let unit = if partial { (local + first).min(units - 1) } else { local + first };
            let (outer, step) = match staged.direction {
                Direction::Depth => {
                    let per_place = layout.steps / operand.lanes;
                    (unit / per_place, unit % per_place * operand.lanes)
                }
                Direction::Outer => {
                    let per_step = layout.span / operand.lanes;
                    (unit % per_step * operand.lanes, unit / per_step)
                }
            };
            let outer = b.bind(format!("{p}{l}_o"), outer);
            let step = b.bind(format!("{p}{l}_k"), step);
            let vector = if layout.swizzled { (outer / 4) ^ (step / 4 % 4 * 2) } else { outer / 4 };
            let vector = b.bind(format!("{p}{l}_w"), vector);
            let registers = operand.loads().into_iter().map(|access| {
                let name = format!("{p}{l}_x{access}");
                let ty = operand.named(arena, access, "").ty();
                (access, b.declare(arena, name, ty))
            });
            let registers = registers.collect();
            let takes_part = partial.then(|| local.lt(units - first));
            Load { takes_part, step, outer, vector, registers }
        });
        let loads = loads.collect();
        Self { staged, layout, masked, bases, loads }
    }

    /// The array that holds the slices.
    pub(super) const fn array(&self) -> Val<'k> {
        self.layout.array
    }

    /// The number of vectors that the place of a vector of a step is moved by.
    pub(super) const fn turn(&self, step: u32) -> u32 {
        if self.layout.swizzled { swizzle(step) } else { 0 }
    }

    /// Loads the slice that starts at `step` and `outer` into registers.
    pub(super) fn fetch(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, [step, outer]: [Val<'k>; 2]) {
        let Staged { operand, direction, axes, extents, .. } = &self.staged;
        let last = if *direction == Direction::Depth { [operand.lanes, 1] } else { [1, operand.lanes] };
        for load in self.loads.iter().filter(|load| !load.registers.is_empty()) {
            b.scope(|b| {
                let step = b.bind("step", (step + load.step).min(extents[0] - last[0]));
                let outer = b.bind("outer", (outer + load.outer).min(extents[1] - last[1]));
                for (&(access, base), &(_, register)) in self.bases.iter().zip(&load.registers) {
                    let offset = operand.advance(shader, access, axes[0], base, step);
                    let offset = operand.advance(shader, access, axes[1], offset, outer);
                    b.set(register, operand.load(shader, access, offset));
                }
            });
        }
    }

    /// Writes the fetched slice, after its prologue, to workgroup memory, `first` vectors from the array's start.
    pub(super) fn fill(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, [step, outer]: [Val<'k>; 2], first: Val<'k>) {
        let operand = &self.staged.operand;
        for load in &self.loads {
            let body = Block::of(|b| {
                let at = self.staged.at(self.staged.batch.clone(), [step + load.step, outer + load.outer]);
                let loaded = |access| {
                    let known = load.registers.iter().find(|(known, _)| *known == access);
                    known.expect("each access has its register").1
                };
                let value = operand.value(shader, b, &loaded, &at);
                let value = if self.masked {
                    let zero = shader.arena().construct(Ty::of(COMPUTED, operand.lanes), &[]);
                    (step + load.step).lt(self.staged.extents[0]).select(value, zero)
                } else {
                    value
                };
                let value = b.bind("value", value);
                self.place(b, load, first, value);
            });
            match load.takes_part {
                Some(takes_part) => b.when(takes_part, |b| b.append(&body)),
                None => b.scope(|b| b.append(&body)),
            }
        }
    }

    fn place(&self, b: &mut Block<'k>, load: &Load<'k>, first: Val<'k>, value: Val<'k>) {
        let Layout { array, span, .. } = self.layout;
        let at = |k: u32| array.at(first + (load.step + k) * (span / 4) + load.vector);
        match (self.staged.operand.lanes, self.staged.direction) {
            (1, _) => b.set(at(0).at(load.outer % 4), value),
            (_, Direction::Outer) => b.set(at(0), value),
            (lanes, Direction::Depth) => {
                for e in 0..lanes {
                    b.set(at(e).at(load.outer % 4), value.lane(e));
                }
            }
        }
    }
}

impl Staged<'_> {
    /// The coordinates of an element in the input's space: batch axes, then its step and its place along the span.
    fn at<T>(&self, mut batch: Vec<T>, [step, outer]: [T; 2]) -> Vec<T> {
        let [summed, other] = self.axes;
        batch.extend(if summed > other { [outer, step] } else { [step, outer] });
        batch
    }
}

/// True if a size is known to be a multiple of `of`.
pub(super) fn is_multiple(size: &Size, of: u32) -> bool {
    size.as_constant().is_some_and(|size| size % u64::from(of) == 0)
}
