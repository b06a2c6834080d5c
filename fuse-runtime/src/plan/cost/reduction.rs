//! Estimated times of a reduction's variants.
//!
//! Counts the differences between variants: reads, coalescing, bytes in flight, idle lanes, and exchanges among
//! invocations. A prior, not fitted to measurements.

use fuse_artifact::{Kernel, Schedule, Variant, schedule::Reduction};

use super::{Machine, REREAD_PART, dispatches, distinct_bytes, element_bytes, stored_slots};
use crate::plan::{
    domain::{Domain, Strides},
    split::Split,
};

/// Multiply-adds per element besides arithmetic, for vector loads: addresses, masks, conversions.
const VECTOR_WORK: f64 = 6.0;

const SINGLE_WORK: f64 = 12.0;

/// Factor for coordinates that span several axes.
const GENERAL_INDEX: f64 = 1.5;

/// Concurrent loads of an invocation.
const LOADS_IN_FLIGHT: f64 = 4.0;

const STREAMED_IN_FLIGHT: f64 = 2.0;

const SECTOR: f64 = 32.0;

/// Sequential reads of a sector in one invocation, relative to side by side.
const KEPT_SECTOR: f64 = 1.5;

/// Part of the shorter of arithmetic and traffic that does not overlap.
const NOT_HIDDEN: f64 = 0.2;

struct Shape {
    rows: f64,
    sharing: f64,
    /// Neighbours in a load, along or across rows.
    lanes: f64,
    step: f64,
    /// Loads per invocation held in registers; none when streaming.
    held: Option<f64>,
    /// Coordinates span several axes.
    general: bool,
    /// Neighbouring invocations read neighbours of a row, not neighbouring rows.
    along_rows: bool,
}

impl Shape {
    fn of(reduction: &Reduction) -> Self {
        let [_, _, step] = Schedule::Reduction(*reduction).extents();
        Self {
            rows: reduction.rows.max(1).into(),
            sharing: reduction.invocations.max(1).into(),
            lanes: reduction.lanes.max(1).into(),
            step: step.max(1) as f64,
            held: reduction.held().map(f64::from),
            general: reduction.axes.iter().any(|axes| *axes > 1),
            along_rows: !reduction.is_columns(),
        }
    }
}

/// The longer of arithmetic and memory traffic, plus exchanges within rows, plus dispatches.
pub(crate) fn cost(kernel: &Kernel, variant: &Variant, domain: &Domain, split: Split, machine: &Machine) -> f64 {
    let Schedule::Reduction(reduction) = &variant.schedule else { return f64::INFINITY };
    let shape = Shape::of(reduction);
    let (rows, units) = (domain.count() as f64, machine.units as f64);
    let length = split.depth.min(domain.row_length()) as f64;
    let workgroups = (rows / shape.rows).ceil() * split.parts as f64;
    let threads = variant.passes.first().map_or(1.0, |pass| f64::from(pass.workgroup_size.max(1)));
    let stages = stages(kernel);
    let traffic = Traffic::of(variant, domain, &shape);
    // Held rows are read once; others once per stage, and once more for results of the row's length.
    let walks = if shape.held.is_some() && split.parts == 1 { 1.0 } else { stages + f64::from(traffic.whole_results) };

    let loads = shape.held.unwrap_or_else(|| (length / shape.step).ceil().max(1.0));
    let scatter = reduction.scatters().map(|axis| Scatter::of(&shape, axis, domain, length));
    let lanes = scatter.as_ref().map_or(shape.rows * shape.step * loads * walks, |scatter| scatter.elements);
    let work = if shape.lanes > 1.0 { VECTOR_WORK } else { SINGLE_WORK };
    let work = work * if shape.general { GENERAL_INDEX } else { 1.0 } + f64::from(kernel.work.point);
    let rounds = (workgroups / units).ceil();
    let busy = (rounds * threads / machine.busy_invocations).min(1.0).sqrt();
    let arithmetic = rounds * lanes * work / busy;

    let resident = workgroups.min(units * machine.resident(threads));
    let working_set = if split.parts > 1 { traffic.rows } else { traffic.rows / rows.max(1.0) * shape.rows * resident };
    let again = if working_set > machine.cache_bytes { 1.0 } else { REREAD_PART };
    let bytes = traffic.rows * (1.0 + (walks - 1.0) * again) + traffic.others;
    let ahead = if shape.held.is_some() { LOADS_IN_FLIGHT } else { STREAMED_IN_FLIGHT };
    let asked = shape.rows.min(rows) * (shape.step * loads.min(ahead)).min(length) * traffic.element;
    let memory = machine.memory(bytes, workgroups, asked.max(1.0));

    let turns = (workgroups / (units * machine.resident(threads))).ceil();
    let barriers = scatter.map_or(stages * exchanges(&shape, variant), |scatter| scatter.barriers);
    let waiting = turns * barriers * machine.barrier_work;
    arithmetic.max(memory)
        + NOT_HIDDEN * arithmetic.min(memory)
        + waiting
        + dispatches(variant.passes.len()) * machine.launch_work
}

