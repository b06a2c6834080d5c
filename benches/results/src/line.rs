//! The lines of a file of results: one JSON object each, with its type in `kind`.
//!
//! A file starts with a [`Run`]; the lines after it were measured in that run, up to the next one. Times are in
//! microseconds.

use serde::{Deserialize, Serialize};

/// This project, as a [`Time::way`].
pub const OURS: &str = "fuse";
/// This project with pipelines specialized to the sizes of the case.
pub const SPECIALIZED: &str = "fuse, specialized";
/// PyTorch in eager mode.
pub const EAGER: &str = "torch eager";
/// PyTorch's compiler, replayed from a CUDA graph.
pub const COMPILED: &str = "torch.compile + CUDA graph";
/// Burn with fusion and autotuning.
pub const BURN: &str = "Burn";
/// The other libraries, in the order of tables.
pub const RIVALS: [&str; 3] = [EAGER, COMPILED, BURN];
/// TensorFlow.js on its WebGPU backend.
pub const TENSORFLOW: &str = "TensorFlow.js";
/// ONNX Runtime Web with its WebGPU execution provider.
pub const ONNX: &str = "ONNX Runtime Web";
/// The other libraries in browsers, in the order of tables.
pub const BROWSER_RIVALS: [&str; 2] = [TENSORFLOW, ONNX];
/// A browser's WebGPU without any library: a lower bound for all.
pub const ALONE: &str = "WebGPU alone";
/// The time of a freshly opened page to its first result.
pub const FIRST_RESULT: &str = "first result of a page";
/// The copy with a hand-written kernel.
pub const COPY: &str = "copy, by hand";

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// The start of a run.
    Run(Run),
    /// Peak rates of the adapter.
    Roof(Roof),
    /// The time of a case.
    Time(Time),
    /// A cost of the host.
    Cost(Cost),
    /// A fused function against its unfused version.
    Pair(Box<Pair>),
    /// A case that was not measured.
    LeftOut(LeftOut),
    /// The size of a page with a library.
    Weight(Weight),
    /// The difference between the results of two libraries.
    Difference(Difference),
    /// The kernel tests of a browser, run on another machine than the one that built them.
    Suite(Suite),
}

/// A program on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The program: `fuse`, `PyTorch`, `Burn`.
    pub program: String,
    /// Its version.
    pub version: String,
    /// The adapter's name.
    pub adapter: String,
    /// The driver and its version.
    pub driver: String,
    /// The host's processor.
    pub host: String,
    /// The day, as `2026-11-21`, in UTC.
    pub date: String,
    /// The commit of this project.
    pub commit: String,
}

/// Peak rates of the adapter in this run, with hand-written kernels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// Bandwidth of a large copy, in 10⁹ bytes per second.
    pub copy_gb_per_s: f64,
    /// Time of a dispatch with next to no work that waits for the one before.
    pub dispatch_us: f64,
    /// Multiplications with additions in `f32`, two operations each.
    pub f32_tflops: f64,
    /// Products of matrices of `f16` with `f32` sums, where the adapter has them.
    pub matrices_tflops: Option<f64>,
}

/// The time of a case in one library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// The library: [`OURS`], [`SPECIALIZED`] or one of [`RIVALS`].
    pub way: String,
    /// The formula, without its dtype.
    pub case: String,
    /// The dtype of the elements.
    pub dtype: String,
    /// The size, for example `1024x1024x1024` or `2^20`.
    pub size: String,
    /// The variant that ran, if known.
    pub variant: Option<String>,
    /// The alternative of the function that was forced.
    #[serde(default)]
    pub alternative: Option<usize>,
    /// True if the library chose the variant.
    pub picked: bool,
    /// The median of batches, per launch.
    pub median_us: f64,
    /// The fastest batch, per launch.
    pub min_us: f64,
    /// The slowest batch, per launch.
    pub max_us: f64,
    /// GPU time, if there are timestamps.
    #[serde(default)]
    pub gpu_us: Option<f64>,
    /// The number of batches.
    pub batches: usize,
    /// Launches per batch.
    pub launches_per_batch: u32,
    /// Floating-point operations.
    #[serde(default)]
    pub flops: f64,
    /// Bytes of operands and results, each once.
    #[serde(default)]
    pub bytes: f64,
    /// Tokens of input text.
    #[serde(default)]
    pub tokens: f64,
    /// The roofline's time over the measured one; 1 is as fast as the roofline allows.
    #[serde(default)]
    pub of_roof: Option<f64>,
    /// Largest error of the checked elements, relative to its bound.
    #[serde(default)]
    pub error_over_bound: Option<f64>,
}

