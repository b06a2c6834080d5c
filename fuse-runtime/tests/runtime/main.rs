//! The runtime on a real adapter, or a software rasterizer, with small hand-written artifacts.
//!
//! `FUSE_ADAPTER` chooses the adapter; without any, the tests fail.

mod alternatives;
mod artifacts;
mod contraction;
mod device;
mod errors;
mod memory;
mod pointwise;
mod quantize;
mod reduction;
mod row_artifacts;
mod sequences;
mod tensors;
mod threads;
mod warm;
mod writes;

use fuse_runtime::Device;

/// The adapter under test, without files of other runs.
fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

/// `0.5, 1.5, 2.5, …`: sums and small products are exact.
fn ramp(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i % 251) as f32 + 0.5).collect()
}
