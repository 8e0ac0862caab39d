//! The MCP client against HTTP servers that misbehave: clear errors, bounded time, nothing sent to other origins.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod eras;
mod events;
mod fixture;
mod oddities;
mod streams;

use end_to_end::page::normal;
use futures::future::join_all;
use insta::assert_snapshot;
use mcp::{ErrorKind, Phase, ServerConfig, Session};

use fixture::{Fixture, SECRET, assert_says, call, watched};

/// The phases in which the client waits for a response, by the server's names.
const PHASES: [&str; 3] = ["initialize", "list", "call"];

/// The names of a phase in timeouts and in failures.
fn named(phase: &str) -> (Phase, &'static str, &'static str) {
    match phase {
        "initialize" => (Phase::Initialize, "`initialize`", "cannot connect"),
        "list" => (Phase::ListTools, "`tools/list`", "`tools/list`"),
        _ => (Phase::Call("echo".to_owned()), "tool `echo`", "tool `echo`"),
    }
}

/// Tries each fault in each phase, all concurrently, and checks each error.
async fn at_each_phase(modes: &[&str], phases: &[&str], look: impl Fn(&mcp::Error, &str, &str)) {
    let cases = modes.iter().flat_map(|&mode| phases.iter().map(move |&phase| (mode, phase)));
    let errors = cases.map(|(mode, phase)| async move {
        let fixture = Fixture::new(mode, phase);
        // Large responses take long, even if they are cut off.
        let fixture = if mode.starts_with("huge") { fixture } else { fixture.impatient() };
        (mode, phase, fixture.error().await, fixture.reached_elsewhere().await)
    });
    for (mode, phase, error, elsewhere) in join_all(errors).await {
        assert!(!elsewhere, "{mode} at {phase}: a request went to another origin");
        assert!(!error.to_string().contains(SECRET.1), "{mode} at {phase} reveals a secret: {error}");
        look(&error, mode, phase);
    }
}

#[tokio::test]
async fn a_correct_server_is_connected_listed_called_and_its_session_ended() {
    let fixture = Fixture::new("sound", "");
    let session = fixture.connect().await;
    assert_eq!(session.server_info(), Some(("http-fault-server", "1.0.0")));
    assert_eq!(session.protocol_version(), "2025-11-25");
    let listing = session.list_tools().await.unwrap();
    assert_eq!(listing.tools.len(), 1);
    assert_eq!(listing.warnings, [""; 0]);
    assert_eq!(call(&session, "hello").await.unwrap(), "hello");
    watched(session.close()).await;

    fixture.until_seen("DELETE").await;
    for request in fixture.seen().await {
        let headers = &request["headers"];
        assert_eq!(headers[SECRET.0.to_lowercase()], SECRET.1, "{request}");
        let method = request["message"]["method"].as_str().unwrap_or_default();
        if !matches!(method, "initialize" | "server/discover") {
            assert_eq!(headers["mcp-session-id"], "session-0", "{request}");
            assert_eq!(headers["mcp-protocol-version"], "2025-11-25", "{request}");
        }
    }
}

#[tokio::test]
async fn a_missing_response_times_out_in_every_phase_despite_other_traffic() {
    let modes = ["hangs", "stream-hangs", "stream-garbage", "comments", "drips", "drips-head"];
    let look = |error: &mcp::Error, mode: &str, phase: &str| {
        let (waited_for, name, _) = named(phase);
        assert!(
            matches!(&*error.kind, ErrorKind::Timeout { phase, .. } if *phase == waited_for),
            "{mode} at {phase}: {error}"
        );
        assert_says(error, &["`faulty`", name, "raise"]);
    };
    at_each_phase(&modes, &PHASES, look).await;
    // Separately, because it takes CPU time from the others.
    at_each_phase(&["floods"], &PHASES, look).await;
}

#[tokio::test]
async fn a_broken_connection_fails_pending_requests() {
    at_each_phase(&["closes", "closes-in-the-middle"], &PHASES, |error, _, phase| {
        assert_says(error, &["`faulty`", named(phase).2, "the connection broke"]);
    })
    .await;
}

#[tokio::test]
async fn a_rejection_is_reported_in_the_servers_words() {
    at_each_phase(&["fails"], &PHASES, |error, _, phase| {
        assert_says(error, &[named(phase).2, "HTTP 500", "the database is gone"]);
    })
    .await;
    at_each_phase(&["forbids"], &PHASES, |error, _, phase| {
        assert_says(error, &[named(phase).2, "HTTP 403", "not for you", "headers or scopes"]);
    })
    .await;
}

#[tokio::test]
async fn an_address_that_is_not_an_mcp_server_is_reported() {
    at_each_phase(&["html"], &PHASES, |error, _, phase| {
        assert_says(error, &[named(phase).2, "`text/html`", "Welcome!", "check that `url`"]);
    })
    .await;
    at_each_phase(&["wrong-type", "no-type"], &PHASES, |error, _, phase| {
        assert_says(error, &[named(phase).2, "content type", "check that `url`"]);
    })
    .await;
    at_each_phase(&["not-found"], &["initialize"], |error, _, _| {
        assert_says(error, &["cannot connect", "HTTP 404", "check that `url`", "`type`"]);
    })
    .await;
    at_each_phase(&["not-found"], &["initialized", "list", "call"], |error, _, _| {
        assert_says(error, &["`faulty`"]);
    })
    .await;
}

