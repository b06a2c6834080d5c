//! Chunks of quantized weights: the words and the scales of a few depths, in registers, and the values that they mean.
//!
//! Where columns are neighbours, a chunk is that of four columns and everything is a vector; else of one. Names start with a
//! prefix that the caller chooses: `_w` and `_v` are words (the second only where values straddle words), `_s` and `_t`
//! scales as they lie in memory (the second only of `f32`), `_shift` where the chunk starts in its word.

use fuse_artifact::{DType, Size, Slot};

use super::{
    operand::Operand,
    shader::{Lines, Shader},
};
use crate::schedule::contraction::{
    Direction, LANES,
    weights::{Weights, chunk},
};

/// 2^23: a float with these bits has its fraction as an integer, so that conversion is an `or` and a subtraction. Where it was
/// measured, converting instructions take four times as long as others.
const MAGIC: (u32, &str) = (0x4b00_0000, "8388608.0");

/// Bits of the fraction.
const FRACTION: u32 = 23;

/// Reads chunks of one right operand.
pub(super) struct WeightText<'a> {
    pub weights: Weights<'a>,
    /// The operand, bound by vectors of four.
    pub operand: Operand<'a>,
    /// What names start with.
    pub prefix: String,
}

impl WeightText<'_> {
    fn param(&self) -> u16 {
        self.weights.value.param
    }

    fn is_vector(&self) -> bool {
        self.weights.layout == Direction::Outer
    }

    /// The type of words or values of a chunk at one depth.
    pub(super) fn ty(&self, scalar: &str) -> String {
        if self.is_vector() { format!("vec4<{scalar}>") } else { scalar.to_owned() }
    }

    /// Elements between neighbours along the packed axis, of the words or the scales.
    fn step(&self, shader: &mut Shader<'_>, access: u16) -> String {
        let view = &self.operand.group.accesses[usize::from(access)].access.view;
        shader.size(&Size::product(&view[usize::from(self.weights.value.axis) + 1..]))
    }

    /// Declares the functions of the scales, once for each parameter.
    pub(super) fn declare(&self, shader: &mut Shader<'_>) {
        super::quantized::declare_wide(shader, self.param());
        for slot in [Slot::Param(self.param()), Slot::Scales(self.param())] {
            shader.buffer(slot, DType::U32, LANES, false);
        }
    }

    /// Declares where the words and scales of a column (the first of four) start: `_words`, `_scales`.
    pub(super) fn locate(&self, shader: &mut Shader<'_>, lines: &mut Lines, batch: &[String], column: &str) {
        let mut at: Vec<Option<String>> = batch.iter().cloned().map(Some).collect();
        at.extend([None, Some(column.to_owned())]);
        let (words, scales) = (self.weights.value.words, self.weights.value.scales);
        for (name, access) in [("words", words), ("scales", scales)] {
            let offset = self.operand.offset(shader, access, &at);
            lines.line(format!("let {}_{name} = {offset};", self.prefix));
        }
    }

    /// Declares the registers of a chunk.
    pub(super) fn declare_chunk(&self, lines: &mut Lines) {
        let (p, ty) = (&self.prefix, self.ty("u32"));
        for name in ["w", "v", "s", "t"] {
            if name != "v" || self.straddles() {
                lines.line(format!("var {p}_{name}: {ty};"));
            }
        }
        lines.line(format!("var {p}_shift: u32;"));
    }

    fn straddles(&self) -> bool {
        self.weights.value.packing.block_words() > 1
    }

    /// The same weights with names of the `n`-th chunk of several.
    pub(super) fn numbered(&self, n: u32) -> Self {
        Self { weights: self.weights, operand: self.operand.clone(), prefix: format!("{}_{n}", self.prefix) }
    }

    /// Loads the chunk that starts at a depth, a multiple of the chunk's length inside the weights.
    pub(super) fn load(&self, shader: &mut Shader<'_>, lines: &mut Lines, depth: &str) {
        self.load_at(shader, lines, &self.prefix, depth);
    }

    /// As [`load`](Self::load), of the column whose place another prefix names.
    pub(super) fn load_at(&self, shader: &mut Shader<'_>, lines: &mut Lines, place: &str, depth: &str) {
        let (p, value) = (&self.prefix, self.weights.value);
        let bits = value.packing.bits();
        let (words_step, scales_step) = (self.step(shader, value.words), self.step(shader, value.scales));
        let words = shader.buffer(Slot::Param(value.param), DType::U32, LANES, false);
        let scales = shader.buffer(Slot::Scales(value.param), DType::U32, LANES, false);
        let group = shader.size(&value.group);
        lines.line("{");
        lines.line(format!("let bit = ({depth}) * {bits}u;"));
        lines.line(format!("{p}_shift = bit % 32u;"));
        lines.line(format!("let word = {place}_words + bit / 32u * {words_step};"));
        lines.line(format!("{p}_w = {};", self.element(&words, "word")));
        if self.straddles() {
            // Chunks of 24 bits: those that start above bit 8 end in the next word.
            lines.line(format!("let next = select(word, word + {words_step}, {p}_shift > 8u);"));
            lines.line(format!("{p}_v = {};", self.element(&words, "next")));
        }
        lines.line(format!("let pair = {place}_scales + ({depth}) / {group} * {scales_step};"));
        lines.line(format!("if fuse_wide_scales_{} {{", value.param));
        let second = if self.is_vector() { "2u * pair + 4u" } else { "2u * pair + 1u" };
        lines.line(format!("{p}_s = {};", self.element(&scales, "2u * pair")));
        lines.line(format!("{p}_t = {};", self.element(&scales, second)));
        lines.line("} else {");
        lines.line(format!("{p}_s = {};", self.element(&scales, "pair")));
        lines.line("}");
        lines.line("}");
    }

    fn element(&self, buffer: &str, offset: &str) -> String {
        match self.is_vector() {
            true => format!("{buffer}[({offset}) / 4u]"),
            false => format!("{buffer}[({offset}) / 4u][({offset}) % 4u]"),
        }
    }

    /// Declares `_scale`, `_offset` and `_q`, the codes with the chunk's first at bit 0.
    pub(super) fn unpack(&self, lines: &mut Lines) {
        let (p, param) = (&self.prefix, self.param());
        let (float, word) = (self.ty("f32"), self.ty("u32"));
        lines.line(format!("var {p}_scale: {float};"));
        lines.line(format!("var {p}_offset: {float};"));
        lines.line(format!("if fuse_wide_scales_{param} {{"));
        if self.is_vector() {
            for (name, [x, y]) in [("scale", ["x", "z"]), ("offset", ["y", "w"])] {
                let parts = format!("{p}_s.{x}, {p}_s.{y}, {p}_t.{x}, {p}_t.{y}");
                lines.line(format!("{p}_{name} = bitcast<{float}>({word}({parts}));"));
            }
        } else {
            lines.line(format!("{p}_scale = bitcast<f32>({p}_s);"));
            lines.line(format!("{p}_offset = bitcast<f32>({p}_t);"));
        }
        lines.line("} else {");
        if self.is_vector() {
            for lane in ["x", "y", "z", "w"] {
                lines.line(format!("let pair_{lane} = unpack2x16float({p}_s.{lane});"));
            }
            for (name, part) in [("scale", "x"), ("offset", "y")] {
                let parts = ["x", "y", "z", "w"].map(|lane| format!("pair_{lane}.{part}")).join(", ");
                lines.line(format!("{p}_{name} = {float}({parts});"));
            }
        } else {
            lines.line(format!("let pair = unpack2x16float({p}_s);"));
            lines.line(format!("{p}_scale = pair.x;"));
            lines.line(format!("{p}_offset = pair.y;"));
        }
        lines.line("}");
        let shift = format!("{word}({p}_shift)");
        lines.line(match self.straddles() {
            // A chunk that does not straddle has its own word twice, of which the second adds bits that are masked.
            true => format!("let {p}_q = ({p}_w >> {shift}) | (({p}_v << {word}(1u)) << ({word}(31u) - {shift}));"),
            false => format!("let {p}_q = {p}_w >> {shift};"),
        });
    }

    /// The code of the chunk's `i`-th depth, as a float, times a power of two, which is given with it.
    pub(super) fn code(&self, i: u32) -> (String, u32) {
        let packing = self.weights.value.packing;
        debug_assert!(i < chunk(packing), "a chunk has fewer depths");
        let (bits, mask) = (packing.bits(), packing.largest());
        // Codes above the fraction are shifted down as far as the first of them.
        let fitting = FRACTION / bits;
        let (down, at) = (i / fitting * fitting * bits, i % fitting * bits);
        let (word, (magic, number)) = (self.ty("u32"), MAGIC);
        let q = format!("{}_q", self.prefix);
        let q = if down == 0 { q } else { format!("({q} >> {word}({down}u))") };
        let masked = format!("(({q} & {word}({}u)) | {word}({magic}u))", mask << at);
        (format!("(bitcast<{}>({masked}) - {number})", self.ty("f32")), at)
    }

    /// The value at the chunk's `i`-th depth.
    pub(super) fn value(&self, shader: &mut Shader<'_>, i: u32) -> String {
        let ((code, at), p) = (self.code(i), &self.prefix);
        let scale = if at == 0 { String::new() } else { format!(" * {:?}", 1.0 / f64::from(1u32 << at)) };
        let value = format!("({code} * ({p}_scale{scale}) + {p}_offset)");
        let lanes = if self.is_vector() { LANES } else { 1 };
        if self.weights.half { shader.helpers.cast(DType::F32, DType::F16, lanes, &value) } else { value }
    }
}
