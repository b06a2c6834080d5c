//! What the numeric tests share: programs are compiled from source text at test time, run on every installed
//! adapter with every variant that may run, and compared with the reference interpreter's ranges.
//!
//! `program` makes programs, `data` their inputs, `adapter` launches them, `compare` judges results, and
//! `sweep` puts these together; `matrices` runs cooperative matrices where no adapter has them. Not here: what is tested (`tests/*`).

pub mod adapter;
pub mod compare;
pub mod data;
pub mod matrices;
mod program;
mod sweep;

pub use data::Numbers;
pub use program::{Program, SourceFile, compile, expression, files, graphs, try_compile};
pub use sweep::{Sweep, Variants, check, thorough};
