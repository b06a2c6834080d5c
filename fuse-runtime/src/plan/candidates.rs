//! Candidates: a kernel's legal variants with split depths and costs.
//!
//! Not here: legality (`require`), times (`cost`).

use fuse_artifact::{DType, DomainKind, Kernel, Schedule, Variant, Work, schedule::Tile};

use crate::{
    context::{error::Error, info::DeviceInfo},
    plan::{
        cost::{Machine, cost},
        domain::{Contraction, Domain},
        require::{Refusal, legal},
        split::{Split, parted},
    },
};

mod rounds;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) variant: usize,
    pub(crate) split: Split,
    /// Estimated multiply-adds of one compute unit.
    pub(crate) cost: f64,
}

pub(crate) fn candidates(kernel: &Kernel, domain: &Domain, info: &DeviceInfo) -> Vec<Result<Candidate, Refusal>> {
    let machine = Machine::of(info);
    (0..kernel.variants.len()).map(|index| candidate(index, kernel, domain, info, &machine)).collect()
}

/// The first of a pointwise kernel, the cheapest of others.
pub(crate) fn best(kind: DomainKind, candidates: &[Result<Candidate, Refusal>]) -> Option<Candidate> {
    let mut legal = candidates.iter().flatten().copied();
    match kind {
        DomainKind::Pointwise => legal.next(),
        DomainKind::Reduction { .. }
        | DomainKind::Contraction { .. }
        | DomainKind::Attention
        | DomainKind::WeightedSum => legal.min_by(|a, b| a.cost.total_cmp(&b.cost)),
    }
}

/// The refusal of the last variant, which demands least.
pub(crate) fn no_variant(kernel: &Kernel, all: &[Result<Candidate, Refusal>], info: &DeviceInfo) -> Error {
    let what = format!("kernel `{}`", kernel.name);
    match all.last() {
        Some(Err(Refusal::Feature(feature))) => Error::MissingFeature { what, feature, adapter: info.name.clone() },
        Some(Err(Refusal::Limit(limit, needed, allowed))) => {
            Error::TooLarge { what, limit, needed: *needed, allowed: *allowed }
        }
        Some(Err(Refusal::Shape(reason))) => Error::Variant {
            kernel: kernel.name.to_string(),
            variant: kernel.variants.last().map_or_else(String::new, |variant| variant.name.to_string()),
            reason: reason.clone(),
        },
        Some(Ok(_)) | None => Error::Internal { message: format!("{what} has no variants") },
    }
}

fn candidate(
    index: usize,
    kernel: &Kernel,
    domain: &Domain,
    info: &DeviceInfo,
    machine: &Machine,
) -> Result<Candidate, Refusal> {
    let variant = &kernel.variants[index];
    legal(variant, domain, info)?;
    // An empty kernel plans nothing: its other sizes may be any numbers.
    if domain.count() == 0 {
        return Ok(Candidate { variant: index, split: Split::even(1, 1), cost: 0.0 });
    }
    let sizes = domain.contraction();
    check_walk(sizes.depth)?;
    let split = split(&variant.schedule, sizes, machine);
    let split = rounds::within(kernel, variant, (sizes, domain.product_depths()), split, info)?;
    check_walk(split.walked(sizes.depth, variant.schedule.extents()[2].max(1)))?;
    if let [whole, 0] = split.tiles
        && whole > 0
    {
        return Err(Refusal::Shape(format!("it would share none of its {whole} tiles")));
    }
    scratch_bytes(variant, domain, split, info)?;
    Ok(Candidate { variant: index, split, cost: cost(kernel, kernel.work, variant, domain, split, machine) })
}

/// Limit of overshoot of loop counters: the reads of a workgroup in a few rounds.
const OVERSHOOT: u64 = 1 << 20;

/// Kernels count to depths and ends of parts in 32 bits.
fn check_walk(depth: u64) -> Result<(), Refusal> {
    let allowed = u64::from(u32::MAX) - OVERSHOOT;
    if depth <= allowed { Ok(()) } else { Err(Refusal::Limit("32-bit indices along a row or depth", depth, allowed)) }
}

