//! Chunks of quantized weights: the words and the scales of a few depths, in registers, and the values that they mean.
//!
//! Where columns are neighbours, a chunk is that of four columns and everything is a vector; else of one. Names start with a
//! prefix that the caller chooses: `_w` and `_v` are words (the second only where values straddle words), `_s` and `_t`
//! scales as they lie in memory (the second only of `f32`), `_shift` where the chunk starts in its word.

use crate::kernel::{Block, Ty};
use fuse_artifact::{DType, Packing, Size, Slot, schedule::LANES};

use super::{epilogue::rhs_prefixes, operand::Operand, shader::Shader};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::{Direction, weights::Weights},
};

/// 2^23: a float with these bits has its fraction as an integer, so that conversion is an `or` and a subtraction. Where it was
/// measured, converting instructions take four times as long as others.
const MAGIC: (u32, &str) = (0x4b00_0000, "8388608.0");

/// Bits of the fraction.
const FRACTION: u32 = 23;

/// Depths of a run: what is read at a time where nothing is kept in workgroup memory. Groups begin at runs.
pub(super) const RUN: u32 = Packing::GROUP_MULTIPLE as u32;

/// Codes of a field, which a shift takes out of the words of a run together: below a float's exponent, and few, because each place
/// takes a constant.
fn field_codes(bits: u32) -> u32 {
    (16 / bits).min(8)
}

/// Reads chunks of one right operand.
#[derive(Clone)]
pub(super) struct WeightText<'a> {
    pub weights: Weights<'a>,
    /// The operand, bound by vectors of four.
    pub operand: Operand<'a>,
    /// What names start with.
    pub prefix: String,
}

impl<'a> WeightText<'a> {
    /// The right operands of a contraction, which are weights.
    pub(super) fn all(group: &'a Group, contraction: &'a Contraction) -> Vec<Self> {
        let weights = Weights::all(group, contraction).expect("schedules that read words have weights");
        let operands = contraction.rhs.iter().zip(rhs_prefixes(contraction)).zip(weights);
        let text = |(((body, value), prefix), weights): ((&'a (_, usize), &'static str), _)| Self {
            weights,
            operand: Operand {
                group,
                body,
                value: *value,
                prefix,
                lanes: LANES,
                buffer_lanes: LANES,
                lane_axis: group.shape.len() - 1,
            },
            prefix: prefix.trim_end_matches('_').to_owned(),
        };
        operands.map(text).collect()
    }

    fn param(&self) -> u16 {
        self.weights.value.param
    }

    /// Whether the columns that are read together are neighbours.
    pub(super) fn is_vector(&self) -> bool {
        self.weights.layout == Direction::Outer
    }

    /// The type of words or values of a chunk at one depth.
    pub(super) fn ty(&self, scalar: &str) -> String {
        if self.is_vector() { format!("vec4<{scalar}>") } else { scalar.to_owned() }
    }

