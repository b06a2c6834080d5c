//! Attention kernels: an online softmax over the keys.
//!
//! Sources: Milakov and Gimelshein, Online normalizer calculation for softmax, 2018; Dao et al., FlashAttention, 2022.
//! For each query a workgroup keeps the maximum score, the sum of exponentials relative to it, and the weighted sum of
//! values; a larger score rescales both sums. If all scores are -inf, the sums stay 0: exponentials relative to -inf
//! would be NaN, so they are then relative to 0.
//!
//! Keys that a mask hides from all queries of a workgroup are skipped. A NaN in their values thus does not reach the
//! output, as it would times a probability of 0.

mod coop_matrix;
mod decode;
mod four_keys;
mod limits;
pub(super) mod output;
pub(super) mod score;
mod tile;
mod unstaged;

use fuse_artifact::{
    DType, Pass, Schedule, Scratch, Space, Uniform, Variant,
    schedule::{self, LANES},
};

use super::{
    epilogue::Axes,
    grid,
    names::Names,
    operand::Operand,
    second_pass,
    shader::{Shader, lane_coordinates},
    stage::{Elements, Slice, is_multiple},
};
use crate::{
    fusion::{
        Attention, Group,
        body::{Body, ValueId},
    },
    kernel::{Arena, Block, Ty, Val},
    schedule::{
        attention::ScheduleSpec,
        contraction::Direction,
        mask_bounds::{self, Limit},
    },
};

pub(super) const VECTOR: Ty = Ty::of(COMPUTED, LANES);

/// Builds the variant of a schedule.
pub fn variant(group: &Group, attention: &Attention, names: &Names, scheduled: &ScheduleSpec) -> Variant {
    let source = Source { group, attention, scheduled };
    let mut passes: Vec<Pass> = vec![match scheduled.schedule {
        schedule::Attention::Tile(tile) => tile::pass(source, names, tile),
        schedule::Attention::CoopMatrix(tile) => coop_matrix::pass(source, names, tile),
        schedule::Attention::Decode(decode) => decode::pass(source, names, decode),
        schedule::Attention::Unstaged(unstaged) => unstaged::pass(source, names, unstaged),
    }];
    if scheduled.schedule.is_split() {
        passes.push(second_pass::attention(source, names));
    }
    let schedule = Schedule::Attention(scheduled.schedule);
    // Scratch: each part's outputs and row states.
    let scratch = if scheduled.schedule.is_split() {
        Scratch { per_output: 1, per_row: output::ROW_WORDS }
    } else {
        Scratch::default()
    };
    Variant {
        name: schedule.to_string().into(),
        requires: scheduled.requires.clone().into(),
        features: schedule.features(),
        schedule,
        scratch,
        passes: passes.into(),
    }
}

#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(in crate::wgsl) group: &'a Group,
    attention: &'a Attention,
    scheduled: &'a ScheduleSpec,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    Query,
    Key,
    Value,
}

impl Input {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Query => "xq",
            Self::Key => "xk",
            Self::Value => "xv",
        }
    }
}

impl<'a> Source<'a> {
    const fn batch(self) -> usize {
        self.group.shape.len() - 2
    }

