//! Estimated times of a contraction's variants, fitted to square, long and single-row products, also with whole rows.

use fuse_artifact::{
    DomainKind, Grid, Schedule, Space, Variant, Work,
    schedule::{Gemv, GemvRhs, GemvRows, LANES, Mainloop, Tile},
};

use super::{Machine, REREAD_PART, dispatches, interpolated};
use crate::plan::{
    domain::{Contraction, Domain},
    split::Split,
};

/// The longer of arithmetic (rounds of workgroups, slowed by small invocation tiles and idle lanes) and memory traffic,
/// plus dispatches, in multiply-adds of one unit.
pub(crate) fn cost(work: Work, variant: &Variant, domain: &Domain, split: Split, machine: &Machine) -> f64 {
    let sizes = domain.contraction();
    let Contraction { batch, rows, columns, depth } = sizes;
    let [tile_rows, tile_columns, _] = variant.schedule.extents().map(|extent| extent.max(1));
    let units = machine.units as f64;
    let part_depth = split.depth.min(depth) as f64;

    let tiles = match variant.schedule {
        Schedule::Gemv(Gemv { rows: GemvRows::One, columns, .. }) => {
            (sizes.outputs() / f64::from(columns.max(1))).ceil()
        }
        _ => batch as f64 * rows.div_ceil(tile_rows) as f64 * columns.div_ceil(tile_columns) as f64,
    };
    let own = if is_grouped(&variant.schedule) { 1.0 } else { products(domain) };
    let shares = split.shares(depth) as f64;
    let workgroups = match is_stream(&variant.schedule) {
        true => split.tiles[0] as f64 + shares,
        false => tiles * split.parts as f64 * products(domain) / own,
    };
    let rounds = (workgroups / units).ceil();
    let walked = match is_stream(&variant.schedule) {
        true => (split.tiles[0] as f64 / units).ceil() * depth as f64 + (shares / units).ceil() * split.depth as f64,
        false => rounds * part_depth,
    };
    let threads = variant.passes.first().map_or(1, |pass| pass.workgroup_size.max(1)) as f64;
    // Half-empty units lose less than half: latencies overlap worse, but clocks and caches are less shared.
    let busy = (rounds * threads / (BUSY * machine.busy_invocations)).min(1.0).sqrt().sqrt();
    let sums = own * computed_sums(variant, [rows, columns], machine);
    // Each workgroup recomputes prologues per loaded element.
    let loads = match variant.schedule {
        Schedule::Gemv(Gemv { rows: GemvRows::One, columns, .. }) => [f64::from(columns); 2],
        _ => [tile_rows.min(rows) as f64, tile_columns.min(columns) as f64],
    };
    // Packed words are decoded once, beside the loads.
    let of_rhs = if packed_bits(&variant.schedule).is_some() { 0.0 } else { f64::from(work.rhs) };
    let again = BESIDE * (loads[0] * f64::from(work.lhs) + loads[1] * of_rhs);
    let narrow = narrowness(variant, own) * LOAD_WORK;
    let arithmetic = walked * (sums / intensity(variant, own, rows, machine) + narrow + again) / busy;

    let steps = if is_stream(&variant.schedule) { tiles * depth as f64 } else { workgroups * part_depth };
    let bytes = traffic(variant, domain, steps, [tile_rows, tile_columns], own, split);
    let memory = machine.memory(bytes, workgroups, in_flight(variant, threads));

    let before = operand_rows(work, domain, tile_rows, [workgroups, rounds, threads, busy], machine);
    let after = finish(variant, domain, split, machine);
    before + arithmetic.max(memory) + after + dispatches(variant.passes.len()) * machine.launch_work
}

/// Accumulators of a workgroup for a product, without rows that gemvs skip and, on processors, idle invocations.
fn computed_sums(variant: &Variant, sizes: [u64; 2], machine: &Machine) -> f64 {
    let [tile_rows, tile_columns, _] = variant.schedule.extents().map(|extent| extent.max(1));
    let [rows, columns] = match variant.schedule {
        Schedule::Tile(tile) if tile.is_unstaged() && machine.busy_invocations <= 1.0 => {
            let some = |size: u64, tile: u64, own: u32| size.next_multiple_of(u64::from(own.max(1))).min(tile);
            [some(sizes[0], tile_rows, tile.invocation_rows), some(sizes[1], tile_columns, tile.invocation_columns)]
        }
        Schedule::Gemv(Gemv { rows: GemvRows::AtMost { .. }, .. }) => [sizes[0].min(tile_rows), tile_columns],
        _ => [tile_rows, tile_columns],
    };
    (rows * columns) as f64
}

