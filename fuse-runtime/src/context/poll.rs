//! Polling a device, whose driver may fail meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) fn poll(device: &wgpu::Device, kind: wgpu::PollType) -> bool {
    // wgpu panics where the driver reports a fatal error within a wait: a lost device.
    catch_unwind(AssertUnwindSafe(|| device.poll(kind))).is_ok_and(|polled| polled.is_ok())
}