    fn program(self, input: Input) -> &'a (Body, ValueId) {
        match input {
            Input::Query => &self.attention.query,
            Input::Key => &self.attention.key,
            Input::Value => &self.attention.value,
        }
    }

    fn stores_rows(self) -> bool {
        !self.scheduled.schedule.is_split() && output::stores_rows(self.group)
    }

    const fn direction(self, input: Input) -> Direction {
        let directions = self.scheduled.directions;
        match input {
            Input::Query => directions.query,
            Input::Key => directions.key,
            Input::Value => directions.value,
        }
    }

    /// The reduced axis of an input's space (depth of queries and keys, keys of values), and the other one.
    const fn axes(self, input: Input) -> [usize; 2] {
        let batch = self.batch();
        match input {
            Input::Query => [batch + 1, batch],
            Input::Key | Input::Value => [batch, batch + 1],
        }
    }

    fn operand(self, input: Input) -> Operand<'a> {
        let (body, value) = self.program(input);
        let [summed, outer] = self.axes(input);
        let lane_axis = if self.direction(input) == Direction::Depth { summed } else { outer };
        let (group, prefix, lanes) = (self.group, input.prefix(), self.buffer_lanes());
        Operand { group, body, value: *value, prefix, lanes, buffer_lanes: lanes, lane_axis }
    }

    pub(in crate::wgsl) const fn buffer_lanes(self) -> u32 {
        if let schedule::Attention::Tile(tile) = self.scheduled.schedule { tile.lanes } else { LANES }
    }

    fn elements(
        self,
        extents: &Extents<'a>,
        input: Input,
        slice: Slice<'a>,
        (shape, invocations): ([u32; 2], u32),
    ) -> Elements<'a> {
        let ([end, extent], summed) = match input {
            Input::Query => ([extents.depth, extents.queries()], &self.attention.depth),
            Input::Key => ([extents.depth, extents.keys()], &self.attention.depth),
            Input::Value => ([extents.keys(), extents.columns()], &self.attention.keys),
        };
        Elements {
            operand: self.operand(input),
            row_prologue: None,
            direction: self.direction(input),
            axes: self.axes(input),
            batch: extents.axes.batch(),
            origin: None,
            extent,
            end: (!is_multiple(summed, shape[0])).then_some(end),
            shape,
            invocations,
            repeats_last: true,
            slice,
            stored: false,
        }
    }

    fn walk(self) -> Walk<'a> {
        let (body, score) = &self.attention.score;
        Walk {
            group: self.group,
            program: (body, *score),
            limits: mask_bounds::limits(body, *score, &self.group.accesses, self.batch()),
            split: self.scheduled.schedule.is_split(),
            buffer_lanes: self.buffer_lanes(),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Extents<'k> {
    pub(in crate::wgsl) axes: Axes<'k>,
    pub(in crate::wgsl) depth: Val<'k>,
}

impl<'k> Extents<'k> {
    pub(in crate::wgsl) fn new(shader: &mut Shader<'k>, group: &Group) -> Self {
        Self::of_outputs(shader, group, 1)
    }

    pub(in crate::wgsl) fn of_outputs(shader: &mut Shader<'k>, group: &Group, outputs: u32) -> Self {
        let axes = Axes::of_products(shader, group, outputs);
        let depth = shader.uniform(Uniform::Extent { axis: axes.batch as u8 + 3 });
        Self { axes, depth }
    }

    pub(in crate::wgsl) fn queries(&self) -> Val<'k> {
        self.axes.rows
    }

    pub(in crate::wgsl) fn columns(&self) -> Val<'k> {
        self.axes.columns
    }

    pub(in crate::wgsl) fn keys(&self) -> Val<'k> {
        self.axes.depth
    }

    /// For each of four keys, true if it exists.
    pub(in crate::wgsl) fn four_exist(&self, key: Val<'k>) -> Val<'k> {
        lane_coordinates(key, LANES, true).lt(self.keys().splat(LANES))
    }
}

