//! The text of contractions with one row: a vector times a matrix that is contiguous along its columns.
//!
//! Invocations lie side by side along the columns, four columns each, and in layers along the depth. Each
//! layer walks down a step of depths at a time; the layers' sums are added in workgroup memory.

use fuse_artifact::{Grid, Pass, Space, Uniform};

use super::{
    builtins::{scalar_type, vector_type},
    epilogue::{Axes, Epilogue, declare_partial, multiply_add, rhs_prefixes, sum_dtype},
    names::Names,
    operand::{Operand, OperandPlace},
    operand_rows::{OperandRowText, RowNames},
    shader::{Lines, Shader},
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::{LANES, Member, ROW_STEP},
};

/// Names of what the loads of the left operand need of its row, if it has reductions.
const ROW: RowNames<'static> = RowNames { prefix: "a_row", lanes: 1 };

/// The pass of a `row` member.
pub fn row(
    group: &Group,
    contraction: &Contraction,
    names: &Names,
    member: &Member,
    [columns, depth_lanes]: [u32; 2],
    whole_steps: bool,
) -> Pass {
    let lanes = if whole_steps { LANES } else { 1 };
    let lhs = operand(group, &contraction.lhs, "a", lanes);
    let rhs = contraction.rhs.iter().zip(rhs_prefixes(contraction));
    let rhs: Vec<_> = rhs.map(|(rhs, prefix)| operand(group, rhs, prefix, LANES)).collect();
    in_layers(group, contraction, names, member, [columns, depth_lanes], |shader, main, axes| {
        let rows = OperandRowText::new(group, contraction, [1, columns / LANES * depth_lanes], LANES);
        if let Some(rows) = &rows {
            rows.compute(shader, main, axes, "0u", 1);
            let mut at = axes.batch_names();
            at.extend(["0u".to_owned(), "0u".to_owned()]);
            rows.declare(shader, main, ROW, &at, "0u");
        }
        let sum = sum_dtype(group, contraction);
        let (scalar, ty) = (scalar_type(sum), vector_type(sum, LANES));
        let sums = axes.sum_names();
        for sum in &sums {
            main.line(format!("var {sum} = {ty}();"));
        }
        let step = depth_lanes * ROW_STEP;
        main.line(format!("for (var k = k_begin + layer * {ROW_STEP}u; k < k_end; k += {step}u) {{"));
        let at = |[first, second]: [&str; 2]| {
            let mut at = axes.batch_names();
            at.extend([first.to_owned(), second.to_owned()]);
            at
        };
        if whole_steps {
            read_vectors(shader, main, &lhs, (axes, "0u", "k"), ("a_vector", &ty), ROW_STEP / LANES);
        }
        for e in 0..ROW_STEP {
            main.line("{");
            let inside = |value: String, zero: &str| match whole_steps {
                true => value,
                false => format!("select({zero}, {value}, inside)"),
            };
            if whole_steps {
                main.line(format!("let depth = k + {e}u;"));
            } else {
                main.line(format!("let inside = k + {e}u < k_end;"));
                main.line(format!("let depth = min(k + {e}u, k_end - 1u);"));
            }
            let a = match &rows {
                _ if whole_steps => format!("a_vector{}[{}]", e / LANES, e % LANES),
                Some(rows) => read_in_row(shader, main, &lhs, &at(["0u", "depth"]), rows),
                None => read(shader, main, &lhs, &at(["0u", "depth"])),
            };
            let a = format!("{ty}({})", inside(a, &format!("{scalar}()")));
            for (rhs, name) in rhs.iter().zip(&sums) {
                let b = read(shader, main, rhs, &at(["depth", "column"]));
                let b = inside(b, &format!("{ty}()"));
                main.line(multiply_add(sum, name, &a, &b));
            }
            main.line("}");
        }
        main.line("}");
    })
}

