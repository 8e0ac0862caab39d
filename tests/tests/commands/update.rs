//! `toolsmith update --check`, against a site of releases.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use end_to_end::harness::{FinishedRun, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::Value;

/// Runs the command while a server answers one request; returns the request too.
fn checked(arguments: &[&str], status: &str, body: &str) -> (FinishedRun, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/latest?key=secret", listener.local_addr().unwrap());
    let answer =
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let served = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut request = vec![0; 1 << 16];
        let length = connection.read(&mut request).unwrap();
        let _ = connection.write_all(answer.as_bytes());
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    let done = run(arguments, &address);
    (done, served.join().unwrap())
}

fn run(arguments: &[&str], address: &str) -> FinishedRun {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(folder.path()).arguments(&["update", "--check"]).arguments(arguments);
    run.variable("TOOLSMITH_RELEASES", address).done()
}

const NEWER: &str = r#"{ "tag_name": "v99.1.0", "html_url": "https://example.com/99", "assets": [] }"#;

#[test]
fn a_newer_release_is_named_with_the_way_to_it() {
    let (done, request) = checked(&[], "200 OK", NEWER);
    let done = done.exits(0);
    assert_snapshot!(normal(&done.stdout), @r"
    version 99.1.0 is available; this is [version]
    update  replace the program in [target] by the one from https://example.com/99
    changes https://example.com/99
    ");
    assert_snapshot!(normal(&request), @r"
    GET /latest?key=secret HTTP/1.1
    accept: application/json
    user-agent: toolsmith/[version]
    accept-encoding: gzip
    host: 127.0.0.1:[port]
    ");
    let (done, _) = checked(&["--json"], "200 OK", NEWER);
    let value: Value = serde_json::from_str(&done.exits(0).stdout).unwrap();
    assert_eq!((&value["newest"], &value["is_available"]), (&"99.1.0".into(), &true.into()));
    assert_eq!((&value["package"], &value["page"]), (&"program".into(), &"https://example.com/99".into()));
}

#[test]
fn an_older_release_is_no_update() {
    let (done, _) = checked(&[], "200 OK", r#"{ "tag_name": "v0.0.1" }"#);
    assert_snapshot!(normal(&done.exits(0).stdout), @"[version] is newer than the newest release, 0.0.1");
}

#[test]
fn a_site_without_a_release_is_an_error_with_its_address() {
    let large = format!("{{ \"tag_name\": \"v1.0.0\", \"body\": \"{}\" }}", "x".repeat(2 << 20));
    let mut shown = Vec::new();
    for (status, body) in [
        ("404 Not Found", "{}"),
        ("403 Forbidden", "{}"),
        ("302 Found", ""),
        ("200 OK", "<html>"),
        ("200 OK", r#"{ "tag_name": "nightly" }"#),
        ("200 OK", large.as_str()),
    ] {
        let done = checked(&[], status, body).0.exits(7);
        shown.push(normal(&done.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    toolsmith: the newest release can't be read from http://127.0.0.1:[port]/latest: there is no release
    help: if TOOLSMITH_RELEASES is set, check the address in it

    toolsmith: the newest release can't be read from http://127.0.0.1:[port]/latest: the server refuses with status 403 Forbidden
    help: it limits the requests of an address in an hour: try again later

    toolsmith: the newest release can't be read from http://127.0.0.1:[port]/latest: the server answers with status 302 Found
    help: try again later, or set TOOLSMITH_RELEASES to another address

    toolsmith: the newest release can't be read from http://127.0.0.1:[port]/latest: the response does not describe a release: expected value at line 1 column 1
    help: if TOOLSMITH_RELEASES is set, check the address in it

    toolsmith: the newest release can't be read from http://127.0.0.1:[port]/latest: the response does not describe a release: `tag_name` is "nightly", which is no version: unexpected character 'n' while parsing major version number
    help: if TOOLSMITH_RELEASES is set, check the address in it

    toolsmith: the newest release can't be read from http://127.0.0.1:[port]/latest: the response has more than 1048576 bytes
    help: if TOOLSMITH_RELEASES is set, check the address in it
    "#);
}

#[test]
fn without_a_network_the_error_says_what_to_check() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let done = run(&["--json"], &format!("http://{free}/latest")).exits(7);
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&value["success"], &value["report"]["kind"]), (&false.into(), &"update".into()));
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the newest release can't be read from http://127.0.0.1:[port]/latest: error sending request: client error (Connect): tcp connect error: Connection refused (os error 111)
    help: check the network, and HTTPS_PROXY if you need a proxy
    ");
}
