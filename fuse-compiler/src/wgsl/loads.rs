//! Loads of one or four values through an access, and loads at computed coordinates.

use fuse_artifact::{Size, Uniform};

use super::shader::{CodeBuffer, Shader, from_storage, storage_type};
use crate::{fusion::body::KernelAccess, schedule::layout::Along};

/// How a load reaches its elements.
pub(super) struct Load<'a> {
    /// The access.
    pub access: &'a KernelAccess,
    /// The axis of the space along which four lanes lie, and how the access moves along it.
    pub lane_axis: u8,
    /// How the access moves along `lane_axis`.
    pub along: Along,
    /// Number of the access in its kernel.
    pub index: u16,
    /// The width that its buffer is bound with, 1 or 4.
    pub buffer_lanes: u32,
}

impl Load<'_> {
    /// `lanes` values, the first at element `offset` (an expression without the lane's own step).
    ///
    /// For four lanes, `offset` must be a multiple of 4 where the access moves by one (the variant requires
    /// it), and `lane` gives the last lane that exists, as an expression, so that strided reads stay inside.
    pub(super) fn read(&self, shader: &mut Shader<'_>, offset: &str, lanes: u32, last_lane: &str) -> String {
        let stored = self.stored(shader, offset, lanes, last_lane);
        from_storage(self.access.dtype, lanes, &stored)
    }

    /// As [`read`](Self::read), with the type that the buffer has.
    pub(super) fn stored(&self, shader: &mut Shader<'_>, offset: &str, lanes: u32, last_lane: &str) -> String {
        let buffer = shader.buffer(self.access.access.slot, self.access.dtype, self.buffer_lanes, false);
        match (lanes, self.buffer_lanes) {
            (1, 1) => format!("{buffer}[{offset}]"),
            (1, _) => element(&buffer, offset),
            (_, 1) => self.strided(shader, &buffer, offset, last_lane),
            _ => match self.along {
                Along::Unit => format!("{buffer}[({offset}) / 4u]"),
                Along::Zero => format!("{}({})", vector(self.access), element(&buffer, offset)),
                Along::UnitOrZero => self.whole_or_one(shader, &buffer, offset),
                Along::Strided => self.strided(shader, &buffer, offset, last_lane),
            },
        }
    }

    /// Four neighbours, or one element four times, as the stride says. The text stands once, in a function.
    fn whole_or_one(&self, shader: &mut Shader<'_>, buffer: &str, offset: &str) -> String {
        let stride = shader.uniform(Uniform::Stride { access: self.index, axis: self.lane_axis });
        let (ty, one) = (vector(self.access), element(buffer, "at"));
        let value = format!("select({ty}({one}), {buffer}[at / 4u], {stride} == 1u)");
        let name = self.declare(shader, "at: u32", &value);
        format!("{name}({offset})")
    }

    /// Four separate reads, `stride` elements apart. The text stands once, in a function.
    fn strided(&self, shader: &mut Shader<'_>, buffer: &str, offset: &str, last_lane: &str) -> String {
        let stride = shader.uniform(Uniform::Stride { access: self.index, axis: self.lane_axis });
        let lane = |i: u32| {
            let at = format!("at + min({i}u, last) * {stride}");
            if self.buffer_lanes == 1 { format!("{buffer}[{at}]") } else { element(buffer, &at) }
        };
        let value = format!("{}({}, {}, {}, {})", vector(self.access), lane(0), lane(1), lane(2), lane(3));
        let name = self.declare(shader, "at: u32, last: u32", &value);
        format!("{name}({offset}, {last_lane})")
    }

    /// The name of the function that answers `value`, declared once.
    fn declare(&self, shader: &mut Shader<'_>, parameters: &str, value: &str) -> String {
        let name = format!("load_{}_{}", self.index, self.lane_axis);
        if !shader.is_declared(&name) {
            let mut lines = CodeBuffer::default();
            lines.line(format!("fn {name}({parameters}) -> {} {{", vector(self.access)));
            lines.line(format!("return {value};"));
            lines.line("}");
            shader.declare(name.clone(), lines);
        }
        name
    }
}

/// A load at coordinates that the kernel computes, lane by lane.
pub(super) struct Gather<'a> {
    /// The access.
    pub access: &'a KernelAccess,
    /// The width that its buffer is bound with, 1 or 4.
    pub buffer_lanes: u32,
    /// The element offset of the place, as an expression.
    pub offset: String,
    /// For each lane, what it adds to the offset; empty where all lanes start at the same element.
    pub steps: Vec<String>,
    /// Number of the access in its kernel.
    pub index: u16,
}

impl Gather<'_> {
    /// `lanes` values: for each, the element at the offset plus each coordinate of `at` (view axes and `i32` values of the
    /// same width) times the stride of its view axis.
    pub(super) fn read(&self, shader: &mut Shader<'_>, at: &[(u8, String)], lanes: u32) -> String {
        let KernelAccess { access, dtype, .. } = self.access;
        let buffer = shader.buffer(access.slot, *dtype, self.buffer_lanes, false);
        let one = |offset: String| self.element(&buffer, &offset);
        let several = at.len() > 1;
        let values: Vec<String> = self.offsets(shader, at, lanes, several).into_iter().map(one).collect();
        let stored = match lanes {
            1 => values.concat(),
            _ => format!("{}({})", vector(self.access), values.join(", ")),
        };
        from_storage(*dtype, lanes, &stored)
    }

    /// The element offset of each lane. `several`: whether more than one coordinate of the view is computed.
    pub(super) fn offsets(
        &self,
        shader: &mut Shader<'_>,
        at: &[(u8, String)],
        lanes: u32,
        several: bool,
    ) -> Vec<String> {
        let strides: Vec<String> = at.iter().map(|&(axis, _)| self.stride(shader, axis, several)).collect();
        let one = |lane: u32| {
            let mut offset = self.offset.clone();
            if let Some(step) = self.steps.get(lane as usize) {
                offset += &format!(" + {step}");
            }
            for ((_, coordinate), stride) in at.iter().zip(&strides) {
                let coordinate = if lanes == 1 { coordinate.clone() } else { format!("{coordinate}[{lane}]") };
                offset += &if stride == "1u" {
                    format!(" + u32({coordinate})")
                } else {
                    format!(" + u32({coordinate}) * {stride}")
                };
            }
            offset
        };
        (0..lanes).map(one).collect()
    }

    /// Elements between neighbours along an axis of the view. Where the view is empty along an axis that the kernel walks,
    /// nothing is read, and a computed coordinate along an empty axis is 0; `several` of them may be far from 0 along others.
    pub(super) fn stride(&self, shader: &mut Shader<'_>, view_axis: u8, several: bool) -> String {
        let may_be_empty = |size: &Size| size.as_constant().is_none_or(|extent| extent == 0);
        if several && self.access.access.view.iter().any(may_be_empty) {
            return shader.uniform(Uniform::ViewStride { access: self.index, axis: view_axis });
        }
        shader.size(&Size::product(&self.access.access.view[usize::from(view_axis) + 1..]))
    }

    /// The element of the buffer at an offset.
    pub(super) fn element(&self, buffer: &str, offset: &str) -> String {
        if self.buffer_lanes == 1 { format!("{buffer}[{offset}]") } else { element(buffer, offset) }
    }
}

/// One element of a buffer bound as vectors of four.
fn element(buffer: &str, offset: &str) -> String {
    format!("{buffer}[({offset}) / 4u][({offset}) % 4u]")
}

fn vector(access: &KernelAccess) -> String {
    storage_type(access.dtype, 4)
}
