//! Times of Burn on the cases of `benches/bars.toml`, as JSON lines (`fuse_bench_results::line`).
//!
//! Autotuning of one shape took up to 22 seconds; some kernels panic, and some crash their driver. So child processes
//! measure. A case that takes too long or ends the child is left out with the reason, and another child goes on.

mod cases;
mod measure;

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

use anyhow::Context;
use burn::tensor::{Device, DeviceKind};
use burn_dispatch::DispatchDevice;
use burn_fusion::client::GlobalFusionClient;
use clap::Parser;
use fuse_bench_results::{
    bars::Bars,
    line::{BURN, LeftOut, Line, Run, Time},
    machine,
    results::Key,
};

use crate::measure::{Effort, Opened};

const VERSION: &str = if cfg!(feature = "vulkan") { "0.22.1, SPIR-V" } else { "0.22.1, WGSL" };

/// Measures Burn on the cases of fuse!'s benchmark.
#[derive(Parser)]
struct Options {
    /// Small sizes and short measurements
    #[arg(long)]
    quick: bool,
    /// Only the cases whose name or size contains this; several select the cases that match any
    #[arg(long)]
    filter: Vec<String>,
    /// Write JSON lines to this file instead of the standard output
    #[arg(long)]
    json: Option<PathBuf>,
    /// Start no case after this many seconds
    #[arg(long, default_value_t = 200)]
    limit: u64,
    /// Leave out a case that takes longer than this many seconds
    #[arg(long, default_value_t = 60)]
    case_limit: u64,
    /// Measure in this process, from the case of this number on
    #[arg(long, hide = true)]
    from: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
struct Case {
    name: String,
    dtype: String,
    size: String,
}

impl Case {
    fn key(&self) -> Key<'_> {
        Key { case: &self.name, dtype: &self.dtype, size: &self.size }
    }

    fn left_out(&self, reason: &str) -> anyhow::Result<String> {
        let [case, dtype, size] = [&self.name, &self.dtype, &self.size].map(String::clone);
        let reason = reason.chars().take(200).collect();
        Ok(serde_json::to_string(&Line::LeftOut(LeftOut { way: BURN.to_owned(), case, dtype, size, reason }))?)
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match options.from {
        Some(first) => measure(&options, first),
        None => supervise(&options),
    };
    match outcome {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn supervise(options: &Options) -> anyhow::Result<()> {
    let start = Instant::now();
    let cases = wanted(options)?;
    let mut output: Box<dyn Write> = match &options.json {
        Some(path) => Box::new(File::create(path).with_context(|| format!("cannot write `{}`", path.display()))?),
        None => Box::new(std::io::stdout()),
    };
    let mut add = |line: &str| -> anyhow::Result<()> {
        writeln!(output, "{line}")?;
        Ok(output.flush()?)
    };
    let (limit, case_limit) = (Duration::from_secs(options.limit), Duration::from_secs(options.case_limit));
    let (mut next, mut opened) = (0, false);
    while next < cases.len() {
        if start.elapsed() > limit {
            for case in &cases[next..] {
                add(&case.left_out("not started within the time limit")?)?;
            }
            break;
        }
        let (mut child, lines) = spawn(options, next)?;
        let reason = loop {
            match lines.recv_timeout(case_limit.min(limit.saturating_sub(start.elapsed()))) {
                // Each process opens the device; one line about it suffices.
                Ok(line) if line.contains("\"kind\":\"run\"") => {
                    if !opened {
                        add(&line)?;
                    }
                    opened = true;
                }
                Ok(line) => {
                    add(&line)?;
                    eprintln!("{} {} {}", cases[next].name, cases[next].dtype, cases[next].size);
                    next += 1;
                }
                Err(RecvTimeoutError::Timeout) => {
                    child.kill()?;
                    break "took longer than its time".to_owned();
                }
                Err(RecvTimeoutError::Disconnected) => break "its process ended".to_owned(),
            }
        };
        let status = child.wait()?;
        anyhow::ensure!(opened, "burn opened no device ({status})");
        if let Some(case) = cases.get(next) {
            add(&case.left_out(&format!("{reason} ({status})"))?)?;
            next += 1;
        }
    }
    Ok(())
}

fn spawn(options: &Options, first: usize) -> anyhow::Result<(Child, Receiver<String>)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--from").arg(first.to_string()).args(options.quick.then_some("--quick"));
    for filter in &options.filter {
        command.arg("--filter").arg(filter);
    }
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().context("the process has no output")?;
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        // Lines end with the process; an unfinished one is no result.
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok((child, lines))
}

fn measure(options: &Options, first: usize) -> anyhow::Result<()> {
    let opened = open()?;
    let effort = match options.quick {
        false => Effort { batches: 9, warm_up: Duration::from_millis(300), batch_time: Duration::from_millis(60) },
        true => Effort { batches: 3, warm_up: Duration::from_millis(20), batch_time: Duration::from_millis(10) },
    };
    let panicked = keep_messages();
    for case in wanted(options)?.iter().skip(first) {
        let line = match catch_unwind(AssertUnwindSafe(|| cases::run(&opened, effort, case.key()))) {
            Ok(Ok(measured)) => serde_json::to_string(&time(case, effort, &measured))?,
            Ok(Err(error)) => case.left_out(&format!("{error:#}"))?,
            Err(_) => case.left_out(&format!("panicked: {}", take(&panicked)))?,
        };
        println!("{line}");
        // A panic may break the device, which the next case reports itself.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            opened.wait();
            opened.device.memory_cleanup();
        }));
    }
    Ok(())
}

