#![no_main]

#[path = "../src/discover.rs"]
mod discover;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an event loop");
    runtime.block_on(discover::introduction(data));
});
