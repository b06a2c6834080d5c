use std::fmt;

use crate::{List, Text};

/// How a function was cut into kernels, and why; `Display` prints it as a tree.
///
/// Sizes are texts because plans are for people: `4*M*N` bytes stay readable without a launch.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Plan {
    /// The function with its parameters and results.
    pub signature: Text,
    /// The kernels in order.
    pub groups: List<PlanGroup>,
    /// The edges that were not fused.
    pub refusals: List<Refusal>,
    /// The other plans that a launch may choose, by size and device.
    pub alternatives: List<Text>,
    /// What stays in memory from the forward pass until gradients read it, with dtype and shape.
    pub kept: List<Text>,
    /// The bytes of what is kept; empty if nothing is differentiated.
    pub kept_bytes: Text,
    /// Dispatches that one kernel per operation would take.
    pub unfused_dispatches: u32,
    /// Bytes of device memory that the plan reads and writes.
    pub fused_bytes: Text,
    /// Bytes that one kernel per operation would read and write.
    pub unfused_bytes: Text,
}

/// One kernel of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanGroup {
    /// The kernel's name.
    pub kernel: Text,
    /// `pointwise`, `reduction`, `contraction`, `attention` or `weighted sum`.
    pub kind: Text,
    /// The operations in it, in order.
    pub operations: List<Text>,
    /// What it reads, with dtype and shape.
    pub reads: List<Text>,
    /// What it writes, with dtype and shape.
    pub writes: List<Text>,
    /// What it saves against one kernel per operation, for example `5 dispatches, 20*M*N bytes`; empty if nothing.
    pub saves: Text,
    /// The names of its variants.
    pub variants: List<Text>,
}

/// An edge between producer and consumer that was not fused.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The producing operation.
    pub producer: Text,
    /// The consuming operation.
    pub consumer: Text,
    /// Why the value goes through memory.
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
