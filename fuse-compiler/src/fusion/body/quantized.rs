//! Values of quantized tensors in bodies.

use fuse_artifact::{DType, Packing, Size, Slot, Space};

use super::{ValueId, ValueOp, Walk};
use crate::{
    fusion::index::{AxisMap, IndexMap},
    graph::NodeId,
};

/// A dequantized value, `q·scale + offset`.
///
/// `q` lies in the words at `index` along the packed axis; scale and offset belong to group `index / group`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dequantize {
    /// The parameter.
    pub param: u16,
    /// Layout of codes in words.
    pub packing: Packing,
    /// Access to the words along every axis but the packed one.
    pub words: u16,
    /// Access to the pairs of scale and offset, along the same axes.
    pub scales: u16,
    /// The packed axis in both views.
    pub axis: u8,
    /// Coordinate along the packed axis, in bounds.
    pub index: ValueId,
    /// Axis of the space equal to that coordinate, if there is one and it starts at 0.
    pub along: Option<u8>,
    /// View axes and their computed coordinates.
    pub at: Vec<(u8, ValueId)>,
    /// Values per group.
    pub group: Size,
}

impl Walk<'_, '_> {
    pub(super) fn dequantize(&mut self, node: NodeId, param: u16, map: &IndexMap) -> ValueId {
        let graph = self.builder.graph;
        let shape = &graph.nodes[node].ty.shape;
        let quantized = graph.params[usize::from(param)].quantized.as_ref().expect("the graph is verified");
        let packed = &map.axes[quantized.axis];
        let along = packed.axis.filter(|_| packed.start == Size::default());
        let index = self.packed_coordinate(packed, &shape[quantized.axis]);
        let mut map = map.clone();
        map.axes[quantized.axis] = AxisMap::FIXED;
        let of = |slot: Slot| (slot, DType::U32);
        let (words, at) = self.access(of(Slot::Param(param)), &quantized.words_shape(shape), &map, true);
        let (scales, _) = self.access(of(Slot::Scales(param)), &quantized.groups_shape(shape), &map, true);
        let (packing, axis, group) = (quantized.packing, quantized.axis as u8, quantized.group.clone());
        let value = Dequantize { param, packing, words, scales, axis, index, along, at, group };
        self.push(ValueOp::Dequantize(Box::new(value)), DType::F32)
    }

    /// Coordinate along the packed axis, clamped: masked lanes may lie beyond the extent.
    fn packed_coordinate(&mut self, packed: &AxisMap, extent: &Size) -> ValueId {
        let Some(axis) = packed.axis else {
            return match packed.value {
                Some(_) => self.coordinate(packed),
                None => self.push(ValueOp::Size(packed.start.clone()), DType::I32),
            };
        };
        // The last two axes of an operand stay as they are, except for rows, into which batches may be folded.
        let inner = usize::from(axis) + 2 >= self.region.rank;
        let last = usize::from(axis) + 1 == self.region.rank;
        self.builder.fixed |= match self.region.space {
            Space::Rhs | Space::SecondLhs | Space::SecondRhs | Space::Value => !inner,
            Space::Lhs => !last,
            Space::Point | Space::Score => true,
        };
        let coordinate = self.push(ValueOp::Coordinate { axis: Some(axis), start: packed.start.clone() }, DType::I32);
        self.below_extent(coordinate, extent.clone())
    }
}
