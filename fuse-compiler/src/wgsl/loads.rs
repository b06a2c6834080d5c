//! Loads of one or four values through an access, and at computed coordinates.

use fuse_artifact::{Size, Uniform};

use super::shader::{Shader, from_storage};
use crate::{
    fusion::body::KernelAccess,
    kernel::{Block, Function, Scalar, Ty, Val},
    schedule::layout::Along,
};

pub(super) struct Load<'a> {
    pub access: &'a KernelAccess,
    pub lane_axis: u8,
    pub along: Along,
    pub index: u16,
    /// Vector width, 1 or 4.
    pub buffer_lanes: u32,
}

impl Load<'_> {
    /// `lanes` values from element `offset`, without the lane's own step.
    ///
    /// # Invariant
    ///
    /// For four lanes of a contiguous access, `offset` must be a multiple of 4 (the variant requires it). `last_lane`
    /// is the last lane that exists, so that strided reads stay in bounds.
    pub(super) fn read<'k>(
        &self,
        shader: &mut Shader<'k>,
        offset: Val<'k>,
        lanes: u32,
        last_lane: Option<Val<'k>>,
    ) -> Val<'k> {
        let stored = self.stored(shader, offset, lanes, last_lane);
        from_storage(self.access.dtype, stored)
    }

    /// As [`read`](Self::read), in the buffer's type.
    pub(super) fn stored<'k>(
        &self,
        shader: &mut Shader<'k>,
        offset: Val<'k>,
        lanes: u32,
        last_lane: Option<Val<'k>>,
    ) -> Val<'k> {
        let buffer = shader.buffer(self.access.access.slot, self.access.dtype, self.buffer_lanes, false);
        match (lanes, self.buffer_lanes, self.along) {
            (1, ..) => element(buffer, self.buffer_lanes, offset),
            (_, 1, _) | (_, _, Along::Strided) => self.strided(shader, buffer, offset, last_lane),
            (_, _, Along::Unit) => buffer.at(offset / 4),
            (_, _, Along::Zero) => element(buffer, self.buffer_lanes, offset).splat(lanes),
            (_, _, Along::UnitOrZero) => self.whole_or_one(shader, buffer, offset),
        }
    }

    /// Four neighbors or one broadcast element, by the stride.
    fn whole_or_one<'k>(&self, shader: &mut Shader<'k>, buffer: Val<'k>, offset: Val<'k>) -> Val<'k> {
        let stride = shader.uniform(Uniform::Stride { access: self.index, axis: self.lane_axis });
        let at = shader.arena().name("at", Ty::U32);
        let value = stride.eq(1).select(buffer.at(at / 4), element(buffer, self.buffer_lanes, at).splat(4));
        self.call(shader, &[("at", offset)], value)
    }

    fn strided<'k>(
        &self,
        shader: &mut Shader<'k>,
        buffer: Val<'k>,
        offset: Val<'k>,
        last_lane: Option<Val<'k>>,
    ) -> Val<'k> {
        let stride = shader.uniform(Uniform::Stride { access: self.index, axis: self.lane_axis });
        let [at, last] = ["at", "last"].map(|name| shader.arena().name(name, Ty::U32));
        let lane = |lane: u32| element(buffer, self.buffer_lanes, at + shader.u32(lane).min(last) * stride);
        let value = shader.arena().construct(Ty::stored(self.access.dtype, 4), &[0, 1, 2, 3].map(lane));
        let last_lane = last_lane.unwrap_or_else(|| shader.u32(3));
        self.call(shader, &[("at", offset), ("last", last_lane)], value)
    }

    fn call<'k>(&self, shader: &mut Shader<'k>, arguments: &[(&str, Val<'k>)], value: Val<'k>) -> Val<'k> {
        let name = format!("load_{}_{}", self.index, self.lane_axis);
        if shader.declares(&name) {
            shader.function(Function {
                name: name.clone(),
                parameters: arguments.iter().map(|(name, value)| ((*name).to_owned(), value.ty())).collect(),
                result: Some(value.ty()),
                body: Block::of(|b| b.answer(value)),
            });
        }
        let arguments: Vec<Val<'k>> = arguments.iter().map(|&(_, value)| value).collect();
        shader.arena().call(name, &arguments, value.ty())
    }
}

/// A gather: a load at computed coordinates, lane by lane.
pub(super) struct Gather<'a, 'k> {
    pub access: &'a KernelAccess,
    pub buffer_lanes: u32,
    pub offset: Val<'k>,
    /// Per lane, its term of the offset; empty if all start at the same element.
    pub steps: Vec<Val<'k>>,
    pub index: u16,
}

impl<'k> Gather<'_, 'k> {
    /// `lanes` values: for each, the element at the offset plus each coordinate of `at` (view axes and `i32` values of
    /// the same width) times its view axis' stride.
    pub(super) fn read(&self, shader: &mut Shader<'k>, at: &[(u8, Val<'k>)], lanes: u32) -> Val<'k> {
        let KernelAccess { access, dtype, .. } = self.access;
        let buffer = shader.buffer(access.slot, *dtype, self.buffer_lanes, false);
        let several = at.len() > 1;
        let offsets = self.offsets(shader, at, lanes, several);
        let values: Vec<Val<'k>> =
            offsets.into_iter().map(|offset| element(buffer, self.buffer_lanes, offset)).collect();
        let stored = match values[..] {
            [value] => value,
            _ => shader.arena().construct(Ty::stored(*dtype, lanes), &values),
        };
        from_storage(*dtype, stored)
    }

    /// Element offset of each lane. `several` is true if more than one view coordinate is computed.
    pub(super) fn offsets(
        &self,
        shader: &mut Shader<'k>,
        at: &[(u8, Val<'k>)],
        lanes: u32,
        several: bool,
    ) -> Vec<Val<'k>> {
        let strides: Vec<Val<'k>> = at.iter().map(|&(axis, _)| self.stride(shader, axis, several)).collect();
        let one = |lane: u32| {
            let step = self.steps.get(lane as usize);
            let start = step.map_or(self.offset, |&step| self.offset + step);
            at.iter().zip(&strides).fold(start, |offset, (&(_, coordinate), &stride)| {
                offset + coordinate.lane(lane).convert(Scalar::U32) * stride
            })
        };
        (0..lanes).map(one).collect()
    }

    /// Stride along a view axis. If the view is empty along an axis that the kernel walks, nothing is read. A computed
    /// coordinate along an empty axis is 0; `several` of them may be far from 0 along others.
    pub(super) fn stride(&self, shader: &mut Shader<'k>, view_axis: u8, several: bool) -> Val<'k> {
        let may_be_empty = |size: &Size| size.as_constant().is_none_or(|extent| extent == 0);
        if several && self.access.access.view.iter().any(may_be_empty) {
            return shader.uniform(Uniform::ViewStride { access: self.index, axis: view_axis });
        }
        shader.size(&Size::product(&self.access.access.view[usize::from(view_axis) + 1..]))
    }
}

/// An element of a buffer bound as vectors of this width.
pub(super) fn element<'k>(buffer: Val<'k>, buffer_lanes: u32, offset: Val<'k>) -> Val<'k> {
    if buffer_lanes == 1 { buffer.at(offset) } else { buffer.at(offset / buffer_lanes).at(offset % buffer_lanes) }
}
