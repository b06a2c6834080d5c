//! Where a reduction's text reads and writes: coordinates, offsets, loads and stores.
//!
//! A site is the row (one value per kept index) or an element of it. The text names kept coordinates `k0 …`, and of an
//! access that moves along the row its offset at the row's first element `base…`.

use fuse_artifact::{
    DType, Slot, Uniform,
    schedule::{Reduction, ReductionOrder},
};

use crate::{
    fusion::{
        Group,
        body::{KernelAccess, ValueOp},
        reduction_depth::Level,
    },
    schedule::layout::{Along, along},
    wgsl::{
        expr::ElementContext,
        loads::{Gather, Load},
        shader::{CodeBuffer, Shader, to_storage},
    },
};

/// A group as one schedule sees it.
pub(super) struct Frame<'a> {
    pub group: &'a Group,
    pub schedule: Reduction,
    /// Kept axes of the group.
    pub kept: usize,
    pub levels: Vec<Level>,
}

/// An element of a row.
pub(super) struct Element {
    /// Its coordinates along the reduced axes of the text; those of the first lane.
    pub coordinates: Vec<String>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(group: &'a Group, axes: usize, schedule: Reduction) -> Self {
        let kept = group.shape.len() - axes;
        let levels = group.body.levels(&group.accesses, |axis| axis >= kept);
        Self { group, schedule, kept, levels }
    }

    /// The access with this number: loads, then stores.
    pub(super) fn access(&self, index: u16) -> &'a KernelAccess {
        let index = usize::from(index);
        let store = |n: usize| self.group.stores[n].access.as_ref();
        let access = self.group.accesses.get(index).or_else(|| store(index - self.group.accesses.len()));
        access.expect("every store of a reduction has an access")
    }

    /// The access of the store with number `n`.
    pub(super) fn store_access(&self, n: usize) -> u16 {
        (self.group.accesses.len() + n) as u16
    }

    /// Whether an access moves along the row.
    fn is_per_element(&self, access: &KernelAccess) -> bool {
        access.access.axes[self.kept..].iter().any(Option::is_some)
    }

    /// Whether a store has a value for each element of a row.
    pub(super) fn stores_elements(&self, n: usize) -> bool {
        self.levels[self.group.stores[n].value].per_element || self.is_per_element(self.access(self.store_access(n)))
    }

    /// The width of values per element.
    pub(super) const fn element_lanes(&self) -> u32 {
        self.schedule.lanes
    }

    /// The width of values per row.
    pub(super) const fn row_lanes(&self) -> u32 {
        match self.schedule.order {
            ReductionOrder::Rows { .. } => 1,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => self.schedule.lanes,
        }
    }

    /// The axis of the text along which lanes lie.
    fn lane_axis(&self) -> u8 {
        let [kept, reduced] = self.schedule.axes;
        match self.schedule.order {
            ReductionOrder::Rows { .. } => kept + reduced - 1,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => kept - 1,
        }
    }

    /// How an access moves along the lanes.
    fn along_lanes(&self, access: &KernelAccess) -> Along {
        match self.schedule.order {
            ReductionOrder::Rows { .. } => along(access, self.group.shape.len() - 1),
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => {
                self.kept.checked_sub(1).map_or(Along::Zero, |axis| along(access, axis))
            }
        }
    }

    /// The width that a buffer is bound with: that of the widest load or store that is contiguous along the lanes.
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

    /// The term that a coordinate along an axis of the text adds to an access's offset.
    fn step(&self, shader: &mut Shader<'_>, index: u16, axis: u8, coordinate: &str) -> String {
        if self.schedule.lanes > 1 && axis == self.lane_axis() {
            match self.along_lanes(self.access(index)) {
                Along::Zero => return String::new(),
                Along::Unit => return format!(" + {coordinate}"),
                Along::UnitOrZero | Along::Strided => {}
            }
        }
        let stride = shader.uniform(Uniform::Stride { access: index, axis });
        format!(" + {coordinate} * {stride}")
    }

    /// The offset of an access at the row's first element.
    pub(super) fn row_offset(&self, shader: &mut Shader<'_>, index: u16) -> String {
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        if self.access(index).access.axes[..self.kept].iter().any(Option::is_some) {
            for axis in 0..self.schedule.axes[0] {
                offset += &self.step(shader, index, axis, &format!("k{axis}"));
            }
        }
        offset
    }

    /// The offset of an access at an element, from `base`, its offset at the row's first.
    fn element_offset(&self, shader: &mut Shader<'_>, index: u16, element: &Element) -> String {
        let mut offset = format!("base{index}");
        if self.is_per_element(self.access(index)) {
            for (axis, coordinate) in element.coordinates.iter().enumerate() {
                offset += &self.step(shader, index, self.schedule.axes[0] + axis as u8, coordinate);
            }
        }
        offset
    }

    /// Writes the value of a store at an element, or at the row.
    pub(super) fn store(
        &self,
        shader: &mut Shader<'_>,
        lines: &mut CodeBuffer,
        n: usize,
        at: Option<&Element>,
        value: &str,
    ) {
        let store = &self.group.stores[n];
        let dtype = self.group.body.values[store.value].dtype;
        let (index, width) = match at {
            Some(_) => (self.store_access(n), self.element_lanes()),
            None => (self.store_access(n), self.row_lanes()),
        };
        let offset = match at {
            Some(element) => self.element_offset(shader, index, element),
            None => self.row_offset(shader, index),
        };
        let buffer_lanes = self.buffer_lanes(store.slot);
        let buffer = shader.buffer(store.slot, dtype, buffer_lanes, true);
        let stored = to_storage(dtype, width, value);
        match (width, buffer_lanes) {
            (1, _) => lines.line(format!("{buffer}[{offset}] = {stored};")),
            (_, 1) => {
                // Components of a vector in memory must not be written one by one: that may rewrite their neighbors.
                let stride = shader.uniform(Uniform::Stride { access: index, axis: self.lane_axis() });
                lines.line(format!("let stored{n} = {stored};"));
                lines.line(format!("let at{n} = {offset};"));
                for lane in 0..width {
                    lines.line(format!("{buffer}[at{n} + {lane}u * {stride}] = stored{n}[{lane}];"));
                }
            }
            _ => lines.line(format!("{buffer}[({offset}) / {width}u] = {stored};")),
        }
    }
}

