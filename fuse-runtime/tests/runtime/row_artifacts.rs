//! Artifacts of reductions in the compiler's form: the second of two needs the first.

use fuse_runtime::artifact::{
    Access, Binding, DType, Domain, DomainKind, Function, Grid, Pass, Plan, Require, Schedule, Scratch, Size, Slot,
    Space, Uniform, Variant,
    schedule::{Reduction, ReductionOrder, RowLoads},
};

use crate::artifacts::{access, axis_symbol, binding, kernel, leak, pass, spec, sym, tensor, variant};

/// Uniform words of every shader here, in order.
const WORDS: &str = "workgroups: u32, count: u32, row_length: u32, parts: u32, part: u32, kept: u32,
    x0: u32, x1: u32, x2: u32, y0: u32, y1: u32, y2: u32, s0: u32, s1: u32";

/// For [`WORDS`], with two kept axes and a reduced one.
fn uniforms() -> Vec<Uniform> {
    let strides = |access: u16, axes: u8| (0..axes).map(move |axis| Uniform::Stride { access, axis });
    [Uniform::Workgroups, Uniform::Count, Uniform::RowLength, Uniform::Splits, Uniform::SplitDepth]
        .into_iter()
        .chain([Uniform::Extent { axis: 1 }])
        .chain(strides(0, 3))
        .chain(strides(1, 3))
        .chain(strides(2, 2))
        .collect()
}

/// Shader for workgroups of 64 with `rows` rows each. Invocations see `row`, `has_row` (whether it exists), `lane` (of
/// `64 / rows`), and the row's starts `x_base`, `y_base`, `s_base`. `fold` takes a value of each lane.
fn text(rows: u32, bindings: &str, body: &str) -> String {
    let lanes = 64 / rows;
    format!(
        "struct Words {{ {WORDS} }}
        @group(0) @binding(0) var<uniform> u: Words;
        {bindings}
        var<workgroup> shared_values: array<f32, 64>;
        fn highest(first: u32) -> f32 {{
            var result = shared_values[first];
            for (var i = 1u; i < {lanes}u; i++) {{ result = max(result, shared_values[first + i]); }}
            return result;
        }}
        fn total(first: u32) -> f32 {{
            var result = 0.0;
            for (var i = 0u; i < {lanes}u; i++) {{ result += shared_values[first + i]; }}
            return result;
        }}
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) local: u32) {{
            let id = group.x + group.y * groups.x;
            if id >= u.workgroups {{ return; }}
            let row_groups = (u.count + {rows}u - 1u) / {rows}u;
            let part = id / row_groups;
            let row = (id % row_groups) * {rows}u + local / {lanes}u;
            let lane = local % {lanes}u;
            let first = local - lane;
            let has_row = row < u.count;
            let outer = row / u.kept; let inner = row % u.kept;
            let x_base = outer * u.x0 + inner * u.x1;
            let y_base = outer * u.y0 + inner * u.y1;
            let s_base = outer * u.s0 + inner * u.s1;
            {body}
        }}"
    )
}

const LEAST: &str = "-3.4e38";

fn all_bindings() -> Vec<Binding> {
    vec![
        binding(Slot::Param(0), DType::F32, false),
        binding(Slot::Result(0), DType::F32, true),
        binding(Slot::Result(1), DType::F32, true),
    ]
}

const INPUT_AND_RESULTS: &str = "@group(0) @binding(1) var<storage, read> x: array<f32>;
    @group(0) @binding(2) var<storage, read_write> y: array<f32>;
    @group(0) @binding(3) var<storage, read_write> s: array<f32>;";

/// One pass: `rows` rows per workgroup, by lanes that walk down their row.
fn whole(rows: u32) -> Pass {
    let lanes = 64 / rows;
    let body = format!(
        "var most = {LEAST};
        if has_row {{ for (var i = lane; i < u.row_length; i += {lanes}u) {{ most = max(most, x[x_base + i * u.x2]); }} }}
        shared_values[local] = most;
        workgroupBarrier();
        let m = highest(first);
        workgroupBarrier();
        var sum = 0.0;
        if has_row {{ for (var i = lane; i < u.row_length; i += {lanes}u) {{ sum += x[x_base + i * u.x2] - m; }} }}
        shared_values[local] = sum;
        workgroupBarrier();
        let t = total(first);
        if has_row {{
            for (var i = lane; i < u.row_length; i += {lanes}u) {{
                y[y_base + i * u.y2] = x[x_base + i * u.x2] - m + t;
            }}
            if lane == 0u {{ s[s_base] = t; }}
        }}"
    );
    pass(text(rows, INPUT_AND_RESULTS, &body), all_bindings(), uniforms(), Grid::Rows { rows })
}

