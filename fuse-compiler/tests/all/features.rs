//! Functions compiled for known features omit other variants.

use std::iter;

use fuse_artifact::{Features, Function, Kernel, Variant};
use fuse_compiler::{
    compile::{Compiled, Options, compile},
    front,
};

/// Cooperative matrices, subgroups, integers and `f16`.
const PROGRAMS: [&str; 5] = [
    "fn f(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { relu(matmul(x, w)) }",
    "fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { softmax(relu(matmul(x, w))) }",
    "fn f(x: f32[M, 256], w: q8[64, 256]) -> f32[M, 64] { matmul(x, transpose(w)) }",
    "fn f(x: f32[M, N], y: f16[N]) -> f32[M] { sum(x * (y as f32), axis = 1) }",
    "fn f(q: f16[B, M, 64], k: f16[B, N, 64], v: f16[B, N, 64]) -> f16[B, M, 64] {
        matmul(softmax(matmul(q, transpose(k))), v)
    }",
];

fn compiled(source: &str, features: Option<Features>, dump: bool) -> Compiled {
    let items = front::items(source.parse().unwrap());
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let graph = &items.functions[0].instances[0].graph;
    compile(graph, &Options { validate: false, features, dump, ..Options::default() }).unwrap()
}

fn kernels(function: &Function) -> Vec<&Kernel> {
    let functions = iter::once(function).chain(function.alternatives.iter());
    functions.flat_map(|function| function.kernels.iter()).collect()
}

fn devices() -> impl Iterator<Item = Features> {
    let none = Features::default();
    let f16 = Features { f16: true, ..none };
    let subgroups = Features { subgroups: 8, ..none };
    let integers = Features { int8_activations: true, ..none };
    let all = Features { f16: true, subgroups: 32, coop_matrix: 16, int8_activations: true };
    // Unsupported sizes count as none.
    let small = Features { coop_matrix: 8, ..all };
    [none, f16, subgroups, integers, all, small].into_iter()
}

#[test]
fn kernels_keep_what_the_features_cover_and_the_last_of_their_family() {
    let mut left_out = 0;
    for source in PROGRAMS {
        let all = compiled(source, None, true).function;
        for features in devices() {
            let some = compiled(source, Some(features), false).function;
            assert_eq!(kernels(&all).len(), kernels(&some).len(), "{source}");
            for (all, some) in kernels(&all).into_iter().zip(kernels(&some)) {
                let last = all.variants.len() - 1;
                let kept = |&(at, variant): &(usize, &Variant)| at == last || features.cover(variant.features);
                let kept: Vec<&Variant> =
                    all.variants.iter().enumerate().filter(kept).map(|(_, variant)| variant).collect();
                assert!(some.variants.iter().eq(kept.iter().copied()), "{} for {features:?}", all.name);
                left_out += all.variants.len() - kept.len();
            }
        }
    }
    assert!(left_out > 50, "only {left_out} variants are left out");
}

#[test]
fn nothing_is_dumped_unless_asked_for() {
    for source in PROGRAMS {
        let [with, without] = [true, false].map(|dump| compiled(source, None, dump));
        let dump = without.dump;
        assert!(dump.graph.is_empty() && dump.groups.is_empty() && dump.schedules.is_empty() && dump.wgsl.is_empty());
        assert!(!with.dump.wgsl.is_empty());
        assert!(with.function == without.function, "{source}");
    }
}
