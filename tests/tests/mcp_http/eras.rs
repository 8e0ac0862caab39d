//! Which era of the protocol a server lives in: what it answers to `server/discover`, if anything.

use crate::fixture::{Fixture, call, watched};

/// A session that was begun by a handshake, after one question for the newer protocol.
async fn assert_handshake(mode: &str, phase: &str) {
    let fixture = Fixture::new(mode, phase).impatient();
    let session = match fixture.try_connect().await {
        Ok(session) => session,
        Err(error) => panic!("{mode} at {phase}: {error}"),
    };
    assert_eq!(session.protocol_version(), "2025-11-25", "{mode}");
    assert_eq!(call(&session, mode).await.unwrap(), mode);
    watched(session.close()).await;
    assert_eq!(fixture.seen_of("server/discover").len(), 1, "{mode}");
    assert_eq!(fixture.seen_of("initialize").len(), 1, "{mode}");
}

#[tokio::test]
async fn servers_that_know_only_older_versions_are_asked_to_shake_hands() {
    let modes =
        ["discovers-older", "refuses-version", "refuses-version-with-list", "refuses-version-it-lists"];
    futures::future::join_all(modes.map(|mode| Box::pin(assert_handshake(mode, "")))).await;
}

#[tokio::test]
async fn servers_that_leave_discovery_unanswered_are_asked_to_shake_hands() {
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
    futures::future::join_all(modes.map(|mode| Box::pin(assert_handshake(mode, "discover")))).await;
}

#[tokio::test]
async fn a_server_without_a_handshake_may_be_slow_to_introduce_itself() {
    let fixture = Fixture::new("slow-discover", "").impatient();
    let session = fixture.connect().await;
    assert_eq!(session.protocol_version(), "2026-07-28");
    assert_eq!(call(&session, "after all").await.unwrap(), "after all");
    watched(session.close()).await;
}
