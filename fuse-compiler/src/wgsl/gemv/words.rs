//! The text of contractions with few rows, or few results, whose right operands are weights that are read by words: each step of a
//! layer (`layers`) is a run of weights (`runs`).

use fuse_artifact::{Pass, schedule::GemvRhs};

use super::{
    layers::Layers,
    runs::{Column, Runs},
};
use crate::{
    fusion::{Contraction, Group},
    wgsl::{names::Names, weights::WeightText},
};

/// The pass of a `packed` schedule, or, if the left operand is rounded to 8 bits, of an `int8` one.
pub(super) fn words(group: &Group, contraction: &Contraction, names: &Names, layers: Layers) -> Pass {
    let int8 = matches!(layers.0.rhs, GemvRhs::Int8 { .. });
    layers.pass(group, contraction, names, |shader, main, axes| {
        let products = WeightText::all(group, contraction);
        products.iter().for_each(|weights| weights.declare(shader));
        let columns = Column::all(shader, main, &products, axes);
        Runs::new(group, contraction, axes, &layers, int8).multiply(shader, main, &products, &columns);
    })
}
