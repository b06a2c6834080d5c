//! Slices of the inputs of attentions and weighted sums on their way from memory through registers into workgroup memory.
//!
//! A slice holds, for some steps along the axis that is summed over, a span along the other axis, in vectors of four
//! along the span. Coordinates outside the input are clamped to its last element; what belongs to steps beyond the end
//! is replaced by zero, so that it adds nothing.

use crate::kernel::{Block, Ty};
use fuse_artifact::Size;

use super::{attention::COMPUTED, builtins::vector_type, operand::Operand, shader::Shader};
use crate::schedule::contraction::Direction;

/// What is staged: an input, and where it lies in its space.
pub(super) struct Staged<'a> {
    /// Its program; its prefix is that of the names of its loads, too.
    pub(super) operand: Operand<'a>,
    /// Along which of its axes vectors lie.
    pub(super) direction: Direction,
    /// The axis that is summed over, and the other one.
    pub(super) axes: [usize; 2],
    /// The extents of these as expressions.
    pub(super) extents: [String; 2],
    /// The extent that is summed over.
    pub(super) summed: &'a Size,
    /// The coordinates of the batch.
    pub(super) batch: Vec<String>,
}

/// One input's slices.
pub(super) struct Stage<'a> {
    staged: Staged<'a>,
    /// Steps of a slice.
    steps: u32,
    /// Elements of a step.
    span: u32,
    /// The workgroup array that holds slices.
    array: &'static str,
    invocations: u32,
    /// Whether steps beyond the end may occur.
    masked: bool,
    /// Whether vectors are moved in their steps, as [`swizzle`] tells.
    swizzled: bool,
}

/// Vectors of four that the place of a vector in its step is moved by, so that writes along the steps hit different
/// banks: with steps in groups of four, 2 for each group.
pub(super) const fn swizzle(step: u32) -> u32 {
    (step / 4 % 4) * 2
}

impl<'a> Stage<'a> {
    /// Slices of `staged` in `array`, of so many steps and elements, that so many invocations load.
    pub(super) fn new(staged: Staged<'a>, array: &'static str, [steps, span, invocations]: [u32; 3]) -> Self {
        let masked = !is_multiple(staged.summed, steps);
        Self { staged, steps, span, array, invocations, masked, swizzled: true }
    }

    /// The slices with each vector in its place.
    pub(super) fn in_place(self) -> Self {
        Self { swizzled: false, ..self }
    }

    /// What the place of a vector of a step is moved by.
    pub(super) const fn turn(&self, step: u32) -> u32 {
        if self.swizzled { swizzle(step) } else { 0 }
    }

    /// Loads of a slice, and how many of them each invocation has.
    fn units(&self) -> (u32, u32) {
        let units = self.steps * self.span / self.staged.operand.lanes;
        (units, units.div_ceil(self.invocations))
    }

    /// The coordinates of an element in the input's space: batch axes, then its two.
    fn at<T: Clone>(&self, batch: Vec<T>, step: T, outer: T) -> Vec<T> {
        let mut at = batch;
        let [summed, other] = self.staged.axes;
        at.extend(if summed > other { [outer, step] } else { [step, outer] });
        at
    }

