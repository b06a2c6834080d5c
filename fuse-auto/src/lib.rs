//! Lazy tensors: code that looks eager, whose operations are recorded, fused and compiled when a value is asked for.
//!
//! ```no_run
//! use fuse_auto::LazyTensor;
//! use fuse_runtime::{Device, Tensor2};
//!
//! # fn main() -> Result<(), fuse_auto::Error> {
//! let device = Device::blocking()?;
//! let x = LazyTensor::from(&Tensor2::<f32>::rand(&device, [64, 256], 1)?);
//! let w = LazyTensor::from(&Tensor2::<f32>::rand(&device, [256, 128], 2)?);
//! let b = LazyTensor::from(&Tensor2::<f32>::rand(&device, [1, 128], 3)?);
//!
//! let y = x.matmul(&w)?.add(&b)?.relu()?; // recorded, and checked
//! let scaled = &y * 0.5 + 1.0;
//! let values: Vec<f32> = scaled.to_vec_blocking()?; // one kernel
//! # Ok(())
//! # }
//! ```
//!
//! What is recorded becomes the text of a `fuse!` function (`source`), which is compiled once (`code`) and launched (`evaluate`).
//! So operations, planner, schedules and gradients are those of `fuse!`, and so is the speed.
#![cfg_attr(
    target_arch = "wasm32",
    allow(clippy::arc_with_non_send_sync, reason = "natively they are, and both share their types")
)]

mod adaptive;
#[cfg(not(target_arch = "wasm32"))]
mod benchmark;
mod code_cache;
mod config;
mod dim;
mod error;
mod evaluate;
mod explain;
mod fusions;
mod graphs;
mod infer;
mod lazy;
mod memory;
mod methods;
mod node;
mod op;
#[doc(hidden)]
pub mod operations;
mod origin;
mod pattern;
mod persistence;
mod recompile_report;
mod record;
mod sequence;
mod source;
mod stats;
mod symbols;
mod trace;
mod weights;

pub use fuse_artifact::{DType, Packing, Plan};

#[cfg(not(target_arch = "wasm32"))]
pub use crate::{
    benchmark::{BenchmarkResult, benchmark_pattern},
    persistence::{record, warm_up},
};
pub use crate::{
    code_cache::{preload, set_code_limit},
    config::{FusionConfig, WeightQuantization, configure, with_config},
    dim::Dim,
    error::Error,
    evaluate::{eval_all, flush},
    explain::{Explanation, FusionOpportunity, explain, stats},
    lazy::LazyTensor,
    methods::{Extent, Over, checkpoint, grad, grad_with},
    pattern::{Activation, BinaryOp, FusionPattern},
    persistence::{WarmUp, record_text, warm_up_text},
    record::Operand,
    sequence::{create_pattern, execute_fused},
    stats::{FusionStats, FusionStatsSummary},
};
