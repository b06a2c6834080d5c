//! Adapter choice and opening.

use std::{ffi::OsString, path::PathBuf};

#[cfg(feature = "tune")]
use crate::tune::load::Kept;
use crate::{
    api::device::Device,
    context::{
        Context, Options,
        adapters::adapters,
        disk::CacheChoice,
        error::Error,
        info::{AdapterKind, Backend, DeviceInfo},
    },
    tune::{tuning::Tuning, tunings::Tunings},
};

/// Variable with a part of an adapter's name, for programs that choose none.
const ADAPTER_VARIABLE: &str = "FUSE_ADAPTER";

/// Options of opening a device. Made by [`Device::builder`].
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `build` or `build_blocking`"]
pub struct DeviceBuilder {
    name: Option<String>,
    kind: Option<AdapterKind>,
    backend: Option<Backend>,
    index: Option<usize>,
    without: Without,
    binding_bytes: Option<u64>,
    budget: Option<u64>,
    checked: bool,
    cache: CacheChoice,
    tuning: Tuning,
    #[cfg(feature = "tune")]
    kept: Option<Kept>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Without {
    f16: bool,
    subgroups: bool,
    cooperative_matrices: bool,
    timestamps: bool,
}

impl DeviceBuilder {
    /// Takes the first adapter whose name contains `part`, ignoring case. Overrides `FUSE_ADAPTER`.
    pub fn adapter(mut self, part: impl Into<String>) -> Self {
        self.name = Some(part.into());
        self
    }

    /// Takes an adapter of this kind.
    pub fn kind(mut self, kind: AdapterKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Restricts the graphics interface.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Takes the adapter at this position of [`Device::adapters`], of the chosen backend.
    pub fn index(mut self, index: usize) -> Self {
        self.index = Some(index);
        self
    }

    /// Opens the device without 16-bit floats.
    pub fn without_f16(mut self) -> Self {
        self.without.f16 = true;
        self
    }

    /// Opens the device without subgroup operations.
    pub fn without_subgroups(mut self) -> Self {
        self.without.subgroups = true;
        self
    }

    /// Opens the device without cooperative matrices.
    pub fn without_cooperative_matrices(mut self) -> Self {
        self.without.cooperative_matrices = true;
        self
    }

    /// Opens the device without timestamps, which makes [`Device::profile`] unavailable.
    pub fn without_timestamps(mut self) -> Self {
        self.without.timestamps = true;
        self
    }

    /// Lowers the limit of bytes per tensor.
    pub fn max_tensor_bytes(mut self, bytes: u64) -> Self {
        self.binding_bytes = Some(bytes);
        self
    }

    /// Limits the bytes of tensors and launches together, idle buffers included.
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// Keeps compiled pipelines in this folder, not in `FUSE_CACHE_DIR` or the platform's.
    pub fn pipeline_cache_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = CacheChoice::Folder(folder.into());
        self
    }

    /// Keeps compiled pipelines in memory only.
    pub fn without_pipeline_cache(mut self) -> Self {
        self.cache = CacheChoice::Off;
        self
    }

    /// Sets the tuning of launches outside of [`Device::with_tuning`].
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning;
        self
    }

