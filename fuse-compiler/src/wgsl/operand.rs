//! Operands of contractions at a place of the domain: offsets, loads and prologues.

use fuse_artifact::{Space, Uniform};

use super::{
    builtins::vector_type,
    expr::{ElementContext, emit},
    loads::{Gather, Load},
    shader::{CodeBuffer, Shader},
};
use crate::{
    fusion::{
        Group, GroupKind,
        body::{self, Body, ValueId, ValueOp},
    },
    schedule::layout::{Along, along},
};

/// The buffers of a contraction's inputs are bound with this width wherever 16-byte loads are used.
#[derive(Clone)]
pub(super) struct Operand<'a> {
    /// The group.
    pub group: &'a Group,
    /// The operand's program.
    pub body: &'a Body,
    /// Its value.
    pub value: ValueId,
    /// The prefix of its names, unique in the shader.
    pub prefix: &'static str,
    /// Elements per load.
    pub lanes: u32,
    /// The width that buffers are bound with.
    pub buffer_lanes: u32,
    /// The axis of the operand's space along which lanes lie.
    pub lane_axis: usize,
}

impl Operand<'_> {
    /// The accesses that the operand reads at coordinates of the domain, with their numbers.
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

    /// The element offset of an access at coordinates `at` (one expression per axis of its space; batch
    /// coordinates among them), without axes for which `at` is `None`.
    pub(super) fn offset(&self, shader: &mut Shader<'_>, access: u16, at: &[Option<String>]) -> String {
        let mut offset = shader.uniform(Uniform::Offset { access });
        for (axis, coordinate) in at.iter().enumerate() {
            if let Some(coordinate) = coordinate {
                offset += &self.step(shader, access, axis, coordinate);
            }
        }
        offset
    }

    /// The term that a coordinate adds to an offset: empty where the access does not move.
    pub(super) fn step(&self, shader: &mut Shader<'_>, access: u16, axis: usize, coordinate: &str) -> String {
        match self.along(access, axis) {
            Along::Zero if !self.may_fold(access, axis) => String::new(),
            Along::Unit if self.lanes > 1 && axis == self.lane_axis => format!(" + {coordinate}"),
            Along::Zero | Along::Unit | Along::UnitOrZero | Along::Strided => {
                let stride = shader.uniform(Uniform::Stride { access, axis: axis as u8 });
                format!(" + {coordinate} * {stride}")
            }
        }
    }

    /// Whether an access that repeats along the rows may walk them at launch, because batches of one row are folded into
    /// the rows.
    fn may_fold(&self, access: u16, axis: usize) -> bool {
        let GroupKind::Contraction(_) = self.group.kind else { return false };
        let access = &self.group.accesses[usize::from(access)].access;
        let batch = self.group.shape.len() - 2;
        let along_lanes = self.lanes > 1 && axis == self.lane_axis;
        axis == batch && access.space != Space::Rhs && !along_lanes && access.axes[..batch].iter().any(Option::is_some)
    }

    /// The load of an access at an element offset.
    pub(super) fn load(&self, shader: &mut Shader<'_>, access: u16, offset: &str) -> String {
        self.access(access).read(shader, offset, self.lanes, "3u")
    }

    /// As [`load`](Self::load), with the type that the buffer has.
    pub(super) fn load_stored(&self, shader: &mut Shader<'_>, access: u16, offset: &str) -> String {
        self.access(access).stored(shader, offset, self.lanes, "3u")
    }

    /// The buffer of an access.
    pub(super) fn buffer(&self, shader: &mut Shader<'_>, access: u16) -> String {
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

    /// Writes the operand's program; `loaded` names the values of its accesses, `at` the coordinates.
    pub(super) fn value(
        &self,
        shader: &mut Shader<'_>,
        lines: &mut CodeBuffer,
        loaded: &dyn Fn(u16) -> String,
        at: &[String],
    ) -> String {
        if let [body::Value { op: ValueOp::Load(access), .. }] = self.body.values[..] {
            return loaded(access);
        }
        let place = OperandPlace { operand: self, loaded, at, sums: &[] };
        let values = emit(shader, lines, self.body, self.lanes, self.prefix, &place);
        values[self.value].clone()
    }
}

