//! [`Pipelines`]: compute pipelines by pass.
//!
//! Bind group layouts depend only on uniform block size and buffer writability, so most pipelines share theirs.

use std::{
    borrow::Cow,
    collections::HashMap,
    ptr,
    sync::{Arc, Mutex},
};

use fuse_artifact::{Features, Pass};

use crate::context::{
    callable::{Callable, WeakCallable},
    checked::SharedChecks,
    disk::{CacheChoice, DiskCache},
    error::Error,
    fault::{Fault, scoped},
    info::{Backend, DeviceInfo},
    label::Label,
    lock::lock,
    specialization::Specialization,
};

pub(crate) struct Pipeline {
    pub(crate) id: u64,
    pub(crate) compute: wgpu::ComputePipeline,
    pub(crate) layout: Arc<Layout>,
}

/// Ids are never reused.
pub(crate) struct Layout {
    pub(crate) id: u64,
    pub(crate) group: wgpu::BindGroupLayout,
    /// Bytes of the uniform block, a multiple of 16; 0 for none.
    pub(crate) uniform_bytes: u64,
    pipeline: wgpu::PipelineLayout,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Signature {
    uniform_bytes: u64,
    writable: Vec<bool>,
}

pub(crate) struct Pipelines {
    device: wgpu::Device,
    #[cfg(target_arch = "wasm32")]
    fault: Arc<Fault>,
    browser: bool,
    disk: Option<DiskCache>,
    checks: Option<SharedChecks>,
    state: Mutex<PipelineState>,
}

#[derive(Default)]
struct PipelineState {
    /// By function number (0 for the program's), pass address, and specialization.
    pipelines: HashMap<(u64, usize, Specialization), Arc<Pipeline>>,
    made: HashMap<u64, WeakCallable>,
    /// Pipelines ever made.
    count: u64,
    layouts: HashMap<Signature, Arc<Layout>>,
}

impl Pipelines {
    pub(crate) fn open(
        device: &wgpu::Device,
        #[cfg_attr(not(target_arch = "wasm32"), allow(unused_variables, reason = "errors are there at once"))]
        fault: &Arc<Fault>,
        info: &DeviceInfo,
        adapter: &wgpu::AdapterInfo,
        choice: &CacheChoice,
        checks: Option<SharedChecks>,
    ) -> Self {
        let disk = if info.pipeline_cache { DiskCache::open(device, adapter, choice) } else { None };
        let browser = info.backend == Backend::WebGpu;
        Self {
            device: device.clone(),
            #[cfg(target_arch = "wasm32")]
            fault: Arc::clone(fault),
            browser,
            disk,
            checks,
            state: Mutex::default(),
        }
    }

    /// Compiles a pass on first use. `features` are those of its variant.
    pub(crate) fn get(
        &self,
        (pass, function): (&Pass, Option<&Callable>),
        specialization: Specialization,
        features: Features,
        label: &Label,
    ) -> Result<Arc<Pipeline>, Error> {
        let key = (function.map_or(0, Callable::id), ptr::from_ref(pass).addr(), specialization);
        if let Some(pipeline) = lock(&self.state).pipelines.get(&key) {
            return Ok(Arc::clone(pipeline));
        }
        // Compiled without the lock: other threads can launch. If two compile the same pass, one wins.
        let layout = self.layout(pass, key.2.uniform_bytes(pass))?;
        let compute = self.compile(pass, &key.2, features, &layout, label)?;
        let mut state = lock(&self.state);
        state.count += 1;
        let id = state.count;
        if let Some(function @ Callable::Made(_)) = function {
            state.made.entry(function.id()).or_insert_with(|| function.downgrade());
        }
        Ok(Arc::clone(state.pipelines.entry(key).or_insert_with(|| Arc::new(Pipeline { id, compute, layout }))))
    }

    pub(crate) fn contains(
        &self,
        (pass, function): (&Pass, Option<&Callable>),
        specialization: Specialization,
    ) -> bool {
        let id = function.map_or(0, Callable::id);
        lock(&self.state).pipelines.contains_key(&(id, ptr::from_ref(pass).addr(), specialization))
    }

    /// Drops pipelines of functions that are gone, unless sequences hold them; true if functions were gone.
    pub(crate) fn forget_gone(&self) -> bool {
        let mut state = lock(&self.state);
        let PipelineState { pipelines, made, .. } = &mut *state;
        let before = made.len();
        made.retain(|_, function| !function.is_gone());
        if made.len() == before {
            return false;
        }
        let gone: Vec<_> = pipelines.extract_if(|(id, ..), _| *id != 0 && !made.contains_key(id)).collect();
        drop(state);
        // Outside of the lock, because drivers take their time.
        drop(gone);
        true
    }

    /// Drops specialized pipelines without plan or sequence.
    pub(crate) fn forget_unused(&self) {
        let mut state = lock(&self.state);
        state
            .pipelines
            .retain(|(_, _, specialization), pipeline| !specialization.has_sizes() || Arc::strong_count(pipeline) > 1);
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.state).pipelines.len()
    }

    pub(crate) fn save(&self) -> Result<(), Error> {
        self.disk.as_ref().map_or(Ok(()), DiskCache::save)
    }

