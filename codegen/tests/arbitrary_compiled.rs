//! The code generated from arbitrary schemas compiles without warnings.
//!
//! 20 000 tools take some minutes: `ARBITRARY_TOOLS=20000 cargo test -p codegen --test arbitrary_compiled`.

#![allow(clippy::unwrap_used, reason = "part of tests: a compiler that does not start is a failure")]

mod schemas;

use std::path::PathBuf;
use std::process::Command;

use codegen::{Server, Tool, generate};

/// Tools in one library.
const BATCH: usize = 100;
/// Libraries in an ordinary run.
const BATCHES: usize = 2;

/// The library that generated code imports, as built for this test.
fn bridge() -> PathBuf {
    let dependencies = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let files = std::fs::read_dir(&dependencies).unwrap().flatten();
    let libraries = files.filter(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        name.starts_with("libbridge-") && name.ends_with(".rlib")
    });
    libraries.max_by_key(|file| file.metadata().unwrap().modified().unwrap()).unwrap().path()
}

/// Pseudo-random bytes, the same for each seed (a 64-bit xorshift).
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let length = next() % if seed.is_multiple_of(4) { 250 } else { 60 };
    (0..length).map(|_| next().to_le_bytes()[3]).collect()
}

#[test]
fn arbitrary_tools_compile() {
    let tools = std::env::var("ARBITRARY_TOOLS").ok().map(|count| count.parse::<usize>().unwrap());
    let batches = tools.map_or(BATCHES, |tools| tools.div_ceil(BATCH));
    let bridge = bridge();
    let folder = tempfile::tempdir().unwrap();
    for batch in 0..batches {
        let tool = |number: usize| Tool {
            name: format!("tool_{number}"),
            ..schemas::tool(&bytes((batch * BATCH + number) as u64))
        };
        let server = Server { name: "any".to_owned(), tools: (0..BATCH).map(tool).collect() };
        let source = folder.path().join("any.rs");
        std::fs::write(&source, generate(&server, "any").source()).unwrap();
        let compiled = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args([
                "--edition=2024",
                "--crate-type=rlib",
                "--crate-name=any",
                "--emit=metadata",
                "-Dwarnings",
            ])
            .arg(format!("--extern=bridge={}", bridge.display()))
            .arg(format!("-Ldependency={}", bridge.parent().unwrap().display()))
            .arg("--out-dir")
            .arg(folder.path())
            .arg(&source)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(
            compiled.status.success(),
            "batch {batch}: {}",
            errors.chars().take(4_000).collect::<String>()
        );
    }
}
