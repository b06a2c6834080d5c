//! Descriptions of adapters: features and limits.

use std::fmt;

use fuse_artifact::{COOP_MATRIX_SUBGROUP, Features};

use crate::context::{hardware::Hardware, vendors::vendor_name};

#[cfg(target_arch = "wasm32")]
use crate::context::browser::identity::has_packed_dot;

/// The graphics interface behind a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Vulkan.
    Vulkan,
    /// Metal.
    Metal,
    /// DirectX 12.
    Dx12,
    /// The browser's WebGPU.
    WebGpu,
    /// Another interface of wgpu.
    Other,
}

impl Backend {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vulkan => "Vulkan",
            Self::Metal => "Metal",
            Self::Dx12 => "DirectX 12",
            Self::WebGpu => "WebGPU",
            Self::Other => "other",
        }
    }

    pub(crate) fn mask(self) -> wgpu::Backends {
        match self {
            Self::Vulkan => wgpu::Backends::VULKAN,
            Self::Metal => wgpu::Backends::METAL,
            Self::Dx12 => wgpu::Backends::DX12,
            Self::WebGpu => wgpu::Backends::BROWSER_WEBGPU,
            Self::Other => wgpu::Backends::GL,
        }
    }
}

/// The kind of processor behind an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A virtual machine's GPU, or one of unreported kind.
    Other,
    /// A rasterizer on the CPU.
    Software,
}

impl AdapterKind {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Other => "other",
            Self::Software => "software",
        }
    }
}

/// Limits of a device that constrain launches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the largest buffer.
    pub buffer_bytes: u64,
    /// Bytes of the largest tensor that a kernel can read or write.
    pub binding_bytes: u64,
    /// Storage buffers of one kernel.
    pub storage_bindings: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Workgroups along one dimension of a dispatch.
    pub workgroups_per_dimension: u32,
    /// Bytes of a uniform block.
    pub uniform_bytes: u64,
    /// Alignment of uniform blocks.
    pub uniform_alignment: u32,
}

impl From<&wgpu::Limits> for Limits {
    fn from(limits: &wgpu::Limits) -> Self {
        Self {
            buffer_bytes: limits.max_buffer_size,
            // A multiple of a vector, so that a buffer may be as large as its tensor.
            binding_bytes: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15,
            storage_bindings: limits.max_storage_buffers_per_shader_stage,
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            workgroup_invocations: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            uniform_bytes: limits.max_uniform_buffer_binding_size,
            uniform_alignment: limits.min_uniform_buffer_offset_alignment,
        }
    }
}

/// Description of a device: names, features and limits. `Display` prints it over several lines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The adapter's name; may be empty in browsers.
    pub name: String,
    /// The graphics interface.
    pub backend: Backend,
    /// The vendor, where known.
    pub vendor: String,
    /// The kind of processor.
    pub kind: AdapterKind,
    /// The driver and its version, where known.
    pub driver: String,
    /// The features that kernels may use.
    pub features: Features,
    /// Support of timestamps, for `Device::profile`.
    pub timestamps: bool,
    /// Support of compiled pipelines on disk.
    pub pipeline_cache: bool,
    /// The device's limits.
    pub limits: Limits,
    /// Figures of a table in effect.
    pub(crate) hardware: Option<Hardware>,
}

impl DeviceInfo {
    pub(crate) fn new(
        info: &wgpu::AdapterInfo,
        features: wgpu::Features,
        limits: &wgpu::Limits,
        matrices: &[wgpu::CooperativeMatrixProperties],
    ) -> Self {
        Self {
            name: info.name.clone(),
            backend: match info.backend {
                wgpu::Backend::Vulkan => Backend::Vulkan,
                wgpu::Backend::Metal => Backend::Metal,
                wgpu::Backend::Dx12 => Backend::Dx12,
                wgpu::Backend::BrowserWebGpu => Backend::WebGpu,
                _ => Backend::Other,
            },
            vendor: vendor_name(info.vendor),
            kind: match info.device_type {
                wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
                wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
                wgpu::DeviceType::Cpu => AdapterKind::Software,
                wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => AdapterKind::Other,
            },
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            features: Features {
                f16: features.contains(wgpu::Features::SHADER_F16),
                // Drivers that report nothing may use subgroups of any size.
                subgroups: if features.contains(wgpu::Features::SUBGROUP) { info.subgroup_min_size.max(1) } else { 0 },
                coop_matrix: matrix_size(info, features, matrices),
                int8_activations: has_packed_dot(),
            },
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE),
            limits: limits.into(),
            hardware: None,
        }
    }
}