/// Reads of partial results in a second pass, without its dispatch.
fn finish(variant: &Variant, domain: &Domain, split: Split, machine: &Machine) -> f64 {
    let Some(pass) = variant.passes.get(1) else { return 0.0 };
    let sizes = domain.contraction();
    let outputs = match is_stream(&variant.schedule) {
        true => split.shares(sizes.depth).min(split.tiles[1]) as f64 * sums_of_tile(&variant.schedule),
        false => sizes.outputs(),
    };
    let bytes = 4.0 * (partial_sums(variant, domain, split) + outputs);
    let (workgroups, latency) = match pass.grid {
        Grid::WholeRows { rows: of_workgroup } => {
            ((sizes.batch as f64 * sizes.rows as f64 / f64::from(of_workgroup)).ceil(), REDUCED_ROWS)
        }
        _ => (outputs / f64::from(pass.workgroup_size.max(1)), 0.0),
    };
    machine.memory(bytes, workgroups, 64.0 * f64::from(pass.workgroup_size.max(1))) + latency * machine.launch_work
}

fn partial_sums(variant: &Variant, domain: &Domain, split: Split) -> f64 {
    let sizes = domain.contraction();
    let per_output = f64::from(variant.scratch.per_output);
    if is_stream(&variant.schedule) {
        // Each share begins a part, as does each tile that begins inside of a share.
        let shares = split.shares(sizes.depth);
        let parts = shares as f64 + shares.min(split.tiles[1]) as f64;
        return parts * sums_of_tile(&variant.schedule) * per_output;
    }
    sizes.outputs() * per_output * split.parts as f64
}

fn sums_of_tile(schedule: &Schedule) -> f64 {
    let [rows, columns, _] = schedule.extents();
    (rows * columns) as f64
}

/// Cost of reducing rows in a second pass, in dispatches: all invocations wait.
const REDUCED_ROWS: f64 = 0.75;

/// Multiply-adds of a unit per reduced element of left rows, and for the first wait. Fitted to rms_norm(x)·w of 1, 128
/// and 2048 rows.
const ROW_WORK: [f64; 2] = [30.0, 4e5];

/// Reduction of the left operand's rows in every workgroup, read once per pass, mostly from caches.
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
    let sizes = domain.contraction();
    let (elements, passes) = (tile_rows.min(sizes.rows) as f64 * sizes.depth as f64, f64::from(work.row_passes));
    let arithmetic = rounds * elements * (f64::from(work.row) + passes * ROW_WORK[0]) / busy;
    let distinct = sizes.left();
    let read = 4.0 * passes * (distinct + (workgroups * elements - distinct).max(0.0) * REREAD_PART);
    // Each invocation has four vectors in flight.
    let memory = machine.memory(read, workgroups, 64.0 * threads);
    arithmetic.max(memory) + passes * ROW_WORK[1]
}

/// Multiply-adds of a unit per element loaded into workgroup memory, fitted to products that own their rows.
const LOAD_WORK: f64 = 18.0;

/// Elements loaded per depth beyond those of a square tile with as many accumulators.
fn narrowness(variant: &Variant, products: f64) -> f64 {
    match variant.schedule {
        Schedule::Tile(Tile { rows, columns, mainloop: Mainloop::Staged, .. }) => {
            let (rows, columns) = (f64::from(rows), products * f64::from(columns));
            rows + columns - 2.0 * (rows * columns).sqrt()
        }
        _ => 0.0,
    }
}

const fn is_grouped(schedule: &Schedule) -> bool {
    matches!(schedule, Schedule::Tile(tile) if tile.is_grouped())
}

const fn is_stream(schedule: &Schedule) -> bool {
    matches!(schedule, Schedule::Tile(tile) if tile.is_stream_k())
}

/// Products that share their left operand.
fn products(domain: &Domain) -> f64 {
    if let DomainKind::Contraction { products } = domain.kind { f64::from(products.max(1)) } else { 1.0 }
}

/// Factor on the invocations that keep a unit busy: here they wait at every step.
const BUSY: f64 = 3.0;

