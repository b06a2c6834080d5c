//! Estimated times of an attention's variants: products or traffic, whichever takes longer. Only the effect of causal
//! masks is fitted.

use fuse_artifact::{COOP_MATRIX_SUBGROUP, Schedule, Space, Variant, Work, schedule::Attention};

use super::{Machine, REREAD_PART, dispatches, distinct_bytes, interpolated, stored_bytes};
use crate::plan::{domain::Domain, split::Split};

/// Multiply-adds per workgroup memory read from which arithmetic is the limit.
const FULL_INTENSITY: f64 = 4.2;

/// Part of a unit's peak for at most one score per invocation.
const LEAST_INTENSITY: f64 = 0.1;

/// Queries of a subgroup in cooperative matrices, with the part of a unit's scalar peak. Fitted to 32 heads of 1024
/// queries, depths of 64 and 128.
const REACHED_BY_MATRICES: [(f64, f64); 2] = [(16.0, 2.8), (32.0, 4.05)];

pub(super) fn reached_by_matrices(rows: f64) -> f64 {
    interpolated(&REACHED_BY_MATRICES, rows)
}

/// Speed without workgroup memory, relative to such products; a prior.
const UNSTAGED_PART: f64 = 0.5;

/// Multiply-adds per score besides its products: mask, exponential, maximum.
const SCORE_WORK: f64 = 16.0;

/// Part of lanes beyond the depth that costs time.
const IDLE_HEAD: f64 = 0.25;

const SINGLE_LOADS: f64 = 0.85;

/// Bytes that an invocation requests before it waits.
const IN_FLIGHT: f64 = 64.0;

/// Rounds of workgroups, or memory traffic, plus dispatches.
pub(crate) fn cost(work: Work, variant: &Variant, domain: &Domain, split: Split, machine: &Machine) -> f64 {
    let sizes = domain.contraction();
    let depth = domain.extents.last().copied().unwrap_or(0);
    let Schedule::Attention(schedule) = variant.schedule else { return f64::INFINITY };
    let (rows, keys) = (u64::from(schedule.queries().max(1)), u64::from(schedule.keys().max(1)));
    let head = f64::from(schedule.head());
    let units = machine.units as f64;
    let row_tiles = (sizes.batch as f64) * sizes.rows.div_ceil(rows) as f64;
    let workgroups = row_tiles * split.parts as f64;
    let rounds = (workgroups / units).ceil();
    let threads = variant.passes.first().map_or(1.0, |pass| f64::from(pass.workgroup_size.max(1)));

    let width = |size: u64| size as f64 + IDLE_HEAD * (head - size as f64).max(0.0);
    // A workgroup's first query sees the whole window, each later one another key.
    let seen_keys = work.window.map_or(sizes.depth, |window| sizes.depth.min(u64::from(window) + rows - 1));
    let walked = split.depth.min(seen_keys).next_multiple_of(keys) as f64;
    let per_score = width(depth) + width(sizes.columns) + SCORE_WORK;
    let intensity = match schedule {
        Attention::CoopMatrix(_) => reached_by_matrices(rows as f64 * f64::from(COOP_MATRIX_SUBGROUP) / threads),
        Attention::Unstaged(_) => machine.unstaged * UNSTAGED_PART,
        Attention::Tile(_) | Attention::Decode(_) => {
            // Each invocation has a square of scores: a value read serves half a side.
            let side = ((rows * keys) as f64 / threads).sqrt();
            (side / 2.0 / FULL_INTENSITY).clamp(LEAST_INTENSITY, 1.0)
        }
    };
    let intensity = if variant.schedule.loads_vectors() { intensity } else { intensity * SINGLE_LOADS };
    let busy = (rounds * threads / machine.busy_invocations).min(1.0).sqrt();
    let again = rows as f64 * depth as f64 * f64::from(work.lhs)
        + walked * (depth as f64 * f64::from(work.rhs) + sizes.columns as f64 * f64::from(work.value))
        + walked * rows as f64 * f64::from(work.score);
    let seen = if work.causal { seen_part(variant, workgroups, machine) } else { 1.0 };
    let arithmetic = rounds * (rows as f64 * walked * per_score / intensity + again) / busy * seen;

    let of_space = |spaces: &[Space]| -> f64 {
        let accesses = domain.accesses.iter().filter(|access| spaces.contains(&access.space));
        accesses.map(|access| distinct_bytes(variant, domain, access)).sum()
    };
    let keys_and_values = of_space(&[Space::Rhs, Space::Value]);
    let read = 4.0 * workgroups * split.depth.min(sizes.depth) as f64 * (depth + sizes.columns) as f64;
    let outputs = sizes.batch as f64 * sizes.rows as f64;
    let words =
        outputs * (sizes.columns as f64 * f64::from(variant.scratch.per_output) + f64::from(variant.scratch.per_row));
    let bytes = of_space(&[Space::Lhs, Space::Score])
        + keys_and_values
        + (read - keys_and_values).max(0.0) * REREAD_PART
        + stored_bytes(variant, domain)
        + 2.0 * 4.0 * words * split.parts as f64;
    let memory = machine.memory(bytes, workgroups, IN_FLIGHT * threads);
    arithmetic.max(memory) + dispatches(variant.passes.len()) * machine.launch_work
}

