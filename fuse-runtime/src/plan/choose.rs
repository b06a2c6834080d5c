//! Which variant of a kernel runs: the first legal one for pointwise kernels, the cheapest by a small cost model
//! for contractions. The model is a prior; it is the only place that knows about speed.
//!
//! Not here: whether a variant may run (`require`).

use fuse_artifact::{DType, DomainKind, Kernel, Schedule, Space, Variant};

use super::{
    domain::{Contraction, Domain},
    require::{Refusal, legal},
};
use crate::{AdapterKind, DeviceInfo};

/// A variant that may run, with the way its depth is split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) variant: usize,
    pub(crate) split: Split,
    /// Estimated time in multiply-adds of one compute unit; 0 for pointwise kernels.
    pub(crate) cost: f64,
}

/// How several workgroups share the depth of a contraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// Number of parts.
    pub(crate) parts: u64,
    /// Depth of one part, a multiple of the schedule's step.
    pub(crate) depth: u64,
}

/// The candidates of `kernel`, or why a variant is none, per variant.
pub(crate) fn candidates(kernel: &Kernel, domain: &Domain, info: &DeviceInfo) -> Vec<Result<Candidate, Refusal>> {
    let machine = Machine::of(info.kind);
    kernel.variants.iter().enumerate().map(|(i, variant)| candidate(i, variant, domain, info, &machine)).collect()
}

/// The best candidate: the first of a pointwise kernel, the cheapest of a contraction.
pub(crate) fn best(kind: DomainKind, candidates: &[Result<Candidate, Refusal>]) -> Option<Candidate> {
    let mut legal = candidates.iter().flatten().copied();
    match kind {
        DomainKind::Pointwise => legal.next(),
        _ => legal.min_by(|a, b| a.cost.total_cmp(&b.cost)),
    }
}

fn candidate(
    index: usize,
    variant: &Variant,
    domain: &Domain,
    info: &DeviceInfo,
    machine: &Machine,
) -> Result<Candidate, Refusal> {
    legal(variant, domain, info)?;
    let sizes = domain.contraction();
    let split = split(&variant.schedule, sizes, machine);
    scratch_bytes(variant, domain, split, info)?;
    let cost = match domain.kind {
        DomainKind::Contraction { .. } => cost(variant, domain, split, machine),
        DomainKind::Pointwise | DomainKind::Reduction { .. } | DomainKind::Attention => 0.0,
    };
    Ok(Candidate { variant: index, split, cost })
}

/// Bytes of the variant's scratch memory; 0 if it has none.
pub(crate) fn scratch_bytes(
    variant: &Variant,
    domain: &Domain,
    split: Split,
    info: &DeviceInfo,
) -> Result<u64, Refusal> {
    let Contraction { batch, rows, columns, .. } = domain.contraction();
    let rows = u128::from(batch) * u128::from(rows);
    let per_part = (rows * u128::from(columns))
        .saturating_mul(variant.scratch.per_output.into())
        .saturating_add(rows * u128::from(variant.scratch.per_row));
    let bytes = per_part.saturating_mul(split.parts.into()).saturating_mul(DType::U32.bytes().into());
    let allowed = info.limits.binding_bytes;
    match u64::try_from(bytes) {
        Ok(bytes) if bytes <= allowed => Ok(bytes),
        _ => Err(Refusal::Limit("bytes of scratch memory", u64::try_from(bytes).unwrap_or(u64::MAX), allowed)),
    }
}

/// The rows and columns of the output that a workgroup owns, and the depth of one step.
pub(crate) fn tile(schedule: &Schedule) -> [u64; 3] {
    match *schedule {
        Schedule::Elements { lanes, .. } => [1, lanes.into(), 1],
        Schedule::Tiles { rows, columns, depth, .. } => [rows.into(), columns.into(), depth.into()],
        // Four elements of depth at a time, so that parts stay aligned for vector loads.
        Schedule::Row { columns, depth_lanes, .. } => [1, columns.into(), u64::from(depth_lanes) * 4],
        Schedule::Dot { outputs, depth_lanes } => [1, outputs.into(), u64::from(depth_lanes) * 4],
        Schedule::Rows { rows, invocations, lanes, .. } => [rows.into(), 1, u64::from(invocations) * u64::from(lanes)],
        Schedule::Columns { columns, layers, .. } => [columns.into(), 1, layers.into()],
        // A workgroup has all value columns of its rows.
        Schedule::Attention { rows, keys, head, .. } => [rows.into(), head.into(), keys.into()],
    }
}