/// Part of a prologue that does not overlap, fitted to gelu(x)·w of 512 to 4096.
const BESIDE: f64 = 0.8;

/// Part of the cache's bandwidth reached while streaming the right operand.
const STREAMED_PART: f64 = 0.8;

/// Rows up to which packed weights, read for each row, come from memory; beyond, from caches.
const WORD_ROWS: u64 = 4;

/// Accumulators of an invocation, with the part of a unit's peak (40 Tflop/s of 132) reached: 4×4, 8×4, 8×8 and 8×16 on
/// an NVIDIA H200.
const REACHED: [(f64, f64); 4] = [(16.0, 0.74), (32.0, 0.95), (64.0, 1.0), (128.0, 1.15)];

/// Accumulators of a subgroup in cooperative matrices, in the same unit: 16×16 to 64×64 on the same GPU.
const REACHED_BY_MATRICES: [(f64, f64); 4] = [(256.0, 2.8), (1024.0, 4.4), (2048.0, 5.4), (4096.0, 8.2)];

/// Part reached per row: few rows read and decode right operands once.
const FEW_ROWS: f64 = 0.2;

/// Accumulators per invocation from which parallel products help each other.
const SHARING_SUMS: f64 = 32.0;

fn intensity(variant: &Variant, products: f64, rows: u64, machine: &Machine) -> f64 {
    match variant.schedule {
        Schedule::Tile(tile) => {
            let sums = f64::from(tile.invocation_rows * tile.invocation_columns);
            let vectors = tile.lanes >= LANES;
            match tile.mainloop {
                Mainloop::Unstaged => machine.unstaged * if vectors { 1.0 } else { 0.5 },
                // Each element of the right operand comes from the cache and serves all rows.
                Mainloop::SliceK(_) => (f64::from(tile.rows) / 8.0).min(1.0) * STREAMED_PART,
                Mainloop::CoopMatrix(_) => interpolated(&REACHED_BY_MATRICES, sums),
                Mainloop::Staged => {
                    let reached = interpolated(&REACHED, if sums < SHARING_SUMS { sums } else { sums * products });
                    // Single loads cost instructions that vector loads save.
                    if vectors { reached } else { reached * 0.85 }
                }
            }
        }
        Schedule::Gemv(gemv) => match (gemv.rhs, gemv.rows) {
            (GemvRhs::Int8 { .. }, _) => 1.0,
            (_, GemvRows::AtMost { rows: most @ 2.., .. }) => FEW_ROWS * rows.min(u64::from(most)) as f64,
            (GemvRhs::Packed { .. }, GemvRows::One) => 0.2,
            (GemvRhs::Packed { .. }, GemvRows::AtMost { .. }) => 0.4,
            (GemvRhs::Elements { .. }, _) => 0.25,
        },
        Schedule::Pointwise(_) | Schedule::Reduction(_) | Schedule::Attention(_) | Schedule::WeightedSum(_) => 0.25,
    }
}

const fn packed_bits(schedule: &Schedule) -> Option<u32> {
    if let Schedule::Gemv(gemv) = schedule { gemv.rhs.bits() } else { None }
}

/// Bytes requested before waiting: the next step's tiles, or four vectors per invocation.
fn in_flight(variant: &Variant, threads: f64) -> f64 {
    match variant.schedule {
        Schedule::Tile(Tile {
            rows,
            columns,
            depth,
            mainloop: mainloop @ (Mainloop::Staged | Mainloop::CoopMatrix(_)),
            ..
        }) => {
            let bytes = if let Mainloop::CoopMatrix(_) = mainloop { 2.0 } else { 4.0 };
            bytes * f64::from(rows + columns) * f64::from(depth)
        }
        _ => 64.0 * threads,
    }
}

