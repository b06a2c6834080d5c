//! Slices: lines of a stored operand that the subgroups of a workgroup share, laid out for cooperative matrices.
//!
//! While one slice is multiplied, the next is on its way into registers.

use fuse_artifact::schedule::AttentionCoopMatrix;

use super::{operand::Operand, shader::Shader};
use crate::kernel::{Block, Scalar, Ty, Val};

/// The lines of an operand in memory, in vectors of four.
#[derive(Clone, Copy)]
pub(super) struct Lines<'k> {
    /// The prefix of the operand's names.
    pub prefix: &'static str,
    /// The operand's buffer.
    pub buffer: Val<'k>,
    /// The first vector of the batch.
    pub first: Val<'k>,
    /// Vectors from one line to the next.
    pub stride: Val<'k>,
}

impl<'k> Lines<'k> {
    /// Binds the lines of an operand (one access, with four elements per load along a line), `stride` elements apart.
    pub(super) fn bind(
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

/// The extents of a slice.
#[derive(Clone, Copy)]
pub(super) struct SliceExtents {
    /// Lines of the slice.
    pub lines: u32,
    /// Elements of a line.
    pub elements: u32,
    /// Invocations that load it.
    pub invocations: u32,
}

impl SliceExtents {
    /// Vectors of four from one line of the slice to the next.
    pub(super) const fn line_vectors(self) -> u32 {
        AttentionCoopMatrix::line_vectors(self.elements)
    }

    /// Vectors of four of a line.
    pub(super) const fn vectors(self) -> u32 {
        self.elements / 4
    }

    /// Lines that the workgroup loads at once.
    pub(super) const fn at_once(self) -> u32 {
        self.invocations / self.vectors()
    }

    /// Loads of each invocation.
    pub(super) fn loads(self) -> u32 {
        debug_assert!(self.lines.is_multiple_of(self.at_once()), "every invocation takes part in every load");
        self.lines / self.at_once()
    }
}

/// A slice of an operand, with an invocation's part of it in registers.
pub(super) struct Slice<'k> {
    /// The array of workgroup memory.
    pub array: Val<'k>,
    /// Its extents.
    pub extents: SliceExtents,
    source: Lines<'k>,
    /// This invocation's first line of the slice, and its vector of that line in the operand's first line and in the slice.
    line: Val<'k>,
    at: Val<'k>,
    to: Val<'k>,
    registers: Vec<Val<'k>>,
}

impl<'k> Slice<'k> {
    /// Binds this invocation's places in a slice of an operand, and declares its registers.
    pub(super) fn declare(
        shader: &Shader<'k>,
        b: &mut Block<'k>,
        source: Lines<'k>,
        array: Val<'k>,
        extents: SliceExtents,
    ) -> Self {
        let (prefix, vectors) = (source.prefix, extents.vectors());
        let (line, vector) = (shader.local() / vectors, shader.local() % vectors);
        let line = b.bind(format!("{prefix}_line"), line);
        let at = b.bind(format!("{prefix}_at"), source.first + vector);
        let to = b.bind(format!("{prefix}_to"), line * extents.line_vectors() + vector);
        let register = |l| b.declare(shader.arena(), format!("{prefix}{l}_x"), Ty::vector(Scalar::F16, 4));
        let registers = (0..extents.loads()).map(register).collect();
        Self { array, extents, source, line, at, to, registers }
    }

    /// Loads the slice that begins at line `first`; lines beyond `last`, if there may be some, are that one.
    pub(super) fn fetch(&self, b: &mut Block<'k>, first: Val<'k>, last: Option<Val<'k>>) {
        for (l, &register) in (0..).zip(&self.registers) {
            let line = first + self.line + l * self.extents.at_once();
            let line = last.map_or(line, |last| line.min(last));
            b.set(register, self.source.buffer.at(self.at + line * self.source.stride));
        }
    }

    /// Writes the loaded slice to workgroup memory.
    pub(super) fn fill(&self, b: &mut Block<'k>) {
        for (l, &register) in (0..).zip(&self.registers) {
            b.set(self.array.at(self.to + l * self.extents.at_once() * self.extents.line_vectors()), register);
        }
    }
}
