//! Lines of a results file: JSON objects with their type in `kind`.
//!
//! Lines after a [`Run`] were measured in it. Times are in microseconds.

use serde::{Deserialize, Serialize};

/// This project, as a [`Time::way`].
pub const OURS: &str = "fuse";
/// This project with pipelines specialized to sizes.
pub const SPECIALIZED: &str = "fuse, specialized";
/// PyTorch, eager.
pub const EAGER: &str = "torch eager";
/// PyTorch's compiler, replayed from a CUDA graph.
pub const COMPILED: &str = "torch.compile + CUDA graph";
/// Burn with fusion and autotuning.
pub const BURN: &str = "Burn";
/// Other libraries, in table order.
pub const RIVALS: [&str; 3] = [EAGER, COMPILED, BURN];
/// TensorFlow.js on its WebGPU backend.
pub const TENSORFLOW: &str = "TensorFlow.js";
/// ONNX Runtime Web with its WebGPU execution provider.
pub const ONNX: &str = "ONNX Runtime Web";
/// Other libraries in browsers, in table order.
pub const BROWSER_RIVALS: [&str; 2] = [TENSORFLOW, ONNX];
/// WebGPU without any library: a lower bound.
pub const ALONE: &str = "WebGPU alone";
/// Time of a freshly opened page to its first result.
pub const FIRST_RESULT: &str = "first result of a page";
/// Hand-written copy.
pub const COPY: &str = "copy, by hand";

/// Line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// Start of a run.
    Run(Run),
    /// Peak rates.
    Roof(Roof),
    /// Time of a case.
    Time(Time),
    /// Host cost.
    Cost(Cost),
    /// Fused function against its unfused version.
    Pair(Box<Pair>),
    /// Case not measured.
    LeftOut(LeftOut),
    /// Size of a page.
    Weight(Weight),
    /// Difference of two libraries' results.
    Difference(Difference),
    /// Kernel tests of a browser on another machine.
    Suite(Suite),
}

/// Program on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Program: `fuse`, `PyTorch`, `Burn`.
    pub program: String,
    /// Version.
    pub version: String,
    /// Adapter.
    pub adapter: String,
    /// Driver and version.
    pub driver: String,
    /// Processor.
    pub host: String,
    /// UTC date, as `2026-11-21`.
    pub date: String,
    /// Commit of this project.
    pub commit: String,
}

/// Peak rates in this run, by hand-written kernels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// Bandwidth of a large copy, in 10⁹ bytes per second.
    pub copy_gb_per_s: f64,
    /// Time of a nearly empty dispatch that waits for the previous one.
    pub dispatch_us: f64,
    /// Multiply-adds in `f32`, two operations each.
    pub f32_tflops: f64,
    /// Matrix products of `f16` with `f32` sums, if available.
    pub matrices_tflops: Option<f64>,
}

/// Time of a case in one library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// [`OURS`], [`SPECIALIZED`] or one of [`RIVALS`].
    pub way: String,
    /// Formula, without its dtype.
    pub case: String,
    /// Dtype.
    pub dtype: String,
    /// Size: `1024x1024x1024` or `2^20`.
    pub size: String,
    /// Variant, if known.
    pub variant: Option<String>,
    /// Forced alternative of the function.
    #[serde(default)]
    pub alternative: Option<usize>,
    /// True if the library chose the variant.
    pub picked: bool,
    /// Median of batches, per launch.
    pub median_us: f64,
    /// Fastest batch, per launch.
    pub min_us: f64,
    /// Slowest batch, per launch.
    pub max_us: f64,
    /// GPU time, with timestamps.
    #[serde(default)]
    pub gpu_us: Option<f64>,
    /// Batches.
    pub batches: usize,
    /// Launches per batch.
    pub launches_per_batch: u32,
    /// Floating-point operations.
    #[serde(default)]
    pub flops: f64,
    /// Bytes of operands and results.
    #[serde(default)]
    pub bytes: f64,
    /// Tokens of input.
    #[serde(default)]
    pub tokens: f64,
    /// Roofline's over measured time.
    #[serde(default)]
    pub of_roof: Option<f64>,
    /// Largest checked error, relative to its bound.
    #[serde(default)]
    pub error_over_bound: Option<f64>,
}

