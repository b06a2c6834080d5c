//! Estimated times of variants: a small model of an adapter, the only place that knows about speed.
//!
//! Output: time in multiply-adds of one compute unit, comparable among variants and whole functions. The model is a
//! prior; comments say what its numbers were fitted to. Machine figures are data (`context::hardware`).
//!
//! Not here: legality (`require`), choice (`candidates`).

mod attention;
mod contraction;
mod reduction;
mod weighted_sum;

use fuse_artifact::{DomainKind, Kernel, Pass, Schedule, Slot, Space, Variant, Work, schedule::Pointwise};

use super::{
    domain::{Contraction, Domain, Strides},
    split::Split,
};
use crate::{
    context::{
        hardware::Hardware,
        info::{AdapterKind, DeviceInfo},
    },
    tune::order::sort_by,
};

pub(crate) struct Machine {
    pub(crate) units: u64,
    /// Invocations that keep one unit's arithmetic busy.
    busy_invocations: f64,
    /// Per unit.
    resident_invocations: f64,
    /// Per unit.
    workgroup_bytes: f64,
    /// Bytes that saturate one unit's share of the memory bandwidth.
    bytes_in_flight: f64,
    cache_bytes: f64,
    /// Multiply-adds of the whole machine per byte moved.
    work_per_byte: f64,
    /// Multiply-adds of one unit per microsecond.
    work_per_microsecond: f64,
    /// Multiply-adds of one unit during a dispatch's start.
    launch_work: f64,
    /// Multiply-adds of one unit during a barrier.
    barrier_work: f64,
    /// Part of a unit's peak without workgroup memory, relative to tiles that use it.
    unstaged: f64,
}

impl Machine {
    pub(crate) fn of(info: &DeviceInfo) -> Self {
        Self::new(hardware(info), info.kind)
    }

    fn new(hardware: Hardware, kind: AdapterKind) -> Self {
        let [units, work, bytes] = [hardware.units, hardware.multiply_adds, hardware.bytes].map(f64::from);
        // Processors wait for memory, and run invocations sequentially.
        let processor = kind == AdapterKind::Software;
        let of_gpu = |number: f64| if processor { 1.0 } else { number };
        Self {
            units: hardware.units.into(),
            busy_invocations: of_gpu(128.0),
            resident_invocations: of_gpu(hardware.invocations.into()),
            workgroup_bytes: of_gpu(hardware.workgroup_bytes.into()),
            bytes_in_flight: of_gpu(bytes / units * LATENCY),
            cache_bytes: hardware.cache_bytes.into(),
            work_per_byte: units * work / bytes,
            work_per_microsecond: work,
            launch_work: f64::from(hardware.launch) / 1e3 * work,
            barrier_work: if processor { 1e3 } else { 3e3 },
            unstaged: if processor { 3.0 } else { 0.4 },
        }
    }

    pub(crate) fn work_per_microsecond(&self) -> f64 {
        self.work_per_microsecond
    }

    fn resident(&self, threads: f64) -> f64 {
        (self.resident_invocations / threads).floor().max(1.0)
    }

    fn resident_workgroups(&self, pass: &Pass) -> f64 {
        let by_memory = (self.workgroup_bytes / f64::from(pass.workgroup_bytes.max(1))).floor().max(1.0);
        self.resident(f64::from(pass.workgroup_size.max(1))).min(by_memory)
    }

    /// Time in which `workgroups`, with `in_flight` bytes requested each, move `bytes`.
    fn memory(&self, bytes: f64, workgroups: f64, in_flight: f64) -> f64 {
        let units = self.units as f64;
        // Empty domains are estimated, too.
        let asked = workgroups.max(1.0) * in_flight.max(1.0);
        let streams = (asked / units / self.bytes_in_flight).min(1.0);
        bytes * self.work_per_byte / units / streams
    }
}

impl Contraction {
    /// Elements as a float: products of hypothetical sizes need not fit integers.
    pub(crate) const fn outputs(&self) -> f64 {
        self.batch as f64 * self.rows as f64 * self.columns as f64
    }

