//! Tests of other toolchains' formats: content (`gguf`, `blocks`, `packed`), conversion (`import`), damage (`hostile`),
//! random data (`random`).

mod blocks;
mod gguf;
mod hostile;
mod import;
mod packed;
mod random;
