//! Searches the schedules of kernels on this machine's adapter, and judges tables: `cargo xtask tune`.
//!
//! The binary needs no file of the repository, so it can run elsewhere. `FUSE_ADAPTER` chooses the adapter.

mod cases;
mod hardware;
mod judge;
mod shapes;
mod specializations;

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use fuse_gpu::{Device, Entry, Search, Table, Tuning};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    cases::{Case, Known},
    judge::Losses,
    specializations::Compared,
};

/// Searches the fastest variants of kernels and writes a tuning table.
#[derive(Parser)]
struct Options {
    /// Few and small sizes, for software adapters
    #[arg(long)]
    quick: bool,
    /// Judge a table on sizes that no search measures, instead of searching
    #[arg(long)]
    held_out: bool,
    /// Judge a table by itself, measuring nothing: choose at the sizes of each entry by the others
    #[arg(long, conflicts_with = "held_out")]
    cross_validate: bool,
    /// Compare the specializations of the kernels that launches choose (unrolled loops, `if` and `switch`), instead of searching
    #[arg(long, conflicts_with_all = ["held_out", "cross_validate"])]
    specializations: bool,
    /// Only the cases whose name contains this; several select the cases that match any
    #[arg(long)]
    filter: Vec<String>,
    /// The table: its entries are kept and not measured again; with --held-out, the table to judge in place of the
    /// built-in ones; with --cross-validate, the table to judge
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure all cases so many times, and take the least time of each schedule: on processors that other programs use, single
    /// measurements differ by half
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// With --held-out: write the times of all schedules to this file
    #[arg(long, value_name = "FILE")]
    times: Option<PathBuf>,
    /// Seconds after which to stop
    #[arg(long, default_value_t = 900)]
    budget: u64,
    /// Parts of the names of the adapters that the table is for, in place of this adapter's name
    #[arg(long, value_delimiter = ',')]
    adapters: Vec<String>,
    /// Print the cases and end
    #[arg(long)]
    list: bool,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = Device::blocking()?;
    println!("{}\n", device.info());
    let wanted =
        |case: &Case| options.filter.is_empty() || options.filter.iter().any(|part| case.name().contains(part));
    let fits = |case: &Case| case.fits(device.info());
    let mut cases = match options {
        Options { held_out: true, .. } => cases::held_out(options.quick),
        Options { specializations: true, .. } => cases::with_specializations(options.quick),
        _ => cases::grid(options.quick),
    };
    cases.retain(|case| wanted(case) && fits(case));
    if cases.is_empty() {
        return Err(format!("no case matches {:?}", options.filter).into());
    }
    if options.list {
        cases.iter().for_each(|case| println!("{}", case.name()));
        return Ok(());
    }
    let session = Session { device: &device, deadline: Instant::now() + Duration::from_secs(options.budget), options };
    match options {
        Options { specializations: true, .. } => session.compare_specializations(&cases),
        Options { held_out: true, .. } => session.judge(&cases),
        Options { cross_validate: true, .. } => session.cross_validate(&cases),
        _ => session.search(&cases),
    }
}

struct Session<'a> {
    device: &'a Device,
    deadline: Instant,
    options: &'a Options,
}

