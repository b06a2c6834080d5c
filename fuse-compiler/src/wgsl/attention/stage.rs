//! Slices of queries, keys and values on their way from memory through registers into workgroup memory.
//!
//! A slice holds, for some steps along the axis that is summed over, a span along the other axis, in vectors of four
//! along the span. Coordinates outside the input are clamped to its last element; what belongs to steps beyond the end
//! is replaced by zero, so that it adds nothing.

use fuse_artifact::Size;

use super::{Extents, Input, Source};
use crate::{
    schedule::contraction::Direction,
    wgsl::{
        builtins::vector_type,
        operand::Operand,
        shader::{Lines, Shader},
    },
};

use super::COMPUTED;

/// One input's slices.
pub(super) struct Stage<'a> {
    source: Source<'a>,
    input: Input,
    lanes: u32,
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
    pub(super) fn new(
        source: Source<'a>,
        input: Input,
        array: &'static str,
        [steps, span, lanes, invocations]: [u32; 4],
    ) -> Self {
        let extent = match input {
            Input::Query | Input::Key => &source.attention.depth,
            Input::Value => &source.attention.keys,
        };
        let masked = !is_multiple(extent, steps);
        Self { source, input, lanes, steps, span, array, invocations, masked, swizzled: true }
    }

    /// The slices with each vector in its place.
    pub(super) fn in_place(self) -> Self {
        Self { swizzled: false, ..self }
    }

    /// What the place of a vector of a step is moved by.
    pub(super) const fn turn(&self, step: u32) -> u32 {
        if self.swizzled { swizzle(step) } else { 0 }
    }

    fn operand(&self) -> Operand<'a> {
        self.source.operand(self.input, self.lanes)
    }

    fn direction(&self) -> Direction {
        self.source.direction(self.input)
    }

    /// Loads of a slice, and how many of them each invocation has.
    fn units(&self) -> (u32, u32) {
        let units = self.steps * self.span / self.lanes;
        (units, units.div_ceil(self.invocations))
    }

    /// The extents of the steps' and of the span's axis.
    fn extents<'e>(&self, extents: &'e Extents) -> [&'e str; 2] {
        match self.input {
            Input::Query => [&extents.depth, extents.queries()],
            Input::Key => [&extents.depth, extents.keys()],
            Input::Value => [extents.keys(), extents.columns()],
        }
    }

    /// The coordinates of an element in the input's space: batch axes, then its two.
    fn at<T: Clone>(&self, batch: Vec<T>, step: T, outer: T) -> Vec<T> {
        let mut at = batch;
        at.extend(if self.input == Input::Query { [outer, step] } else { [step, outer] });
        at
    }

    /// Declares where each of this invocation's loads lies in a slice: `{p}{l}_k` (step) and `{p}{l}_o` (place along the
    /// span), and `{p}{l}_w`, the vector of workgroup memory that it belongs to; the offsets of the batch; and the
    /// registers.
    pub(super) fn declare(&self, shader: &mut Shader<'_>, main: &mut Lines, extents: &Extents) {
        let (operand, p) = (self.operand(), self.input.prefix());
        let batch: Vec<Option<String>> = extents.axes.batch_names().into_iter().map(Some).collect();
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
            let lanes = self.lanes;
            let (o, k) = match self.direction() {
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
                let dtype = self.source.group.accesses[usize::from(access)].dtype;
                main.line(format!("var {p}{l}_x{access}: {};", vector_type(dtype, lanes)));
            }
        }
    }

    /// Loads the slice that starts at `step` and `outer` into registers.
    pub(super) fn fetch(&self, shader: &mut Shader<'_>, main: &mut Lines, extents: &Extents, step: &str, outer: &str) {
        let (operand, p) = (self.operand(), self.input.prefix());
        let [step_extent, outer_extent] = self.extents(extents);
        let along_steps = self.direction() == Direction::Depth;
        let (last_step, last_outer) = if along_steps { (self.lanes, 1) } else { (1, self.lanes) };
        let [step_axis, outer_axis] = self.source.axes(self.input);
        for l in 0..self.units().1 {
            if operand.loads().is_empty() {
                continue;
            }
            main.line("{");
            main.line(format!("let step = min({step} + {p}{l}_k, {step_extent} - {last_step}u);"));
            main.line(format!("let outer = min({outer} + {p}{l}_o, {outer_extent} - {last_outer}u);"));
            for access in operand.loads() {
                let along_step = operand.step(shader, access, step_axis, "step");
                let along_outer = operand.step(shader, access, outer_axis, "outer");
                let offset = format!("{p}_base{access}{along_step}{along_outer}");
                let load = operand.load(shader, access, &offset);
                main.line(format!("{p}{l}_x{access} = {load};"));
            }
            main.line("}");
        }
    }

    /// Writes the fetched slice, after its prologue, to workgroup memory, `first` vectors from the array's start.
    pub(super) fn fill(
        &self,
        shader: &mut Shader<'_>,
        main: &mut Lines,
        extents: &Extents,
        [step, outer, first]: [&str; 3],
    ) {
        let (operand, p) = (self.operand(), self.input.prefix());
        let ty = vector_type(COMPUTED, self.lanes);
        let [step_extent, _] = self.extents(extents);
        let (units, loads) = self.units();
        for l in 0..loads {
            let partial = units < (l + 1) * self.invocations;
            main.line(if partial { format!("if local < {}u {{", units - l * self.invocations) } else { "{".into() });
            let coordinates =
                self.at(extents.axes.batch_names(), format!("{step} + {p}{l}_k"), format!("{outer} + {p}{l}_o"));
            let loaded = |access: u16| format!("{p}{l}_x{access}");
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

    fn place(&self, main: &mut Lines, l: u32, first: &str) {
        let (array, p, vectors) = (self.array, self.input.prefix(), self.span / 4);
        let at = |k: u32| format!("{array}[{first} + ({p}{l}_k + {k}u) * {vectors}u + {p}{l}_w]");
        match (self.lanes, self.direction()) {
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