/// A pass per reduction, and one for the results. Scratch: two words per row and part.
fn split() -> Vec<Pass> {
    let range = "let begin = part * u.part; let end = min(u.row_length, begin + u.part);";
    let most_of_parts = format!(
        "var m = {LEAST};
        for (var p = 0u; p < u.parts; p++) {{ m = max(m, bitcast<f32>(scratch[(row * u.parts + p) * 2u])); }}"
    );
    let input_and_scratch = "@group(0) @binding(1) var<storage, read> x: array<f32>;
        @group(0) @binding(2) var<storage, read_write> scratch: array<u32>;";
    let bindings = || vec![binding(Slot::Param(0), DType::F32, false), binding(Slot::Scratch, DType::U32, true)];
    let reduce = |before: &str, start: &str, step: &str, fold: &str, word: u32| {
        let body = format!(
            "{range} {before}
            var value = {start};
            for (var i = begin + lane; i < end; i += 64u) {{ let element = x[x_base + i * u.x2]; {step} }}
            shared_values[local] = value;
            workgroupBarrier();
            if lane == 0u {{ scratch[(row * u.parts + part) * 2u + {word}u] = bitcast<u32>({fold}(first)); }}"
        );
        pass(text(1, input_and_scratch, &body), bindings(), uniforms(), Grid::Rows { rows: 1 })
    };
    let results = format!(
        "{range} {most_of_parts}
        var t = 0.0;
        for (var p = 0u; p < u.parts; p++) {{ t += bitcast<f32>(scratch[(row * u.parts + p) * 2u + 1u]); }}
        for (var i = begin + lane; i < end; i += 64u) {{ y[y_base + i * u.y2] = x[x_base + i * u.x2] - m + t; }}
        if lane == 0u && part == 0u {{ s[s_base] = t; }}"
    );
    let all = format!("{INPUT_AND_RESULTS} @group(0) @binding(4) var<storage, read> scratch: array<u32>;");
    let slots = [all_bindings(), vec![binding(Slot::Scratch, DType::U32, false)]].concat();
    vec![
        reduce("", LEAST, "value = max(value, element);", "highest", 0),
        reduce(&most_of_parts, "0.0", "value += element - m;", "total", 1),
        pass(text(1, &all, &results), slots, uniforms(), Grid::Rows { rows: 1 }),
    ]
}

/// `centered(x: f32[A, B, C]) -> (f32[A, B, C], f32[..])` over axis `axis`: `t = Σ (x − max x)`, `x − max x + t`, `t`.
/// Variants: four rows per workgroup, one (any length), a row shared by workgroups.
pub(crate) fn centered(axis: usize) -> &'static Function {
    let shape: Vec<Size> = (0..3).map(sym).collect();
    let kept: Vec<usize> = (0..3).filter(|other| *other != axis).collect();
    let per_row: Vec<Size> = kept.iter().map(|axis| shape[*axis].clone()).collect();
    let extents = [&per_row[..], &[shape[axis].clone()]].concat();
    // The domain has the kept axes, then the reduced one.
    let order: Vec<Option<u8>> = kept.iter().chain([&axis]).map(|axis| Some(*axis as u8)).collect();
    let whole_row = |slot| Access { axes: order.clone().into(), ..access(slot, Space::Point, 3, &shape) };
    let of_row =
        Access { axes: vec![Some(0), Some(1), None].into(), ..access(Slot::Result(1), Space::Point, 2, &per_row) };
    let rows = |rows, held, axes, split| {
        let loads = if held > 0 { RowLoads::Held(held) } else { RowLoads::Streamed };
        let whole = Reduction::new(ReductionOrder::rows(loads), [rows, 64 / rows], axes);
        Schedule::Reduction(Reduction { split, ..whole })
    };
    let with_scratch = |variant| Variant { scratch: Scratch { per_output: 0, per_row: 2 }, ..variant };
    let variants = vec![
        variant("held", vec![], rows(4, 4, [2, 1], false), vec![whole(4)]),
        with_scratch(variant("split", vec![Require::AtLeast { axis: 2, value: 1 }], rows(1, 0, [2, 1], true), split())),
        variant("streamed", vec![], rows(1, 0, [2, 1], false), vec![whole(1)]),
    ];
    let domain = Domain { kind: DomainKind::Reduction { axes: 1 }, extents: extents.into(), fixed: false };
    let accesses = vec![whole_row(Slot::Param(0)), whole_row(Slot::Result(0)), of_row];
    leak(Function {
        name: "centered".into(),
        params: vec![tensor("x", DType::F32, &shape)].into(),
        results: vec![spec(DType::F32, &shape), spec(DType::F32, &per_row)].into(),
        updates: vec![].into(),
        symbols: vec![axis_symbol("A", 0, 0), axis_symbol("B", 0, 1), axis_symbol("C", 0, 2)].into(),
        checks: vec![].into(),
        temporaries: vec![].into(),
        kernels: vec![kernel("centered", domain, accesses, variants)].into(),
        plan: Plan::default(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    })
}
