//! Servers at a URL: what both HTTP transports have in common.
//!
//! Requests go only to the server's origin. A redirect within it is followed if it keeps the method; any other redirect
//! is an error that names the target, so that neither headers nor tokens ever reach another origin.

mod body;
mod client;
pub(crate) mod connections;
mod discovery;
mod event_stream;
pub(crate) mod failure;
mod headers;
mod listening;
mod messages;
mod retry;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{
    Client, RequestBuilder, Response, StatusCode, Url,
    header::{
        ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION,
        WWW_AUTHENTICATE,
    },
};
use tokio::time::timeout;

pub(crate) use body::{events, one_by_one, read_bounded, read_in_turn};
pub(crate) use client::HttpClient;
pub(crate) use connections::client;
pub use connections::http_client;
pub(crate) use discovery::DISCOVERY_TIMEOUT;
pub(crate) use failure::{HttpFailure, LoginHelp, chain};
pub(crate) use headers::{ParameterHeaders, parameter_headers};
pub use retry::retry_after;

use crate::{
    oauth::Authorizer,
    secrets,
    server_config::{Remote, ServerConfig},
    text::shown,
    trace::Trace,
};

/// Limit on the body of an error response, in bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// Limit on the part of such a body that a message quotes, in bytes.
const EXCERPT_BYTES: usize = 300;

