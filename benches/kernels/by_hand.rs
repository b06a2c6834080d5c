//! Hand-written wgpu dispatch: the baseline of the host's launch cost.
//!
//! It binds what a launch of `relu(x + b)` binds: a uniform block at a dynamic offset, two operands, a result. A
//! submission has as many dispatches as the runtime's longest batch.

use crate::plain_wgpu::Opened;

const WGSL: &str = "
struct Words { workgroups: u32, count: u32 }
@group(0) @binding(0) var<uniform> u: Words;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < u.count) { y[id.x] = max(x[id.x] + b[id.x], 0.0); }
}";

const BATCH: u32 = 128;

pub(crate) struct ByHand {
    // Dropped before its encoder, since dropping ends the pass.
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: Option<wgpu::CommandEncoder>,
    recorded: u32,
    workgroups: u32,
    pipeline: wgpu::ComputePipeline,
    /// From the first buffer to the second, and back.
    groups: [wgpu::BindGroup; 2],
    buffers: [wgpu::Buffer; 2],
    opened: Opened,
}

impl ByHand {
    /// Vectors of `elements` values: `x` of zeros, `b` of ones.
    pub(crate) fn new(adapter: &str, elements: u32) -> Result<Self, Box<dyn std::error::Error>> {
        let opened = Opened::adapter(adapter, wgpu::Features::empty())?;
        let bytes = u64::from(elements) * 4;
        let workgroups = elements.div_ceil(64);
        let layout = layout(&opened.device);
        let pipeline = opened.pipeline(WGSL, Some(&layout));
        let buffers = [opened.storage(bytes), opened.storage(bytes)];
        let (ones, words) = (opened.storage(bytes), opened.uniform(16));
        opened.queue.write_buffer(&ones, 0, bytemuck::cast_slice(&vec![1f32; elements as usize]));
        opened.queue.write_buffer(&words, 0, bytemuck::cast_slice(&[workgroups, elements, 0, 0]));
        let group = |from, to| opened.bind(&layout, &[&words, from, &ones, to]);
        let groups = [group(&buffers[0], &buffers[1]), group(&buffers[1], &buffers[0])];
        let (pass, encoder, recorded) = (None, None, 0);
        Ok(Self { pass, encoder, recorded, workgroups, pipeline, groups, buffers, opened })
    }

    pub(crate) fn dispatch(&mut self, back: bool) {
        if self.recorded == BATCH {
            self.submit();
        }
        let Self { pass, encoder, opened, pipeline, .. } = self;
        let pass = pass.get_or_insert_with(|| {
            let encoder = encoder.get_or_insert_with(|| {
                opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
            });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime();
            pass.set_pipeline(pipeline);
            pass
        });
        pass.set_bind_group(0, &self.groups[usize::from(back)], &[0]);
        pass.dispatch_workgroups(self.workgroups, 1, 1);
        self.recorded += 1;
    }

    pub(crate) fn submit(&mut self) {
        self.pass = None;
        self.recorded = 0;
        if let Some(encoder) = self.encoder.take() {
            self.opened.queue.submit([encoder.finish()]);
        }
    }

    pub(crate) fn wait(&mut self) {
        self.submit();
        self.opened.wait();
    }

    pub(crate) fn first(&mut self) -> f32 {
        self.submit();
        self.opened.read(&self.buffers[0], 1)[0]
    }
}

fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: wgpu::BufferSize::new(16) },
        count: None,
    };
    let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
    let entries = [
        entry(0, wgpu::BufferBindingType::Uniform, true),
        entry(1, storage(true), false),
        entry(2, storage(true), false),
        entry(3, storage(false), false),
    ];
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
}