/// In a quick run, extents of at most 64.
fn wanted(options: &Options) -> anyhow::Result<Vec<Case>> {
    let bars = Bars::load()?;
    let mut cases: Vec<Case> = vec![];
    for key in bars.cases() {
        let size = if options.quick { small(key.size) } else { key.size.to_owned() };
        let case = Case { name: key.case.to_owned(), dtype: key.dtype.to_owned(), size };
        let id = format!("{} {} {}", case.name, case.dtype, case.size);
        let matches = options.filter.is_empty() || options.filter.iter().any(|part| id.contains(part));
        if matches && !cases.contains(&case) {
            cases.push(case);
        }
    }
    Ok(cases)
}

/// Same form, with extents of at most 64, or 2^12 elements.
fn small(size: &str) -> String {
    if size.starts_with("2^") {
        return "2^12".to_owned();
    }
    let extents = size.split('x').map(|extent| extent.parse().map_or(64, |extent: usize| extent.min(64)).to_string());
    extents.collect::<Vec<_>>().join("x")
}

fn open() -> anyhow::Result<Opened> {
    let device = Device::wgpu(DeviceKind::DefaultDevice);
    let dispatch = device.as_dispatch();
    let adapter = dispatch.identity().map_or_else(|| "unknown".to_owned(), |identity| identity.name.clone());
    #[allow(irrefutable_let_patterns, reason = "with one backend compiled in there is no other device")]
    let DispatchDevice::Cube(cube) = dispatch else { anyhow::bail!("burn opened a device without shaders") };
    let client = GlobalFusionClient::<burn_cubecl::fusion::FusionCubeRuntime>::load(cube);
    let run = Line::Run(Run {
        program: BURN.to_owned(),
        version: VERSION.to_owned(),
        adapter,
        driver: "wgpu".to_owned(),
        host: machine::host(),
        date: machine::today(),
        commit: machine::commit(),
    });
    println!("{}", serde_json::to_string(&run)?);
    Ok(Opened { client, device })
}

fn time(case: &Case, effort: Effort, measured: &cases::Measured) -> Line {
    let times = &measured.times;
    Line::Time(Time {
        way: BURN.to_owned(),
        case: case.name.clone(),
        dtype: case.dtype.clone(),
        size: case.size.clone(),
        variant: None,
        alternative: None,
        picked: true,
        median_us: times.median,
        min_us: times.min,
        max_us: times.max,
        gpu_us: None,
        batches: effort.batches,
        launches_per_batch: times.iterations,
        flops: measured.flops,
        bytes: measured.bytes,
        tokens: 0.0,
        of_roof: None,
        error_over_bound: None,
    })
}

/// Keeps a case's first panic; later ones are consequences.
fn keep_messages() -> Arc<Mutex<Option<String>>> {
    let first = Arc::new(Mutex::new(None));
    let kept = first.clone();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.to_string().replace('\n', " ");
        kept.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
    }));
    first
}

fn take(message: &Mutex<Option<String>>) -> String {
    message.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
}
