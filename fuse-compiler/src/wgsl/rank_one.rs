//! Rank-one updates: what an invocation adds to its sums at one depth, the products of its rows' values with its columns'.

use super::shader::Shader;
use crate::kernel::Block;
use std::fmt;

use fuse_artifact::DType;

use super::builtins::{scalar_type, vector_type};

/// Sums of an invocation from which on they are added to one by one, in an order of their own.
const SUMS_IN_ORDER: u32 = 64;

/// Adds what `a0 …` and `b{product}0 …`, vectors of four rows and of four columns, multiply to, to the fields
/// `s{product}{row}_{vector of columns}` of what `c` points to, for each product of several that share their rows.
pub(super) fn add_products<'k>(lines: &mut Block<'k>, dtype: DType, [rows, columns]: [u32; 2], products: &[String]) {
    if rows * columns < SUMS_IN_ORDER {
        let ty = vector_type(dtype, 4);
        for row in 0..rows {
            for product in products {
                for j in 0..columns / 4 {
                    add(
                        lines,
                        dtype,
                        format_args!("(*c).s{product}{row}_{j}"),
                        format_args!("{ty}(a{}[{}])", row / 4, row % 4),
                        format_args!("b{product}{j}"),
                    );
                }
            }
        }
        return;
    }
    for product in products {
        for [row, column] in order(rows, columns) {
            let (vector, lane) = (column / 4, column % 4);
            add(
                lines,
                dtype,
                format_args!("(*c).s{product}{row}_{vector}[{lane}]"),
                format_args!("a{}[{}]", row / 4, row % 4),
                format_args!("b{product}{vector}[{lane}]"),
            );
        }
    }
}

fn add<'k>(lines: &mut Block<'k>, dtype: DType, sum: fmt::Arguments<'_>, a: fmt::Arguments<'_>, b: fmt::Arguments<'_>) {
    match scalar_type(dtype) {
        "f32" => lines.statement(format_args!("{sum} = fma({a}, {b}, {sum});")),
        _ => lines.statement(format_args!("{sum} += {a} * {b};")),
    }
}

/// Declares a structure of sums in `f32`, of so many rows and vectors of four columns, and the function that adds products to it
/// ([`add_products`]).
pub(super) fn declare<'k>(shader: &mut Shader<'k>, [sums, function]: [&str; 2], [rows, vectors]: [u32; 2]) {
    let mut lines = Block::new();
    lines.line(format!("struct {sums} {{"));
    for i in 0..rows {
        for j in 0..vectors {
            lines.line(format!("s{i}_{j}: vec4<f32>,"));
        }
    }
    lines.line("}");
    let parameters = |name: &str, count: u32| (0..count).map(|n| format!(", {name}{n}: vec4<f32>")).collect::<String>();
    let (a, b) = (parameters("a", rows / 4), parameters("b", vectors));
    lines.line(format!("fn {function}(c: ptr<function, {sums}>{a}{b}) {{"));
    add_products(&mut lines, DType::F32, [rows, 4 * vectors], &[String::new()]);
    lines.line("}");
    shader.text(&lines);
}

/// The order in which an invocation adds to its sums: two rows at a time, column by column, there and back. Drivers keep it, and
/// register files like that neighbours share a column or a row: on an NVIDIA H200 tiles with 8×8 and 8×16 sums are 4 to 9 %
/// faster than row by row in vectors (docs/experiments.md).
fn order(rows: u32, columns: u32) -> impl Iterator<Item = [u32; 2]> {
    let of_pair = move |pair: u32| {
        let back = pair % 2 == 1;
        (0..columns).flat_map(move |n| {
            let column = if back { columns - 1 - n } else { n };
            [[2 * pair, column], [2 * pair + 1, column]]
        })
    };
    (0..rows / 2).flat_map(of_pair)
}
