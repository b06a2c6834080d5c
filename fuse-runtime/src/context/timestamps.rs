//! [`Log`]: timestamps around the dispatches of a profile.

use crate::context::{label::Label, step::Step};

/// Two timestamps per dispatch, at most 4096 queries per set.
pub(crate) const DISPATCHES_PER_SET: usize = 2048;

#[derive(Default)]
pub(crate) struct Log {
    pub(crate) sets: Vec<wgpu::QuerySet>,
    /// First dispatch of each pass.
    pub(crate) dispatches: Vec<(Label, u32)>,
    /// Dispatches share passes, as they do unprofiled.
    pub(crate) shares_passes: bool,
}

impl Log {
    pub(crate) fn start(&mut self, device: &wgpu::Device, step: &Step) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let index = self.dispatches.len() % DISPATCHES_PER_SET;
        if index == 0 {
            self.sets.push(device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2 * DISPATCHES_PER_SET as u32,
            }));
        }
        self.dispatches.push((step.label, step.filled.workgroups));
        Some(wgpu::ComputePassTimestampWrites {
            query_set: self.sets.last()?,
            beginning_of_pass_write_index: Some(2 * index as u32),
            end_of_pass_write_index: Some(2 * index as u32 + 1),
        })
    }
}
