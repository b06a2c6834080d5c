//! Results of `benches/kernels` and `benches/rivals` as data; nothing here measures.
//!
//! `line` is the format, `bars` are targets, `roofline` the adapter's limits. `tables`, `figures` and `plot` show
//! results; `document` writes `docs/performance.md`.

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
