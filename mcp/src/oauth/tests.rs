//! Renewals whose caller stops waiting, against an authorization server in this process.

use std::sync::Mutex;

use rmcp::transport::auth::{OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::*;

const SERVER: &str = "https://server.example/mcp";
const TOKEN_URL: &str = "https://authority.example/token";

/// An authorization server that holds a token request until released, then sends the next token or a failure.
#[derive(Default)]
struct Authority {
    /// Notified when a token request arrives.
    asked: Notify,
    /// Releases the response.
    answers: Notify,
    fails: bool,
    forms: Mutex<Vec<String>>,
}

impl OAuthHttpClient for Authority {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let (head, body) = request.request.into_parts();
            let json = http::Response::builder().header("content-type", "application/json");
            if head.uri != TOKEN_URL {
                return Ok(json.status(404).body(b"{}".to_vec())?);
            }
            let count = {
                let mut forms = self.forms.lock().unwrap();
                forms.push(String::from_utf8(body).unwrap());
                forms.len()
            };
            self.asked.notify_one();
            self.answers.notified().await;
            if self.fails {
                return Ok(json.status(503).body(b"{}".to_vec())?);
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
    authorizer.http = Some(authority.clone());
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
        assert_eq!(authorizer.token().await.unwrap().as_deref(), Some("new-access-1"));
    }
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
    assert_eq!(next.await.unwrap().as_deref(), Some("new-access-1"));
    assert_eq!(authority.forms.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_failed_early_renewal_keeps_the_valid_token() {
    for (left, is_good) in [(20, true), (0, false)] {
        let authority = Arc::new(Authority { fails: true, ..Authority::default() });
        authority.answers.notify_one();
        let authorizer = authorizer(&authority, None, left).await;
        let token = authorizer.token().await;
        assert_eq!(token.is_ok(), is_good, "{token:?}");
        assert_eq!(token.ok().flatten(), is_good.then(|| "old-access".to_owned()));
        assert_eq!(authority.forms.lock().unwrap().len(), 1);
    }
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
