#![no_main]

#[path = "../src/locks.rs"]
mod locks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| locks::locks(data));
