//! Peak rates: bandwidth and arithmetic of hand-written kernels, with plain wgpu.

use std::{cell::Cell, error::Error};

use fuse_bench_results::line::{self, OURS, Time};
use fuse_gpu::f16;

use crate::{
    by_hand_texts::{self, Arithmetic, FACTOR, HALVES},
    data::A,
    measure::{Effort, Times, measure, micros},
    plain_wgpu::Opened,
};

pub(crate) fn copy(adapter: &str, elements: usize, size: String, effort: Effort) -> Result<Time, Box<dyn Error>> {
    let opened = Opened::adapter(adapter, wgpu::Features::empty())?;
    let bytes = elements as u64 * 4;
    let buffers = [opened.storage(bytes), opened.storage(bytes)];
    opened.queue.write_buffer(&buffers[0], 0, bytemuck::cast_slice(&A.vec::<f32>(elements)));
    let workgroups = (elements as u32).div_ceil(4 * 256);
    let grid = [workgroups.min(32_768), workgroups.div_ceil(32_768)];
    let times = run(&opened, by_hand_texts::COPY, &buffers, grid, effort)?;
    Ok(Time {
        way: OURS.to_owned(),
        case: line::COPY.to_owned(),
        dtype: "f32".to_owned(),
        size,
        variant: Some("vec4".to_owned()),
        alternative: None,
        picked: true,
        median_us: micros(times.median),
        min_us: micros(times.min),
        max_us: micros(times.max),
        gpu_us: None,
        batches: effort.batches,
        launches_per_batch: times.launches,
        flops: 0.0,
        bytes: 2.0 * bytes as f64,
        tokens: 0.0,
        of_roof: None,
        error_over_bound: None,
    })
}

/// TFLOP/s of `f32` multiply-adds; `quick` is short enough for software drivers.
pub(crate) fn floats(adapter: &str, quick: bool, effort: Effort) -> Result<f64, Box<dyn Error>> {
    let opened = Opened::adapter(adapter, wgpu::Features::empty())?;
    let (workgroups, iterations) = if quick { (64, 8) } else { (8192, 64) };
    let input = opened.storage(size_of_val(&HALVES) as u64);
    opened.queue.write_buffer(&input, 0, bytemuck::cast_slice(&HALVES));
    rate(&opened, &by_hand_texts::floats(iterations), input, workgroups, effort)
}

/// TFLOP/s of `f16` products of `size` × `size` matrices, on an adapter that lists them.
pub(crate) fn matrices(adapter: &str, size: u32, effort: Effort) -> Result<f64, Box<dyn Error>> {
    let features =
        wgpu::Features::SHADER_F16 | wgpu::Features::SUBGROUP | wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
    let opened = Opened::adapter(adapter, features)?;
    let values = vec![f16::from_f32(FACTOR); by_hand_texts::factors(size) as usize];
    let input = opened.storage(size_of_val(&*values) as u64);
    opened.queue.write_buffer(&input, 0, bytemuck::cast_slice(&values));
    rate(&opened, &by_hand_texts::matrices(size, 256), input, 1056, effort)
}

fn rate(
    opened: &Opened,
    kernel: &Arithmetic,
    input: wgpu::Buffer,
    workgroups: u32,
    effort: Effort,
) -> Result<f64, Box<dyn Error>> {
    let count = kernel.values * u64::from(workgroups);
    let buffers = [input, opened.storage(count * 4)];
    let times = run(opened, &kernel.wgsl, &buffers, [workgroups, 1], effort)?;
    let values = opened.read(&buffers[1], count as usize);
    match values.iter().position(|&value| value != kernel.expected) {
        None => Ok(kernel.flops * f64::from(workgroups) / times.median.as_secs_f64() / 1e12),
        Some(index) => {
            let (found, expected) = (values[index], kernel.expected);
            Err(format!("arithmetic by hand gives {found} at {index}, expected {expected}").into())
        }
    }
}

fn run(
    opened: &Opened,
    wgsl: &str,
    buffers: &[wgpu::Buffer; 2],
    grid: [u32; 2],
    effort: Effort,
) -> Result<Times, fuse_gpu::Error> {
    let pipeline = opened.pipeline(wgsl, None);
    let group = opened.bind(&pipeline.get_bind_group_layout(0), &[&buffers[0], &buffers[1]]);
    // Only counts: waiting records all into one pass.
    let queued = Cell::new(0);
    let launch = || {
        queued.set(queued.get() + 1);
        Ok(())
    };
    let wait = || {
        opened.run(&pipeline, &group, grid, queued.take());
        Ok(())
    };
    measure(effort, launch, wait)
}