fn is_split(schedule: &Schedule) -> bool {
    match schedule {
        Schedule::Tiles { split, .. }
        | Schedule::Row { split, .. }
        | Schedule::Rows { split, .. }
        | Schedule::Columns { split, .. }
        | Schedule::Attention { split, .. } => *split,
        Schedule::Elements { .. } | Schedule::Dot { .. } => false,
    }
}

/// The shortest depth worth a workgroup of its own, where the depth allows.
const MIN_SPLIT_DEPTH: u64 = 256;

/// Enough parts to occupy the machine, none shorter than [`MIN_SPLIT_DEPTH`] if the depth is long enough for two.
fn split(schedule: &Schedule, sizes: Contraction, machine: &Machine) -> Split {
    let [rows, columns, step] = tile(schedule).map(|extent| extent.max(1));
    let whole = Split { parts: 1, depth: sizes.depth.next_multiple_of(step).max(step) };
    if !is_split(schedule) || sizes.depth <= step {
        return whole;
    }
    let tiles = (sizes.batch * sizes.rows.div_ceil(rows)).saturating_mul(sizes.columns.div_ceil(columns));
    let wanted = (2 * machine.units).div_ceil(tiles.max(1));
    let parts = wanted.min(sizes.depth / MIN_SPLIT_DEPTH).max(2);
    let depth = sizes.depth.div_ceil(parts).next_multiple_of(step);
    Split { parts: sizes.depth.div_ceil(depth), depth }
}

/// What the cost model knows of an adapter.
struct Machine {
    /// Compute units that run workgroups side by side.
    units: u64,
    /// Invocations that keep one unit's arithmetic busy.
    busy_invocations: f64,
    /// Bytes on their way that keep one unit's share of the memory bandwidth busy.
    bytes_in_flight: f64,
    /// Multiply-adds that the whole machine does while it moves one byte.
    work_per_byte: f64,
    /// Multiply-adds that one unit does while a dispatch starts.
    launch_work: f64,
}

impl Machine {
    /// Discrete: measured on an NVIDIA H200 (132 units, 40 Tflop/s in plain f32, 4.2 TB/s, 2 µs per dispatch).
    /// Integrated and software: priors.
    fn of(kind: AdapterKind) -> Self {
        let (units, busy_invocations, bytes_in_flight, work_per_byte, launch_work) = match kind {
            AdapterKind::Discrete => (132, 128.0, 16384.0, 5.0, 3e5),
            AdapterKind::Integrated | AdapterKind::Other => (24, 128.0, 8192.0, 12.0, 3e5),
            AdapterKind::Software => (4, 1.0, 1.0, 0.5, 1e5),
        };
        Self { units, busy_invocations, bytes_in_flight, work_per_byte, launch_work }
    }
}

/// Multiply-adds per value read from workgroup memory at which arithmetic, not that memory, is the limit; fitted
/// to the measured times of 4×4, 8×4, 8×8 and 8×16 values per invocation.
const FULL_INTENSITY: f64 = 4.2;

/// Of the bytes that workgroups read again after others did, the part that counts: caches serve the rest.
const REREAD_PART: f64 = 0.3;

/// Cost of a dispatch that waits for the one before, in dispatches: the machine drains first.
const DEPENDENT_LAUNCH: f64 = 2.0;

