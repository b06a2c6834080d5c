//! Gradients on the interpreter against PyTorch and JAX (`fuse_test_support::Figures`); `tests/numeric/figures.rs`
//! compares kernels.

use std::collections::BTreeSet;

use fuse_compiler::{
    graph::verify,
    interp::{Stores, Value, run_bounded, run_exact},
};
use fuse_test_support::Figures;

const EXACT: f64 = 1e-13;

/// For constants that `f32` cannot represent: literals are `f32`, even in unrounded runs.
const OF_CONSTANTS: f64 = 1e-6;

/// Such constants: of the normal distribution, `gelu_tanh` and `selu`, logarithms of 2, thirds.
const WITH_CONSTANTS: &[&str] = &["gelu_layers", "batched_layers", "functions_of_one", "gradient_penalty"];

/// Every value is rounded to `f32`.
const ROUNDED: f64 = 1e-6;

#[test]
fn functions_are_as_many_as_promised_and_use_their_inputs() {
    let figures = Figures::all();
    assert_eq!([figures.len(), figures.iter().filter(|figures| figures.is_late).count()], [24, 8]);
    for Figures { graph, given, .. } in &figures {
        let params: BTreeSet<&String> = graph.params.iter().map(|param| &param.name).collect();
        assert_eq!(given.iter().collect::<BTreeSet<_>>(), params, "{}", graph.name);
        assert_eq!(verify::verify(graph), Vec::<String>::new(), "{}", graph.name);
    }
}

#[test]
fn unrounded_gradients_are_those_of_pytorch_and_jax() {
    let mut deviations = vec![];
    for figures in Figures::all() {
        let name = &figures.graph.name;
        let found = run_exact(&figures.graph, &figures.inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
        let tolerance = if WITH_CONSTANTS.contains(&name.as_str()) { OF_CONSTANTS } else { EXACT };
        deviations.extend(figures.deviations(&found, tolerance));
    }
    assert!(deviations.is_empty(), "{}", deviations.join("\n"));
}

#[test]
fn gradients_rounded_to_f32_after_every_operation_are_near_those_of_pytorch_and_jax() {
    let mut deviations = vec![];
    for figures in Figures::all() {
        let (graph, name) = (&figures.graph, &figures.graph.name);
        let found = run_bounded(graph, &figures.inputs, Stores::EveryNode);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}")).into_iter();
        let found =
            found.map(|x| Value { data: x.data.iter().map(|x| x.exact).collect(), dtype: x.dtype, shape: x.shape });
        deviations.extend(figures.deviations(&found.collect::<Vec<_>>(), ROUNDED));
    }
    assert!(deviations.is_empty(), "{}", deviations.join("\n"));
}
