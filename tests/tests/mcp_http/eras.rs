//! Detection of a server's protocol era by its answer to `server/discover`, if any.

use crate::fixture::{Fixture, call, watched};

/// Checks that the session starts with a handshake after this many discovery requests.
async fn assert_handshake(mode: &str, phase: &str, discoveries: usize) {
    let fixture = Fixture::new(mode, phase).impatient();
    let session = match fixture.try_connect().await {
        Ok(session) => session,
        Err(error) => panic!("{mode} at {phase}: {error}"),
    };
    assert_eq!(session.protocol_version(), "2025-11-25", "{mode}");
    assert_eq!(call(&session, mode).await.unwrap(), mode);
    watched(session.close()).await;
    assert_eq!(fixture.seen_of("server/discover").await.len(), discoveries, "{mode}");
    assert_eq!(fixture.seen_of("initialize").await.len(), 1, "{mode}");
}

#[tokio::test]
async fn servers_with_only_older_versions_get_a_handshake() {
    let modes = [
        ("discovers-older", 1),
        ("refuses-version", 1),
        ("refuses-version-with-list", 1),
        // A rejection that lists the requested version causes one retry.
        ("refuses-version-it-lists", 2),
    ];
    let checks = modes.map(|(mode, discoveries)| Box::pin(assert_handshake(mode, "", discoveries)));
    futures::future::join_all(checks).await;
}

#[tokio::test]
async fn servers_that_do_not_answer_discovery_get_a_handshake() {
    let silent =
        ["hangs", "stream-hangs", "stream-ends", "stream-garbage", "comments", "drips", "drips-head"];
    let refusing = [
        "accepts",
        "fails",
        "not-found",
        "html",
        "wrong-type",
        "no-type",
        "malformed",
        "no-response",
        "empty",
    ];
    let modes = silent.into_iter().chain(refusing);
    futures::future::join_all(modes.map(|mode| Box::pin(assert_handshake(mode, "discover", 1)))).await;
}

#[tokio::test]
async fn a_version_that_is_rejected_and_listed_is_requested_once_more() {
    let fixture = Fixture::new("refuses-version-once", "");
    let session = fixture.connect().await;
    assert_eq!(session.protocol_version(), "2026-07-28");
    assert_eq!(call(&session, "again").await.unwrap(), "again");
    watched(session.close()).await;
}

#[tokio::test]
async fn a_stateless_server_may_answer_discovery_slowly() {
    let fixture = Fixture::new("slow-discover", "").impatient();
    let session = fixture.connect().await;
    assert_eq!(session.protocol_version(), "2026-07-28");
    assert_eq!(call(&session, "after all").await.unwrap(), "after all");
    watched(session.close()).await;
}