    /// Adds the table in this file, written after an earlier [`Device::tune`], if it exists and matches the adapter.
    ///
    /// Damaged or foreign files are ignored; see [`Device::tuning_problem`].
    #[cfg(feature = "tune")]
    pub fn tuning_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.kept = Some(Kept::File(file.into()));
        self
    }

    /// Like [`tuning_file`](Self::tuning_file), with a table's text, as from a browser's local storage.
    ///
    /// Explanations call it `name`. The last call of either method wins.
    #[cfg(feature = "tune")]
    pub fn tuning_text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.kept = Some(Kept::Text { name: name.into(), text: text.into() });
        self
    }

    /// Instruments shaders to check indices, for tests; [`Device::violation`] reports them.
    #[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
    #[doc(hidden)]
    pub fn checked(mut self) -> Self {
        self.checked = true;
        // Instrumented shaders call the kernel as a function: naga treats nothing as uniform after its early return.
        self.without.cooperative_matrices = true;
        self
    }

    /// Opens the device.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if no adapter fits, [`Error::DeviceRequest`] if the driver refuses to open it.
    pub async fn build(self) -> Result<Device, Error> {
        let adapter = self.choose(adapters(self.backend).await)?;
        let info = adapter.get_info();
        let features = adapter.features() & self.features();
        let mut limits = adapter.limits();
        if let Some(bytes) = self.binding_bytes {
            limits.max_storage_buffer_binding_size = limits.max_storage_buffer_binding_size.min(bytes.max(16));
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("fuse"),
            required_features: features,
            required_limits: limits,
            experimental_features: experimental(features),
            // Buffers are pooled: larger blocks would keep memory that the pool has freed.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        #[cfg(not(target_arch = "wasm32"))]
        let request = crate::context::adapters::request_device(&adapter, &descriptor);
        #[cfg(target_arch = "wasm32")]
        let request =
            crate::context::browser::request::request_device(&adapter, &descriptor, self.wanted_of_browsers());
        let (device, queue) = request
            .await
            .map_err(|error| Error::DeviceRequest { adapter: info.name.clone(), reason: error.to_string() })?;
        let mut info = opened(&adapter, &device);
        if let Some(bytes) = self.binding_bytes {
            // Browsers do not lower this limit below WebGPU's default.
            info.limits.binding_bytes = info.limits.binding_bytes.min(bytes.max(16) & !15);
        }
        let options = Options { cache: &self.cache, budget: self.budget, checked: self.checked };
        let tunings = Tunings::new(
            &self.tuning,
            #[cfg(feature = "tune")]
            self.kept.as_ref(),
            &info,
        );
        let context = Context::open((device, queue), info, &adapter.get_info(), &options)?;
        Ok(Device::from_context(context, tunings))
    }

    /// Blocking form of [`build`](Self::build).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn build_blocking(self) -> Result<Device, Error> {
        pollster::block_on(self.build())
    }

    /// Requests matrices only together with `f16`: kernels use them on 16-bit floats only.
    #[cfg(target_arch = "wasm32")]
    fn wanted_of_browsers(&self) -> crate::context::browser::request::AdapterRequest {
        let Without { f16, subgroups, cooperative_matrices, .. } = self.without;
        crate::context::browser::request::AdapterRequest {
            subgroups: !subgroups,
            matrices: !f16 && !cooperative_matrices,
        }
    }

    fn features(&self) -> wgpu::Features {
        let switches = [
            (wgpu::Features::SHADER_F16, self.without.f16),
            (wgpu::Features::SUBGROUP, self.without.subgroups),
            (wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX, self.without.cooperative_matrices),
            (wgpu::Features::TIMESTAMP_QUERY, self.without.timestamps),
            (wgpu::Features::PIPELINE_CACHE, self.cache == CacheChoice::Off),
        ];
        let wanted = switches.iter().filter(|(_, off)| !off);
        wanted.fold(wgpu::Features::empty(), |features, (feature, _)| features | *feature)
    }

    fn choose(&self, all: Vec<wgpu::Adapter>) -> Result<wgpu::Adapter, Error> {
        let from_environment = || named(std::env::var_os(ADAPTER_VARIABLE));
        let unchosen = self.name.is_none() && self.index.is_none() && self.kind.is_none();
        let name = self.name.clone().or_else(|| if unchosen { from_environment() } else { None });
        let described: Vec<DeviceInfo> = all.iter().map(describe).collect();
        let fits = |index: usize, info: &DeviceInfo| {
            self.index.is_none_or(|wanted| wanted == index)
                && self.kind.is_none_or(|kind| kind == info.kind)
                && name.as_ref().is_none_or(|part| info.name.to_ascii_lowercase().contains(&part.to_ascii_lowercase()))
        };
        let best =
            described.iter().enumerate().filter(|(index, info)| fits(*index, info)).min_by_key(|(_, info)| info.kind);
        match best {
            Some((index, _)) => Ok(all[index].clone()),
            None => Err(Error::NoAdapter { wanted: self.wanted(name.as_deref()), found: list(&described) }),
        }
    }

    fn wanted(&self, name: Option<&str>) -> String {
        let parts = [
            name.map(|part| format!("name containing `{part}`")),
            self.kind.map(|kind| format!("kind {}", kind.name())),
            self.backend.map(|backend| format!("backend {}", backend.name())),
            self.index.map(|index| format!("index {index}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "any kind of adapter".to_owned() } else { parts.join(", ") }
    }
}

impl Device {
    /// Opens the adapter that `FUSE_ADAPTER` names in part, else the best: discrete before integrated before software.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if there is none, [`Error::DeviceRequest`] if the driver refuses to open it.
    pub async fn new() -> Result<Self, Error> {
        Self::builder().build().await
    }

    /// Blocking form of [`new`](Self::new).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn blocking() -> Result<Self, Error> {
        Self::builder().build_blocking()
    }

    /// Starts a builder, to choose adapter, features and limits.
    pub fn builder() -> DeviceBuilder {
        DeviceBuilder::default()
    }

    /// Descriptions of all adapters, in the order of [`DeviceBuilder::index`].
    pub async fn adapters() -> Vec<DeviceInfo> {
        adapters(None).await.iter().map(describe).collect()
    }

    /// Opens every adapter.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if there is none, or the first error of opening one.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn all_blocking() -> Result<Vec<Self>, Error> {
        let count = pollster::block_on(Self::adapters()).len();
        (0..count.max(1)).map(|index| Self::builder().index(index).build_blocking()).collect()
    }
}

