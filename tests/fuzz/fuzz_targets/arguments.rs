#![no_main]

#[path = "../src/arguments.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::arguments(data, targets::as_lines));
