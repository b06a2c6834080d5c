//! Random programs: fused = unfused = interpreter, on every installed adapter, with the variants that the runtime
//! chooses and with others picked at random.
//!
//! The seed is fixed, so that every run tests the same programs; failures are kept beside this file and tried
//! first from then on. `FUSE_THOROUGH` asks for more programs, `PROPTEST_CASES` for any number: nearly all of the time
//! goes into the adapter's compiler.

mod expressions;
mod generate;
mod rows;

use std::cell::Cell;

use fuse_compiler::interp::{InterpError, Stores, bounds::Range, run_bounded};
use fuse_runtime::Device;
use fuse_test_support::{Variants, check, check_on, compare::Outcome, data, graphs, thorough, try_compile, wait};
use generate::{Builder, Program, Step};
use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence, RngSeed, TestCaseError, TestRunner},
};

/// Programs of each form per run.
const CASES: u32 = 64;

/// The same for a thorough run.
const THOROUGH_CASES: u32 = 256;

/// Elements whose range says little, over all programs: inputs are tame, but `1/x`, `tan` and comparisons of
/// nearly equal values are not.
const LOOSE_SHARE: f64 = 0.15;

/// `cases`: programs of a run that is not thorough.
fn config(name: &'static str, cases: u32) -> Config {
    let mut config = Config {
        rng_seed: RngSeed::Fixed(0x66757365),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(name))),
        max_shrink_iters: 300,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = if thorough() { THOROUGH_CASES } else { cases };
    }
    config
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step =
        any::<(u8, u8, u8, u16)>().prop_map(|(kind, operand, other, detail)| Step { kind, operand, other, detail });
    prop::collection::vec(step, 1..14)
}

fn extents() -> impl Strategy<Value = [usize; 4]> {
    prop::array::uniform4(prop_oneof![Just(4usize), 1usize..=6, Just(8), Just(1), 0usize..=3])
}

/// Compiles, runs fused and unfused, compares.
fn check_program(program: &Program, seed: u64) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for fused in try_compile(&program.source)? {
        let inputs = data::inputs(&fused.graph, &program.dims, seed);
        outcome.add(
            check(&fused, &inputs, Variants::One(seed))
                .map_err(|error| format!("fused, {error}\n{}", fused.function.plan))?,
        );
        let unfused = fused.unfused()?;
        outcome.add(check(&unfused, &inputs, Variants::One(seed >> 8)).map_err(|error| format!("unfused, {error}"))?);
    }
    Ok(outcome)
}

/// As [`items`], fewer and with every index checked in the shaders.
#[test]
fn items_stay_inside() {
    let device = Device::builder().checked().without_pipeline_cache().build_blocking().expect("an adapter");
    let mut runner = TestRunner::new(config("tests/random_programs/checked.txt", CASES / 2));
    let strategy = (steps(), prop::array::uniform4(0usize..=5), any::<u64>());
    let result = runner.run(&strategy, |(steps, extents, seed)| {
        let program = Builder::new(extents).build(&steps);
        let fail = |error| TestCaseError::fail(format!("{error}\nwith {:?}\n{}", program.dims, program.source));
        for fused in try_compile(&program.source).map_err(fail)? {
            let inputs = data::inputs(&fused.graph, &program.dims, seed);
            wait(check_on(&device, &fused, &inputs, Variants::One(seed))).map_err(fail)?;
        }
        device.violation().expect("the device works").map_or(Ok(()), |violation| Err(fail(violation)))
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn items() {
    let total = Cell::new(Outcome::default());
    let mut runner = TestRunner::new(config("tests/random_programs/items.txt", CASES));
    let result = runner.run(&(steps(), extents(), any::<u64>()), |(steps, extents, seed)| {
        let program = Builder::new(extents).build(&steps);
        let outcome = check_program(&program, seed)
            .map_err(|error| TestCaseError::fail(format!("{error}\nwith {:?}\n{}", program.dims, program.source)))?;
        let mut sum = total.get();
        sum.add(outcome);
        total.set(sum);
        Ok(())
    });
    finish(result, total.get());
}

#[test]
fn expressions() {
    let total = Cell::new(Outcome::default());
    let mut runner = TestRunner::new(config("tests/random_programs/expressions.txt", CASES));
    let result = runner.run(&(steps(), extents(), any::<u64>()), |(steps, extents, seed)| {
        let expression = expressions::build(&steps, extents);
        let outcome = expressions::check_expression(&expression, seed).map_err(|error| {
            TestCaseError::fail(format!("{error}\nwith {:?}\n{}", expression.shapes, expression.source))
        })?;
        let mut sum = total.get();
        sum.add(outcome);
        total.set(sum);
        Ok(())
    });
    finish(result, total.get());
}

/// The generated programs are correct, and the interpreter's own numbers lie in the ranges that kernels are held to.
#[test]
fn ranges_hold_what_the_interpreter_computes() {
    let total = Cell::new(Outcome::default());
    // Nothing is compiled for an adapter here.
    let mut runner = TestRunner::new(config("tests/random_programs/ranges.txt", THOROUGH_CASES));
    let result = runner.run(&(steps(), extents(), any::<u64>()), |(steps, extents, seed)| {
        let program = Builder::new(extents).build(&steps);
        let outcome = check_ranges(&program, seed)
            .map_err(|error| TestCaseError::fail(format!("{error}\nwith {:?}\n{}", program.dims, program.source)))?;
        let mut sum = total.get();
        sum.add(outcome);
        total.set(sum);
        Ok(())
    });
    finish(result, total.get());
}

fn check_ranges(program: &Program, seed: u64) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for graph in graphs(&program.source)? {
        let inputs = data::inputs(&graph, &program.dims, seed);
        for stores in [Stores::Results, Stores::EveryNode] {
            let results = match run_bounded(&graph, &inputs, stores) {
                // Sizes that a launch refuses have no numbers.
                Err(InterpError::Check { .. }) => return Ok(outcome),
                results => results.map_err(|error| error.to_string())?,
            };
            for x in results.iter().flat_map(|result| &result.data) {
                // Beyond f32's numbers, f64 and f32 part.
                let overflows = x.exact.abs() > f64::from(f32::MAX) || x.range == Range::ANY;
                if !overflows && !x.admits(x.exact) {
                    return Err(format!("{x:?} with {stores:?}"));
                }
                outcome.add(Outcome { elements: 1, loose: usize::from(x.is_loose(0.05)) });
            }
        }
    }
    Ok(outcome)
}

fn finish<T: std::fmt::Debug>(result: Result<(), proptest::test_runner::TestError<T>>, total: Outcome) {
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(total.elements > 1_000, "only {} elements were compared", total.elements);
    let loose = total.loose as f64 / total.elements as f64;
    assert!(loose <= LOOSE_SHARE, "{:.0} % of the ranges say little", loose * 100.0);
}
