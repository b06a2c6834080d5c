//! Statistics of fusion.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::pattern::FusionPattern;

/// Statistics of the graphs evaluated on a device.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FusionStats {
    /// Kernels of several operations that ran.
    pub applied: u64,
    /// Graphs that the compiler failed on; they ran unfused.
    pub failed: u64,
    /// Compiler's message about the last failure.
    pub last_failure: Option<String>,
    /// `applied` by kind.
    pub by_pattern: BTreeMap<FusionPattern, u64>,
    /// Evaluations.
    pub evaluations: u64,
    /// Evaluated operations.
    pub operations: u64,
    /// Dispatches, as planned for common sizes.
    pub launches: u64,
    /// Dispatches saved against one kernel per operation.
    pub launches_saved: u64,
    /// Bytes of intermediates that were not stored.
    pub bytes_saved: u64,
    /// Evaluations with a known graph.
    pub hits: u64,
    /// Evaluations without a known function.
    pub misses: u64,
    /// Compiled functions.
    pub compiled: u64,
    /// Total time of compilation.
    pub compile_time: Duration,
    /// Bytes of compiled code in the process.
    pub code_bytes: u64,
    /// Functions of the process dropped beyond the limit ([`set_code_limit`](crate::set_code_limit)).
    pub dropped: u64,
    /// Weights that [`FusionConfig::quantize_weights`](crate::FusionConfig::quantize_weights) left unchanged, with
    /// reasons; at most 64.
    pub unquantized: Vec<String>,
    /// Numbers that caused many versions of one graph.
    pub varying: Vec<String>,
    /// Measured speed-ups by kind.
    pub measured: BTreeMap<FusionPattern, Vec<f32>>,
}

/// Summary of [`FusionStats`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FusionStatsSummary {
    /// Kernels of several operations that ran.
    pub total_fusions: u64,
    /// Mean measured speed-up; `None` without measurements.
    pub average_speedup: Option<f32>,
    /// Kinds of fusion that ran.
    pub patterns_used: Vec<FusionPattern>,
}

impl FusionStats {
    /// Totals and the mean speed-up.
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
