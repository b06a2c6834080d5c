//! Tests of other toolchains' formats.

mod blocks;
mod gguf;
mod hostile;
mod import;
mod packed;
mod random;
