//! Hand-written wgpu without this project: opens adapters, creates buffers, pipelines and bind groups.

use std::borrow::Cow;

pub(crate) struct Opened {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
}

impl Opened {
    /// Opens the adapter of this name with all its limits, and those of `features` that it has.
    pub(crate) fn adapter(name: &str, features: wgpu::Features) -> Result<Self, Box<dyn std::error::Error>> {
        pollster::block_on(async {
            let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
            let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
            let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name);
            let adapter = adapter.ok_or_else(|| format!("adapter `{name}` is gone"))?;
            let required_features = adapter.features() & features;
            let descriptor = wgpu::DeviceDescriptor {
                required_features,
                required_limits: adapter.limits(),
                experimental_features: experimental(required_features),
                ..Default::default()
            };
            let (device, queue) = adapter.request_device(&descriptor).await?;
            Ok(Self { device, queue })
        })
    }

    pub(crate) fn storage(&self, size: u64) -> wgpu::Buffer {
        self.buffer(size, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST)
    }

    pub(crate) fn uniform(&self, size: u64) -> wgpu::Buffer {
        self.buffer(size, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST)
    }

    fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }

    /// Without a layout, the shader's own.
    pub(crate) fn pipeline(&self, wgsl: &str, layout: Option<&wgpu::BindGroupLayout>) -> wgpu::ComputePipeline {
        let source = wgpu::ShaderSource::Wgsl(Cow::Borrowed(wgsl));
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let layout = layout.map(|layout| {
            self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(layout)],
                immediate_size: 0,
            })
        });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: layout.as_ref(),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    }

    pub(crate) fn bind(&self, layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    pub(crate) fn run(&self, pipeline: &wgpu::ComputePipeline, group: &wgpu::BindGroup, grid: [u32; 2], launches: u32) {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        for _ in 0..launches {
            pass.dispatch_workgroups(grid[0], grid[1], 1);
        }
        drop(pass);
        self.queue.submit([encoder.finish()]);
        self.wait();
    }

    pub(crate) fn wait(&self) {
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
    }

    /// NaN if the driver cannot map.
    pub(crate) fn read(&self, buffer: &wgpu::Buffer, count: usize) -> Vec<f32> {
        let bytes = count as u64 * 4;
        let staging = self.buffer(bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, bytes);
        self.queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |_| {});
        self.wait();
        staging.get_mapped_range(..).map_or_else(|_| vec![f32::NAN; count], |view| bytemuck::pod_collect_to_vec(&view))
    }
}

fn experimental(features: wgpu::Features) -> wgpu::ExperimentalFeatures {
    if !features.contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX) {
        return wgpu::ExperimentalFeatures::disabled();
    }
    // SAFETY: the token acknowledges that defects of wgpu could break memory safety in shaders with these features. The
    // only such shader is that of `by_hand_texts::matrices`: it loads and stores whole matrices inside arrays with room
    // for them, in uniform control flow, in a size that the adapter lists.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}
