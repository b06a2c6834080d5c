//! The text of gemvs that read right operands value by value.
//!
//! Each k-group (`k_groups`) walks down a step of depths at a time. Where steps may be cut short, an invocation has a row and masks
//! what lies beyond the end. In whole steps it reads eight depths of four columns once for all of its rows, whose depths it reads
//! in vectors; k-groups lie along the columns or along the depth, as the right operands do.

use crate::kernel::{Block, Ty, Val};
use fuse_artifact::{Pass, schedule::LANES};

use super::k_groups::KGroups;
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::gemv::STEP,
    wgsl::{
        builtins::{scalar_type, vector_type},
        epilogue::{Axes, multiply_add, rhs_prefixes, sum_dtype},
        names::Names,
        operand::{Operand, OperandPlace, load, read},
        row_prologue::{RowNames, RowPrologueKernel},
        shader::Shader,
    },
};

/// Names of what the loads of the left operand need of its row, if it has reductions.
const ROW: RowNames<'static> = RowNames { prefix: "a_row", lanes: 1 };

/// The pass of a schedule for one row that masks its steps.
pub(super) fn masked(group: &Group, contraction: &Contraction, names: &Names, k_groups: KGroups) -> Pass {
    let lhs = operand(group, &contraction.lhs, "a", 1);
    let rhs = contraction.rhs.iter().zip(rhs_prefixes(contraction));
    let rhs: Vec<_> = rhs.map(|(rhs, prefix)| operand(group, rhs, prefix, LANES)).collect();
    k_groups.pass(group, contraction, names, |shader, main, axes| {
        let rows = RowPrologueKernel::new(group, contraction, [1, k_groups.invocations()], LANES);
        if let Some(rows) = &rows {
            let zero = shader.u32(0);
            rows.compute(shader, main, axes, zero, 1);
            let at: Vec<_> = axes.batch().into_iter().chain([zero, zero]).collect();
            rows.declare(shader, main, ROW, &at, zero);
        }
        let sum = sum_dtype(group, contraction);
        let (scalar, ty) = (scalar_type(sum), vector_type(sum, LANES));
        k_groups.declare_sums(main, axes, &ty);
        let step = k_groups.count() * STEP;
        main.line(format!("for (var k = k_begin + k_group * {STEP}u; k < k_end; k += {step}u) {{"));
        let at = |[first, second]: [&str; 2]| {
            let mut at = axes.batch_names();
            at.extend([first.to_owned(), second.to_owned()]);
            at
        };
        for e in 0..STEP {
            main.line("{");
            main.line(format!("let inside = k + {e}u < k_end;"));
            main.line(format!("let depth = min(k + {e}u, k_end - 1u);"));
            let a = match &rows {
                Some(rows) => {
                    let at = shader.raws(&at(["0u", "depth"]));
                    read_in_row(shader, main, &lhs, &at, rows)
                }
                None => {
                    let at = shader.raws(&at(["0u", "depth"]));
                    read(shader, &lhs, &at)
                }
            };
            let a = format!("{ty}(select({scalar}(), {a}, inside))");
            for (rhs, suffix) in rhs.iter().zip(axes.product_suffixes()) {
                let at = shader.raws(&at(["depth", "column"]));
                let b = read(shader, rhs, &at);
                let [total, a, b] = [k_groups.sum(&suffix, 0), a.clone(), format!("select({ty}(), {b}, inside)")]
                    .map(|text| shader.raw(text, Ty::of(sum, LANES)));
                main.set(total, multiply_add(total, a, b));
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
pub(super) fn read_vectors<'k>(
    shader: &mut Shader<'k>,
    main: &mut Block<'k>,
    lhs: &Operand<'_>,
    (axes, row, depth): (&Axes<'k>, &str, &str),
    name: &str,
    vectors: u32,
) {
    for vector in 0..vectors {
        let mut at = axes.batch_names();
        at.extend([row.to_owned(), format!("{depth} + {}u", vector * LANES)]);
        let at = shader.raws(&at);
        let value = read(shader, lhs, &at);
        main.line(format!("let {name}{vector} = {value};"));
    }
}

/// As [`read`], for a left operand whose row is known.
fn read_in_row<'k>(
    shader: &mut Shader<'k>,
    main: &mut Block<'k>,
    operand: &Operand<'_>,
    at: &[Val<'k>],
    rows: &RowPrologueKernel<'_>,
) -> Val<'k> {
    load(shader, main, operand, &rows.loads(), at);
    let arena = shader.arena();
    let loaded = |access| operand.loaded(arena, access);
    let place = OperandPlace { operand, loaded: &loaded, at, accumulators: &[] };
    rows.value(shader, main, ROW, &place)
}

/// The pass of a schedule in whole steps, whose right operands all lie as the k-groups do.
pub(super) fn k_aligned(group: &Group, contraction: &Contraction, names: &Names, k_groups: KGroups) -> Pass {
    let (count, along_depth) = (k_groups.count(), k_groups.0.along_depth());
    k_groups.pass(group, contraction, names, |shader, main, axes| {
        let sum = sum_dtype(group, contraction);
        let ty = vector_type(sum, LANES);
        let (body, value) = &contraction.lhs;
        let lane_axis = axes.batch + 1;
        let lhs = Operand { group, body, value: *value, prefix: "a", lanes: LANES, buffer_lanes: LANES, lane_axis };
        let suffixes = axes.product_suffixes();
        k_groups.declare_sums(main, axes, &ty);
        main.line(format!("for (var k = k_begin + k_group * {STEP}u; k < k_end; k += {}u) {{", count * STEP));
        for (((body, value), prefix), suffix) in contraction.rhs.iter().zip(rhs_prefixes(contraction)).zip(&suffixes) {
            let lane_axis = if along_depth { axes.batch } else { axes.batch + 1 };
            let rhs = Operand { body, value: *value, prefix, lane_axis, ..lhs };
            // Vectors of a depth, or of a column.
            let name = if along_depth { "column" } else { "right" };
            for vector in 0..STEP {
                let (depth, column) = match along_depth {
                    true => (vector / LANES * LANES, vector % LANES),
                    false => (vector, 0),
                };
                let mut at = axes.batch_names();
                at.extend([format!("k + {depth}u"), format!("column + {column}u")]);
                let at = shader.raws(&at);
                let value = read(shader, &rhs, &at);
                main.line(format!("let {name}{suffix}_{vector} = {value};"));
            }
            for depth in (0..STEP).filter(|_| along_depth) {
                let first = depth / LANES * LANES;
                let of_columns =
                    (first..first + LANES).map(|vector| format!("column{suffix}_{vector}[{}]", depth % LANES));
                let of_columns = of_columns.collect::<Vec<_>>().join(", ");
                main.line(format!("let right{suffix}_{depth} = {ty}({of_columns});"));
            }
        }
        k_groups.bundles(main, axes, |main, bundle| {
            for row in bundle {
                main.line("{");
                let at = k_groups.row(axes, row);
                read_vectors(shader, main, &lhs, (axes, &at, "k"), "left", STEP / LANES);
                for suffix in &suffixes {
                    for depth in 0..STEP {
                        let right = format!("right{suffix}_{depth}");
                        let left = format!("{ty}(left{}[{}])", depth / LANES, depth % LANES);
                        let [total, left, right] =
                            [k_groups.sum(suffix, row), left, right].map(|text| shader.raw(text, Ty::of(sum, LANES)));
                        main.set(total, multiply_add(total, left, right));
                    }
                }
                main.line("}");
            }
        });
        main.line("}");
    })
}
