//! Operands of contractions: offsets, loads and prologues.

use fuse_artifact::{Space, Uniform, schedule::LANES};

use super::{
    expr::{ElementContext, emit},
    loads::{Gather, Load},
    shader::{Shader, lane_coordinates},
};
use crate::{
    fusion::{
        Group, GroupKind,
        body::{self, Body, ValueId, ValueOp},
    },
    kernel::{Arena, Block, Function, Ty, Val},
    schedule::layout::{Along, along},
};

/// An operand of a contraction. Its buffers have this width wherever 16-byte loads are used.
#[derive(Clone)]
pub(super) struct Operand<'a> {
    pub group: &'a Group,
    pub body: &'a Body,
    pub value: ValueId,
    /// Prefix of its names, unique in the shader.
    pub prefix: &'static str,
    pub lanes: u32,
    pub buffer_lanes: u32,
    pub lane_axis: usize,
}

impl<'a> Operand<'a> {
    pub(super) fn by_vectors(
        group: &'a Group,
        &(ref body, value): &'a (Body, ValueId),
        prefix: &'static str,
        lanes: u32,
    ) -> Self {
        Self { group, body, value, prefix, lanes, buffer_lanes: LANES, lane_axis: group.shape.len() - 1 }
    }

    pub(super) fn loads(&self) -> Vec<u16> {
        let mut found: Vec<u16> = self
            .body
            .values
            .iter()
            .filter_map(|value| match value.op {
                ValueOp::Load(access) => Some(access),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn along(&self, access: u16, axis: usize) -> Along {
        along(&self.group.accesses[usize::from(access)], axis)
    }

    /// Element offset of an access at coordinates `at`, one per axis of its space with the batch. `None` axes are left
    /// out.
    pub(super) fn offset<'k>(&self, shader: &mut Shader<'k>, access: u16, at: &[Option<Val<'k>>]) -> Val<'k> {
        let start = shader.uniform(Uniform::Offset { access });
        at.iter().enumerate().fold(start, |offset, (axis, coordinate)| match coordinate {
            Some(coordinate) => self.advance(shader, access, axis, offset, *coordinate),
            None => offset,
        })
    }

    /// An offset moved by a coordinate; unchanged if the access does not move.
    pub(super) fn advance<'k>(
        &self,
        shader: &mut Shader<'k>,
        access: u16,
        axis: usize,
        offset: Val<'k>,
        coordinate: Val<'k>,
    ) -> Val<'k> {
        match self.along(access, axis) {
            Along::Zero if !self.may_fold(access, axis) => offset,
            Along::Unit if self.lanes > 1 && axis == self.lane_axis => offset + coordinate,
            Along::Zero | Along::Unit | Along::UnitOrZero | Along::Strided => {
                offset + coordinate * shader.uniform(Uniform::Stride { access, axis: axis as u8 })
            }
        }
    }

    /// True if an access that broadcasts along the rows may move along them at launch, which folds batches of one row
    /// into rows.
    fn may_fold(&self, access: u16, axis: usize) -> bool {
        let GroupKind::Contraction(_) = self.group.kind else { return false };
        let access = &self.group.accesses[usize::from(access)].access;
        let batch = self.group.shape.len() - 2;
        let along_lanes = self.lanes > 1 && axis == self.lane_axis;
        axis == batch && access.space != Space::Rhs && !along_lanes && access.axes[..batch].iter().any(Option::is_some)
    }

    pub(super) fn load<'k>(&self, shader: &mut Shader<'k>, access: u16, offset: Val<'k>) -> Val<'k> {
        self.access(access).read(shader, offset, self.lanes, None)
    }

    pub(super) fn load_stored<'k>(&self, shader: &mut Shader<'k>, access: u16, offset: Val<'k>) -> Val<'k> {
        self.access(access).stored(shader, offset, self.lanes, None)
    }

    pub(super) fn buffer<'k>(&self, shader: &mut Shader<'k>, access: u16) -> Val<'k> {
        let access = &self.group.accesses[usize::from(access)];
        shader.buffer(access.access.slot, access.dtype, self.buffer_lanes, false)
    }

    fn access(&self, access: u16) -> Load<'_> {
        Load {
            access: &self.group.accesses[usize::from(access)],
            lane_axis: self.lane_axis as u8,
            along: self.along(access, self.lane_axis),
            index: access,
            buffer_lanes: self.buffer_lanes,
        }
    }

    pub(super) fn value<'k>(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        loaded: &dyn Fn(u16) -> Val<'k>,
        at: &[Val<'k>],
    ) -> Val<'k> {
        if let [body::Value { op: ValueOp::Load(access), .. }] = self.body.values[..] {
            return loaded(access);
        }
        let place = OperandPlace { operand: self, loaded, at, accumulators: &[] };
        let values = emit(shader, b, self.body, self.lanes, self.prefix, &place);
        values[self.value]
    }

    pub(super) fn named<'k>(&self, arena: &'k Arena, access: u16, name: impl Into<String>) -> Val<'k> {
        arena.name(name, Ty::of(self.group.accesses[usize::from(access)].dtype, self.lanes))
    }

    pub(super) fn loaded<'k>(&self, arena: &'k Arena, access: u16) -> Val<'k> {
        self.named(arena, access, format!("{}_x{access}", self.prefix))
    }
}

