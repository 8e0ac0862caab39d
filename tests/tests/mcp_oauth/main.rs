//! Logins with a scripted browser, renewal of tokens, and servers that must not get tokens.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod distrust;
mod fixture;
mod renewal;

use std::{fs, os::unix::fs::PermissionsExt as _};

use mcp::{Challenge, ErrorKind, Grant, OAuth};

use fixture::{Fixture, assert_says, call, challenge_of, watched};

#[tokio::test]
async fn a_user_logs_in_with_the_browser_and_the_tokens_are_stored() {
    let fixture = Fixture::new("sound");
    let session = fixture.logged_in().await;
    assert_eq!(session.list_tools().await.unwrap().tools.len(), 3);
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;

    // Another process uses them without a login.
    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    assert_eq!(fixture.grants("authorization_code").await.len(), 1);
    assert_eq!(fixture.grants("refresh_token").await.len(), 0);

    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&fixture.store()), 0o600);
    assert_eq!(mode(fixture.store().parent().unwrap()), 0o700);
    fixture.assert_tokens_stayed_home().await;
}

#[tokio::test]
async fn a_login_follows_the_specification() {
    let fixture = Fixture::new("sound");
    watched(fixture.logged_in().await.close()).await;
    let requests = fixture.seen_at("authority").await;
    let registered = requests.iter().find(|line| line["path"] == "/register").unwrap();
    assert_eq!(registered["json"]["application_type"], "native", "{registered}");
    let opened = &requests.iter().find(|line| line["path"] == "/authorize").unwrap()["fields"];
    assert_eq!(opened["scope"], "tools");
    assert_eq!(opened["code_challenge_method"], "S256");
    let form = &fixture.grants("authorization_code").await[0];
    assert_eq!(form["resource"], opened["resource"]);
    assert_eq!(form["redirect_uri"], opened["redirect_uri"]);
}

#[tokio::test]
async fn a_server_without_metadata_is_an_error_without_a_login() {
    let fixture = Fixture::new("no-metadata");
    let error = fixture.connect().await.unwrap_err();
    fixture::assert_says(&error, &["`guarded`", "401", "does not publish how to log in", "`headers`"]);
    assert!(!matches!(*error.kind, ErrorKind::Unauthorized { .. }), "a login is offered: {error}");
    let error = fixture.login(&Challenge::default()).await.unwrap_err();
    fixture::assert_says(&error, &["`guarded`", "does not publish how to log in", "`headers`"]);
    assert!(!fixture.seen_at("authority").await.iter().any(|line| line["path"] == "/authorize"));
}

#[tokio::test]
async fn a_client_id_and_tokens_are_enough() {
    for mode in ["sparse", "sparse+as-form"] {
        let fixture = Fixture::new(mode);
        let session = fixture.logged_in().await;
        assert_eq!(call(&session, "echo").await.unwrap(), "echo", "{mode}");
        fixture.command("expire").await;
        assert_eq!(call(&session, "echo").await.unwrap(), "echo", "{mode}");
        watched(session.close()).await;
        assert_eq!(fixture.grants("refresh_token").await.len(), 1, "{mode}");
        fixture.assert_tokens_stayed_home().await;
    }
}

#[tokio::test]
async fn a_refusal_in_any_form_reaches_the_user() {
    let fixture = Fixture::new("refuses-in-html");
    let challenge = challenge_of(fixture.connect().await.unwrap_err());
    let error = fixture.login(&challenge).await.unwrap_err();
    fixture::assert_says(&error, &["the login failed", "answered with HTTP 503: Maintenance Back at noon"]);
}

#[tokio::test]
async fn configured_endpoints_need_no_metadata() {
    let fixture = Fixture::with_endpoints("no-metadata");
    let session = fixture.logged_in().await;
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    fixture.assert_tokens_stayed_home().await;
}

