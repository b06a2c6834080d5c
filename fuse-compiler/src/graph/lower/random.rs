//! `dropout`, whose random numbers depend only on a seed and an element's position.
//!
//! Element `i` in row-major order draws word `i` of the seed's Philox4x32-10 stream (Salmon et al., Parallel random
//! numbers: as easy as 1, 2, 3, 2011), so every adapter and schedule drops the same elements.

use fuse_artifact::DType;

use super::{
    Lowering,
    options::{Site, literal_value},
    value::Operand,
};
use crate::{
    diag::{Code, Diagnostic},
    graph::{CompareOp, NodeId},
    operations::BinaryOp,
};

impl Lowering<'_> {
    /// Keeps an element, scaled by `1 / (1 - p)`, if its number from [0, 1) is at least `p`. `p >= 1` gives zeros.
    pub(super) fn dropout(&mut self, operands: &[Operand], site: Site<'_>) -> Option<NodeId> {
        let at = site.at;
        let x = self.float_operand(&operands[0], site);
        let p = self.probability(&operands[1], site);
        let seed = self.scalar(&operands[2], DType::U32, site.name(), "seed");
        let (x, (p, scale), seed) = (x?, p?, seed?);
        let (dtype, rank) = (self.dtype(x), self.rank_of(x).clone());
        let place = self.row_major_place(x, site);
        let word = self.binary(BinaryOp::Philox, place, seed, at);
        // 24 bits are exact in f32.
        let low = self.number(256.0, DType::U32, at);
        let high = self.binary(BinaryOp::Div, word, low, at);
        let number = self.cast_node(high, DType::F32, at);
        let unit = self.number(2f64.powi(-24), DType::F32, at);
        let number = self.binary(BinaryOp::Mul, number, unit, at);
        let keep = self.compare(CompareOp::Ge, number, p, at);
        let wide = self.cast_node(x, DType::F32, at);
        let scaled = self.binary(BinaryOp::Mul, wide, scale, at);
        let zero = self.number(0.0, DType::F32, at);
        let value = self.select(keep, scaled, zero, at);
        let value = self.cast_node(value, dtype, at);
        self.set_rank(value, rank);
        Some(value)
    }

    fn probability(&mut self, operand: &Operand, site: Site<'_>) -> Option<(NodeId, NodeId)> {
        let at = site.at;
        let one = |this: &mut Self| this.number(1.0, DType::F32, at);
        let Some(value) = literal_value(operand) else {
            let p = self.scalar(operand, DType::F32, site.name(), "p")?;
            let kept = one(self);
            let kept = self.binary(BinaryOp::Sub, kept, p, at);
            let dividend = one(self);
            let scale = self.binary(BinaryOp::Div, dividend, kept, at);
            // Gradients of 0 must not meet an infinite scale.
            let zero = self.number(0.0, DType::F32, at);
            let keeps = self.compare(CompareOp::Gt, kept, zero, at);
            return Some((p, self.select(keeps, scale, zero, at)));
        };
        if !(0.0..=1.0).contains(&value) {
            let message = format!("`p` of `dropout` is a probability, from 0 to 1, found {value}");
            self.sink.report(
                Diagnostic::new(Code::OptionRange, operand.range, message)
                    .help("`p` is the part that is dropped, for example `dropout(x, 0.1, seed)`"),
            );
            return None;
        }
        let p = self.scalar(operand, DType::F32, site.name(), "p")?;
        let scale = if value < 1.0 { 1.0 / (1.0 - value) } else { 0.0 };
        Some((p, self.number(scale, DType::F32, at)))
    }

    fn row_major_place(&mut self, x: NodeId, site: Site<'_>) -> NodeId {
        let (at, shape) = (site.at, self.shape(x).to_vec());
        let mut place: Option<NodeId> = None;
        for axis in (0..shape.len()).filter(|&axis| !shape[axis].is_one()) {
            let coordinate = self.coordinate(axis, &shape, at);
            let coordinate = self.cast_node(coordinate, DType::U32, at);
            place = Some(match place {
                None => coordinate,
                Some(outer) => {
                    let extent = self.size_number(&shape[axis], DType::U32, at);
                    let rows = self.binary(BinaryOp::Mul, outer, extent, at);
                    self.binary(BinaryOp::Add, rows, coordinate, at)
                }
            });
        }
        match place {
            Some(place) => place,
            None => {
                let zero = self.number(0.0, DType::U32, at);
                self.broadcast_node(zero, &shape, at)
            }
        }
    }
}