/// Time at a table entry's sizes, legal or not. For windowed attention, the depth is the keys that a query sees.
pub(crate) fn estimated(kernel: &Kernel, variant: &Variant, domain: &Domain, machine: &Machine) -> f64 {
    let work = Work { window: None, ..kernel.work };
    cost(kernel, work, variant, domain, split(&variant.schedule, domain.contraction(), machine), machine)
}

pub(crate) fn scratch_bytes(
    variant: &Variant,
    domain: &Domain,
    split: Split,
    info: &DeviceInfo,
) -> Result<u64, Refusal> {
    let Contraction { batch, rows, columns, .. } = domain.contraction();
    // Saturated sizes exceed the limits of all devices.
    let rows = batch.saturating_mul(rows);
    let outputs = match variant.schedule {
        Schedule::Tile(tile) if tile.is_stream_k() => {
            split.tiles[1].saturating_mul(u64::from(tile.rows) * u64::from(tile.columns))
        }
        _ => rows.saturating_mul(columns),
    };
    let per_part = outputs
        .saturating_mul(variant.scratch.per_output.into())
        .saturating_add(rows.saturating_mul(variant.scratch.per_row.into()));
    let bytes = per_part.saturating_mul(split.parts).saturating_mul(DType::U32.bytes());
    let allowed = info.limits.binding_bytes;
    if bytes <= allowed { Ok(bytes) } else { Err(Refusal::Limit("bytes of scratch memory", bytes, allowed)) }
}

/// Shortest part worth its own workgroup.
fn shortest_part(schedule: &Schedule) -> u64 {
    match schedule {
        Schedule::Reduction(columns) if columns.is_columns() => u64::from(columns.invocations) * 16,
        Schedule::Reduction(_) => 2048,
        Schedule::Pointwise(_) | Schedule::Tile(_) | Schedule::Gemv(_) => 256,
        Schedule::Attention(_) | Schedule::WeightedSum(_) => 128,
    }
}

/// Splits the depth to occupy the machine; no part is shorter than [`shortest_part`] if the depth suffices for two.
pub(crate) fn split(schedule: &Schedule, sizes: Contraction, machine: &Machine) -> Split {
    let [rows, columns, step] = schedule.extents().map(|extent| extent.max(1));
    let tiles = sizes.batch.saturating_mul(sizes.rows.div_ceil(rows)).saturating_mul(sizes.columns.div_ceil(columns));
    if let Schedule::Tile(tile) = schedule
        && tile.is_stream_k()
    {
        return streams(tiles, sizes.depth, step, machine.units * resident(tile));
    }
    if !schedule.is_split() || sizes.depth <= step {
        return Split::even(1, sizes.depth.next_multiple_of(step).max(step));
    }
    let wanted = (2 * machine.units).div_ceil(tiles.max(1));
    parted(schedule, sizes.depth, wanted.min(sizes.depth / shortest_part(schedule).max(1)))
}

/// Resident invocations of large tiles per unit, limited by registers.
const LARGE_TILES: u32 = 256;

fn resident(tile: &Tile) -> u64 {
    u64::from((LARGE_TILES / tile.invocations().max(1)).max(1))
}

/// Stream-K: rounds of whole tiles; the last round and the remainder share their depths evenly.
fn streams(tiles: u64, depth: u64, step: u64, at_a_time: u64) -> Split {
    let whole = match tiles % at_a_time {
        0 => tiles,
        _ => (tiles / at_a_time).saturating_sub(1) * at_a_time,
    };
    let (shared, steps) = (tiles - whole, depth.div_ceil(step).max(1));
    let share = shared.saturating_mul(steps).div_ceil(at_a_time).max(SHORTEST_SHARE.div_ceil(step)).max(1);
    // A tile's first and last steps may lie anywhere in a share.
    let parts = (steps + share - 2) / share + 1;
    Split { parts, depth: share.saturating_mul(step), tiles: [whole, shared] }
}

/// Shortest depth worth its own workgroup.
const SHORTEST_SHARE: u64 = 128;

#[cfg(test)]
mod tests {
    use fuse_artifact::schedule::{Attention, Decode, K, Reduction, ReductionOrder, RowLoads};

    use super::*;
    use crate::context::info::{AdapterKind, tests::fitted_to};

