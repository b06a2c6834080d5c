//! The schedule family of reduction kernels.
//!
//! For operands contiguous along the reduced axes:
//! - `rows RxI held H`: R rows per workgroup with I invocations each, which hold H vectors of a row in registers and
//!   read each element once. `row held` has one row per workgroup.
//! - `row streamed`: one workgroup per row of any length, read once per dependent reduction. Its `split` twin shares a
//!   row between workgroups.
//! - `rows Rx1 streamed`: one invocation per row, which suits CPUs.
//!
//! For operands contiguous along the innermost kept axis:
//! - `columns CxL`: C kept indices side by side, in L layers along the reduced axes; also `split`.
//! - `scatter C`: C kept indices side by side, which read only elements with one of their indices (`fusion::scatter`).
//!
//! `scalar` schedules load single elements at any stride; the last is the fallback without requirements. `subgroups`
//! schedules combine invocations by subgroup operations before workgroup memory.

use fuse_artifact::{
    Require, Size,
    schedule::{LANES, Reduction, ReductionOrder, RowLoads},
};

use super::{
    ROUNDS_ALONE,
    layout::{Along, along, vector_load},
};
use crate::fusion::{self, Group, Store, body::KernelAccess, scatter::Scatter};

const WORKGROUP: u32 = 256;

/// Rows per workgroup with one invocation each: few, so that all cores of a CPU have work.
const ALONE: [u32; 2] = [32, 1];

/// Maximum row length that one invocation walks alone, up to four times.
const LONGEST_ALONE: u32 = ROUNDS_ALONE / 4 * Reduction::UNROLL * LANES;

/// Minimum subgroup size, which bounds the subgroups that a workgroup combines.
const SMALLEST_SUBGROUP: u32 = 4;

/// A schedule of a reduction.
#[derive(Clone, Debug)]
pub struct ScheduleSpec {
    /// The schedule.
    pub schedule: Reduction,
    /// Requirements at launch.
    pub requires: Vec<Require>,
}

impl ScheduleSpec {
    fn with(&self, change: impl FnOnce(&mut Reduction)) -> Self {
        let mut scheduled = self.clone();
        change(&mut scheduled.schedule);
        scheduled
    }
}

/// The group's schedules, best first.
pub fn family(group: &Group, reduction: &fusion::Reduction, workgroup: Option<u32>) -> Vec<ScheduleSpec> {
    let facts = Facts::new(group, reduction);
    let workgroup = workgroup.unwrap_or(WORKGROUP);
    let mut family = vec![];
    if facts.contiguous(facts.kept + facts.reduced - 1) {
        family.extend(facts.vector_rows(workgroup));
    }
    family.extend(facts.scatters());
    let columns = facts.kept > 0 && facts.contiguous(facts.kept - 1);
    if columns {
        family.extend(facts.vector_columns());
    }
    family.extend(facts.held_elements(workgroup));
    if columns {
        family.extend(facts.any_columns());
    }
    family.extend(facts.any_rows());
    family
}

struct Facts<'a> {
    group: &'a Group,
    kept: usize,
    reduced: usize,
    row_length: Option<u64>,
}

impl<'a> Facts<'a> {
    fn new(group: &'a Group, reduction: &fusion::Reduction) -> Self {
        let kept = group.shape.len() - reduction.axes;
        let row_length = Size::product(&group.shape[kept..]).as_constant();
        Self { group, kept, reduced: reduction.axes, row_length }
    }

    /// Loads and stores at domain coordinates, with their kernel indices.
    fn accesses(&self) -> impl Iterator<Item = (u16, &'a KernelAccess)> {
        let stores = self.group.stores.iter().filter_map(|store: &Store| store.access.as_ref());
        let all = self.group.accesses.iter().chain(stores).enumerate();
        all.filter(|(_, access)| !access.gathered).map(|(i, access)| (i as u16, access))
    }

    fn is_per_element(&self, access: &KernelAccess) -> bool {
        access.access.axes[self.kept..].iter().any(Option::is_some)
    }

    /// True if vectors along an axis pay: an element access may be contiguous there, or nothing loads.
    fn contiguous(&self, axis: usize) -> bool {
        let loads = self.group.body.values.iter().any(|v| !v.op.accesses().is_empty());
        let unit = |access: &KernelAccess| matches!(along(access, axis), Along::Unit | Along::UnitOrZero);
        !loads || self.accesses().any(|(_, access)| self.is_per_element(access) && unit(access))
    }