/// A place in one of a contraction's spaces.
pub(super) struct OperandPlace<'a> {
    pub(super) operand: &'a Operand<'a>,
    pub(super) loaded: &'a dyn Fn(u16) -> String,
    pub(super) at: &'a [String],
    /// The contraction's sums, one per product.
    pub(super) sums: &'a [String],
}

impl ElementContext for OperandPlace<'_> {
    fn load(&self, _: &mut Shader<'_>, access: u16) -> String {
        (self.loaded)(access)
    }

    fn gather(&self, shader: &mut Shader<'_>, access: u16) -> Gather<'_> {
        let Operand { group, lanes, buffer_lanes, lane_axis, .. } = *self.operand;
        let kernel_access = &group.accesses[usize::from(access)];
        let space = kernel_access.access.space;
        let mut offset = shader.uniform(Uniform::Offset { access });
        let mut steps = vec![];
        if kernel_access.access.axes.iter().any(Option::is_some) {
            for (axis, coordinate) in self.at.iter().enumerate() {
                // Coordinates outside the operand, of lanes that are masked later, read its last elements.
                let extent = shader.uniform(Uniform::Extent { axis: domain_axis(group, space, axis) });
                let last = if axis == lane_axis { lanes } else { 1 };
                let stride = shader.uniform(Uniform::Stride { access, axis: axis as u8 });
                offset = format!("{offset} + min({coordinate}, {extent} - {last}u) * {stride}");
                if axis == lane_axis && lanes > 1 {
                    steps = (0..lanes).map(|lane| format!("{lane}u * {stride}")).collect();
                }
            }
        }
        Gather { access: kernel_access, buffer_lanes, offset, steps, index: access }
    }

    fn coordinate(&self, axis: u8) -> String {
        let at = &self.at[usize::from(axis)];
        match (self.operand.lanes, usize::from(axis) == self.operand.lane_axis) {
            (1, _) => format!("({at})"),
            (_, true) => format!("(vec4<u32>({at}) + vec4<u32>(0u, 1u, 2u, 3u))"),
            (_, false) => format!("vec4<u32>({at})"),
        }
    }

    fn sum(&self, product: u8) -> String {
        self.sums[usize::from(product)].clone()
    }
}

/// The axis of the domain that an axis of one of its spaces is: batch axes, M, N, K of a contraction; batch axes, M, E,
/// N, D of an attention, and F of a weighted sum.
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

/// The value of an operand at the coordinates `at`, after its prologue: the call of a function, whose text stands once.
pub(super) fn read(shader: &mut Shader<'_>, operand: &Operand<'_>, at: &[String]) -> String {
    let name = format!("{}_read", operand.prefix.trim_end_matches('_'));
    if !shader.is_declared(&name) {
        let parameters: Vec<String> = (0..at.len()).map(|axis| format!("at{axis}")).collect();
        let mut body = CodeBuffer::default();
        load(shader, &mut body, operand, &operand.loads(), &parameters);
        let value = operand.value(shader, &mut body, &loaded(operand.prefix), &parameters);
        let ty = vector_type(operand.body.values[operand.value].dtype, operand.lanes);
        let mut lines = CodeBuffer::default();
        lines.line(format!("fn {name}({}: u32) -> {ty} {{", parameters.join(": u32, ")));
        lines.append(&body);
        lines.line(format!("return {value};"));
        lines.line("}");
        shader.declare(name.clone(), lines);
    }
    format!("{name}({})", at.join(", "))
}

/// Loads what an operand reads through `accesses`.
pub(super) fn load(
    shader: &mut Shader<'_>,
    main: &mut CodeBuffer,
    operand: &Operand<'_>,
    accesses: &[u16],
    at: &[String],
) {
    let coordinates: Vec<Option<String>> = at.iter().cloned().map(Some).collect();
    for &access in accesses {
        let offset = operand.offset(shader, access, &coordinates);
        let load = operand.load(shader, access, &offset);
        main.line(format!("let {} = {load};", loaded(operand.prefix)(access)));
    }
}

/// The names of what was loaded.
pub(super) fn loaded(prefix: &str) -> impl Fn(u16) -> String {
    move |access| format!("{prefix}_x{access}")
}
