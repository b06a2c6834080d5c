//! Nested values read at several places: the program's length bounds recomputation.

use std::collections::BTreeSet;

use fuse_compiler::{
    fusion::{Groups, Policy, fuse_with},
    graph::Graph,
};

use super::{graph, plan};

fn levels(parameters: &str, level: &str, count: usize) -> Graph {
    graph(&format!("pub fn f({parameters}) -> f32[M, N] {{ {} x }}", level.repeat(count)))
}

fn values(groups: &Groups) -> usize {
    groups.groups.iter().map(|group| group.body.values.len()).sum()
}

const MATRIX: &str = "x: f32[M, N]";
const ONE_INDEX: &str = "x: f32[M, N], i: i32[N]";
const TWO_INDICES: &str = "x: f32[M, N], i: i32[N], k: i32[N]";

const HEAT: &str = "let x = x + 0.1 * (roll(x, axis = 0, shift = 1) + roll(x, axis = 0, shift = -1)
    + roll(x, axis = 1, shift = 1) + roll(x, axis = 1, shift = -1) - 4.0 * x);";

const LIFE: &str = "let r = roll(x, axis = 0, shift = 1) + x + roll(x, axis = 0, shift = -1);
    let n = roll(r, axis = 1, shift = 1) + r + roll(r, axis = 1, shift = -1) - x;
    let x = select(n == 3.0, 1.0, select(n == 2.0, x, 0.0));";

const SCAN: &str = "let x = x + slice(pad(x, axis = 1, before = 3), axis = 1, start = 0, end = N);";

#[test]
fn recomputation_grows_no_faster_than_the_program() {
    let cases = [
        ("one axis", MATRIX, "let x = roll(x, axis = 1, shift = 1) + roll(x, axis = 1, shift = -1);"),
        ("free levels", MATRIX, "let x = roll(x, axis = 1, shift = 1); let x = x + roll(x, axis = 1, shift = 3);"),
        ("heat", MATRIX, HEAT),
        ("life", MATRIX, LIFE),
        ("scan", MATRIX, SCAN),
        ("gathers", TWO_INDICES, "let x = gather(x, i, axis = 1) + gather(x, k, axis = 1);"),
        (
            "a shared gather",
            TWO_INDICES,
            "let t = gather(x, i, axis = 1); let x = gather(t, i, axis = 1) - gather(t, k, axis = 1);",
        ),
        ("pointers", ONE_INDEX, "let i = gather(i, i, axis = 0); let x = gather(x, i, axis = 1);"),
        (
            "upsampled",
            MATRIX,
            "let t = repeat(x, axis = 1, times = 2); let x = slice(t, axis = 1, start = 0, end = N)
            + slice(t, axis = 1, start = N, end = 2 * N);",
        ),
    ];
    for (name, parameters, level) in cases {
        let graph = |count| levels(parameters, level, count);
        for policy in Policy::ALL {
            let of_level = graph(2).nodes.len() - graph(1).nodes.len();
            for count in [1, 8, 64] {
                let graph = graph(count);
                let found = values(&plan(&graph, policy));
                let most = 8 * of_level * count + 64;
                assert!(found <= most, "{name}, {count} levels, {policy:?}: {found} values, of {most}");
            }
        }
    }
}

#[test]
fn an_image_filter_is_a_kernel_per_stage() {
    let source = "fn f(red: f32[H, W], green: f32[H, W], blue: f32[H, W]) -> f32[H, W] {
        let x = red * 0.299 + green * 0.587 + blue * 0.114;
        let r = roll(x, axis = 0, shift = 1) + x + roll(x, axis = 0, shift = -1);
        let x = (roll(r, axis = 1, shift = 1) + r + roll(r, axis = 1, shift = -1)) / 9.0;
        let s = roll(x, axis = 0, shift = 1) + 2.0 * x + roll(x, axis = 0, shift = -1);
        let d = roll(x, axis = 0, shift = 1) - roll(x, axis = 0, shift = -1);
        let gx = roll(s, axis = 1, shift = 1) - roll(s, axis = 1, shift = -1);
        let gy = roll(d, axis = 1, shift = 1) + 2.0 * d + roll(d, axis = 1, shift = -1);
        select(sqrt(gx * gx + gy * gy) > 0.5, 1.0, 0.0)
    }";
    let graph = graph(source);
    assert_eq!(Policy::ALL.map(|policy| plan(&graph, policy).groups.len()), [2, 3, 3]);
}

#[test]
fn kernels_are_bounded_whatever_is_estimated() {
    // Only the bound on repetitions per kernel remains.
    let graph = levels(MATRIX, "let x = roll(x, axis = 1, shift = 1) + roll(x, axis = 1, shift = -1);", 24);
    for policy in Policy::ALL {
        let groups = fuse_with(&graph, policy, &BTreeSet::new()).expect("a plan");
        assert!(groups.groups.len() < 24, "{policy:?}: {} kernels", groups.groups.len());
        let most = groups.groups.iter().map(|group| group.body.values.len()).max();
        assert!(most < Some(12_000), "{policy:?}: a kernel of {most:?} values");
    }
}
