//! Ranges of integers and booleans, exact unless cast from inexact floats.

use fuse_artifact::DType;

use super::{Range, range::everything};
use crate::{
    interp::Element,
    operations::{BinaryOp, Spread, UnaryOp},
};

fn corners(xs: &[f64], mut f: impl FnMut(f64) -> f64) -> Range {
    xs.iter().fold(Range::EMPTY, |range, &x| range.union(Range::point(f(x))))
}

pub(super) fn unary(op: UnaryOp, dtype: DType, x: Range) -> Range {
    let f = |x: f64| f64::unary(op, dtype, &x);
    if x.is_point() {
        return Range::point(f(x.low));
    }
    // Others do not keep wrapped neighbours adjacent.
    let monotone = match op {
        UnaryOp::Neg => dtype != DType::U32,
        UnaryOp::FromBits => return Range::ANY,
        UnaryOp::PopCount => false,
        _ => true,
    };
    if !monotone || x.low == f64::from(i32::MIN) {
        return everything(dtype);
    }
    let range = corners(&[x.low, x.high], f);
    if x.low < 0.0 && x.high > 0.0 { range.union(Range::point(f(0.0))) } else { range }
}

pub(super) fn binary(op: BinaryOp, dtype: DType, x: Range, y: Range) -> Range {
    if x.is_point() && y.is_point() {
        return Range::point(f64::binary(op, dtype, &x.low, &y.low));
    }
    let row = op.row();
    if !matches!(row.spread, Spread::Rounded | Spread::Product | Spread::Ends) {
        return everything(dtype);
    }
    let wide = row.value;
    let range = corners(&[x.low, x.high], |x| wide(x, y.low)).union(corners(&[x.low, x.high], |x| wide(x, y.high)));
    let all = everything(dtype);
    if range.low < all.low || range.high > all.high { all } else { range }
}
