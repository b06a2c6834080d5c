//! The lines of a file of results: one JSON object each, whose `kind` says what it is about.
//!
//! A file starts with a [`Run`]; what follows was measured in that run, up to the next one. Times are in microseconds.

use serde::{Deserialize, Serialize};

/// This project, as a [`Time::way`].
pub const OURS: &str = "fuse";
/// This project with pipelines for exactly the sizes of the case.
pub const SPECIALIZED: &str = "fuse, specialized";
/// PyTorch, operation by operation.
pub const EAGER: &str = "torch eager";
/// PyTorch's compiler, replayed from a CUDA graph.
pub const COMPILED: &str = "torch.compile + CUDA graph";
/// Burn with fusion and autotuning.
pub const BURN: &str = "Burn";
/// The ways of the rivals, in the order of tables.
pub const RIVALS: [&str; 3] = [EAGER, COMPILED, BURN];
/// TensorFlow.js on its WebGPU backend.
pub const TENSORFLOW: &str = "TensorFlow.js";
/// ONNX Runtime Web with its WebGPU execution provider.
pub const ONNX: &str = "ONNX Runtime Web";
/// The ways of the rivals in browsers, in the order of tables.
pub const BROWSER_RIVALS: [&str; 2] = [TENSORFLOW, ONNX];
/// A browser's WebGPU without any library: what nobody can go below.
pub const ALONE: &str = "WebGPU alone";
/// The case of a page that was just opened.
pub const FIRST_RESULT: &str = "first result of a page";
/// The case that copies with a kernel written by hand.
pub const COPY: &str = "copy, by hand";

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// A program starts to measure.
    Run(Run),
    /// What the adapter itself reached.
    Roof(Roof),
    /// One way of computing a case.
    Time(Time),
    /// What something costs the host.
    Cost(Cost),
    /// A fused function against the same one unfused.
    Pair(Box<Pair>),
    /// A case that was not measured.
    LeftOut(LeftOut),
    /// What a page with a library weighs.
    Weight(Weight),
    /// How far two programs' results are apart.
    Difference(Difference),
    /// The kernel tests of a browser on another machine than the one that made them.
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

/// What the adapter reached in this run with kernels written by hand.
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

/// How long one way of computing a case takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Whose: [`OURS`], [`SPECIALIZED`] or one of [`RIVALS`].
    pub way: String,
    /// The formula, without its dtype.
    pub case: String,
    /// The dtype of the elements.
    pub dtype: String,
    /// The size, for example `1024x1024x1024` or `2^20`.
    pub size: String,
    /// What ran, where the program says it.
    pub variant: Option<String>,
    /// The alternative of the function that was asked for.
    #[serde(default)]
    pub alternative: Option<usize>,
    /// Whether the program chose how to run it.
    pub picked: bool,
    /// The median of batches, per launch.
    pub median_us: f64,
    /// The fastest batch.
    pub min_us: f64,
    /// The slowest.
    pub max_us: f64,
    /// By the GPU's own clock, where it has one.
    #[serde(default)]
    pub gpu_us: Option<f64>,
    /// Batches.
    pub batches: usize,
    /// Launches of a batch.
    pub launches_per_batch: u32,
    /// Floating-point operations.
    #[serde(default)]
    pub flops: f64,
    /// Bytes of operands and results, each once.
    #[serde(default)]
    pub bytes: f64,
    /// Tokens of text.
    #[serde(default)]
    pub tokens: f64,
    /// Of the time that the roofs allow to the measured one; 1 is as fast as they allow.
    #[serde(default)]
    pub of_roof: Option<f64>,
    /// Largest error of what was checked, relative to its bound.
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

    /// The formula with its dtype.
    pub fn name(&self) -> String {
        format!("{} {}", self.case, self.dtype)
    }
}

/// Time of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// What is done.
    pub case: String,
    /// All of it.
    pub median_us: f64,
    /// The fastest round.
    pub min_us: f64,
    /// The slowest.
    pub max_us: f64,
    /// More than the same encoded by hand takes.
    pub above_by_hand_us: Option<f64>,
    /// A call that submits nothing, where calls were timed by themselves.
    pub recording_us: Option<f64>,
    /// The same above that by hand.
    pub recording_above_by_hand_us: Option<f64>,
    /// Calls of a round.
    pub launches_per_batch: u32,
}

/// A fused function against the same text with a kernel per operation.
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
    /// Whether it multiplies matrices.
    pub product: bool,
    /// As the host sees it.
    pub wall: Turns,
    /// The GPU's own times, where it has timestamps.
    pub gpu: Option<Turns>,
    /// The largest ratio that bytes and dispatches explain.
    pub at_most: Option<f64>,
    /// The fused function.
    pub fused: Side,
    /// The unfused one.
    pub unfused: Side,
}

impl Pair {
    /// The formula with its dtype.
    pub fn name(&self) -> String {
        format!("{} {}", self.case, self.dtype)
    }
}

/// Times of two functions in turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// Median, fastest and slowest batch of the fused function.
    pub fused_us: [f64; 3],
    /// The same of the unfused one.
    pub unfused_us: [f64; 3],
    /// Launches of a batch, fused and unfused.
    pub launches_per_batch: [u32; 2],
    /// Unfused over fused, of the medians.
    pub ratio: f64,
    /// The smallest and the largest of two batches that followed each other.
    pub ratio_range: [f64; 2],
}

/// One function of a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The variants that ran.
    pub variant: String,
    /// Bytes that its kernels read and write.
    pub bytes: Option<u64>,
    /// Dispatches.
    pub dispatches: Option<u32>,
    /// Its bytes at the bandwidth of a copy.
    pub floor_bytes_us: Option<f64>,
    /// Its dispatches at the time of one that does nothing.
    pub floor_launches_us: Option<f64>,
    /// What bounds it.
    pub bound: Option<String>,
    /// Largest error, relative to its bound.
    pub error_over_bound: f64,
}

/// A case that was not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Whose.
    pub way: String,
    /// The formula, without its dtype.
    pub case: String,
    /// The dtype.
    pub dtype: String,
    /// The size.
    pub size: String,
    /// Why.
    pub reason: String,
}

/// What a page must load for a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// Whose.
    pub way: String,
    /// The modules and scripts.
    pub files: Vec<String>,
    /// Their bytes.
    pub raw: u64,
    /// Their bytes as servers send them: brotli of the highest quality, each file by itself.
    pub brotli: u64,
}

/// How far the elements of a rival's result are from ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Whose.
    pub way: String,
    /// The formula, without its dtype.
    pub case: String,
    /// The size.
    pub size: String,
    /// The largest absolute difference of all elements.
    pub largest: f64,
}

/// Tests that ran in a browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// The test program.
    pub name: String,
    /// The adapter, as its system calls it.
    pub adapter: String,
    /// The browser with its version.
    pub browser: String,
    /// What it was started with, as `drive.py` names it.
    pub flags: String,
    /// The day, as `2026-11-21`, in UTC.
    pub date: String,
    /// The commit of this project.
    pub commit: String,
    /// How many tests.
    pub tests: usize,
    /// The names of those that failed.
    pub failed: Vec<String>,
    /// How long all of them took, with the browser's start.
    pub seconds: f64,
}