    pub(crate) const fn left(&self) -> f64 {
        self.batch as f64 * self.rows as f64 * self.depth as f64
    }

    pub(crate) const fn right(&self) -> f64 {
        self.batch as f64 * self.depth as f64 * self.columns as f64
    }
}

/// Part of re-read bytes that costs time: caches serve the rest.
const REREAD_PART: f64 = 0.3;

/// A dependent dispatch costs more dispatches: the machine drains first.
const DEPENDENT_LAUNCH: f64 = 2.0;

/// Recording cost in dispatches: a program that waits for its result waits for the host, too.
const RECORDING: f64 = 1.0;

/// Memory latency in microseconds: 16 KiB in flight saturate a unit's bandwidth share on an NVIDIA H200.
const LATENCY: f64 = 16384.0 / 30000.0;

pub(crate) fn hardware(info: &DeviceInfo) -> Hardware {
    info.hardware.unwrap_or(usual(info.kind))
}

/// Priors without a table: a mid-range discrete GPU, a large integrated one, a processor with few cores.
const fn usual(kind: AdapterKind) -> Hardware {
    match kind {
        AdapterKind::Discrete => Hardware {
            units: 48,
            multiply_adds: 130_000,
            bytes: 450_000,
            launch: 2000,
            invocations: 1536,
            workgroup_bytes: 100_000,
            cache_bytes: 24_000_000,
            integrated: false,
        },
        AdapterKind::Integrated | AdapterKind::Other => Hardware {
            units: 24,
            multiply_adds: 180_000,
            bytes: 360_000,
            launch: 1667,
            invocations: 1024,
            workgroup_bytes: 65_000,
            cache_bytes: 4_000_000,
            integrated: true,
        },
        AdapterKind::Software => Hardware {
            units: 4,
            multiply_adds: 10_000,
            bytes: 80_000,
            launch: 10_000,
            invocations: 1,
            workgroup_bytes: 1,
            cache_bytes: 16_000_000,
            integrated: true,
        },
    }
}

pub(crate) fn recording(variant: &Variant, machine: &Machine) -> f64 {
    RECORDING * variant.passes.len() as f64 * machine.launch_work
}

/// Cost of `passes` dependent dispatches, in dispatches.
fn dispatches(passes: usize) -> f64 {
    let passes = passes as f64;
    1.0 + DEPENDENT_LAUNCH * (passes - 1.0) + RECORDING * passes
}

/// Time with dispatches, on an idle machine.
pub(crate) fn cost(
    kernel: &Kernel,
    work: Work,
    variant: &Variant,
    domain: &Domain,
    split: Split,
    machine: &Machine,
) -> f64 {
    match kernel.domain.kind {
        DomainKind::Pointwise => pointwise(work, variant, domain, machine),
        DomainKind::Reduction { .. } => reduction::cost(kernel, variant, domain, split, machine),
        DomainKind::Contraction { .. } => {
            contraction::cost(work, variant, domain, split, machine) + epilogue(kernel, variant, domain, machine)
        }
        DomainKind::Attention => {
            attention::cost(work, variant, domain, split, machine) + epilogue(kernel, variant, domain, machine)
        }
        DomainKind::WeightedSum => {
            weighted_sum::cost(work, variant, domain, machine) + epilogue(kernel, variant, domain, machine)
        }
    }
}

pub(crate) fn dependency(machine: &Machine) -> f64 {
    (DEPENDENT_LAUNCH - 1.0) * machine.launch_work
}

