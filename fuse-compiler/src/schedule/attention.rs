//! The schedule family of attention kernels.
//!
//! - `tile QxK RxC`: Q queries stay in workgroup memory; steps of K keys with 16-byte loads; R×C scores per invocation.
//!   `split` shares keys between workgroups; a second pass combines their softmaxes.
//! - `coop-matrix QxK RxK`: like `tile`; each subgroup multiplies R queries in `f16` cooperative matrices.
//! - `decode Q`: few queries; groups of invocations read whole rows of their own keys and values.
//! - `unstaged Q`: Q queries per invocation without workgroup memory, which suits CPUs.
//! - `scalar tile QxK RxC`: fallback with scalar loads and 16 KiB of workgroup memory; any size and stride.

pub(crate) mod coop_matrix;

use fuse_artifact::{
    DType, Require, Size, Space,
    schedule::{self, AttentionCoopMatrix, AttentionTile, DECODE_SPAN, Decode, LANES, Unstaged},
};

use super::{
    ROUNDS_ALONE,
    contraction::{Direction, direction},
    layout::{Along, along, multiples_of_lanes, vector_load},
};
use crate::fusion::{
    Attention, Group,
    attention_pattern::MAX_HEAD,
    body::{Body, ValueId, ValueOp},
};

/// Maximum outputs per invocation of an [`Unstaged`] schedule: software adapters compile more very slowly.
const UNSTAGED_OUTPUTS: u32 = 256;

/// A schedule of an attention.
#[derive(Clone, Debug)]
pub struct ScheduleSpec {
    /// The schedule.
    pub schedule: schedule::Attention,
    /// Load directions of queries, keys and values.
    pub directions: Directions,
    /// Requirements at launch.
    pub requires: Vec<Require>,
}

/// Axes of vector loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directions {
    /// Queries: `Depth`, or `Outer` along the queries.
    pub query: Direction,
    /// Keys: `Depth`, or `Outer` along the keys.
    pub key: Direction,
    /// Values: `Depth` along the keys, or `Outer` along the columns.
    pub value: Direction,
}

/// The schedules of a group's family.
pub fn family(group: &Group, attention: &Attention) -> Vec<ScheduleSpec> {
    let facts = Facts::new(group, attention);
    let mut family = vec![];
    if let Some(directions) = facts.directions {
        for head in facts.heads() {
            if let Some(query) = facts.stored_query(attention, directions) {
                in_coop_matrices(&facts, directions, head, query, &mut family);
            }
            aligned(&facts, directions, head, &mut family);
        }
    }
    for head in facts.scalar_heads() {
        let directions = Directions { query: Direction::Depth, key: Direction::Depth, value: Direction::Outer };
        let tile = scalar_tile(head);
        for split in [true, false] {
            let requires = facts.head_requirements(tile.depth, tile.columns);
            let schedule = schedule::Attention::Tile(AttentionTile { split, ..tile });
            family.push(ScheduleSpec { schedule, directions, requires });
        }
    }
    family
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    depth: u32,
    columns: u32,
}

fn in_coop_matrices(facts: &Facts<'_>, directions: Directions, head: Head, query: u16, family: &mut Vec<ScheduleSpec>) {
    for tile in coop_matrix::tiles(head.depth, head.columns) {
        let mut requires = facts.exact_requirements(tile.depth, tile.columns);
        requires.extend(facts.tile_requirements(directions));
        // The last tile of queries is shifted inside.
        requires.push(Require::AtLeast { axis: facts.queries(), value: tile.queries() });
        requires.push(Require::AtLeast { axis: facts.keys(), value: 1 });
        // Cooperative matrices load lines aligned to 16 bytes.
        requires.push(Require::Aligned { access: query, axis: facts.batch + 1, of: 8 });
        for split in [true, false] {
            let schedule = schedule::Attention::CoopMatrix(AttentionCoopMatrix { split, ..tile });
            family.push(ScheduleSpec { schedule, directions, requires: requires.clone() });
        }
    }
}

fn aligned(facts: &Facts<'_>, directions: Directions, head: Head, family: &mut Vec<ScheduleSpec>) {
    for (tile, split) in aligned_tiles(head) {
        let mut requires = facts.head_requirements(tile.depth, tile.columns);
        requires.extend(facts.tile_requirements(directions));
        let twin = split.then_some(AttentionTile { split, ..tile });
        for tile in twin.into_iter().chain([tile]) {
            let schedule = schedule::Attention::Tile(tile);
            family.push(ScheduleSpec { schedule, directions, requires: requires.clone() });
        }
    }
    // The schedules below load vectors of four depths, or of four columns of values.
    let of_vectors = Directions { query: Direction::Depth, key: Direction::Depth, value: Direction::Outer };
    if directions == of_vectors {
        family.push(unstaged(facts, directions, head));
        let whole = |x: u32| x.next_multiple_of(DECODE_SPAN);
        let (depth, columns) = (whole(head.depth), whole(head.columns));
        for queries in [1, 4] {
            // More rows would exceed the registers.
            if queries * depth.max(columns) > 512 {
                continue;
            }
            let mut requires = facts.head_requirements(depth, columns);
            requires.extend(facts.decode_requirements());
            requires.push(Require::AtMost { axis: facts.queries(), value: if queries == 1 { 4 } else { 16 } });
            for split in [true, false] {
                let schedule = schedule::Attention::Decode(Decode { queries, depth, columns, split });
                family.push(ScheduleSpec { schedule, directions, requires: requires.clone() });
            }
        }
    }
}

