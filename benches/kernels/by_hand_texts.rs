//! Hand-written WGSL kernels for peak rates; `baseline` runs them.

use std::fmt::Write;

pub(crate) const COPY: &str = "
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let i = (id.x + id.y * n.x) * 256u + local;
    if (i < arrayLength(&y)) { y[i] = x[i]; }
}";

pub(crate) struct Arithmetic {
    /// Shader: reads `x` at binding 0, writes `y` at binding 1.
    pub(crate) wgsl: String,
    pub(crate) flops: f64,
    /// `f32` values that a workgroup writes.
    pub(crate) values: u64,
    pub(crate) expected: f32,
}

const INVOCATIONS: u32 = 128;

/// Per invocation: vectors of four that hide an addition's latency, and unrolled steps.
const VECTORS: u32 = 8;
const UNROLLED: u32 = 8;

/// Multiply-adds `x = x·s + o`. With `s` and `o` of one half, unknown to the driver, every value converges to 1, which
/// is checked.
pub(crate) fn floats(iterations: u32) -> Arithmetic {
    let mut wgsl = format!(
        "@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size({INVOCATIONS})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let scale = x[0];
    let offset = x[1];
    let start = vec4<f32>(0.0, 0.25, 0.5, 0.75) + f32(id.x % 4u);
"
    );
    for vector in 0..VECTORS {
        let _ = writeln!(wgsl, "    var v{vector} = start + {vector}.0;");
    }
    let _ = writeln!(wgsl, "    for (var i = 0u; i < {iterations}u; i += 1u) {{");
    for _ in 0..UNROLLED {
        for vector in 0..VECTORS {
            let _ = writeln!(wgsl, "        v{vector} = fma(v{vector}, scale, offset);");
        }
    }
    let sum: Vec<String> = (0..VECTORS).map(|vector| format!("v{vector}")).collect();
    let _ = writeln!(wgsl, "    }}\n    y[id.x] = dot({}, vec4<f32>(1.0));\n}}", sum.join(" + "));
    Arithmetic {
        wgsl,
        flops: f64::from(INVOCATIONS * iterations * UNROLLED * VECTORS * 4) * 2.0,
        values: INVOCATIONS.into(),
        expected: (VECTORS * 4) as f32,
    }
}

/// Values of `x` for [`floats`].
pub(crate) const HALVES: [f32; 8] = [0.5; 8];

const ROWS: u32 = 2;
const COLUMNS: u32 = 4;
const STEPS: u32 = 4;
const SUBGROUP: u32 = 32;

/// `f16` values that [`matrices`] reads.
pub(crate) const fn factors(size: u32) -> u32 {
    (ROWS + COLUMNS) * size * size
}

/// Small enough that accumulators stay exact.
pub(crate) const FACTOR: f32 = 0.0625;

/// Products of `size` × `size` matrices of `f16` with `f32` accumulators.
pub(crate) fn matrices(size: u32, iterations: u32) -> Arithmetic {
    let (elements, subgroups) = (size * size, INVOCATIONS / SUBGROUP);
    let mut wgsl = format!(
        "enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> x: array<f16>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size({INVOCATIONS})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(subgroup_id) subgroup: u32) {{
"
    );
    // Own addresses: equal matrices would be multiplied once.
    for row in 0..ROWS {
        let load = format!("coopLoadT<coop_mat{size}x{size}<f16, A>>(&x[{}], {size}u)", row * elements);
        let _ = writeln!(wgsl, "    let a{row} = {load};");
    }
    for column in 0..COLUMNS {
        let load = format!("coopLoadT<coop_mat{size}x{size}<f16, B>>(&x[{}], {size}u)", (ROWS + column) * elements);
        let _ = writeln!(wgsl, "    let b{column} = {load};");
    }
    let sums = || (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
    for (row, column) in sums() {
        let _ = writeln!(wgsl, "    var c{row}_{column} = coop_mat{size}x{size}<f32, C>();");
    }
    let _ = writeln!(wgsl, "    for (var i = 0u; i < {iterations}u; i += 1u) {{");
    for (row, column) in (0..STEPS).flat_map(|_| sums()) {
        let sum = format!("c{row}_{column}");
        let _ = writeln!(wgsl, "        {sum} = coopMultiplyAdd(a{row}, b{column}, {sum});");
    }
    let _ = writeln!(wgsl, "    }}\n    let at = (id.x * {subgroups}u + subgroup) * {}u;", ROWS * COLUMNS * elements);
    for (index, (row, column)) in (0..).zip(sums()) {
        let _ = writeln!(wgsl, "    coopStoreT(c{row}_{column}, &y[at + {}u], {size}u);", index * elements);
    }
    wgsl.push_str("}\n");
    let products = subgroups * iterations * STEPS * ROWS * COLUMNS;
    Arithmetic {
        wgsl,
        flops: f64::from(products) * 2.0 * f64::from(elements * size),
        values: (subgroups * ROWS * COLUMNS * elements).into(),
        expected: (iterations * STEPS * size) as f32 * FACTOR * FACTOR,
    }
}
