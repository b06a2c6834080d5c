//! Gradients of random programs against forward mode: in the interpreter in `f64`, and in kernels.

use fuse_compiler::{
    graph::{Graph, Param},
    interp::{Dual, InterpError, Tensor, Value, run_forward},
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

/// Relative to the sum of magnitudes of all terms, or to 1.
const TOLERANCE: f64 = 1e-8;

/// Largest average share of infinite or NaN derivatives.
const ROUGH_SHARE: f64 = 0.2;

fn is_differentiated(param: &Param) -> bool {
    param.ty.dtype.is_float() && !param.scalar && param.quantized.is_none()
}

/// Directions from -1 to 1; 0 for parameters that are not differentiated.
fn direction(graph: &Graph, inputs: &[Value], seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = Numbers::new(seed);
    let mut next = || numbers.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
    let of = |(param, input): (&Param, &Value)| {
        let moves = is_differentiated(param);
        input.data.iter().map(|_| if moves { next() } else { 0.0 }).collect()
    };
    graph.params.iter().zip(inputs).map(of).collect()
}

fn moved(inputs: &[Value], direction: &[Vec<f64>], length: f64) -> Vec<Value> {
    let move_one = |(input, direction): (&Value, &Vec<f64>)| {
        let mut input = input.clone();
        input.data.iter_mut().zip(direction).for_each(|(x, u)| *x += length * u);
        input
    };
    inputs.iter().zip(direction).map(move_one).collect()
}

/// Inner product with a direction, and the magnitude of its terms, at least 1.
fn along(graph: &Graph, gradients: &[Vec<f64>], direction: &[Vec<f64>]) -> (f64, f64) {
    let directions = graph.params.iter().zip(direction).filter(|(param, _)| is_differentiated(param));
    let products = gradients.iter().zip(directions).flat_map(|(x, (_, u))| x.iter().zip(u).map(|(x, u)| x * u));
    products.fold((0.0, 1.0), |(sum, size), product| (sum + product, size + product.abs()))
}

fn parts(results: &[Tensor<Dual>], part: fn(&Dual) -> f64) -> Vec<Vec<f64>> {
    results.iter().map(|result| result.data.iter().map(part).collect()).collect()
}

/// Compares the gradient along a random direction with forward mode; away from corners, where second derivatives are a
/// convention, also both orders of differentiation along two directions.
fn check_forward(program: &Program, seed: u64) -> Result<Outcome, String> {
    let graphs = graphs(&program.source)?;
    let [value, gradient] = &graphs[..] else { return Err(format!("{} functions", graphs.len())) };
    // Round numbers lie on corners.
    let round = data::inputs(gradient, &program.dims, seed);
    let is_round = seed.is_multiple_of(2);
    let inputs = if is_round { round } else { moved(&round, &direction(gradient, &round, !seed), 0.01) };
    let directions = [seed, seed ^ 0x5bd1_e995].map(|seed| direction(gradient, &inputs, seed));
    let forward = match run_forward(value, &inputs, &directions[0]) {
        Err(InterpError::Check { .. }) => return Ok(Outcome::default()),
        forward => forward.map_err(|error| error.to_string())?[0].data[0],
    };
    let gradient_along = |direction| run_forward(gradient, &inputs, direction).map_err(|error| error.to_string());
    let first = gradient_along(&directions[0])?;
    let gradients = parts(&first, |x| x.value);
    let elements = gradients.iter().map(Vec::len).sum();
    let (found, size) = along(gradient, &gradients, &directions[0]);
    let size = size.max(forward.magnitude);
    if !found.is_finite() || !forward.slope.is_finite() || !size.is_finite() {
        return Ok(Outcome { elements, loose: elements });
    }
    if (found - forward.slope).abs() > TOLERANCE * size {
        return Err(format!("along a direction, the gradient says {found}, forward mode {} of {size}", forward.slope));
    }
    if is_round {
        return Ok(Outcome { elements, loose: 0 });
    }
    let second = gradient_along(&directions[1])?;
    let (one, _) = along(gradient, &parts(&first, |x| x.slope), &directions[1]);
    let (other, _) = along(gradient, &parts(&second, |x| x.slope), &directions[0]);
    let (_, size) = along(gradient, &parts(&first, |x| x.magnitude), &directions[1]);
    let (_, other_size) = along(gradient, &parts(&second, |x| x.magnitude), &directions[0]);
    if (one - other).abs() > TOLERANCE * size.max(other_size) {
        return Err(format!("second derivatives depend on the order: {one} and {other} of {size}"));
    }
    Ok(Outcome { elements, loose: 0 })
}

#[test]
fn gradients_agree_with_forward_mode() {
    let rough = run("gradients", "gradients.txt", CASES, |(steps, extents, seed)| {
        let Some(program) = Builder::differentiated(*extents, steps) else { return Ok(Outcome::default()) };
        check_forward(&program, *seed).map_err(|error| format!("{error}\nwith {:?}\n{}", program.dims, program.source))
    });
    assert!(rough <= ROUGH_SHARE, "{:.0} % of the programs have no derivative", rough * 100.0);
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
