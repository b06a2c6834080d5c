//! The family of attention kernels.
//!
//! - `tile QxK RxC`: workgroups keep Q queries in workgroup memory and walk over the keys, K at a time, with 16-byte
//!   loads; each invocation computes R×C scores of a step. `split` members share the keys between workgroups and combine
//!   their softmaxes in a second pass.
//! - `matrices QxK RxK`: as `tile`, where each subgroup multiplies R queries in cooperative matrices: of `f16`, where the
//!   adapter has them.
//! - `decode Q`: few queries; groups of invocations read whole rows of keys and values, each group its own keys.
//! - `direct Q`: invocations have Q queries each and keep nothing in workgroup memory, which processors like better.
//! - `unaligned QxK`: as `tile`, one element per load, in 16 KiB of workgroup memory; any size and stride. Always last.

pub(crate) mod matrices;

use fuse_artifact::{DType, Features, MATRIX_SUBGROUP, Require, Schedule, Size, Space};

use self::matrices::MatrixTile;

use super::{
    ROUNDS_ALONE,
    contraction::{Direction, LANES, direction},
    layout::{Along, along},
};
use crate::fusion::{
    Attention, Group,
    attention::MAX_HEAD,
    body::{Body, ValueId, ValueOp},
};

/// Sizes of a tiled member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Queries of a workgroup.
    pub queries: u32,
    /// Keys of one step.
    pub keys: u32,
    /// Queries per invocation, a multiple of 4.
    pub rows: u32,
    /// Invocations that share a query; they are neighbors.
    pub across: u32,
    /// Depth of one load of keys into workgroup memory, a multiple of 4.
    pub depth_step: u32,
    /// Keys of one load of values into workgroup memory, a multiple of 4 that divides `keys`.
    pub value_step: u32,
    /// The largest depth, a multiple of `depth_step`.
    pub depth: u32,
    /// The largest number of value columns, a multiple of `4·across`.
    pub columns: u32,
    /// Elements per load, 4 or 1.
    pub lanes: u32,
    /// Whether the queries stay in workgroup memory; else they are loaded with the keys.
    pub resident: bool,
}

impl Tile {
    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        self.queries / self.rows * self.across
    }

    /// Scores of an invocation per query, a multiple of 4.
    pub const fn scores(&self) -> u32 {
        self.keys / self.across
    }

    /// Columns of an invocation, a multiple of 4.
    pub const fn outputs(&self) -> u32 {
        self.columns / self.across
    }

    /// Elements of the queries that are in workgroup memory at a time.
    pub const fn query_elements(&self) -> u32 {
        self.queries * if self.resident { self.depth } else { self.depth_step }
    }

    /// Elements of the exponentials that are in workgroup memory at a time: for each query a vector of each invocation.
    pub const fn weight_elements(&self) -> u32 {
        self.queries * self.across * LANES
    }

    /// Whether what invocations know of their rows passes through the memory of the exponentials.
    pub const fn parts_share_weights(&self) -> bool {
        !self.resident
    }

    /// Elements of the memory that keys and values take turns in.
    pub const fn stage_elements(&self) -> u32 {
        let (keys, values) = (self.keys * self.depth_step, self.value_step * self.columns);
        if keys > values { keys } else { values }
    }
}

/// Sizes of a member for few queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decode {
    /// Queries of a workgroup.
    pub queries: u32,
    /// The largest depth, a multiple of [`DECODE_SPAN`].
    pub depth: u32,
    /// The largest number of value columns, a multiple of [`DECODE_SPAN`].
    pub columns: u32,
}

/// Invocations that share a key.
pub const DECODE_LANES: u32 = 8;

/// Elements that the invocations of a key read at once.
pub const DECODE_SPAN: u32 = DECODE_LANES * LANES;

/// Groups of invocations of a workgroup; each has its own keys.
pub const DECODE_GROUPS: u32 = 16;

/// Keys of a step: four for each group.
pub const DECODE_KEYS: u32 = DECODE_GROUPS * LANES;

/// Sizes of a member whose invocations have queries of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direct {
    /// Queries of an invocation.
    pub queries: u32,
    /// The largest depth.
    pub depth: u32,
    /// The largest number of value columns, a multiple of 4.
    pub columns: u32,
}

