//! The text of contractions with one row: a vector times a matrix that is contiguous along its columns.
//!
//! Each layer (`layers`) walks down a step of depths at a time.

use fuse_artifact::{Pass, schedule::LANES};

use super::layers::Layers;
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::ROW_STEP,
    wgsl::{
        builtins::{scalar_type, vector_type},
        epilogue::{Axes, multiply_add, rhs_prefixes, sum_dtype},
        names::Names,
        operand::{Operand, OperandPlace, load, loaded, read},
        operand_rows::{OperandRowText, RowNames},
        shader::{Lines, Shader},
    },
};

/// Names of what the loads of the left operand need of its row, if it has reductions.
const ROW: RowNames<'static> = RowNames { prefix: "a_row", lanes: 1 };

/// The pass of a schedule for one row that masks its steps.
pub(super) fn row(group: &Group, contraction: &Contraction, names: &Names, layers: Layers) -> Pass {
    let lhs = operand(group, &contraction.lhs, "a", 1);
    let rhs = contraction.rhs.iter().zip(rhs_prefixes(contraction));
    let rhs: Vec<_> = rhs.map(|(rhs, prefix)| operand(group, rhs, prefix, LANES)).collect();
    layers.pass(group, contraction, names, |shader, main, axes| {
        let rows = OperandRowText::new(group, contraction, [1, layers.invocations()], LANES);
        if let Some(rows) = &rows {
            rows.compute(shader, main, axes, "0u", 1);
            let mut at = axes.batch_names();
            at.extend(["0u".to_owned(), "0u".to_owned()]);
            rows.declare(shader, main, ROW, &at, "0u");
        }
        let sum = sum_dtype(group, contraction);
        let (scalar, ty) = (scalar_type(sum), vector_type(sum, LANES));
        layers.declare_sums(main, axes, &ty);
        let step = layers.count() * ROW_STEP;
        main.line(format!("for (var k = k_begin + layer * {ROW_STEP}u; k < k_end; k += {step}u) {{"));
        let at = |[first, second]: [&str; 2]| {
            let mut at = axes.batch_names();
            at.extend([first.to_owned(), second.to_owned()]);
            at
        };
        for e in 0..ROW_STEP {
            main.line("{");
            main.line(format!("let inside = k + {e}u < k_end;"));
            main.line(format!("let depth = min(k + {e}u, k_end - 1u);"));
            let a = match &rows {
                Some(rows) => read_in_row(shader, main, &lhs, &at(["0u", "depth"]), rows),
                None => read(shader, &lhs, &at(["0u", "depth"])),
            };
            let a = format!("{ty}(select({scalar}(), {a}, inside))");
            for (rhs, suffix) in rhs.iter().zip(axes.product_suffixes()) {
                let b = read(shader, rhs, &at(["depth", "column"]));
                let b = format!("select({ty}(), {b}, inside)");
                main.line(multiply_add(sum, &layers.sum(&suffix, 0), &a, &b));
            }
            main.line("}");
        }
        main.line("}");
    })
}

fn operand<'a>(
    group: &'a Group,
    (body, value): &'a (crate::fusion::body::Body, usize),
    prefix: &'static str,
    lanes: u32,
) -> Operand<'a> {
    // Columns of the right operand are the axis after its rows, as depths of the left one are.
    let lane_axis = group.shape.len() - 1;
    Operand { group, body, value: *value, prefix, lanes, buffer_lanes: LANES, lane_axis }
}

/// Declares `{name}0 …`: so many vectors of a left operand, in a row from a depth on.
pub(super) fn read_vectors(
    shader: &mut Shader<'_>,
    main: &mut Lines,
    lhs: &Operand<'_>,
    (axes, row, depth): (&Axes, &str, &str),
    name: &str,
    vectors: u32,
) {
    for vector in 0..vectors {
        let mut at = axes.batch_names();
        at.extend([row.to_owned(), format!("{depth} + {}u", vector * LANES)]);
        let value = read(shader, lhs, &at);
        main.line(format!("let {name}{vector} = {value};"));
    }
}

/// As [`read`], for a left operand whose row is known.
fn read_in_row(
    shader: &mut Shader<'_>,
    main: &mut Lines,
    operand: &Operand<'_>,
    at: &[String],
    rows: &OperandRowText<'_>,
) -> String {
    load(shader, main, operand, &rows.loads(), at);
    let place = OperandPlace { operand, loaded: &loaded(operand.prefix), at, sums: &[] };
    rows.value(shader, main, ROW, &place)
}
