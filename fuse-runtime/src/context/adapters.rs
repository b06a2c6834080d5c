//! The adapters of this machine, and opening them.
//!
//! Natively the process has one instance per choice of backends, which lives as long as the process: the last instance that goes
//! takes the driver's code out of memory, and threads that have used NVIDIA's still call into it when they end (the destructors
//! of its `pthread` keys), which is a segmentation fault. One thread at a time makes instances and opens devices, because that
//! driver has data races there (gfx-rs/wgpu#5930, kvark/blade#336).

use crate::context::info::Backend;

/// The adapters of a backend, or of all that are compiled in; OpenGL is never used.
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

/// The adapter that the browser offers. Chromium may answer first that it has none, where its GPU process is about to start on
/// NVIDIA's driver: it is asked again, without a preference and with it, before that counts.
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

/// Opens `adapter`.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) async fn request_device(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError> {
    let _alone = native::drivers();
    // Ready at once, natively; a lock that is held while awaiting would keep the future of a device on one thread.
    pollster::block_on(adapter.request_device(descriptor))
}

fn backends(backend: Option<Backend>) -> wgpu::Backends {
    backend.map_or(wgpu::Backends::all() - wgpu::Backends::GL, Backend::mask)
}

fn instance(backends: wgpu::Backends) -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // Shaders are validated when they are compiled; `WGPU_VALIDATION` and `WGPU_DEBUG` bring the driver's layers.
    descriptor.flags = wgpu::InstanceFlags::empty().with_env();
    wgpu::Instance::new(descriptor)
}

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use std::sync::{Mutex, MutexGuard};

    use crate::context::lock::lock;

    type Instances = Vec<(wgpu::Backends, wgpu::Instance)>;

    static DRIVERS: Mutex<Instances> = Mutex::new(vec![]);

    /// The instances that exist, for the one thread that may talk to drivers as a whole.
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
