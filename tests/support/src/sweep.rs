//! Runs of programs on everything that is installed, judged together.

use fuse_compiler::interp::{Value, run_bounded};

use crate::{
    Program,
    adapter::{Arguments, devices},
    compare::{Outcome, compare},
};

/// Which variants of its kernels a program runs with, besides those that the runtime chooses.
#[derive(Clone, Copy, Debug)]
pub enum Variants {
    /// All that may run.
    Every,
    /// One that may run, picked by this number.
    One(u64),
}

/// Runs a program for `inputs` on every adapter, by the runtime's choice and with other legal variants, and
/// compares each result with the interpreter.
///
/// # Errors
/// A text that says what differs where.
pub fn check(program: &Program, inputs: &[Value], variants: Variants) -> Result<Outcome, String> {
    let expected = run_bounded(&program.graph, inputs, program.stores()).map_err(|error| error.to_string())?;
    let mut outcome = Outcome::default();
    for device in devices() {
        let name = &device.info().name;
        let arguments = Arguments::new(device, program, inputs).map_err(|error| format!("on {name}: {error}"))?;
        let mut choices = arguments.choices(program).map_err(|error| format!("on {name}: {error}"))?;
        if let Variants::One(number) = variants
            && !choices.is_empty()
        {
            choices = vec![choices.swap_remove(number as usize % choices.len())];
        }
        for choice in std::iter::once(None).chain(choices.iter().map(Some)) {
            let indices = choice.map(|choice| choice.indices.as_slice());
            let compared = arguments.launch(program, indices).and_then(|results| compare(&expected, &results));
            outcome.add(compared.map_err(|error| {
                let names = choice.map_or("chosen by the runtime".to_owned(), |choice| format!("{:?}", choice.names));
                format!("on {name}, variants {names}: {error}")
            })?);
        }
    }
    Ok(outcome)
}

/// A group of runs whose failures are reported together.
pub struct Sweep {
    what: String,
    outcome: Outcome,
    runs: usize,
    failures: Vec<String>,
    /// The share of elements that may have ranges too wide to say much.
    loose_share: f64,
}

/// Failures shown of one sweep.
const SHOWN: usize = 6;

impl Sweep {
    /// Nothing run yet.
    pub fn new(what: &str) -> Self {
        Self { what: what.to_owned(), outcome: Outcome::default(), runs: 0, failures: vec![], loose_share: 0.2 }
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

    /// Runs a program and notes the outcome.
    pub fn run(&mut self, program: &Program, inputs: &[Value]) {
        self.runs += 1;
        match check(program, inputs, Variants::Every) {
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
        let Self { what, outcome, runs, failures, loose_share } = self;
        assert!(runs > 0, "{what}: nothing was run");
        let shown = failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(failures.is_empty(), "{what}: {} of {runs} runs failed\n{shown}", failures.len());
        let loose = outcome.loose as f64 / outcome.elements.max(1) as f64;
        assert!(loose <= loose_share, "{what}: {:.0} % of the ranges say little", loose * 100.0);
    }
}
