//! What the examples print.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use end_to_end::cache::shared;
use end_to_end::harness::binary;
use insta::assert_snapshot;

/// What an example prints, given this on standard input.
fn printed(program: &str, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env("TOOLSMITH_CACHE_DIR", shared());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn functions_of_the_program_are_called() {
    assert_snapshot!(printed(env!("CARGO_BIN_EXE_own_tools"), &[], ""), @"");
}

#[test]
fn two_servers_are_called() {
    let toolsmith = binary().to_str().unwrap().to_owned();
    assert_snapshot!(printed(env!("CARGO_BIN_EXE_two_servers"), &[&toolsmith], ""), @"");
}

#[test]
fn an_answer_is_kept() {
    assert_snapshot!(printed(env!("CARGO_BIN_EXE_approval"), &[], "n\na\n"), @"");
}
