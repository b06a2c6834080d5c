//! What quantization promises: plain schemes (`plain`), codes chosen by calibration (`calibrated`), and mistakes (`errors`).

mod calibrated;
mod errors;
mod plain;