impl Session<'_> {
    /// Also measures new variants of old entries.
    fn search(&self, cases: &[Case]) -> Result<(), Box<dyn Error>> {
        let mut table = self.kept()?;
        let hardware = match table.as_ref().and_then(Table::hardware) {
            Some(hardware) => hardware,
            None => hardware::measure(self.device)?,
        };
        println!("{hardware:?}\n");
        table = table.map(|table| table.with_hardware(hardware));
        let mut missing = self.distinct(cases)?;
        missing.retain(|(_, known)| {
            let entry = table.as_ref().and_then(|table| table.entry(&known.class, &known.sizes));
            entry.is_none_or(|entry| !covers_all(entry, known))
        });
        let bar = progress(missing.len() * self.options.repeat as usize);
        'turns: for turn in 1..=self.options.repeat {
            for (case, known) in &missing {
                bar.inc(1);
                if Instant::now() >= self.deadline {
                    say(&bar, format!("stopped after {} s: run it again to go on", self.options.budget));
                    break 'turns;
                }
                let Some(found) = self.measure(case, &bar, false)? else { continue };
                merge_least(&mut table, found.with_hardware(hardware));
                self.save(table.as_ref())?;
                let entry = table.as_ref().and_then(|table| table.entry(&known.class, &known.sizes));
                if let Some(entry) = entry.filter(|_| turn == self.options.repeat) {
                    say(&bar, format!("{:9.1} µs  {}: `{}`", entry.microseconds, case.name(), entry.schedules[0].0));
                }
            }
        }
        bar.finish_and_clear();
        let mut losses = Losses::default();
        for (case, known) in &missing {
            let entry = table.as_ref().and_then(|table| table.entry(&known.class, &known.sizes));
            if let Some(entry) = entry {
                losses.add(&known.class, case.name(), [entry.relative(&known.chosen), None]);
            }
        }
        println!("{}", losses.gains());
        let entries = table.as_ref().map_or(0, |table| table.entries().len());
        println!(
            "{entries} entries{}",
            self.options.out.as_ref().map_or_else(String::new, |file| format!(" in {}", file.display()))
        );
        if self.options.out.is_none()
            && let Some(table) = table
        {
            println!("\n{}", table.text());
        }
        Ok(())
    }

    fn judge(&self, cases: &[Case]) -> Result<(), Box<dyn Error>> {
        let tuning = match &self.options.out {
            Some(file) => cost_model().with_table(Table::load(file)?),
            None => Tuning::default(),
        };
        // By case: several may share class and sizes.
        let mut measured: Vec<Option<Table>> = vec![None; cases.len()];
        let bar = progress(cases.len() * self.options.repeat as usize);
        // Interleaved, so that repeats of a case do not share a disturbance.
        let turns = (0..self.options.repeat).flat_map(|_| cases.iter().enumerate());
        for (index, case) in turns {
            if Instant::now() >= self.deadline {
                say(&bar, format!("stopped after {} s", self.options.budget));
                break;
            }
            bar.inc(1);
            if case.known(self.device, &tuning)?.schedules.len() < 2 {
                continue;
            }
            if let Some(found) = self.measure(case, &bar, true)? {
                merge_least(&mut measured[index], found);
            }
        }
        bar.finish_and_clear();
        let mut losses = Losses::default();
        for (case, table) in cases.iter().zip(&measured) {
            let [tabled, modeled] = [case.known(self.device, &tuning)?, case.known(self.device, &cost_model())?];
            let entry = table.as_ref().and_then(|table| table.entry(&tabled.class, &tabled.sizes));
            let Some(entry) = entry else { continue };
            let relative = |known: &Known| entry.relative(&known.chosen);
            let loss =
                |relative: Option<f64>| relative.map_or("?".to_owned(), |x| format!("{:.1} %", 100.0 * (x - 1.0)));
            println!(
                "{:9.1} µs  {}: best `{}`, table `{}` {} ({}), model `{}` {}",
                entry.microseconds,
                case.name(),
                entry.schedules[0].0,
                tabled.chosen,
                loss(relative(&tabled)),
                tabled.decision,
                modeled.chosen,
                loss(relative(&modeled)),
            );
            losses.add(&tabled.class, case.name(), [relative(&tabled), relative(&modeled)]);
        }
        let all = measured.into_iter().flatten().reduce(|mut all, table| {
            all.merge(table);
            all
        });
        if let (Some(file), Some(all)) = (&self.options.times, all) {
            all.save(file)?;
        }
        println!("{}", losses.judgement());
        Ok(())
    }

    /// The first case of each class and sizes, if it has several variants.
    fn distinct<'a>(&self, cases: &'a [Case]) -> Result<Vec<(&'a Case, Known)>, Box<dyn Error>> {
        let mut met = BTreeSet::new();
        let mut distinct = vec![];
        for case in cases {
            let known = case.known(self.device, &cost_model())?;
            if known.schedules.len() > 1 && met.insert((known.class.clone(), known.sizes.clone())) {
                distinct.push((case, known));
            }
        }
        Ok(distinct)
    }

    fn cross_validate(&self, cases: &[Case]) -> Result<(), Box<dyn Error>> {
        let file = self.options.out.as_ref().ok_or("--cross-validate: expected a table; help: name it with --out")?;
        let table = Table::load(file)?;
        let mut losses = Losses::default();
        for (case, modeled) in self.distinct(cases)? {
            let Some(entry) = table.entry(&modeled.class, &modeled.sizes) else { continue };
            let mut others = table.clone();
            others.retain(|other| other != entry);
            let tabled = case.known(self.device, &cost_model().with_table(others))?;
            let relative = [&tabled, &modeled].map(|known| entry.relative(&known.chosen));
            losses.add(&tabled.class, case.name(), relative);
        }
        println!("{}", losses.judgement());
        Ok(())
    }

    fn compare_specializations(&self, cases: &[Case]) -> Result<(), Box<dyn Error>> {
        let bar = progress(cases.len());
        let mut logarithms: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for case in cases {
            if Instant::now() >= self.deadline {
                say(&bar, format!("stopped after {} s", self.options.budget));
                break;
            }
            bar.inc(1);
            let times = specializations::compare(self.device, case);
            self.device.trim();
            let times = times.map_err(|error| format!("{}: {error}", case.name()))?;
            let Compared { variant, times } = times;
            let [(_, written), others @ ..] = &times[..] else { continue };
            let ratio = |time: &Duration| time.as_secs_f64() / written.as_secs_f64().max(1e-9);
            let mut line = format!("{:9.1} µs  {}", written.as_secs_f64() * 1e6, case.name());
            for (specialization, time) in others {
                line += &format!(", {specialization}: {:.3}", ratio(time));
                logarithms.entry(specialization).or_default().push(ratio(time).ln());
            }
            line += &format!(" (`{variant}`)");
            say(&bar, line);
        }
        bar.finish_and_clear();
        println!("\ntimes relative to the text as it is written:");
        for (specialization, logarithms) in logarithms {
            let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
            let [least, most] =
                [f64::min, f64::max].map(|of| logarithms.iter().copied().reduce(of).unwrap_or(0.0).exp());
            println!("{specialization:10}  {:4} cases  mean {mean:.3}  {least:.3} to {most:.3}", logarithms.len());
        }
        Ok(())
    }

    /// `None` if the adapter has no room for the case.
    fn measure(&self, case: &Case, bar: &ProgressBar, exhaustive: bool) -> Result<Option<Table>, Box<dyn Error>> {
        let inputs = match case.inputs(self.device) {
            Ok(inputs) => inputs,
            Err(error @ (fuse_gpu::Error::OutOfMemory { .. } | fuse_gpu::Error::TooLarge { .. })) => {
                say(bar, format!("{}: left out, {error}", case.name()));
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let search = Search::default().without_plans().budget(self.deadline.saturating_duration_since(Instant::now()));
        let search = search.name("tuned").on_progress(|progress| bar.set_message(progress.to_string()));
        let search = if exhaustive { search.exhaustive() } else { search };
        let found = cost_model_of(self.device, || self.device.tune(case.kernels(), &inputs.arguments(), search));
        drop(inputs);
        self.device.trim();
        found.map(Some).map_err(|error| format!("{}: {error}", case.name()).into())
    }

    fn kept(&self) -> Result<Option<Table>, Box<dyn Error>> {
        let Some(file) = self.options.out.as_ref().filter(|file| file.exists()) else { return Ok(None) };
        let table = Table::load(file)?;
        let adapter = &self.device.info().name;
        match table.measured() {
            Some(measured) if measured.adapter == *adapter => Ok(Some(table)),
            _ => Err(format!(
                "`{}`: expected a table measured on `{adapter}`; help: choose another file",
                file.display()
            )
            .into()),
        }
    }

    fn save(&self, table: Option<&Table>) -> Result<(), Box<dyn Error>> {
        if let (Some(file), Some(table)) = (&self.options.out, table) {
            let names = self.options.adapters.clone();
            let table = if names.is_empty() { table.clone() } else { table.clone().for_adapters(names) };
            table.save(file)?;
        }
        Ok(())
    }
}

fn covers_all(entry: &Entry, known: &Known) -> bool {
    known.schedules.iter().all(|schedule| entry.covers(schedule))
}

/// Keeps the least time of each; the first table keeps its header.
fn merge_least(into: &mut Option<Table>, found: Table) {
    match into {
        Some(table) => table.merge_least(found),
        None => *into = Some(found),
    }
}

fn cost_model() -> Tuning {
    Tuning::native().without_built_in_tables()
}

fn cost_model_of<R>(device: &Device, work: impl FnOnce() -> R) -> R {
    device.with_tuning(&cost_model(), work)
}

/// Prints above the progress bar or, without a terminal, alone.
fn say(bar: &ProgressBar, line: String) {
    if bar.is_hidden() { println!("{line}") } else { bar.println(line) }
}

fn progress(cases: usize) -> ProgressBar {
    let bar = ProgressBar::new(cases as u64);
    // A constant that `indicatif` accepts; otherwise the plain bar serves.
    if let Ok(style) = ProgressStyle::with_template("{elapsed} [{bar:30}] {pos}/{len} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}