/// A site as bodies see it.
pub(super) struct Site<'f> {
    pub frame: &'f Frame<'f>,
    /// The element; the row itself if `None`.
    pub element: Option<&'f Element>,
    /// Whether only the first lane's value is wanted.
    pub single: bool,
}

impl Site<'_> {
    /// The width of values at this site.
    pub(super) fn lanes(&self) -> u32 {
        match self.element {
            _ if self.single => 1,
            Some(_) => self.frame.element_lanes(),
            None => self.frame.row_lanes(),
        }
    }

    fn offset(&self, shader: &mut Shader<'_>, access: u16) -> String {
        match self.element {
            Some(element) => self.frame.element_offset(shader, access, element),
            None => self.frame.row_offset(shader, access),
        }
    }
}

impl ElementContext for Site<'_> {
    fn load(&self, shader: &mut Shader<'_>, index: u16) -> String {
        let access = self.frame.access(index);
        let offset = self.offset(shader, index);
        let load = Load {
            access,
            lane_axis: self.frame.lane_axis(),
            along: self.frame.along_lanes(access),
            index,
            buffer_lanes: self.frame.buffer_lanes(access.access.slot),
        };
        load.read(shader, &offset, self.lanes(), "3u")
    }

    fn gather(&self, shader: &mut Shader<'_>, index: u16) -> Gather<'_> {
        let access = self.frame.access(index);
        let offset = self.offset(shader, index);
        let mut steps = vec![];
        if self.lanes() > 1 && access.access.axes.iter().any(Option::is_some) {
            let stride = shader.uniform(Uniform::Stride { access: index, axis: self.frame.lane_axis() });
            steps = (0..self.lanes()).map(|lane| format!("{lane}u * {stride}")).collect();
        }
        let buffer_lanes = self.frame.buffer_lanes(access.access.slot);
        Gather { access, buffer_lanes, offset, steps, index }
    }

    fn coordinate(&self, axis: u8) -> String {
        // The domain is fixed where coordinates are values: its axes are the text's, aligned at the end of each part.
        let [kept, _] = self.frame.schedule.axes;
        let axis = usize::from(axis);
        let (text_axis, name) = match axis.checked_sub(self.frame.kept) {
            None => {
                let axis = axis + usize::from(kept) - self.frame.kept;
                (axis as u8, format!("k{axis}"))
            }
            Some(axis) => {
                let element = self.element.expect("coordinates along a row are values per element");
                (kept + axis as u8, element.coordinates[axis].clone())
            }
        };
        match (self.lanes(), text_axis == self.frame.lane_axis()) {
            (1, _) => format!("({name})"),
            (_, true) => format!("(vec4<u32>({name}) + vec4<u32>(0u, 1u, 2u, 3u))"),
            (_, false) => format!("vec4<u32>({name})"),
        }
    }

    fn sum(&self, _: u8) -> String {
        unreachable!("a reduction has no contraction")
    }
}

/// Whether a value is read from memory.
pub(super) fn is_load(op: &ValueOp) -> bool {
    !op.accesses().is_empty()
}

/// A scalar of the row's width as a vector of the element's.
pub(super) fn widened(value: &str, dtype: DType, from: u32, to: u32) -> String {
    if from == to { value.to_owned() } else { format!("{}({value})", crate::wgsl::builtins::vector_type(dtype, to)) }
}
