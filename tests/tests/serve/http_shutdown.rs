//! The shutdown of `toolsmith serve --http`: executions may finish within the grace period.

use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, execute, outcome_of, recording};
use insta::assert_snapshot;
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::json;

use crate::http::{CALLS_AND_CONTINUES, assert_ok, recorded};

#[test]
fn running_executions_may_finish_on_shutdown() {
    let mut shown = Vec::new();
    for stateless in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        let mut server = Serve::http(&format!("{}serve: {{ grace: 50 }}\n", recording(&record))).start();
        let begin = || if stateless { server.client().stateless() } else { server.client().shake_hands() };
        let (client, other) = (begin(), begin());
        // Without a session, no message precedes the answer.
        let request_thread =
            std::thread::spawn(move || client.ask("tools/call", &execute(CALLS_AND_CONTINUES)));
        server.wait_until("the call", || recorded(&record, "call") == 1);
        server.signal(Signal::TERM);
        server.wait_for_log("stopping: 1 execution runs");
        server.wait_until("the end to come", || {
            server.client().get("/readyz").status == StatusCode::SERVICE_UNAVAILABLE
        });
        let refused = other.ask("tools/call", &execute("6 * 7"));
        shown.push(normal(&refused["error"]["message"]));
        assert_ok(&request_thread.join().unwrap(), &json!(42));
        assert_eq!(server.end(), Some(0), "{}", server.stderr());
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith is stopping and accepts no new requests
    toolsmith is stopping and accepts no new requests
    ");
}

/// Load balancers notice first.
#[test]
fn requests_are_accepted_until_the_delay_has_passed() {
    let mut server = Serve::http(&format!("{DEMO}serve: {{ drainDelay: 300 }}\n")).start();
    let client = server.client().shake_hands();
    server.signal(Signal::TERM);
    server.wait_until("the server not to be ready", || {
        let ready = server.client().get("/readyz");
        ready.status == StatusCode::SERVICE_UNAVAILABLE && ready.text.contains("stopping")
    });
    assert_ok(&client.ask("tools/call", &execute("6 * 7")), &json!(42));
    assert_ok(&server.client().stateless().ask("tools/call", &execute("6 * 7")), &json!(42));
    // A second signal ends the delay too.
    server.signal(Signal::TERM);
    server.end();
}

#[test]
fn executions_beyond_the_grace_period_are_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = Serve::http(&format!("{}serve: {{ grace: 0.2 }}\n", recording(&record))).start();
    let client = server.client().shake_hands();
    let mut answering = client.begin("tools/call", &execute("rec::wait().message(\"x\").await?;"));
    // An open stream does not delay the shutdown.
    let mut listening = client.listen();
    server.wait_until("the call", || recorded(&record, "call") == 1);
    server.signal(Signal::TERM);
    let answer = answering.end();
    assert_eq!(outcome_of(&answer)["status"], "cancelled", "{answer:#}");
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
    assert_eq!(recorded(&record, "cancelled"), 1);
    while listening.next().is_some() {}
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = Serve::http(&format!("{}serve: {{ grace: 600 }}\n", recording(&record))).start();
    let client = server.client().shake_hands();
    let _answering = client.begin("tools/call", &execute("rec::wait().message(\"x\").await?;"));
    server.wait_until("the call", || recorded(&record, "call") == 1);
    server.signal(Signal::TERM);
    server.wait_for_log("stopping: 1 execution runs");
    server.signal(Signal::INT);
    assert_eq!(server.end(), Some(130), "{}", server.stderr());
}
