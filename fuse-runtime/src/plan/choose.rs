//! Which variant of a kernel runs: the first legal one for pointwise kernels, the one with the least estimated time for
//! others; and in how many parts its depth is split.
//!
//! Not here: whether a variant may run (`require`), and how long it takes (`cost`).

use fuse_artifact::{DType, DomainKind, Kernel, Schedule, Variant};

use super::{
    cost::{Machine, cost},
    domain::{Contraction, Domain},
    require::{Refusal, legal},
};
use crate::DeviceInfo;

/// A variant that may run, with the way its depth is split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) variant: usize,
    pub(crate) split: Split,
    /// Estimated time in multiply-adds of one compute unit.
    pub(crate) cost: f64,
}

/// How several workgroups share the depth of a contraction, the keys of an attention, a row of a reduction.
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
    (0..kernel.variants.len()).map(|index| candidate(index, kernel, domain, info, &machine)).collect()
}

/// The best candidate: the first of a pointwise kernel, the cheapest of others, the first of those that cost the same.
pub(crate) fn best(kind: DomainKind, candidates: &[Result<Candidate, Refusal>]) -> Option<Candidate> {
    let mut legal = candidates.iter().flatten().copied();
    match kind {
        DomainKind::Pointwise => legal.next(),
        DomainKind::Reduction { .. } | DomainKind::Contraction { .. } | DomainKind::Attention => {
            legal.min_by(|a, b| a.cost.total_cmp(&b.cost))
        }
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
    let split = split(&variant.schedule, domain.contraction(), machine);
    scratch_bytes(variant, domain, split, info)?;
    Ok(Candidate { variant: index, split, cost: cost(kernel, variant, domain, split, machine) })
}

/// The estimated time of a variant for a domain, whether or not it may run.
pub(crate) fn estimated(kernel: &Kernel, variant: &Variant, domain: &Domain, machine: &Machine) -> f64 {
    cost(kernel, variant, domain, split(&variant.schedule, domain.contraction(), machine), machine)
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
        Schedule::Row { rows, columns, depth_lanes, .. } => [rows.into(), columns.into(), u64::from(depth_lanes) * 4],
        Schedule::Dot { outputs, depth_lanes, .. } => [1, outputs.into(), u64::from(depth_lanes) * 4],
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

/// The most parts of a row or of keys: each workgroup of a later pass reads what all of them found.
const MAX_PARTS: u64 = 256;

/// The shortest part worth a workgroup of its own, where the depth allows.
fn shortest_part(schedule: &Schedule) -> u64 {
    match schedule {
        Schedule::Rows { .. } => 2048,
        Schedule::Columns { layers, .. } => u64::from(*layers) * 16,
        Schedule::Elements { .. } | Schedule::Tiles { .. } | Schedule::Row { .. } | Schedule::Dot { .. } => 256,
        Schedule::Attention { .. } => 128,
    }
}

/// Enough parts to occupy the machine, none shorter than [`shortest_part`] if the depth is long enough for two.
pub(crate) fn split(schedule: &Schedule, sizes: Contraction, machine: &Machine) -> Split {
    let [rows, columns, step] = tile(schedule).map(|extent| extent.max(1));
    let whole = Split { parts: 1, depth: sizes.depth.next_multiple_of(step).max(step) };
    if !is_split(schedule) || sizes.depth <= step {
        return whole;
    }
    let tiles = (sizes.batch * sizes.rows.div_ceil(rows)).saturating_mul(sizes.columns.div_ceil(columns));
    let wanted = (2 * machine.units).div_ceil(tiles.max(1));
    let most = match schedule {
        Schedule::Tiles { .. } | Schedule::Row { .. } => u64::MAX,
        _ => MAX_PARTS,
    };
    let parts = wanted.min(sizes.depth / shortest_part(schedule).max(1)).clamp(2, most);
    let depth = sizes.depth.div_ceil(parts).next_multiple_of(step);
    Split { parts: sizes.depth.div_ceil(depth), depth }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AdapterKind;

    #[test]
    fn parts_cover_the_depth_in_whole_steps() {
        let machine = Machine::of(AdapterKind::Discrete);
        let axes = [1, 1];
        let schedules = [
            Schedule::Tiles {
                rows: 32,
                columns: 32,
                depth: 32,
                per_invocation: [4, 4],
                lanes: 4,
                split: true,
                layers: 1,
                stacked: false,
                matrices: 0,
            },
            Schedule::Rows { rows: 1, invocations: 64, lanes: 4, held: 0, axes, split: true },
            Schedule::Columns { columns: 64, layers: 4, lanes: 1, axes, split: true },
            Schedule::Attention { rows: 4, keys: 32, head: 64, split: true, matrices: 0 },
        ];
        for schedule in &schedules {
            let [_, _, step] = tile(schedule);
            for depth in [0, 1, 32, 33, 64, 257, 1000, 4096, 65537, 10_000_000] {
                for rows in [1, 5, 1000] {
                    let split = split(schedule, Contraction { batch: 1, rows, columns: 1, depth }, &machine);
                    assert_eq!(split.depth % step, 0);
                    assert!(split.parts >= 1 && split.parts * split.depth >= depth, "{depth}: {split:?}");
                    assert!(split.parts == 1 || (split.parts - 1) * split.depth < depth, "{depth}: {split:?}");
                    assert!(split.parts <= 264, "{depth}: {split:?}");
                    assert!(split.parts > 1 || depth <= 2 * step || !is_split(schedule), "{depth}: {split:?}");
                }
            }
        }
    }

    #[test]
    fn one_long_row_occupies_the_machine() {
        let machine = Machine::of(AdapterKind::Discrete);
        let schedule = Schedule::Rows { rows: 1, invocations: 256, lanes: 4, held: 0, axes: [1, 1], split: true };
        let of = |rows, depth| split(&schedule, Contraction { batch: 1, rows, columns: 1, depth }, &machine).parts;
        assert!((200..=256).contains(&of(1, 10_000_000)));
        assert_eq!(of(100, 1 << 20), 3);
        assert_eq!(of(1, 1025), 2);
    }
}