#[tokio::test]
async fn a_tool_that_needs_more_scopes_leads_to_another_login() {
    let fixture = Fixture::new("sound");
    let session = fixture.logged_in().await;
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    let challenge = challenge_of(call(&session, "admin").await.unwrap_err());
    assert!(challenge.is_for_scope());
    fixture.login(&challenge).await.unwrap();
    assert_eq!(call(&session, "admin").await.unwrap(), "admin", "the session must use the new token");
    watched(session.close()).await;

    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "admin").await.unwrap(), "admin");
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    let opened = fixture.seen_at("authority").await.into_iter().filter(|line| line["path"] == "/authorize");
    let scopes: Vec<_> = opened.map(|line| line["fields"]["scope"].clone()).collect();
    assert_eq!(scopes, ["tools", "tools admin"]);
}

#[tokio::test]
async fn client_credentials_need_no_user() {
    let settings = OAuth {
        client_id: Some("machine".to_owned()),
        client_secret: Some("secret-of-machine".to_owned()),
        grant: Grant::ClientCredentials,
        ..OAuth::default()
    };
    let fixture = Fixture::with("sound", settings);
    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    fixture.command("revoke").await;
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    assert_eq!(fixture.grants("client_credentials").await.len(), 2);
    fixture.assert_tokens_stayed_home().await;
}

#[tokio::test]
async fn a_client_authenticates_by_a_key_of_each_kind() {
    for kind in ["P-256", "P-384", "Ed25519", "RSA"] {
        let fixture = Fixture::signing("sound", kind);
        let session = fixture.connect().await.unwrap();
        assert_eq!(call(&session, "echo").await.unwrap(), "echo");
        fixture.command("revoke").await;
        // With a new assertion, because each is used once.
        assert_eq!(call(&session, "echo").await.unwrap(), "echo");
        watched(session.close()).await;
        let forms = fixture.grants("client_credentials").await;
        assert_eq!(forms.len(), 2, "{forms:#?}");
        assert!(forms.iter().all(|form| form.get("client_secret").is_none()), "{forms:#?}");
        fixture.assert_tokens_stayed_home().await;
    }
}

#[tokio::test]
async fn a_key_signs_by_an_algorithm_that_the_authorization_server_takes() {
    let fixture = Fixture::signing("signed", "RSA");
    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    let error = Fixture::signing("signed", "Ed25519").connect().await.unwrap_err();
    assert_says(
        &error,
        &["the authorization server takes no signature of the configured key; it supports: ES256, PS512"],
    );
}

#[tokio::test]
async fn a_key_can_be_in_a_file() {
    let mut fixture = Fixture::signing("sound", "P-256");
    let file = fixture.store().with_file_name("key.pem");
    let settings = fixture.settings();
    let key = settings.private_key.take().unwrap();
    settings.private_key_file = Some(file.clone());
    settings.key_id = Some("key-7".to_owned());
    let error = fixture.connect().await.unwrap_err();
    assert_says(&error, &[&format!("the client's private key, {}, does not exist", file.display())]);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, key).unwrap();
    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
}

#[tokio::test]
async fn the_secret_of_a_confidential_client_is_stored_with_its_tokens() {
    let fixture = Fixture::new("confidential");
    watched(fixture.logged_in().await.close()).await;
    fixture.command("expire").await;
    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    assert_eq!(fixture.grants("refresh_token").await.len(), 1);
    fixture.assert_tokens_stayed_home().await;
}

#[tokio::test]
async fn a_logout_deletes_and_revokes_the_tokens() {
    let fixture = Fixture::new("sound");
    watched(fixture.logged_in().await.close()).await;
    assert!(watched(mcp::logout(&fixture.config)).await.unwrap());
    assert!(!fixture.store().exists());
    assert!(fixture.seen_at("authority").await.iter().any(|line| line["path"] == "/revoke"));
    fixture.challenge().await;
    assert!(!watched(mcp::logout(&fixture.config)).await.unwrap());
}
