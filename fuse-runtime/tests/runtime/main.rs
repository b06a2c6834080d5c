//! The runtime on a real adapter (a software rasterizer counts), with small artifacts written by hand.
//!
//! `FUSE_ADAPTER` chooses the adapter; without any adapter the tests fail and the error says how to get one.

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

/// A device of the adapter under test, with files of other runs out of the way.
fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

/// `0.5, 1.5, 2.5, …`: values that sums and small products hold exactly.
fn ramp(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i % 251) as f32 + 0.5).collect()
}