impl Time {
    /// TFLOP/s.
    pub fn teraflops(&self) -> f64 {
        self.flops / self.median_us / 1e6
    }

    /// Bandwidth in 10⁹ bytes per second.
    pub fn gigabytes(&self) -> f64 {
        self.bytes / self.median_us / 1e3
    }

    /// The formula with its dtype.
    pub fn name(&self) -> String {
        format!("{} {}", self.case, self.dtype)
    }
}

/// A cost of the host, per call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The operation.
    pub case: String,
    /// The median of all calls.
    pub median_us: f64,
    /// The fastest round.
    pub min_us: f64,
    /// The slowest.
    pub max_us: f64,
    /// Time above that of hand-written wgpu.
    pub above_by_hand_us: Option<f64>,
    /// The time of a call that submits nothing, if calls were timed alone.
    pub recording_us: Option<f64>,
    /// The same, above that of hand-written wgpu.
    pub recording_above_by_hand_us: Option<f64>,
    /// Calls per round.
    pub launches_per_batch: u32,
}

/// A fused function against its unfused version, with a kernel per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The formula, without its dtype.
    pub case: String,
    /// The dtype of the elements.
    pub dtype: String,
    /// The size.
    pub size: String,
    /// Elements of a chain, or the extent of a square product; blocks have none, and are in no plot over sizes.
    pub extent: Option<usize>,
    /// True for matrix products.
    pub product: bool,
    /// Host time.
    pub wall: Turns,
    /// GPU time, if there are timestamps.
    pub gpu: Option<Turns>,
    /// The largest ratio that bytes and dispatches explain.
    pub at_most: Option<f64>,
    /// The fused function.
    pub fused: Side,
    /// The unfused function.
    pub unfused: Side,
}

impl Pair {
    /// The formula with its dtype.
    pub fn name(&self) -> String {
        format!("{} {}", self.case, self.dtype)
    }
}

/// Interleaved times of two functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// Median, fastest and slowest batch of the fused function.
    pub fused_us: [f64; 3],
    /// Median, fastest and slowest batch of the unfused function.
    pub unfused_us: [f64; 3],
    /// Launches per batch, fused and unfused.
    pub launches_per_batch: [u32; 2],
    /// Ratio of the medians, unfused over fused.
    pub ratio: f64,
    /// The smallest and the largest ratio of two consecutive batches.
    pub ratio_range: [f64; 2],
}

/// One function of a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The variants that ran.
    pub variant: String,
    /// Bytes read and written by its kernels.
    pub bytes: Option<u64>,
    /// The number of dispatches.
    pub dispatches: Option<u32>,
    /// Lower bound: its bytes at the bandwidth of a copy.
    pub floor_bytes_us: Option<f64>,
    /// Lower bound: its dispatches at the time of an empty one.
    pub floor_launches_us: Option<f64>,
    /// The resource that bounds it.
    pub bound: Option<String>,
    /// Largest error, relative to its bound.
    pub error_over_bound: f64,
}

/// A case that was not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The library.
    pub way: String,
    /// The formula, without its dtype.
    pub case: String,
    /// The dtype.
    pub dtype: String,
    /// The size.
    pub size: String,
    /// The reason.
    pub reason: String,
}

/// The download size of a page with a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// The library.
    pub way: String,
    /// The names of modules and scripts.
    pub files: Vec<String>,
    /// Their uncompressed bytes.
    pub raw: u64,
    /// Their bytes as servers send them: brotli of the highest quality, each file alone.
    pub brotli: u64,
}

/// The difference of another library's result from ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The library.
    pub way: String,
    /// The formula, without its dtype.
    pub case: String,
    /// The size.
    pub size: String,
    /// The largest absolute difference of all elements.
    pub largest: f64,
}

/// Tests run in a browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// The test program.
    pub name: String,
    /// The adapter, as the system names it.
    pub adapter: String,
    /// The browser with its version.
    pub browser: String,
    /// The browser's flags, as `drive.py` names them.
    pub flags: String,
    /// The day, as `2026-11-21`, in UTC.
    pub date: String,
    /// The commit of this project.
    pub commit: String,
    /// The number of tests.
    pub tests: usize,
    /// The names of failed tests.
    pub failed: Vec<String>,
    /// The time of all tests, including the browser's start.
    pub seconds: f64,
}
