//! Slices: lines of a stored operand that the subgroups of a workgroup share, laid out for cooperative matrices.
//!
//! While one slice is multiplied, the next is on its way into registers.

use crate::kernel::Block;
use fuse_artifact::{Uniform, schedule::AttentionCoopMatrix};

use super::{operand::Operand, shader::Shader};

/// A slice, and where its lines come from.
pub(super) struct Slice<'a> {
    /// The operand: one access, with four elements per load along a line.
    pub operand: Operand<'a>,
    /// The axis of its space from one line to the next.
    pub line_axis: usize,
    /// Elements of a line.
    pub elements: u32,
    /// Lines of the slice.
    pub lines: u32,
    /// Invocations that load it.
    pub invocations: u32,
    /// The array of workgroup memory.
    pub array: &'static str,
}

impl Slice<'_> {
    /// Vectors of four from one line of the slice to the next.
    pub(super) const fn line_vectors(&self) -> u32 {
        AttentionCoopMatrix::line_vectors(self.elements)
    }

    /// Vectors of a line in the operand.
    const fn vectors(&self) -> u32 {
        self.elements / 4
    }

    /// Lines that the workgroup loads at once.
    const fn at_once(&self) -> u32 {
        self.invocations / self.vectors()
    }

    /// Vectors that an invocation loads.
    const fn loads(&self) -> u32 {
        self.lines / self.at_once()
    }

    /// Declares this invocation's line of the slice (`{p}_line`), its places in the operand (`{p}_at`) and in the slice
    /// (`{p}_to`), and what it loads (`{p}{l}_x`), for an operand whose prefix is `p`.
    pub(super) fn declare<'k>(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, batch: Vec<String>) {
        declare_lines(&self.operand, self.line_axis, shader, main, batch);
        let (p, vectors, slice_vectors) = (self.operand.prefix, self.vectors(), self.line_vectors());
        main.line(format!("let {p}_line = local / {vectors}u;"));
        main.line(format!("let {p}_at = {p}_first + local % {vectors}u;"));
        main.line(format!("let {p}_to = {p}_line * {slice_vectors}u + local % {vectors}u;"));
        for l in 0..self.loads() {
            main.line(format!("var {p}{l}_x: vec4<f16>;"));
        }
    }

    /// Loads the slice that begins at line `first`; lines beyond `last`, if there may be some, are that one.
    pub(super) fn fetch<'k>(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, first: &str, last: Option<&str>) {
        let buffer = self.operand.buffer(shader, self.operand.loads()[0]);
        let p = self.operand.prefix;
        for l in 0..self.loads() {
            let line = format!("{first} + {p}_line + {}u", l * self.at_once());
            let line = last.map_or_else(|| format!("({line})"), |last| format!("min({line}, {last})"));
            main.line(format!("{p}{l}_x = {buffer}[{p}_at + {line} * {p}_lines];"));
        }
    }

    /// Writes what was loaded to workgroup memory.
    pub(super) fn fill<'k>(&self, main: &mut Block<'k>) {
        let (p, array) = (self.operand.prefix, self.array);
        for l in 0..self.loads() {
            main.line(format!("{array}[{p}_to + {}u] = {p}{l}_x;", l * self.at_once() * self.line_vectors()));
        }
    }
}

/// Declares, in vectors of four, from one line of an operand to the next (`{p}_lines`) and the batch's first (`{p}_first`).
/// Returns the buffer.
pub(super) fn declare_lines<'k>(
    operand: &Operand<'_>,
    line_axis: usize,
    shader: &mut Shader<'k>,
    main: &mut Block<'k>,
    batch: Vec<String>,
) -> String {
    let (p, access) = (operand.prefix, operand.loads()[0]);
    let stride = shader.uniform(Uniform::Stride { access, axis: line_axis as u8 });
    let batch: Vec<_> = shader.raws(&batch).into_iter().map(Some).collect();
    let offset = operand.offset(shader, access, &batch);
    main.line(format!("let {p}_lines = {stride} / 4u;"));
    main.line(format!("let {p}_first = ({offset}) / 4u;"));
    operand.buffer(shader, access).to_string()
}
