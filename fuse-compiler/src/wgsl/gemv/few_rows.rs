//! The text of contractions with few rows, in whole steps: an invocation reads eight depths of four columns once for all of its
//! rows, whose depths it reads in vectors.
//!
//! Layers (`layers`) lie along the columns or along the depth, as the right operands do.

use fuse_artifact::{Pass, schedule::LANES};

use super::{layers::Layers, row::read_vectors};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::ROW_STEP,
    wgsl::{
        builtins::vector_type,
        epilogue::{multiply_add, rhs_prefixes, sum_dtype},
        names::Names,
        operand::{Operand, read},
    },
};

/// The pass of a schedule in whole steps, whose right operands all lie as the layers do.
pub(super) fn few_rows(group: &Group, contraction: &Contraction, names: &Names, layers: Layers) -> Pass {
    let (count, along_depth) = (layers.count(), layers.0.along_depth());
    layers.pass(group, contraction, names, |shader, main, axes| {
        let sum = sum_dtype(group, contraction);
        let ty = vector_type(sum, LANES);
        let (body, value) = &contraction.lhs;
        let lane_axis = axes.batch + 1;
        let lhs = Operand { group, body, value: *value, prefix: "a", lanes: LANES, buffer_lanes: LANES, lane_axis };
        let suffixes = axes.product_suffixes();
        layers.declare_sums(main, axes, &ty);
        main.line(format!("for (var k = k_begin + layer * {ROW_STEP}u; k < k_end; k += {}u) {{", count * ROW_STEP));
        for (((body, value), prefix), suffix) in contraction.rhs.iter().zip(rhs_prefixes(contraction)).zip(&suffixes) {
            let lane_axis = if along_depth { axes.batch } else { axes.batch + 1 };
            let rhs = Operand { body, value: *value, prefix, lane_axis, ..lhs };
            // Vectors of a depth, or of a column.
            let name = if along_depth { "column" } else { "right" };
            for vector in 0..ROW_STEP {
                let (depth, column) = match along_depth {
                    true => (vector / LANES * LANES, vector % LANES),
                    false => (vector, 0),
                };
                let mut at = axes.batch_names();
                at.extend([format!("k + {depth}u"), format!("column + {column}u")]);
                let value = read(shader, &rhs, &at);
                main.line(format!("let {name}{suffix}_{vector} = {value};"));
            }
            for depth in (0..ROW_STEP).filter(|_| along_depth) {
                let first = depth / LANES * LANES;
                let of_columns =
                    (first..first + LANES).map(|vector| format!("column{suffix}_{vector}[{}]", depth % LANES));
                let of_columns = of_columns.collect::<Vec<_>>().join(", ");
                main.line(format!("let right{suffix}_{depth} = {ty}({of_columns});"));
            }
        }
        layers.bundles(main, axes, |main, bundle| {
            for row in bundle {
                main.line("{");
                let at = layers.row(axes, row);
                read_vectors(shader, main, &lhs, (axes, &at, "k"), "left", ROW_STEP / LANES);
                for suffix in &suffixes {
                    for depth in 0..ROW_STEP {
                        let right = format!("right{suffix}_{depth}");
                        let left = format!("{ty}(left{}[{}])", depth / LANES, depth % LANES);
                        main.line(multiply_add(sum, &layers.sum(suffix, row), &left, &right));
                    }
                }
                main.line("}");
            }
        });
        main.line("}");
    })
}