impl Direct {
    /// Queries of a workgroup.
    pub const fn rows(&self) -> u32 {
        self.queries * DIRECT_INVOCATIONS
    }
}

/// Invocations of a workgroup of [`Direct`] members: few, so that a processor's cores all have some.
pub const DIRECT_INVOCATIONS: u32 = 16;

/// Outputs that an invocation of a [`Direct`] member keeps: with more, software adapters compile very slowly.
const DIRECT_OUTPUTS: u32 = 256;

/// One way to run an attention.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub shape: Shape,
    /// Directions of the loads of queries, keys and values.
    pub directions: Directions,
    /// Whether workgroups share the keys.
    pub split: bool,
    /// What must hold.
    pub requires: Vec<Require>,
}

/// The kind and sizes of a member.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Tiles in workgroup memory.
    Tile(Tile),
    /// Tiles of cooperative matrices.
    Matrices(MatrixTile),
    /// Few queries.
    Decode(Decode),
    /// Nothing in workgroup memory.
    Direct(Direct),
}

/// The axes along which vector loads go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directions {
    /// Queries: `Depth`, or `Outer` along the queries.
    pub query: Direction,
    /// Keys: `Depth`, or `Outer` along the keys.
    pub key: Direction,
    /// Values: `Depth` along the keys, or `Outer` along the columns.
    pub value: Direction,
}

impl Member {
    /// What an adapter must have besides `f16`, which the shaders' texts tell.
    pub fn features(&self) -> Features {
        match self.shape {
            Shape::Matrices(_) => {
                Features { subgroups: MATRIX_SUBGROUP, matrices: matrices::SIZE, ..Features::default() }
            }
            Shape::Tile(_) | Shape::Decode(_) | Shape::Direct(_) => Features::default(),
        }
    }

    /// The schedule as the runtime sees it.
    pub fn schedule(&self) -> Schedule {
        let (rows, keys, head, matrices) = match self.shape {
            Shape::Tile(tile) => (tile.queries, tile.keys, tile.depth.max(tile.columns), 0),
            Shape::Matrices(tile) => (tile.queries(), tile.keys, tile.depth.max(tile.columns), matrices::SIZE),
            Shape::Decode(decode) => (decode.queries, DECODE_KEYS, decode.depth.max(decode.columns), 0),
            Shape::Direct(direct) => (direct.rows(), LANES, direct.depth.max(direct.columns), 0),
        };
        Schedule::Attention { rows, keys, head, split: self.split, matrices }
    }
}

/// The members of a group's family.
pub fn family(group: &Group, attention: &Attention) -> Vec<Member> {
    let facts = Facts::new(group, attention);
    let mut family = vec![];
    if let Some(directions) = facts.directions {
        for head in facts.heads() {
            if let Some(query) = facts.stored_query(attention, directions) {
                in_matrices(&facts, directions, head, query, &mut family);
            }
            aligned(&facts, directions, head, &mut family);
        }
    }
    for head in facts.unaligned_heads() {
        let directions = Directions { query: Direction::Depth, key: Direction::Depth, value: Direction::Outer };
        let tile = unaligned_tile(head);
        let name = format!("unaligned {}x{}{}", tile.queries, tile.keys, head.suffix());
        for split in [true, false] {
            let name = if split { format!("{name} split") } else { name.clone() };
            let requires = facts.head_requirements(tile.depth, tile.columns);
            family.push(Member { name, shape: Shape::Tile(tile), directions, split, requires });
        }
    }
    family
}

/// What a member is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    depth: u32,
    columns: u32,
    /// Whether members for other heads are compiled too.
    one_of_several: bool,
}

impl Head {
    fn suffix(self) -> String {
        if self.one_of_several { format!(" head {}", self.columns) } else { String::new() }
    }
}

