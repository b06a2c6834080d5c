//! The text of pointwise kernels.

use fuse_artifact::{Grid, Pass, Uniform, schedule::Pointwise};

use super::{
    expr::{ElementContext, emit},
    grid,
    loads::{Gather, Load},
    names::Names,
    shader::{CodeBuffer, Shader, to_storage},
};
use crate::{
    fusion::Group,
    schedule::{
        layout::{Along, along, is_single},
        pointwise::ScheduleSpec,
    },
};

/// The pass of one schedule of a pointwise group's family.
pub fn pointwise(group: &Group, names: &Names, scheduled: &ScheduleSpec) -> Pass {
    let (schedule, workgroup) = (scheduled.schedule, scheduled.workgroup);
    let mut shader = Shader::new(names, group);
    shader.bind_group(group, schedule.lanes);
    let count = shader.uniform(Uniform::Count);
    let mut main = CodeBuffer::indented();
    let units =
        if schedule.lanes == 1 { count } else { format!("({count} + {}u) / {}u", schedule.lanes - 1, schedule.lanes) };
    grid::units(&mut main, workgroup, &units);
    decode(&mut shader, &mut main, schedule);
    let place = PointwisePlace { group, schedule };
    let values = emit(&mut shader, &mut main, &group.body, schedule.lanes, "v", &place);
    for store in &group.stores {
        let dtype = group.body.values[store.value].dtype;
        let buffer = shader.buffer(store.slot, dtype, schedule.lanes, true);
        main.line(format!("{buffer}[i] = {};", to_storage(dtype, schedule.lanes, &values[store.value])));
    }
    shader.main = main;
    shader.finish(Grid::Elements { per_workgroup: workgroup * schedule.lanes }, workgroup)
}

/// Coordinates `c0 …` of the (first) element along the axes that are left.
fn decode(shader: &mut Shader<'_>, main: &mut CodeBuffer, schedule: Pointwise) {
    let last = schedule.rank.saturating_sub(1);
    if schedule.rank <= 1 {
        main.line(if schedule.lanes == 1 {
            "let c0 = i;".to_owned()
        } else {
            format!("let c0 = i * {}u;", schedule.lanes)
        });
        return;
    }
    let mut rest = "i".to_owned();
    for axis in (1..schedule.rank).rev() {
        let extent = shader.uniform(Uniform::Extent { axis });
        let units = match (axis == last, schedule.lanes) {
            (true, lanes @ 2..) => format!("(({extent} + {}u) / {lanes}u)", lanes - 1),
            _ => extent,
        };
        let scale = if axis == last && schedule.lanes > 1 { format!(" * {}u", schedule.lanes) } else { String::new() };
        main.line(format!("let r{axis} = {rest} / {units};"));
        main.line(format!("let c{axis} = ({rest} - r{axis} * {units}){scale};"));
        rest = format!("r{axis}");
    }
    main.line(format!("let c0 = {rest};"));
}

struct PointwisePlace<'a> {
    group: &'a Group,
    schedule: Pointwise,
}

impl PointwisePlace<'_> {
    fn last_axis(&self) -> u8 {
        self.schedule.rank.saturating_sub(1)
    }

    /// How many lanes after the first exist.
    fn last_lane(&self, shader: &mut Shader<'_>) -> String {
        let last = self.last_axis();
        let extent = shader.uniform(Uniform::Extent { axis: last });
        format!("({extent} - 1u - c{last})")
    }
}

impl ElementContext for PointwisePlace<'_> {
    fn load(&self, shader: &mut Shader<'_>, index: u16) -> String {
        let access = &self.group.accesses[usize::from(index)];
        let lanes = self.schedule.lanes;
        let last = self.last_axis();
        if access.is_whole(&self.group.shape) {
            let buffer = shader.buffer(access.access.slot, access.dtype, lanes, false);
            return super::shader::from_storage(access.dtype, lanes, &format!("{buffer}[i]"));
        }
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        let single = is_single(access);
        let kind = if single {
            Along::Zero
        } else {
            self.group.shape.len().checked_sub(1).map_or(Along::Zero, |d| along(access, d))
        };
        if !single {
            for axis in 0..self.schedule.rank.max(1) {
                let by_one = axis == last && lanes > 1 && kind == Along::Unit;
                let skip = axis == last && lanes > 1 && kind == Along::Zero;
                if by_one {
                    offset = format!("{offset} + c{axis}");
                } else if !skip {
                    let stride = shader.uniform(Uniform::Stride { access: index, axis });
                    offset = format!("{offset} + c{axis} * {stride}");
                }
            }
        }
        let extent = if kind == Along::Strided && lanes > 1 { self.last_lane(shader) } else { String::new() };
        Load { access, lane_axis: last, along: kind, index, buffer_lanes: lanes }.read(shader, &offset, lanes, &extent)
    }

    fn gather(&self, shader: &mut Shader<'_>, index: u16) -> Gather<'_> {
        let access = &self.group.accesses[usize::from(index)];
        let (lanes, last) = (self.schedule.lanes, self.last_axis());
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        let mut steps = vec![];
        if access.access.axes.iter().any(Option::is_some) {
            for axis in 0..self.schedule.rank.max(1) {
                let stride = shader.uniform(Uniform::Stride { access: index, axis });
                offset = format!("{offset} + c{axis} * {stride}");
                if axis == last && lanes > 1 {
                    let last_lane = self.last_lane(shader);
                    steps = (0..lanes).map(|lane| format!("min({lane}u, {last_lane}) * {stride}")).collect();
                }
            }
        }
        Gather { access, buffer_lanes: lanes, offset, steps, index }
    }

    fn coordinate(&self, axis: u8) -> String {
        // The domain is fixed where coordinates are values: its axes are the schedule's, aligned at the end.
        let shift = self.schedule.rank - self.group.shape.len() as u8;
        let axis = axis + shift;
        match (self.schedule.lanes, axis == self.last_axis()) {
            (1, _) => format!("c{axis}"),
            (_, true) => format!("(vec4<u32>(c{axis}) + vec4<u32>(0u, 1u, 2u, 3u))"),
            (_, false) => format!("vec4<u32>(c{axis})"),
        }
    }

    fn sum(&self, _: u8) -> String {
        unreachable!("a pointwise body has no contraction")
    }
}
