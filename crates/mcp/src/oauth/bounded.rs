//! The client for authorization servers: which requests it sends, and how many.
//!
//! The resource and its authorization servers choose the addresses, so none of them is believed further than a login
//! needs. Requests go over https, or from a loopback server to a loopback address. No redirect leads to another origin.
//! A discovery has a budget, because it runs without a user. Whatever is refused ends with an error that says so.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, header::LOCATION};
use parking_lot::{Mutex, MutexGuard};
use reqwest::Url;
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use url::Host;

use super::refusal::LastRefusal;

/// Limit on the authorization servers of one document that are tried. A resource has one or two, and each costs up to
/// four requests, one for each place of its metadata.
pub(super) const MAX_CANDIDATES: usize = 8;

/// Limit on redirects of one request, as within a server's origin.
const MAX_REDIRECTS: usize = 5;

/// Limits on the requests of one login or renewal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Requests, with redirects: 32 for [`MAX_CANDIDATES`], some for the server's own documents, the registration and
    /// the token.
    requests: usize,
    /// Bytes in the bodies of all answers (4 MiB): the documents of a large provider have less than 100 KB.
    bytes: usize,
    /// Time for the discovery, less than for the whole exchange, so that the error names the discovery.
    time: Duration,
}

/// The limits in force.
pub(super) const LIMITS: Limits = Limits { requests: 48, bytes: 4 << 20, time: Duration::from_secs(20) };

/// The reason why a request is not sent, or its answer not used. The texts contain no queries, which may have secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error(
        "{0} is not an https address, so nothing is sent there; configure another endpoint under `oauth`, or use https"
    )]
    Plain(String),
    #[error("{from} redirects to {to}, which is not followed; configure the right endpoint under `oauth`")]
    Redirect { from: String, to: String },
    #[error("{0} redirects more than {MAX_REDIRECTS} times; configure the right endpoint under `oauth`")]
    Loop(String),
    #[error(
        "its authorization server was not found with {0} requests, the limit; configure its endpoints under `oauth`"
    )]
    Requests(usize),
    #[error(
        "the answers about its authorization server have more than {0} bytes, the limit; configure its endpoints under \
         `oauth`"
    )]
    Bytes(usize),
    #[error(
        "the answer of {place} has more than {limit} bytes, the limit; configure other endpoints under `oauth`"
    )]
    TooLarge { place: String, limit: usize },
    #[error(
        "{0} is a private or reserved address, so nothing is sent there; configure other endpoints under `oauth`"
    )]
    Address(String),
    #[error("{place} did not answer within the {} s for a discovery; try again later, or configure its endpoints under \
             `oauth`", .limit.as_secs_f64())]
    Time { place: String, limit: Duration },
}

/// Sends requests, whatever they are.
pub(super) trait Transport: Send + Sync {
    /// Sends one request. Follows no redirect.
    fn send(
        &self,
        request: Request<Vec<u8>>,
    ) -> BoxFuture<'_, Result<Response<Vec<u8>>, OAuthHttpClientError>>;
}

/// Sends the requests of one login or renewal within limits.
pub(super) struct Bounded {
    transport: Arc<dyn Transport>,
    server: Url,
    refusal: LastRefusal,
    limits: Limits,
    spent: Mutex<Spent>,
}

#[derive(Default)]
struct Spent {
    requests: usize,
    bytes: usize,
    /// The end of the discovery, from its first request on.
    deadline: Option<Instant>,
}