/// Work of a scatter-add's workgroup, for equally frequent coordinates.
struct Scatter {
    elements: f64,
    barriers: f64,
}

impl Scatter {
    fn of(shape: &Shape, axis: u8, domain: &Domain, length: f64) -> Self {
        let from = usize::from(axis).min(domain.kept.saturating_sub(1));
        let kept = |from: usize| domain.extents[from..domain.kept].iter().map(|&extent| extent as f64).product::<f64>();
        let (all, inner) = (kept(from), kept(domain.kept.min(from + 1)));
        // A range of kept indices begins and ends within a coordinate.
        let share = ((shape.rows + inner) / all.max(1.0)).min(1.0);
        Self {
            elements: length * (1.0 + share * shape.rows),
            barriers: BARRIERS_OF_CHUNK * (length / f64::from(Reduction::CHUNK)).ceil(),
        }
    }
}

const BARRIERS_OF_CHUNK: f64 = 3.0;

/// Barriers until all invocations of a row have its result.
fn exchanges(shape: &Shape, variant: &Variant) -> f64 {
    let subgroup = f64::from(variant.features.subgroups);
    match shape.sharing {
        1.0 => 0.0,
        sharing if sharing <= subgroup => 0.5,
        _ if subgroup > 0.0 => 2.0,
        sharing => sharing.log2().ceil() + 1.0,
    }
}

/// Dependent reductions: split variants have one pass more.
fn stages(kernel: &Kernel) -> f64 {
    let passes = kernel.variants.iter().map(|variant| variant.passes.len()).max().unwrap_or(1);
    passes.saturating_sub(1).max(1) as f64
}

struct Traffic {
    /// Reads along rows; strided values cost their whole sector.
    rows: f64,
    others: f64,
    element: f64,
    /// Results have the row's length.
    whole_results: bool,
}

impl Traffic {
    fn of(variant: &Variant, domain: &Domain, shape: &Shape) -> Self {
        let mut traffic = Self { rows: 0.0, others: 0.0, element: 0.0, whole_results: false };
        let stored: Vec<_> = stored_slots(variant).map(|(slot, _)| slot).collect();
        for access in &domain.accesses {
            let along = access.strides[domain.kept..].iter().any(|stride| *stride != 0);
            let result = stored.contains(&access.slot);
            let element = element_bytes(variant, access.slot);
            let bytes = distinct_bytes(variant, domain, access) * scattered(access, domain, shape, element);
            if along && !result {
                traffic.rows += bytes;
                traffic.element += element;
            } else {
                traffic.others += bytes;
                traffic.whole_results |= along;
            }
        }
        traffic.element = traffic.element.max(1.0);
        traffic
    }
}