fn unstaged(facts: &Facts<'_>, directions: Directions, head: Head) -> ScheduleSpec {
    let columns = head.columns.next_multiple_of(LANES);
    let unstaged = Unstaged { queries: (UNSTAGED_OUTPUTS / columns).clamp(1, 4), depth: head.depth, columns };
    let mut requires = facts.head_requirements(unstaged.depth, unstaged.columns);
    requires.extend(facts.decode_requirements());
    let rounds_of_step = unstaged.depth.div_ceil(LANES) + 1;
    requires.push(Require::AtMost { axis: facts.keys(), value: ROUNDS_ALONE / rounds_of_step * LANES });
    ScheduleSpec { schedule: schedule::Attention::Unstaged(unstaged), directions, requires }
}

/// Tiles with vector loads, best first; the flag asks for a split twin.
fn aligned_tiles(head: Head) -> Vec<(AttentionTile, bool)> {
    let tile = |queries, keys, rows, across, value_step| AttentionTile {
        queries,
        keys,
        rows,
        across,
        depth_step: 16,
        value_step,
        depth: head.depth.next_multiple_of(16),
        columns: head.columns.next_multiple_of(4 * across),
        lanes: LANES,
        resident: true,
        split: false,
    };
    let compact = |queries, keys, rows, across, value_step| AttentionTile {
        depth_step: 8,
        resident: false,
        ..tile(queries, keys, rows, across, value_step)
    };
    let (medium, small) = (compact(64, 64, 8, 8, 8), tile(32, 32, 4, 8, 8));
    let tiles = match head.columns.max(head.depth) {
        // 128 queries gained at most 6 % there on an H200.
        0..=32 => vec![(medium, true), (small, true)],
        33..=64 => vec![(compact(128, 64, 8, 8, 8), true), (medium, true), (small, true)],
        // For few queries, `decode` shares the keys.
        65..=128 => vec![(compact(64, 64, 8, 16, 8), true), (small, false)],
        _ => vec![(compact(64, 128, 8, 32, 4), true)],
    };
    // Excludes tiles that mostly compute missing columns.
    let wasteful = |(tile, _): &(AttentionTile, bool)| tile.columns >= 2 * head.columns.next_multiple_of(32);
    match tiles.iter().all(wasteful) {
        true => tiles,
        false => tiles.into_iter().filter(|tile| !wasteful(tile)).collect(),
    }
}

fn scalar_tile(head: Head) -> AttentionTile {
    let (keys, across, value_step) = if head.columns <= 64 { (32, 8, 8) } else { (64, 16, 4) };
    AttentionTile {
        queries: 32,
        keys,
        rows: 4,
        across,
        depth_step: 16,
        value_step,
        depth: head.depth.next_multiple_of(16),
        columns: if head.columns <= 64 { 64 } else { 256 },
        lanes: 1,
        resident: false,
        split: false,
    }
}

struct Facts<'a> {
    group: &'a Group,
    /// Number of batch axes, which precede M, E, N, D.
    batch: u8,
    depth: &'a Size,
    columns: &'a Size,
    directions: Option<Directions>,
    scores_read_keys: bool,
}

impl<'a> Facts<'a> {
    fn new(group: &'a Group, attention: &'a Attention) -> Self {
        let batch = group.shape.len() - 2;
        let directions = || {
            Some(Directions {
                query: direction(group, &attention.query.0, batch + 1, batch)?,
                key: direction(group, &attention.key.0, batch, batch + 1)?,
                value: direction(group, &attention.value.0, batch, batch + 1)?,
            })
        };
        let scores_read_keys = attention.score.0.values.iter().any(|value| match value.op {
            ValueOp::Load(access) => along(&group.accesses[usize::from(access)], batch + 1) != Along::Zero,
            ref op => {
                let accesses = op.accesses().into_iter().map(|access| &group.accesses[usize::from(access)].access);
                accesses.flat_map(|access| access.axes.iter()).any(Option::is_some)
            }
        });
        let (depth, columns) = (&attention.depth, &group.shape[batch + 1]);
        Self { group, batch: batch as u8, depth, columns, directions: directions(), scores_read_keys }
    }

    const fn queries(&self) -> u8 {
        self.batch
    }

    const fn value_columns(&self) -> u8 {
        self.batch + 1
    }

    const fn keys(&self) -> u8 {
        self.batch + 2
    }

    const fn depth_axis(&self) -> u8 {
        self.batch + 3
    }

