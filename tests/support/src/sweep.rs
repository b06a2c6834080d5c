//! Runs of programs on everything that is installed, judged together.

use std::ptr;

use fuse_artifact::Function;
use fuse_compiler::interp::{InterpError, Stores, Value, run_bounded};
use fuse_runtime::{Device, Error};

use crate::{
    Program,
    adapter::Arguments,
    compare::{Outcome, compare},
};

/// Which variants of its kernels a program runs with, besides those that the runtime chooses.
#[derive(Clone, Copy, Debug)]
pub enum Variants {
    /// No others.
    Chosen,
    /// One that may run, picked by this number.
    One(u64),
    /// Of those that may run, one in `of`; another value of `part` gives others.
    Share {
        /// Less than `of`.
        part: usize,
        /// Into how many parts the variants are divided.
        of: usize,
    },
    /// Those with a kernel's schedule whose name ends so; that there is none is a failure.
    Named(&'static str),
}

/// Whether `FUSE_THOROUGH` asks for all variants of all programs and for more random programs. Browsers have no environment:
/// there it counts when the tests are built.
pub fn thorough() -> bool {
    if cfg!(target_arch = "wasm32") {
        option_env!("FUSE_THOROUGH").is_some()
    } else {
        std::env::var_os("FUSE_THOROUGH").is_some()
    }
}

/// Runs a program for `inputs` on every adapter, as [`check_on`].
///
/// # Errors
/// A text that says what differs where.
#[cfg(not(target_arch = "wasm32"))]
pub fn check(program: &Program, inputs: &[Value], variants: Variants) -> Result<Outcome, String> {
    on_every_adapter(async |device| check_on(device, program, inputs, variants).await)
}

#[cfg(not(target_arch = "wasm32"))]
fn on_every_adapter(run: impl AsyncFn(&Device) -> Result<Outcome, String>) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for device in crate::devices() {
        let name = &device.info().name;
        outcome.add(crate::wait(run(device)).map_err(|error| format!("on {name}, {error}"))?);
    }
    Ok(outcome)
}

/// Runs a program for `inputs`, by the runtime's choice and with other legal variants, and compares each result with the
/// interpreter.
///
/// # Errors
/// A text that says what differs where.
pub async fn check_on(
    device: &Device,
    program: &Program,
    inputs: &[Value],
    variants: Variants,
) -> Result<Outcome, String> {
    // Also the variants that no launch takes; browsers validate by themselves.
    #[cfg(not(target_arch = "wasm32"))]
    program.validate()?;
    let mut outcome = Outcome::default();
    let stores = program.stores(device.info());
    let arguments = Arguments::new(device, program, inputs)?;
    let expected = match run_bounded(&program.graph, inputs, stores) {
        Ok(expected) => expected,
        // What the interpreter refuses, a launch refuses.
        Err(refusal) => {
            return match (arguments.launch_here(program.function), &refusal) {
                (Ok(_), _) => Err(format!("expected the error `{refusal}`, found results")),
                (Err(Error::CheckFailed { what: found, .. }), InterpError::Check { what, .. }) if found == *what => {
                    Ok(outcome)
                }
                (Err(Error::InvalidSize { .. }), InterpError::Size) => Ok(outcome),
                (Err(error), _) => Err(format!("expected the error `{refusal}`, found `{error}`")),
            };
        }
    };
    let mut choices = arguments.choices(program)?;
    match variants {
        Variants::Chosen => choices.clear(),
        Variants::One(number) => {
            let picked = number as usize % choices.len().max(1);
            choices = choices.into_iter().skip(picked).take(1).collect();
        }
        Variants::Share { part, of } => choices.retain(|choice| choice.indices.iter().sum::<usize>() % of == part),
        Variants::Named(end) => {
            choices.retain(|choice| choice.names.iter().any(|name| name.ends_with(end)));
            if choices.is_empty() {
                return Err(format!("no variant `… {end}` may run"));
            }
        }
    }
    for choice in std::iter::once(None).chain(choices.iter().map(Some)) {
        let indices = choice.map(|choice| choice.indices.as_slice());
        let results = arguments.launch(program, indices).await;
        outcome.add(results.and_then(|results| compare(&expected, &results)).map_err(|error| {
            let names = choice.map_or("chosen by the runtime".to_owned(), |choice| format!("{:?}", choice.names));
            format!("variants {names}: {error}")
        })?);
    }
    Ok(outcome)
}

/// Runs a program for `inputs` by one of its plans, with the variants that the runtime chooses.
#[cfg(not(target_arch = "wasm32"))]
async fn check_plan_on(device: &Device, program: &Program, inputs: &[Value], plan: usize) -> Result<Outcome, String> {
    let stores = program.stores(device.info());
    let expected = run_bounded(&program.graph, inputs, stores).map_err(|error| error.to_string())?;
    let results = Arguments::new(device, program, inputs)?.launch_plan(program, plan).await?;
    compare(&expected, &results)
}

