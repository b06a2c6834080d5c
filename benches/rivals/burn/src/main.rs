//! Times of Burn on the cases of `benches/bars.toml`, as JSON lines of the benchmark's form (`fuse_bench_results::line`).
//!
//! A case that Burn cannot do, or that takes too long, is left out with the reason: autotuning of one shape has taken up to 22
//! seconds, and some kernels panic.

mod cases;
mod measure;

use std::{
    fs::File,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
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

/// The version in Cargo.toml, and how shaders reach the driver.
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
    /// End, with what was measured so far, when one case takes longer than this many seconds
    #[arg(long, default_value_t = 60)]
    case_limit: u64,
}

/// A case by its own strings.
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

    fn left_out(&self, reason: &str) -> Line {
        let [case, dtype, size] = [&self.name, &self.dtype, &self.size].map(String::clone);
        Line::LeftOut(LeftOut { way: BURN.to_owned(), case, dtype, size, reason: reason.to_owned() })
    }
}

/// Where lines go; shared with the thread that watches the time.
#[derive(Clone)]
struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    fn add(&self, line: &Line) -> anyhow::Result<()> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(output, "{}", serde_json::to_string(line)?)?;
        Ok(output.flush()?)
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        // Burn's threads need not be waited for.
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> anyhow::Result<()> {
    let start = Instant::now();
    let cases = wanted(options)?;
    let output: Box<dyn Write + Send> = match &options.json {
        Some(path) => Box::new(File::create(path).with_context(|| format!("cannot write `{}`", path.display()))?),
        None => Box::new(std::io::stdout()),
    };
    let output = Output(Arc::new(Mutex::new(output)));
    let opened = open(&output)?;
    let effort = match options.quick {
        false => Effort { batches: 9, warm_up: Duration::from_millis(300), batch_time: Duration::from_millis(60) },
        true => Effort { batches: 3, warm_up: Duration::from_millis(20), batch_time: Duration::from_millis(10) },
    };
    let panicked = keep_messages();
    for (index, case) in cases.iter().enumerate() {
        if start.elapsed() > Duration::from_secs(options.limit) {
            output.add(&case.left_out("not started within the time limit"))?;
            continue;
        }
        let watched = watch(options.case_limit, output.clone(), cases[index..].to_vec());
        let line = match catch_unwind(AssertUnwindSafe(|| cases::run(&opened, effort, case.key()))) {
            Ok(Ok(measured)) => time(case, effort, &measured),
            Ok(Err(error)) => case.left_out(&format!("{error:#}")),
            Err(_) => case.left_out(&format!("panicked: {}", take(&panicked))),
        };
        drop(watched);
        output.add(&line)?;
        eprintln!("{} {} {}", case.name, case.dtype, case.size);
        // After a panic, the device may be in any state; the next case says so itself.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            opened.wait();
            opened.device.memory_cleanup();
        }));
    }
    Ok(())
}

/// The cases of the bars and those that only rivals can measure, with extents of at most 64 for a quick run.
fn wanted(options: &Options) -> anyhow::Result<Vec<Case>> {
    let bars = Bars::load()?;
    let left_out = bars.left_out();
    let keys = bars.cases().into_iter().chain(left_out.iter().map(|(key, _)| *key));
    let mut cases: Vec<Case> = vec![];
    for key in keys {
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

/// A size of the same form with extents of at most 64, or 2^12 elements.
fn small(size: &str) -> String {
    if size.starts_with("2^") {
        return "2^12".to_owned();
    }
    let extents = size.split('x').map(|extent| extent.parse().map_or(64, |extent: usize| extent.min(64)).to_string());
    extents.collect::<Vec<_>>().join("x")
}

fn open(output: &Output) -> anyhow::Result<Opened> {
    let device = Device::wgpu(DeviceKind::DefaultDevice);
    let dispatch = device.as_dispatch();
    let adapter = dispatch.identity().map_or_else(|| "unknown".to_owned(), |identity| identity.name.clone());
    #[allow(irrefutable_let_patterns, reason = "with one backend compiled in there is no other device")]
    let DispatchDevice::Cube(cube) = dispatch else { anyhow::bail!("burn opened a device without shaders") };
    let client = GlobalFusionClient::<burn_cubecl::fusion::FusionCubeRuntime>::load(cube);
    output.add(&Line::Run(Run {
        program: BURN.to_owned(),
        version: VERSION.to_owned(),
        adapter,
        driver: "wgpu".to_owned(),
        host: machine::host(),
        date: machine::today(),
        commit: machine::commit(),
    }))?;
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

/// Ends the process unless what it returns is dropped within `seconds`; the cases that are left are noted before.
fn watch(seconds: u64, output: Output, left: Vec<Case>) -> std::sync::mpsc::Sender<()> {
    let (done, finished) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        use std::sync::mpsc::RecvTimeoutError::Timeout;
        if finished.recv_timeout(Duration::from_secs(seconds)) == Err(Timeout) {
            for (index, case) in left.iter().enumerate() {
                let reason = match index {
                    0 => format!("took longer than {seconds} s"),
                    _ => format!("not started: `{} {}` took longer than {seconds} s", left[0].name, left[0].size),
                };
                let _ = output.add(&case.left_out(&reason));
            }
            std::process::exit(0);
        }
    });
    done
}

/// Keeps the message of the first panic of a case: those after it follow from it.
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
