//! Random programs: fused, unfused and interpreted results agree on every adapter, with the runtime's choice and random
//! other variants.
//!
//! The seed is derived from the commit's code (`seed`): each change tests other programs, repeatably. A machine retries
//! its earlier failures first (`failures`).
//!
//! The adapter's compiler takes nearly all the time: one program in four runs with another variant, one in eight
//! unfused. `FUSE_THOROUGH` runs all, `PROPTEST_CASES` sets the number, `FUSE_MINUTES` (`cargo xtask fuzz programs`)
//! the time.

mod dims;
mod expressions;
mod failures;
mod generate;
mod gradients;
mod heads;
mod known;
mod rows;
mod seed;

use std::{cell::Cell, io::Write as _, time::Instant};

use failures::Failures;
use fuse_compiler::interp::{InterpError, Stores, bounds::Range, run_bounded};
use fuse_gpu::Device;
use fuse_test_support::{Variants, check, check_on, compare::Outcome, data, graphs, thorough, try_compile, wait};
use generate::{Builder, Program, Step};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngSeed, TestCaseError, TestRunner},
};

const CASES: u32 = 256;

/// Least average number of compared elements: fewer would mean that most programs were empty.
const LEAST_ELEMENTS: usize = 4;

/// Average share of loose ranges: inputs are tame, but `1/x`, `tan` and comparisons of nearly equal values are not.
const LOOSE_SHARE: f64 = 0.15;

type Drawn = (Vec<Step>, [usize; 4], u64);

/// Returns the share of loose ranges; `file` keeps failures.
fn run(form: &'static str, file: &'static str, cases: u32, check: impl Fn(&Drawn) -> Result<Outcome, String>) -> f64 {
    let (total, count, shares) = (Cell::new(Outcome::default()), Cell::new(0), Cell::new(0.0));
    let first = seed::seed();
    let say = |text: String| {
        // Output of passing tests is captured, except this.
        let _ = writeln!(std::io::stderr(), "random {form}: {text}");
    };
    say(format!("seed {first} (FUSE_SEED={first} runs these again)"));
    let failures = Failures::of(file);
    let (start, minutes) = (Instant::now(), seed::minutes());
    let is_over = || minutes.is_some_and(|minutes| start.elapsed() >= minutes);
    for round in 0.. {
        let mut config = Config {
            rng_seed: RngSeed::Fixed(first.wrapping_add(round)),
            failure_persistence: Some(Box::new(failures)),
            max_shrink_iters: 300,
            ..Config::default()
        };
        if std::env::var_os("PROPTEST_CASES").is_none() {
            config.cases = cases;
        }
        let result = TestRunner::new(config).run(&drawn(), |drawn| {
            if is_over() {
                return Ok(());
            }
            let outcome = check(&drawn).map_err(TestCaseError::fail)?;
            let mut sum = total.get();
            sum.add(outcome);
            total.set(sum);
            count.set(count.get() + 1);
            shares.set(shares.get() + outcome.loose as f64 / outcome.elements.max(1) as f64);
            Ok(())
        });
        if let Err(error) = result {
            panic!("seed {}: {error}\n{failures}", first.wrapping_add(round));
        }
        if minutes.is_none() || is_over() {
            break;
        }
    }
    let outcome = total.get();
    let (programs, elements) = (count.get(), outcome.elements);
    say(format!("{programs} programs, {elements} elements compared"));
    assert!(elements > programs as usize * LEAST_ELEMENTS, "{elements} elements of {programs} programs were compared");
    shares.get() / f64::from(count.get())
}

fn judge(loose: f64) {
    assert!(loose <= LOOSE_SHARE, "{:.0} % of the ranges say little", loose * 100.0);
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (steps(), extents(), any::<u64>())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step =
        any::<(u8, u8, u8, u16)>().prop_map(|(kind, operand, other, detail)| Step { kind, operand, other, detail });
    prop::collection::vec(step, 1..14)
}

fn extents() -> impl Strategy<Value = [usize; 4]> {
    let extent = prop_oneof![
        4 => Just(4usize),
        4 => 1usize..=6,
        4 => Just(8),
        4 => Just(1),
        3 => 0usize..=3,
        1 => Just(0),
        3 => 9usize..=64,
        1 => Just(32),
    ];
    prop::array::uniform4(extent)
}

