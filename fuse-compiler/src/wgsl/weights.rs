//! Chunks of quantized weights: words and scales of a few depths in registers, and their values.
//!
//! If columns are neighbors, a chunk covers four columns as vectors; otherwise one.

use fuse_artifact::{DType, Packing, Size, Slot, schedule::LANES};

use super::{epilogue::rhs_prefixes, loads::element, operand::Operand, shader::Shader};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block, Scalar, Ty, Val},
    schedule::contraction::{Direction, weights::Weights},
};

/// 2^23: a float with these bits has its fraction as an integer, so that conversion is an `or` and a subtraction. Where
/// measured, conversion instructions take four times as long as others.
const MAGIC: (u32, f32) = (0x4b00_0000, 8_388_608.0);

const FRACTION: u32 = 23;

/// Depths of a run, read at a time without workgroup memory. Groups begin at runs.
pub(super) const RUN: u32 = Packing::GROUP_MULTIPLE as u32;

/// Codes of a field, which one shift extracts from a run's words: below a float's exponent, and few, because each place
/// needs a constant.
fn field_codes(bits: u32) -> u32 {
    (16 / bits).min(8)
}

/// 2^-`places`, for a code that is so many bits too high.
fn down(places: u32) -> f32 {
    1.0 / (1u32 << places) as f32
}

/// Sum of products of four packed bytes each.
pub(super) fn dot_bytes<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    x.arena().call("dot4I8Packed", &[x, y], Ty::vector(Scalar::I32, 1))
}

#[derive(Clone)]
pub(super) struct PackedWeights<'a> {
    pub weights: Weights<'a>,
    pub operand: Operand<'a>,
}

pub(super) struct WeightColumn<'a, 'k> {
    pub weights: PackedWeights<'a>,
    pub name: String,
    words: Val<'k>,
    scales: Val<'k>,
}

pub(super) struct Chunk<'k> {
    word: Val<'k>,
    /// The next word, where values straddle words.
    next: Option<Val<'k>>,
    /// First bit of the chunk in its word.
    shift: Val<'k>,
    scales: [Val<'k>; 2],
}

/// Words of a run: 32 depths take as many words as a value has bits.
pub(super) struct Run<'k> {
    words: Vec<Val<'k>>,
    /// Codes with each field's first at bit 0.
    fields: Vec<Val<'k>>,
    scales: [Val<'k>; 2],
}

/// A value is its code times the scale, plus the offset.
#[derive(Clone, Copy)]
pub(super) struct Scale<'k> {
    pub scale: Val<'k>,
    pub offset: Val<'k>,
}

impl<'a> PackedWeights<'a> {
    /// Right operands of a contraction, which must be weights.
    pub(super) fn all(group: &'a Group, contraction: &'a Contraction) -> Vec<Self> {
        let weights = Weights::all(group, contraction).expect("schedules that read words have weights");
        let operands = contraction.rhs.iter().zip(rhs_prefixes(contraction)).zip(weights);
        let packed =
            |((rhs, prefix), weights)| Self { weights, operand: Operand::by_vectors(group, rhs, prefix, LANES) };
        operands.map(packed).collect()
    }

