//! Cooperative matrices in software: rewrites shaders so that every adapter runs them.
//!
//! Each invocation of a subgroup of 32 holds a share of an accumulator's elements and reads operands where matrices would be
//! loaded. Staging, barriers and epilogues are unchanged; only matrix operations are replaced.
//!
//! Line forms are those of the compiler. Other uses of matrix operations stay, and the adapter refuses them.

use std::collections::HashMap;

use fuse_artifact::{
    DomainKind, Features, Function, Schedule, Variant,
    schedule::{Attention, AttentionCoopMatrix, WeightedSum},
};

use crate::Program;

/// Keeps each kernel's variants with cooperative matrices, rewritten, and its last variant for other sizes. Reductions and
/// pointwise kernels are unchanged.
///
/// # Errors
/// If a kernel of another kind has no such variant.
pub fn in_software(program: &Program) -> Result<Program, String> {
    let mut function: Function = program.function.clone();
    function.alternatives = vec![].into();
    for kernel in function.kernels.to_mut() {
        if let DomainKind::Pointwise | DomainKind::Reduction { .. } = kernel.domain.kind {
            continue;
        }
        let mut variants: Vec<Variant> = kernel.variants.iter().filter_map(variant).collect();
        if variants.is_empty() {
            return Err(format!("{} has no variant with cooperative matrices", kernel.name));
        }
        variants.extend(kernel.variants.last().cloned());
        kernel.variants = variants.into();
    }
    Ok(Program { function: Box::leak(Box::new(function)), ..program.clone() })
}

/// Most accumulator matrices per subgroup that software adapters compile in seconds. Each is stored between barriers, across
/// which these adapters keep every value live.
const MOST_MATRICES: u32 = 16;

fn variant(variant: &Variant) -> Option<Variant> {
    let size = match variant.schedule {
        Schedule::Tile(tile) => {
            let most = |size: &u32| tile.invocation_rows * tile.invocation_columns <= MOST_MATRICES * size * size;
            tile.coop_matrix().filter(most)?
        }
        Schedule::Attention(Attention::CoopMatrix(_))
        | Schedule::WeightedSum(WeightedSum { coop_matrix: true, .. }) => AttentionCoopMatrix::SIZE,
        _ => return None,
    };
    let mut software = variant.clone();
    software.features = Features { f16: variant.features.f16, ..Features::default() };
    for pass in software.passes.to_mut() {
        pass.wgsl = without_matrices(&pass.wgsl.text(), size).into();
    }
    Some(software)
}

/// Source of a matrix load.
#[derive(Clone)]
struct Loaded {
    array: String,
    /// Index expression of the first vector of four.
    at: String,
    /// Stride between lines, in vectors of four.
    stride: String,
    by_rows: bool,
}

/// Rewrites a shader without cooperative matrices.
fn without_matrices(wgsl: &str, size: u32) -> String {
    let each = size * size / 32;
    let lines: Vec<&str> = wgsl.lines().collect();
    let sums: Vec<&str> = lines.iter().filter_map(|line| declared_sum(line)).collect();
    // The second pass of a split contraction has none.
    if sums.is_empty() {
        return wgsl.to_owned();
    }
    let place = |name: &str| each as usize * sums.iter().position(|sum| *sum == name).unwrap_or(sums.len());
    let (mut loaded, mut products): (HashMap<String, Loaded>, Vec<Product>) = (HashMap::new(), vec![]);
    let mut output: Vec<String> = vec![];
    for line in lines {
        let code = line.trim();
        if (code == "workgroupBarrier();" || code.starts_with("coopStoreT(")) && !products.is_empty() {
            output.push(multiply(size, &std::mem::take(&mut products)));
        }
        if code == "enable wgpu_cooperative_matrix;" || is_subgroup_input(code) {
            continue;
        }
        if code == ") {" && output.last().is_some_and(|last| last.contains("local_invocation_index")) {
            output.push(line.to_owned());
            output.push("let subgroup = local / 32u;".to_owned());
            output.push("let subgroup_lane = local % 32u;".to_owned());
        } else if let Some(sum) = declared_sum(line) {
            // Inside a loop, each iteration resets the accumulator.
            output.push(format!("for (var e = 0u; e < {each}u; e++) {{ matrix_sums[{}u + e] = 0.0; }}", place(sum)));
        } else if let Some((value, (name, bit))) = shuffled(code) {
            output.push(format!(
                "exchanged[local] = {value}; workgroupBarrier(); let {name} = exchanged[local ^ {bit}];"
            ));
            output.push("workgroupBarrier();".to_owned());
        } else if let Some((name, load)) = code.strip_prefix("let ").and_then(|rest| rest.split_once(" = coopLoad")) {
            let (array, at, stride) = pointer(load.split_once(">>(").map_or(load, |(_, arguments)| arguments));
            loaded.insert(name.to_owned(), Loaded { array, at, stride, by_rows: load.starts_with('T') });
        } else if let Some((sum, operands)) = code.split_once(" = coopMultiplyAdd(") {
            let mut names = operands.split(", ");
            let (a, b) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
            products.push(Product { sum: place(sum), lhs: loaded[a].clone(), rhs: loaded[b].clone() });
        } else if let Some((sum, target)) = code.strip_prefix("coopStoreT(").and_then(|rest| rest.split_once(", ")) {
            let element = sum_in_memory(target, size);
            output.push(of_each_element(each, &format!("{element} = matrix_sums[{}u + e];", place(sum))));
        } else if let Some((sum, load)) = code.split_once(" = coopLoadT<") {
            let element = sum_in_memory(load.split_once(">>(").map_or(load, |(_, arguments)| arguments), size);
            output.push(of_each_element(each, &format!("matrix_sums[{}u + e] = {element};", place(sum))));
        } else {
            output.push(line.to_owned());
        }
    }
    let mut source = output.join("\n") + "\n";
    // At module scope, for the functions of products that share an operand.
    if !sums.is_empty() {
        source += &format!("var<private> matrix_sums: array<f32, {}>;\n", each as usize * sums.len());
    }
    if source.contains("exchanged[") {
        // A workgroup has at most 1024 invocations.
        source.insert_str(source.find("\n@compute").unwrap_or(0), "\nvar<workgroup> exchanged: array<f32, 1024>;");
    }
    source
}

