//! The estimated time of a weighted sum's variant: the multiply-adds of its products and sums, or what it reads, whichever takes
//! longer. A prior: nothing is fitted to measured times.

use fuse_artifact::{Schedule, Space, Variant, Work};

use super::{Machine, REREAD_PART, dispatches, distinct_bytes, stored_bytes, stored_slots};
use crate::plan::domain::Domain;

/// Multiply-adds per value read from workgroup memory at which arithmetic, not that memory, is the limit.
const FULL_INTENSITY: f64 = 4.2;

/// Multiply-adds that a weight costs besides products and sums, and what its program computes.
const WEIGHT_WORK: f64 = 8.0;

/// Of the columns that a text has beyond those that there are, the part that costs time.
const IDLE_COLUMNS: f64 = 0.25;

/// The part of a text's speed that is left where each element is a load of its own.
const SINGLE_LOADS: f64 = 0.85;

/// Bytes that an invocation asks for before it waits.
const IN_FLIGHT: f64 = 32.0;

/// The part of the keys that a causal mask leaves.
const CAUSAL_PART: f64 = 0.6;

/// Rounds of workgroups over the units, or their memory traffic, plus dispatches.
pub(crate) fn cost(work: Work, variant: &Variant, domain: &Domain, machine: &Machine) -> f64 {
    let sizes = domain.contraction();
    let Schedule::WeightedSum(tile) = variant.schedule else { return f64::INFINITY };
    let (rows, keys) = (f64::from(tile.rows), u64::from(tile.keys()));
    let threads = f64::from(tile.invocations().max(1));
    let workgroups = sizes.batch as f64 * sizes.rows.div_ceil(tile.rows.max(1).into()) as f64;
    let rounds = (workgroups / machine.units as f64).ceil();
    let seen_keys = work.window.map_or(sizes.depth, |window| sizes.depth.min(u64::from(window) + u64::from(tile.rows)));
    let walked = seen_keys.next_multiple_of(keys.max(1)) as f64;
    let sums = stored_slots(variant).count().max(1) as f64;
    let columns = sizes.columns as f64 + IDLE_COLUMNS * (f64::from(tile.columns) - sizes.columns as f64).max(0.0);
    let depths = domain.product_depths() as f64;
    // Of a rectangle of sums, each value that is read serves the other side.
    let side = |across: u32| {
        let [down, across] = [tile.invocation_rows, across].map(f64::from);
        (down * across / (down + across) / FULL_INTENSITY).min(1.0)
    };
    let per_weight = depths / side(keys as u32 / tile.across.max(1))
        + sums * columns / side(tile.outputs())
        + WEIGHT_WORK
        + f64::from(work.score);
    let per_weight = if tile.lanes > 1 { per_weight } else { per_weight / SINGLE_LOADS };
    let busy = (rounds * threads / machine.busy_invocations).min(1.0).sqrt();
    let again = rows * depths * f64::from(work.lhs)
        + depths * f64::from(work.rhs)
        + sizes.columns as f64 * f64::from(work.value);
    let seen = if work.causal { CAUSAL_PART } else { 1.0 };
    let arithmetic = rounds * walked * (rows * per_weight + again) / busy * seen;

    let spaces = [Space::Lhs, Space::SecondLhs, Space::Rhs, Space::SecondRhs, Space::Value, Space::Score];
    let operands = domain.accesses.iter().filter(|access| spaces.contains(&access.space));
    let once: f64 = operands.map(|access| distinct_bytes(variant, domain, access)).sum();
    let read = 4.0 * workgroups * walked * (depths + sums * sizes.columns as f64);
    let bytes = once + (read - once).max(0.0) * REREAD_PART + stored_bytes(variant, domain);
    let memory = machine.memory(bytes, workgroups, IN_FLIGHT * threads);
    arithmetic.max(memory) + dispatches(variant.passes.len()) * machine.launch_work
}