/// The estimated time of a contraction's variant, in multiply-adds of one unit: the longer of arithmetic (rounds of
/// workgroups over the units, slowed by small invocation tiles and idle lanes) and memory traffic, plus dispatches.
fn cost(variant: &Variant, domain: &Domain, split: Split, machine: &Machine) -> f64 {
    let Contraction { batch, rows, columns, depth } = domain.contraction();
    let [tile_rows, tile_columns, _] = tile(&variant.schedule).map(|extent| extent.max(1));
    let units = machine.units as f64;
    let part_depth = split.depth.min(depth) as f64;

    let tiles = match variant.schedule {
        Schedule::Dot { outputs, .. } => (batch * rows * columns).div_ceil(u64::from(outputs.max(1))),
        _ => batch * rows.div_ceil(tile_rows) * columns.div_ceil(tile_columns),
    };
    let workgroups = (tiles * split.parts) as f64;
    let rounds = (workgroups / units).ceil();
    let threads = variant.passes.first().map_or(1, |pass| pass.workgroup_size.max(1)) as f64;
    // Half-empty units lose less than half: latencies overlap less well, but clocks and caches are less shared.
    let busy = (rounds * threads / machine.busy_invocations).min(1.0).sqrt();
    let arithmetic = rounds * (tile_rows * tile_columns) as f64 * part_depth / (intensity(&variant.schedule) * busy);

    let streams = (workgroups / units * in_flight(&variant.schedule, threads) / machine.bytes_in_flight).min(1.0);
    let bytes = traffic(variant, domain, workgroups * part_depth, [tile_rows, tile_columns], split);
    let memory = bytes * machine.work_per_byte / units / streams;

    let dispatches = 1.0 + DEPENDENT_LAUNCH * (variant.passes.len() as f64 - 1.0);
    arithmetic.max(memory) + dispatches * machine.launch_work
}

/// The part of a unit's peak arithmetic that a schedule reaches.
fn intensity(schedule: &Schedule) -> f64 {
    match *schedule {
        Schedule::Tiles { per_invocation: [rows, columns], lanes, .. } => {
            let (rows, columns) = (f64::from(rows.max(1)), f64::from(columns.max(1)));
            let reached = (rows * columns / (rows + columns) / FULL_INTENSITY).min(1.0);
            // Single loads cost instructions that vector loads save.
            if lanes >= 4 { reached } else { reached * 0.85 }
        }
        _ => 0.25,
    }
}

/// Bytes that a workgroup requests before it waits: the next step's tiles, or four vectors per invocation.
fn in_flight(schedule: &Schedule, threads: f64) -> f64 {
    match *schedule {
        Schedule::Tiles { rows, columns, depth, .. } => 4.0 * f64::from(rows + columns) * f64::from(depth),
        _ => 64.0 * threads,
    }
}

/// Bytes that a contraction moves, counted as if each came from device memory.
fn traffic(variant: &Variant, domain: &Domain, depth_steps: f64, tile: [u64; 2], split: Split) -> f64 {
    let Contraction { batch, rows, columns, depth } = domain.contraction();
    let outputs = (batch * rows * columns) as f64;
    let distinct = ((batch * rows * depth) + (batch * depth * columns)) as f64;
    let read = match variant.schedule {
        Schedule::Dot { .. } => outputs * 2.0 * depth as f64 * scattered(domain),
        _ => depth_steps * (tile[0].min(rows) + tile[1].min(columns)) as f64,
    };
    let scratch = 2.0 * outputs * f64::from(variant.scratch.per_output) * split.parts as f64;
    4.0 * (distinct + (read - distinct).max(0.0) * REREAD_PART + outputs + scratch)
}