/// `value`, `name` and `bit` of `let name = subgroupShuffleXor(value, bit);`.
fn shuffled(code: &str) -> Option<(&str, (&str, &str))> {
    let (name, arguments) = code.strip_prefix("let ")?.split_once(" = subgroupShuffleXor(")?;
    let (value, bit) = arguments.strip_suffix(");")?.split_once(", ")?;
    Some((value, (name, bit)))
}

/// A loop over the accumulator elements `e` of an invocation.
fn of_each_element(each: u32, what: &str) -> String {
    format!("for (var e = 0u; e < {each}u; e++) {{ let i = e * 32u + subgroup_lane; {what} }}")
}

/// An invocation's accumulator element in an array of vectors of four, from the arguments `&array[at], stride);`.
fn sum_in_memory(arguments: &str, size: u32) -> String {
    let (array, at, stride) = pointer(arguments);
    let x = format!("(({at}) * 4u + i / {size}u * ({stride} * 4u) + i % {size}u)");
    format!("{array}[{x} / 4u][{x} % 4u]")
}

/// One matrix multiplication.
struct Product {
    /// Index of the first element of its accumulator.
    sum: usize,
    lhs: Loaded,
    rhs: Loaded,
}

fn declared_sum(line: &str) -> Option<&str> {
    line.trim().strip_prefix("var ")?.split_once(" = coop_mat").map(|(name, _)| name)
}

fn is_subgroup_input(code: &str) -> bool {
    code.starts_with("@builtin(subgroup") || code.starts_with("@builtin(num_subgroups")
}

/// Array, index and stride of `&array[index], stride);`.
fn pointer(arguments: &str) -> (String, String, String) {
    let (place, stride) = arguments.rsplit_once(", ").unwrap_or((arguments, ""));
    let (array, at) = place.trim_start_matches('&').split_once('[').unwrap_or((place, ""));
    let at = at.strip_suffix(']').unwrap_or(at);
    (array.to_owned(), at.to_owned(), stride.trim_end_matches(");").to_owned())
}

/// Adds a step's products to the accumulators. One loop covers all products of two arrays, because software adapters compile
/// long shaders slowly.
fn multiply(size: u32, products: &[Product]) -> String {
    let mut text = String::new();
    let of = |product: &'_ Product| (product.lhs.array.clone(), product.rhs.array.clone());
    let mut arrays: Vec<(String, String)> = products.iter().map(of).collect();
    arrays.sort_unstable();
    arrays.dedup();
    for arrays in arrays {
        let products: Vec<&Product> = products.iter().filter(|product| of(product) == arrays).collect();
        let (count, first) = (products.len(), products[0]);
        let table = |value: &dyn Fn(&Product) -> String| {
            let values: Vec<String> = products.iter().map(|product| value(product)).collect();
            format!("array<u32, {count}>({})", values.join(", "))
        };
        let element = |table: &str, matrix: &Loaded, row: &str, column: &str| {
            let (line, within) = if matrix.by_rows { (row, column) } else { (column, row) };
            let at = format!("({table}[m] * 4u + {line} * ({} * 4u) + {within})", matrix.stride);
            format!("f32({}[{at} / 4u][{at} % 4u])", matrix.array)
        };
        let (left, right) = (element("lefts", &first.lhs, "row", "k"), element("rights", &first.rhs, "k", "column"));
        let each = size * size / 32;
        text += &format!(
            "{{ var lefts = {}; var rights = {}; var places = {}; for (var m = 0u; m < {count}u; m++) {{ \
             for (var e = 0u; e < {each}u; e++) {{ let i = e * 32u + subgroup_lane; let row = i / {size}u; \
             let column = i % {size}u; var sum = 0.0; for (var k = 0u; k < {size}u; k++) {{ sum += {left} * {right}; }} \
             matrix_sums[places[m] + e] += sum; }} }} }}\n",
            table(&|product| product.lhs.at.clone()),
            table(&|product| product.rhs.at.clone()),
            table(&|product| format!("{}u", product.sum)),
        );
    }
    text
}