/// The members for one head in cooperative matrices, whose queries are read by access `query`.
fn in_matrices(facts: &Facts<'_>, directions: Directions, head: Head, query: u16, family: &mut Vec<Member>) {
    for tile in matrices::tiles(head.depth, head.columns) {
        let mut requires = facts.exact_requirements(tile.depth, tile.columns);
        requires.extend(facts.tile_requirements(directions));
        // The last tile of queries is moved inside.
        requires.push(Require::AtLeast { axis: facts.queries(), value: tile.queries() });
        requires.push(Require::AtLeast { axis: facts.keys(), value: 1 });
        // Matrices are loaded from lines that start at a multiple of 16 bytes.
        requires.push(Require::Aligned { access: query, axis: facts.batch + 1, of: 8 });
        let name = format!("matrices {}x{} {}x{}{}", tile.queries(), tile.keys, tile.rows, tile.keys, head.suffix());
        let member = |name, split| {
            let (shape, requires) = (Shape::Matrices(tile), requires.clone());
            Member { name, shape, directions, split, requires }
        };
        family.push(member(format!("{name} split"), true));
        family.push(member(name, false));
    }
}

/// The members for one head with vector loads, best first.
fn aligned(facts: &Facts<'_>, directions: Directions, head: Head, family: &mut Vec<Member>) {
    for tile in aligned_tiles(head) {
        let mut requires = facts.head_requirements(tile.depth, tile.columns);
        requires.extend(facts.tile_requirements(directions));
        let (rows, scores) = (tile.rows, tile.scores());
        let name = format!("tile {}x{} {rows}x{scores}{}", tile.queries, tile.keys, head.suffix());
        let shape = Shape::Tile(tile);
        let split = format!("{name} split");
        family.push(Member { name: split, shape, directions, split: true, requires: requires.clone() });
        family.push(Member { name, shape, directions, split: false, requires });
    }
    // The members below read four depths of queries and keys, and four columns of values, at a time.
    let of_vectors = Directions { query: Direction::Depth, key: Direction::Depth, value: Direction::Outer };
    if directions == of_vectors {
        family.push(direct(facts, directions, head));
        let whole = |x: u32| x.next_multiple_of(DECODE_SPAN);
        let (depth, columns) = (whole(head.depth), whole(head.columns));
        for queries in [1, 4] {
            // More rows than that would not fit the registers.
            if queries * depth.max(columns) > 512 {
                continue;
            }
            let mut requires = facts.head_requirements(depth, columns);
            requires.extend(facts.decode_requirements());
            requires.push(Require::AtMost { axis: facts.queries(), value: if queries == 1 { 4 } else { 16 } });
            let shape = Shape::Decode(Decode { queries, depth, columns });
            for split in [true, false] {
                let name = format!("decode {queries}{}{}", head.suffix(), if split { " split" } else { "" });
                family.push(Member { name, shape, directions, split, requires: requires.clone() });
            }
        }
    }
}

/// The member for one head without workgroup memory.
fn direct(facts: &Facts<'_>, directions: Directions, head: Head) -> Member {
    let columns = head.columns.next_multiple_of(LANES);
    let direct = Direct { queries: (DIRECT_OUTPUTS / columns).clamp(1, 4), depth: head.depth, columns };
    let mut requires = facts.head_requirements(direct.depth, direct.columns);
    requires.extend(facts.decode_requirements());
    let rounds_of_step = direct.depth.div_ceil(LANES) + 1;
    requires.push(Require::AtMost { axis: facts.keys(), value: ROUNDS_ALONE / rounds_of_step * LANES });
    let name = format!("direct {}{}", direct.queries, head.suffix());
    Member { name, shape: Shape::Direct(direct), directions, split: false, requires }
}

/// Tiles with vector loads, best first. Each comes with a split twin.
fn aligned_tiles(head: Head) -> Vec<Tile> {
    let tile = |queries, keys, rows, across, value_step| Tile {
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
    };
    let compact = |queries, keys, rows, across, value_step| Tile {
        depth_step: 8,
        resident: false,
        ..tile(queries, keys, rows, across, value_step)
    };
    let tiles = match head.columns.max(head.depth) {
        0..=64 => {
            vec![compact(128, 64, 8, 8, 8), compact(64, 64, 8, 8, 8), tile(64, 64, 8, 16, 16), tile(32, 32, 4, 8, 8)]
        }
        65..=128 => vec![compact(64, 64, 8, 16, 8), tile(32, 32, 4, 8, 8)],
        _ => vec![compact(64, 128, 8, 32, 4), tile(32, 64, 4, 16, 4)],
    };
    // Columns beyond those that exist would be computed in vain.
    let wasteful = |tile: &Tile| tile.columns >= 2 * head.columns.next_multiple_of(32);
    match tiles.iter().all(wasteful) {
        true => tiles,
        false => tiles.into_iter().filter(|tile| !wasteful(tile)).collect(),
    }
}