/// Bytes moved, weighted as if all came from device memory.
fn traffic(
    variant: &Variant,
    domain: &Domain,
    depth_steps: f64,
    tile: [u64; 2],
    own_products: f64,
    split: Split,
) -> f64 {
    let sizes = domain.contraction();
    let Contraction { rows, columns, depth, .. } = sizes;
    let outputs = sizes.outputs();
    let products = products(domain);
    let of_one_row = matches!(variant.schedule, Schedule::Gemv(Gemv { rows: GemvRows::One, .. }));
    if let Some(bits) = packed_bits(&variant.schedule) {
        // Left operands are small, and groups of columns share their reads.
        let words = products * sizes.right() * f64::from(bits) / 32.0;
        let scratch = partial_sums(variant, domain, split);
        let times = if of_one_row { rows.min(WORD_ROWS) as f64 } else { 1.0 };
        return 4.0 * (words * times + sizes.left() + outputs + scratch);
    }
    let distinct = sizes.left() + products * sizes.right();
    let read = match of_one_row {
        true => outputs * (1.0 + products) * depth as f64 * scattered(domain),
        false => depth_steps * (tile[0].min(rows) as f64 + own_products * tile[1].min(columns) as f64),
    };
    let scratch = partial_sums(variant, domain, split);
    4.0 * (distinct + (read - distinct).max(0.0) * REREAD_PART + outputs + scratch)
}

