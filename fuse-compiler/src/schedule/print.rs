//! Canonical text of schedules, for goldens and `FUSE_DUMP_DIR`.

use std::fmt::Write;

use fuse_artifact::{
    Features, Kernel, Pass, Require, Schedule, Variant,
    schedule::{
        Attention, AttentionCoopMatrix, Gemv, GemvRows, K, LANES, Mainloop, Pointwise, Reduction, ReductionOrder,
        RowLoads, Tile, WeightedSum,
    },
};

/// A kernel's variants, one line each: schedule, invocations and workgroup bytes of each pass, requirements.
///
/// Shared lists of requirements come first, numbered.
pub fn print(kernel: &Kernel) -> String {
    let lists: Vec<Vec<String>> = kernel.variants.iter().map(needs).collect();
    let shared = shared(&lists);
    let mut text = format!("{}\n", kernel.name);
    for (i, list) in shared.iter().enumerate() {
        let _ = writeln!(text, "  needs #{}: {}", i + 1, abbreviated(list, &shared, list.len() - 1));
    }
    for (variant, list) in kernel.variants.iter().zip(&lists) {
        let pass = |pass: &Pass| format!("{} invocations, {} bytes", pass.workgroup_size, pass.workgroup_bytes);
        let passes: Vec<String> = variant.passes.iter().map(pass).collect();
        let _ = write!(text, "  {}: {}; {}", variant.name, schedule(&variant.schedule), passes.join(", then "));
        if !list.is_empty() {
            let _ = write!(text, "; needs {}", abbreviated(list, &shared, list.len()));
        }
        text.push('\n');
    }
    text
}

/// Repeated lists of two or more requirements, in order of first occurrence.
fn shared(lists: &[Vec<String>]) -> Vec<&Vec<String>> {
    let mut shared = vec![];
    for list in lists {
        let count = lists.iter().filter(|other| *other == list).count();
        if list.len() > 1 && count > 1 && !shared.contains(&list) {
            shared.push(list);
        }
    }
    shared
}

/// The list with its longest shared prefix of at most `most` elements replaced by the prefix's number.
fn abbreviated(list: &[String], shared: &[&Vec<String>], most: usize) -> String {
    let prefixes = shared.iter().enumerate().filter(|(_, prefix)| prefix.len() <= most && list.starts_with(prefix));
    let longest = prefixes.max_by_key(|(_, prefix)| prefix.len());
    let number = longest.map(|(i, _)| format!("#{}", i + 1));
    let rest = &list[longest.map_or(0, |(_, prefix)| prefix.len())..];
    number.iter().chain(rest).map(String::as_str).collect::<Vec<_>>().join(", ")
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
