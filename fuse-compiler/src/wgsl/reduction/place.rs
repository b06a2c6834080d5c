//! Coordinates and offsets of a reduction's loads and stores.
//!
//! A site is the row (one value per kept index, coordinates `k0 …`) or an element of it. `base…` is an access's offset
//! at the row's first element, if it moves along the row.

use fuse_artifact::{
    Slot, Uniform,
    schedule::{Reduction, ReductionOrder},
};

use super::Invocation;
use crate::{
    fusion::{
        Group,
        body::{KernelAccess, ValueOp},
        reduction_depth::Level,
    },
    kernel::{Block, Val},
    schedule::layout::{Along, along},
    wgsl::{
        expr::ElementContext,
        loads::{Gather, Load},
        shader::{Shader, lane_coordinates, to_storage},
    },
};

pub(super) struct Frame<'a> {
    pub group: &'a Group,
    pub schedule: Reduction,
    pub kept: usize,
    pub levels: Vec<Level>,
}

pub(super) struct Element<'k> {
    /// Coordinates along the kernel's reduced axes, of the first lane.
    pub coordinates: Vec<Val<'k>>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(group: &'a Group, axes: usize, schedule: Reduction) -> Self {
        let kept = group.shape.len() - axes;
        let levels = group.body.levels(&group.accesses, |axis| axis >= kept);
        Self { group, schedule, kept, levels }
    }

    /// The access with this index: loads, then stores.
    pub(super) fn access(&self, index: u16) -> &'a KernelAccess {
        let index = usize::from(index);
        let store = |n: usize| self.group.stores[n].access.as_ref();
        let access = self.group.accesses.get(index).or_else(|| store(index - self.group.accesses.len()));
        access.expect("every store of a reduction has an access")
    }

    pub(super) fn store_access(&self, n: usize) -> u16 {
        (self.group.accesses.len() + n) as u16
    }

    fn is_per_element(&self, access: &KernelAccess) -> bool {
        access.access.axes[self.kept..].iter().any(Option::is_some)
    }

    pub(super) fn stores_elements(&self, n: usize) -> bool {
        self.levels[self.group.stores[n].value].per_element || self.is_per_element(self.access(self.store_access(n)))
    }

    pub(super) const fn element_lanes(&self) -> u32 {
        self.schedule.lanes
    }

    pub(super) const fn row_lanes(&self) -> u32 {
        match self.schedule.order {
            ReductionOrder::Rows { .. } => 1,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => self.schedule.lanes,
        }
    }

    fn lane_axis(&self) -> u8 {
        let [kept, reduced] = self.schedule.axes;
        match self.schedule.order {
            ReductionOrder::Rows { .. } => kept + reduced - 1,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => kept - 1,
        }
    }

    fn along_lanes(&self, access: &KernelAccess) -> Along {
        match self.schedule.order {
            ReductionOrder::Rows { .. } => along(access, self.group.shape.len() - 1),
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => {
                self.kept.checked_sub(1).map_or(Along::Zero, |axis| along(access, axis))
            }
        }
    }

    /// Vector width of a buffer: that of its widest load or store contiguous along the lanes.
    fn buffer_lanes(&self, slot: Slot) -> u32 {
        let whole = |access: &KernelAccess, kinds: &[Along]| {
            let seen_in_lanes = self.schedule.is_columns() || self.is_per_element(access);
            access.access.slot == slot && seen_in_lanes && kinds.contains(&self.along_lanes(access))
        };
        let loads = self.group.accesses.iter().any(|access| whole(access, &[Along::Unit, Along::UnitOrZero]));
        let mut stores = self.group.stores.iter().filter_map(|store| store.access.as_ref());
        let vector = loads || stores.any(|access| whole(access, &[Along::Unit]));
        if vector { self.schedule.lanes } else { 1 }
    }
}

/// Where bodies are computed: the row, or an element of it.
#[derive(Clone, Copy)]
pub(super) struct Site<'f, 'k> {
    pub frame: &'f Frame<'f>,
    pub at: &'f Invocation<'k>,
    /// The element; the row if `None`.
    pub element: Option<&'f Element<'k>>,
    pub single: bool,
}