/// Seeds of other variants, fused and unfused, for programs that run with them.
type Turns = [Option<u64>; 2];

fn turns(seed: u64) -> Turns {
    let [fused, unfused] = [seed.is_multiple_of(4), seed % 8 == 1].map(|turn| thorough() || turn);
    [fused.then_some(seed >> 3), unfused.then_some(seed >> 8)]
}

fn check_program(program: &Program, seed: u64, [others, unfused]: Turns) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for fused in try_compile(&program.source)? {
        let inputs = data::inputs(&fused.graph, &program.dims, seed);
        let variants = others.map_or(Variants::Chosen, Variants::One);
        outcome
            .add(check(&fused, &inputs, variants).map_err(|error| format!("fused, {error}\n{}", fused.function.plan))?);
        if let Some(number) = unfused {
            let unfused = fused.unfused()?;
            let checked = check(&unfused, &inputs, Variants::One(number));
            outcome.add(checked.map_err(|error| format!("unfused, {error}"))?);
        }
    }
    Ok(outcome)
}

#[test]
fn items() {
    let loose = run("items", "items.txt", CASES, |(steps, extents, seed)| {
        let program = Builder::fitting(*extents, steps);
        check_program(&program, *seed, turns(*seed))
            .map_err(|error| format!("{error}\nwith {:?}\n{}", program.dims, program.source))
    });
    judge(loose);
}

#[test]
fn expressions() {
    let loose = run("expressions", "expressions.txt", CASES, |(steps, extents, seed)| {
        let expression = expressions::fitting(*extents, steps);
        expressions::check_expression(&expression, *seed, turns(*seed))
            .map_err(|error| format!("{error}\nwith {:?}\n{}", expression.shapes, expression.source))
    });
    judge(loose);
}

/// As [`items`], with fewer programs and checked bounds.
#[test]
fn items_stay_inside() {
    let device = Device::builder().checked().without_pipeline_cache().build_blocking().expect("an adapter");
    run("checked items", "checked.txt", CASES / 8, |(steps, extents, seed)| {
        let program = Builder::fitting(*extents, steps);
        let fail = |error| format!("{error}\nwith {:?}\n{}", program.dims, program.source);
        let mut outcome = Outcome::default();
        for fused in try_compile(&program.source).map_err(fail)? {
            let inputs = data::inputs(&fused.graph, &program.dims, *seed);
            let fused = fused.checked().map_err(fail)?;
            outcome.add(wait(check_on(&device, &fused, &inputs, Variants::One(*seed))).map_err(fail)?);
        }
        device.violation().expect("the device works").map_or(Ok(outcome), |violation| Err(fail(violation)))
    });
}

/// Programs are correct, and the interpreter's exact values lie in its ranges.
#[test]
fn ranges_hold_what_the_interpreter_computes() {
    let loose = run("ranges", "ranges.txt", CASES, |(steps, extents, seed)| {
        let program = Builder::fitting(*extents, steps);
        check_ranges(&program, *seed).map_err(|error| format!("{error}\nwith {:?}\n{}", program.dims, program.source))
    });
    judge(loose);
}

fn check_ranges(program: &Program, seed: u64) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for graph in graphs(&program.source)? {
        let inputs = data::inputs(&graph, &program.dims, seed);
        for stores in [Stores::Results, Stores::EveryNode] {
            let results = match run_bounded(&graph, &inputs, stores) {
                Err(InterpError::Check { .. }) => return Ok(outcome),
                results => results.map_err(|error| error.to_string())?,
            };
            for x in results.iter().flat_map(|result| &result.data) {
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

/// A useful corpus has these features.
#[test]
fn programs_have_quantized_weights_heads_empty_extents_and_large_ones() {
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(1), ..Config::default() });
    let mut found = [0; 4];
    for _ in 0..CASES {
        let (steps, extents, _) = drawn().new_tree(&mut runner).expect("a program").current();
        let Program { source, dims } = Builder::fitting(extents, &steps);
        let has = |of: &dyn Fn(usize) -> bool| dims.iter().any(|(name, extent)| source.contains(name) && of(*extent));
        let is = [source.contains(": q"), source.contains("argmax(v"), has(&|n| n == 0), has(&|n| n > 16)];
        found.iter_mut().zip(is).for_each(|(count, is)| *count += u32::from(is));
    }
    assert!(found.iter().all(|count| *count >= 16), "of {CASES}: {found:?}");
}
