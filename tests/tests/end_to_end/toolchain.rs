//! The toolchain that snippets are compiled with: what is missing is told, with the line to type.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{Run, json};

/// What a run says that finds its toolchains only in `rustup_home`.
fn said(rustup_home: &Path, cache: &Path, phrases: &[&str]) {
    let run = Run::new(cache).arguments(&["run", "-"]).input("1");
    let run = run.variable("RUSTUP_HOME", rustup_home.to_str().unwrap()).variable("PATH", "");
    run.config(
        "mcpServers: { demo: { command: toolsmith, args: [demo-server] } }\n\
         codeMode: { installTarget: false }\n",
    )
    .done()
    .exits(7)
    .says(phrases);
}

/// A copy of the compiler's own toolchain without the target of snippets, by links where the file system allows.
pub(crate) fn without_target(to: &Path) {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    let sysroot = String::from_utf8(sysroot.stdout).unwrap();
    copy(Path::new(sysroot.trim()), to);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = (entry.as_ref().unwrap().path(), entry.unwrap().file_name());
        if name == "x86_64-unknown-linux-musl" || name == "share" {
            continue;
        }
        let copied = to.join(name);
        if path.is_dir() {
            copy(&path, &copied);
        } else if fs::hard_link(&path, &copied).is_err() {
            fs::copy(&path, &copied).unwrap();
        }
    }
}

#[test]
fn a_missing_target_is_refused_with_the_line_to_type() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("rustup");
    without_target(&home.join("toolchains/bare"));
    said(
        &home,
        &folder.path().join("cache"),
        &["installTarget: false", "rustup target add x86_64-unknown-linux-musl --toolchain bare"],
    );
}

#[test]
fn a_missing_compiler_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let phrases = ["no Rust compiler was found", "rustup toolchain install"];
    said(&folder.path().join("rustup"), &folder.path().join("cache"), &phrases);
}

/// Everything that is fetched is fetched at first use: a later snippet is compiled without any network.
#[test]
fn a_new_snippet_needs_no_network() {
    json("1").expect("ok", 0);
    // A proxy that nobody listens at: whatever dials out fails.
    let text = crate::harness::unique();
    let run = json(&format!("demo::echo(\"{text}\").await?.text()"));
    let run = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"]
        .into_iter()
        .fold(run, |run, name| run.variable(name, "http://127.0.0.1:1"));
    let outcome = run.expect("ok", 0);
    assert_eq!((&outcome["result"], &outcome["cached"]), (&text.into(), &false.into()));
}
