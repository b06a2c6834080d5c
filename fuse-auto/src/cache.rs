//! Caches of a device: functions of graphs, measurements, and values that were left.

pub(crate) mod adaptive;
pub(crate) mod code_cache;
pub(crate) mod fusions;
pub(crate) mod graphs;
pub(crate) mod memory;
mod recompile_report;
pub(crate) mod stats;
