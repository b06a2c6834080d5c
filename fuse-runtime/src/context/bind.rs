//! Cache of bind groups, by layout and buffers.
//!
//! Two generations bound it: a hit in the older one moves to the newer; a full newer one replaces the older. Groups in
//! use stay, at constant cost per lookup.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash, Hasher},
};

use crate::context::{pipeline::Layout, pool::Storage};

/// Limit of storage buffers of a pass on any adapter.
pub(crate) const MAX_BINDINGS: usize = 16;

pub(crate) type Buffers<'a> = [Option<&'a Storage>; MAX_BINDINGS];

const GENERATION: usize = 1024;

/// Layout id and buffer ids; 0 for none.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    layout: u64,
    buffers: [u64; MAX_BINDINGS],
}

impl Key {
    fn new(layout: &Layout, buffers: &Buffers<'_>) -> Self {
        Self { layout: layout.id, buffers: buffers.map(|storage| storage.map_or(0, |storage| storage.id)) }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.layout);
        self.buffers.iter().filter(|id| **id != 0).for_each(|id| state.write_u64(*id));
    }
}

/// The standard hasher added 0.05 µs to a launch of 0.37. Ids count upwards: nobody can make them collide.
#[derive(Default)]
struct Ids(u64);

impl Hasher for Ids {
    fn write_u64(&mut self, id: u64) {
        // 2⁶⁴ divided by the golden ratio: odd, without a pattern.
        self.0 = (self.0.rotate_left(5) ^ id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn finish(&self) -> u64 {
        // Hash tables use the lowest and highest bits; products spread upwards only.
        self.0 ^ self.0 >> 32
    }
}

type Groups = HashMap<Key, wgpu::BindGroup, BuildHasherDefault<Ids>>;

#[derive(Default)]
pub(crate) struct BindGroups {
    young: Groups,
    old: Groups,
}

impl BindGroups {
    /// Binding 0 is a block of `arena` at a dynamic offset.
    pub(crate) fn get(
        &mut self,
        device: &wgpu::Device,
        layout: &Layout,
        arena: &wgpu::Buffer,
        buffers: &Buffers<'_>,
    ) -> &wgpu::BindGroup {
        let key = Key::new(layout, buffers);
        if self.young.len() >= GENERATION && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        let old = &mut self.old;
        self.young
            .entry(key)
            .or_insert_with(|| old.remove(&key).unwrap_or_else(|| create(device, layout, arena, buffers)))
    }

    /// The group in the newer generation, where [`get`](Self::get) would find it.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn find(&self, layout: &Layout, buffers: &Buffers<'_>) -> Option<&wgpu::BindGroup> {
        self.young.get(&Key::new(layout, buffers))
    }

    pub(crate) fn forget(&mut self, gone: &[u64]) {
        if !gone.is_empty() {
            for groups in [&mut self.young, &mut self.old] {
                groups.retain(|key, _| !key.buffers.iter().any(|id| gone.contains(id)));
            }
        }
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

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, hash::BuildHasher};

    use super::*;

    fn hash(layout: u64, ids: &[u64]) -> u64 {
        let mut buffers = [0; MAX_BINDINGS];
        buffers[..ids.len()].copy_from_slice(ids);
        BuildHasherDefault::<Ids>::default().hash_one(Key { layout, buffers })
    }

    #[test]
    fn hashes_of_ids_that_count_upwards_spread() {
        let mut hashes = vec![];
        for layout in 1..=4 {
            for x in 0..16 {
                hashes.extend((0..16).map(|y| hash(layout, &[100 + x, 1000 + y, 7])));
            }
        }
        let distinct = |of: &dyn Fn(u64) -> u64| hashes.iter().map(|hash| of(*hash)).collect::<HashSet<_>>().len();
        assert_eq!((hashes.len(), distinct(&|hash| hash)), (1024, 1024));
        // 1024 balls fill 647 of as many boxes on average.
        let low = distinct(&|hash| hash % 1024);
        assert!(low > 580, "{low} of 1024 places");
        assert_eq!(distinct(&|hash| hash >> 57), 128, "of the 7 bits that tell entries of a place apart");
    }

    #[test]
    fn what_is_bound_where_tells_groups_apart() {
        let hashes = [hash(1, &[2, 3]), hash(1, &[3, 2]), hash(2, &[2, 3]), hash(1, &[2, 3, 4]), hash(1, &[2])];
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), hashes.len());
    }
}
