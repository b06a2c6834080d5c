//! The estimated time of a contraction's variant, fitted to measured times of square, long and single-row products.

use fuse_artifact::{DomainKind, Schedule, Space, Variant, Work};

use super::{FULL_INTENSITY, Machine, REREAD_PART, dispatches};
use crate::plan::{
    choose::{Split, tile},
    domain::{Contraction, Domain},
};

/// The estimated time of a contraction's variant, in multiply-adds of one unit: the longer of arithmetic (rounds of
/// workgroups over the units, slowed by small invocation tiles and idle lanes) and memory traffic, plus dispatches.
pub(crate) fn cost(work: Work, variant: &Variant, domain: &Domain, split: Split, machine: &Machine) -> f64 {
    let Contraction { batch, rows, columns, depth } = domain.contraction();
    let [tile_rows, tile_columns, _] = tile(&variant.schedule).map(|extent| extent.max(1));
    let units = machine.units as f64;
    let part_depth = split.depth.min(depth) as f64;

    let tiles = match variant.schedule {
        Schedule::Dot { outputs, .. } => (batch * rows * columns).div_ceil(u64::from(outputs.max(1))),
        _ => batch * rows.div_ceil(tile_rows) * columns.div_ceil(tile_columns),
    };
    // Products that each workgroup has.
    let own = if is_stacked(&variant.schedule) { 1.0 } else { products(domain) };
    let workgroups = (tiles * split.parts) as f64 * products(domain) / own;
    let rounds = (workgroups / units).ceil();
    let threads = variant.passes.first().map_or(1, |pass| pass.workgroup_size.max(1)) as f64;
    // Half-empty units lose less than half: latencies overlap less well, but clocks and caches are less shared.
    let busy = (rounds * threads / machine.busy_invocations).min(1.0).sqrt();
    let sums = own * (tile_rows * tile_columns) as f64;
    // Prologues are computed again by each workgroup, for each element that it loads.
    let loads = match variant.schedule {
        Schedule::Dot { outputs, .. } => [f64::from(outputs); 2],
        _ => [tile_rows.min(rows) as f64, tile_columns.min(columns) as f64],
    };
    let again = loads[0] * f64::from(work.lhs) + loads[1] * f64::from(work.rhs);
    let narrow = narrowness(&variant.schedule, own) * LOAD_WORK;
    let arithmetic = rounds * part_depth * (sums / intensity(&variant.schedule) + narrow + again) / busy;

    let bytes = traffic(variant, domain, workgroups * part_depth, [tile_rows, tile_columns], own, split);
    let memory = machine.memory(bytes, workgroups, in_flight(&variant.schedule, threads));

    let before = operand_rows(work, domain, tile_rows, [workgroups, rounds, threads, busy], machine);
    before + arithmetic.max(memory) + dispatches(variant.passes.len()) * machine.launch_work
}

/// The time in which every workgroup reduces the rows of its left operand, before it multiplies: it reads them once per
/// pass, mostly after others did, and waits twice for all of its invocations.
fn operand_rows(
    work: Work,
    domain: &Domain,
    tile_rows: u64,
    [workgroups, rounds, threads, busy]: [f64; 4],
    machine: &Machine,
) -> f64 {
    if work.row_passes == 0 {
        return 0.0;
    }
    let Contraction { batch, rows, depth, .. } = domain.contraction();
    let (elements, passes) = (tile_rows.min(rows) as f64 * depth as f64, f64::from(work.row_passes));
    let arithmetic = rounds * elements * f64::from(work.row) / busy;
    let distinct = (batch * rows * depth) as f64;
    let read = 4.0 * passes * (distinct + (workgroups * elements - distinct).max(0.0) * REREAD_PART);
    // Four vectors per invocation are on their way at a time.
    let memory = machine.memory(read, workgroups, 64.0 * threads);
    arithmetic.max(memory) + rounds * passes * 2.0 * machine.barrier_work
}

/// Multiply-adds that a unit does while it loads an element into workgroup memory; fitted to products that own their rows.
const LOAD_WORK: f64 = 18.0;

/// Multiply-adds per loaded element of the largest tiles to which [`intensity`] was fitted; smaller ones have as many as an
/// invocation has sums.
const USUAL_SHARING: f64 = 64.0;

/// The elements of a step of depth 1 that a tile loads beyond what its sums would have it load in a square.
fn narrowness(schedule: &Schedule, products: f64) -> f64 {
    match *schedule {
        Schedule::Tiles { rows, columns, per_invocation: [r, c], layers: 1, .. } => {
            let (rows, columns) = (f64::from(rows), f64::from(columns));
            let sharing = f64::from(r * c).min(USUAL_SHARING);
            (rows + products * columns - products * rows * columns / sharing).max(0.0)
        }
        _ => 0.0,
    }
}

fn is_stacked(schedule: &Schedule) -> bool {
    matches!(schedule, Schedule::Tiles { stacked: true, .. })
}

/// Products that share their left operand.
fn products(domain: &Domain) -> f64 {
    if let DomainKind::Contraction { products } = domain.kind { f64::from(products.max(1)) } else { 1.0 }
}

/// The part of its cache's bandwidth that a unit reaches where the right operand is streamed.
const STREAMED_PART: f64 = 0.6;