    fn compile(
        &self,
        pass: &Pass,
        specialization: &Specialization,
        features: Features,
        layout: &Layout,
        label: &Label,
    ) -> Result<wgpu::ComputePipeline, Error> {
        let text = specialization.text(pass);
        let mut text = source(&text, features, self.browser);
        if let Some(checks) = &self.checks {
            let unchecked = || Error::Pipeline {
                kernel: label.kernel.to_owned(),
                variant: label.variant.to_owned(),
                message: "a checked device runs shaders that check their indices (`Dialect::Checked`)".to_owned(),
            };
            text = checks.numbered(&text, label).ok_or_else(unchecked)?.into();
        }
        let checks = match specialization.bounds_checks() {
            true => wgpu::ShaderRuntimeChecks::checked(),
            false => wgpu::ShaderRuntimeChecks::unchecked(),
        };
        let create = || {
            let source =
                wgpu::ShaderModuleDescriptor { label: Some(label.kernel), source: wgpu::ShaderSource::Wgsl(text) };
            // SAFETY: an unchecked access outside of buffers is undefined behavior. Plans check that every access stays
            // in its tensor for all indices of the domain (`plan::domain`). Coordinates computed by shaders are clamped
            // to the view, which lies in the tensor; in an empty view they or their strides are 0, and buffers of empty
            // tensors have room for any element. Loops are bounded by extents. The indices of `quantizer` depend on
            // shapes alone. `tests/checked` counts indices out of bounds. Browsers keep their own checks.
            let module = unsafe { self.device.create_shader_module_trusted(source, checks) };
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(label.kernel),
                layout: Some(&layout.pipeline),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: self.disk.as_ref().map(DiskCache::cache),
            })
        };
        let Label { kernel, variant, .. } = *label;
        #[cfg(not(target_arch = "wasm32"))]
        {
            let _turn = crate::context::driver_lock::compiling();
            scoped(&self.device, create).map_err(|error| refused(kernel, variant, error))
        }
        #[cfg(target_arch = "wasm32")]
        Ok(self.fault.explained(&self.device, create, move |error| refused(kernel, variant, error)))
    }

    fn layout(&self, pass: &Pass, uniform_bytes: u64) -> Result<Arc<Layout>, Error> {
        let writable = pass.bindings.iter().map(|binding| binding.writable || pass.pins_loads).collect();
        let signature = Signature { uniform_bytes, writable };
        let mut state = lock(&self.state);
        if let Some(layout) = state.layouts.get(&signature) {
            return Ok(Arc::clone(layout));
        }
        let id = state.layouts.len() as u64 + 1;
        let layout =
            Arc::new(scoped(&self.device, || create_layout(&self.device, &signature, id, self.checks.as_ref()))?);
        state.layouts.insert(signature, Arc::clone(&layout));
        Ok(layout)
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        // An unwritten cache only costs time at the next start.
        drop(self.save());
    }
}

fn refused(kernel: &str, variant: &str, error: Error) -> Error {
    match error {
        Error::OutOfMemory { .. } => error,
        error => Error::Pipeline { kernel: kernel.to_owned(), variant: variant.to_owned(), message: error.to_string() },
    }
}

/// Browsers require `enable subgroups`, which naga 30 refuses: it uses the device's feature.
fn source(wgsl: &str, features: Features, browser: bool) -> Cow<'_, str> {
    if !browser || features.subgroups == 0 {
        return wgsl.into();
    }
    format!("enable subgroups;\n{wgsl}").into()
}

/// All sources of a pass that browsers may get, for tests.
pub fn browser_texts(pass: &Pass, features: Features) -> Vec<String> {
    crate::context::specialization::texts(pass, &[])
        .iter()
        .map(|text| source(text, features, true).into_owned())
        .collect()
}

fn create_layout(device: &wgpu::Device, signature: &Signature, id: u64, checks: Option<&SharedChecks>) -> Layout {
    let entry = |binding: usize, ty, has_dynamic_offset, min_binding_size| wgpu::BindGroupLayoutEntry {
        binding: binding as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size },
        count: None,
    };
    let uniform = wgpu::BufferSize::new(signature.uniform_bytes)
        .map(|bytes| entry(0, wgpu::BufferBindingType::Uniform, true, Some(bytes)));
    let storage = signature
        .writable
        .iter()
        .enumerate()
        .map(|(i, writable)| entry(i + 1, wgpu::BufferBindingType::Storage { read_only: !writable }, false, None));
    let entries: Vec<_> = uniform.into_iter().chain(storage).collect();
    let group = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let groups: Vec<_> = std::iter::once(&group).chain(checks.map(|checks| checks.layout())).map(Some).collect();
    let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    });
    Layout { id, group, uniform_bytes: signature.uniform_bytes, pipeline }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_browsers_read_that_subgroups_are_enabled() {
        let features = |subgroups| Features { f16: true, subgroups, ..Features::default() };
        assert_eq!(source("enable f16;", features(8), true), "enable subgroups;\nenable f16;");
        assert_eq!(source("enable f16;", features(8), false), "enable f16;");
        assert_eq!(source("enable f16;", features(0), true), "enable f16;");
    }
}
