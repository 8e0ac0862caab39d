//! The toolchain for snippets: missing parts are reported with the command that installs them.

use std::fs;
use std::path::Path;
use std::process::Command;

use end_to_end::cache::json;
use end_to_end::harness::Run;

/// Checks the messages of a run that finds toolchains only in `rustup_home`.
fn assert_reported(rustup_home: &Path, cache: &Path, phrases: &[&str]) {
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

/// Copies the compiler's toolchain without the snippets' target, with links if the file system allows.
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
fn a_missing_target_is_reported_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("rustup");
    without_target(&home.join("toolchains/bare"));
    assert_reported(
        &home,
        &folder.path().join("cache"),
        &["installTarget: false", "rustup target add x86_64-unknown-linux-musl --toolchain bare"],
    );
}

#[test]
fn a_missing_compiler_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let phrases = ["no Rust compiler was found", "rustup toolchain install"];
    assert_reported(&folder.path().join("rustup"), &folder.path().join("cache"), &phrases);
}

/// All downloads happen at first use: later snippets compile without a network.
#[test]
fn a_new_snippet_needs_no_network() {
    json("1").expect("ok", 0);
    // A proxy address with no listener: every outgoing connection fails.
    let text = end_to_end::harness::unique();
    let run = json(&format!("demo::echo(\"{text}\").await?.text()"));
    let run = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"]
        .into_iter()
        .fold(run, |run, name| run.variable(name, "http://127.0.0.1:1"));
    let outcome = run.expect("ok", 0);
    assert_eq!((&outcome["result"], &outcome["cached"]), (&text.into(), &false.into()));
}