/// The tile for any size and stride.
fn unaligned_tile(head: Head) -> Tile {
    let (keys, across, value_step) = if head.columns <= 64 { (32, 8, 8) } else { (64, 16, 4) };
    Tile {
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
    }
}

/// What the compiler knows about a group's operands.
struct Facts<'a> {
    group: &'a Group,
    /// Number of batch axes; the axes of the domain after them are M, E, N, D.
    batch: u8,
    depth: &'a Size,
    columns: &'a Size,
    directions: Option<Directions>,
    /// Whether the score's program reads along the keys.
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

    /// The heads to compile for: the one there is, or several of which the launch picks.
    fn heads(&self) -> Vec<Head> {
        let (depth, columns) = (self.depth.as_constant(), self.columns.as_constant());
        let fixed = |size: Option<u64>, head: u32| size.map_or(head, |size| size.clamp(1, MAX_HEAD) as u32);
        if depth.is_some() && columns.is_some() {
            return vec![Head { depth: fixed(depth, 0), columns: fixed(columns, 0), one_of_several: false }];
        }
        let head = |head| Head { depth: fixed(depth, head), columns: fixed(columns, head), one_of_several: true };
        [32, 64, 128, 256].map(head).to_vec()
    }

    /// The heads of members without requirements on strides; the last serves all.
    fn unaligned_heads(&self) -> Vec<Head> {
        let fixed = |size: &Size| size.as_constant().map_or(MAX_HEAD, |size| size.clamp(1, MAX_HEAD)) as u32;
        let (depth, columns) = (fixed(self.depth), fixed(self.columns));
        match self.columns.as_constant() {
            Some(_) => vec![Head { depth, columns, one_of_several: false }],
            None => [64, columns].map(|columns| Head { depth, columns, one_of_several: true }).to_vec(),
        }
    }

    /// Sizes that are known only at launch must fit. The last member fits all that an attention may have.
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

    /// Sizes that are known only at launch must be these.
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

    /// The access of the queries, where cooperative matrices can be loaded from what is in memory: all inputs are stored
    /// `f16`, queries and keys along the depth and values along their columns.
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

    /// Vector loads are clamped to a depth, so that there must be one.
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
            Some(match space {
                Space::Lhs => outer(directions.query, self.batch + 1, self.batch),
                Space::Rhs => outer(directions.key, self.batch, self.batch + 1),
                Space::Value => outer(directions.value, self.batch, self.batch + 1),
                Space::Score | Space::Point => self.batch + 1,
            })
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
        requires.extend(self.vector_loads(|space| {
            Some(match space {
                Space::Rhs => self.batch,
                Space::Lhs | Space::Value | Space::Score | Space::Point => self.batch + 1,
            })
        }));
        requires
    }

    /// What loads of four lanes along the given axis of each space need.
    fn vector_loads(&self, lane_axis: impl Fn(Space) -> Option<u8>) -> Vec<Require> {
        let mut requires = vec![];
        for (i, access) in self.group.accesses.iter().enumerate() {
            let Some(axis) = lane_axis(access.access.space) else { continue };
            let access_index = i as u16;
            match along(access, usize::from(axis)) {
                Along::Zero => requires.push(Require::Stride { access: access_index, axis, stride: 0 }),
                Along::Unit => {
                    requires.push(Require::Stride { access: access_index, axis, stride: 1 });
                    requires.push(Require::Aligned { access: access_index, axis, of: LANES });
                }
                Along::UnitOrZero => requires.push(Require::Aligned { access: access_index, axis, of: LANES }),
                Along::Strided => {}
            }
        }
        requires
    }
}

fn multiples_of_lanes(mut axes: Vec<u8>) -> Vec<Require> {
    axes.sort_unstable();
    axes.dedup();
    axes.into_iter().map(|axis| Require::Multiple { axis, of: LANES }).collect()
}