/// The reference of exponentials: the maximum score, or 0 if all are -inf, since relative to -inf they would be NaN.
pub(super) fn reference(largest: Val<'_>) -> Val<'_> {
    let (arena, ty) = (largest.arena(), largest.ty());
    let zero = if ty.lanes() == 1 { arena.f32(0.0) } else { arena.construct(ty, &[]) };
    largest.lt(arena.f32(f32::MIN).splat(ty.lanes())).select(zero, largest)
}

fn largest_component(vector: Val<'_>) -> Val<'_> {
    let [x, y, z, w] = [0, 1, 2, 3].map(|lane| vector.lane(lane));
    x.max(y).max(z.max(w))
}

fn component_sum(vector: Val<'_>) -> Val<'_> {
    vector.dot(vector.arena().f32(1.0).splat(LANES))
}

fn begin<'k>(arena: &'k Arena, source: Source<'_>, names: &'k Names) -> (Shader<'k>, Extents<'k>) {
    let lanes = source.buffer_lanes();
    let mut shader = Shader::new(arena, names, source.group);
    for access in &source.group.accesses {
        if !(source.scheduled.schedule.is_split() && access.access.space == Space::Point) {
            shader.buffer(access.access.slot, access.dtype, lanes, false);
        }
    }
    let extents = Extents::new(&mut shader, source.group);
    score::declare(&mut shader, source, &extents, lanes);
    if source.scheduled.schedule.is_split() {
        output::declare_partial(&mut shader, &extents, lanes);
    } else {
        output::declare(&mut shader, source.group, &extents, lanes);
    }
    (shader, extents)
}

/// A walk over the keys of an attention or a weighted sum.
pub(super) struct Walk<'a> {
    pub(in crate::wgsl) group: &'a Group,
    pub(in crate::wgsl) program: (&'a Body, ValueId),
    pub(in crate::wgsl) limits: Vec<Limit>,
    pub(in crate::wgsl) split: bool,
    pub(in crate::wgsl) buffer_lanes: u32,
}

#[derive(Clone, Copy)]
pub(super) struct Place<'k> {
    pub(in crate::wgsl) batch: Val<'k>,
    pub(in crate::wgsl) row0: Val<'k>,
    pub(in crate::wgsl) key_begin: Val<'k>,
    pub(in crate::wgsl) key_end: Val<'k>,
    pub(in crate::wgsl) negative_infinity: Val<'k>,
}

/// Binds this workgroup's rows and keys, for tiles of `rows` queries and steps of this many keys. If the last tile is
/// `moved` inside, `first_row` is the first query that no other workgroup has.
pub(super) fn locate<'k>(
    walk: &Walk<'_>,
    shader: &mut Shader<'k>,
    extents: &Extents<'k>,
    b: &mut Block<'k>,
    [rows, step]: [u32; 2],
    moved: bool,
) -> Place<'k> {
    let first = if moved { "first_row" } else { "row0" };
    let id = grid::workgroups(shader, b);
    let tiles = shader.uniform(Uniform::RowTiles);
    let grows = mask_bounds::grows(&walk.limits);
    let (batch, mut row0, key_begin, key_end);
    if walk.split {
        let batches = extents.axes.batches(shader);
        let split_depth = shader.uniform(Uniform::SplitDepth);
        let part;
        if grows {
            // The longest workgroups start first; short ones fill the gaps.
            let splits = shader.uniform(Uniform::Splits);
            batch = b.bind("batch", id % batches);
            part = b.bind("part", id / batches % splits);
            b.set(shader.split(), part);
            row0 = b.bind(first, (tiles - 1 - id / (batches * splits)) * rows);
        } else {
            [batch, part] = grid::batch_and_part(shader, b, &extents.axes, id, tiles);
            row0 = b.bind(first, id % tiles * rows);
        }
        key_begin = b.var("key_begin", part * split_depth);
        key_end = b.var("key_end", extents.keys().min(key_begin + split_depth));
    } else {
        batch = b.bind("batch", id / tiles);
        let position = b.bind("position", id % tiles);
        if grows {
            // Every other batch (by the aperiodic Thue-Morse sequence) starts with the longest work, to balance
            // workgroups that share a compute unit.
            let forwards = b.bind("forwards", (batch.call("countOneBits", &[]) & 1).eq(1));
            row0 = b.bind(first, forwards.select(position, tiles - 1 - position) * rows);
        } else {
            row0 = b.bind(first, position * rows);
        }
        key_begin = b.var("key_begin", shader.u32(0));
        key_end = b.var("key_end", extents.keys());
    }
    if moved {
        row0 = b.bind("row0", row0.min(extents.queries() - rows));
    }
    extents.axes.decode_batch(shader, b, batch);
    let loaded = limits::apply(walk, shader, extents, b, [rows, step], [row0, key_begin, key_end]);
    if moved && loaded {
        limits::share(shader, b, [key_begin, key_end]);
    }
    let negative_infinity = b.bind("negative_infinity", -shader.infinity());
    Place { batch, row0, key_begin, key_end, negative_infinity }
}

/// The dtype of all computation between loads and stores.
pub(super) const COMPUTED: DType = DType::F32;
