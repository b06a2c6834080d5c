//! What the texts of attentions and of weighted sums in cooperative matrices have in common: the places of a subgroup, its rows, and
//! the two kinds of product.
//!
//! Matrices lie on strips of workgroup memory through which invocations see their elements: four neighboring invocations have four
//! neighboring elements of a row each, of two rows of every matrix.

use crate::kernel::Block;
use fuse_artifact::schedule::{AttentionCoopMatrix, LANES};

use crate::wgsl::{
    operand::Operand,
    shader::Shader,
    slice::{Slice, declare_lines},
};

/// Rows, columns and depth of the matrices.
pub(in crate::wgsl) const SIZE: u32 = AttentionCoopMatrix::SIZE;
/// Vectors of four of a matrix.
pub(in crate::wgsl) const VECTORS: u32 = AttentionCoopMatrix::VECTORS;

/// Rows of a matrix of which an invocation has a vector, one this far from the other.
pub(in crate::wgsl) const HALVES: u32 = 2;
/// Rows of a half.
pub(in crate::wgsl) const HALF_ROWS: u32 = SIZE / HALVES;

/// Vectors of a half of a matrix.
pub(in crate::wgsl) const HALF_VECTORS: u32 = VECTORS / HALVES;

/// Vectors of a row of the matrix on a strip.
pub(in crate::wgsl) const STRIP_LINE: u32 = SIZE / LANES;

/// Declares the places of this invocation and of its subgroup, which has `rows` rows and so many strips; the weights of a row begin
/// `weight_line` vectors behind those of the one before.
pub(in crate::wgsl) fn declare_places<'k>(main: &mut Block<'k>, rows: u32, weight_line: u32, strips: u32) {
    main.line(format!("let part_row = row0 + subgroup * {rows}u;"));
    main.line("let lane_row = subgroup_lane / 4u;");
    main.line("let lane_column = subgroup_lane % 4u * 4u;");
    main.line(format!("let strip = subgroup * {}u;", strips * VECTORS));
    main.line("let strip_lane = strip + subgroup_lane;");
    main.line(format!("let part_weights = subgroup * {}u;", rows * weight_line));
    main.line(format!("let weight_lane = part_weights + lane_row * {weight_line}u + subgroup_lane % 4u;"));
}

/// The row of which this invocation has a vector: of a half of the `r`-th matrix.
pub(in crate::wgsl) fn row(r: u32, half: u32) -> String {
    format!("part_row + {}u + lane_row", r * SIZE + half * HALF_ROWS)
}

/// Loads this subgroup's rows of an operand: `rows` by `depth` matrices, `{name}{r}_{d}`.
pub(in crate::wgsl) fn load_rows<'k>(
    (shader, main): (&mut Shader<'k>, &mut Block<'k>),
    (operand, row_axis): (&Operand<'_>, usize),
    batch: Vec<String>,
    name: &str,
    [rows, depth]: [u32; 2],
) {
    let (buffer, p) = (declare_lines(operand, row_axis, shader, main, batch), operand.prefix);
    for r in 0..rows {
        for d in 0..depth {
            let at = format!("{p}_first + (part_row + {}u) * {p}_lines + {}u", r * SIZE, d * SIZE / LANES);
            let load = format!("coopLoadT<coop_mat{SIZE}x{SIZE}<f16, A>>(&{buffer}[{at}], {p}_lines)");
            main.line(format!("let {name}{r}_{d} = {load};"));
        }
    }
}

/// Declares sums, `rows` by `columns` matrices `{name}{r}_{c}`.
pub(in crate::wgsl) fn declare_sums<'k>(main: &mut Block<'k>, name: &str, [rows, columns]: [u32; 2]) {
    for r in 0..rows {
        for c in 0..columns {
            main.line(format!("var {name}{r}_{c} = coop_mat{SIZE}x{SIZE}<f32, C>();"));
        }
    }
}

/// The products of a subgroup's rows, matrices `{lhs}{r}_{d}`, and the keys of a slice: `{sum}{r}_{m}`.
pub(in crate::wgsl) fn multiply_keys<'k>(
    main: &mut Block<'k>,
    slice: &Slice<'_>,
    [lhs, sum]: [&str; 2],
    [rows, keys, depth]: [u32; 3],
) {
    let (array, line) = (slice.array, slice.line_vectors());
    declare_sums(main, sum, [rows, keys]);
    for m in 0..keys {
        main.line("{");
        for d in 0..depth {
            // Keys are rows in memory and columns of the product.
            let at = m * SIZE * line + d * SIZE / LANES;
            let load = format!("coopLoad<coop_mat{SIZE}x{SIZE}<f16, B>>(&{array}[{at}u], {line}u)");
            main.line(format!("let key{d} = {load};"));
            for r in 0..rows {
                main.line(format!("{sum}{r}_{m} = coopMultiplyAdd({lhs}{r}_{d}, key{d}, {sum}{r}_{m});"));
            }
        }
        main.line("}");
    }
}

/// Adds the products of a subgroup's weights, which lie in an array, and the values of a slice to `{sum}{r}_{j}`.
pub(in crate::wgsl) fn multiply_values<'k>(
    main: &mut Block<'k>,
    slice: &Slice<'_>,
    (weights, weight_line): (&str, u32),
    sum: &str,
    [rows, keys, columns]: [u32; 3],
) {
    let (array, line) = (slice.array, slice.line_vectors());
    for m in 0..keys {
        main.line("{");
        for r in 0..rows {
            let at = r * SIZE * weight_line + m * SIZE / LANES;
            let place = format!("&{weights}[part_weights + {at}u], {weight_line}u");
            main.line(format!("let weight{r} = coopLoadT<coop_mat{SIZE}x{SIZE}<f16, A>>({place});"));
        }
        for j in 0..columns {
            let at = m * SIZE * line + j * SIZE / LANES;
            let load = format!("coopLoadT<coop_mat{SIZE}x{SIZE}<f16, B>>(&{array}[{at}u], {line}u)");
            main.line(format!("let value{j} = {load};"));
            for r in 0..rows {
                main.line(format!("{sum}{r}_{j} = coopMultiplyAdd(weight{r}, value{j}, {sum}{r}_{j});"));
            }
        }
        main.line("}");
    }
}