/// The part of a unit's peak arithmetic that a schedule reaches.
fn intensity(schedule: &Schedule) -> f64 {
    match *schedule {
        // Each element of the right operand comes from the cache and serves the rows.
        Schedule::Tiles { rows, layers: 2.., .. } => (f64::from(rows) / 8.0).min(1.0) * STREAMED_PART,
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
        Schedule::Tiles { rows, columns, depth, layers: 1, .. } => 4.0 * f64::from(rows + columns) * f64::from(depth),
        _ => 64.0 * threads,
    }
}

/// Bytes that a contraction moves, counted as if each came from device memory.
fn traffic(
    variant: &Variant,
    domain: &Domain,
    depth_steps: f64,
    tile: [u64; 2],
    own_products: f64,
    split: Split,
) -> f64 {
    let Contraction { batch, rows, columns, depth } = domain.contraction();
    let outputs = (batch * rows * columns) as f64;
    let products = products(domain);
    let distinct = (batch * rows * depth) as f64 + products * (batch * depth * columns) as f64;
    let read = match variant.schedule {
        Schedule::Dot { .. } => outputs * (1.0 + products) * depth as f64 * scattered(domain),
        _ => depth_steps * (tile[0].min(rows) as f64 + own_products * tile[1].min(columns) as f64),
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
    use fuse_artifact::{Features, Grid, Pass, Scratch, Slot};

    use super::*;
    use crate::{
        AdapterKind,
        plan::{choose::split, domain::Strides},
    };

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
        let passes =
            [pass(threads, Grid::Tiles { rows, columns, stack: 1 }), pass(256, Grid::Elements { per_workgroup: 256 })];
        Variant {
            name: format!("tile {rows}x{columns}{}", if split { " split" } else { "" }).into(),
            requires: vec![].into(),
            features: Features::default(),
            scratch: Scratch { per_output: u32::from(split), per_row: 0 },
            schedule: Schedule::Tiles {
                rows,
                columns,
                depth,
                per_invocation,
                lanes: 4,
                split,
                layers: 1,
                stacked: false,
            },
            passes: passes[..if split { 2 } else { 1 }].to_vec().into(),
        }
    }

    fn family() -> Vec<Variant> {
        let row = Variant {
            name: "row".into(),
            schedule: Schedule::Row { columns: 64, depth_lanes: 16, split: false },
            requires: vec![fuse_artifact::Require::AtMost { axis: 0, value: 1 }].into(),
            passes: vec![pass(256, Grid::Tiles { rows: 1, columns: 64, stack: 1 })].into(),
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

    /// The variant with the least cost of a product whose prologues work.
    fn cheapest(work: Work, products: u8, rows: u64, columns: u64, depth: u64) -> (String, f64) {
        let access =
            |space, strides: [u64; 2]| Strides { slot: Slot::Param(0), space, offset: 0, strides: strides.to_vec() };
        let right = vec![access(Space::Rhs, [columns, 1]); products.into()];
        let accesses = [vec![access(Space::Lhs, [depth, 1])], right].concat();
        let kind = DomainKind::Contraction { products };
        let domain = Domain { kind, extents: vec![rows, columns, depth], accesses, kept: 3 };
        let machine = Machine::of(AdapterKind::Discrete);
        let cost_of = |variant: &Variant| {
            let split = split(&variant.schedule, domain.contraction(), &machine);
            cost(work, variant, &domain, split, &machine)
        };
        let family = family();
        let legal = family.iter().filter(|variant| rows == 1 || variant.requires.is_empty());
        let costs = legal.map(|variant| (variant.name.to_string(), cost_of(variant)));
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
    }

    fn choice(rows: u64, columns: u64, depth: u64) -> String {
        cheapest(Work::default(), 1, rows, columns, depth).0
    }

    #[test]
    fn prologues_are_worth_computing_again_at_small_sizes_only() {
        let machine = Machine::of(AdapterKind::Discrete);
        let gelu = Work { lhs: 20, ..Work::default() };
        let inlined = |size| cheapest(gelu, 1, size, size, size).1;
        // A kernel before, and a trip through memory.
        let bytes = |size: u64| 8.0 * (size * size) as f64;
        let stored = |size| {
            let before = machine.memory(bytes(size), 1e6, 4096.0) + 2.0 * machine.launch_work;
            cheapest(Work::default(), 1, size, size, size).1 + before
        };
        assert!(inlined(256) < stored(256));
        assert!(inlined(4096) > stored(4096));
    }

    #[test]
    fn rows_are_worth_reducing_again_at_small_sizes_only() {
        let machine = Machine::of(AdapterKind::Discrete);
        let norm = Work { lhs: 2, row: 2, row_passes: 1, ..Work::default() };
        let inlined = |rows, size| cheapest(norm, 1, rows, size, size).1;
        let stored = |rows: u64, size: u64| {
            let bytes = 8.0 * (rows * size) as f64;
            let before = machine.memory(bytes, rows as f64, 4096.0) + 2.0 * machine.launch_work;
            cheapest(Work::default(), 1, rows, size, size).1 + before
        };
        assert!(inlined(1, 4096) < stored(1, 4096));
        assert!(inlined(128, 256) < stored(128, 256));
        assert!(inlined(4096, 4096) > stored(4096, 4096));
    }

    #[test]
    fn products_that_share_an_operand_cost_less_than_apart() {
        for size in [1, 64, 512, 2048] {
            let (apart, shared) =
                (cheapest(Work::default(), 1, size, 1024, 1024).1, cheapest(Work::default(), 2, size, 1024, 1024).1);
            assert!(shared > apart && shared < 2.0 * apart, "{size} rows: {shared} and {apart}");
        }
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
}
