#![no_main]

// Not a part of the library, which a test of `runner` takes in: this one needs `mcp`.
#[path = "../src/oauth.rs"]
mod oauth;

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(oauth::oauth(data)));
