//! What fusing did on a device.

use std::{fmt, time::Duration};

/// What happened to the graphs that were evaluated on a device.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FusionStats {
    /// Evaluations.
    pub evaluations: u64,
    /// Operations that were evaluated.
    pub operations: u64,
    /// Dispatches of these.
    pub launches: u64,
    /// Dispatches that one kernel for each operation would have taken more.
    pub launches_saved: u64,
    /// Evaluations whose graph was known.
    pub hits: u64,
    /// Evaluations whose function had to be found or made.
    pub misses: u64,
    /// Functions that were compiled.
    pub compiled: u64,
    /// The time that this took.
    pub compile_time: Duration,
    /// Graphs that the compiler failed on, and that ran unfused.
    pub failed: u64,
    /// Its message of the last one.
    pub last_failure: Option<String>,
    /// Bytes of compiled code of the process.
    pub code_bytes: u64,
}

impl fmt::Display for FusionStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "evaluations      {} of {} operations", self.evaluations, self.operations)?;
        writeln!(f, "launches         {} ({} saved)", self.launches, self.launches_saved)?;
        writeln!(f, "graphs           {} known, {} new, {} failed", self.hits, self.misses, self.failed)?;
        write!(f, "compiled         {} in {:.1?}, {} bytes", self.compiled, self.compile_time, self.code_bytes)
    }
}