/// Invocations that walk the depth together want it contiguous: otherwise each value costs a whole cache sector.
fn scattered(domain: &Domain) -> f64 {
    let walks = |space: Space, depth_axis_from_end: usize| {
        let of_space = domain.accesses.iter().filter(move |access| access.space == space);
        of_space.filter_map(move |access| access.strides.iter().rev().nth(depth_axis_from_end).copied())
    };
    let contiguous = walks(Space::Lhs, 0).chain(walks(Space::Rhs, 1)).all(|stride| stride <= 1);
    if contiguous { 1.0 } else { 8.0 }
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{Features, Grid, Pass, Scratch};

    use super::*;

    const TILES: [([u32; 3], [u32; 2]); 4] =
        [([32, 32, 32], [4, 4]), ([64, 64, 16], [8, 4]), ([128, 128, 16], [8, 8]), ([128, 256, 16], [8, 16])];

    fn pass(workgroup_size: u32, grid: Grid) -> Pass {
        Pass {
            wgsl: "".into(),
            bindings: vec![].into(),
            uniforms: vec![].into(),
            grid,
            workgroup_size,
            workgroup_bytes: 0,
        }
    }

    fn tiles([rows, columns, depth]: [u32; 3], per_invocation: [u32; 2], split: bool) -> Variant {
        let threads = rows * columns / (per_invocation[0] * per_invocation[1]);
        let passes = [pass(threads, Grid::Tiles { rows, columns }), pass(256, Grid::Elements { per_workgroup: 256 })];
        Variant {
            name: format!("tile {rows}x{columns}{}", if split { " split" } else { "" }).into(),
            requires: vec![].into(),
            features: Features::default(),
            scratch: Scratch { per_output: u32::from(split), per_row: 0 },
            schedule: Schedule::Tiles { rows, columns, depth, per_invocation, lanes: 4, split },
            passes: passes[..if split { 2 } else { 1 }].to_vec().into(),
        }
    }

    fn family() -> Vec<Variant> {
        let row = Variant {
            name: "row".into(),
            schedule: Schedule::Row { columns: 64, depth_lanes: 16, split: false },
            requires: vec![fuse_artifact::Require::AtMost { axis: 0, value: 1 }].into(),
            passes: vec![pass(256, Grid::Tiles { rows: 1, columns: 64 })].into(),
            ..tiles([1, 1, 1], [1, 1], false)
        };
        let dot = Variant {
            name: "dot".into(),
            requires: vec![].into(),
            schedule: Schedule::Dot { outputs: 8, depth_lanes: 32 },
            passes: vec![pass(256, Grid::Elements { per_workgroup: 8 })].into(),
            ..row.clone()
        };
        let whole = TILES.iter().map(|(tile, each)| tiles(*tile, *each, false));
        let split = TILES[..2].iter().map(|(tile, each)| tiles(*tile, *each, true));
        whole.chain(split).chain([row, dot]).collect()
    }

    fn choice(rows: u64, columns: u64, depth: u64) -> String {
        use super::super::domain::Strides;
        let access = |space, strides: [u64; 2]| Strides {
            slot: fuse_artifact::Slot::Param(0),
            space,
            offset: 0,
            strides: strides.to_vec(),
        };
        let accesses = vec![access(Space::Lhs, [depth, 1]), access(Space::Rhs, [columns, 1])];
        let domain = Domain {
            kind: DomainKind::Contraction { products: 1 },
            extents: vec![rows, columns, depth],
            accesses,
            kept: 3,
        };
        let machine = Machine::of(AdapterKind::Discrete);
        let cost_of = |variant: &Variant| {
            let split = split(&variant.schedule, domain.contraction(), &machine);
            cost(variant, &domain, split, &machine)
        };
        let family = family();
        let legal = family.iter().filter(|variant| rows == 1 || variant.requires.is_empty());
        legal.min_by(|a, b| cost_of(a).total_cmp(&cost_of(b))).unwrap().name.to_string()
    }

    #[test]
    fn square_sizes_take_what_was_measured_best() {
        assert_eq!(choice(256, 256, 256), "tile 32x32");
        assert_eq!(choice(512, 512, 512), "tile 32x32");
        assert_eq!(choice(1024, 1024, 1024), "tile 64x64");
        for size in [2048, 4096, 8192] {
            assert_eq!(choice(size, size, size), "tile 128x256");
        }
    }

    #[test]
    fn long_depths_are_split_and_single_rows_stream() {
        assert!(choice(64, 64, 65536).ends_with("split"));
        assert!(!choice(2048, 2048, 65536).ends_with("split"));
        assert_eq!(choice(1, 4096, 4096), "row");
        assert_eq!(choice(1, 1, 4096), "dot");
    }

    #[test]
    fn parts_cover_the_depth_in_whole_steps() {
        let machine = Machine::of(AdapterKind::Discrete);
        let schedule = tiles([32, 32, 32], [4, 4], true).schedule;
        for depth in [0, 1, 32, 33, 64, 257, 1000, 4096, 65537] {
            let split = split(&schedule, Contraction { batch: 1, rows: 5, columns: 7, depth }, &machine);
            assert_eq!(split.depth % 32, 0);
            assert!(split.parts >= 1 && split.parts * split.depth >= depth, "{depth}: {split:?}");
            assert!(split.parts == 1 || (split.parts - 1) * split.depth < depth, "{depth}: {split:?}");
        }
    }
}