pub(super) struct OperandPlace<'a, 'k> {
    pub(super) operand: &'a Operand<'a>,
    pub(super) loaded: &'a dyn Fn(u16) -> Val<'k>,
    pub(super) at: &'a [Val<'k>],
    pub(super) accumulators: &'a [Val<'k>],
}

impl<'k> ElementContext<'k> for OperandPlace<'_, 'k> {
    fn load(&self, _: &mut Shader<'k>, access: u16) -> Val<'k> {
        (self.loaded)(access)
    }

    fn gather(&self, shader: &mut Shader<'k>, access: u16) -> Gather<'_, 'k> {
        let Operand { group, lanes, buffer_lanes, lane_axis, .. } = *self.operand;
        let kernel_access = &group.accesses[usize::from(access)];
        let space = kernel_access.access.space;
        let mut offset = shader.uniform(Uniform::Offset { access });
        let mut steps = vec![];
        if kernel_access.access.axes.iter().any(Option::is_some) {
            for (axis, &coordinate) in self.at.iter().enumerate() {
                // Lanes outside the operand, masked later, read its last elements.
                let extent = shader.uniform(Uniform::Extent { axis: domain_axis(group, space, axis) });
                let last = if axis == lane_axis { lanes } else { 1 };
                let stride = shader.uniform(Uniform::Stride { access, axis: axis as u8 });
                offset = offset + coordinate.min(extent - last) * stride;
                if axis == lane_axis && lanes > 1 {
                    steps = (0..lanes).map(|lane| shader.u32(lane) * stride).collect();
                }
            }
        }
        Gather { access: kernel_access, buffer_lanes, offset, steps, index: access }
    }

    fn coordinate(&self, _: &mut Shader<'k>, axis: u8) -> Val<'k> {
        let axis = usize::from(axis);
        lane_coordinates(self.at[axis], self.operand.lanes, axis == self.operand.lane_axis)
    }

    fn accumulator(&self, product: u8) -> Val<'k> {
        self.accumulators[usize::from(product)]
    }
}

/// Domain axis of a space's axis: batch axes, then M, N, K of a contraction; M, E, N, D of an attention, and F of a
/// weighted sum.
fn domain_axis(group: &Group, space: Space, axis: usize) -> u8 {
    let rank = group.shape.len();
    let (rows, columns, inner, depth) = (rank - 2, rank - 1, rank, rank + 1);
    let last = match (&group.kind, space) {
        (GroupKind::Attention(_) | GroupKind::WeightedSum(_), Space::Lhs) => [rows, depth],
        (GroupKind::Attention(_) | GroupKind::WeightedSum(_), Space::Rhs) => [depth, inner],
        (_, Space::SecondLhs) => [rows, depth + 1],
        (_, Space::SecondRhs) => [depth + 1, inner],
        (_, Space::Lhs | Space::Score) => [rows, inner],
        (_, Space::Rhs | Space::Value) => [inner, columns],
        (_, Space::Point) => [rows, columns],
    };
    let domain_axis = axis.checked_sub(rank - 2).map_or(axis, |axis| last[axis]);
    domain_axis as u8
}

/// An operand's value at `at`, after its prologue: calls a function declared once.
pub(super) fn read<'k>(shader: &mut Shader<'k>, operand: &Operand<'_>, at: &[Val<'k>]) -> Val<'k> {
    let name = format!("{}_read", operand.prefix.trim_end_matches('_'));
    let ty = Ty::of(operand.body.values[operand.value].dtype, operand.lanes);
    if shader.declares(&name) {
        let arena = shader.arena();
        let parameters: Vec<String> = (0..at.len()).map(|axis| format!("at{axis}")).collect();
        let at: Vec<Val<'k>> = parameters.iter().map(|name| arena.name(name, Ty::U32)).collect();
        let mut body = Block::new();
        load(shader, &mut body, operand, &operand.loads(), &at);
        let loaded = |access| operand.loaded(arena, access);
        let value = operand.value(shader, &mut body, &loaded, &at);
        body.answer(value);
        let parameters = parameters.into_iter().map(|name| (name, Ty::U32)).collect();
        shader.function(Function { name: name.clone(), parameters, result: Some(ty), body });
    }
    shader.arena().call(name, at, ty)
}

pub(super) fn load<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    operand: &Operand<'_>,
    accesses: &[u16],
    at: &[Val<'k>],
) {
    let coordinates: Vec<Option<Val<'k>>> = at.iter().copied().map(Some).collect();
    for &access in accesses {
        let offset = operand.offset(shader, access, &coordinates);
        let value = operand.load(shader, access, offset);
        b.bind(format!("{}_x{access}", operand.prefix), value);
    }
}
