//! Renewals whose caller stops waiting, against an authorization server in this process.

use futures::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::transport::auth::OAuthHttpClientError;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::*;
use crate::server_config::Transport;

const SERVER: &str = "https://server.example/mcp";
const TOKEN_URL: &str = "https://authority.example/token";

/// An authorization server that holds a token request until released, then sends the next token or a failure.
#[derive(Default)]
struct Authority {
    /// Notified when a token request arrives.
    asked: Notify,
    /// Releases the response.
    answers: Notify,
    /// The status and the body of its answer, instead of tokens.
    fails: Option<(u16, String)>,
    forms: Mutex<Vec<String>>,
}

impl OAuthTransport for Authority {
    fn send(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> BoxFuture<'_, Result<http::Response<Vec<u8>>, OAuthHttpClientError>> {
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let json = http::Response::builder().header("content-type", "application/json");
            if head.uri != TOKEN_URL {
                return Ok(json.status(404).body(b"{}".to_vec())?);
            }
            let count = {
                let mut forms = self.forms.lock();
                forms.push(String::from_utf8(body).unwrap());
                forms.len()
            };
            self.asked.notify_one();
            self.answers.notified().await;
            if let Some((status, body)) = &self.fails {
                return Ok(json.status(*status).body(body.clone().into_bytes())?);
            }
            let tokens = tokens(&format!("new-access-{count}"), &format!("new-refresh-{count}"));
            Ok(json.body(tokens.to_string().into_bytes())?)
        })
    }
}

fn tokens(access: &str, refresh: &str) -> Value {
    json!({ "access_token": access, "refresh_token": refresh, "token_type": "bearer", "expires_in": 3600 })
}

/// An authorizer at `authority`, with the tokens of a login that expire in `left` seconds.
async fn authorizer(
    authority: &Arc<Authority>,
    file: Option<std::path::PathBuf>,
    left: i64,
) -> Arc<Authorizer> {
    let settings = OAuth { store: file, token_url: Some(TOKEN_URL.to_owned()), ..OAuth::default() };
    let mut authorizer = Authorizer::new(&Url::parse(SERVER).unwrap(), &settings);
    authorizer.transport = Some(authority.clone());
    let received = store::now().checked_add_signed(left - 3600).unwrap();
    let record = json!({
        "version": 1,
        "url": SERVER,
        "client": { "id": "client", "secret": null, "redirect_uri": "" },
        "metadata": { "authorization_endpoint": TOKEN_URL, "token_endpoint": TOKEN_URL },
        "credentials": {
            "client_id": "client",
            "token_response": tokens("old-access", "old-refresh"),
            "token_received_at": received
        }
    });
    authorizer.store.write(serde_json::from_value(record).unwrap()).await.unwrap();
    Arc::new(authorizer)
}

/// Requests a token and gives up while the authorization server holds the token request.
async fn give_up_in_the_middle(authority: &Authority, authorizer: &Arc<Authorizer>) {
    tokio::select! {
        token = authorizer.token() => panic!("the server has not responded, but there is {token:?}"),
        () = authority.asked.notified() => {}
    }
}

#[tokio::test]
async fn an_abandoned_renewal_is_still_stored() {
    let folder = tempfile::tempdir().unwrap();
    for file in [None, Some(folder.path().join("tokens.json"))] {
        let authority = Arc::new(Authority::default());
        let authorizer = authorizer(&authority, file, 0).await;
        give_up_in_the_middle(&authority, &authorizer).await;
        assert!(exchanges_are_under_way());
        authority.answers.notify_one();
        exchanges_end().await;
        let stored = authorizer.store.read().await.unwrap().unwrap();
        assert_eq!(stored.refresh_token().as_deref(), Some("new-refresh-1"));
        assert_eq!(text(authorizer.token().await).as_deref(), Some("new-access-1"));
    }
}

fn text(sent: Result<Option<SentToken>, HttpFailure>) -> Option<String> {
    sent.unwrap().map(|sent| sent.text)
}

