#![no_main]

#[path = "../src/heads.rs"]
mod heads;

libfuzzer_sys::fuzz_target!(|data: &[u8]| heads::request(data));
