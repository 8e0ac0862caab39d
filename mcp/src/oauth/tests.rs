//! Renewals that nobody waits for to the end, against an authorization server in this process.

use std::sync::Mutex;

use rmcp::transport::auth::{OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::*;

const SERVER: &str = "https://server.example/mcp";
const TOKEN_URL: &str = "https://authority.example/token";

/// An authorization server that answers a request for tokens when it is let, with the next token or a failure.
#[derive(Default)]
struct Authority {
    /// Told when a request for tokens is there.
    asked: Notify,
    /// Lets it be answered.
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

/// What gets tokens of `authority`, with those of a login of which `left` seconds are left.
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

/// Asks for a token and gives up when the request for a new one is with the authorization server.
async fn give_up_in_the_middle(authority: &Authority, authorizer: &Arc<Authorizer>) {
    tokio::select! {
        token = authorizer.token() => panic!("nobody has answered, and yet there is {token:?}"),
        () = authority.asked.notified() => {}
    }
}

#[tokio::test]
async fn a_renewal_that_is_given_up_in_the_middle_is_stored_all_the_same() {
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
async fn whoever_comes_after_a_renewal_that_was_given_up_waits_for_it_and_makes_none() {
    // Without a file there is no lock but the one in this process.
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
async fn a_renewal_ahead_of_time_that_fails_leaves_the_token_that_is_still_good() {
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