/// The value, unless empty. If not UTF-8, it matches no adapter, and the error shows it.
fn named(variable: Option<OsString>) -> Option<String> {
    variable.filter(|part| !part.is_empty()).map(|part| part.to_string_lossy().into_owned())
}

fn experimental(features: wgpu::Features) -> wgpu::ExperimentalFeatures {
    if !features.contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX) {
        return wgpu::ExperimentalFeatures::disabled();
    }
    // SAFETY: the permission covers defects of wgpu that could break memory safety in shaders with these features. Our
    // shaders use cooperative matrices in listed sizes, in uniform control flow, inside large enough arrays, and naga
    // has validated them.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

fn list(adapters: &[DeviceInfo]) -> String {
    if adapters.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<String> =
        adapters.iter().map(|info| format!("{} ({}, {})", info.name, info.kind.name(), info.backend.name())).collect();
    names.join(", ")
}

fn describe(adapter: &wgpu::Adapter) -> DeviceInfo {
    DeviceInfo::new(
        &adapter.get_info(),
        adapter.features(),
        &adapter.limits(),
        &adapter.cooperative_matrix_properties(),
    )
}

fn opened(adapter: &wgpu::Adapter, device: &wgpu::Device) -> DeviceInfo {
    #[cfg(not(all(feature = "subgroup-matrix", target_arch = "wasm32")))]
    let matrices = adapter.cooperative_matrix_properties();
    #[cfg(all(feature = "subgroup-matrix", target_arch = "wasm32"))]
    let matrices = crate::context::browser::identity::matrices(device);
    #[cfg(not(target_arch = "wasm32"))]
    let (info, features) = (adapter.get_info(), device.features());
    #[cfg(target_arch = "wasm32")]
    let (info, features) = crate::context::browser::identity::describe(adapter, device);
    DeviceInfo::new(&info, features, &device.limits(), &matrices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_not_utf8_is_not_ignored() {
        assert_eq!([named(None), named(Some("".into()))], [None, None]);
        assert_eq!(named(Some("llvm".into())).as_deref(), Some("llvm"));
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt;

            let part = named(Some(OsString::from_vec(b"nvidia\xff".to_vec()))).unwrap();
            assert_eq!(part, "nvidia\u{fffd}", "no adapter has this in its name, and the error shows it");
        }
    }
}
