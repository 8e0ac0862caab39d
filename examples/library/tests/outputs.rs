//! The outputs of the examples.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use end_to_end::cache::shared;
use end_to_end::harness::binary;
use insta::assert_snapshot;

/// Returns the output of an example with this standard input.
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
    assert_snapshot!(printed(env!("CARGO_BIN_EXE_own_tools"), &[], ""), @r#"
    shop::get_order("c-1").await?.total_cents
    => 1990
    let mut sum = 0;
    for id in ["c-1", "c-2", "c-3"] { sum += shop::get_order(id).await?.total_cents; }
    sum
    => 11940
    local::take_note("call Ada").await?;
    local::take_note("call Bob").await?
    => 2
    shop::get_order("none").await.unwrap_err().message
    => "there is no order none"
    shop::stock("tea").await.unwrap_err().message
    => "the tool panicked: the article tea is unknown"
    shop::get_order(1).await?.total_cents
    => nothing
       compile_error: the trait bound `std::string::String: From<{integer}>` is not satisfied
    timeout, after 2 calls
    "#);
}

#[test]
fn two_servers_are_called() {
    let toolsmith = binary().to_str().unwrap().to_owned();
    assert_snapshot!(printed(env!("CARGO_BIN_EXE_two_servers"), &[&toolsmith], ""), @r#"
    execute_code: ["code"]
    mod north {
    can call north.get_customer, south.get_customer
    north.get_customer {"id":"c-01"}
    south.get_customer {"id":"c-02"}
    Ada Lindqvist and Bruno Keller
    denied: north.create_note: permission is required, but this program asks nobody
    help: build it with .allow("north.create_note"), or with .permission(…) to decide at each question
    "#);
}

#[test]
fn an_answer_is_kept() {
    assert_snapshot!(printed(env!("CARGO_BIN_EXE_approval"), &[], "n\na\n"), @r#"
    The program can call tools that need your permission:
      mail.send
    Allow it? [y/a/N]
    Ada: denied: permission to call mail.send was refused
    The program can call tools that need your permission:
      mail.send
    Allow it? [y/a/N]
    (sent to Bob: Hello)
    Bob: 5 characters
    (sent to Eve: Hello)
    Eve: 5 characters
    "#);
}