impl Time {
    /// TFLOP/s.
    pub fn teraflops(&self) -> f64 {
        self.flops / self.median_us / 1e6
    }

    /// 10⁹ bytes per second.
    pub fn gigabytes(&self) -> f64 {
        self.bytes / self.median_us / 1e3
    }

    /// Formula with its dtype.
    pub fn name(&self) -> String {
        format!("{} {}", self.case, self.dtype)
    }
}

/// Host cost, per call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Operation.
    pub case: String,
    /// Median of all calls.
    pub median_us: f64,
    /// Fastest round.
    pub min_us: f64,
    /// Slowest round.
    pub max_us: f64,
    /// Time above hand-written wgpu's.
    pub above_by_hand_us: Option<f64>,
    /// Time of a call that submits nothing, if timed alone.
    pub recording_us: Option<f64>,
    /// That time above hand-written wgpu's.
    pub recording_above_by_hand_us: Option<f64>,
    /// Calls per round.
    pub launches_per_batch: u32,
}

/// Fused function against one with a kernel per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Formula, without its dtype.
    pub case: String,
    /// Dtype.
    pub dtype: String,
    /// Size.
    pub size: String,
    /// Elements of a chain, or extent of a square product; blocks have none.
    pub extent: Option<usize>,
    /// True for matrix products.
    pub product: bool,
    /// Host time.
    pub wall: Turns,
    /// GPU time, with timestamps.
    pub gpu: Option<Turns>,
    /// Largest ratio that bytes and dispatches explain.
    pub at_most: Option<f64>,
    /// Fused function.
    pub fused: Side,
    /// Unfused function.
    pub unfused: Side,
}

impl Pair {
    /// Formula with its dtype.
    pub fn name(&self) -> String {
        format!("{} {}", self.case, self.dtype)
    }
}

/// Interleaved times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// Fused: median, fastest and slowest batch.
    pub fused_us: [f64; 3],
    /// Unfused: median, fastest and slowest batch.
    pub unfused_us: [f64; 3],
    /// Launches per batch, fused and unfused.
    pub launches_per_batch: [u32; 2],
    /// Ratio of medians, unfused over fused.
    pub ratio: f64,
    /// Smallest and largest ratio of consecutive batches.
    pub ratio_range: [f64; 2],
}

/// One function of a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Variants that ran.
    pub variant: String,
    /// Bytes read and written.
    pub bytes: Option<u64>,
    /// Dispatches.
    pub dispatches: Option<u32>,
    /// Lower bound: bytes at a copy's bandwidth.
    pub floor_bytes_us: Option<f64>,
    /// Lower bound: empty dispatches.
    pub floor_launches_us: Option<f64>,
    /// Bounding resource.
    pub bound: Option<String>,
    /// Largest error, relative to its bound.
    pub error_over_bound: f64,
}

/// Case not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Library.
    pub way: String,
    /// Formula, without its dtype.
    pub case: String,
    /// Dtype.
    pub dtype: String,
    /// Size.
    pub size: String,
    /// Reason.
    pub reason: String,
}

/// Download size of a page with a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// Library.
    pub way: String,
    /// Modules and scripts.
    pub files: Vec<String>,
    /// Uncompressed bytes.
    pub raw: u64,
    /// Bytes as sent: brotli of the highest quality, file by file.
    pub brotli: u64,
}

/// Difference of another library's result from ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Library.
    pub way: String,
    /// Formula, without its dtype.
    pub case: String,
    /// Size.
    pub size: String,
    /// Largest absolute difference.
    pub largest: f64,
}

/// Tests run in a browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// Test program.
    pub name: String,
    /// Adapter, as the system names it.
    pub adapter: String,
    /// Browser and version.
    pub browser: String,
    /// Browser flags, as `drive.py` names them.
    pub flags: String,
    /// UTC date, as `2026-11-21`.
    pub date: String,
    /// Commit of this project.
    pub commit: String,
    /// Number of tests.
    pub tests: usize,
    /// Failed tests.
    pub failed: Vec<String>,
    /// Seconds of all tests, with the browser's start.
    pub seconds: f64,
}