/// Relative time under a causal mask: workgroups with many keys end last and alone, less so if more run in sequence on
/// a unit. Fitted to 32 heads of 1024 queries, whole and with split keys.
fn seen_part(variant: &Variant, workgroups: f64, machine: &Machine) -> f64 {
    let at_a_time = variant.passes.first().map_or(1.0, |pass| machine.resident_workgroups(pass));
    let waves = workgroups / (machine.units as f64 * at_a_time);
    (0.5 + 0.2 / waves.max(1e-3)).min(1.0)
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{
        Binding, DType, DomainKind, Features, Grid, Kernel, Pass, Require, Scratch, Slot,
        schedule::{AttentionTile, Unstaged},
    };

    use super::*;
    use crate::{
        context::info::{AdapterKind, tests::fitted_to},
        plan::{
            candidates::{best, candidates},
            domain::Strides,
        },
    };

    fn variant(name: &'static str, [rows, keys, head]: [u32; 3], workgroup_size: u32, split: bool) -> Variant {
        let binding = |slot, writable| Binding { slot, dtype: DType::F32, writable };
        let pass = Pass {
            wgsl: "".into(),
            bindings: vec![binding(Slot::Param(0), false), binding(Slot::Result(0), true)].into(),
            uniforms: vec![].into(),
            grid: Grid::Tiles { rows, columns: head },
            workgroup_size,
            workgroup_bytes: 1024,
            pins_loads: false,
        };
        Variant {
            name: name.into(),
            requires: vec![Require::Aligned { access: 0, axis: 2, of: 4 }].into(),
            features: Features::default(),
            schedule: Schedule::Attention(Attention::Tile(AttentionTile {
                queries: rows,
                keys,
                rows: 4,
                across: 8,
                depth_step: 16,
                value_step: 8,
                depth: head,
                columns: head,
                lanes: 4,
                resident: true,
                split,
            })),
            scratch: if split { Scratch { per_output: 1, per_row: 2 } } else { Scratch::default() },
            passes: vec![pass; if split { 2 } else { 1 }].into(),
        }
    }

    fn choice(batch: u64, sizes: [u64; 3]) -> String {
        choice_on(AdapterKind::Discrete, batch, sizes)
    }

    fn domain(batch: u64, [queries, keys, head]: [u64; 3]) -> Domain {
        let access =
            |space, strides: [u64; 3]| Strides { slot: Slot::Param(0), space, offset: 0, strides: strides.to_vec() };
        let accesses = vec![
            access(Space::Lhs, [queries * head, head, 1]),
            access(Space::Rhs, [keys * head, 1, head]),
            access(Space::Value, [keys * head, head, 1]),
        ];
        Domain { kind: DomainKind::Attention, extents: vec![batch, queries, head, keys, head], accesses, kept: 5 }
    }

    fn choice_on(adapter: AdapterKind, batch: u64, [queries, keys, head]: [u64; 3]) -> String {
        let kind = DomainKind::Attention;
        let domain = domain(batch, [queries, keys, head]);
        let mut unstaged = variant("unstaged", [64, 4, 128], 16, false);
        unstaged.schedule = Schedule::Attention(Attention::Unstaged(Unstaged { queries: 4, depth: 128, columns: 128 }));
        let mut general = variant("general", [32, 32, 256], 64, false);
        general.requires = vec![].into();
        if let Schedule::Attention(Attention::Tile(tile)) = &mut general.schedule {
            tile.lanes = 1;
        }
        let variants = vec![
            variant("prefill 64", [64, 64, 64], 128, false),
            variant("prefill 128", [64, 32, 128], 128, false),
            unstaged,
            variant("decode split", [1, 64, 128], 128, true),
            variant("decode", [1, 64, 128], 128, false),
            general,
            variant("small", [32, 32, 256], 64, false),
        ];
        let kernel = Kernel {
            name: "attention".into(),
            domain: fuse_artifact::Domain { kind, extents: vec![].into(), fixed: false },
            accesses: vec![].into(),
            variants: variants.into(),
            work: fuse_artifact::Work::default(),
        };
        let chosen = best(kind, &candidates(&kernel, &domain, &fitted_to(adapter))).unwrap();
        kernel.variants[chosen.variant].name.to_string()
    }

    #[test]
    fn processors_keep_nothing_in_workgroup_memory() {
        for sizes in [[16, 16, 32], [128, 128, 64], [1024, 1024, 128]] {
            assert_eq!(choice_on(AdapterKind::Software, 12, sizes), "unstaged", "{sizes:?}");
            assert_ne!(choice_on(AdapterKind::Integrated, 12, sizes), "unstaged", "{sizes:?}");
        }
    }

    #[test]
    fn a_window_reaches_as_far_as_its_workgroup_has_queries() {
        let machine = Machine::of(&fitted_to(AdapterKind::Discrete));
        let domain = domain(24, [2048, 2048, 64]);
        let time = |rows, window| {
            let variant = variant("prefill", [rows, 32, 64], rows, false);
            let work = Work { window, ..Work::default() };
            cost(work, &variant, &domain, Split::even(1, 2048), &machine)
        };
        assert!(time(128, Some(256)) < time(128, None) / 4.0);
        let wide = |window| time(128, window) / time(32, window);
        assert!(wide(Some(256)) > 1.2 * wide(None), "{} and {}", wide(Some(256)), wide(None));
        assert_eq!(time(128, Some(1 << 20)), time(128, None), "no more keys than there are");
    }

    #[test]
    fn many_queries_share_keys_and_single_ones_share_the_machine() {
        assert_eq!(choice(32, [1024, 1024, 64]), "prefill 64");
        assert_eq!(choice(32, [1024, 1024, 128]), "prefill 128");
        assert_eq!(choice(8, [1, 32768, 128]), "decode split");
        assert_eq!(choice(1024, [1, 1024, 128]), "decode");
        assert_eq!(choice(32, [512, 512, 256]), "small");
        assert_eq!(choice(32, [512, 512, 255]), "general", "rows of 255 values are not aligned");
    }
}