/// Extra traffic of invocations that walk a non-contiguous depth together, a sector per value.
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
    use fuse_artifact::{
        Features, Pass, Scratch, Slot,
        schedule::{K, Products},
    };

    use super::*;
    use crate::{
        context::info::{AdapterKind, tests::fitted_to},
        plan::{candidates::split, domain::Strides},
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
            workgroup_bytes: 1024,
            pins_loads: false,
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
            schedule: Schedule::Tile(Tile {
                k: if split { K::Split } else { K::Whole },
                ..Tile::new(rows, columns, depth, per_invocation)
            }),
            passes: passes[..if split { 2 } else { 1 }].to_vec().into(),
        }
    }

    const ELEMENTS: GemvRhs = GemvRhs::Elements { k_aligned: false };

    fn row(split: bool) -> Schedule {
        let rows = GemvRows::AtMost { rows: 1, along_depth: false, split };
        Schedule::Gemv(Gemv { rows, columns: 64, depth_lanes: 16, rhs: ELEMENTS })
    }

    fn with(mut variant: Variant, change: impl FnOnce(&mut Tile)) -> Variant {
        if let Schedule::Tile(tile) = &mut variant.schedule {
            change(tile);
        }
        variant
    }

    fn family() -> Vec<Variant> {
        let row = Variant {
            name: "row".into(),
            schedule: row(false),
            requires: vec![fuse_artifact::Require::AtMost { axis: 0, value: 1 }].into(),
            passes: vec![pass(256, Grid::Tiles { rows: 1, columns: 64 })].into(),
            ..tiles([1, 1, 1], [1, 1], false)
        };
        let dot = Variant {
            name: "dot".into(),
            requires: vec![].into(),
            schedule: Schedule::Gemv(Gemv { rows: GemvRows::One, columns: 8, depth_lanes: 32, rhs: ELEMENTS }),
            passes: vec![pass(256, Grid::Elements { per_workgroup: 8 })].into(),
            ..row.clone()
        };
        let whole = TILES.iter().map(|(tile, each)| tiles(*tile, *each, false));
        let split = TILES[..2].iter().map(|(tile, each)| tiles(*tile, *each, true));
        whole.chain(split).chain([row, dot]).collect()
    }

    fn row_family() -> Vec<Variant> {
        let owned = [([4, 384, 8], [4, 4]), ([16, 384, 16], [8, 4]), ([32, 384, 16], [8, 4]), ([64, 384, 16], [8, 8])];
        let mut family: Vec<Variant> = owned.map(|(tile, each)| tiles(tile, each, false)).to_vec();
        let mut streamed = with(tiles([4, 384, 128], [4, 4], false), |tile| tile.mainloop = Mainloop::SliceK(8));
        streamed.name = "streamed".into();
        streamed.passes.to_mut()[0].workgroup_size = 768;
        family.push(streamed);
        for (tile, each) in [TILES[0], TILES[1]] {
            let mut split = tiles(tile, each, true);
            let second = &mut split.passes.to_mut()[1];
            (second.grid, second.workgroup_size) = (Grid::WholeRows { rows: 4 }, 96);
            family.push(split);
        }
        family
    }

    fn cheapest(work: Work, products: u8, rows: u64, columns: u64, depth: u64) -> (String, f64) {
        cheapest_of(&family(), work, products, [rows, columns, depth])
    }

    fn cheapest_of(family: &[Variant], work: Work, products: u8, sizes: [u64; 3]) -> (String, f64) {
        cheapest_on(AdapterKind::Discrete, family, work, products, sizes)
    }

    fn cheapest_on(
        adapter: AdapterKind,
        family: &[Variant],
        work: Work,
        products: u8,
        [rows, columns, depth]: [u64; 3],
    ) -> (String, f64) {
        let access =
            |space, strides: [u64; 2]| Strides { slot: Slot::Param(0), space, offset: 0, strides: strides.to_vec() };
        let right = vec![access(Space::Rhs, [columns, 1]); products.into()];
        let accesses = [vec![access(Space::Lhs, [depth, 1])], right].concat();
        let kind = DomainKind::Contraction { products };
        let domain = Domain { kind, extents: vec![rows, columns, depth], accesses, kept: 3 };
        let machine = Machine::of(&fitted_to(adapter));
        let cost_of = |variant: &Variant| {
            let split = split(&variant.schedule, domain.contraction(), &machine);
            cost(work, variant, &domain, split, &machine)
        };
        let legal = family.iter().filter(|variant| rows == 1 || variant.requires.is_empty());
        let costs = legal.map(|variant| (variant.name.to_string(), cost_of(variant)));
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
    }

    fn choice(rows: u64, columns: u64, depth: u64) -> String {
        cheapest(Work::default(), 1, rows, columns, depth).0
    }

    #[test]
    fn prologues_are_worth_computing_again_at_small_sizes_only() {
        let machine = Machine::of(&fitted_to(AdapterKind::Discrete));
        let gelu = Work { lhs: 20, ..Work::default() };
        let inlined = |size| cheapest(gelu, 1, size, size, size).1;
        let bytes = |size: u64| 8.0 * (size * size) as f64;
        let stored = |size| {
            let before = machine.memory(bytes(size), 1e6, 4096.0) + 3.0 * machine.launch_work;
            cheapest(Work::default(), 1, size, size, size).1 + before
        };
        assert!(inlined(256) < stored(256));
        assert!(inlined(4096) > stored(4096));
    }

    #[test]
    fn rows_are_worth_reducing_again_at_small_sizes_only() {
        let machine = Machine::of(&fitted_to(AdapterKind::Discrete));
        let norm = Work { lhs: 2, row: 2, row_passes: 1, ..Work::default() };
        let inlined = |rows, size| cheapest(norm, 1, rows, size, size).1;
        let stored = |rows: u64, size: u64| {
            let bytes = 8.0 * (rows * size) as f64;
            let before = machine.memory(bytes, rows as f64, 4096.0) + 3.0 * machine.launch_work;
            cheapest(Work::default(), 1, rows, size, size).1 + before
        };
        assert!(inlined(128, 256) < stored(128, 256));
        for (rows, size) in [(128, 1024), (4096, 4096)] {
            assert!(inlined(rows, size) > stored(rows, size), "{rows} rows");
        }
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

    /// Even shares of depths were measured best.
    #[test]
    fn depths_are_shared_evenly_where_rounds_are_not_full() {
        let mut family = family();
        let mut stream = with(tiles(TILES[3].0, TILES[3].1, true), |tile| tile.k = K::Stream);
        stream.name = "stream".into();
        family.push(stream);
        for sizes in [[1280; 3], [2560; 3], [256, 4096, 4096], [1024, 1024, 16384]] {
            assert_eq!(cheapest_of(&family, Work::default(), 1, sizes).0, "stream", "{sizes:?}");
        }
        for sizes in [[256; 3], [512; 3], [64, 1024, 1024]] {
            assert_ne!(cheapest_of(&family, Work::default(), 1, sizes).0, "stream", "{sizes:?}");
        }
        assert_eq!(cheapest_of(&family, Work::default(), 1, [2048; 3]).0, "tile 128x256");
    }

    fn matrix_family() -> Vec<Variant> {
        let schedules = [
            ([32, 32, 128], [16, 16]),
            ([32, 64, 128], [16, 32]),
            ([64, 64, 64], [32, 32]),
            ([128, 128, 32], [64, 64]),
            ([128, 64, 64], [64, 32]),
            ([32, 64, 32], [16, 32]),
        ];
        let in_matrices = |split: bool| {
            schedules.map(|(tile, each)| {
                let mut variant = with(tiles(tile, each, split), |tile| tile.mainloop = Mainloop::CoopMatrix(16));
                let [rows, columns, depth] = tile;
                variant.name = format!("matrices {rows}x{columns}x{depth}{}", if split { " split" } else { "" }).into();
                variant.passes.to_mut()[0].workgroup_size = 128;
                variant
            })
        };
        let mut row = tiles([1, 64, 64], [1, 1], true);
        row.name = "row split".into();
        row.schedule = self::row(true);
        row.passes.to_mut()[0].workgroup_size = 256;
        row.requires = vec![fuse_artifact::Require::AtMost { axis: 0, value: 1 }].into();
        family().into_iter().chain(in_matrices(false)).chain(in_matrices(true)).chain([row]).collect()
    }

    #[test]
    fn matrices_take_what_was_measured_best() {
        let choice = |sizes: [u64; 3]| cheapest_of(&matrix_family(), Work::default(), 1, sizes).0;
        assert_eq!(choice([256; 3]), "matrices 32x32x128");
        assert_eq!(choice([512; 3]), "matrices 32x64x128");
        assert_eq!(choice([1024; 3]), "matrices 128x64x64");
        for size in [2048, 4096, 8192] {
            assert_eq!(choice([size; 3]), "matrices 128x128x32");
        }
        // Tiles in whole steps need as many rows as they have.
        let few_rows = |variant: &Variant| !variant.name.contains("matrices") || variant.name.contains("32x64x32");
        let family: Vec<Variant> = matrix_family().into_iter().filter(few_rows).collect();
        assert_eq!(cheapest_of(&family, Work::default(), 1, [1, 4096, 4096]).0, "row split");
        assert_eq!(cheapest_of(&family, Work::default(), 1, [4, 4096, 4096]).0, "matrices 32x64x32 split");
    }

    #[test]
    fn stored_prologues_reach_matrices_where_that_was_measured_faster() {
        let machine = Machine::of(&fitted_to(AdapterKind::Discrete));
        let gelu = Work { lhs: 20, ..Work::default() };
        let inlined = |size| cheapest(gelu, 1, size, size, size).1;
        let stored = |size: u64| {
            let before = machine.memory(4.0 * (size * size) as f64, 1e6, 4096.0) + 3.0 * machine.launch_work;
            cheapest_of(&matrix_family(), Work::default(), 1, [size; 3]).1 + before
        };
        assert!(inlined(128) < stored(128));
        for size in [512, 4096] {
            assert!(inlined(size) > stored(size), "{size}: {:.3e} and {:.3e}", inlined(size), stored(size));
        }
    }

    #[test]
    fn owned_rows_take_what_was_measured_best() {
        let choice = |rows, depth| cheapest_of(&row_family(), Work::default(), 1, [rows, 384, depth]).0;
        assert_eq!(choice(128, 384), "streamed");
        assert_eq!(choice(128, 1536), "tile 32x32 split");
        assert_eq!(choice(4096, 384), "tile 32x384");
        assert_eq!(choice(4096, 1536), "tile 64x64 split");
        assert_eq!(choice(16384, 384), "tile 64x384");
    }

    #[test]
    fn products_get_workgroups_of_their_own() {
        let grouped: Vec<Variant> = family()
            .into_iter()
            .map(|variant| with(variant, |tile| tile.products = Products::Grouped))
            .filter(|variant| variant.passes.len() == 1)
            .collect();
        for rows in [128, 4096] {
            let apart = cheapest(Work::default(), 1, rows, 384, 384).1;
            let together = cheapest_of(&grouped, Work::default(), 3, [rows, 384, 384]).1;
            assert!(together < 3.0 * apart, "{rows} rows: {together} and {apart}");
        }
    }

    #[test]
    fn processors_read_operands_directly_and_gpus_share_them() {
        let mut unstaged = with(tiles([32, 64, 4], [8, 8], false), |tile| tile.mainloop = Mainloop::Unstaged);
        unstaged.name = "unstaged".into();
        let family = [family(), vec![unstaged]].concat();
        for size in [16, 64, 256, 1024, 4096] {
            let of = |adapter| cheapest_on(adapter, &family, Work::default(), 1, [size; 3]).0;
            assert_eq!(of(AdapterKind::Software), "unstaged", "{size}");
            assert_ne!(of(AdapterKind::Discrete), "unstaged", "{size}");
            assert_ne!(of(AdapterKind::Integrated), "unstaged", "{size}");
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