#[tokio::test]
async fn responses_without_an_answer_are_errors() {
    at_each_phase(&["malformed", "no-response", "empty"], &PHASES, |error, mode, phase| {
        assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{mode} at {phase}: {error}");
        assert_says(error, &["not a JSON-RPC response"]);
    })
    .await;
    at_each_phase(&["stream-ends"], &["list", "call"], |error, mode, phase| {
        assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{mode} at {phase}: {error}");
        assert_says(error, &["before the result"]);
    })
    .await;
    // Accepted and never answered: fails at once without a session's stream, and otherwise at the time limit.
    at_each_phase(&["accepts"], &["initialize"], |error, _, _| {
        assert_says(error, &["HTTP 202", "sent no response"]);
    })
    .await;
    at_each_phase(&["accepts"], &["list", "call"], |error, mode, phase| {
        assert!(matches!(*error.kind, ErrorKind::Timeout { .. }), "{mode} at {phase}: {error}");
    })
    .await;
}

#[tokio::test]
async fn an_endless_message_is_cut_off() {
    at_each_phase(&["huge"], &PHASES, |error, _, _| {
        assert_says(error, &["more than 16777216 bytes"]);
    })
    .await;
    at_each_phase(&["huge-event"], &["list", "call"], |error, _, _| {
        assert_says(error, &["more than 16777216 bytes"]);
    })
    .await;
    // The handshake's stream has a different message.
    at_each_phase(&["huge-event", "stream-ends"], &["initialize"], |error, mode, _| {
        assert!(
            matches!(*error.kind, ErrorKind::Initialize { .. } | ErrorKind::Protocol { .. }),
            "{mode}: {error}"
        );
    })
    .await;
}

#[tokio::test]
async fn redirects_to_another_origin_are_not_followed() {
    let fixture = Fixture::new("redirects-away", "call");
    let error = fixture.error().await;
    assert_says(&error, &["tool `echo`", &fixture.elsewhere, "not followed", "`url`"]);
    assert!(!fixture.reached_elsewhere().await);
    at_each_phase(&["redirects-away"], &["initialize", "initialized", "list"], |error, _, _| {
        assert_says(error, &["redirects to", "not followed"]);
    })
    .await;
}

#[tokio::test]
async fn redirect_loops_end() {
    let mut shown = Vec::new();
    for phase in PHASES {
        let fixture = Fixture::new("redirects-in-circles", phase);
        let error = fixture.error().await;
        shown.push(normal(&error));
        let method = match phase {
            "initialize" => "initialize",
            "list" => "tools/list",
            _ => "tools/call",
        };
        assert!(
            (2..=10).contains(&fixture.seen_of(method).await.len()),
            "{}",
            fixture.seen_of(method).await.len()
        );
    }
    assert_snapshot!(shown.join("\n"), @r"
    MCP server `faulty`: cannot connect: it redirects without a target, or in a loop; check `url`
    MCP server `faulty`: it redirects without a target, or in a loop; check `url` (waiting for the answer to `tools/list`)
    MCP server `faulty`: it redirects without a target, or in a loop; check `url` (waiting for the answer of tool `echo`)
    ");
}

#[tokio::test]
async fn faults_after_the_handshake_are_errors_or_ignored() {
    let matter = ["closes", "hangs", "drips-head"];
    at_each_phase(&matter, &["initialized"], |error, _, _| assert_says(error, &["`faulty`"])).await;
    let harmless = [
        "fails",
        "forbids",
        "html",
        "malformed",
        "no-response",
        "empty",
        "accepts",
        "stream-hangs",
        "huge",
        "drips",
    ];
    let sessions = harmless.into_iter().map(|mode| async move {
        let fixture = Fixture::new(mode, "initialized").impatient();
        let session = fixture.connect().await;
        assert_eq!(call(&session, mode).await.unwrap(), mode);
        watched(session.close()).await;
    });
    join_all(sessions).await;
}

#[tokio::test]
async fn other_servers_are_unaffected() {
    let faulty = Fixture::new("hangs", "initialize").impatient();
    let broken = Fixture::new("huge", "call");
    let sound = Fixture::new("sound", "");
    let named =
        |fixture: &Fixture, name: &str| ServerConfig { name: name.to_owned(), ..fixture.config.clone() };
    let configs = [named(&faulty, "faulty"), named(&broken, "broken"), named(&sound, "sound")];
    let mut sessions = watched(mcp::connect_all(&configs)).await;
    let (name, sound) = sessions.pop().unwrap();
    assert_eq!(name, "sound");
    let (_, broken) = sessions.pop().unwrap();
    let (_, faulty) = sessions.pop().unwrap();
    assert!(matches!(*faulty.unwrap_err().kind, ErrorKind::Timeout { .. }));
    let (sound, broken): (Session, Session) = (sound.unwrap(), broken.unwrap());
    let (big, small) = tokio::join!(call(&broken, "caf"), call(&sound, "small"));
    assert_snapshot!(normal(&big.unwrap_err()), @r"
    MCP server `broken`: broke the protocol: it sent a message of more than 16777216 bytes, so the connection is closed; request less data at a time
    ");
    assert_eq!(small.unwrap(), "small");
    watched(broken.close()).await;
    assert_eq!(call(&sound, "still").await.unwrap(), "still");
    watched(sound.close()).await;
}
