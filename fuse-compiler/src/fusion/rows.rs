//! Row spaces: shapes of values in a kernel with reductions.
//!
//! Kept axes of a reduction's operand number the rows; reduced axes run along them. Values of the operand's shape are
//! per element; values with only kept axes and axes of extent 1 are per row.

use fuse_artifact::Size;

use super::index::IndexMap;
use crate::graph::{Graph, NodeId, Op, TensorType};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowSpace {
    pub(crate) shape: Vec<Size>,
    /// Reduced axes, sorted.
    pub(crate) axes: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Element,
    Row,
}

impl RowSpace {
    pub(crate) fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.shape.len()).filter(|axis| !self.axes.contains(axis))
    }

    /// Kept axes, then reduced ones.
    pub(crate) fn domain(&self) -> Vec<usize> {
        self.kept().chain(self.axes.iter().copied()).collect()
    }

    pub(crate) fn extents(&self) -> Vec<Size> {
        self.domain().into_iter().map(|axis| self.shape[axis].clone()).collect()
    }

    /// Multiplicity of a shape; `None` if it fits neither way.
    pub(crate) fn extent(&self, shape: &[Size]) -> Option<Extent> {
        if *shape == *self.shape {
            return Some(Extent::Element);
        }
        let kept = self.kept().map(|axis| &self.shape[axis]).filter(|size| !size.is_one());
        kept.eq(shape.iter().filter(|size| !size.is_one())).then_some(Extent::Row)
    }

    /// Coordinates of a computed value. A final permute is computed at its operand and stored in its own order.
    pub(crate) fn place(&self, graph: &Graph, node: NodeId) -> IndexMap {
        match &graph.nodes[node].op {
            Op::Permute { x, permutation } => {
                let operand = self.place_of(&graph.nodes[*x].ty);
                IndexMap { axes: permutation.iter().map(|&axis| operand.axes[axis].clone()).collect() }
            }
            _ => self.place_of(&graph.nodes[node].ty),
        }
    }

    pub(crate) fn place_of(&self, ty: &TensorType) -> IndexMap {
        let domain = self.domain();
        let position = |axis: usize| domain.iter().position(|&a| a == axis).map(|d| d as u8);
        if ty.shape == self.shape {
            return IndexMap::along(&(0..self.shape.len()).map(position).collect::<Vec<_>>());
        }
        let mut kept = self.kept().filter(|&axis| !self.shape[axis].is_one());
        let along = |size: &Size| if size.is_one() { None } else { kept.next().and_then(position) };
        IndexMap::along(&ty.shape.iter().map(along).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use fuse_artifact::DType;

    use super::*;

    #[test]
    fn kept_axes_come_first_and_unit_axes_do_not_count() {
        let (a, b, c) = (Size::symbol(0), Size::symbol(1), Size::symbol(2));
        let rows = RowSpace { shape: vec![a.clone(), b.clone(), c.clone()], axes: vec![1] };
        assert_eq!(rows.domain(), [0, 2, 1]);
        assert_eq!(rows.extent(&[a.clone(), Size::ONE, c.clone()]), Some(Extent::Row));
        assert_eq!(rows.extent(&[a.clone(), c.clone()]), Some(Extent::Row));
        assert_eq!(rows.extent(&[c.clone(), a.clone()]), None);
        assert_eq!(rows.extent(&rows.shape), Some(Extent::Element));
        let row = TensorType::new(DType::F32, vec![a, c]);
        assert_eq!(rows.place_of(&row), IndexMap::along(&[Some(0), Some(1)]));
        let element = TensorType::new(DType::F32, rows.shape.clone());
        assert_eq!(rows.place_of(&element), IndexMap::along(&[Some(0), Some(2), Some(1)]));
    }
}
