//! `toolsmith update --check`, against a site of releases.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use end_to_end::harness::{FinishedRun, Run};
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
    assert!(done.stdout.contains("version 99.1.0 is available; this is "), "{done:#?}");
    assert!(done.stdout.contains("https://example.com/99"), "{done:#?}");
    assert!(
        request.starts_with("GET /latest?key=secret ") && request.contains("user-agent: toolsmith/"),
        "{request}"
    );
    let (done, _) = checked(&["--json"], "200 OK", NEWER);
    let value: Value = serde_json::from_str(&done.exits(0).stdout).unwrap();
    assert_eq!((&value["newest"], &value["is_available"]), (&"99.1.0".into(), &true.into()));
    assert_eq!((&value["package"], &value["page"]), (&"program".into(), &"https://example.com/99".into()));
}

#[test]
fn an_older_release_is_no_update() {
    let (done, _) = checked(&[], "200 OK", r#"{ "tag_name": "v0.0.1" }"#);
    assert!(done.exits(0).stdout.contains("is newer than the newest release, 0.0.1"));
}

#[test]
fn a_site_without_a_release_is_an_error_with_its_address() {
    let large = format!("{{ \"tag_name\": \"v1.0.0\", \"body\": \"{}\" }}", "x".repeat(2 << 20));
    for (status, body, says) in [
        ("404 Not Found", "{}", "there is no release"),
        ("403 Forbidden", "{}", "the server refuses with status 403"),
        ("302 Found", "", "status 302"),
        ("200 OK", "<html>", "does not describe a release"),
        ("200 OK", r#"{ "tag_name": "nightly" }"#, "which is no version"),
        ("200 OK", large.as_str(), "more than 1048576 bytes"),
    ] {
        let done = checked(&[], status, body).0.exits(7).says(&[says, "/latest: ", "help: "]);
        // The address may have a secret.
        assert!(!done.stderr.contains("key="), "{done:#?}");
    }
}

#[test]
fn without_a_network_the_error_says_what_to_check() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let done = run(&["--json"], &format!("http://{free}/latest")).exits(7);
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&value["success"], &value["report"]["kind"]), (&false.into(), &"update".into()));
    done.says(&["Connection refused", "help: check the network"]);
}
