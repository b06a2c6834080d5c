//! Lazy tensors: operations are recorded, then fused and compiled when a value is needed.
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
//! Recorded operations become the source of a `fuse!` function, with its operations, planner, schedules, gradients and
//! speed. It is compiled once.
//!
//! Layers: `op`, `node`, `shape` → `trace`, `source` → `cache` → `eval` → `api`. Files import from their own and
//! earlier layers only.
#![cfg_attr(
    target_arch = "wasm32",
    allow(clippy::arc_with_non_send_sync, reason = "natively they are, and both share their types")
)]

mod api;
mod cache;
mod config;
mod error;
mod eval;
mod node;
mod op;
mod pattern;
mod shape;
mod source;
mod trace;

#[doc(hidden)]
pub use fuse_artifact::operations;
pub use fuse_artifact::{DType, Packing, Plan};

#[cfg(not(target_arch = "wasm32"))]
pub use crate::api::{
    benchmark::{BenchmarkResult, benchmark_pattern},
    persistence::{record, warm_up},
};
pub use crate::{
    api::{
        dim::Dim,
        evaluation::{eval_all, flush},
        explain::{Explanation, FusionOpportunity, explain, stats},
        lazy::LazyTensor,
        methods::{
            axes::Over,
            gradient::{checkpoint, grad, grad_with},
            movement::Extent,
        },
        operand::Operand,
        persistence::{WarmUp, record_text, warm_up_text},
        sequence::{create_pattern, execute_fused},
    },
    cache::{
        code_cache::{preload, set_code_limit},
        stats::{FusionStats, FusionStatsSummary},
    },
    config::{FusionConfig, WeightQuantization},
    error::Error,
    eval::session::{configure, with_config},
    pattern::{Activation, BinaryOp, FusionPattern},
};
