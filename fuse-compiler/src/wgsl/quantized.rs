//! Values of quantized tensors, wherever a program reads them: one by one, at any coordinates.
//!
//! A shader that reads such a tensor has functions for it, named by its parameter's number. Products have faster ways to
//! read whole words (`tiles`, `row`, `dot`), which share the function of the scales.

use fuse_artifact::{DType, NARROW_SCALES, NARROW_SCALES_END, Packing, Slot};

use super::{
    builtins::vector_type,
    loads::Gather,
    shader::{CodeBuffer, Shader},
};
use crate::fusion::body::Dequantize;

/// A value of a body with its accesses at some place.
pub(super) struct Quantized<'a> {
    /// What is read.
    pub value: &'a Dequantize,
    /// The words.
    pub words: Gather<'a>,
    /// The scales.
    pub scales: Gather<'a>,
}

impl Quantized<'_> {
    /// `lanes` values: `index` is the coordinate along the packed axis, `at` are computed coordinates along others.
    pub(super) fn read(&self, shader: &mut Shader<'_>, index: &str, at: &[(u8, String)], lanes: u32) -> String {
        let Dequantize { param, packing, axis, ref group, .. } = *self.value;
        declare_scales(shader, param, self.scales.buffer_lanes);
        declare_values(shader, param, packing, self.words.buffer_lanes);
        // `index` is one more computed coordinate.
        let several = !at.is_empty();
        let [words, scales] = [&self.words, &self.scales].map(|part| part.offsets(shader, at, lanes, several));
        let [words_step, scales_step] = [&self.words, &self.scales].map(|part| part.stride(shader, axis, several));
        let group = shader.size(group);
        let one = |lane: usize| {
            let index = if lanes == 1 { index.to_owned() } else { format!("{index}[{lane}]") };
            let (words, scales) = (&words[lane], &scales[lane]);
            format!("dequantize_{param}({words}, {words_step}, {scales}, {scales_step}, u32({index}), {group})")
        };
        let values: Vec<String> = (0..lanes as usize).map(one).collect();
        if lanes == 1 { values.concat() } else { format!("{}({})", vector_type(DType::F32, lanes), values.join(", ")) }
    }
}

/// Declares whether the scales of a parameter are `f32`: a constant that the launch's form decides.
pub(super) fn declare_wide(shader: &mut Shader<'_>, param: u16) {
    let name = format!("wide_{param}");
    if !shader.is_declared(&name) {
        let mut lines = CodeBuffer::default();
        lines.line(format!("{NARROW_SCALES}{param}{NARROW_SCALES_END}"));
        shader.declare(name, lines);
    }
}

/// Declares `scale_{param}(at)`: scale and offset of the group with this number.
pub(super) fn declare_scales(shader: &mut Shader<'_>, param: u16, buffer_lanes: u32) {
    let name = format!("scale_{param}");
    if shader.is_declared(&name) {
        return;
    }
    let buffer = shader.buffer(Slot::Scales(param), DType::U32, buffer_lanes, false);
    let word = |at: &str| word(&buffer, at, buffer_lanes);
    declare_wide(shader, param);
    let mut lines = CodeBuffer::default();
    lines.line(format!("fn {name}(at: u32) -> vec2<f32> {{"));
    lines.line(format!("if fuse_wide_scales_{param} {{"));
    lines.line(format!("return bitcast<vec2<f32>>(vec2<u32>({}, {}));", word("2u * at"), word("2u * at + 1u")));
    lines.line("}");
    lines.line(format!("return unpack2x16float({});", word("at")));
    lines.line("}");
    shader.declare(name, lines);
}

/// Declares `dequantize_{param}(words, words_step, scales, scales_step, index, group)`: the value at `index` along the packed
/// axis, where words and groups along it start at offsets and are steps apart.
fn declare_values(shader: &mut Shader<'_>, param: u16, packing: Packing, buffer_lanes: u32) {
    let name = format!("dequantize_{param}");
    if shader.is_declared(&name) {
        return;
    }
    let buffer = shader.buffer(Slot::Param(param), DType::U32, buffer_lanes, false);
    let word = |at: &str| word(&buffer, at, buffer_lanes);
    let (values, bits, mask) = (packing.block_values(), packing.bits(), packing.largest());
    let mut lines = CodeBuffer::default();
    lines.line(format!(
        "fn {name}(words: u32, words_step: u32, scales: u32, scales_step: u32, index: u32, group: u32) -> f32 {{"
    ));
    lines.line(format!("let bit = index % {values}u * {bits}u;"));
    if packing.block_words() == 1 {
        lines.line(format!("let packed = {} >> bit;", word(&format!("words + index / {values}u * words_step"))));
    } else {
        let last = packing.block_words() - 1;
        lines.line(format!("let first = words + index / {values}u * ({}u * words_step);", packing.block_words()));
        lines.line(format!("let low = {} >> (bit % 32u);", word("first + bit / 32u * words_step")));
        lines.line(format!("let next = {};", word(&format!("first + min(bit / 32u + 1u, {last}u) * words_step"))));
        // Shifts by 32 are none.
        lines.line("let packed = low | ((next << 1u) << (31u - bit % 32u));");
    }
    lines.line(format!("let scale = scale_{param}(scales + index / group * scales_step);"));
    lines.line(format!("return f32(packed & {mask}u) * scale.x + scale.y;"));
    lines.line("}");
    shader.declare(name, lines);
}

/// The word at an offset of a buffer.
fn word(buffer: &str, at: &str, buffer_lanes: u32) -> String {
    if buffer_lanes == 1 { format!("{buffer}[{at}]") } else { format!("{buffer}[({at}) / 4u][({at}) % 4u]") }
}