    /// Elements between neighbours along the packed axis, of the words or the scales.
    fn step<'k>(&self, shader: &mut Shader<'k>, access: u16) -> String {
        let view = &self.operand.group.accesses[usize::from(access)].access.view;
        shader.size(&Size::product(&view[usize::from(self.weights.value.axis) + 1..])).to_string()
    }

    /// Declares the functions of the scales, once for each parameter.
    pub(super) fn declare<'k>(&self, shader: &mut Shader<'k>) {
        super::quantized::declare_wide(shader, self.param());
        for slot in [Slot::Param(self.param()), Slot::Scales(self.param())] {
            shader.buffer(slot, DType::U32, LANES, false);
        }
    }

    /// Declares where the words and scales of a column (the first of four) start: `_words`, `_scales`.
    pub(super) fn locate<'k>(&self, shader: &mut Shader<'k>, lines: &mut Block<'k>, batch: &[String], column: &str) {
        let mut at: Vec<_> = shader.raws(batch).into_iter().map(Some).collect();
        at.extend([None, Some(shader.raw(column, Ty::U32))]);
        let (words, scales) = (self.weights.value.words, self.weights.value.scales);
        for (name, access) in [("words", words), ("scales", scales)] {
            let offset = self.operand.offset(shader, access, &at);
            lines.line(format!("let {}_{name} = {offset};", self.prefix));
        }
    }

    /// Declares the registers of a chunk.
    pub(super) fn declare_chunk<'k>(&self, lines: &mut Block<'k>) {
        let (p, ty) = (&self.prefix, self.ty("u32"));
        lines.line(format!("var {p}_w: {ty};"));
        if self.straddles() {
            lines.line(format!("var {p}_v: {ty};"));
        }
        lines.line(format!("var {p}_shift: u32;"));
        self.declare_scales(lines);
    }

    /// Declares the registers of scales.
    pub(super) fn declare_scales<'k>(&self, lines: &mut Block<'k>) {
        for name in ["s", "t"] {
            lines.line(format!("var {}_{name}: {};", self.prefix, self.ty("u32")));
        }
    }

    fn straddles(&self) -> bool {
        self.weights.value.packing.block_words() > 1
    }

    /// Loads the chunk that starts at a depth, a multiple of the chunk's length inside the weights.
    pub(super) fn load<'k>(&self, shader: &mut Shader<'k>, lines: &mut Block<'k>, depth: &str) {
        let (p, value) = (&self.prefix, self.weights.value);
        let bits = value.packing.bits();
        let words_step = self.step(shader, value.words);
        let words = shader.buffer(Slot::Param(value.param), DType::U32, LANES, false);
        lines.line("{");
        lines.line(format!("let bit = ({depth}) * {bits}u;"));
        lines.line(format!("{p}_shift = bit % 32u;"));
        lines.line(format!("let word = {p}_words + bit / 32u * {words_step};"));
        lines.line(format!("{p}_w = {};", self.element(&words.to_string(), "word")));
        if self.straddles() {
            // Chunks of 24 bits: those that start above bit 8 end in the next word.
            lines.line(format!("let next = select(word, word + {words_step}, {p}_shift > 8u);"));
            lines.line(format!("{p}_v = {};", self.element(&words.to_string(), "next")));
        }
        lines.line("}");
        let group = self.group(shader, depth);
        self.load_scales(shader, lines, &group);
    }

    /// Loads the run that starts at a depth, with the scales of the group with this number: 32 depths, which take as many words
    /// as a value has bits, into `_r0 …`.
    pub(super) fn load_run<'k>(&self, shader: &mut Shader<'k>, lines: &mut Block<'k>, depth: &str, group: &str) {
        let (p, value) = (&self.prefix, self.weights.value);
        let bits = value.packing.bits();
        let words_step = self.step(shader, value.words);
        let words = shader.buffer(Slot::Param(value.param), DType::U32, LANES, false);
        lines.line(format!("let {p}_at = {p}_words + ({depth}) / {RUN}u * ({bits}u * {words_step});"));
        let in_vectors = !self.is_vector() && bits.is_multiple_of(LANES);
        if in_vectors {
            for vector in 0..bits / LANES {
                lines.line(format!("let {p}_v{vector} = {words}[{p}_at / 4u + {vector}u];"));
            }
        }
        for word in 0..bits {
            let loaded = if in_vectors {
                format!("{p}_v{}[{}]", word / LANES, word % LANES)
            } else {
                self.element(&words.to_string(), &format!("{p}_at + {word}u * {words_step}"))
            };
            lines.line(format!("let {p}_r{word} = {loaded};"));
        }
        self.declare_scales(lines);
        self.load_scales(shader, lines, group);
    }

    /// The number of the group that a depth lies in.
    pub(super) fn group<'k>(&self, shader: &mut Shader<'k>, depth: &str) -> String {
        format!("({depth}) / {}", shader.size(&self.weights.value.group))
    }

    /// Loads the scales of the group with this number.
    fn load_scales<'k>(&self, shader: &mut Shader<'k>, lines: &mut Block<'k>, group: &str) {
        let (p, value) = (&self.prefix, self.weights.value);
        let scales_step = self.step(shader, value.scales);
        let scales = shader.buffer(Slot::Scales(value.param), DType::U32, LANES, false);
        lines.line("{");
        lines.line(format!("let pair = {p}_scales + {group} * {scales_step};"));
        lines.line(format!("if fuse_wide_scales_{} {{", value.param));
        let second = if self.is_vector() { "2u * pair + 4u" } else { "2u * pair + 1u" };
        lines.line(format!("{p}_s = {};", self.element(&scales.to_string(), "2u * pair")));
        lines.line(format!("{p}_t = {};", self.element(&scales.to_string(), second)));
        lines.line("} else {");
        lines.line(format!("{p}_s = {};", self.element(&scales.to_string(), "pair")));
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
    pub(super) fn unpack<'k>(&self, lines: &mut Block<'k>) {
        self.unpack_scales(lines);
        let (p, word) = (&self.prefix, self.ty("u32"));
        let shift = format!("{word}({p}_shift)");
        lines.line(match self.straddles() {
            // A chunk that does not straddle has its own word twice, of which the second adds bits that are masked.
            true => format!("let {p}_q = ({p}_w >> {shift}) | (({p}_v << {word}(1u)) << ({word}(31u) - {shift}));"),
            false => format!("let {p}_q = {p}_w >> {shift};"),
        });
    }

    /// Declares `_scale` and `_offset`.
    pub(super) fn unpack_scales<'k>(&self, lines: &mut Block<'k>) {
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
    }

    /// The code of the chunk's `i`-th depth, as a float, times a power of two, whose exponent is given with it.
    pub(super) fn code(&self, i: u32) -> (String, u32) {
        debug_assert!(i < self.weights.chunk(), "a chunk has fewer depths");
        self.extracted(&format!("{}_q", self.prefix), i * self.weights.value.packing.bits())
    }

    /// Bits of a value.
    pub(super) fn bits(&self) -> u32 {
        self.weights.value.packing.bits()
    }

    /// Declares `_field…`, the codes of a run from its `i`-th depth on with the first at bit 0, where a field begins there.
    pub(super) fn declare_field<'k>(&self, lines: &mut Block<'k>, i: u32) {
        let (p, bits, ty) = (&self.prefix, self.bits(), self.ty("u32"));
        let codes = field_codes(bits);
        if !i.is_multiple_of(codes) {
            return;
        }
        let (word, first) = (i * bits / 32, i * bits % 32);
        let low = if first == 0 { format!("{p}_r{word}") } else { format!("({p}_r{word} >> {ty}({first}u))") };
        let straddles = first + codes.min(RUN - i) * bits > 32;
        let high = if straddles { format!(" | ({p}_r{} << {ty}({}u))", word + 1, 32 - first) } else { String::new() };
        lines.line(format!("let {p}_field{} = {low}{high};", i / codes));
    }

    /// The code of a run's `i`-th depth less `centre`, as a float. It stays where it lies in its field: with the bits of 2^23 above
    /// it, it is a float that a multiplication by a power of two and a subtraction take to the difference, without rounding.
    fn code_less(&self, i: u32, centre: u32) -> String {
        let (p, bits) = (&self.prefix, self.bits());
        let (codes, (magic, _)) = (field_codes(bits), MAGIC);
        let (ty, word, at) = (self.ty("f32"), self.ty("u32"), i % codes * bits);
        let mask = self.weights.value.packing.largest() << at;
        let number = format!("bitcast<{ty}>(({p}_field{} & {word}({mask}u)) | {word}({magic}u))", i / codes);
        let scale = 1.0 / f64::from(1u32 << at);
        let less = f64::from(1u32 << FRACTION) * scale + f64::from(centre);
        format!("fma({number}, {ty}({scale:?}), {ty}({:?}))", -less)
    }

    /// The code that symmetric schemes give to 0 (of 1 bit, which has none, one of the two).
    fn centre(&self) -> u32 {
        1 << (self.bits() - 1)
    }

    /// The code of a run's `i`-th depth less the centre.
    pub(super) fn centred_code(&self, i: u32) -> String {
        self.code_less(i, self.centre())
    }

    /// Declares `_middle`, the value of the centre: 0 where the scheme is symmetric.
    pub(super) fn declare_middle<'k>(&self, lines: &mut Block<'k>) {
        let (p, ty, centre) = (&self.prefix, self.ty("f32"), self.centre());
        lines.line(format!("let {p}_middle = fma({ty}({centre}.0), {p}_scale, {p}_offset);"));
    }

    /// The value of a run's `i`-th depth.
    pub(super) fn run_value(&self, i: u32) -> String {
        let p = &self.prefix;
        format!("fma({}, {p}_scale, {p}_offset)", self.code_less(i, 0))
    }

    /// The `i`-th unit of a run's codes that are taken apart together: a word; of 3 bits eight codes, two in each byte.
    pub(super) fn unit(&self, i: u32) -> String {
        let (p, ty) = (&self.prefix, self.ty("u32"));
        if self.bits() != 3 {
            return format!("{p}_r{i}");
        }
        // Of 24 bits, pairs of codes to the lowest 6 bits of each byte.
        let (word, first) = (i * 24 / 32, i * 24 % 32);
        let low = if first == 0 { format!("{p}_r{word}") } else { format!("({p}_r{word} >> {ty}({first}u))") };
        let codes = if first <= 8 { low } else { format!("({low} | ({p}_r{} << {ty}({}u)))", word + 1, 32 - first) };
        let pair = |i: u32| match i {
            0 => format!("({codes} & {ty}(0x3fu))"),
            _ => format!("(({codes} << {ty}({}u)) & {ty}({:#x}u))", 2 * i, 0x3fu32 << (8 * i)),
        };
        [0, 1, 2, 3].map(pair).join(" | ")
    }

    /// Integer products of four packed bytes each, with those of `x`, a word: for each column one sum, as `i32`.
    pub(super) fn integer_dot(&self, codes: &str, x: &str) -> String {
        if !self.is_vector() {
            return format!("dot4I8Packed({codes}, {x})");
        }
        let lanes = ["x", "y", "z", "w"].map(|lane| format!("dot4I8Packed({codes}.{lane}, {x})"));
        format!("vec4<i32>({})", lanes.join(", "))
    }

    /// The code at a bit of a word. Codes above the fraction are shifted down as far as the first of them.
    fn extracted(&self, word: &str, bit: u32) -> (String, u32) {
        let packing = self.weights.value.packing;
        let (bits, mask) = (packing.bits(), packing.largest());
        let first = bit % bits;
        let fitting = (FRACTION - first) / bits;
        let down = if bit / bits < fitting { 0 } else { first + fitting * bits };
        let at = bit - down;
        let (ty, (magic, number)) = (self.ty("u32"), MAGIC);
        let word = if down == 0 { word.to_owned() } else { format!("({word} >> {ty}({down}u))") };
        let masked = format!("(({word} & {ty}({}u)) | {ty}({magic}u))", mask << at);
        (format!("(bitcast<{}>({masked}) - {number})", self.ty("f32")), at)
    }

    /// The value at the chunk's `i`-th depth.
    pub(super) fn value<'k>(&self, shader: &mut Shader<'k>, i: u32) -> String {
        let ((code, at), p) = (self.code(i), &self.prefix);
        let scale = if at == 0 { String::new() } else { format!(" * {:?}", 1.0 / f64::from(1u32 << at)) };
        let value = format!("({code} * ({p}_scale{scale}) + {p}_offset)");
        let lanes = if self.is_vector() { LANES } else { 1 };
        if !self.weights.half {
            return value;
        }
        let value = shader.raw(value, Ty::of(DType::F32, lanes));
        shader.helpers.cast(DType::F32, DType::F16, value).to_string()
    }
}
