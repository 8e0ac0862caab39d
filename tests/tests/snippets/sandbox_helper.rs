//! The sandbox's helper is the small program beside `toolsmith`, if there is one of the same build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::cache::shared;
use end_to_end::harness::{Run, binary, descendants, unique};
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use serde_json::Value;
use tempfile::TempDir;

const NAME: &str = "toolsmith-sandbox";

/// A folder with `toolsmith`, and with these files as its helper.
struct Installed(TempDir);

impl Installed {
    fn alone() -> Self {
        let installed = Installed(tempfile::tempdir().unwrap());
        put(binary(), &installed.program());
        installed
    }

    fn with_helper(self, file: &Path) -> Self {
        put(file, &self.helper());
        self
    }

    fn program(&self) -> PathBuf {
        self.0.path().join("toolsmith")
    }

    fn helper(&self) -> PathBuf {
        self.0.path().join(NAME)
    }

    /// Returns `doctor`'s report on the helper. A program runs in any case.
    fn reported(&self) -> Value {
        let run = Run::of(Command::new(self.program()), shared()).arguments(&["doctor", "--json"]);
        let mut found = run.done().exits(0).outcome();
        assert_eq!(found["tried"]["program"]["tier"], found["tier"], "{found:#}");
        found["helper"].take()
    }
}

fn put(file: &Path, to: &Path) {
    fs::hard_link(file, to).or_else(|_| fs::copy(file, to).map(drop)).unwrap();
}

/// The helper of the tested program.
fn built() -> PathBuf {
    let helper = binary().with_file_name(NAME);
    assert!(
        helper.is_file(),
        "{} is missing: type `cargo build -p toolsmith-cli` before this",
        helper.display()
    );
    helper
}

#[test]
fn a_helper_of_the_same_build_is_used() {
    assert_eq!(Installed::alone().reported(), Value::Null);
    let installed = Installed::alone().with_helper(&built());
    assert_eq!(installed.reported(), installed.helper().to_str().unwrap());
}

#[test]
fn a_helper_of_another_build_is_not_used() {
    // Not a helper at all; it ends without an answer.
    let installed = Installed::alone().with_helper(Path::new("/bin/true"));
    assert_eq!(installed.reported(), Value::Null);

    // One that differs only in its build.
    let other = tempfile::tempdir().unwrap();
    let file = other.path().join(NAME);
    fs::copy(built(), &file).unwrap();
    fs::write(&file, of_another_build(fs::read(built()).unwrap())).unwrap();
    assert_eq!(Installed::alone().with_helper(&file).reported(), Value::Null);
}

/// A helper with another build in place of its own.
fn of_another_build(mut helper: Vec<u8>) -> Vec<u8> {
    let build = sandbox::BUILD.as_bytes();
    let starts: Vec<usize> = helper
        .windows(build.len())
        .enumerate()
        .filter(|(_, part)| *part == build)
        .map(|(at, _)| at)
        .collect();
    assert!(!starts.is_empty(), "the helper does not contain its build");
    for start in starts {
        helper[start] = if build[0] == b'0' { b'1' } else { b'0' };
    }
    helper
}

/// An update replaces both files, while the old program still runs.
#[test]
fn a_running_program_keeps_its_helper_when_the_file_is_replaced() {
    let installed = Installed::alone().with_helper(&built());
    let program = format!("exec {} \"$@\"", installed.program().display());
    let mut server = Serve::new(DEMO).by_command(&["sh", "-c", &program]).start();
    server.shake_hands();
    let mut assert_runs = || {
        let code = format!("// {}\ndemo::echo(\"a\").await?.text()", unique());
        let answer = server.ask(1, "tools/call", &execute(&code));
        assert_eq!(outcome_of(&answer)["result"], "a", "{answer:#}");
    };
    assert_runs();
    fs::remove_file(installed.helper()).unwrap();
    put(Path::new("/bin/false"), &installed.helper());
    assert_runs();
    assert_runs();
    let helpers = descendants(server.id());
    assert!(!helpers.is_empty());
    server.close_input();
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
}