impl<'k> Site<'_, 'k> {
    pub(super) fn lanes(&self) -> u32 {
        match self.element {
            _ if self.single => 1,
            Some(_) => self.frame.element_lanes(),
            None => self.frame.row_lanes(),
        }
    }

    fn advance(&self, shader: &mut Shader<'k>, index: u16, axis: u8, offset: Val<'k>, coordinate: Val<'k>) -> Val<'k> {
        let frame = self.frame;
        if frame.schedule.lanes > 1 && axis == frame.lane_axis() {
            match frame.along_lanes(frame.access(index)) {
                Along::Zero => return offset,
                Along::Unit => return offset + coordinate,
                Along::UnitOrZero | Along::Strided => {}
            }
        }
        offset + coordinate * shader.uniform(Uniform::Stride { access: index, axis })
    }

    pub(super) fn row_offset(&self, shader: &mut Shader<'k>, index: u16) -> Val<'k> {
        let frame = self.frame;
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        if frame.access(index).access.axes[..frame.kept].iter().any(Option::is_some) {
            for axis in 0..frame.schedule.axes[0] {
                offset = self.advance(shader, index, axis, offset, self.at.kept[usize::from(axis)]);
            }
        }
        offset
    }

    fn offset(&self, shader: &mut Shader<'k>, index: u16) -> Val<'k> {
        let Some(element) = self.element else { return self.row_offset(shader, index) };
        let mut offset = self.at.bases[&index];
        if self.frame.is_per_element(self.frame.access(index)) {
            for (axis, &coordinate) in (self.frame.schedule.axes[0]..).zip(&element.coordinates) {
                offset = self.advance(shader, index, axis, offset, coordinate);
            }
        }
        offset
    }

    pub(super) fn store(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, n: usize, value: Val<'k>) {
        let frame = self.frame;
        let store = &frame.group.stores[n];
        let dtype = frame.group.body.values[store.value].dtype;
        let (index, width) = (frame.store_access(n), self.lanes());
        let offset = self.offset(shader, index);
        let buffer_lanes = frame.buffer_lanes(store.slot);
        let buffer = shader.buffer(store.slot, dtype, buffer_lanes, true);
        let stored = to_storage(dtype, value);
        match (width, buffer_lanes) {
            (1, _) => b.set(buffer.at(offset), stored),
            (_, 1) => {
                // Vector components in memory must not be written singly: that may rewrite their neighbors.
                let stride = shader.uniform(Uniform::Stride { access: index, axis: frame.lane_axis() });
                let stored = b.bind(format!("stored{n}"), stored);
                let at = b.bind(format!("at{n}"), offset);
                for lane in 0..width {
                    b.set(buffer.at(at + shader.u32(lane) * stride), stored.lane(lane));
                }
            }
            _ => b.set(buffer.at(offset / width), stored),
        }
    }
}

impl<'k> ElementContext<'k> for Site<'_, 'k> {
    fn load(&self, shader: &mut Shader<'k>, index: u16) -> Val<'k> {
        let access = self.frame.access(index);
        let load = Load {
            access,
            lane_axis: self.frame.lane_axis(),
            along: self.frame.along_lanes(access),
            index,
            buffer_lanes: self.frame.buffer_lanes(access.access.slot),
        };
        let offset = self.offset(shader, index);
        load.read(shader, offset, self.lanes(), None)
    }

    fn gather(&self, shader: &mut Shader<'k>, index: u16) -> Gather<'_, 'k> {
        let access = self.frame.access(index);
        let offset = self.offset(shader, index);
        let mut steps = vec![];
        if self.lanes() > 1 && access.access.axes.iter().any(Option::is_some) {
            let stride = shader.uniform(Uniform::Stride { access: index, axis: self.frame.lane_axis() });
            steps = (0..self.lanes()).map(|lane| shader.u32(lane) * stride).collect();
        }
        let buffer_lanes = self.frame.buffer_lanes(access.access.slot);
        Gather { access, buffer_lanes, offset, steps, index }
    }

    fn coordinate(&self, _: &mut Shader<'k>, axis: u8) -> Val<'k> {
        // The domain is fixed: its axes are the kernel's, aligned at the end of each part.
        let [kept, _] = self.frame.schedule.axes;
        let axis = usize::from(axis);
        let (kernel_axis, first) = match axis.checked_sub(self.frame.kept) {
            None => {
                let axis = axis + usize::from(kept) - self.frame.kept;
                (axis as u8, self.at.kept[axis])
            }
            Some(axis) => {
                let element = self.element.expect("coordinates along a row are values per element");
                (kept + axis as u8, element.coordinates[axis])
            }
        };
        lane_coordinates(first, self.lanes(), kernel_axis == self.frame.lane_axis())
    }

    fn accumulator(&self, _: u8) -> Val<'k> {
        unreachable!("a reduction has no contraction")
    }
}

pub(super) fn is_load(op: &ValueOp) -> bool {
    !op.accesses().is_empty()
}
