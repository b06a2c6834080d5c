//! Gradients of kernels against PyTorch and JAX in float64 (`fuse_test_support::Figures`), with the runtime's choice.

use fuse_test_support::{Figures, Program, adapter::Arguments, devices, wait};

/// Relative to the gradient's largest number.
const TOLERANCE: f64 = 1e-5;

fn check(made: impl Fn(Program) -> Result<Program, String>) {
    let mut deviations = vec![];
    for figures in Figures::all() {
        let program = Program::new(figures.graph.clone(), vec![]).and_then(&made);
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        program.validate().unwrap_or_else(|error| panic!("{error}"));
        for device in devices() {
            let results = Arguments::new(device, &program, &figures.inputs)
                .and_then(|arguments| wait(arguments.launch(&program, None)));
            let found = results.unwrap_or_else(|error| panic!("{}: {error}", figures.graph.name));
            deviations.extend(figures.deviations(&found, TOLERANCE));
        }
    }
    assert!(deviations.is_empty(), "{}", deviations.join("\n"));
}

#[test]
fn gradients_are_those_of_pytorch_and_jax() {
    check(Ok);
}

#[test]
fn unfused_gradients_are_those_of_pytorch_and_jax() {
    check(|program| program.unfused());
}
