//! The text of products with few rows, or few sums: invocations share the depth.
//!
//! What differs is how right operands are read: value by value for one row (`row`), for few rows in whole steps (`few_rows`) or for
//! sums of their own (`dot`); or, of quantized weights, by whole words (`words`, whose inner loop is in `runs`), which for left
//! operands of 8 bits multiply integers (`int8`). How invocations lie and add up what they have is in `layers`.

mod dot;
mod few_rows;
mod int8;
mod layers;
mod row;
mod runs;
mod words;

use fuse_artifact::{
    Pass,
    schedule::{Gemv, GemvRhs, GemvRows},
};

use self::layers::Layers;
use super::names::Names;
use crate::fusion::{Contraction, Group};

/// The first pass of a gemv.
pub fn gemv(group: &Group, contraction: &Contraction, names: &Names, gemv: Gemv) -> Pass {
    let layers = Layers(gemv);
    match (gemv.rows, gemv.rhs) {
        (GemvRows::AtMost { .. }, GemvRhs::Elements { whole_steps: true }) => {
            few_rows::few_rows(group, contraction, names, layers)
        }
        (GemvRows::AtMost { .. }, GemvRhs::Elements { whole_steps: false }) => {
            row::row(group, contraction, names, layers)
        }
        (GemvRows::One, GemvRhs::Elements { .. }) => dot::dot(group, contraction, names, gemv),
        (_, GemvRhs::Packed { .. } | GemvRhs::Int8 { .. }) => words::words(group, contraction, names, layers),
    }
}
