//! Authorities and servers that are not what they say: nobody is logged in, and nothing gets out.

use mcp::ErrorKind;

use crate::fixture::{Fixture, assert_says, call, watched};

/// Tries to log in; gives the error's text, after which there is no token anywhere.
async fn refused(mode: &str) -> mcp::Error {
    let fixture = Fixture::new(mode);
    let challenge = fixture.challenge().await;
    let error = fixture.login(&challenge).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Login { .. }), "{mode}: {error}");
    assert!(!fixture.store().exists(), "{mode}");
    assert_eq!(fixture.grants("authorization_code").len(), 0, "{mode}");
    fixture.assert_tokens_stayed_home();
    fixture.challenge().await;
    error
}

#[tokio::test]
async fn a_browser_that_comes_back_from_another_issuer_is_sent_away() {
    assert_says(&refused("wrong-issuer").await, &["issuer"]);
    assert_says(&refused("no-issuer").await, &["iss"]);
}

#[tokio::test]
async fn a_browser_that_comes_back_with_another_state_is_sent_away() {
    assert_says(&refused("wrong-state").await, &["`state`"]);
}

#[tokio::test]
async fn metadata_of_another_issuer_or_resource_are_not_used() {
    assert_says(&refused("wrong-metadata-issuer").await, &["issuer"]);
    assert_says(&refused("wrong-resource").await, &["resource"]);
}

#[tokio::test]
async fn an_authority_without_s256_is_not_used() {
    assert_says(&refused("no-pkce").await, &["S256"]);
}

#[tokio::test]
async fn a_person_who_declines_is_quoted() {
    assert_says(&refused("declines").await, &["access_denied", "not today"]);
}

#[tokio::test]
async fn a_token_endpoint_that_redirects_elsewhere_takes_nothing_there() {
    let fixture = Fixture::new("token-redirects");
    let challenge = fixture.challenge().await;
    let error = fixture.login(&challenge).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Login { .. }), "{error}");
    assert_eq!(fixture.seen_at("elsewhere"), [""; 0]);
}

#[tokio::test]
async fn a_server_that_redirects_elsewhere_takes_no_token_there() {
    let fixture = Fixture::new("redirects");
    let session = fixture.logged_in().await;
    assert_says(&call(&session, "echo").await.unwrap_err(), &["redirects to", "not followed"]);
    watched(session.close()).await;
    assert_eq!(fixture.seen_at("elsewhere"), [""; 0]);
}

#[tokio::test]
async fn metadata_may_lie_on_another_origin_which_gets_no_token() {
    let fixture = Fixture::new("metadata-elsewhere");
    let challenge = fixture.challenge().await;
    fixture.login(&challenge).await.unwrap();
    let session = fixture.connect().await.unwrap();
    assert_eq!(call(&session, "echo").await.unwrap(), "echo");
    watched(session.close()).await;
    assert!(!fixture.seen_at("elsewhere").is_empty());
    fixture.assert_tokens_stayed_home();
}

#[tokio::test]
async fn tokens_are_sent_to_the_address_that_they_were_got_for_and_to_no_other() {
    let first = Fixture::new("sound");
    watched(first.logged_in().await.close()).await;
    // Another server is configured with the same file.
    let mut second = Fixture::new("sound");
    let mcp::Transport::Http(remote) = &mut second.config.transport else { unreachable!() };
    remote.oauth.as_mut().unwrap().store = Some(first.store());
    second.challenge().await;
    for request in second.seen_at("resource") {
        assert!(request["authorization"].is_null(), "{request}");
    }
}
