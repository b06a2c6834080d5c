//! Runs of programs on everything that is installed, judged together.

use std::ptr;

use fuse_artifact::Function;
use fuse_compiler::interp::{Value, run_bounded};

use crate::{
    Program,
    adapter::{Arguments, devices},
    compare::{Outcome, compare},
};

/// Which variants of its kernels a program runs with, besides those that the runtime chooses.
#[derive(Clone, Copy, Debug)]
pub enum Variants {
    /// One that may run, picked by this number.
    One(u64),
    /// Of those that may run, one in `of`; another value of `part` gives others.
    Share {
        /// Less than `of`.
        part: usize,
        /// Into how many parts the variants are divided.
        of: usize,
    },
}

/// Whether `FUSE_THOROUGH` asks for all variants of all programs and for more random programs.
pub fn thorough() -> bool {
    std::env::var_os("FUSE_THOROUGH").is_some()
}

/// Runs a program for `inputs` on every adapter, by the runtime's choice and with other legal variants, and
/// compares each result with the interpreter.
///
/// # Errors
/// A text that says what differs where.
pub fn check(program: &Program, inputs: &[Value], variants: Variants) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for device in devices() {
        let stores = program.stores(device.info());
        let expected = run_bounded(&program.graph, inputs, stores).map_err(|error| error.to_string())?;
        let name = &device.info().name;
        let arguments = Arguments::new(device, program, inputs).map_err(|error| format!("on {name}: {error}"))?;
        let mut choices = arguments.choices(program).map_err(|error| format!("on {name}: {error}"))?;
        match variants {
            Variants::One(number) => {
                let picked = number as usize % choices.len().max(1);
                choices = choices.into_iter().skip(picked).take(1).collect();
            }
            Variants::Share { part, of } => choices.retain(|choice| choice.indices.iter().sum::<usize>() % of == part),
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

/// Runs a program for `inputs` by one of its plans, with the variants that the runtime chooses, on every adapter.
fn check_plan(program: &Program, inputs: &[Value], plan: usize) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for device in devices() {
        let stores = program.stores(device.info());
        let expected = run_bounded(&program.graph, inputs, stores).map_err(|error| error.to_string())?;
        let results = Arguments::new(device, program, inputs)?.launch_plan(program, plan)?;
        outcome.add(compare(&expected, &results)?);
    }
    Ok(outcome)
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

    /// Runs a program and notes the outcome.
    pub fn run(&mut self, program: &Program, inputs: &[Value]) {
        let number = self.programs.iter().position(|known| ptr::eq(*known, program.function));
        let number = number.unwrap_or_else(|| {
            self.programs.push(program.function);
            self.programs.len() - 1
        });
        let part = (number + text_number(&self.what)) % self.shared_among;
        let variants = Variants::Share { part, of: self.shared_among };
        self.note(check(program, inputs, variants), program, inputs);
    }

    /// Runs a program by one of its plans and notes the outcome.
    pub fn run_plan(&mut self, program: &Program, inputs: &[Value], plan: usize) {
        self.note(check_plan(program, inputs, plan), program, inputs);
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
