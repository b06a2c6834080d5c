//! Index maps: coordinates of a value as a function of a kernel's domain.
//!
//! Permute, slice, broadcast and unit-axis reshape only rename coordinates. A reshape that mixes axes is free only on a
//! stored (contiguous) value.

use fuse_artifact::{Access, Size, Slot, Space};

use super::body::ValueId;
use crate::graph::{Graph, NodeId, Op};

/// Source of each axis's coordinate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexMap {
    /// One per axis of the value.
    pub axes: Vec<AxisMap>,
}

/// Coordinate: `start + domain[axis]`, `start + value`, or `start`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AxisMap {
    /// Domain axis that the coordinate follows.
    pub axis: Option<u8>,
    /// Body value of a computed coordinate.
    pub value: Option<ValueId>,
    /// First coordinate.
    pub start: Size,
    /// True if the axis may have extent 1 at launch where the domain's is larger.
    pub may_repeat: bool,
}

impl AxisMap {
    pub(super) const FIXED: Self = Self { axis: None, value: None, start: zero(), may_repeat: false };

    /// Coordinate of a domain axis.
    pub fn along(axis: u8) -> Self {
        Self { axis: Some(axis), ..Self::FIXED }
    }

    /// Computed coordinate.
    pub fn computed(value: ValueId) -> Self {
        Self { value: Some(value), ..Self::FIXED }
    }
}

const fn zero() -> Size {
    Size { terms: std::borrow::Cow::Borrowed(&[]) }
}

impl IndexMap {
    /// Maps axis `d` to domain axis `d`.
    pub fn identity(rank: usize) -> Self {
        Self { axes: (0..rank).map(|d| AxisMap::along(d as u8)).collect() }
    }

    /// Identity with the last two axes exchanged.
    pub fn exchanged(rank: usize) -> Self {
        let mut map = Self::identity(rank);
        map.axes.swap(rank - 2, rank - 1);
        map
    }

    /// Maps axis `d` to domain axis `axes[d]`, or fixes it.
    pub fn along(axes: &[Option<u8>]) -> Self {
        Self { axes: axes.iter().map(|axis| axis.map_or(AxisMap::FIXED, AxisMap::along)).collect() }
    }

    /// True if both give the same coordinates of a value of `shape`; axes of extent 1 always agree.
    pub fn agrees(&self, other: &Self, shape: &[Size]) -> bool {
        let axes = self.axes.iter().zip(&other.axes).zip(shape);
        self.axes.len() == other.axes.len() && axes.into_iter().all(|((a, b), size)| a == b || size.is_one())
    }

    /// Map of a broadcast's operand; `from` may be rank 0.
    pub fn through_broadcast(&self, from: &[Size], to: &[Size]) -> Self {
        if from.is_empty() {
            return Self { axes: vec![] };
        }
        let axes = self.axes.iter().zip(from.iter().zip(to)).map(|(map, (from, to))| {
            if from == to {
                map.clone()
            } else if from.is_one() {
                AxisMap::FIXED
            } else {
                AxisMap { may_repeat: true, ..map.clone() }
            }
        });
        Self { axes: axes.collect() }
    }

    /// Access to a stored value from a space of `rank` axes.
    pub fn access(&self, slot: Slot, space: Space, view: &[Size], rank: usize) -> Access {
        let mut axes = vec![None; rank];
        for (v, map) in self.axes.iter().enumerate() {
            if let Some(axis) = map.axis {
                axes[usize::from(axis)] = Some(v as u8);
            }
        }
        let sliced = self.axes.iter().any(|map| map.start != zero());
        let starts = if sliced { self.axes.iter().map(|map| map.start.clone()).collect() } else { vec![] };
        Access { slot, space, view: view.to_vec().into(), axes: axes.into(), starts: starts.into() }
    }
}

/// Operand and map of a movement operation.
///
/// `Ok(None)` for other operations; `Err` if the coordinates are not affine in the domain's.
pub fn through_movement(
    graph: &Graph,
    uses_coordinates: impl Fn(NodeId) -> bool,
    node: NodeId,
    map: &IndexMap,
) -> Result<Option<(NodeId, IndexMap)>, &'static str> {
    let shape = &graph.nodes[node].ty.shape;
    match &graph.nodes[node].op {
        Op::Permute { x, permutation } => {
            let mut axes = vec![AxisMap::FIXED; permutation.len()];
            for (d, &p) in permutation.iter().enumerate() {
                axes[p] = map.axes[d].clone();
            }
            Ok(Some((*x, IndexMap { axes })))
        }
        Op::Slice { x, axis, start } => {
            let mut map = map.clone();
            map.axes[*axis].start = map.axes[*axis].start.add(start);
            Ok(Some((*x, map)))
        }
        Op::Broadcast(x) => {
            let from = &graph.nodes[*x].ty.shape;
            let map = map.through_broadcast(from, shape);
            if map.axes.iter().any(|axis| axis.may_repeat) && uses_coordinates(*x) {
                return Err("coordinates of a value that may be broadcast at launch");
            }
            Ok(Some((*x, map)))
        }
        Op::Reshape(x) => match through_unit_reshape(&graph.nodes[*x].ty.shape, shape, map) {
            Some(map) => Ok(Some((*x, map))),
            None => Err("the reshape mixes axes of a value that is not in memory"),
        },
        _ => Ok(None),
    }
}

fn through_unit_reshape(from: &[Size], to: &[Size], map: &IndexMap) -> Option<IndexMap> {
    let mut kept = to.iter().zip(&map.axes).filter(|(size, _)| !size.is_one());
    let mut axes = Vec::with_capacity(from.len());
    for size in from {
        if size.is_one() {
            axes.push(AxisMap::FIXED);
        } else {
            let (to_size, axis) = kept.next()?;
            if to_size != size {
                return None;
            }
            axes.push(axis.clone());
        }
    }
    kept.next().is_none().then_some(IndexMap { axes })
}

/// Source of a chain of reshapes.
pub fn strip_reshapes(graph: &Graph, mut node: NodeId) -> NodeId {
    while let Op::Reshape(x) = graph.nodes[node].op {
        node = x;
    }
    node
}

/// Per node: inlining it uses a coordinate as a value.
pub fn uses_coordinates(graph: &Graph) -> Vec<bool> {
    let mut uses = vec![false; graph.nodes.len()];
    for (id, node) in graph.nodes.iter() {
        uses[id.index()] = match &node.op {
            Op::Index { .. } => true,
            Op::Matmul { .. } | Op::Reduce { .. } => false,
            op => op.operands().into_iter().any(|x| uses[x.index()]),
        };
    }
    uses
}
