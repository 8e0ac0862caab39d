//! Malicious authorization servers and servers: the login fails and no secret leaks.

use end_to_end::page::normal;
use insta::assert_snapshot;
use mcp::{ErrorKind, OAuth, Transport};

use crate::fixture::{Fixture, call, watched};

/// Tries to log in; returns the error, and checks that there is no token.
async fn refused(mode: &str) -> mcp::Error {
    refused_by(Fixture::new(mode), mode).await
}

async fn refused_by(fixture: Fixture, mode: &str) -> mcp::Error {
    let challenge = fixture.challenge().await;
    let error = fixture.login(&challenge).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Login { .. }), "{mode}: {error}");
    assert!(!fixture.store().exists(), "{mode}");
    assert_eq!(fixture.grants("authorization_code").await.len(), 0, "{mode}");
    fixture.assert_tokens_stayed_home().await;
    fixture.challenge().await;
    error
}

#[tokio::test]
async fn a_redirect_from_another_issuer_is_rejected() {
    assert_snapshot!(normal(&refused("wrong-issuer").await), @r"
    MCP server `guarded`: the login failed: Authorization server issuer mismatch: expected http://127.0.0.1:[port], received http://127.0.0.1:[port]
    ");
    assert_snapshot!(normal(&refused("no-issuer").await), @r"
    MCP server `guarded`: the login failed: Authorization server response missing required issuer: expected http://127.0.0.1:[port]
    ");
    let mode = "no-metadata+wrong-issuer";
    assert_snapshot!(normal(&refused_by(Fixture::with_endpoints(mode), mode).await), @r"
    MCP server `guarded`: the login failed: the browser returned from the authorization server http://127.0.0.1:[port], which is not that of the configured `authorization_url`, so its code was not used
    ");
}

#[tokio::test]
async fn a_redirect_with_another_state_is_rejected() {
    assert_snapshot!(normal(&refused("wrong-state").await), @r"
    MCP server `guarded`: the login failed: the browser returned with a `state` that does not belong to this login, so its code was not used; try again, and do not trust the page that sent it
    ");
}

#[tokio::test]
async fn metadata_of_another_issuer_or_resource_is_not_used() {
    assert_snapshot!(normal(&refused("wrong-metadata-issuer").await), @r"
    MCP server `guarded`: the login failed: Authorization server issuer mismatch: expected http://127.0.0.1:[port]/, received http://127.0.0.1:[port]
    ");
    assert_snapshot!(normal(&refused("wrong-resource").await), @r"
    MCP server `guarded`: the login failed: Protected resource metadata at http://127.0.0.1:[port]/.well-known/oauth-protected-resource/mcp is unusable: Protected resource metadata resource mismatch: reference 'http://127.0.0.1:[port]/mcp', permitted 'http://127.0.0.1:[port]/mcp'
    ");
}

#[tokio::test]
async fn an_authorization_server_without_s256_is_not_used() {
    assert_snapshot!(normal(&refused("no-pkce").await), @r"
    MCP server `guarded`: the login failed: Authorization server does not support the required PKCE code challenge method (S256)
    ");
}

#[tokio::test]
async fn a_declined_login_quotes_the_reason() {
    assert_snapshot!(normal(&refused("declines").await), @r"
    MCP server `guarded`: the login failed: the authorization server refuses: access_denied (not today)
    ");
}

#[tokio::test]
async fn a_redirecting_token_endpoint_leaks_nothing() {
    let fixture = Fixture::new("token-redirects");
    let challenge = fixture.challenge().await;
    let error = fixture.login(&challenge).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Login { .. }), "{error}");
    assert_eq!(fixture.seen_at("elsewhere").await, [""; 0]);
}

#[tokio::test]
async fn a_redirecting_server_leaks_no_token() {
    let fixture = Fixture::new("redirects");
    let session = fixture.logged_in().await;
    assert_snapshot!(normal(&call(&session, "echo").await.unwrap_err()), @r"
    MCP server `guarded`: it redirects to http://127.0.0.1:[port]/mcp, which is not followed; if that is the server, set `url` to that address (waiting for the answer of tool `echo`)
    ");
    watched(session.close()).await;
    assert_eq!(fixture.seen_at("elsewhere").await, [""; 0]);
}

#[tokio::test]
async fn metadata_may_be_on_another_origin_which_gets_no_token() {
    let fixture = Fixture::new("metadata-elsewhere");
    let challenge = fixture.challenge().await;
    fixture.login(&challenge).await.unwrap();
    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    assert!(!fixture.seen_at("elsewhere").await.is_empty());
    fixture.assert_tokens_stayed_home().await;
}

#[tokio::test]
async fn tokens_are_sent_only_to_the_address_they_were_issued_for() {
    let first = Fixture::new("sound");
    watched(first.logged_in().await.close()).await;
    // A second server is configured with the same token file.
    let mut second = Fixture::new("sound");
    let Transport::Http(remote) = &mut second.config.transport else { unreachable!() };
    remote.oauth.as_mut().unwrap().store = Some(first.store());
    second.challenge().await;
    for request in second.seen_at("resource").await {
        assert!(request["authorization"].is_null(), "{request}");
    }
}

/// Changes the settings of a server.
fn configure(fixture: &mut Fixture, change: impl FnOnce(&mut OAuth)) {
    let Transport::Http(remote) = &mut fixture.config.transport else { unreachable!() };
    change(remote.oauth.as_mut().unwrap());
}

#[tokio::test]
async fn tokens_are_neither_sent_nor_renewed_with_changed_settings() {
    type Change = fn(&mut OAuth, String);
    let changes: [(&str, Change); 4] = [
        ("oauth.token_url", |oauth, elsewhere| oauth.token_url = Some(format!("{elsewhere}/token"))),
        ("oauth.authorization_url", |oauth, elsewhere| oauth.authorization_url = Some(elsewhere)),
        ("oauth.client_id", |oauth, _| oauth.client_id = Some("another-client".to_owned())),
        ("oauth.client_secret", |oauth, _| oauth.client_secret = Some("another-secret-1".to_owned())),
    ];
    let mut shown = Vec::new();
    for (name, change) in changes {
        let mut fixture = Fixture::new("confidential");
        watched(fixture.logged_in().await.close()).await;
        fixture.command("expire").await;
        let before = fixture.seen_at("resource").await.len();
        let elsewhere = fixture.elsewhere();
        configure(&mut fixture, |oauth| change(oauth, elsewhere));
        let error = fixture.connect().await.unwrap_err();
        shown.push(normal(&error));
        assert_eq!(fixture.seen_at("elsewhere").await, [""; 0], "{name}");
        assert_eq!(fixture.grants("refresh_token").await.len(), 0, "{name}");
        for request in &fixture.seen_at("resource").await[before..] {
            assert!(request["authorization"].is_null(), "{name}: {request}");
        }
        // With the original settings, the tokens are valid.
        configure(&mut fixture, |oauth| {
            *oauth = OAuth { store: oauth.store.take(), ..OAuth::default() };
        });
        assert_eq!(call(&fixture.connect().await.unwrap(), "echo").await.unwrap(), "echo", "{name}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    MCP server `guarded`: cannot connect: its tokens are not used, because they were issued with another oauth.token_url than is configured now; if the change is intended, log in again (`toolsmith mcp login`), otherwise remove it from the configuration
    MCP server `guarded`: cannot connect: its tokens are not used, because they were issued with another oauth.authorization_url than is configured now; if the change is intended, log in again (`toolsmith mcp login`), otherwise remove it from the configuration
    MCP server `guarded`: cannot connect: its tokens are not used, because they were issued with another oauth.client_id than is configured now; if the change is intended, log in again (`toolsmith mcp login`), otherwise remove it from the configuration
    MCP server `guarded`: cannot connect: its tokens are not used, because they were issued with another oauth.client_secret than is configured now; if the change is intended, log in again (`toolsmith mcp login`), otherwise remove it from the configuration
    ");
}

#[tokio::test]
async fn a_new_login_replaces_tokens_of_other_settings() {
    let mut fixture = Fixture::new("sound");
    watched(fixture.logged_in().await.close()).await;
    configure(&mut fixture, |oauth| {
        oauth.client_id = Some("machine".to_owned());
        oauth.client_secret = Some("secret-of-machine".to_owned());
        oauth.grant = mcp::Grant::ClientCredentials;
    });
    assert_snapshot!(normal(&fixture.connect().await.unwrap_err()), @r"
    MCP server `guarded`: cannot connect: its tokens are not used, because they were issued with another oauth.client_id than is configured now; if the change is intended, log in again (`toolsmith mcp login`), otherwise remove it from the configuration
    ");
    let login = mcp::login(&fixture.config, None, mcp::Browser::Here, |_| async { None });
    watched(Box::pin(login)).await.unwrap();
    assert_eq!(call(&fixture.connect().await.unwrap(), "echo").await.unwrap(), "echo");
}

#[tokio::test]
async fn a_changed_token_endpoint_gets_no_refresh_token() {
    let fixture = Fixture::new("moves");
    watched(fixture.logged_in().await.close()).await;
    fixture.command("expire").await;
    fixture.challenge().await;
    assert_eq!(fixture.seen_at("elsewhere").await, [""; 0]);
    assert_eq!(fixture.grants("refresh_token").await.len(), 0);
    fixture.assert_tokens_stayed_home().await;
}
