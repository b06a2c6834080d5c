//! Estimated times of a weighted sum's variants: multiply-adds, which outweigh reads. A prior, not fitted.

use fuse_artifact::{Schedule, Variant, Work};

use super::{Machine, attention::reached_by_matrices, dispatches, stored_slots};
use crate::plan::domain::Domain;

/// Multiply-adds per workgroup memory read from which arithmetic is the limit.
const FULL_INTENSITY: f64 = 4.2;

/// Multiply-adds per weight besides products, sums and program.
const WEIGHT_WORK: f64 = 8.0;

/// Part of missing columns that costs time.
const IDLE_COLUMNS: f64 = 0.25;

const SINGLE_LOADS: f64 = 0.85;

/// Part of the keys under a causal mask.
const CAUSAL_PART: f64 = 0.6;

/// Rounds of workgroups, plus dispatches.
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
    // In a rectangle of accumulators, each value read serves the other side.
    let side = |across: u32| {
        if tile.coop_matrix {
            return reached_by_matrices(tile.subgroup_rows().into());
        }
        let [down, across] = [tile.invocation_rows, across].map(f64::from);
        (down * across / (down + across) / FULL_INTENSITY).min(1.0)
    };
    let per_weight = depths / side(keys as u32 / tile.across.max(1))
        + sums * columns / side(tile.outputs())
        + WEIGHT_WORK
        + f64::from(work.score);
    let per_weight = if tile.lanes > 1 { per_weight } else { per_weight / SINGLE_LOADS };
    let busy = (rounds * threads / machine.busy_invocations).min(1.0).sqrt();
    let seen = if work.causal { CAUSAL_PART } else { 1.0 };
    rounds * walked * rows * per_weight / busy * seen + dispatches(variant.passes.len()) * machine.launch_work
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{
        Binding, DType, DomainKind, Features, Grid, Pass, Scratch, Slot, Space, schedule::WeightedSum,
    };

    use super::*;
    use crate::{
        context::info::{AdapterKind, tests::fitted_to},
        plan::domain::Strides,
    };

    fn variant([rows, invocation_rows, across, columns, lanes]: [u32; 5]) -> Variant {
        let tile = WeightedSum {
            rows,
            invocation_rows,
            across,
            depth_step: 8,
            value_step: 8,
            columns,
            lanes,
            coop_matrix: false,
        };
        let binding = |slot, writable| Binding { slot, dtype: DType::F32, writable };
        let pass = Pass {
            wgsl: "".into(),
            bindings: vec![binding(Slot::Param(0), false), binding(Slot::Result(0), true)].into(),
            uniforms: vec![].into(),
            grid: Grid::Tiles { rows, columns },
            workgroup_size: tile.invocations(),
            workgroup_bytes: 1024,
            pins_loads: false,
        };
        Variant {
            name: tile.to_string().into(),
            requires: vec![].into(),
            features: Features::default(),
            schedule: Schedule::WeightedSum(tile),
            scratch: Scratch::default(),
            passes: vec![pass].into(),
        }
    }

    fn time(work: Work, variant: &Variant, batch: u64, [rows, keys]: [u64; 2]) -> f64 {
        let strides =
            |space, strides: [u64; 3]| Strides { slot: Slot::Param(0), space, offset: 0, strides: strides.to_vec() };
        let accesses = vec![strides(Space::Lhs, [rows * 64, 64, 1]), strides(Space::Rhs, [keys * 64, 1, 64])];
        let extents = vec![batch, rows, 64, keys, 64, 64];
        let domain = Domain { kind: DomainKind::WeightedSum, extents, accesses, kept: 6 };
        cost(work, variant, &domain, &Machine::of(&fitted_to(AdapterKind::Discrete)))
    }

    #[test]
    fn large_tiles_pay_where_they_fill_the_machine() {
        let (large, small) = (variant([64, 8, 16, 64, 4]), variant([32, 4, 8, 64, 4]));
        let work = Work::default();
        assert!(time(work, &large, 32, [1024, 1024]) < time(work, &small, 32, [1024, 1024]));
        assert!(time(work, &small, 1, [32, 1024]) < time(work, &large, 1, [32, 1024]));
        let scalar = variant([32, 4, 8, 64, 1]);
        assert!(time(work, &small, 32, [1024, 1024]) < time(work, &scalar, 32, [1024, 1024]));
    }

    #[test]
    fn what_a_mask_hides_takes_no_time() {
        let tile = variant([64, 8, 16, 64, 4]);
        let whole = time(Work::default(), &tile, 32, [4096, 4096]);
        assert!(time(Work { causal: true, ..Work::default() }, &tile, 32, [4096, 4096]) < 0.7 * whole);
        assert!(time(Work { window: Some(256), ..Work::default() }, &tile, 32, [4096, 4096]) < 0.2 * whole);
    }
}
