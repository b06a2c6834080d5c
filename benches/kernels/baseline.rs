//! What the adapter itself reaches: a copy kernel written by hand, without any of this project.

use std::cell::Cell;

use crate::{
    data::A,
    measure::{Effort, measure},
    plain_wgpu::Opened,
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
    let opened = Opened::adapter(adapter, wgpu::Features::empty())?;
    let bytes = elements as u64 * 4;
    let pipeline = opened.pipeline(WGSL, None);
    let buffers = [opened.storage(bytes), opened.storage(bytes)];
    opened.queue.write_buffer(&buffers[0], 0, bytemuck::cast_slice(&A.vec::<f32>(elements)));
    let group = opened.bind(&pipeline.get_bind_group_layout(0), &[&buffers[0], &buffers[1]]);
    let workgroups = (elements as u32).div_ceil(4 * 256);
    let grid = [workgroups.min(32_768), workgroups.div_ceil(32_768)];

    // Launches are counted, and recorded into one pass when the batch is waited for.
    let queued = Cell::new(0);
    let launch = || {
        queued.set(queued.get() + 1);
        Ok(())
    };
    let wait = || {
        opened.run(&pipeline, &group, grid, queued.take());
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
