#![no_main]

// Not part of the library, which a test of `runner` includes: this one needs `mcp`.
#[path = "../src/oauth.rs"]
mod oauth;

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(oauth::oauth(data)));
