//! Dequantizes single values at any coordinates.
//!
//! A shader that reads a quantized tensor has functions for it, named by its parameter's index. Products read whole
//! words instead (`tiles`, `gemv`), but share the function of the scales.

use fuse_artifact::{DType, Packing, Slot};

use super::{
    loads::{Gather, element},
    shader::Shader,
};
use crate::{
    fusion::body::Dequantize,
    kernel::{Block, Function, Scalar, Ty, Val},
};

pub(super) struct Quantized<'a, 'k> {
    pub value: &'a Dequantize,
    pub words: Gather<'a, 'k>,
    pub scales: Gather<'a, 'k>,
}

impl<'k> Quantized<'_, 'k> {
    /// `lanes` values: `index` is the coordinate along the packed axis, `at` are computed ones along others.
    pub(super) fn read(&self, shader: &mut Shader<'k>, index: Val<'k>, at: &[(u8, Val<'k>)], lanes: u32) -> Val<'k> {
        let Dequantize { param, packing, axis, ref group, .. } = *self.value;
        declare_scales(shader, param, self.scales.buffer_lanes);
        declare_values(shader, param, packing, self.words.buffer_lanes);
        // `index` is one more computed coordinate.
        let several = !at.is_empty();
        let [words, scales] = [&self.words, &self.scales].map(|part| part.offsets(shader, at, lanes, several));
        let [words_step, scales_step] = [&self.words, &self.scales].map(|part| part.stride(shader, axis, several));
        let group = shader.size(group);
        let arena = shader.arena();
        let one = |lane: u32| {
            let (words, scales) = (words[lane as usize], scales[lane as usize]);
            let index = index.lane(lane).convert(Scalar::U32);
            arena.call(format!("dequantize_{param}"), &[words, words_step, scales, scales_step, index, group], Ty::F32)
        };
        let values: Vec<Val<'k>> = (0..lanes).map(one).collect();
        if let [value] = values[..] { value } else { arena.construct(Ty::of(DType::F32, lanes), &values) }
    }
}

/// Declares `scale_{param}(at)`: a group's scale and offset.
fn declare_scales(shader: &mut Shader<'_>, param: u16, buffer_lanes: u32) {
    let name = format!("scale_{param}");
    if !shader.declares(&name) {
        return;
    }
    let buffer = shader.buffer(Slot::Scales(param), DType::U32, buffer_lanes, false);
    let wide = shader.wide_scales(param);
    let arena = shader.arena();
    let at = arena.name("at", Ty::U32);
    let pair = Ty::vector(Scalar::F32, 2);
    let body = Block::of(|b| {
        b.when(wide, |b| {
            let first = arena.u32(2) * at;
            let words = [first, first + 1].map(|at| element(buffer, buffer_lanes, at));
            b.answer(arena.construct(Ty::vector(Scalar::U32, 2), &words).bitcast(Scalar::F32));
        });
        b.answer(arena.call("unpack2x16float", &[element(buffer, buffer_lanes, at)], pair));
    });
    shader.function(Function { name, parameters: vec![("at".to_owned(), Ty::U32)], result: Some(pair), body });
}

/// Declares `dequantize_{param}(words, words_step, scales, scales_step, index, group)`: the value at `index` along the
/// packed axis. Words and scales start at these offsets, with these strides.
fn declare_values(shader: &mut Shader<'_>, param: u16, packing: Packing, buffer_lanes: u32) {
    let name = format!("dequantize_{param}");
    if !shader.declares(&name) {
        return;
    }
    let buffer = shader.buffer(Slot::Param(param), DType::U32, buffer_lanes, false);
    let arena = shader.arena();
    let parameters = ["words", "words_step", "scales", "scales_step", "index", "group"];
    let [words, words_step, scales, scales_step, index, group] = parameters.map(|name| arena.name(name, Ty::U32));
    let (values, bits, mask) = (packing.block_values(), packing.bits(), packing.largest());
    let body = Block::of(|b| {
        let bit = b.bind("bit", index % values * bits);
        let packed = if packing.block_words() == 1 {
            element(buffer, buffer_lanes, words + index / values * words_step) >> bit
        } else {
            let last = packing.block_words() - 1;
            let first = b.bind("first", words + index / values * (arena.u32(packing.block_words()) * words_step));
            let low = element(buffer, buffer_lanes, first + bit / 32 * words_step) >> (bit % 32);
            let low = b.bind("low", low);
            let next = element(buffer, buffer_lanes, first + (bit / 32 + 1).min(last) * words_step);
            let next = b.bind("next", next);
            // Two shifts: a shift by 32 has no effect.
            low | ((next << 1) << (arena.u32(31) - bit % 32))
        };
        let packed = b.bind("packed", packed);
        let scale =
            arena.call(format!("scale_{param}"), &[scales + index / group * scales_step], Ty::vector(Scalar::F32, 2));
        let scale = b.bind("scale", scale);
        b.answer((packed & mask).convert(Scalar::F32) * scale.at(0) + scale.at(1));
    });
    let parameters = parameters.map(|name| (name.to_owned(), Ty::U32)).to_vec();
    shader.function(Function { name, parameters, result: Some(Ty::F32), body });
}