    /// Heads to compile for: the known one, or several for the launch to select from.
    fn heads(&self) -> Vec<Head> {
        let (depth, columns) = (self.depth.as_constant(), self.columns.as_constant());
        let fixed = |size: Option<u64>, head: u32| size.map_or(head, |size| size.clamp(1, MAX_HEAD) as u32);
        if depth.is_some() && columns.is_some() {
            return vec![Head { depth: fixed(depth, 0), columns: fixed(columns, 0) }];
        }
        let head = |head| Head { depth: fixed(depth, head), columns: fixed(columns, head) };
        [32, 64, 128, 256].map(head).to_vec()
    }

    /// Heads of schedules without stride requirements; the last fits all.
    fn scalar_heads(&self) -> Vec<Head> {
        let fixed = |size: &Size| size.as_constant().map_or(MAX_HEAD, |size| size.clamp(1, MAX_HEAD)) as u32;
        let (depth, columns) = (fixed(self.depth), fixed(self.columns));
        match self.columns.as_constant() {
            Some(_) => vec![Head { depth, columns }],
            None => [64, columns].map(|columns| Head { depth, columns }).to_vec(),
        }
    }

    fn head_requirements(&self, depth: u32, columns: u32) -> Vec<Require> {
        let mut requires = vec![];
        for (size, axis, value) in
            [(self.depth, self.depth_axis(), depth), (self.columns, self.value_columns(), columns)]
        {
            if size.as_constant().is_none() && u64::from(value) < MAX_HEAD {
                requires.push(Require::AtMost { axis, value });
            }
        }
        requires
    }

    fn exact_requirements(&self, depth: u32, columns: u32) -> Vec<Require> {
        let mut requires = vec![];
        for (size, axis, value) in
            [(self.depth, self.depth_axis(), depth), (self.columns, self.value_columns(), columns)]
        {
            if size.as_constant().is_none() {
                requires.extend([Require::AtLeast { axis, value }, Require::AtMost { axis, value }]);
            }
        }
        requires
    }

    /// Access of the queries if cooperative matrices can load all inputs from memory: stored `f16`, queries and keys
    /// contiguous along the depth, values along their columns.
    fn stored_query(&self, attention: &Attention, directions: Directions) -> Option<u16> {
        let usual = Directions { query: Direction::Depth, key: Direction::Depth, value: Direction::Outer };
        let batch = usize::from(self.batch);
        let stored = |(body, value): &(Body, ValueId), axis: usize| {
            let value = &body.values[*value];
            match value.op {
                ValueOp::Load(access) if value.dtype == DType::F16 => {
                    (along(&self.group.accesses[usize::from(access)], axis) == Along::Unit).then_some(access)
                }
                _ => None,
            }
        };
        let query = stored(&attention.query, batch + 1)?;
        stored(&attention.key, batch)?;
        stored(&attention.value, batch + 1)?;
        (directions == usual).then_some(query)
    }

    /// Vector loads clamp to the depth, so it must be at least 1.
    fn some_depth(&self) -> Vec<Require> {
        vec![Require::AtLeast { axis: self.depth_axis(), value: 1 }]
    }

    fn tile_requirements(&self, directions: Directions) -> Vec<Require> {
        let mut multiples = vec![self.value_columns()];
        multiples.push(if directions.query == Direction::Depth { self.depth_axis() } else { self.queries() });
        multiples.push(if directions.key == Direction::Depth { self.depth_axis() } else { self.keys() });
        multiples.push(if directions.value == Direction::Depth { self.keys() } else { self.value_columns() });
        if self.scores_read_keys {
            multiples.push(self.keys());
        }
        let mut requires = self.some_depth();
        requires.extend(multiples_of_lanes(multiples));
        requires.extend(self.vector_loads(|space| {
            let outer = |direction, inner: u8, outer: u8| if direction == Direction::Depth { inner } else { outer };
            match space {
                Space::Lhs => Some(outer(directions.query, self.batch + 1, self.batch)),
                Space::Rhs => Some(outer(directions.key, self.batch, self.batch + 1)),
                Space::Value => Some(outer(directions.value, self.batch, self.batch + 1)),
                Space::Score | Space::Point => Some(self.batch + 1),
                Space::SecondLhs | Space::SecondRhs => None,
            }
        }));
        requires
    }

    fn decode_requirements(&self) -> Vec<Require> {
        let mut multiples = vec![self.value_columns(), self.depth_axis()];
        if self.scores_read_keys {
            multiples.push(self.keys());
        }
        let mut requires = self.some_depth();
        requires.extend(multiples_of_lanes(multiples));
        requires.extend(self.vector_loads(|space| match space {
            Space::Rhs => Some(self.batch),
            Space::Lhs | Space::Value | Space::Score | Space::Point => Some(self.batch + 1),
            Space::SecondLhs | Space::SecondRhs => None,
        }));
        requires
    }

    fn vector_loads(&self, lane_axis: impl Fn(Space) -> Option<u8>) -> Vec<Require> {
        let mut requires = vec![];
        for (i, access) in self.group.accesses.iter().enumerate() {
            let Some(axis) = lane_axis(access.access.space) else { continue };
            requires.extend(vector_load(i as u16, access, usize::from(axis), axis));
        }
        requires
    }
}
