//! Rank-one updates: at each depth an invocation accumulates the products of its rows' and its columns' values.

use super::{
    epilogue::{multiply_add, parameters},
    shader::Shader,
};
use crate::kernel::{Block, Function, Ty, Val};

/// Accumulators from which additions are ordered one by one.
const SUMS_IN_ORDER: u32 = 64;

/// Declares a structure of accumulators and its update ([`structure`], [`function`]).
pub(super) fn declare<'k>(
    shader: &mut Shader<'k>,
    [name, function]: [&str; 2],
    ty: Ty,
    extents: [u32; 2],
    products: &[String],
) -> Ty {
    let sums = structure(shader, name, ty, extents, products);
    self::function(shader, function, sums, ty, extents, products);
    sums
}

/// Declares a structure of accumulators: for each product, row and vector of four columns a field
/// `s{product}{row}_{vector}` of type `ty`.
pub(super) fn structure<'k>(
    shader: &mut Shader<'k>,
    name: &str,
    ty: Ty,
    [rows, vectors]: [u32; 2],
    products: &[String],
) -> Ty {
    let of_row = |p: &str, row: u32| (0..vectors).map(|j| (field(p, row, j), ty)).collect::<Vec<_>>();
    let fields = products.iter().flat_map(|p| (0..rows).flat_map(move |row| of_row(p, row)));
    shader.structure(name, fields.collect())
}

/// Declares a function that adds the products of four-row and four-column vectors of type `ty` to accumulators.
///
/// Drivers inline it; it shortens the shader to a fraction.
pub(super) fn function<'k>(
    shader: &mut Shader<'k>,
    name: &str,
    sums: Ty,
    ty: Ty,
    [rows, vectors]: [u32; 2],
    products: &[String],
) {
    let arena = shader.arena();
    let factors =
        |name: &str, count: u32| -> Vec<Val<'k>> { (0..count).map(|n| arena.name(format!("{name}{n}"), ty)).collect() };
    let c = arena.name("c", arena.pointer(sums));
    let a = factors("a", rows / 4);
    let columns: Vec<Vec<Val<'k>>> = products.iter().map(|p| factors(&format!("b{p}"), vectors)).collect();
    let mut body = Block::new();
    add_products(&mut body, c.deref(), &a, products, &columns);
    let all: Vec<Val<'k>> = [c].into_iter().chain(a).chain(columns.concat()).collect();
    let parameters = parameters(&all).collect();
    shader.function(Function { name: name.to_owned(), parameters, result: None, body });
}

pub(super) fn field(product: &str, row: u32, vector: u32) -> String {
    format!("s{product}{row}_{vector}")
}

fn add_products<'k>(b: &mut Block<'k>, sums: Val<'k>, a: &[Val<'k>], products: &[String], columns: &[Vec<Val<'k>>]) {
    let (rows, vectors) = (4 * a.len() as u32, columns[0].len() as u32);
    let of_row = |row: u32| a[row as usize / 4].lane(row % 4);
    let sum = |p: &str, row: u32, vector: u32| sums.field(&field(p, row, vector));
    if rows * 4 * vectors < SUMS_IN_ORDER {
        for row in 0..rows {
            for (p, columns) in products.iter().zip(columns) {
                for (&columns, vector) in columns.iter().zip(0..) {
                    let sum = sum(p, row, vector);
                    b.set(sum, multiply_add(sum, of_row(row).splat(4), columns));
                }
            }
        }
        return;
    }
    for (p, columns) in products.iter().zip(columns) {
        for [row, column] in order(rows, 4 * vectors) {
            let (vector, lane) = (column / 4, column % 4);
            let sum = sum(p, row, vector).lane(lane);
            b.set(sum, multiply_add(sum, of_row(row), columns[vector as usize].lane(lane)));
        }
    }
}

/// Update order of an invocation's accumulators: two rows at a time, column by column, in serpentine order. Drivers
/// keep it, and register files benefit if successive updates share a column or row: on an NVIDIA H200, tiles with 8×8
/// and 8×16 accumulators are 4 to 9 % faster than row by row (docs/experiments.md).
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
