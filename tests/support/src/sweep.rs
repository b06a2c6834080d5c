//! Sweeps: runs of programs on all installed adapters, judged together.

use std::ptr;

use fuse_artifact::Function;
use fuse_compiler::interp::{InterpError, Stores, Value, run_bounded};
use fuse_runtime::{Device, Error};

use crate::{
    Program,
    adapter::Arguments,
    compare::{Outcome, compare},
};

/// Variants to run besides the runtime's choice.
#[derive(Clone, Copy, Debug)]
pub enum Variants {
    /// None.
    Chosen,
    /// One legal variant, by number.
    One(u64),
    /// One in `of` legal variants.
    Share {
        /// Less than `of`.
        part: usize,
        /// Parts.
        of: usize,
    },
    /// Variants whose schedule name ends with this; one must exist.
    Named(&'static str),
}

/// True if `FUSE_THOROUGH` asks for all variants and more random programs. Browsers read it at build time.
pub fn thorough() -> bool {
    if cfg!(target_arch = "wasm32") {
        option_env!("FUSE_THOROUGH").is_some()
    } else {
        std::env::var_os("FUSE_THOROUGH").is_some()
    }
}

/// Runs a program on every adapter ([`check_on`]).
///
/// # Errors
/// A description of the differences.
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

/// Runs a program with the chosen and other legal variants against the interpreter.
///
/// # Errors
/// A description of the differences.
pub async fn check_on(
    device: &Device,
    program: &Program,
    inputs: &[Value],
    variants: Variants,
) -> Result<Outcome, String> {
    // Includes variants that no launch takes. Browsers validate themselves.
    #[cfg(not(target_arch = "wasm32"))]
    program.validate()?;
    let mut outcome = Outcome::default();
    let stores = program.stores(device.info());
    let arguments = Arguments::new(device, program, inputs)?;
    let expected = match run_bounded(&program.graph, inputs, stores) {
        Ok(expected) => expected,
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

/// Runs one plan with the runtime's choice of variants.
#[cfg(not(target_arch = "wasm32"))]
async fn check_plan_on(device: &Device, program: &Program, inputs: &[Value], plan: usize) -> Result<Outcome, String> {
    let stores = program.stores(device.info());
    let expected = run_bounded(&program.graph, inputs, stores).map_err(|error| error.to_string())?;
    let results = Arguments::new(device, program, inputs)?.launch_plan(program, plan).await?;
    compare(&expected, &results)
}

/// Runs whose failures are reported together.
pub struct Sweep {
    what: String,
    programs: Vec<&'static Function>,
    /// Number of programs that share the variants.
    shared_among: usize,
    outcome: Outcome,
    runs: usize,
    failures: Vec<String>,
    /// Accepted share of elements with too wide ranges.
    loose_share: f64,
}

/// Stable between runs.
fn text_number(text: &str) -> usize {
    text.bytes().fold(7, |number: usize, byte| (31 * number + usize::from(byte)) % 1_000_003)
}

const SHOWN: usize = 6;

impl Sweep {
    /// Creates a sweep without runs.
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

    /// Shares variants among similar programs, most of which would test the same.
    ///
    /// Each program runs with the runtime's choice and one in `count` variants: software adapters spend their time
    /// compiling. `FUSE_THOROUGH` runs all.
    pub fn sharing_variants(mut self, count: usize) -> Self {
        self.shared_among = if thorough() { 1 } else { count };
        self
    }

    /// Accepts loose ranges for most elements: inputs at the edges of a domain.
    pub fn with_loose_numbers(mut self) -> Self {
        self.loose_share = 0.7;
        self
    }

    /// Accepts loose ranges for all elements: programs so deep that ranges widen beyond use.
    ///
    /// Every variant still runs, and NaN and infinities are compared. Other tests must compare the numbers.
    pub fn with_wide_ranges(mut self) -> Self {
        self.loose_share = 1.0;
        self
    }

    /// Runs a program on every adapter.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(&mut self, program: &Program, inputs: &[Value]) {
        let variants = self.variants(program);
        self.note(check(program, inputs, variants), program, inputs);
    }

    /// Runs a program on one device.
    pub async fn run_on(&mut self, device: &Device, program: &Program, inputs: &[Value]) {
        let variants = self.variants(program);
        self.note(check_on(device, program, inputs, variants).await, program, inputs);
    }

    /// Records results of anything but this project's kernels.
    pub fn compare(&mut self, program: &Program, inputs: &[Value], results: Result<Vec<Value>, String>) {
        let expected = run_bounded(&program.graph, inputs, Stores::EveryNode).map_err(|error| error.to_string());
        let outcome = expected.and_then(|expected| compare(&expected, &results?));
        self.note(outcome, program, inputs);
    }

    fn variants(&mut self, program: &Program) -> Variants {
        let number = self.programs.iter().position(|known| ptr::eq(*known, program.function));
        let number = number.unwrap_or_else(|| {
            self.programs.push(program.function);
            self.programs.len() - 1
        });
        let part = (number + text_number(&self.what)) % self.shared_among;
        Variants::Share { part, of: self.shared_among }
    }

    /// Runs one plan on every adapter.
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
    /// If a run failed, nothing was run, or too many ranges were loose.
    pub fn finish(self) {
        let Self { what, outcome, runs, failures, loose_share, .. } = self;
        assert!(runs > 0, "{what}: nothing was run");
        let shown = failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(failures.is_empty(), "{what}: {} of {runs} runs failed\n{shown}", failures.len());
        let loose = outcome.loose as f64 / outcome.elements.max(1) as f64;
        assert!(loose <= loose_share, "{what}: {:.0} % of the ranges say little", loose * 100.0);
    }
}
