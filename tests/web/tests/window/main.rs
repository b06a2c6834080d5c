//! Kernel tests in a page: programs against the interpreter, shaders against the browser's compiler, and failures.
#![cfg(target_arch = "wasm32")]

mod failures;
mod features;
mod lazy;
mod programs;
mod quantize;
mod readback;
mod shaders;
mod training;
mod webnn;

use std::cell::OnceCell;

use fuse_gpu::Device;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

/// Shared, so that tests share pipelines.
async fn device() -> Device {
    thread_local!(static SHARED: OnceCell<Device> = const { OnceCell::new() });
    if let Some(device) = SHARED.with(|shared| shared.get().cloned()) {
        return device;
    }
    let device = new_device().await;
    SHARED.with(|shared| shared.get_or_init(|| device).clone())
}

async fn new_device() -> Device {
    Device::new().await.expect("tests need a browser with WebGPU")
}

/// Firefox: its adapters have other features than Chromium's.
fn firefox() -> bool {
    fuse_gpu::Environment::present() == fuse_gpu::Environment::Firefox
}
