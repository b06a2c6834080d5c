//! Canonical text of schedules, for goldens and `FUSE_DUMP_DIR`.

use std::fmt::Write;

use fuse_artifact::{Features, Kernel, Require, Schedule, Variant};

/// A kernel's variants as text: how each is scheduled, what it needs of shapes and of the adapter.
pub fn print(kernel: &Kernel) -> String {
    let mut text = format!("{}\n", kernel.name);
    for variant in kernel.variants.iter() {
        let _ = writeln!(text, "  {}: {}", variant.name, schedule(&variant.schedule));
        for (i, pass) in variant.passes.iter().enumerate() {
            let (size, bytes) = (pass.workgroup_size, pass.workgroup_bytes);
            let _ = writeln!(text, "    pass {i}: workgroups of {size}, {bytes} bytes of workgroup memory");
        }
        for need in needs(variant) {
            let _ = writeln!(text, "    needs {need}");
        }
    }
    text
}

fn schedule(schedule: &Schedule) -> String {
    let split = |split: bool| if split { ", depth split between workgroups" } else { "" };
    match schedule {
        Schedule::Elements { lanes, rank } => format!("{lanes} elements per invocation, up to {rank} axes"),
        Schedule::Tiles {
            rows,
            columns,
            depth,
            per_invocation: [r, c],
            lanes,
            split: is_split,
            stream_k,
            layers,
            stacked,
            matrices,
        } => {
            let tile = format!("tiles of {rows}x{columns} in steps of {depth}");
            let layers = if *layers > 1 { format!(" in {layers} layers") } else { String::new() };
            let stacked = if *stacked { ", a product per workgroup" } else { "" };
            let owner = match matrices {
                0 => "invocation".to_owned(),
                size => format!("subgroup in matrices of {size}x{size}"),
            };
            let shared = if *stream_k { ", depths shared evenly by all workgroups" } else { split(*is_split) };
            format!("{tile}, {r}x{c} per {owner}{layers}, loads of {lanes}{shared}{stacked}")
        }
        Schedule::Row { rows, columns, depth_lanes, split: is_split, .. } => {
            let rows = if *rows > 1 { format!("up to {rows} rows of ") } else { String::new() };
            format!("{rows}{columns} columns, depth over {depth_lanes} invocations{}", split(*is_split))
        }
        Schedule::Dot { outputs, depth_lanes, .. } => {
            format!("{outputs} sums per workgroup, depth over {depth_lanes} invocations")
        }
        Schedule::Rows { rows, invocations, lanes, held, axes, split: is_split } => {
            let held = if *held == 0 { "streamed".to_owned() } else { format!("{held} loads held") };
            let who = format!("{rows} rows of {invocations} invocations per workgroup, loads of {lanes}, {held}");
            format!("{who}, up to {}+{} axes{}", axes[0], axes[1], split(*is_split))
        }
        Schedule::Columns { columns, layers, lanes, axes, split: is_split } => {
            let who = format!("{columns} columns in {layers} layers per workgroup, loads of {lanes}");
            format!("{who}, up to {}+{} axes{}", axes[0], axes[1], split(*is_split))
        }
        Schedule::Attention { rows, keys, head, split: is_split, matrices } => {
            let split = if *is_split { ", keys split between workgroups" } else { "" };
            let matrices =
                if *matrices > 0 { format!(", in matrices of {matrices}x{matrices}") } else { String::new() };
            format!("{rows} queries per workgroup in steps of {keys} keys, heads up to {head}{matrices}{split}")
        }
    }
}

fn needs(variant: &Variant) -> Vec<String> {
    let require = |require: &Require| match require {
        Require::RankAtMost(rank) => format!("at most {rank} axes after merging"),
        Require::InnerMultiple { of } => format!("an innermost extent that is a multiple of {of}, or a single row"),
        Require::Stride { access, axis, stride } => format!("stride {stride} of a{access} along axis {axis}"),
        Require::Aligned { access, axis, of } => format!("a{access} aligned to {of} elements but along axis {axis}"),
        Require::Multiple { axis, of } => format!("a multiple of {of} as extent {axis}"),
        Require::AtMost { axis, value } => format!("at most {value} as extent {axis}"),
        Require::AtLeast { axis, value } => format!("at least {value} as extent {axis}"),
    };
    let Features { f16, subgroups, matrices, int8_activations } = variant.features;
    let features = [
        (f16, "f16"),
        (subgroups > 0, "subgroups"),
        (matrices > 0, "cooperative matrices"),
        (int8_activations, "activations of 8 bits"),
    ];
    let features = features.iter().filter(|(needed, _)| *needed).map(|(_, name)| format!("the feature {name}"));
    variant.requires.iter().map(require).chain(features).collect()
}
