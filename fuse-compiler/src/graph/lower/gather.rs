//! Computed indices: `gather`, `embedding` and `one_hot`.

use fuse_artifact::{DType, Relation, Size};

use super::{Lowering, options::Site, output::RankExpr, ranks, value::Operand};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::{CompareOp, NodeId},
    operations::BinaryOp,
};

/// Visible shapes: extents of table and indices, the table's axis, the result's rank.
struct Gather {
    table: Vec<Size>,
    ids: Vec<Size>,
    axis: usize,
    rank: RankExpr,
}

impl Lowering<'_> {
    /// Replaces an axis of the table, by default the first, by the axes of `ids`. Indices are clamped; an empty axis
    /// has no valid index.
    pub(super) fn gather(&mut self, operands: &[Operand], site: Site<'_>) -> Option<NodeId> {
        let (table, ids) = (self.force(&operands[0]), self.indices(&operands[1], site));
        let (table, ids) = (table?, ids?);
        let at = site.at;
        let seen = if self.padded && self.visible_rank(table).is_none() {
            self.padded_gather(table, ids, site)?
        } else {
            self.plain_gather(table, ids, &operands[0], site)?
        };
        self.require_places(&seen, table, site);
        let (before, after) = (&seen.table[..seen.axis], &seen.table[seen.axis + 1..]);
        let mut shape: Vec<Size> = before.iter().chain(&seen.ids).chain(after).cloned().collect();
        self.require_rank(shape.len(), at)?;
        let single = seen.ids.is_empty();
        if single {
            shape.insert(seen.axis, Size::ONE);
        }
        let places = seen.ids.len().max(1);
        let ones = |count: usize| std::iter::repeat_n(Size::ONE, count);
        // The gathered axis is the last of `ids`; the table broadcasts along the others.
        let (axis, extent) = (seen.axis + places - 1, seen.table[seen.axis].clone());
        let spread: Vec<Size> = before
            .iter()
            .cloned()
            .chain(ones(places - 1))
            .chain([extent.clone()])
            .chain(after.iter().cloned())
            .collect();
        let index: Vec<Size> =
            ones(before.len()).chain(shape[seen.axis..=axis].iter().cloned()).chain(ones(after.len())).collect();
        let mut repeated = shape.clone();
        repeated[axis] = extent;
        let table = self.in_shape(table, spread, at);
        let repeated = self.pad(repeated);
        let table = self.broadcast_node(table, &repeated, at);
        let ids = self.in_shape(ids, index, at);
        let whole = self.pad(shape.clone());
        let ids = self.broadcast_node(ids, &whole, at);
        let value = self.take(table, whole.len() - shape.len() + axis, ids, at);
        if single {
            shape.remove(seen.axis);
            return Some(self.reshaped(value, shape, seen.rank, at));
        }
        self.set_rank(value, seen.rank);
        Some(value)
    }

    fn require_places(&mut self, seen: &Gather, table: NodeId, site: Site<'_>) {
        let indices = Size::product(&seen.ids);
        let what = format!("indices of `{}` into `{}`, none into an empty axis", site.name(), self.label(table));
        let places = indices.mul(&seen.table[seen.axis]);
        self.check(Relation::AtMost, indices, places, what);
    }

    fn in_shape(&mut self, x: NodeId, shape: Vec<Size>, at: SourceRange) -> NodeId {
        let rank = if self.pad(shape.clone()) == self.shape(x) {
            self.rank_of(x).clone()
        } else {
            RankExpr::Known(shape.len())
        };
        self.reshaped(x, shape, rank, at)
    }

    fn plain_gather(&mut self, table: NodeId, ids: NodeId, x: &Operand, site: Site<'_>) -> Option<Gather> {
        let axis = self.axis_option(site, table, 0, x.range)?;
        let rank = self.visible_rank(table)?;
        let hidden = self.shape(table).len() - rank;
        let table = self.shape(table)[hidden..].to_vec();
        let Some(count) = self.visible_rank(ids) else {
            // Otherwise the caller's type checker would have to add ranks.
            let length = self.require_vector(ids, site.name(), site.at)?;
            return Some(Gather { table, ids: vec![length], axis: axis - hidden, rank: RankExpr::Known(rank) });
        };
        let shape = self.shape(ids);
        let ids = shape[shape.len() - count..].to_vec();
        Some(Gather { table, ids, axis: axis - hidden, rank: RankExpr::Known(rank + count - 1) })
    }

    /// Gather in the expression form, whose caller's type checker knows the ranks.
    ///
    /// Without `axis` the table has 2 axes and `ids` at most 5. With it `ids` is a vector.
    fn padded_gather(&mut self, table: NodeId, ids: NodeId, site: Site<'_>) -> Option<Gather> {
        let own = self.rank_of(table).clone();
        if site.option("axis").is_some() {
            let axis = self.axis_option(site, table, -1, site.at)?;
            let length = self.require_vector(ids, site.name(), site.at)?;
            return Some(Gather { table: self.shape(table).to_vec(), ids: vec![length], axis, rank: own });
        }
        self.require_rank_expr(&ranks::exactly(2, own));
        let (table, ids_shape) = (self.shape(table).to_vec(), self.shape(ids).to_vec());
        let outer = Size::product(&table[..4]);
        self.check(Relation::Equal, outer, Size::ONE, format!("outer dimensions of the table of `{}`", site.name()));
        let seen = match self.visible_rank(ids) {
            Some(count) => ids_shape[ids_shape.len() - count..].to_vec(),
            None => {
                let what = format!("rank of the indices of `{}`, at most 5", site.name());
                self.check(Relation::Equal, ids_shape[0].clone(), Size::ONE, what);
                ids_shape[1..].to_vec()
            }
        };
        let rank = ranks::plus_1(self.rank_of(ids).clone());
        Some(Gather { table: table[4..].to_vec(), ids: seen, axis: 0, rank })
    }

    /// Converts to `i32`; values that do not fit stay out of bounds.
    pub(super) fn indices(&mut self, operand: &Operand, site: Site<'_>) -> Option<NodeId> {
        let node = self.force(operand)?;
        match self.dtype(node) {
            DType::I32 => Some(node),
            DType::U32 => {
                let largest = self.number(f64::from(i32::MAX), DType::U32, site.at);
                let node = self.binary(BinaryOp::Min, node, largest, site.at);
                Some(self.cast_node(node, DType::I32, site.at))
            }
            found => {
                let message = format!("`{}` takes indices of `i32` or `u32`, found `{found}`", site.name());
                self.sink.report(
                    Diagnostic::new(Code::IntegerRequired, operand.range, message)
                        .help(format!("convert them: `{} as i32`", self.label(node))),
                );
                None
            }
        }
    }

    /// `[..] → f32[.., classes]`: 1 where the last coordinate equals the index. An invalid class gives zeros.
    pub(super) fn one_hot(&mut self, ids: &Operand, site: Site<'_>) -> Option<NodeId> {
        let node = self.indices(ids, site);
        let classes = self.count_option(site, "classes");
        let (node, classes) = (node?, classes?);
        let at = site.at;
        let mut shape = self.shape(node).to_vec();
        let rank = ranks::plus_1(self.rank_of(node).clone());
        match self.visible_rank(node) {
            Some(rank) => {
                self.require_rank(rank + 1, at)?;
                shape.drain(..shape.len() - rank);
            }
            None => {
                let outermost = shape.remove(0);
                self.check(Relation::Equal, outermost, Size::ONE, "rank of the indices of `one_hot`, at most 5");
            }
        }
        let mut column = shape.clone();
        column.push(Size::ONE);
        shape.push(classes);
        let whole = self.pad(shape);
        let ids = self.in_shape(node, column, at);
        let ids = self.broadcast_node(ids, &whole, at);
        let place = self.coordinate(whole.len() - 1, &whole, at);
        let hit = self.compare(CompareOp::Eq, ids, place, at);
        let value = self.cast_node(hit, DType::F32, at);
        self.set_rank(value, rank);
        Some(value)
    }
}
