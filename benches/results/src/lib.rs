//! Results of the benchmark and of its rivals, as data: what `benches/kernels` and the programs of `benches/rivals` write,
//! and what people read of it.
//!
//! `line` is the form of a result, `results` a set of them, `bars` what they must reach, `roofline` what the adapter allows,
//! `browsers` how pages stand beside those of other libraries;
//! `tables` and `figures` show them, `plot` draws, and `document` puts both into `docs/performance.md`. Nothing here measures.

pub mod bars;
pub mod browsers;
#[cfg(feature = "plots")]
pub mod document;
#[cfg(feature = "plots")]
pub mod figures;
pub mod line;
pub mod machine;
#[cfg(feature = "plots")]
pub mod plot;
pub mod results;
pub mod roofline;
pub mod tables;
