//! Tuning tables, which say as data which variant is fastest, and the overrides of programs.
//!
//! A launch plan asks in this order: the program's overrides ([`Tuning`](tuning::Tuning)), its tables, the built-in
//! tables of `tables/`, the cost model (`plan::cost`), and, where the model sees no difference, the environment's prior
//! (`plan::select_variant`).
//!
//! - `table`, `distance`: tables and estimates; `file`, `load`: TOML.
//! - `built_in`, `builtin_check`: the tables that programs carry, and their rules.
//! - `knobs`, `tuning`, `tunings`: overrides of programs and devices.
//!
//! Not here: names of kernels in tables (`plan::key`), measurements (`api::search`).

pub(crate) mod built_in;
#[cfg(test)]
pub(crate) mod builtin_check;
pub(crate) mod distance;
#[cfg(feature = "tune")]
pub(crate) mod file;
pub(crate) mod knobs;
#[cfg(feature = "tune")]
pub(crate) mod load;
pub(crate) mod order;
pub(crate) mod table;
pub(crate) mod tuning;
pub(crate) mod tunings;