    pub(super) fn name(&self) -> &'static str {
        self.operand.prefix.trim_end_matches('_')
    }

    fn param(&self) -> u16 {
        self.weights.value.param
    }

    fn packing(&self) -> Packing {
        self.weights.value.packing
    }

    pub(super) fn bits(&self) -> u32 {
        self.packing().bits()
    }

    /// True if the columns read together are neighbors.
    pub(super) fn is_vector(&self) -> bool {
        self.weights.layout == Direction::Outer
    }

    pub(super) fn lanes(&self) -> u32 {
        if self.is_vector() { LANES } else { 1 }
    }

    fn ty(&self, scalar: Scalar) -> Ty {
        Ty::vector(scalar, self.lanes())
    }

    fn number<'k>(&self, arena: &'k Arena, value: f32) -> Val<'k> {
        arena.f32(value).splat(self.lanes())
    }

    fn step<'k>(&self, shader: &mut Shader<'k>, access: u16) -> Val<'k> {
        let view = &self.operand.group.accesses[usize::from(access)].access.view;
        shader.size(&Size::product(&view[usize::from(self.weights.value.axis) + 1..]))
    }

    fn buffer<'k>(&self, shader: &mut Shader<'k>, slot: Slot) -> Val<'k> {
        shader.buffer(slot, DType::U32, LANES, false)
    }

    /// Elements at an offset, one per column.
    fn element<'k>(&self, buffer: Val<'k>, offset: Val<'k>) -> Val<'k> {
        if self.is_vector() { buffer.at(offset / LANES) } else { element(buffer, LANES, offset) }
    }

    pub(super) fn declare(&self, shader: &mut Shader<'_>) {
        shader.wide_scales(self.param());
        for slot in [Slot::Param(self.param()), Slot::Scales(self.param())] {
            self.buffer(shader, slot);
        }
    }

    pub(super) fn group<'k>(&self, shader: &mut Shader<'k>, depth: Val<'k>) -> Val<'k> {
        depth / shader.size(&self.weights.value.group)
    }

    pub(super) fn locate<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        name: String,
        batch: Vec<Val<'k>>,
        column: Val<'k>,
    ) -> WeightColumn<'a, 'k> {
        let at: Vec<_> = batch.into_iter().map(Some).chain([None, Some(column)]).collect();
        let (words, scales) = (self.weights.value.words, self.weights.value.scales);
        let [words, scales] = [("words", words), ("scales", scales)].map(|(part, access)| {
            let offset = self.operand.offset(shader, access, &at);
            b.bind(format!("{name}_{part}"), offset)
        });
        WeightColumn { weights: self.clone(), name, words, scales }
    }

    /// Integer dot products of four packed bytes with the word `x`, one `i32` per column.
    pub(super) fn integer_dot<'k>(&self, codes: Val<'k>, x: Val<'k>) -> Val<'k> {
        let dot = |lane| dot_bytes(codes.lane(lane), x);
        if self.is_vector() { x.arena().construct(self.ty(Scalar::I32), &[0, 1, 2, 3].map(dot)) } else { dot(0) }
    }
}

