//! Tests of quantization: plain schemes (`plain`), calibrated codes (`calibrated`), errors (`errors`).

mod calibrated;
mod errors;
mod plain;
