//! Cooperative matrices in software: texts that use them, rewritten so that every adapter runs them.
//!
//! Software adapters have no cooperative matrices. Here each invocation of a subgroup of 32 has its share of a sum's elements,
//! and reads the operands' elements where their matrices would have been loaded from: slices, strips, barriers and epilogues
//! are those of the text, only the matrix operations are replaced. The forms of line are those that the compiler writes; any
//! other use of a matrix operation stays in the text, and the adapter refuses it.

use std::collections::HashMap;

use fuse_artifact::{Features, Function, Schedule, Variant};

use crate::Program;

/// The program with only those variants of its kernels that use a few cooperative matrices, in software.
///
/// # Errors
/// If a kernel has none.
pub fn in_software(program: &Program) -> Result<Program, String> {
    let mut function: Function = program.function.clone();
    function.alternatives = vec![].into();
    for kernel in function.kernels.to_mut() {
        let variants: Vec<Variant> = kernel.variants.iter().filter_map(variant).collect();
        if variants.is_empty() {
            return Err(format!("{} has no variant with cooperative matrices", kernel.name));
        }
        kernel.variants = variants.into();
    }
    Ok(Program { function: Box::leak(Box::new(function)), ..program.clone() })
}

/// Matrices of sums per subgroup up to which software adapters compile the text in seconds: each is stored between barriers,
/// around which they keep every value apart.
const MOST_MATRICES: u32 = 4;

fn variant(variant: &Variant) -> Option<Variant> {
    let Schedule::Tiles { per_invocation: [rows, columns], matrices: size @ 1.., .. } = variant.schedule else {
        return None;
    };
    if rows * columns > MOST_MATRICES * size * size {
        return None;
    }
    let mut software = variant.clone();
    software.features = Features { f16: variant.features.f16, ..Features::default() };
    for pass in software.passes.to_mut() {
        pass.wgsl = text(&pass.wgsl, size).into();
    }
    Some(software)
}

/// Where a matrix would have been loaded from.
struct Loaded {
    array: String,
    /// Vectors of four from one line to the next.
    stride: u32,
    by_rows: bool,
}

/// A text without cooperative matrices that does what `wgsl` does with them.
fn text(wgsl: &str, size: u32) -> String {
    let each = size * size / 32;
    let mut loaded: HashMap<String, Loaded> = HashMap::new();
    let mut lines = vec![];
    for line in wgsl.lines() {
        let code = line.trim();
        if code == "enable wgpu_cooperative_matrix;" || is_subgroup_input(code) {
            continue;
        }
        if code == ") {" && lines.last().is_some_and(|last: &String| last.contains("local_invocation_index")) {
            lines.push(line.to_owned());
            lines.push("  let subgroup = local / 32u;".to_owned());
            lines.push("  let subgroup_size = 32u;".to_owned());
            lines.push("  let subgroup_lane = local % 32u;".to_owned());
        } else if let Some(name) = code.strip_prefix("var ").and_then(|rest| rest.split_once(" = coop_mat")) {
            lines.push(format!("var {} = array<f32, {each}>();", name.0));
        } else if let Some((name, load)) = code.strip_prefix("let ").and_then(|rest| rest.split_once(" = coopLoad")) {
            let (array, at, stride) = pointer(load.split_once(">>(").map_or(load, |(_, arguments)| arguments));
            lines.push(format!("let {name} = {at};"));
            loaded.insert(name.to_owned(), Loaded { array, stride, by_rows: load.starts_with('T') });
        } else if let Some((sum, operands)) = code.split_once(" = coopMultiplyAdd(") {
            let mut names = operands.split(", ");
            let (a, b) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
            lines.push(multiply(size, sum, (a, &loaded[a]), (b, &loaded[b])));
        } else if let Some((sum, target)) = code.strip_prefix("coopStoreT(").and_then(|rest| rest.split_once(", ")) {
            let (array, at, stride) = pointer(target);
            lines.push(format!(
                "for (var e = 0u; e < {each}u; e++) {{ let i = e * 32u + subgroup_lane; \
                 let x = ({at}) * 4u + i / {size}u * {}u + i % {size}u; {array}[x / 4u][x % 4u] = {sum}[e]; }}",
                4 * stride
            ));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n") + "\n"
}

fn is_subgroup_input(code: &str) -> bool {
    code.starts_with("@builtin(subgroup") || code.starts_with("@builtin(num_subgroups")
}

/// Array, index and stride of `&array[index], 18u);`.
fn pointer(arguments: &str) -> (String, String, u32) {
    let (place, stride) = arguments.rsplit_once(", ").unwrap_or((arguments, ""));
    let (array, at) = place.trim_start_matches('&').split_once('[').unwrap_or((place, ""));
    let stride = stride.trim_end_matches("u);").parse().unwrap_or(0);
    (array.to_owned(), at.trim_end_matches(']').to_owned(), stride)
}

/// Adds this invocation's elements of a product to the sum.
fn multiply(size: u32, sum: &str, (a, lhs): (&str, &Loaded), (b, rhs): (&str, &Loaded)) -> String {
    let element = |name: &str, matrix: &Loaded, row: &str, column: &str| {
        let (line, within) = if matrix.by_rows { (row, column) } else { (column, row) };
        let at = format!("({name} * 4u + {line} * {}u + {within})", 4 * matrix.stride);
        format!("f32({}[{at} / 4u][{at} % 4u])", matrix.array)
    };
    let (left, right) = (element(a, lhs, "row", "k"), element(b, rhs, "k", "column"));
    format!(
        "for (var e = 0u; e < {}u; e++) {{ let i = e * 32u + subgroup_lane; let row = i / {size}u; \
         let column = i % {size}u; for (var k = 0u; k < {size}u; k++) {{ {sum}[e] += {left} * {right}; }} }}",
        size * size / 32
    )
}
