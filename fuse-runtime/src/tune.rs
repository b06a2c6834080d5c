//! Which variant is fastest, as data: tables, what programs override, and the search that makes tables.
//!
//! A launch plan asks, in this order: what the program overrides ([`Tuning`]), the program's tables, the built-in tables of
//! `tables/` that are about this environment and adapter, the cost model (`plan::cost`); of what the model cannot tell
//! apart, the environment's prior decides. `plan::decide` puts these together.
//!
//! - `key`: what a kernel is called in tables; `environment`: what tables are chosen by.
//! - `table`: tables and estimates from them; `distance`: how far their entries are; `file`: tables as TOML; `built_in`: those
//!   that programs carry; `builtin_check`: what the build script asks of these besides.
//! - `hardware`: what tables say of a machine, for the cost model.
//! - `tuning`, `thread_tuning`: what a program overrides, for a device or for some launches.
//! - `search`, `clock`: tables from measurements (`Device::tune`).

mod built_in;
#[cfg(test)]
mod builtin_check;
#[cfg(feature = "tune")]
mod clock;
mod distance;
pub(crate) mod environment;
#[cfg(feature = "tune")]
mod file;
pub(crate) mod hardware;
mod key;
pub(crate) mod knobs;
#[cfg(feature = "tune")]
mod load;
#[cfg(feature = "tune")]
mod search;
pub(crate) mod table;
mod thread_tuning;
mod tuning;

#[cfg(test)]
pub(crate) use self::built_in::built_in;
#[cfg(feature = "tune")]
pub(crate) use self::load::Kept;
#[cfg(feature = "tune")]
pub use self::search::{Progress, Search};
pub use self::{
    environment::{Environment, Vendor},
    hardware::Hardware,
    knobs::ControlFlow,
    table::{Adapters, CUT_OFF, Entry, Measured, Status, Table},
    tuning::Tuning,
};
pub(crate) use self::{
    key::{Key, plan_name, plan_prefix},
    knobs::UNROLL_FACTORS,
    table::Estimate,
    thread_tuning::Tunings,
    tuning::Applied,
};