/// An error in the configuration of a server at a URL.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    #[error("its url is invalid: {0}")]
    Url(#[from] url::ParseError),
    #[error("its url has the scheme `{0}`; only http and https are supported")]
    Scheme(String),
    #[error("its header `{0}` has an invalid name")]
    HeaderName(String),
    #[error("its header `{0}` has a value with characters that are not allowed in HTTP headers")]
    HeaderValue(String),
    #[error("cannot create an HTTP client: {}", chain(.0))]
    Client(#[from] reqwest::Error),
}

/// Sends requests to one server with its headers and tokens.
pub(crate) struct Sender {
    pub(crate) http: Client,
    url: Url,
    headers: HeaderMap,
    authorizer: Option<Arc<Authorizer>>,
    trace: Trace,
}

impl Sender {
    /// Prepares to send; nothing is sent yet. Fails if the configuration is wrong.
    pub(crate) fn new(config: &ServerConfig, remote: &Remote) -> Result<Self, RemoteError> {
        let url = Url::parse(&remote.url)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(RemoteError::Scheme(url.scheme().to_owned()));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &remote.headers {
            let quoted = || shown(name, EXCERPT_BYTES);
            secrets::learn_header(name, value);
            let header = HeaderName::try_from(name).map_err(|_| RemoteError::HeaderName(quoted()))?;
            let mut value = HeaderValue::try_from(value).map_err(|_| RemoteError::HeaderValue(quoted()))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        let http = client(config.connect_timeout)?;
        let authorizer = remote.oauth.as_ref().map(|oauth| Arc::new(Authorizer::new(&url, oauth)));
        let trace = Trace::new(&config.name, config.debug);
        Ok(Self { http, url, headers, authorizer, trace })
    }

    /// The server's address.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Sends the request that `make` builds, with the configured headers and the token. If the server rejects the
    /// token, sends it once more with a new one; a rejected request was not carried out.
    pub(crate) async fn send(
        &self,
        make: impl Fn(HeaderMap) -> RequestBuilder,
    ) -> Result<Response, HttpFailure> {
        self.send_within(None, make).await
    }

    /// Like `send`, with a limit on the wait for the response's head. Getting a token has its own limits.
    pub(crate) async fn send_within(
        &self,
        limit: Option<Duration>,
        make: impl Fn(HeaderMap) -> RequestBuilder,
    ) -> Result<Response, HttpFailure> {
        let sent = match &self.authorizer {
            Some(authorizer) => authorizer.token().await?,
            None => None,
        };
        let token = sent.as_ref().map(|sent| sent.text.clone());
        let mut response = self.execute(make(self.headers(token.as_deref())?), limit).await?;
        if let Some(authorizer) = &self.authorizer {
            let challenge = challenge(&response);
            let unrenewed = sent.and_then(|sent| sent.failure);
            if let (StatusCode::UNAUTHORIZED, Some(failure)) = (response.status(), unrenewed) {
                return Err(failure);
            }
            let fresh = match response.status() {
                StatusCode::UNAUTHORIZED => authorizer.renew(token.as_deref(), challenge.as_deref()).await?,
                // The user may have logged in with a wider scope since.
                StatusCode::FORBIDDEN if is_for_scope(challenge.as_deref()) => {
                    authorizer.replacement(token.as_deref()).await?
                }
                _ => None,
            };
            if let Some(fresh) = fresh {
                response = self.execute(make(self.headers(Some(&fresh))?), limit).await?;
            }
        }
        self.judge(response).await
    }

    fn headers(&self, token: Option<&str>) -> Result<HeaderMap, HttpFailure> {
        let mut headers = self.headers.clone();
        // Without this header, a server may choose any encoding (RFC 9110, section 12.5.3), and the limits count bytes
        // as sent.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(token) = token {
            let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
                HttpFailure::OAuth("the token has characters that are not allowed in a header".to_owned())
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    async fn execute(
        &self,
        request: RequestBuilder,
        limit: Option<Duration>,
    ) -> Result<Response, HttpFailure> {
        let request = request.build().map_err(|error| HttpFailure::unreachable(&error))?;
        self.trace.request(request.method(), request.url(), request.headers());
        let started = Instant::now();
        let executing = self.http.execute(request);
        let response = match limit {
            Some(limit) => timeout(limit, executing).await.map_err(|_| HttpFailure::Unanswered)?,
            None => executing.await,
        };
        let response = response.map_err(|error| HttpFailure::unreachable(&error))?;
        self.trace.response(&response, started);
        Ok(response)
    }

    /// Turns responses that no caller can use, rejections and redirects, into failures.
    async fn judge(&self, response: Response) -> Result<Response, HttpFailure> {
        let status = response.status();
        let challenge = challenge(&response);
        let asks_for_scope = status == StatusCode::FORBIDDEN && is_for_scope(challenge.as_deref());
        if status == StatusCode::UNAUTHORIZED || asks_for_scope {
            let body = excerpt(response).await;
            let login = match &self.authorizer {
                None => LoginHelp::Disabled,
                Some(authorizer) if authorizer.exchanges() => LoginHelp::Exchanged,
                Some(authorizer) if authorizer.is_login_published(challenge.as_deref()).await => {
                    LoginHelp::Possible
                }
                Some(_) => LoginHelp::Unpublished,
            };
            return Err(HttpFailure::Unauthorized { status: status.as_u16(), challenge, body, login });
        }
        if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let target = location.and_then(|location| self.url.join(location).ok());
            // A redirect back to the same URL is not a better address. A query may contain keys.
            let target = target.filter(|target| *target != self.url);
            let without_query =
                target.map(|target| format!("{}{}", target.origin().ascii_serialization(), target.path()));
            return Err(HttpFailure::Redirect {
                target: without_query.map(|target| shown(&target, EXCERPT_BYTES)),
            });
        }
        let encoding = response.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
        if let Some(encoding) = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case(b"identity")) {
            let encoding = shown(&String::from_utf8_lossy(encoding), EXCERPT_BYTES);
            return Err(HttpFailure::Protocol(format!(
                "it compresses its responses (`{encoding}`) although the request has `Accept-Encoding: identity`"
            )));
        }
        Ok(response)
    }
}

/// The start of a response's body, safe to show.
pub(crate) async fn excerpt(response: Response) -> String {
    let body = read_bounded(response, MAX_ERROR_BYTES).await.unwrap_or_default();
    shown(String::from_utf8_lossy(&body).trim(), EXCERPT_BYTES)
}

/// Whether a challenge says that the token is valid but its scope is insufficient (RFC 6750, section 3.1).
fn is_for_scope(challenge: Option<&str>) -> bool {
    challenge.is_some_and(|header| header.contains("insufficient_scope"))
}

fn challenge(response: &Response) -> Option<String> {
    let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    // Of several schemes, the one that uses tokens.
    let bearer = values.iter().find(|value| value.trim_start().to_ascii_lowercase().starts_with("bearer"));
    bearer.or(values.first()).map(|value| (*value).to_owned())
}