/// The pass of a member with one row: `columns` of a workgroup side by side and `depth_lanes` layers. `products` declares an
/// invocation's sums and adds what its layer has of the depth from `k_begin` to `k_end`.
pub(super) fn in_layers(
    group: &Group,
    contraction: &Contraction,
    names: &Names,
    member: &Member,
    [columns, depth_lanes]: [u32; 2],
    products: impl FnOnce(&mut Shader<'_>, &mut Lines, &Axes),
) -> Pass {
    let mut shader = Shader::new(names);
    let sum = sum_dtype(group, contraction);
    for access in &group.accesses {
        if !(member.split && access.access.space == Space::Point) {
            shader.buffer(access.access.slot, access.dtype, LANES, false);
        }
    }
    let axes = Axes::new(&mut shader, group, contraction);
    if member.split {
        declare_partial(&mut shader, &axes, sum, LANES);
    } else {
        Epilogue::new(group, &axes, sum, LANES, LANES).declare(&mut shader);
    }
    let across = columns / LANES;
    let suffixes = axes.product_suffixes();
    for suffix in &suffixes {
        let ty = vector_type(sum, LANES);
        shader.workgroup_array(&format!("partial{suffix}"), &ty, across * depth_lanes, 16);
    }
    let mut main = Lines::indented();
    locate(&mut shader, &mut main, &axes, member.split, columns, across);
    products(&mut shader, &mut main, &axes);
    for suffix in &suffixes {
        main.line(format!("partial{suffix}[local] = sum{suffix};"));
    }
    add_layers(&mut main, &suffixes, across, depth_lanes);
    main.line("if layer == 0u && first + lane < columns_in_units {");
    let sums: Vec<String> = suffixes.iter().map(|suffix| format!("partial{suffix}[local]")).collect();
    main.line(format!("finish(batch, {}0u, column, {});", axes.batch_arguments(), sums.join(", ")));
    main.line("}");
    shader.main = main;
    shader.finish(Grid::Tiles { rows: 1, columns }, across * depth_lanes)
}

/// Adds the layers' `partial` sums, which lie `across` apart, in the first layer.
pub(super) fn add_layers(main: &mut Lines, suffixes: &[String], across: u32, depth_lanes: u32) {
    let mut layers = depth_lanes / 2;
    while layers > 0 {
        main.line("workgroupBarrier();");
        main.line(format!("if layer < {layers}u {{"));
        for suffix in suffixes {
            main.line(format!("partial{suffix}[local] += partial{suffix}[local + {}u];", layers * across));
        }
        main.line("}");
        layers /= 2;
    }
}

/// Which columns, batch and part of the depth this workgroup and invocation have.
fn locate(shader: &mut Shader<'_>, main: &mut Lines, axes: &Axes, split: bool, columns: u32, across: u32) {
    shader.number_workgroups(main);
    let tiles = shader.uniform(Uniform::ColumnTiles);
    if split {
        let batches = axes.batches(shader);
        let split_depth = shader.uniform(Uniform::SplitDepth);
        main.line(format!("let batch = (id / {tiles}) % ({batches});"));
        main.line(format!("let part = id / ({tiles} * {batches});"));
        main.line("split = part;");
        main.line(format!("let k_begin = part * {split_depth};"));
        main.line(format!("let k_end = min({}, k_begin + {split_depth});", axes.depth));
    } else {
        main.line(format!("let batch = id / {tiles};"));
        main.line("let k_begin = 0u;");
        main.line(format!("let k_end = {};", axes.depth));
    }
    axes.decode_batch(shader, main);
    main.line(format!("let lane = local % {across}u;"));
    main.line(format!("let layer = local / {across}u;"));
    main.line(format!("let first = (id % {tiles}) * {}u;", columns / LANES));
    main.line(format!("let columns_in_units = {} / {LANES}u;", axes.columns));
    main.line(format!("let column = min(first + lane, columns_in_units - 1u) * {LANES}u;"));
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

/// Loads an operand at the coordinates `at` and applies its prologue.
pub(super) fn read(shader: &mut Shader<'_>, main: &mut Lines, operand: &Operand<'_>, at: &[String]) -> String {
    load(shader, main, operand, &operand.loads(), at);
    operand.value(shader, main, &loaded(operand.prefix), at)
}

/// Declares `{name}0 …` of a type: so many vectors of a left operand, in a row from a depth on.
pub(super) fn read_vectors(
    shader: &mut Shader<'_>,
    main: &mut Lines,
    lhs: &Operand<'_>,
    (axes, row, depth): (&Axes, &str, &str),
    (name, ty): (&str, &str),
    vectors: u32,
) {
    for vector in 0..vectors {
        main.line(format!("var {name}{vector}: {ty};"));
    }
    for vector in 0..vectors {
        main.line("{");
        let mut at = axes.batch_names();
        at.extend([row.to_owned(), format!("({depth} + {}u)", vector * LANES)]);
        let value = read(shader, main, lhs, &at);
        main.line(format!("{name}{vector} = {value};"));
        main.line("}");
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

/// Loads what an operand reads through `accesses`.
fn load(shader: &mut Shader<'_>, main: &mut Lines, operand: &Operand<'_>, accesses: &[u16], at: &[String]) {
    let coordinates: Vec<Option<String>> = at.iter().cloned().map(Some).collect();
    for &access in accesses {
        let offset = operand.offset(shader, access, &coordinates);
        let load = operand.load(shader, access, &offset);
        main.line(format!("let {} = {load};", loaded(operand.prefix)(access)));
    }
}

/// The names of what was loaded.
fn loaded(prefix: &str) -> impl Fn(u16) -> String {
    move |access| format!("{prefix}_x{access}")
}
