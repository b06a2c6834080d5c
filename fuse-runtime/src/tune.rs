//! Tuning tables, which say as data which variant is fastest, and the overrides of programs.
//!
//! A launch plan asks, in this order: the program's overrides ([`Tuning`](tuning::Tuning)), the program's tables, the built-in
//! tables of `tables/` about this environment and adapter, the cost model (`plan::cost`); where the model sees no difference,
//! the environment's prior decides (`plan::select_variant`).
//!
//! - `table`: tables and estimates from them; `distance`: distances of their entries; `file`, `load`: tables as TOML.
//! - `built_in`: the tables that programs carry; `builtin_check`: the build script's further rules for them.
//! - `knobs`, `tuning`: a program's overrides; `tunings`: those that a device was asked for.
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
