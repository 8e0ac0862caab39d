//! The outputs of the examples.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

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

#[test]
fn a_saved_program_is_replayed_without_its_server() {
    let toolsmith = binary().to_str().unwrap().to_owned();
    assert_snapshot!(printed(env!("CARGO_BIN_EXE_replayed_program"), &[&toolsmith], ""), @r#"
    Revenue by status for one customer. It takes customer, since.
    pending: 162.8
    shipped: 81.9
    replayed: ok, 0 differences
    changed: runtime_error
    demo.list_orders is requested with other arguments than recorded
      /limit: 50, now 10
    "#);
}

/// Ends a service, however its test ends.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[test]
fn a_service_runs_the_bodies_of_requests() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_axum_service"));
    command.env("TOOLSMITH_CACHE_DIR", shared()).stdout(Stdio::piped());
    let mut service = Service(command.spawn().unwrap());
    let mut first = String::new();
    BufReader::new(service.0.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let address = first.trim().strip_prefix("http://").unwrap().trim_end_matches('/');
    let answers = ["2 * shop::price(\"tea\").await?", "shop::price(\"gin\").await?"].map(|code| {
        let mut stream = TcpStream::connect(address).unwrap();
        let length = code.len();
        let head =
            format!("POST / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}");
        write!(stream, "{head}\r\n\r\n{code}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        format!("{code}\n{} {body}", head.lines().next().unwrap())
    });
    assert_snapshot!(answers.join("\n"), @r#"
    2 * shop::price("tea").await?
    HTTP/1.1 200 OK 900
    shop::price("gin").await?
    HTTP/1.1 422 Unprocessable Entity runtime_error: shop.price failed: there is no article gin
    "#);
}