/// Natively naga emulates packed integer products where drivers lack them.
#[cfg(not(target_arch = "wasm32"))]
const fn has_packed_dot() -> bool {
    true
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes = |flag| if flag { "yes" } else { "no" };
        let coop_matrix = match self.features.coop_matrix {
            0 => "no".to_owned(),
            size => format!("{size}x{size}"),
        };
        writeln!(f, "{} ({}, {}, {})", self.name, self.vendor, self.kind.name(), self.backend.name())?;
        writeln!(f, "driver: {}", self.driver)?;
        writeln!(
            f,
            "f16: {}, smallest subgroup: {}, cooperative matrices: {}, timestamps: {}, pipeline cache: {}",
            yes(self.features.f16),
            self.features.subgroups,
            coop_matrix,
            yes(self.timestamps),
            yes(self.pipeline_cache),
        )?;
        write!(
            f,
            "largest tensor: {} MiB, workgroup memory: {} KiB, invocations: {}, storage bindings: {}",
            self.limits.binding_bytes >> 20,
            self.limits.workgroup_bytes >> 10,
            self.limits.workgroup_invocations,
            self.limits.storage_bindings,
        )
    }
}

/// Largest usable cooperative matrix, or 0: square, `f16` with `f32` accumulators, in subgroups of the fixed size that
/// shaders assume.
fn matrix_size(
    info: &wgpu::AdapterInfo,
    features: wgpu::Features,
    matrices: &[wgpu::CooperativeMatrixProperties],
) -> u32 {
    use wgpu::CooperativeScalarType::{F16, F32};
    let needed =
        wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX | wgpu::Features::SUBGROUP | wgpu::Features::SHADER_F16;
    let subgroup = [info.subgroup_min_size, info.subgroup_max_size];
    if !features.contains(needed) || subgroup != [COOP_MATRIX_SUBGROUP; 2] {
        return 0;
    }
    let usable = matrices.iter().filter(|listed| (listed.ab_type, listed.cr_type) == (F16, F32));
    // WGSL has these two sizes.
    let square = |size: u32| usable.clone().any(|m| [m.m_size, m.n_size, m.k_size] == [size; 3]);
    [16, 8].into_iter().find(|size| square(*size)).unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tune::built_in::built_in;

    pub(crate) fn device_info(kind: AdapterKind, subgroups: u32) -> DeviceInfo {
        DeviceInfo {
            name: "imagined".into(),
            backend: Backend::Other,
            vendor: String::new(),
            kind,
            driver: String::new(),
            features: Features { f16: true, subgroups, ..Features::default() },
            timestamps: false,
            pipeline_cache: false,
            limits: Limits {
                buffer_bytes: 1 << 33,
                binding_bytes: 1 << 32,
                storage_bindings: 16,
                workgroup_bytes: 48 << 10,
                workgroup_invocations: 1024,
                workgroups_per_dimension: 65535,
                uniform_bytes: 1 << 16,
                uniform_alignment: 64,
            },
            hardware: None,
        }
    }

    pub(crate) fn fitted_to(kind: AdapterKind) -> DeviceInfo {
        let table = built_in(|table| table.name() == "nvidia-hopper").next().expect("the H200's table");
        DeviceInfo { hardware: table.hardware().filter(|_| kind == AdapterKind::Discrete), ..device_info(kind, 32) }
    }

    #[test]
    fn descriptions_name_the_smallest_subgroup() {
        let text = device_info(AdapterKind::Discrete, 32).to_string();
        assert!(text.starts_with("imagined") && text.contains("smallest subgroup: 32"), "{text}");
    }
}
