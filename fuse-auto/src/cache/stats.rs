//! What fusing did on a device.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::pattern::FusionPattern;

/// What happened to the graphs that were evaluated on a device.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FusionStats {
    /// Kernels that computed several operations.
    pub applied: u64,
    /// Graphs that the compiler failed on, and that ran unfused.
    pub failed: u64,
    /// The compiler's message about the last of them.
    pub last_failure: Option<String>,
    /// `applied` by kind.
    pub by_pattern: BTreeMap<FusionPattern, u64>,
    /// Evaluations.
    pub evaluations: u64,
    /// Operations that were evaluated.
    pub operations: u64,
    /// Dispatches of these, as planned for common sizes.
    pub launches: u64,
    /// Dispatches that one kernel for each operation would have taken more.
    pub launches_saved: u64,
    /// Bytes of values that were neither written nor read.
    pub bytes_saved: u64,
    /// Evaluations whose graph was known.
    pub hits: u64,
    /// Evaluations whose function had to be found or made.
    pub misses: u64,
    /// Functions that were compiled.
    pub compiled: u64,
    /// The time that this took.
    pub compile_time: Duration,
    /// Bytes of compiled code of the process.
    pub code_bytes: u64,
    /// Functions of the process that went because there was too much code
    /// ([`set_code_limit`](crate::set_code_limit)).
    pub dropped: u64,
    /// Weights that [`FusionConfig::quantize_weights`](crate::FusionConfig::quantize_weights) left as they are, and why; at most 64.
    pub unquantized: Vec<String>,
    /// Which numbers made many versions of one graph.
    pub varying: Vec<String>,
    /// The speed-ups that were measured, by kind.
    pub measured: BTreeMap<FusionPattern, Vec<f32>>,
}

/// [`FusionStats`] in short.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FusionStatsSummary {
    /// Kernels that computed several operations.
    pub total_fusions: u64,
    /// The mean of the measured speed-ups; nothing if none was measured.
    pub average_speedup: Option<f32>,
    /// The kinds of fusion that were applied.
    pub patterns_used: Vec<FusionPattern>,
}

impl FusionStats {
    /// The essence.
    pub fn summary(&self) -> FusionStatsSummary {
        let speedups: Vec<f32> = self.measured.values().flatten().copied().collect();
        let average = speedups.iter().sum::<f32>() / speedups.len() as f32;
        FusionStatsSummary {
            total_fusions: self.applied,
            average_speedup: (!speedups.is_empty()).then_some(average),
            patterns_used: self.by_pattern.keys().copied().collect(),
        }
    }
}

impl fmt::Display for FusionStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "evaluations  {} of {} operations", self.evaluations, self.operations)?;
        writeln!(f, "launches     {} ({} and {} bytes saved)", self.launches, self.launches_saved, self.bytes_saved)?;
        writeln!(f, "graphs       {} known, {} new, {} failed", self.hits, self.misses, self.failed)?;
        let Self { compiled, compile_time, code_bytes, dropped, .. } = self;
        write!(f, "compiled     {compiled} in {compile_time:.1?}, {code_bytes} bytes, {dropped} dropped")?;
        for (pattern, count) in &self.by_pattern {
            write!(f, "\n  {count:8} {pattern:?}")?;
        }
        for weight in &self.unquantized {
            write!(f, "\nnot quantized: {weight}")?;
        }
        for varying in &self.varying {
            write!(f, "\n{varying}")?;
        }
        Ok(())
    }
}
