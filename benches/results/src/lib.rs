//! Results of the benchmark and of other libraries, as data written by `benches/kernels` and the programs of
//! `benches/rivals`.
//!
//! `line` is the format of a result, `results` a set of them, `bars` their targets, `roofline` the limits of the
//! adapter, `browsers` the comparison of pages. `tables` and `figures` show them, `plot` draws, and `document` writes
//! both into `docs/performance.md`. Nothing here measures.

pub mod bars;
pub mod browsers;
#[cfg(feature = "plots")]
pub mod document;
#[cfg(feature = "plots")]
pub mod figures;
pub mod line;
pub mod machine;
mod markdown;
#[cfg(feature = "plots")]
pub mod plot;
pub mod results;
pub mod roofline;
pub mod tables;
