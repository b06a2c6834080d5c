//! Tests of quantization.

mod calibrated;
mod errors;
mod plain;