impl<'k> WeightColumn<'_, 'k> {
    fn register(&self, b: &mut Block<'k>, name: &str, ty: Ty) -> Val<'k> {
        b.declare(self.words.arena(), format!("{}_{name}", self.name), ty)
    }

    pub(super) fn declare_chunk(&self, b: &mut Block<'k>) -> Chunk<'k> {
        let ty = self.weights.ty(Scalar::U32);
        Chunk {
            word: self.register(b, "w", ty),
            next: (self.weights.packing().block_words() > 1).then(|| self.register(b, "v", ty)),
            shift: self.register(b, "shift", Ty::U32),
            scales: self.declare_scales(b),
        }
    }

    /// Declares the registers of stored scales; the second is for `f32` only.
    fn declare_scales(&self, b: &mut Block<'k>) -> [Val<'k>; 2] {
        ["s", "t"].map(|name| self.register(b, name, self.weights.ty(Scalar::U32)))
    }

    /// Loads the chunk at a depth, a multiple of its length inside the weights.
    pub(super) fn load(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, chunk: &Chunk<'k>, depth: Val<'k>) {
        let (weights, value) = (&self.weights, self.weights.weights.value);
        let step = weights.step(shader, value.words);
        let words = weights.buffer(shader, Slot::Param(value.param));
        b.scope(|b| {
            let bit = b.bind("bit", depth * weights.bits());
            b.set(chunk.shift, bit % 32);
            let word = b.bind("word", self.words + bit / 32 * step);
            b.set(chunk.word, weights.element(words, word));
            if let Some(register) = chunk.next {
                // Chunks of 24 bits that start above bit 8 end in the next word.
                let next = b.bind("next", chunk.shift.gt(8).select(word + step, word));
                b.set(register, weights.element(words, next));
            }
        });
        let group = weights.group(shader, depth);
        self.load_scales(shader, b, chunk.scales, group);
    }

    pub(super) fn load_run(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        depth: Val<'k>,
        group: Val<'k>,
    ) -> Run<'k> {
        let (name, weights, value) = (&self.name, &self.weights, self.weights.weights.value);
        let (arena, bits) = (shader.arena(), weights.bits());
        let step = weights.step(shader, value.words);
        let buffer = weights.buffer(shader, Slot::Param(value.param));
        let at = b.bind(format!("{name}_at"), self.words + depth / RUN * (arena.u32(bits) * step));
        let in_vectors = !weights.is_vector() && bits.is_multiple_of(LANES);
        let vectors = if in_vectors { bits / LANES } else { 0 };
        let vectors: Vec<Val<'k>> =
            (0..vectors).map(|vector| b.bind(format!("{name}_v{vector}"), buffer.at(at / LANES + vector))).collect();
        let mut bind = |word: u32| {
            let loaded = match vectors.get((word / LANES) as usize) {
                Some(vector) => vector.lane(word % LANES),
                None => weights.element(buffer, at + arena.u32(word) * step),
            };
            b.bind(format!("{name}_r{word}"), loaded)
        };
        let words = (0..bits).map(&mut bind).collect();
        let scales = self.declare_scales(b);
        self.load_scales(shader, b, scales, group);
        Run { words, fields: vec![], scales }
    }

    fn load_scales(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, [s, t]: [Val<'k>; 2], group: Val<'k>) {
        let (weights, value) = (&self.weights, self.weights.weights.value);
        let (step, wide) = (weights.step(shader, value.scales), shader.wide_scales(value.param));
        let scales = weights.buffer(shader, Slot::Scales(value.param));
        b.scope(|b| {
            let pair = b.bind("pair", self.scales + group * step);
            let wide_pair = shader.u32(2) * pair;
            b.when_else(
                wide,
                |b| {
                    b.set(s, weights.element(scales, wide_pair));
                    b.set(t, weights.element(scales, wide_pair + weights.lanes()));
                },
                |b| b.set(s, weights.element(scales, pair)),
            );
        });
    }

    /// Binds a chunk's codes, the first at bit 0, and unpacks its scale.
    pub(super) fn unpack(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, chunk: &Chunk<'k>) -> (Val<'k>, Scale<'k>) {
        let scale = self.unpack_scales(shader, b, chunk.scales);
        let (lanes, arena) = (self.weights.lanes(), shader.arena());
        let shift = chunk.shift.splat(lanes);
        let codes = chunk.word >> shift;
        let codes = match chunk.next {
            // A chunk that does not straddle has its own word twice; extra bits are masked.
            Some(next) => codes | ((next << 1) << (arena.u32(31).splat(lanes) - shift)),
            None => codes,
        };
        (b.bind(format!("{}_q", self.name), codes), scale)
    }

    pub(super) fn unpack_scale(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, run: &Run<'k>) -> Scale<'k> {
        self.unpack_scales(shader, b, run.scales)
    }

    fn unpack_scales(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, [s, t]: [Val<'k>; 2]) -> Scale<'k> {
        let (arena, weights) = (shader.arena(), &self.weights);
        let [scale, offset] = ["scale", "offset"].map(|name| self.register(b, name, weights.ty(Scalar::F32)));
        let places = [(scale, 0), (offset, 1)];
        let vector = |scalar, parts: &[Val<'k>]| match *parts {
            [part] => part,
            _ => arena.construct(weights.ty(scalar), parts),
        };
        b.when_else(
            shader.wide_scales(weights.param()),
            |b| {
                for (place, part) in places {
                    let words = match weights.is_vector() {
                        true => vec![s.lane(part), s.lane(part + 2), t.lane(part), t.lane(part + 2)],
                        false => vec![[s, t][part as usize]],
                    };
                    b.set(place, vector(Scalar::U32, &words).bitcast(Scalar::F32));
                }
            },
            |b| {
                let pairs: Vec<Val<'k>> = (0..weights.lanes())
                    .map(|lane| {
                        let pair = arena.call("unpack2x16float", &[s.lane(lane)], Ty::vector(Scalar::F32, 2));
                        b.bind(format!("pair_{lane}"), pair)
                    })
                    .collect();
                for (place, part) in places {
                    let parts: Vec<Val<'k>> = pairs.iter().map(|pair| pair.at(part)).collect();
                    b.set(place, vector(Scalar::F32, &parts));
                }
            },
        );
        Scale { scale, offset }
    }

    /// The code at a bit of `word`, as a float times a power of two, and its exponent. Codes above the fraction are
    /// shifted down to the first one's position there.
    fn code(&self, word: Val<'k>, bit: u32) -> (Val<'k>, u32) {
        let packing = self.weights.packing();
        let (bits, mask) = (packing.bits(), packing.largest());
        let first = bit % bits;
        let fitting = (FRACTION - first) / bits;
        let down = if bit / bits < fitting { 0 } else { first + fitting * bits };
        let at = bit - down;
        let word = if down == 0 { word } else { word >> down };
        let (magic, number) = MAGIC;
        (((word & (mask << at)) | magic).bitcast(Scalar::F32) - word.arena().f32(number), at)
    }

    pub(super) fn value(&self, shader: &mut Shader<'k>, codes: Val<'k>, scale: Scale<'k>, i: u32) -> Val<'k> {
        debug_assert!(i < self.weights.weights.chunk(), "a chunk has fewer depths");
        let (code, at) = self.code(codes, i * self.weights.bits());
        let Scale { scale, offset } = scale;
        let value = code * if at == 0 { scale } else { scale * shader.arena().f32(down(at)) } + offset;
        if self.weights.weights.half { shader.helpers.cast(DType::F32, DType::F16, value) } else { value }
    }

    /// The code of 0 in symmetric schemes (with 1 bit, which has none, one of the two).
    fn center(&self) -> u32 {
        1 << (self.weights.bits() - 1)
    }

    /// Binds `_field…`, a run's codes from its `i`-th depth on, if a field begins there.
    pub(super) fn bind_field(&self, b: &mut Block<'k>, run: &mut Run<'k>, i: u32) {
        let codes = field_codes(self.weights.bits());
        if i.is_multiple_of(codes) {
            let field = run.bits_at(i * self.weights.bits(), codes.min(RUN - i) * self.weights.bits());
            run.fields.push(b.bind(format!("{}_field{}", self.name, i / codes), field));
        }
    }

    /// A run's `i`-th code minus `center`, as a float. It stays at its position in the field: with the bits of 2^23
    /// above it, it is a float, and a multiplication by a power of two and a subtraction give the difference without
    /// rounding.
    fn code_less(&self, run: &Run<'k>, i: u32, center: u32) -> Val<'k> {
        let codes = field_codes(self.weights.bits());
        let (field, at, (magic, number)) = (run.fields[(i / codes) as usize], i % codes * self.weights.bits(), MAGIC);
        let code = (field & (self.weights.packing().largest() << at)) | magic;
        let [down, less] =
            [down(at), -(number * down(at) + center as f32)].map(|value| self.weights.number(field.arena(), value));
        code.bitcast(Scalar::F32).fma(down, less)
    }

    pub(super) fn centered_code(&self, run: &Run<'k>, i: u32) -> Val<'k> {
        self.code_less(run, i, self.center())
    }

    /// The center's value: 0 in symmetric schemes.
    pub(super) fn middle(&self, Scale { scale, offset }: Scale<'k>) -> Val<'k> {
        self.weights.number(scale.arena(), self.center() as f32).fma(scale, offset)
    }

    pub(super) fn run_value(&self, run: &Run<'k>, scale: Scale<'k>, i: u32) -> Val<'k> {
        self.code_less(run, i, 0).fma(scale.scale, scale.offset)
    }

    /// The `i`-th unit of a run's codes unpacked together: a word; with 3 bits, eight codes, two per byte.
    pub(super) fn unit(&self, run: &Run<'k>, i: u32) -> Val<'k> {
        if self.weights.bits() != 3 {
            return run.words[i as usize];
        }
        // Moves pairs of codes to the lowest 6 bits of each byte.
        let codes = run.bits_at(i * 24, 24);
        let pair = |i: u32| (codes << (2 * i)) & (0x3f << (8 * i));
        (codes & 0x3f) | pair(1) | pair(2) | pair(3)
    }
}

impl<'k> Run<'k> {
    /// The words from a bit on, shifted to bit 0; `bits` are used.
    fn bits_at(&self, bit: u32, bits: u32) -> Val<'k> {
        let (word, first) = ((bit / 32) as usize, bit % 32);
        let low = if first == 0 { self.words[word] } else { self.words[word] >> first };
        if first + bits > 32 { low | (self.words[word + 1] << (32 - first)) } else { low }
    }
}