    /// Kept and reduced axes of shaders that index all domain axes.
    fn all_axes(&self) -> [u8; 2] {
        [self.kept.max(1) as u8, self.reduced as u8]
    }

    /// Kept and reduced axes of shaders with one reduced axis, most general first. Axes may merge at launch, unless
    /// coordinates are values.
    fn single_row_axes(&self) -> Vec<[u8; 2]> {
        let [kept, reduced] = self.all_axes();
        if self.group.fixed && reduced > 1 { vec![] } else { vec![[kept, 1]] }
    }

    /// Like [`Facts::single_row_axes`], with a separate shader for one kept axis, where decoding costs most.
    fn short_row_axes(&self) -> Vec<[u8; 2]> {
        let mut axes = self.single_row_axes();
        if !self.group.fixed && self.kept > 1 {
            axes.insert(0, [1, 1]);
        }
        axes
    }

    /// Requirements of vector loads along the group's `axis`, which is the shader's `text_axis`.
    fn vector_requirements(&self, axis: usize, text_axis: u8, only_elements: bool) -> Vec<Require> {
        let mut requires = vec![Require::Multiple { axis: text_axis, of: LANES }];
        for (access, kernel_access) in self.accesses() {
            if only_elements && !self.is_per_element(kernel_access) {
                continue;
            }
            requires.extend(vector_load(access, kernel_access, axis, text_axis));
        }
        requires
    }

    fn row_requirements(&self, [kept, reduced]: [u8; 2]) -> Vec<Require> {
        self.vector_requirements(self.kept + self.reduced - 1, kept + reduced - 1, true)
    }

    /// True if a known row length uses `capacity` well enough.
    fn fits(&self, capacity: u32) -> bool {
        let capacity = u64::from(capacity);
        self.row_length.is_none_or(|n| n <= capacity && (8 * n >= capacity || capacity <= 256))
    }

    fn scheduled(&self, order: ReductionOrder, shape: [u32; 2], axes: [u8; 2]) -> ScheduleSpec {
        let merged = axes != self.all_axes();
        ScheduleSpec { schedule: Reduction { merged, ..Reduction::new(order, shape, axes) }, requires: vec![] }
    }

    /// Adds a twin with subgroup operations, if they apply.
    fn with_subgroups(&self, scheduled: ScheduleSpec, alone_too: bool) -> Vec<ScheduleSpec> {
        let Reduction { order, rows, invocations, .. } = scheduled.schedule;
        // An invocation group needs subgroups at least as large.
        let smallest = if rows > 1 { invocations } else { SMALLEST_SUBGROUP };
        let ReductionOrder::Rows { loads, .. } = order else { return vec![scheduled] };
        let order = ReductionOrder::Rows { loads, subgroups: Some(smallest) };
        let mut family = vec![scheduled.with(|schedule| schedule.order = order)];
        family.extend(alone_too.then_some(scheduled));
        family
    }

    /// A schedule that holds rows of at most `invocations·lanes·held` elements.
    fn held(&self, shape: [u32; 2], lanes: u32, held: u32, axes: [u8; 2]) -> ScheduleSpec {
        let scheduled = self
            .scheduled(ReductionOrder::rows(RowLoads::Held(held)), shape, axes)
            .with(|schedule| schedule.lanes = lanes);
        let mut requires = if lanes == 1 { vec![] } else { self.row_requirements(axes) };
        requires.push(Require::AtMost { axis: axes[0], value: shape[1] * lanes * held });
        ScheduleSpec { requires, ..scheduled }
    }