/// Bytes moved per byte of an element: neighbouring invocations should read neighbours.
fn scattered(access: &Strides, domain: &Domain, shape: &Shape, element: f64) -> f64 {
    let (kept, reduced) = access.strides.split_at(domain.kept);
    let factor = |stride: Option<&u64>| match stride {
        Some(&stride) if stride > 1 => (stride as f64).min(SECTOR / element).max(1.0),
        _ => 1.0,
    };
    let across = factor(kept.last());
    if !shape.along_rows || domain.row_length() <= 1 {
        across
    } else if shape.sharing > 1.0 {
        factor(reduced.last())
    } else {
        // Each invocation has its row: rows are side by side, or a cache keeps the rest of a sector.
        across.min(factor(reduced.last()) * KEPT_SECTOR)
    }
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{
        Binding, DType, DomainKind, Grid, Pass, Require, Scratch, Slot, Space, Text, Variant,
        schedule::{ReductionOrder, RowLoads},
    };

    use super::*;
    use crate::{
        context::info::{
            AdapterKind, DeviceInfo,
            tests::{device_info, fitted_to},
        },
        plan::candidates::{best, candidates},
    };

    const VECTOR: u32 = 4;

    fn variant(name: impl Into<Text>, reduction: Reduction) -> Variant {
        let (shape, split) = (Shape::of(&reduction), reduction.split);
        let schedule = Schedule::Reduction(reduction);
        let binding = |slot, writable| Binding { slot, dtype: DType::F32, writable };
        let pass = Pass {
            wgsl: "".into(),
            bindings: vec![binding(Slot::Param(0), false), binding(Slot::Result(0), true)].into(),
            uniforms: vec![].into(),
            grid: Grid::Rows { rows: shape.rows as u32 },
            workgroup_size: reduction.workgroup(),
            workgroup_bytes: 0,
            pins_loads: false,
        };
        let axis = u8::from(shape.along_rows);
        let vectors = [
            Require::Stride { access: 0, axis, stride: 1 },
            Require::Aligned { access: 0, axis, of: VECTOR },
            Require::Multiple { axis, of: VECTOR },
        ];
        Variant {
            name: name.into(),
            requires: if shape.lanes > 1.0 { vectors.to_vec() } else { vec![] }.into(),
            features: schedule.features(),
            scratch: Scratch { per_output: 0, per_row: if split { 2 } else { 0 } },
            schedule,
            passes: vec![pass; if split { 3 } else { 1 }].into(),
        }
    }

    fn family() -> Vec<Variant> {
        let streamed = |lanes, axes, split| Reduction {
            lanes,
            split,
            ..Reduction::new(ReductionOrder::rows(RowLoads::Streamed), [1, 256], axes)
        };
        let rows = |rows, invocations, held, split| {
            let loads = if held > 0 { RowLoads::Held(held) } else { RowLoads::Streamed };
            let order = ReductionOrder::Rows { loads, subgroups: Some(32) };
            let twin = if split { " split" } else { "" };
            let name = format!("rows {rows}x{invocations}x{held}{twin}");
            variant(name, Reduction { order, rows, invocations, ..streamed(VECTOR, [1, 1], split) })
        };
        let columns = |split| {
            let order = ReductionOrder::Columns;
            let reduction = Reduction { order, rows: 128, invocations: 8, ..streamed(VECTOR, [1, 1], split) };
            variant(if split { "columns split" } else { "columns" }, reduction)
        };
        let general = streamed(1, [6, 6], false);
        let own_rows = Reduction { rows: 256, invocations: 1, ..general };
        vec![
            rows(32, 8, 1, false),
            rows(8, 32, 1, false),
            rows(8, 32, 4, false),
            rows(1, 256, 1, false),
            rows(1, 256, 4, false),
            rows(1, 1024, 4, false),
            rows(1, 256, 0, false),
            rows(1, 256, 0, true),
            columns(false),
            columns(true),
            variant("general", general),
            variant("own rows", own_rows),
        ]
    }

    fn choice(rows: u64, length: u64, over_columns: bool, info: &DeviceInfo) -> String {
        let access = |slot| Strides {
            slot,
            space: Space::Point,
            offset: 0,
            strides: if over_columns { vec![1, rows] } else { vec![length, 1] },
        };
        let kind = DomainKind::Reduction { axes: 1 };
        let domain = Domain {
            kind,
            extents: vec![rows, length],
            accesses: vec![access(Slot::Param(0)), access(Slot::Result(0))],
            kept: 1,
        };
        let kernel = Kernel {
            name: "softmax".into(),
            domain: fuse_artifact::Domain { kind, extents: vec![].into(), fixed: false },
            accesses: vec![].into(),
            variants: family().into(),
            work: fuse_artifact::Work::default(),
        };
        let chosen = best(kind, &candidates(&kernel, &domain, info)).unwrap();
        kernel.variants[chosen.variant].name.to_string()
    }

    #[test]
    fn rows_are_held_by_as_many_invocations_as_they_fill() {
        let info = fitted_to(AdapterKind::Discrete);
        let of = |rows, length| choice(rows, length, false, &info);
        assert_eq!(of(65536, 32), "rows 32x8x1");
        assert_eq!(of(65536, 128), "rows 8x32x1");
        assert_eq!(of(65536, 512), "rows 8x32x4");
        assert_eq!(of(4096, 1024), "rows 1x256x1");
        assert_eq!(of(4096, 4096), "rows 1x256x4");
        assert_eq!(of(4096, 16384), "rows 1x1024x4");
        assert_eq!(of(4096, 65536), "rows 1x256x0");
        assert_eq!(of(4096, 1023), "general", "rows of this length have no aligned vectors");
        assert_eq!(of(1 << 20, 3), "own rows");
    }

    #[test]
    fn few_long_rows_are_shared_by_workgroups() {
        let info = fitted_to(AdapterKind::Discrete);
        assert_eq!(choice(1, 10_000_000, false, &info), "rows 1x256x0 split");
        assert_eq!(choice(8, 1 << 20, false, &info), "rows 1x256x0 split");
        assert_eq!(choice(8, 4096, false, &info), "rows 1x256x4");
        assert_eq!(choice(1, 1024, false, &info), "rows 1x256x1");
    }

    #[test]
    fn strided_rows_are_walked_side_by_side() {
        let info = fitted_to(AdapterKind::Discrete);
        assert_eq!(choice(65536, 512, true, &info), "columns");
        assert_eq!(choice(128, 65536, true, &info), "columns split");
        assert_eq!(choice(65535, 512, true, &info), "own rows", "no whole vectors of columns");
    }

    fn of_embedding(rows: u64, width: u64, places: u64) -> String {
        let vectors = |rows| Reduction { lanes: VECTOR, ..Reduction::new(ReductionOrder::Columns, [rows, 1], [2, 1]) };
        let split = Reduction { split: true, invocations: 16, ..vectors(64) };
        let scatter = Reduction { order: ReductionOrder::Scatter { axis: 0 }, ..vectors(1024) };
        let general = Reduction { lanes: 1, ..vectors(256) };
        let schedules = [scatter, split, vectors(1024), general];
        let variant = |schedule| Variant {
            requires: vec![].into(),
            ..variant(Schedule::Reduction(schedule).to_string(), schedule)
        };
        let variants: Vec<Variant> = schedules.map(variant).into();
        let access = |slot, strides| Strides { slot, space: Space::Point, offset: 0, strides };
        let kind = DomainKind::Reduction { axes: 1 };
        let accesses = vec![access(Slot::Param(0), vec![0, 1, width]), access(Slot::Result(0), vec![width, 1, 0])];
        let domain = Domain { kind, extents: vec![rows, width, places], accesses, kept: 2 };
        let kernel = Kernel {
            name: "embedding".into(),
            domain: fuse_artifact::Domain { kind, extents: vec![].into(), fixed: true },
            accesses: vec![].into(),
            variants: variants.into(),
            work: fuse_artifact::Work { point: 5, ..fuse_artifact::Work::default() },
        };
        let chosen = best(kind, &candidates(&kernel, &domain, &fitted_to(AdapterKind::Discrete))).unwrap();
        kernel.variants[chosen.variant].name.to_string()
    }

    #[test]
    fn what_few_elements_count_for_is_looked_up() {
        assert_eq!(of_embedding(30_522, 384, 4096), "scatter 1024");
        assert_eq!(of_embedding(512, 384, 4096), "scatter 1024");
        assert_eq!(of_embedding(2, 384, 4096), "columns 64x16 split", "half of all elements count for each");
        let longer = u64::from(Reduction::LONGEST_SCATTERED) + 1;
        assert_ne!(of_embedding(30_522, 384, longer), "scatter 1024");
    }

    #[test]
    fn subgroups_that_are_too_small_are_refused() {
        assert_eq!(choice(4096, 1024, false, &device_info(AdapterKind::Discrete, 16)), "general");
    }
}