impl Bounded {
    /// For the login at `server`. Refusals are set in `refusal`.
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        server: &Url,
        refusal: LastRefusal,
        limits: Limits,
    ) -> Self {
        Bounded { transport, server: server.clone(), refusal, limits, spent: Mutex::default() }
    }

    /// Sends a request. Only one without secrets is `redirectable`, within its origin.
    pub(super) async fn send(
        &self,
        request: Request<Vec<u8>>,
        redirectable: bool,
    ) -> Result<Response<Vec<u8>>, OAuthHttpClientError> {
        let sent = self.follow(request, redirectable).await;
        let refused = sent.as_ref().err().and_then(|error| error.downcast_ref::<Refused>());
        if let Some(refused) = refused {
            self.refusal.set_refused(refused.to_string());
        }
        sent
    }

    async fn follow(
        &self,
        mut request: Request<Vec<u8>>,
        redirectable: bool,
    ) -> Result<Response<Vec<u8>>, OAuthHttpClientError> {
        for _ in 0..=MAX_REDIRECTS {
            let url = Url::parse(&request.uri().to_string())?;
            self.check(&url, request.method())?;
            let response = self.answer(request.clone(), &url).await?;
            let Some(target) = target(&url, &response) else { return Ok(response) };
            let keeps_method = *request.method() == Method::GET
                || matches!(
                    response.status(),
                    StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
                );
            if !redirectable || !keeps_method || target.origin() != url.origin() {
                return Err(Refused::Redirect { from: place(&url), to: place(&target) }.into());
            }
            *request.uri_mut() = target.as_str().parse()?;
        }
        let place = Url::parse(&request.uri().to_string()).map(|url| place(&url));
        Err(Refused::Loop(place.unwrap_or_default()).into())
    }

    /// Checks an address, and counts the request.
    fn check(&self, url: &Url, method: &Method) -> Result<(), Refused> {
        // The server itself gets requests anyway; those of a discovery have no secrets.
        let is_own = *method == Method::GET && url.origin() == self.server.origin();
        if !is_own && !is_confidential(url, &self.server) {
            return Err(Refused::Plain(place(url)));
        }
        let mut spent = self.spent();
        if spent.requests >= self.limits.requests {
            return Err(Refused::Requests(self.limits.requests));
        }
        spent.requests += 1;
        Ok(())
    }

    /// The answer to one request; to one of the discovery, within its time.
    async fn answer(
        &self,
        request: Request<Vec<u8>>,
        url: &Url,
    ) -> Result<Response<Vec<u8>>, OAuthHttpClientError> {
        let is_discovery = *request.method() == Method::GET;
        let sent = self.transport.send(request);
        let mut response = if is_discovery {
            let deadline = *self.spent().deadline.get_or_insert_with(|| Instant::now() + self.limits.time);
            timeout_at(deadline, sent)
                .await
                .map_err(|_| Refused::Time { place: place(url), limit: self.limits.time })??
        } else {
            sent.await?
        };
        let bytes = {
            let mut spent = self.spent();
            spent.bytes += response.body().len();
            spent.bytes
        };
        if bytes > self.limits.bytes {
            return Err(Refused::Bytes(self.limits.bytes).into());
        }
        if let Some(body) = is_discovery.then(|| with_few_candidates(response.body())).flatten() {
            *response.body_mut() = body;
        }
        Ok(response)
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock()
    }
}

impl OAuthHttpClient for Bounded {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        let is_discovery = *request.request.method() == Method::GET;
        let redirectable = is_discovery || request.redirect_policy == OAuthHttpRedirectPolicy::Follow;
        Box::pin(self.send(request.request, redirectable))
    }
}

/// Whether an address may receive secrets of a login at `server`: over https, or from loopback to loopback.
pub(super) fn is_confidential(url: &Url, server: &Url) -> bool {
    match url.scheme() {
        "https" => true,
        "http" => is_loopback(url) && is_loopback(server),
        _ => false,
    }
}

/// Whether a URL names this machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

/// Where an answer redirects to, if it does.
fn target(from: &Url, response: &Response<Vec<u8>>) -> Option<Url> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    // A location that is no address is the most foreign one.
    let target = location.to_str().ok().and_then(|location| from.join(location).ok());
    Some(target.unwrap_or_else(|| from.join("data:,").unwrap_or_else(|_| from.clone())))
}

/// An address without its query, for messages.
pub(super) fn place(url: &Url) -> String {
    match url.host() {
        Some(_) => format!("{}{}", url.origin().ascii_serialization(), url.path()),
        None => format!("an address with the scheme `{}`", url.scheme()),
    }
}

/// The document of a resource with at most [`MAX_CANDIDATES`] authorization servers; `None` if it has no more.
fn with_few_candidates(body: &[u8]) -> Option<Vec<u8>> {
    // The library refuses a text that can't be parsed, or with repeated members.
    let Value::Object(mut members) = strict_json::from_slice::<Value>(body).ok()? else { return None };
    let single = usize::from(members.contains_key("authorization_server"));
    let servers = members.get_mut("authorization_servers")?.as_array_mut()?;
    let most = MAX_CANDIDATES.saturating_sub(single);
    if servers.len() <= most {
        return None;
    }
    servers.truncate(most);
    Some(Value::Object(members).to_string().into_bytes())
}

#[cfg(test)]
mod site;
#[cfg(test)]
mod tests;
