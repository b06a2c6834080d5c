//! Invariants of kernels, checked after emission:
//!
//! 1. The last variant has no requirements, so every shape can run.
//! 2. Workgroups have at most 1024 invocations; the last variant's at most 256, with 16 KiB of workgroup memory, as on
//!    every WebGPU adapter.
//! 3. A pass binds at most 16 storage buffers, each once, and writes its writable ones. A kernel without alternative
//!    binds at most 8, by the planner.
//! 4. Requirements and uniform words name existing accesses and axes.

use std::collections::BTreeSet;

use fuse_artifact::{Kernel, Require, Uniform};

/// Maximum storage buffers per pass on large adapters; the launch checks the device's limit.
const MAX_STORAGE_BUFFERS: usize = 16;

/// Returns the violated invariants.
pub fn verify(kernel: &Kernel) -> Vec<String> {
    let mut errors = vec![];
    let Some(last) = kernel.variants.last() else { return vec![format!("{} has no variant", kernel.name)] };
    if !last.requires.is_empty() {
        errors.push(format!("{}: the last variant {} has requirements", kernel.name, last.name));
    }
    for pass in last.passes.iter().filter(|pass| pass.workgroup_size > 256 || pass.workgroup_bytes > 16 * 1024) {
        errors.push(format!("{}: {} needs {} B of workgroup memory", kernel.name, last.name, pass.workgroup_bytes));
    }
    let accesses = kernel.accesses.len();
    for variant in kernel.variants.iter() {
        let name = format!("{} {}", kernel.name, variant.name);
        for require in variant.requires.iter() {
            if let Require::Stride { access, .. } | Require::Aligned { access, .. } = require
                && usize::from(*access) >= accesses
            {
                errors.push(format!("{name} requires something of an unknown access"));
            }
        }
        for pass in variant.passes.iter() {
            let slots: BTreeSet<_> = pass.bindings.iter().map(|binding| binding.slot).collect();
            if slots.len() != pass.bindings.len() || slots.len() > MAX_STORAGE_BUFFERS {
                errors.push(format!("{name} binds {} buffers, {} of them different", pass.bindings.len(), slots.len()));
            }
            if pass.workgroup_size == 0 || pass.workgroup_size > 1024 {
                errors.push(format!("{name} has workgroups of {}", pass.workgroup_size));
            }
            let unknown = |uniform: &Uniform| match uniform {
                Uniform::Offset { access } | Uniform::Stride { access, .. } | Uniform::ViewStride { access, .. } => {
                    usize::from(*access) >= accesses
                }
                _ => false,
            };
            if pass.uniforms.iter().any(unknown) {
                errors.push(format!("{name} has a uniform word of an unknown access"));
            }
        }
    }
    errors
}