/// Moves each element once, and computes meanwhile.
fn pointwise(work: Work, variant: &Variant, domain: &Domain, machine: &Machine) -> f64 {
    let reads: f64 = domain.accesses.iter().map(|access| distinct_bytes(variant, domain, access)).sum();
    let writes = stored_bytes(variant, domain);
    let (threads, lanes) = match (&variant.schedule, variant.passes.first()) {
        (Schedule::Pointwise(Pointwise { lanes, .. }), Some(pass)) => {
            (f64::from(pass.workgroup_size.max(1)), f64::from(*lanes))
        }
        _ => (1.0, 1.0),
    };
    let count = domain.count() as f64;
    let workgroups = (count / (threads * lanes)).ceil();
    let in_flight = (reads + writes) / count.max(1.0) * threads * lanes;
    let memory = machine.memory(reads + writes, workgroups, in_flight);
    let arithmetic = count * f64::from(work.point) / machine.units as f64;
    memory.max(arithmetic) + dispatches(variant.passes.len()) * machine.launch_work
}

/// Cost of an epilogue: arithmetic, and traffic besides the first result, which the kernel's estimate includes.
fn epilogue(kernel: &Kernel, variant: &Variant, domain: &Domain, machine: &Machine) -> f64 {
    let stored: Vec<Slot> = stored_slots(variant).map(|(slot, _)| slot).collect();
    let of_output = |access: &&Strides| access.space == Space::Point && !stored.contains(&access.slot);
    let reads: f64 =
        domain.accesses.iter().filter(of_output).map(|access| distinct_bytes(variant, domain, access)).sum();
    let writes = stored_slots(variant).skip(1).map(|(_, bytes)| bytes).sum::<f64>() * domain.count() as f64;
    let arithmetic = domain.count() as f64 * f64::from(kernel.work.point);
    ((reads + writes) * machine.work_per_byte + arithmetic) / machine.units as f64
}

/// The polyline through the origin and `points`, constant after the last.
fn interpolated(points: &[(f64, f64)], x: f64) -> f64 {
    let mut before = (0.0, 0.0);
    for &(at, value) in points {
        if x <= at {
            return before.1 + (value - before.1) * (x - before.0) / (at - before.0);
        }
        before = (at, value);
    }
    before.1
}

/// Written tensors, each once, with bytes per element.
fn stored_slots(variant: &Variant) -> impl Iterator<Item = (Slot, f64)> {
    let mut slots: Vec<(Slot, f64)> = variant
        .passes
        .iter()
        .flat_map(|pass| pass.bindings.iter())
        .filter(|binding| binding.writable && binding.slot != Slot::Scratch)
        .map(|binding| (binding.slot, binding.dtype.bytes() as f64))
        .collect();
    sort_by(&mut slots, |(a, _), (b, _)| a < b);
    slots.dedup_by_key(|(slot, _)| *slot);
    slots.into_iter()
}

fn stored_bytes(variant: &Variant, domain: &Domain) -> f64 {
    stored_slots(variant).map(|(_, bytes)| bytes).sum::<f64>() * domain.count() as f64
}

fn element_bytes(variant: &Variant, slot: Slot) -> f64 {
    let mut bindings = variant.passes.iter().flat_map(|pass| pass.bindings.iter());
    bindings.find(|binding| binding.slot == slot).map_or(4.0, |binding| binding.dtype.bytes() as f64)
}