#[tokio::test]
async fn callers_after_an_abandoned_renewal_wait_for_it() {
    // Without a file, the only lock is the one in this process.
    let authority = Arc::new(Authority::default());
    let authorizer = authorizer(&authority, None, 0).await;
    give_up_in_the_middle(&authority, &authorizer).await;
    let mut next = Box::pin(authorizer.token());
    assert!(futures::poll!(next.as_mut()).is_pending());
    authority.answers.notify_one();
    assert_eq!(text(next.await).as_deref(), Some("new-access-1"));
    assert_eq!(authority.forms.lock().len(), 1);
}

/// The server has the last word on a token, and the failure is the reason if it rejects an expired one.
#[tokio::test]
async fn a_failed_early_renewal_keeps_the_token() {
    for (left, is_reason) in [(20, false), (0, true)] {
        let authority = Arc::new(Authority { fails: Some((503, "{}".to_owned())), ..Authority::default() });
        authority.answers.notify_one();
        let authorizer = authorizer(&authority, None, left).await;
        let sent = authorizer.token().await.unwrap().unwrap();
        assert_eq!((sent.text.as_str(), sent.failure.is_some()), ("old-access", is_reason));
        assert_eq!(authority.forms.lock().len(), 1);
    }
}

/// Proves that no answer of an authorization server to a renewal, however odd, costs the login.
#[tokio::test]
async fn an_odd_renewal_keeps_the_login_and_says_what_was_answered() {
    for (status, answer, says) in [
        (200, r#"{"error":"slow_down"}"#, "HTTP 200: slow_down"),
        (200, "<title>Maintenance</title>", "HTTP 200: Maintenance"),
        (400, r#"[{"error":{"message":"try later"}}]"#, "HTTP 400: try later"),
        (502, r#"{"error":"invalid_grant"}"#, "HTTP 502: invalid_grant"),
        (200, r#"{"token":"x"}"#, "it has token"),
    ] {
        let authority =
            Arc::new(Authority { fails: Some((status, answer.to_owned())), ..Authority::default() });
        authority.answers.notify_one();
        let authorizer = authorizer(&authority, None, 0).await;
        let sent = authorizer.token().await.unwrap().unwrap();
        let failure = sent.failure.unwrap().to_string();
        assert!(failure.starts_with("its token can't be renewed: ") && failure.contains(says), "{failure}");
        let stored = authorizer.store.read().await.unwrap().unwrap();
        assert_eq!(stored.refresh_token().as_deref(), Some("old-refresh"));
    }
    let odd = r#"{"access_token":"odd-access","expires_in":"3599.5","scope":["a"],"refresh_token":null}"#;
    let authority = Arc::new(Authority { fails: Some((201, odd.to_owned())), ..Authority::default() });
    authority.answers.notify_one();
    let authorizer = authorizer(&authority, None, 0).await;
    assert_eq!(text(authorizer.token().await).as_deref(), Some("odd-access"));
    let stored = authorizer.store.read().await.unwrap().unwrap();
    assert_eq!(stored.refresh_token().as_deref(), Some("old-refresh"));
    assert!(!stored.ends_soon() && stored.expires().is_some());
}

#[tokio::test]
async fn an_expired_token_that_cant_be_renewed_is_sent_until_the_server_rejects_it() {
    let refused = r#"{"error":"invalid_grant"}"#.to_owned();
    let authority = Arc::new(Authority { fails: Some((400, refused)), ..Authority::default() });
    authority.answers.notify_one();
    let authorizer = authorizer(&authority, None, -100).await;
    for _ in 0..3 {
        assert_eq!(text(authorizer.token().await).as_deref(), Some("old-access"));
    }
    assert_eq!(authority.forms.lock().len(), 1, "a dead refresh token was used again");
    assert_eq!(authorizer.renew(Some("old-access"), None).await.unwrap(), None);
    assert!(authorizer.token().await.unwrap().is_none());
}

#[tokio::test]
async fn a_kept_login_says_when_it_expires_and_has_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.json");
    let of = |url: &str, settings: OAuth| {
        let mut config = ServerConfig::http("s", url);
        if let Transport::Http(remote) = &mut config.transport {
            remote.oauth = Some(settings);
        }
        kept_login(&config)
    };
    let settings = || OAuth { store: Some(file.clone()), ..OAuth::default() };
    assert_eq!(of(SERVER, settings()).unwrap(), None);
    let before = store::now();
    authorizer(&Arc::default(), Some(file.clone()), 600).await;
    let kept = of(SERVER, settings()).unwrap().unwrap();
    assert!(
        kept.is_renewed && (before + 600..=store::now() + 600).contains(&kept.expires.unwrap()),
        "{kept:?}"
    );
    assert_eq!(of("https://other.example/mcp", settings()).unwrap(), None);
    let other = OAuth { client_id: Some("other".to_owned()), ..settings() };
    assert!(of(SERVER, other).unwrap_err().to_string().contains("oauth.client_id"));
    assert_eq!(kept_login(&ServerConfig::stdio("s", "program", [""; 0])).unwrap(), None);
}

/// A record of tokens for [`SERVER`], with these changes of its JSON.
fn record(changes: &[(&str, Value)]) -> store::Record {
    let mut record = json!({
        "version": 1,
        "url": SERVER,
        "client": { "id": "client", "secret": "secret", "redirect_uri": "" },
        "metadata": {
            "authorization_endpoint": "https://authority.example/authorize", "token_endpoint": TOKEN_URL,
            "issuer": "https://authority.example"
        },
        "credentials": {
            "client_id": "client", "issuer": "https://authority.example", "token_received_at": store::now(),
            "token_response": tokens("access", "refresh")
        }
    });
    for (place, value) in changes {
        *record.pointer_mut(place).unwrap() = value.clone();
    }
    serde_json::from_value(record).unwrap()
}

/// The URL of a record, and whether its tokens are for the server.
#[tokio::test]
async fn only_tokens_for_exactly_this_server_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (url, is_for) in [
        (SERVER, true),
        ("https://server.example/", false),
        ("https://server.example/mcp/", false),
        ("https://server.example/mcp?a=1", false),
        ("https://server.example:8443/mcp", false),
        ("http://server.example/mcp", false),
        ("https://other.example/mcp", false),
    ] {
        let path = folder.path().join("tokens.json");
        let store = Store::new(Some(path), &Url::parse(SERVER).unwrap());
        store.write(record(&[("/url", json!(url))])).await.unwrap();
        assert_eq!(store.read().await.unwrap().is_some(), is_for, "{url}");
        assert_eq!(record(&[("/url", json!(url))]).is_for(SERVER), is_for, "{url}");
    }
}

/// The settings, and the one that differs from those that the tokens were issued with.
#[test]
fn tokens_are_bound_to_the_settings_they_were_issued_with() {
    let is = |text: &str| Some(text.to_owned());
    let of = OAuth::default;
    for (settings, differs) in [
        (of(), None),
        (OAuth { client_id: is("client"), client_secret: is("secret"), ..of() }, None),
        (OAuth { client_id: is("other"), ..of() }, Some("oauth.client_id")),
        (OAuth { client_secret: is("other"), ..of() }, Some("oauth.client_secret")),
        (OAuth { token_url: is(TOKEN_URL), ..of() }, None),
        (OAuth { token_url: is("https://authority.example/other"), ..of() }, Some("oauth.token_url")),
        (OAuth { authorization_url: is("https://authority.example/authorize"), ..of() }, None),
        (OAuth { authorization_url: is("https://other.example/"), ..of() }, Some("oauth.authorization_url")),
        // The client is no document.
        (OAuth { client_metadata_url: is("https://other.example/"), ..of() }, None),
    ] {
        let refused = record(&[]).check(&settings).err().map(|failure| failure.to_string());
        assert_eq!(refused.is_some(), differs.is_some(), "{refused:?}");
        let names =
            |refused: String| differs.is_some_and(|name| refused.contains(&format!("another {name} than")));
        assert!(refused.is_none_or(names));
    }
    let document = record(&[("/client/id", json!("https://client.example/"))]);
    let other = OAuth { client_metadata_url: is("https://other.example/"), ..of() };
    assert!(document.check(&other).unwrap_err().to_string().contains("oauth.client_metadata_url"));
}

/// The issuer and the token endpoint that are discovered, and whether they are those of the tokens.
#[test]
fn a_refresh_token_is_only_for_the_server_that_issued_it() {
    let issuer = "https://authority.example";
    for (found, endpoint, is_from) in [
        (Some(issuer), TOKEN_URL, true),
        (Some(issuer), "https://authority.example/other", false),
        (Some("https://other.example"), TOKEN_URL, false),
        (None, TOKEN_URL, false),
    ] {
        let mut metadata = AuthorizationMetadata::default();
        metadata.issuer = found.map(str::to_owned);
        metadata.token_endpoint = endpoint.to_owned();
        assert_eq!(record(&[]).is_from(&metadata), is_from, "{found:?} {endpoint}");
    }
}

/// When a token was received and how long it lives, whether it ends soon, and whether it has ended.
#[test]
fn a_token_is_renewed_shortly_before_its_end() {
    for (left, lifetime, soon, ended) in [
        (3600_i64, json!(3600), false, false),
        (35, json!(3600), false, false),
        (25, json!(3600), true, false),
        (-5, json!(3600), true, true),
        // A short lifetime is used for most of it.
        (8, json!(20), false, false),
        (2, json!(20), true, false),
        (-5, Value::Null, false, false),
    ] {
        let received = store::now().checked_add_signed(left - lifetime.as_i64().unwrap_or(0)).unwrap();
        let record = record(&[
            ("/credentials/token_received_at", json!(received)),
            ("/credentials/token_response/expires_in", lifetime),
        ]);
        assert_eq!((record.ends_soon(), record.has_ended()), (soon, ended), "{left}");
    }
}

/// The issuer in a redirect, and whether the login goes on, if the endpoints are configured.
#[tokio::test]
async fn a_redirect_is_from_the_origin_of_the_configured_endpoint() {
    for (issuer, is_right) in [
        (None, true),
        (Some("https://authority.example"), true),
        (Some("https://authority.example/realm"), true),
        (Some("https://other.example"), false),
        (Some("http://authority.example"), false),
        (Some("https://authority.example:8443"), false),
        (Some("authority.example"), false),
        (Some(""), false),
    ] {
        let authority = Arc::new(Authority::default());
        authority.answers.notify_one();
        let settings = OAuth {
            client_id: Some("client".to_owned()),
            token_url: Some(TOKEN_URL.to_owned()),
            authorization_url: Some("https://authority.example/authorize".to_owned()),
            ..OAuth::default()
        };
        let mut authorizer = Authorizer::new(&Url::parse(SERVER).unwrap(), &settings);
        authorizer.transport = Some(authority.clone());
        let redirect = "http://127.0.0.1:1/callback";
        let login = login::Login::prepare(&authorizer, None, redirect.to_owned()).await.unwrap();
        let address = Url::parse(login.address()).unwrap();
        let (_, state) = address.query_pairs().find(|(name, _)| name == "state").unwrap();
        let mut back = Url::parse(redirect).unwrap();
        back.query_pairs_mut().append_pair("code", "c").append_pair("state", &state);
        if let Some(issuer) = issuer {
            back.query_pairs_mut().append_pair("iss", issuer);
        }
        let done = login.finish(back.as_str()).await;
        assert_eq!(done.is_ok(), is_right, "{issuer:?} {done:?}");
        // A code of another issuer is not sent.
        assert_eq!(authority.forms.lock().len(), usize::from(is_right), "{issuer:?}");
    }
}
