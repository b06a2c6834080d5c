//! The text of contractions with few rows, or few results, whose right operands are weights that are read by words: each step of a
//! layer (`layers`) is a run of weights (`runs`).

use fuse_artifact::Pass;

use super::{
    layers::Layers,
    names::Names,
    runs::{Column, Runs},
    weights::WeightText,
};
use crate::fusion::{Contraction, Group};

/// The pass of a `words row` or `words dot` member, or, if the left operand is rounded to 8 bits, of an `int8` one.
pub fn words(group: &Group, contraction: &Contraction, names: &Names, layers: Layers, int8: bool) -> Pass {
    layers.pass(group, contraction, names, |shader, main, axes| {
        let products = WeightText::all(group, contraction);
        products.iter().for_each(|weights| weights.declare(shader));
        let columns = Column::all(shader, main, &products, axes);
        Runs::new(group, contraction, axes, &layers, int8).multiply(shader, main, &products, &columns);
    })
}
