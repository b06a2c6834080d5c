//! Pointwise kernels.

use fuse_artifact::{Grid, Pass, Uniform, schedule::Pointwise};

use super::{
    expr::{ElementContext, emit},
    grid,
    loads::{Gather, Load},
    names::Names,
    shader::{Shader, from_storage, lane_coordinates, to_storage},
};
use crate::{
    fusion::Group,
    kernel::{Arena, Block, Val},
    schedule::{
        layout::{Along, along, is_single},
        pointwise::ScheduleSpec,
    },
};

/// Builds the pass of a pointwise schedule.
pub fn pointwise(group: &Group, names: &Names, scheduled: &ScheduleSpec) -> Pass {
    let (schedule, workgroup) = (scheduled.schedule, scheduled.workgroup);
    let arena = Arena::default();
    let mut shader = Shader::new(&arena, names, group);
    let mut b = Block::new();
    shader.bind_group(group, schedule.lanes);
    let count = shader.uniform(Uniform::Count);
    let i = grid::units(&shader, &mut b, workgroup, in_vectors(count, schedule.lanes));
    let coordinates = decode(&mut shader, &mut b, schedule, i);
    let place = PointwisePlace { group, schedule, i, coordinates };
    let values = emit(&mut shader, &mut b, &group.body, schedule.lanes, "v", &place);
    for store in &group.stores {
        let dtype = group.body.values[store.value].dtype;
        let buffer = shader.buffer(store.slot, dtype, schedule.lanes, true);
        b.set(buffer.at(i), to_storage(dtype, values[store.value]));
    }
    shader.main = b;
    shader.finish(Grid::Elements { per_workgroup: workgroup * schedule.lanes }, workgroup)
}

fn in_vectors(count: Val<'_>, lanes: u32) -> Val<'_> {
    if lanes == 1 { count } else { (count + (lanes - 1)) / lanes }
}

/// Binds `c0 …`, coordinates of the `i`-th unit's first element along the remaining axes.
fn decode<'k>(shader: &mut Shader<'k>, b: &mut Block<'k>, schedule: Pointwise, i: Val<'k>) -> Vec<Val<'k>> {
    let last = schedule.rank.max(1) - 1;
    let lanes = |axis: u8| if axis == last { schedule.lanes } else { 1 };
    let mut rest = i;
    let mut coordinates = vec![];
    for axis in (1..=last).rev() {
        let extent = shader.uniform(Uniform::Extent { axis });
        let units = in_vectors(extent, lanes(axis));
        let outer = b.bind(format!("r{axis}"), rest / units);
        coordinates.push(b.bind(format!("c{axis}"), (rest - outer * units) * lanes(axis)));
        rest = outer;
    }
    coordinates.push(b.bind("c0", rest * lanes(0)));
    coordinates.reverse();
    coordinates
}

/// An element, or the first of four.
struct PointwisePlace<'a, 'k> {
    group: &'a Group,
    schedule: Pointwise,
    i: Val<'k>,
    coordinates: Vec<Val<'k>>,
}

impl<'k> PointwisePlace<'_, 'k> {
    fn last_axis(&self) -> u8 {
        self.schedule.rank.saturating_sub(1)
    }

    fn last_lane(&self, shader: &mut Shader<'k>) -> Val<'k> {
        let last = self.last_axis();
        shader.uniform(Uniform::Extent { axis: last }) - 1 - self.coordinates[usize::from(last)]
    }
}

impl<'k> ElementContext<'k> for PointwisePlace<'_, 'k> {
    fn load(&self, shader: &mut Shader<'k>, index: u16) -> Val<'k> {
        let access = &self.group.accesses[usize::from(index)];
        let lanes = self.schedule.lanes;
        let last = self.last_axis();
        if access.is_whole(&self.group.shape) {
            let buffer = shader.buffer(access.access.slot, access.dtype, lanes, false);
            return from_storage(access.dtype, buffer.at(self.i));
        }
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        let single = is_single(access);
        let kind = if single {
            Along::Zero
        } else {
            self.group.shape.len().checked_sub(1).map_or(Along::Zero, |d| along(access, d))
        };
        if !single {
            for (axis, &coordinate) in (0..).zip(&self.coordinates) {
                match kind {
                    Along::Unit if axis == last && lanes > 1 => offset = offset + coordinate,
                    Along::Zero if axis == last && lanes > 1 => {}
                    _ => offset = offset + coordinate * shader.uniform(Uniform::Stride { access: index, axis }),
                }
            }
        }
        let last_lane = (kind == Along::Strided && lanes > 1).then(|| self.last_lane(shader));
        let load = Load { access, lane_axis: last, along: kind, index, buffer_lanes: lanes };
        load.read(shader, offset, lanes, last_lane)
    }

    fn gather(&self, shader: &mut Shader<'k>, index: u16) -> Gather<'_, 'k> {
        let access = &self.group.accesses[usize::from(index)];
        let (lanes, last) = (self.schedule.lanes, self.last_axis());
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        let mut steps = vec![];
        if access.access.axes.iter().any(Option::is_some) {
            for (axis, &coordinate) in (0..).zip(&self.coordinates) {
                let stride = shader.uniform(Uniform::Stride { access: index, axis });
                offset = offset + coordinate * stride;
                if axis == last && lanes > 1 {
                    let last_lane = self.last_lane(shader);
                    steps = (0..lanes).map(|lane| shader.u32(lane).min(last_lane) * stride).collect();
                }
            }
        }
        Gather { access, buffer_lanes: lanes, offset, steps, index }
    }

    fn coordinate(&self, _: &mut Shader<'k>, axis: u8) -> Val<'k> {
        // The domain is fixed: its axes are the schedule's, aligned at the end.
        let axis = axis + self.schedule.rank - self.group.shape.len() as u8;
        lane_coordinates(self.coordinates[usize::from(axis)], self.schedule.lanes, axis == self.last_axis())
    }

    fn accumulator(&self, _: u8) -> Val<'k> {
        unreachable!("a pointwise body has no contraction")
    }
}