    fn vector_rows(&self, workgroup: u32) -> Vec<ScheduleSpec> {
        let mut family = vec![];
        if self.row_length.is_none_or(|n| n.is_multiple_of(LANES.into())) {
            let held = [([32, 8], 1, true), ([8, 32], 1, false), ([8, 32], 4, true)];
            for (shape, loads, alone_too) in held {
                for axes in self.short_row_axes().into_iter().filter(|_| self.fits(shape[1] * LANES * loads)) {
                    family.extend(self.with_subgroups(self.held(shape, LANES, loads, axes), alone_too));
                }
            }
            let held = [(workgroup, 1, false), (workgroup, 4, true), (1024, 4, false)];
            for (invocations, loads, alone_too) in held {
                for axes in self.single_row_axes().into_iter().filter(|_| self.fits(invocations * LANES * loads)) {
                    family.extend(self.with_subgroups(self.held([1, invocations], LANES, loads, axes), alone_too));
                }
            }
        }
        let mut streamed = self.single_row_axes();
        if self.reduced > 1 {
            streamed.push(self.all_axes());
        }
        for axes in streamed {
            let scheduled = self.streamed([1, workgroup], axes).with(|schedule| schedule.lanes = LANES);
            let scheduled = ScheduleSpec { requires: self.row_requirements(axes), ..scheduled };
            let split = split_twin(&scheduled);
            family.extend(self.with_subgroups(scheduled.clone(), true));
            family.extend(self.with_subgroups(split, true));
            if axes[1] == 1 {
                let alone = self.streamed(ALONE, axes).with(|schedule| schedule.lanes = LANES);
                let mut requires = scheduled.requires;
                requires.push(Require::AtMost { axis: axes[0], value: LONGEST_ALONE });
                family.push(ScheduleSpec { requires, ..alone });
            }
        }
        family
    }

    /// Schedules for rows whose length or alignment prevents vectors.
    fn held_elements(&self, workgroup: u32) -> Vec<ScheduleSpec> {
        let mut family = vec![];
        for (shape, loads) in [([8, 32], 4), ([1, workgroup], 8)] {
            for axes in self.single_row_axes().into_iter().filter(|_| self.fits(shape[1] * loads)) {
                family.extend(self.with_subgroups(self.held(shape, 1, loads, axes), true));
            }
        }
        family
    }

    fn vector_columns(&self) -> Vec<ScheduleSpec> {
        let axes = self.all_axes();
        let requires = self.vector_requirements(self.kept - 1, axes[0] - 1, false);
        let scheduled = |shape| {
            let scheduled =
                self.scheduled(ReductionOrder::Columns, shape, axes).with(|schedule| schedule.lanes = LANES);
            ScheduleSpec { requires: requires.clone(), ..scheduled }
        };
        let layered = scheduled([64, 16]);
        vec![split_twin(&layered), layered, scheduled([1024, 1])]
    }

    fn scatters(&self) -> Vec<ScheduleSpec> {
        let mut stores = self.group.stores.iter().filter_map(|store| store.access.as_ref());
        if self.kept == 0 || stores.any(|store| self.is_per_element(store)) {
            return vec![];
        }
        let Some(scatter) = Scatter::of(&self.group.body, &self.group.accesses, self.kept) else { return vec![] };
        let axes = self.all_axes();
        let scheduled = |rows| self.scheduled(ReductionOrder::Scatter { axis: scatter.axis }, [rows, 1], axes);
        let vectors = self.contiguous(self.kept - 1).then(|| ScheduleSpec {
            requires: self.vector_requirements(self.kept - 1, axes[0] - 1, false),
            ..scheduled(WORKGROUP * LANES).with(|schedule| schedule.lanes = LANES)
        });
        // The last schedule has no limit on row length.
        vectors.into_iter().chain([scheduled(WORKGROUP)]).collect()
    }

    fn any_columns(&self) -> Vec<ScheduleSpec> {
        let layered = self.scheduled(ReductionOrder::Columns, [32, 8], self.all_axes());
        vec![split_twin(&layered), layered]
    }

    fn any_rows(&self) -> Vec<ScheduleSpec> {
        let scheduled = |shape: [u32; 2]| self.streamed(shape, self.all_axes());
        let whole = scheduled([1, WORKGROUP]);
        vec![split_twin(&whole), whole, scheduled([256, 1]), scheduled([8, 32])]
    }

    fn streamed(&self, shape: [u32; 2], axes: [u8; 2]) -> ScheduleSpec {
        self.scheduled(ReductionOrder::rows(RowLoads::Streamed), shape, axes)
    }
}

fn split_twin(scheduled: &ScheduleSpec) -> ScheduleSpec {
    scheduled.with(|schedule| schedule.split = true)
}
