//! The counter of indices out of bounds.

use std::sync::{Arc, Mutex};

use fuse_artifact::constants::{FIRST_PLACE, INDEX_PLACE, declaration};

use crate::context::{error::Error, fault::scoped, label::Label, lock::lock, poll::poll};

/// Words of the counter: number of offending invocations; place, index and length for one of them.
const WORDS: u64 = 4;

/// Bound as group 1 of every dispatch.
#[derive(Debug)]
pub(crate) struct Checks {
    buffer: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    group: wgpu::BindGroup,
    /// Places by the number that shaders know.
    places: Mutex<Vec<String>>,
}

pub(crate) type SharedChecks = Arc<Checks>;

impl Checks {
    pub(crate) fn open(device: &wgpu::Device, wanted: bool) -> Result<Option<SharedChecks>, Error> {
        if wanted { scoped(device, || Self::new(device)).map(Arc::new).map(Some) } else { Ok(None) }
    }

    fn new(device: &wgpu::Device) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("violations"),
            size: WORDS * 4,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let ty = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let entry = wgpu::BindGroupLayoutEntry { binding: 0, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None };
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &[entry] };
        let layout = device.create_bind_group_layout(&descriptor);
        let entries = [wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }];
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
        let group = device.create_bind_group(&descriptor);
        Self { buffer, layout, group, places: Mutex::default() }
    }

    /// The shader with its places numbered; `None` if it does not check indices.
    pub(crate) fn numbered(&self, text: &str, label: &Label) -> Option<String> {
        let declared = declaration(FIRST_PLACE, "0u");
        let Label { kernel, variant, pass, .. } = label;
        let mut places = lock(&self.places);
        let first = declaration(FIRST_PLACE, format_args!("{}u", places.len()));
        let found = text.lines().filter_map(|line| line.strip_prefix(INDEX_PLACE));
        places.extend(found.map(|place| format!("kernel `{kernel}`, variant `{variant}`, pass {pass}: {place}")));
        text.contains(&declared).then(|| text.replacen(&declared, &first, 1))
    }

    pub(crate) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    pub(crate) fn group(&self) -> &wgpu::BindGroup {
        &self.group
    }

    /// An index out of bounds since the last call, as text.
    pub(crate) fn violation(&self, wgpu: &wgpu::Device, queue: &wgpu::Queue) -> Result<Option<String>, Error> {
        let staging = wgpu.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: WORDS * 4,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = wgpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&self.buffer, 0, &staging, 0, WORDS * 4);
        encoder.clear_buffer(&self.buffer, 0, None);
        queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |_| {});
        poll(wgpu, wgpu::PollType::wait_indefinitely());
        let unread = |_| Error::Readback { message: "the driver did not map the counter".into() };
        let view = staging.get_mapped_range(..).map_err(unread)?;
        let [count, place, index, length]: [u32; WORDS as usize] = std::array::from_fn(|i| {
            u32::from_ne_bytes([view[4 * i], view[4 * i + 1], view[4 * i + 2], view[4 * i + 3]])
        });
        let places = lock(&self.places);
        let place = places.get(place as usize).map_or("an unknown place", String::as_str);
        Ok((count > 0).then(|| format!("{count} invocations left an array, one in {place}: index {index} of {length}")))
    }
}