/// A group of runs whose failures are reported together.
pub struct Sweep {
    what: String,
    /// The functions that were run.
    programs: Vec<&'static Function>,
    /// Among how many programs the variants are shared.
    shared_among: usize,
    outcome: Outcome,
    runs: usize,
    failures: Vec<String>,
    /// The share of elements that may have ranges too wide to say much.
    loose_share: f64,
}

/// A number that depends on a text, the same in every run.
fn text_number(text: &str) -> usize {
    text.bytes().fold(7, |number: usize, byte| (31 * number + usize::from(byte)) % 1_000_003)
}

/// Failures shown of one sweep.
const SHOWN: usize = 6;

impl Sweep {
    /// Nothing run yet.
    pub fn new(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            programs: vec![],
            shared_among: 1,
            outcome: Outcome::default(),
            runs: 0,
            failures: vec![],
            loose_share: 0.2,
        }
    }

    /// For programs that differ little, of whose variants most would test the same: each variant runs with about one in
    /// `count` programs, in turn, and each program with one in `count` variants and with those that the runtime chooses.
    /// A software adapter spends its time compiling; `FUSE_THOROUGH` runs all.
    pub fn sharing_variants(mut self, count: usize) -> Self {
        self.shared_among = if thorough() { 1 } else { count };
        self
    }

    /// For inputs chosen at the edges of what operations determine: most elements may be loose.
    pub fn with_loose_numbers(mut self) -> Self {
        self.loose_share = 0.7;
        self
    }

    /// For programs so deep that ranges widen beyond use: what runs here is that every variant runs, and NaN and infinities;
    /// the numbers must be compared with something else elsewhere.
    pub fn with_wide_ranges(mut self) -> Self {
        self.loose_share = 1.0;
        self
    }

    /// Runs a program on every adapter and notes the outcome.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(&mut self, program: &Program, inputs: &[Value]) {
        let variants = self.variants(program);
        self.note(check(program, inputs, variants), program, inputs);
    }

    /// Runs a program on one device and notes the outcome.
    pub async fn run_on(&mut self, device: &Device, program: &Program, inputs: &[Value]) {
        let variants = self.variants(program);
        self.note(check_on(device, program, inputs, variants).await, program, inputs);
    }

    /// Notes what something else than this project's kernels computed for `inputs`.
    pub fn compare(&mut self, program: &Program, inputs: &[Value], results: Result<Vec<Value>, String>) {
        let expected = run_bounded(&program.graph, inputs, Stores::EveryNode).map_err(|error| error.to_string());
        let outcome = expected.and_then(|expected| compare(&expected, &results?));
        self.note(outcome, program, inputs);
    }

    /// The variants that it is a program's turn to run with.
    fn variants(&mut self, program: &Program) -> Variants {
        let number = self.programs.iter().position(|known| ptr::eq(*known, program.function));
        let number = number.unwrap_or_else(|| {
            self.programs.push(program.function);
            self.programs.len() - 1
        });
        let part = (number + text_number(&self.what)) % self.shared_among;
        Variants::Share { part, of: self.shared_among }
    }

    /// Runs a program by one of its plans on every adapter and notes the outcome.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_plan(&mut self, program: &Program, inputs: &[Value], plan: usize) {
        let outcome = on_every_adapter(async |device| check_plan_on(device, program, inputs, plan).await);
        self.note(outcome, program, inputs);
    }

    fn note(&mut self, outcome: Result<Outcome, String>, program: &Program, inputs: &[Value]) {
        self.runs += 1;
        match outcome {
            Ok(outcome) => self.outcome.add(outcome),
            Err(error) => {
                let shapes: Vec<&[usize]> = inputs.iter().map(|input| input.shape.as_slice()).collect();
                self.failures.push(format!("inputs {shapes:?}: {error}\n{}", program.source()));
            }
        }
    }

    /// Judges all runs.
    ///
    /// # Panics
    /// When a run failed, nothing was run, or most ranges were too wide for the runs to mean anything.
    pub fn finish(self) {
        let Self { what, outcome, runs, failures, loose_share, .. } = self;
        assert!(runs > 0, "{what}: nothing was run");
        let shown = failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(failures.is_empty(), "{what}: {} of {runs} runs failed\n{shown}", failures.len());
        let loose = outcome.loose as f64 / outcome.elements.max(1) as f64;
        assert!(loose <= loose_share, "{what}: {:.0} % of the ranges say little", loose * 100.0);
    }
}
