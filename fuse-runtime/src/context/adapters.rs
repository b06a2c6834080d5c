//! Enumeration and opening of adapters.
//!
//! The process keeps one instance per choice of backends forever: without any, the driver is unloaded, but threads that
//! have used NVIDIA's call into it when they end (destructors of its `pthread` keys), and crash. One thread at a time
//! makes instances and opens devices: that driver has data races there (gfx-rs/wgpu#5930, kvark/blade#336).

use crate::context::info::Backend;

/// Adapters of a backend, or of all compiled ones except OpenGL.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn adapters(backend: Option<Backend>) -> Vec<wgpu::Adapter> {
    let backends = backends(backend);
    let mut instances = native::drivers();
    let instance = match instances.iter().find(|(of, _)| *of == backends) {
        Some((_, instance)) => instance.clone(),
        None => {
            let instance = instance(backends);
            instances.push((backends, instance.clone()));
            instance
        }
    };
    pollster::block_on(instance.enumerate_adapters(backends))
}

/// Asks three times, with and without a preference: Chromium may report none while its GPU process starts on NVIDIA's
/// driver.
#[cfg(target_arch = "wasm32")]
pub(crate) async fn adapters(backend: Option<Backend>) -> Vec<wgpu::Adapter> {
    use wgpu::PowerPreference::{HighPerformance, None as NoPreference};
    let instance = instance(backends(backend));
    for power_preference in [HighPerformance, NoPreference, HighPerformance] {
        let options = wgpu::RequestAdapterOptions { power_preference, ..Default::default() };
        if let Ok(adapter) = instance.request_adapter(&options).await {
            return vec![adapter];
        }
    }
    vec![]
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn request_device(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError> {
    let _alone = native::drivers();
    // Ready at once, natively; a lock across an await would tie the future to one thread.
    pollster::block_on(adapter.request_device(descriptor))
}

fn backends(backend: Option<Backend>) -> wgpu::Backends {
    backend.map_or(wgpu::Backends::all() - wgpu::Backends::GL, Backend::mask)
}

fn instance(backends: wgpu::Backends) -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // Shaders are validated at compile time; `WGPU_VALIDATION` and `WGPU_DEBUG` enable the driver's layers.
    descriptor.flags = wgpu::InstanceFlags::empty().with_env();
    wgpu::Instance::new(descriptor)
}

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use std::sync::{Mutex, MutexGuard};

    use crate::context::lock::lock;

    type Instances = Vec<(wgpu::Backends, wgpu::Instance)>;

    static DRIVERS: Mutex<Instances> = Mutex::new(vec![]);

    /// The lock serializes calls to drivers as a whole.
    pub(super) fn drivers() -> MutexGuard<'static, Instances> {
        lock(&DRIVERS)
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::{adapters, native};

    #[test]
    fn instances_outlive_their_adapters_and_are_shared() {
        let first = pollster::block_on(adapters(None)).len();
        let instances = native::drivers().len();
        assert!(instances > 0);
        assert_eq!(pollster::block_on(adapters(None)).len(), first);
        assert_eq!(native::drivers().len(), instances);
    }
}
