//! A login and a renewal against scripted responses, without a network, for fuzz targets and tests.
//!
//! Only the HTTP client is replaced. Callers check the requests.

use std::{collections::VecDeque, sync::Arc};

use futures::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::Url;
use rmcp::transport::auth::OAuthHttpClientError;

use super::{Authorizer, bounded::Transport, callback::PATH, failure::explained, login::Login};
use crate::server_config::OAuth;

/// The origin of the redirect URI in a rehearsal.
const REDIRECT: &str = "http://127.0.0.1:1";

/// A response of an authorization server, or of the server itself about its authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The `Location` header, if there is one.
    pub location: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// A request that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its URL.
    pub url: String,
    /// The values of its headers, one per line.
    pub headers: String,
    /// Its body.
    pub body: String,
}

/// The result of a rehearsal.
#[derive(Debug, Default)]
pub struct Rehearsed {
    /// The requests of the login.
    pub login: Vec<Request>,
    /// The requests of the renewal after it.
    pub renewal: Vec<Request>,
    /// The URL for the user to visit.
    pub address: Option<String>,
    /// The token endpoint of the login, if it returned a token.
    pub token_endpoint: Option<String>,
    /// The token that requests to the server carry afterwards.
    pub token: Option<String>,
    /// The reason why there is no token.
    pub error: Option<String>,
}

/// Logs in at the server at `url`, whose rejection had this `challenge`, with a browser that returns `code`; then
/// renews the token. Each request gets the next response; when none are left, the connection fails.
///
/// # Errors
/// If `url` is invalid.
pub async fn rehearse(
    url: &str,
    settings: &OAuth,
    challenge: Option<&str>,
    code: &str,
    answers: Vec<Answer>,
) -> Result<Rehearsed, url::ParseError> {
    let url = Url::parse(url)?;
    let script = Arc::new(Script { answers: Mutex::new(answers.into()), requests: Mutex::default() });
    let mut authorizer = Authorizer::new(&url, settings);
    authorizer.transport = Some(script.clone());
    let authorizer = Arc::new(authorizer);
    let mut rehearsed = Rehearsed::default();
    let login = Login::prepare(&authorizer, challenge, format!("{REDIRECT}{PATH}")).await;
    let done = match login {
        Ok(login) => {
            rehearsed.address = Some(login.address().to_owned());
            let back = comes_back(login.address(), code);
            login.finish(&back).await
        }
        Err(error) => Err(explained(&error, &authorizer.refusal)),
    };
    rehearsed.login = script.take();
    rehearsed.token_endpoint = authorizer.token_endpoint().await;
    let renewed = match done {
        Ok(()) => {
            let token = authorizer.token().await.ok().flatten().map(|sent| sent.text);
            authorizer.renew(token.as_deref(), challenge).await
        }
        Err(error) => Err(error),
    };
    rehearsed.renewal = script.take();
    rehearsed.token = authorizer.token().await.ok().flatten().map(|sent| sent.text);
    rehearsed.error = renewed.err().map(|failure| failure.to_string());
    Ok(rehearsed)
}

/// The redirect URL that a correct authorization server sends the browser to.
fn comes_back(address: &str, code: &str) -> String {
    let sent = Url::parse(address).ok();
    let state = sent.iter().flat_map(Url::query_pairs).find(|(name, _)| name == "state");
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("code", code);
    query.append_pair("state", state.as_ref().map_or("", |(_, value)| value));
    format!("{REDIRECT}{PATH}?{}", query.finish())
}

/// Replays responses and records requests.
struct Script {
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<Request>>,
}

impl Script {
    fn take(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.lock())
    }
}

impl Transport for Script {
    fn send(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> BoxFuture<'_, Result<http::Response<Vec<u8>>, OAuthHttpClientError>> {
        let (head, body) = request.into_parts();
        let headers =
            head.headers.values().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        self.requests.lock().push(Request {
            url: head.uri.to_string(),
            headers: headers.collect::<Vec<_>>().join("\n"),
            body: String::from_utf8_lossy(&body).into_owned(),
        });
        let answer = self.answers.lock().pop_front();
        Box::pin(async move {
            let answer = answer.ok_or("no responses left")?;
            let mut response = http::Response::builder().status(answer.status);
            if let Some(location) = &answer.location {
                response = response.header(reqwest::header::LOCATION, location);
            }
            Ok(response.header(reqwest::header::CONTENT_TYPE, "application/json").body(answer.body)?)
        })
    }
}
