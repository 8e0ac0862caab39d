//! Expired tokens: before a request, during a call, permanently, and concurrently.

use std::process::{Command, Stdio};

use end_to_end::page::normal;
use insta::assert_snapshot;
use mcp::{ErrorKind, OAuth, Remote, ServerConfig, Session, Transport};

use crate::fixture::{Fixture, call, challenge_of, watched};

#[tokio::test]
async fn an_expired_token_is_renewed_before_it_is_sent() {
    let fixture = Fixture::new("short");
    let session = fixture.logged_in().await;
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    // The login's token, access-3, was never sent.
    let tokens = fixture.seen_at("resource").await.into_iter().map(|line| line["authorization"].clone());
    let sent: Vec<_> = tokens.filter(|token| !token.is_null()).collect();
    assert_eq!(sent.first().unwrap(), "Bearer access-5", "{sent:?}");
    fixture.assert_tokens_stayed_home().await;
}

#[tokio::test]
async fn a_rejected_token_is_renewed_once_and_the_request_succeeds() {
    let fixture = Fixture::new("sound");
    let session = fixture.logged_in().await;
    fixture.command("expire").await;
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    assert_eq!(fixture.grants("refresh_token").await.len(), 1);
    fixture.assert_tokens_stayed_home().await;
}

#[tokio::test]
async fn a_token_that_expires_during_a_call_is_renewed_without_repeating_the_call() {
    let fixture = Fixture::new("sound");
    let session = fixture.logged_in().await;
    assert_eq!(call(&session, "slow").await.unwrap(), "slow");
    watched(session.close()).await;
    let calls = fixture.seen_at("resource").await;
    let calls = calls.iter().filter(|line| line["json"]["method"] == "tools/call");
    assert_eq!(calls.count(), 1);
    assert_eq!(fixture.grants("refresh_token").await.len(), 1);
    fixture.assert_tokens_stayed_home().await;
}

#[tokio::test]
async fn a_refresh_token_is_replaced_by_the_renewals() {
    let fixture = Fixture::new("sound");
    let session = fixture.logged_in().await;
    for _ in 0..3 {
        fixture.command("expire").await;
        assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    }
    watched(session.close()).await;
    let mut used: Vec<_> = fixture
        .grants("refresh_token")
        .await
        .into_iter()
        .map(|form| form["refresh_token"].to_string())
        .collect();
    used.dedup();
    assert_eq!(used.len(), 3);
}

#[tokio::test]
async fn a_revoked_token_requires_a_login_after_one_renewal_attempt() {
    let fixture = Fixture::new("sound");
    let session = fixture.logged_in().await;
    fixture.command("revoke").await;
    let error = call(&session, "echo").await.unwrap_err();
    let text = error.to_string();
    assert_snapshot!(normal(&text), @r"
    MCP server `guarded`: the server requires a login: it answered with HTTP 401: no entry (waiting for the answer of tool `echo`)
    ");
    let challenge = challenge_of(error);
    call(&session, "echo").await.unwrap_err();
    watched(session.close()).await;
    assert_eq!(
        fixture.grants("refresh_token").await.len(),
        1,
        "the second call or the close tried to renew again"
    );

    fixture.login(&challenge).await.unwrap();
    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
}

#[tokio::test]
async fn without_a_refresh_token_expiry_requires_a_login() {
    let fixture = Fixture::new("no-refresh");
    let session = fixture.logged_in().await;
    fixture.command("expire").await;
    let error = call(&session, "echo").await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Unauthorized { .. }), "{error}");
    watched(session.close()).await;
    assert_eq!(fixture.grants("refresh_token").await.len(), 0);
}

/// A refresh token is valid once, so a second renewal with it would end the login.
#[tokio::test]
async fn concurrent_calls_with_an_expired_token_renew_it_once() {
    let fixture = Fixture::new("sound");
    watched(fixture.logged_in().await.close()).await;
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(fixture.connect().await.unwrap());
    }
    fixture.command("expire").await;
    let calls = sessions.iter().flat_map(|session| (0..4).map(move |_| call(session, "echo")));
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer.unwrap(), "echo");
    }
    assert_eq!(fixture.grants("refresh_token").await.len(), 1);
    for session in sessions {
        watched(session.close()).await;
    }
}

const ADDRESS: &str = "MCP_OAUTH_TEST_ADDRESS";
const STORE: &str = "MCP_OAUTH_TEST_STORE";

#[tokio::test]
async fn concurrent_processes_with_an_expired_token_renew_it_once() {
    let fixture = Fixture::new("sound");
    watched(fixture.logged_in().await.close()).await;
    fixture.command("expire").await;
    let Transport::Http(remote) = &fixture.config.transport else { unreachable!() };
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "renewal::one_of_several_processes", "--ignored"]);
        command.env(ADDRESS, &remote.url).env(STORE, fixture.store());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let processes: Vec<_> = (0..3).map(|_| start()).collect();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(fixture.grants("refresh_token").await.len(), 1);
}

#[tokio::test]
#[ignore = "a process of the test above"]
async fn one_of_several_processes() {
    let remote = Remote {
        url: std::env::var(ADDRESS).unwrap(),
        oauth: Some(OAuth { store: std::env::var_os(STORE).map(Into::into), ..OAuth::default() }),
        ..Remote::default()
    };
    let config = ServerConfig::new("guarded", Transport::Http(remote));
    let session = watched(Session::connect(&config)).await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
}
