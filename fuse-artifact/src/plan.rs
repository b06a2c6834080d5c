use std::fmt;

use crate::{List, Text};

/// Partition of a function into kernels with reasons; `Display` prints a tree.
///
/// Sizes are strings for readers: `4*M*N` bytes needs no launch.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Plan {
    /// Function with its parameters and results.
    pub signature: Text,
    /// Kernels in launch order.
    pub groups: List<PlanGroup>,
    /// Pairs of producer and consumer that did not fuse.
    pub refusals: List<Refusal>,
    /// Other plans that a launch may select.
    pub alternatives: List<Text>,
    /// Values kept from the forward pass for gradients, with dtype and shape.
    pub kept: List<Text>,
    /// Bytes of the kept values; empty without gradients.
    pub kept_bytes: Text,
    /// Dispatches of one kernel per operation.
    pub unfused_dispatches: u32,
    /// Bytes of device memory read and written.
    pub fused_bytes: Text,
    /// Bytes read and written by one kernel per operation.
    pub unfused_bytes: Text,
}

/// One kernel of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanGroup {
    /// Kernel name.
    pub kernel: Text,
    /// `pointwise`, `reduction`, `contraction`, `attention` or `weighted sum`.
    pub kind: Text,
    /// Its operations, in order.
    pub operations: List<Text>,
    /// Loaded tensors, with dtype and shape.
    pub reads: List<Text>,
    /// Stored tensors, with dtype and shape.
    pub writes: List<Text>,
    /// Savings against one kernel per operation, such as `5 dispatches, 20*M*N bytes`; empty if none.
    pub saves: Text,
    /// Names of its variants.
    pub variants: List<Text>,
}

/// A producer and consumer that did not fuse.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Producing operation.
    pub producer: Text,
    /// Consuming operation.
    pub consumer: Text,
    /// Reason for materializing the value.
    pub reason: Text,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.signature)?;
        writeln!(f, "├─ dispatches: {} ({} unfused)", self.groups.len(), self.unfused_dispatches)?;
        writeln!(f, "├─ bytes: {} ({} unfused)", self.fused_bytes, self.unfused_bytes)?;
        if !self.kept_bytes.is_empty() {
            let kept = if self.kept.is_empty() { "nothing".to_owned() } else { self.kept.join(", ") };
            writeln!(f, "├─ kept for gradients: {} bytes ({kept})", self.kept_bytes)?;
        }
        for alternative in self.alternatives.iter() {
            writeln!(f, "├─ or, chosen at launch: {alternative}")?;
        }
        for (i, group) in self.groups.iter().enumerate() {
            let last = i + 1 == self.groups.len() && self.refusals.is_empty();
            let (branch, stem) = if last { ("└─", "   ") } else { ("├─", "│  ") };
            writeln!(f, "{branch} {}: {}", group.kernel, group.kind)?;
            writeln!(f, "{stem}├─ computes {}", group.operations.join(", "))?;
            writeln!(f, "{stem}├─ reads {}", group.reads.join(", "))?;
            writeln!(f, "{stem}├─ writes {}", group.writes.join(", "))?;
            if !group.saves.is_empty() {
                writeln!(f, "{stem}├─ saves {}", group.saves)?;
            }
            writeln!(f, "{stem}└─ variants {}", group.variants.join(", "))?;
        }
        for (i, refusal) in self.refusals.iter().enumerate() {
            let branch = if i + 1 == self.refusals.len() { "└─" } else { "├─" };
            writeln!(f, "{branch} not fused: {} into {}: {}", refusal.producer, refusal.consumer, refusal.reason)?;
        }
        Ok(())
    }
}