    /// Declares where each of this invocation's loads lies in a slice: `{p}{l}_k` (step) and `{p}{l}_o` (place along the
    /// span), and `{p}{l}_w`, the vector of workgroup memory that it belongs to; the offsets of the batch; and the
    /// registers.
    pub(super) fn declare<'k>(&self, shader: &mut Shader<'k>, main: &mut Block<'k>) {
        let (operand, p) = (&self.staged.operand, self.staged.operand.prefix);
        let batch: Vec<_> = shader.raws(&self.staged.batch).into_iter().map(Some).collect();
        for access in operand.loads() {
            let offset = operand.offset(shader, access, &self.at(batch.clone(), None, None));
            main.line(format!("let {p}_base{access} = {offset};"));
        }
        let (units, loads) = self.units();
        for l in 0..loads {
            let unit = if units < (l + 1) * self.invocations {
                format!("min(local + {}u, {}u)", l * self.invocations, units - 1)
            } else {
                format!("(local + {}u)", l * self.invocations)
            };
            let lanes = operand.lanes;
            let (o, k) = match self.staged.direction {
                Direction::Depth => {
                    let per_place = self.steps / lanes;
                    (format!("{unit} / {per_place}u"), format!("({unit} % {per_place}u) * {lanes}u"))
                }
                Direction::Outer => {
                    let per_step = self.span / lanes;
                    (format!("({unit} % {per_step}u) * {lanes}u"), format!("{unit} / {per_step}u"))
                }
            };
            main.line(format!("let {p}{l}_o = {o};"));
            main.line(format!("let {p}{l}_k = {k};"));
            main.line(if self.swizzled {
                format!("let {p}{l}_w = ({p}{l}_o / 4u) ^ ({p}{l}_k / 4u % 4u * 2u);")
            } else {
                format!("let {p}{l}_w = {p}{l}_o / 4u;")
            });
            for access in operand.loads() {
                let dtype = operand.group.accesses[usize::from(access)].dtype;
                main.line(format!("var {p}{l}_x{access}: {};", vector_type(dtype, lanes)));
            }
        }
    }

    /// Loads the slice that starts at `step` and `outer` into registers.
    pub(super) fn fetch<'k>(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, step: &str, outer: &str) {
        let (operand, p) = (&self.staged.operand, self.staged.operand.prefix);
        let [step_extent, outer_extent] = &self.staged.extents;
        let along_steps = self.staged.direction == Direction::Depth;
        let (last_step, last_outer) = if along_steps { (operand.lanes, 1) } else { (1, operand.lanes) };
        let [step_axis, outer_axis] = self.staged.axes;
        for l in 0..self.units().1 {
            if operand.loads().is_empty() {
                continue;
            }
            main.line("{");
            main.line(format!("let step = min({step} + {p}{l}_k, {step_extent} - {last_step}u);"));
            main.line(format!("let outer = min({outer} + {p}{l}_o, {outer_extent} - {last_outer}u);"));
            for access in operand.loads() {
                let [base, step, outer] =
                    [&*format!("{p}_base{access}"), "step", "outer"].map(|name| shader.raw(name, Ty::U32));
                let offset = operand.advance(shader, access, step_axis, base, step);
                let offset = operand.advance(shader, access, outer_axis, offset, outer);
                let load = operand.load(shader, access, offset);
                main.line(format!("{p}{l}_x{access} = {load};"));
            }
            main.line("}");
        }
    }

    /// Writes the fetched slice, after its prologue, to workgroup memory, `first` vectors from the array's start.
    pub(super) fn fill<'k>(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, [step, outer, first]: [&str; 3]) {
        let (operand, p) = (&self.staged.operand, self.staged.operand.prefix);
        let ty = vector_type(COMPUTED, operand.lanes);
        let [step_extent, _] = &self.staged.extents;
        let (units, loads) = self.units();
        for l in 0..loads {
            let partial = units < (l + 1) * self.invocations;
            main.line(if partial { format!("if local < {}u {{", units - l * self.invocations) } else { "{".into() });
            let (step_at, outer_at) = (format!("{step} + {p}{l}_k"), format!("{outer} + {p}{l}_o"));
            let coordinates = self.at(self.staged.batch.clone(), step_at, outer_at);
            let (arena, coordinates) = (shader.arena(), shader.raws(&coordinates));
            let loaded = |access| operand.named(arena, access, format!("{p}{l}_x{access}"));
            let value = operand.value(shader, main, &loaded, &coordinates);
            main.line(if self.masked {
                format!("let value = select({ty}(), {value}, {step} + {p}{l}_k < {step_extent});")
            } else {
                format!("let value = {value};")
            });
            self.place(main, l, first);
            main.line("}");
        }
    }

    fn place<'k>(&self, main: &mut Block<'k>, l: u32, first: &str) {
        let (array, p, vectors) = (self.array, self.staged.operand.prefix, self.span / 4);
        let at = |k: u32| format!("{array}[{first} + ({p}{l}_k + {k}u) * {vectors}u + {p}{l}_w]");
        match (self.staged.operand.lanes, self.staged.direction) {
            (1, _) => main.line(format!("{}[{p}{l}_o % 4u] = value;", at(0))),
            (_, Direction::Outer) => main.line(format!("{} = value;", at(0))),
            (lanes, Direction::Depth) => {
                for e in 0..lanes {
                    main.line(format!("{}[{p}{l}_o % 4u] = value[{e}];", at(e)));
                }
            }
        }
    }
}

/// Whether a size is known to be a multiple of `of`.
pub(super) fn is_multiple(size: &Size, of: u32) -> bool {
    size.as_constant().is_some_and(|size| size % u64::from(of) == 0)
}
