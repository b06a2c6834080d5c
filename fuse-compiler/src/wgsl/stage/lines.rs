//! Stages of whole lines of a stored operand, laid out for cooperative matrices.
//!
//! Stages inside the operand load at an invocation's offset plus a shared one: an offset per load would take registers
//! (docs/experiments.md).

use fuse_artifact::schedule::{AttentionCoopMatrix, LANES};

use crate::{
    kernel::{Block, Scalar, Ty, Val},
    wgsl::{operand::Operand, shader::Shader},
};

#[derive(Clone, Copy)]
pub(in crate::wgsl) struct Lines<'k> {
    pub prefix: &'static str,
    pub buffer: Val<'k>,
    pub first: Val<'k>,
    pub stride: Val<'k>,
}

impl<'k> Lines<'k> {
    /// Binds an operand's lines (one access, four elements per load), `stride` elements apart.
    pub(in crate::wgsl) fn bind(
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        operand: &Operand<'_>,
        stride: Val<'k>,
        batch: &[Val<'k>],
    ) -> Self {
        let (prefix, access) = (operand.prefix, operand.loads()[0]);
        let batch: Vec<_> = batch.iter().copied().map(Some).collect();
        let offset = operand.offset(shader, access, &batch);
        let stride = b.bind(format!("{prefix}_lines"), stride / 4);
        let first = b.bind(format!("{prefix}_first"), offset / 4);
        Self { prefix, buffer: operand.buffer(shader, access), first, stride }
    }
}

#[derive(Clone, Copy)]
pub(in crate::wgsl) struct SliceExtents {
    pub lines: u32,
    pub elements: u32,
    pub invocations: u32,
}

impl SliceExtents {
    pub(in crate::wgsl) const fn line_vectors(self) -> u32 {
        AttentionCoopMatrix::line_vectors(self.elements)
    }

    const fn vectors(self) -> u32 {
        self.elements / LANES
    }

    const fn at_once(self) -> u32 {
        self.invocations / self.vectors()
    }
}

/// How slices follow each other.
#[derive(Clone, Copy)]
pub(in crate::wgsl) enum Advance<'k> {
    /// By elements of the same lines.
    Elements,
    /// By lines, all of which the operand has.
    Lines,
    /// By lines; those beyond this last one repeat it.
    Clamped(Val<'k>),
}

pub(in crate::wgsl) struct LineStage<'k> {
    pub array: Val<'k>,
    pub extents: SliceExtents,
    source: Lines<'k>,
    advance: Advance<'k>,
    /// First line in a slice, first vector in the operand's slices and in the slice.
    line: Val<'k>,
    at: Val<'k>,
    to: Val<'k>,
    /// Each load's distance from the first in the operand (in vectors, or in clamped lines), and its register.
    loads: Vec<(Val<'k>, Val<'k>)>,
}

impl<'k> LineStage<'k> {
    pub(in crate::wgsl) fn declare(
        shader: &Shader<'k>,
        b: &mut Block<'k>,
        source: Lines<'k>,
        advance: Advance<'k>,
        array: Val<'k>,
        extents: SliceExtents,
    ) -> Self {
        debug_assert!(extents.lines.is_multiple_of(extents.at_once()), "every invocation takes part in every load");
        let (Lines { prefix: p, first, stride, .. }, clamped) = (source, matches!(advance, Advance::Clamped(_)));
        let (line, vector) = (shader.local() / extents.vectors(), shader.local() % extents.vectors());
        let line = b.bind(format!("{p}_line"), line);
        let at = b.bind(format!("{p}_at"), if clamped { first + vector } else { line * stride + vector });
        let to = b.bind(format!("{p}_to"), line * extents.line_vectors() + vector);
        let mut loads = vec![];
        for (l, lines) in (0..extents.lines).step_by(extents.at_once() as usize).enumerate() {
            let lines = shader.u32(lines);
            let distance = if clamped { lines } else { b.bind(format!("{p}{l}_line"), lines * stride) };
            loads.push((distance, b.declare(shader.arena(), format!("{p}{l}_x"), Ty::vector(Scalar::F16, LANES))));
        }
        Self { array, extents, source, advance, line, at, to, loads }
    }

    pub(in crate::wgsl) fn fetch(&self, b: &mut Block<'k>, step: Val<'k>) {
        let Lines { prefix, buffer, first, stride } = self.source;
        let start = match self.advance {
            Advance::Elements => first + step / LANES,
            Advance::Lines => first + step * stride,
            Advance::Clamped(_) => step + self.line,
        };
        let start = b.bind(format!("{prefix}_step"), start);
        for &(distance, register) in &self.loads {
            let place = match self.advance {
                Advance::Clamped(last) => (start + distance).min(last) * stride,
                Advance::Elements | Advance::Lines => start + distance,
            };
            b.set(register, buffer.at(self.at + place));
        }
    }

    pub(in crate::wgsl) fn fill(&self, b: &mut Block<'k>) {
        for (l, &(_, register)) in (0..).zip(&self.loads) {
            b.set(self.array.at(self.to + l * self.extents.at_once() * self.extents.line_vectors()), register);
        }
    }
}