fn distinct_bytes(variant: &Variant, domain: &Domain, access: &Strides) -> f64 {
    let extents = domain.space_extents(access.space);
    let moves = extents.iter().zip(&access.strides).filter(|(_, stride)| **stride != 0);
    moves.map(|(extent, _)| *extent as f64).product::<f64>() * element_bytes(variant, access.slot)
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{Binding, DType, Grid, Scratch};

    use super::*;
    use crate::{
        context::info::tests::{device_info, fitted_to},
        tune::{built_in::built_in, table::Table},
    };

    #[test]
    fn the_machine_that_the_model_was_fitted_to_is_data() {
        let Machine {
            units,
            busy_invocations,
            resident_invocations,
            workgroup_bytes,
            bytes_in_flight,
            cache_bytes,
            ..
        } = Machine::of(&fitted_to(AdapterKind::Discrete));
        assert_eq!((units, busy_invocations, resident_invocations), (132, 128.0, 2048.0));
        assert_eq!((workgroup_bytes, bytes_in_flight, cache_bytes), (2.3e5, 16384.0, 5e7));
        let Machine { work_per_byte, work_per_microsecond, launch_work, barrier_work, unstaged, .. } =
            Machine::of(&fitted_to(AdapterKind::Discrete));
        assert_eq!((work_per_byte, work_per_microsecond, launch_work), (5.0, 1.5e5, 3e5));
        assert_eq!((barrier_work, unstaged), (3e3, 0.4));
    }

    #[test]
    fn what_nobody_measured_is_no_h200() {
        let units = |kind| Machine::of(&device_info(kind, 32)).units;
        assert_eq!([AdapterKind::Discrete, AdapterKind::Integrated, AdapterKind::Software].map(units), [48, 24, 4]);
    }

    #[test]
    fn machines_of_built_in_tables_are_plausible() {
        let known: Vec<Hardware> = built_in(|_| true).filter_map(|table| Table::hardware(&table)).collect();
        assert!(known.len() >= 7, "{known:?}");
        let kinds = [AdapterKind::Discrete, AdapterKind::Integrated, AdapterKind::Software, AdapterKind::Other];
        for hardware in known.into_iter().chain(kinds.map(usual)) {
            let Machine { work_per_byte, launch_work, .. } = Machine::new(hardware, AdapterKind::Discrete);
            assert!((0.3..50.0).contains(&work_per_byte) && (1e4..2e6).contains(&launch_work), "{hardware:?}");
        }
    }

    fn variant(lanes: u32, bindings: &[(Slot, DType, bool)]) -> Variant {
        let binding = |&(slot, dtype, writable): &(Slot, DType, bool)| Binding { slot, dtype, writable };
        let pass = Pass {
            wgsl: "".into(),
            bindings: bindings.iter().map(binding).collect::<Vec<_>>().into(),
            uniforms: vec![].into(),
            grid: Grid::Elements { per_workgroup: 256 * lanes },
            workgroup_size: 256,
            workgroup_bytes: 0,
            pins_loads: false,
        };
        Variant {
            name: "".into(),
            requires: vec![].into(),
            features: fuse_artifact::Features::default(),
            schedule: Schedule::Pointwise(Pointwise { lanes, rank: 2 }),
            scratch: Scratch::default(),
            passes: vec![pass].into(),
        }
    }

    fn domain(extents: &[u64], strides: &[&[u64]]) -> Domain {
        let access = |(i, strides): (usize, &&[u64])| Strides {
            slot: Slot::Param(i as u16),
            space: Space::Point,
            offset: 0,
            strides: strides.to_vec(),
        };
        let accesses = strides.iter().enumerate().map(access).collect();
        Domain { kind: DomainKind::Pointwise, extents: extents.to_vec(), accesses, kept: extents.len() }
    }

    #[test]
    fn pointwise_kernels_move_what_is_distinct_at_the_speed_of_memory() {
        let machine = Machine::of(&fitted_to(AdapterKind::Discrete));
        let bindings = [
            (Slot::Param(0), DType::F32, false),
            (Slot::Param(1), DType::F16, false),
            (Slot::Result(0), DType::F32, true),
        ];
        let variant = variant(4, &bindings);
        let rows = domain(&[4096, 4096], &[&[4096, 1], &[0, 1]]);
        let bytes = (4.0 + 4.0) * 4096.0 * 4096.0 + 2.0 * 4096.0;
        let expected = bytes * machine.work_per_byte / 132.0 + dispatches(1) * machine.launch_work;
        assert_eq!(pointwise(Work { point: 8, ..Work::default() }, &variant, &rows, &machine), expected);
        let long = pointwise(Work { point: 200, ..Work::default() }, &variant, &rows, &machine);
        assert!(long > 2.0 * expected, "arithmetic takes longer than memory: {long}");
        let small = pointwise(Work::default(), &variant, &domain(&[64], &[&[1], &[1]]), &machine);
        let launch = dispatches(1) * machine.launch_work;
        assert!(small > launch && small < 1.25 * launch, "{small}");
    }
}
