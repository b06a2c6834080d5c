//! Bind groups, kept by layout and buffers.
//!
//! Two generations bound the cache: a hit in the older one moves to the newer; when the newer is full, it becomes the
//! older and the rest is dropped. So what is in use stays, at constant cost per lookup.

use std::collections::HashMap;

use crate::{pipeline::Layout, plan::MAX_BINDINGS, record::Buffers};

/// Bind groups of one generation.
const GENERATION: usize = 1024;

/// Layout id and buffer ids; 0 for none.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    layout: u64,
    buffers: [u64; MAX_BINDINGS],
}

/// The bind groups of a device.
#[derive(Default)]
pub(crate) struct BindGroups {
    young: HashMap<Key, wgpu::BindGroup>,
    old: HashMap<Key, wgpu::BindGroup>,
}

impl BindGroups {
    /// The bind group of these buffers: binding 0 is a block of `arena` at a dynamic offset.
    pub(crate) fn get(
        &mut self,
        device: &wgpu::Device,
        layout: &Layout,
        arena: &wgpu::Buffer,
        buffers: &Buffers<'_>,
    ) -> &wgpu::BindGroup {
        let key = Key { layout: layout.id, buffers: buffers.map(|storage| storage.map_or(0, |storage| storage.id)) };
        if self.young.len() >= GENERATION && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        let old = &mut self.old;
        self.young
            .entry(key)
            .or_insert_with(|| old.remove(&key).unwrap_or_else(|| create(device, layout, arena, buffers)))
    }

    pub(crate) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

fn create(device: &wgpu::Device, layout: &Layout, arena: &wgpu::Buffer, buffers: &Buffers<'_>) -> wgpu::BindGroup {
    let uniform = wgpu::BufferSize::new(layout.uniform_bytes).map(|bytes| wgpu::BindGroupEntry {
        binding: 0,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: arena, offset: 0, size: Some(bytes) }),
    });
    let storage = buffers.iter().flatten().enumerate().map(|(i, storage)| wgpu::BindGroupEntry {
        binding: i as u32 + 1,
        resource: storage.buffer.as_entire_binding(),
    });
    let entries: Vec<_> = uniform.into_iter().chain(storage).collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout.group, entries: &entries })
}