    #[test]
    fn parts_cover_the_depth_in_whole_steps() {
        let machine = Machine::of(&fitted_to(AdapterKind::Discrete));
        let rows = Reduction {
            lanes: 4,
            split: true,
            ..Reduction::new(ReductionOrder::rows(RowLoads::Streamed), [1, 64], [1, 1])
        };
        let schedules = [
            Schedule::Tile(Tile { k: K::Split, ..Tile::new(32, 32, 32, [4, 4]) }),
            Schedule::Reduction(rows),
            Schedule::Reduction(Reduction {
                order: ReductionOrder::Columns,
                rows: 64,
                invocations: 4,
                lanes: 1,
                ..rows
            }),
            Schedule::Attention(Attention::Decode(Decode { queries: 4, depth: 64, columns: 64, split: true })),
        ];
        for schedule in &schedules {
            let [_, _, step] = schedule.extents();
            for depth in [0, 1, 32, 33, 64, 257, 1000, 4096, 65537, 10_000_000] {
                for rows in [1, 5, 1000] {
                    let split = split(schedule, Contraction { batch: 1, rows, columns: 1, depth }, &machine);
                    assert_eq!(split.depth % step, 0);
                    assert!(split.parts >= 1 && split.parts * split.depth >= depth, "{depth}: {split:?}");
                    assert!(split.parts == 1 || (split.parts - 1) * split.depth < depth, "{depth}: {split:?}");
                    assert!(split.parts <= 264, "{depth}: {split:?}");
                    assert!(split.parts > 1 || depth <= 2 * step || !schedule.is_split(), "{depth}: {split:?}");
                }
            }
        }
    }

    #[test]
    fn sizes_that_no_number_holds_are_refused_not_wrapped() {
        let machine = Machine::of(&fitted_to(AdapterKind::Discrete));
        let all = u32::MAX.into();
        let sizes = Contraction { batch: all, rows: all, columns: all, depth: all };
        for k in [K::Split, K::Stream] {
            let split = split(&Schedule::Tile(Tile { k, ..Tile::new(32, 32, 32, [4, 4]) }), sizes, &machine);
            assert!(check_walk(split.walked(sizes.depth, 32)).is_err(), "{split:?}");
        }
        assert!(check_walk(u64::from(u32::MAX) - OVERSHOOT).is_ok());
        assert!(check_walk(Split::even(3, 1 << 31).walked(1 << 31, 32)).is_err());
    }

    #[test]
    fn one_long_row_occupies_the_machine() {
        let machine = Machine::of(&fitted_to(AdapterKind::Discrete));
        let schedule = Schedule::Reduction(Reduction {
            lanes: 4,
            split: true,
            ..Reduction::new(ReductionOrder::rows(RowLoads::Streamed), [1, 256], [1, 1])
        });
        let of = |rows, depth| split(&schedule, Contraction { batch: 1, rows, columns: 1, depth }, &machine).parts;
        assert!((200..=256).contains(&of(1, 10_000_000)));
        assert_eq!(of(100, 1 << 20), 3);
        assert_eq!(of(1, 1025), 2);
    }

    #[test]
    fn streams_cover_all_steps_and_cut_no_tile_more_often_than_they_say() {
        for (tiles, steps, at_a_time) in [(1, 64, 4), (6, 33, 4), (9, 10, 4), (32, 64, 132), (288, 192, 132), (7, 1, 4)]
        {
            let split = streams(tiles, steps * 16, 16, at_a_time);
            let ([whole, shared], share) = (split.tiles, split.depth / 16);
            assert_eq!(whole + shared, tiles);
            assert!(whole % at_a_time == 0 && (1..2 * at_a_time).contains(&shared), "{tiles}: {split:?}");
            let shares = split.shares(steps * 16);
            assert!(shares * share >= shared * steps && (shares - 1) * share < shared * steps, "{split:?}");
            assert!(shares <= at_a_time, "{tiles} of {steps}: {split:?}");
            let parts = (0..shared).map(|cut| (cut * steps + steps - 1) / share - cut * steps / share + 1).max();
            assert!(parts <= Some(split.parts), "{tiles} of {steps}: {parts:?}, {split:?}");
        }
        assert_eq!(streams(264, 512, 16, 132).tiles, [264, 0]);
    }
}
