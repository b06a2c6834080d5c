//! Gradients of random programs: beside differences, on the interpreter in `f64`, and as kernels.

use fuse_compiler::{
    graph::{Graph, Param},
    interp::{InterpError, Value, run_exact},
};
use fuse_test_support::{
    Variants, check,
    compare::Outcome,
    data::{self, Numbers},
    graphs, try_compile,
};

use super::{
    CASES,
    generate::{Builder, Program},
    run,
};

/// The step of a difference.
const STEP: f64 = 1e-4;

/// How far a gradient may be from a difference along the same direction, of the sum of their parts' magnitudes or of 1.
const TOLERANCE: f64 = 1e-5;

/// How far a gradient may be from those a step before and behind, of the same sum: what jumps more has a corner there, or a divisor that
/// is rounding.
const STEADY: f64 = 1e-3;

/// The most programs, of those drawn, whose differences say nothing: numbers of corners and poles, or none.
const ROUGH_SHARE: f64 = 0.4;

/// Whether a parameter is one that programs are differentiated with respect to.
fn is_differentiated(param: &Param) -> bool {
    param.ty.dtype.is_float() && !param.scalar && param.quantized.is_none()
}

/// Directions from -1 to 1 in the space of the parameters; 0 for what is not differentiated.
fn direction(graph: &Graph, inputs: &[Value], seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = Numbers::new(seed);
    let mut next = || numbers.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
    let of = |(param, input): (&Param, &Value)| {
        let moves = is_differentiated(param);
        input.data.iter().map(|_| if moves { next() } else { 0.0 }).collect()
    };
    graph.params.iter().zip(inputs).map(of).collect()
}

/// Inputs so far along a direction.
fn moved(inputs: &[Value], direction: &[Vec<f64>], length: f64) -> Vec<Value> {
    let move_one = |(input, direction): (&Value, &Vec<f64>)| {
        let mut input = input.clone();
        input.data.iter_mut().zip(direction).for_each(|(x, u)| *x += length * u);
        input
    };
    inputs.iter().zip(direction).map(move_one).collect()
}

/// Gradients along a direction: their sum, and that of their magnitudes, at least 1.
fn along(graph: &Graph, gradients: &[Value], direction: &[Vec<f64>]) -> (f64, f64) {
    let directions = graph.params.iter().zip(direction).filter(|(param, _)| is_differentiated(param));
    let products = gradients.iter().zip(directions).flat_map(|(x, (_, u))| x.data.iter().zip(u).map(|(x, u)| x * u));
    products.fold((0.0, 1.0), |(sum, size), product| (sum + product, size + product.abs()))
}

/// Compares the gradient along a random direction with differences. All elements are loose where two differences or the gradients around
/// disagree: a corner lies between.
fn check_differences(program: &Program, seed: u64) -> Result<Outcome, String> {
    let graphs = graphs(&program.source)?;
    let [value, gradient] = &graphs[..] else { return Err(format!("{} functions", graphs.len())) };
    // Round numbers lie on corners.
    let round = data::inputs(gradient, &program.dims, seed);
    let inputs = moved(&round, &direction(gradient, &round, !seed), 0.01);
    let gradients = match run_exact(gradient, &inputs) {
        // Sizes that a launch refuses have no numbers.
        Err(InterpError::Check { .. }) => return Ok(Outcome::default()),
        gradients => gradients.map_err(|error| error.to_string())?,
    };
    let direction = direction(gradient, &inputs, seed);
    let at = |steps: f64| {
        run_exact(value, &moved(&inputs, &direction, steps * STEP)).map_or(f64::NAN, |results| results[0].data[0])
    };
    let near = (at(1.0) - at(-1.0)) / (2.0 * STEP);
    let expected = (4.0 * near - (at(2.0) - at(-2.0)) / (4.0 * STEP)) / 3.0;
    let elements = gradients.iter().map(|gradient| gradient.data.len()).sum();
    let (found, size) = along(gradient, &gradients, &direction);
    let around = [1.0, -1.0].map(|steps| {
        let gradients = run_exact(gradient, &moved(&inputs, &direction, steps * STEP));
        gradients.map_or(f64::NAN, |gradients| along(gradient, &gradients, &direction).0)
    });
    let is_smooth = found.is_finite()
        && (near - expected).abs() <= TOLERANCE * size
        && around.iter().all(|other| (other - found).abs() <= STEADY * size);
    if is_smooth && (found - expected).abs() > TOLERANCE * size {
        return Err(format!("along a direction, the gradient says {found}, differences {expected}"));
    }
    Ok(Outcome { elements, loose: if is_smooth { 0 } else { elements } })
}

#[test]
fn gradients_agree_with_differences() {
    // Nothing is compiled for an adapter here.
    let rough = run("gradients", "gradients.txt", CASES, |(steps, extents, seed)| {
        let program = Builder::differentiated(*extents, steps);
        // Casts between floats round, in steps that differences see. Where all keys of a row are hidden by -1e30, a number per
        // row does not hold the logarithm of how many they are (docs/experiments.md).
        let is_exact = |program: &Program| !["f16", "-1e30"].iter().any(|text| program.source.contains(text));
        let Some(program) = program.filter(is_exact) else { return Ok(Outcome::default()) };
        check_differences(&program, *seed)
            .map_err(|error| format!("{error}\nwith {:?}\n{}", program.dims, program.source))
    });
    assert!(rough <= ROUGH_SHARE, "differences of {:.0} % of the programs say nothing", rough * 100.0);
}

#[test]
fn kernels_of_gradients() {
    run("kernels of gradients", "gradient_kernels.txt", CASES / 8, |(steps, extents, seed)| {
        let Some(program) = Builder::differentiated(*extents, steps) else { return Ok(Outcome::default()) };
        let fail = |error| format!("{error}\nwith {:?}\n{}", program.dims, program.source);
        let mut outcome = Outcome::default();
        for fused in try_compile(&program.source).map_err(fail)? {
            let inputs = data::inputs(&fused.graph, &program.dims, *seed);
            outcome.add(check(&fused, &inputs, Variants::Chosen).map_err(fail)?);
        }
        Ok(outcome)
    });
}
