//! `cargo fuzz run gguf`.

#![no_main]

#[path = "../../tests/fuzz/targets.rs"]
#[allow(dead_code, reason = "each binary has one of the targets")]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::gguf_file(bytes));
