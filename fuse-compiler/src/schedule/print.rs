//! Canonical text of schedules, for goldens and `FUSE_DUMP_DIR`.

use std::fmt::Write;

use fuse_artifact::{
    Features, Kernel, Require, Schedule, Variant,
    schedule::{
        Attention, AttentionCoopMatrix, Gemv, GemvRows, K, LANES, Mainloop, Pointwise, Reduction, ReductionOrder,
        RowLoads, Tile, WeightedSum,
    },
};

/// Prints a kernel's variants with their schedules and requirements.
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
    let split = |of: &str| if schedule.is_split() { format!(", {of} split between workgroups") } else { String::new() };
    match schedule {
        Schedule::Pointwise(Pointwise { lanes, rank }) => {
            format!("{lanes} elements per invocation, up to {rank} axes")
        }
        Schedule::Tile(tile) => {
            let Tile { rows, columns, depth, invocation_rows, invocation_columns, lanes, .. } = tile;
            let owner = match tile.mainloop {
                Mainloop::Staged => "invocation".to_owned(),
                Mainloop::Unstaged => "invocation without workgroup memory".to_owned(),
                Mainloop::SliceK(groups) => format!("invocation in {groups} k-groups"),
                Mainloop::CoopMatrix(size) => format!("subgroup in matrices of {size}x{size}"),
            };
            let shared = match tile.k {
                K::Stream => ", depths shared evenly by all workgroups".to_owned(),
                K::Whole | K::Split => split("depth"),
            };
            let grouped = if tile.is_grouped() { ", a product per workgroup" } else { "" };
            let sums = format!("{invocation_rows}x{invocation_columns} per {owner}, loads of {lanes}");
            format!("tiles of {rows}x{columns} in steps of {depth}, {sums}{shared}{grouped}")
        }
        Schedule::Gemv(Gemv { rows, columns, depth_lanes, .. }) => match rows {
            GemvRows::AtMost { rows, .. } => {
                let rows = if *rows > 1 { format!("up to {rows} rows of ") } else { String::new() };
                format!("{rows}{columns} columns, depth over {depth_lanes} invocations{}", split("depth"))
            }
            GemvRows::One => format!("{columns} sums per workgroup, depth over {depth_lanes} invocations"),
        },
        Schedule::Reduction(Reduction { order, rows, invocations, lanes, axes, .. }) => {
            let who = match order {
                ReductionOrder::Rows { loads, .. } => {
                    let held = match loads {
                        RowLoads::Held(loads) => format!("{loads} loads held"),
                        RowLoads::Streamed => "streamed".to_owned(),
                    };
                    format!("{rows} rows of {invocations} invocations per workgroup, loads of {lanes}, {held}")
                }
                ReductionOrder::Columns => {
                    format!("{rows} columns in {invocations} layers per workgroup, loads of {lanes}")
                }
                ReductionOrder::Scatter { axis } => {
                    format!("{rows} columns per workgroup, of what counts along axis {axis}, loads of {lanes}")
                }
            };
            let of = match order {
                ReductionOrder::Rows { .. } => "rows",
                ReductionOrder::Columns | ReductionOrder::Scatter { .. } => "columns",
            };
            format!("{who}, up to {}+{} axes{}", axes[0], axes[1], split(of))
        }
        Schedule::Attention(attention) => {
            let (queries, keys, head) = (attention.queries(), attention.keys(), attention.head());
            let matrices = match attention {
                Attention::CoopMatrix(_) => format!(", in matrices of {0}x{0}", AttentionCoopMatrix::SIZE),
                _ => String::new(),
            };
            let who = format!("{queries} queries per workgroup in steps of {keys} keys, heads up to {head}");
            format!("{who}{matrices}{}", split("keys"))
        }
        Schedule::WeightedSum(sum) => {
            let WeightedSum { rows, invocation_rows, columns, lanes, coop_matrix, .. } = sum;
            let (keys, weights) = (sum.keys(), LANES);
            let who = format!("{rows} rows per workgroup in steps of {keys} keys, up to {columns} columns");
            match coop_matrix {
                true => format!("{who}, in matrices of {0}x{0}", AttentionCoopMatrix::SIZE),
                false => format!("{who}, {invocation_rows}x{weights} weights per invocation, loads of {lanes}"),
            }
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
    let Features { f16, subgroups, coop_matrix, int8_activations } = variant.features;
    let features = [
        (f16, "f16"),
        (subgroups > 0, "subgroups"),
        (coop_matrix > 0, "cooperative matrices"),
        (int8_activations, "activations of 8 bits"),
    ];
    let features = features.iter().filter(|(needed, _)| *needed).map(|(_, name)| format!("the feature {name}"));
    variant.requires.iter().map(require).chain(features).collect()
}
