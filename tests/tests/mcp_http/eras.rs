//! Which era of the protocol a server lives in: what it answers to `server/discover`, if anything.

use crate::fixture::{Fixture, call, watched};

/// A session that was begun by a handshake, after so many questions for the newer protocol.
async fn assert_handshake(mode: &str, phase: &str, questions: usize) {
    let fixture = Fixture::new(mode, phase).impatient();
    let session = match fixture.try_connect().await {
        Ok(session) => session,
        Err(error) => panic!("{mode} at {phase}: {error}"),
    };
    assert_eq!(session.protocol_version(), "2025-11-25", "{mode}");
    assert_eq!(call(&session, mode).await.unwrap(), mode);
    watched(session.close()).await;
    assert_eq!(fixture.seen_of("server/discover").len(), questions, "{mode}");
    assert_eq!(fixture.seen_of("initialize").len(), 1, "{mode}");
}

#[tokio::test]
async fn servers_that_know_only_older_versions_are_asked_to_shake_hands() {
    let modes = [
        ("discovers-older", 1),
        ("refuses-version", 1),
        ("refuses-version-with-list", 1),
        // Whoever is told the version that it has asked for asks once more.
        ("refuses-version-it-lists", 2),
    ];
    let asked = modes.map(|(mode, questions)| Box::pin(assert_handshake(mode, "", questions)));
    futures::future::join_all(asked).await;
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
    futures::future::join_all(modes.map(|mode| Box::pin(assert_handshake(mode, "discover", 1)))).await;
}

#[tokio::test]
async fn a_version_that_is_refused_and_offered_is_asked_for_once_more() {
    let fixture = Fixture::new("refuses-version-once", "").impatient();
    let session = fixture.connect().await;
    assert_eq!(session.protocol_version(), "2026-07-28");
    assert_eq!(call(&session, "again").await.unwrap(), "again");
    watched(session.close()).await;
}

#[tokio::test]
async fn a_server_without_a_handshake_may_be_slow_to_introduce_itself() {
    let fixture = Fixture::new("slow-discover", "").impatient();
    let session = fixture.connect().await;
    assert_eq!(session.protocol_version(), "2026-07-28");
    assert_eq!(call(&session, "after all").await.unwrap(), "after all");
    watched(session.close()).await;
}
