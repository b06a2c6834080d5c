//! What the adapter itself reaches: a copy kernel written by hand, without any of this project.

use std::{borrow::Cow, cell::Cell};

use crate::{
    cases::A,
    measure::{Effort, measure},
    report::Row,
};

/// The case's name in reports.
pub(crate) const NAME: &str = "copy, by hand";

/// One `vec4` per invocation: what every large pointwise kernel is compared with.
const WGSL: &str = "
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let i = (id.x + id.y * n.x) * 256u + local;
    if (i < arrayLength(&y)) { y[i] = x[i]; }
}";

/// Measures the copy of `elements` values of `f32` on the adapter with this name.
pub(crate) fn copy(
    adapter: &str,
    elements: usize,
    size: String,
    effort: Effort,
) -> Result<Row, Box<dyn std::error::Error>> {
    let (device, queue) = pollster::block_on(open(adapter))?;
    let bytes = elements as u64 * 4;
    let pipeline = pipeline(&device);
    let buffers = [buffer(&device, bytes), buffer(&device, bytes)];
    queue.write_buffer(&buffers[0], 0, bytemuck::cast_slice(&A.vec::<f32>(elements)));
    let bindings = bind(&device, &pipeline, &buffers);
    let workgroups = (elements as u32).div_ceil(4 * 256);
    let grid = (workgroups.min(32_768), workgroups.div_ceil(32_768));

    // Launches are counted, and recorded into one pass when the batch is waited for.
    let queued = Cell::new(0);
    let launch = || {
        queued.set(queued.get() + 1);
        Ok(())
    };
    let wait = || {
        let mut commands = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = commands.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        for _ in 0..queued.take() {
            pass.dispatch_workgroups(grid.0, grid.1, 1);
        }
        drop(pass);
        queue.submit([commands.finish()]);
        let _ = device.poll(wgpu::PollType::wait_indefinitely());
        Ok(())
    };
    let times = measure(effort, launch, wait)?;
    let row = Row {
        case: NAME.to_owned(),
        size,
        variant: "vec4".to_owned(),
        alternative: None,
        picked: false,
        times,
        gpu: None,
        flops: 0.0,
        bytes: 2.0 * bytes as f64,
        tokens: 0.0,
        error: 0.0,
    };
    Ok(row)
}

pub(crate) async fn open(name: &str) -> Result<(wgpu::Device, wgpu::Queue), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name);
    let adapter = adapter.ok_or_else(|| format!("adapter `{name}` is gone"))?;
    let descriptor = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    Ok(adapter.request_device(&descriptor).await?)
}

fn pipeline(device: &wgpu::Device) -> wgpu::ComputePipeline {
    let descriptor =
        wgpu::ShaderModuleDescriptor { label: Some("copy"), source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(WGSL)) };
    let module = device.create_shader_module(descriptor);
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("copy"),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}

pub(crate) fn buffer(device: &wgpu::Device, size: u64) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

fn bind(device: &wgpu::Device, pipeline: &wgpu::ComputePipeline, buffers: &[wgpu::Buffer]) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let layout = pipeline.get_bind_group_layout(0);
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries })
}
