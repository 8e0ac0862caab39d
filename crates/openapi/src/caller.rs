//! Sends the requests of calls: redirects within the origin, retries of what may be repeated, bounded answers.

use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode};
use url::Url;

use crate::answer::Received;
use crate::document::bounded;
use crate::error::Error;
use crate::request::Request;

/// Maximum size of an answer, in bytes (8 MiB): as base64, or as JSON that is also text, it fits into a message.
pub(crate) const MAX_ANSWER: usize = mcp::MAX_MESSAGE_BYTES / 2;

/// Limit on redirects of a request.
const MAX_REDIRECTS: usize = 5;

/// Limit on retries of a request.
const MAX_RETRIES: u32 = 2;

/// The longest wait before a retry that an API may ask for (10 s), as for servers over HTTP.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The wait before the first retry if the API names none; doubled for the next.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// Sends requests to one API.
pub(crate) struct Caller {
    http: Client,
    headers: HeaderMap,
}

/// A request with its address.
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) accept: &'a str,
    pub(crate) request: &'a Request,
}

impl Caller {
    /// `headers` go with each request: all have the same origin.
    pub(crate) fn new<'a>(
        headers: impl IntoIterator<Item = (&'a String, &'a String)>,
        connect_timeout: Duration,
    ) -> Result<Self, Error> {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let wrong = || Error::Http(format!("its header `{}` can't be sent", bounded(name)));
            let header = HeaderName::try_from(name).map_err(|_| wrong())?;
            let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            all.insert(header, value);
        }
        let http = mcp::http_client(connect_timeout).redirect(reqwest::redirect::Policy::none()).build();
        let http =
            http.map_err(|error| Error::Http(format!("cannot create an HTTP client: {}", reasons(&error))))?;
        Ok(Caller { http, headers: all })
    }

    /// Makes a call. Requests that have the same effect when repeated (RFC 9110, section 9.2.2) are retried if the API
    /// is too busy or not reached.
    pub(crate) async fn call(&self, call: &Call<'_>) -> Result<Received, Error> {
        let is_repeatable = !matches!(call.method, Method::POST | Method::PATCH);
        let mut retries = 0;
        loop {
            let sent = self.redirected(call).await;
            let wait = match &sent {
                Ok(response) => wait(response, retries),
                Err(error) if error.is_connect() => Some(FIRST_WAIT * 2_u32.pow(retries)),
                Err(_) => None,
            };
            match wait.filter(|wait| is_repeatable && retries < MAX_RETRIES && *wait <= MAX_WAIT) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return self.received(sent, call).await,
            }
            retries += 1;
        }
    }

    /// Sends a request, and follows redirects that stay at its origin and keep its method.
    async fn redirected(&self, call: &Call<'_>) -> reqwest::Result<Response> {
        let mut url = call.url.clone();
        let mut redirects = 0;
        loop {
            let response = self.send(call, url.clone()).await?;
            let keeps_method = match response.status() {
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
                StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => {
                    matches!(call.method, Method::GET | Method::HEAD)
                }
                _ => false,
            };
            let target = target(&response, &url).filter(|target| target.origin() == call.url.origin());
            match target {
                Some(target) if keeps_method && redirects < MAX_REDIRECTS => url = target,
                _ => return Ok(response),
            }
            redirects += 1;
        }
    }

    async fn send(&self, call: &Call<'_>, url: Url) -> reqwest::Result<Response> {
        let mut headers = HeaderMap::new();
        if let Ok(accept) = HeaderValue::try_from(call.accept) {
            headers.insert(ACCEPT, accept);
        }
        // The bound counts bytes as they are sent.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in &call.request.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
        let mut request = self.http.request(call.method.clone(), url);
        if let Some((media_type, body)) = &call.request.body {
            if let Ok(media_type) = HeaderValue::try_from(media_type) {
                headers.insert(CONTENT_TYPE, media_type);
            }
            request = request.body(body.clone());
        }
        headers.extend(self.headers.clone());
        request.headers(headers).send().await
    }

    async fn received(&self, sent: reqwest::Result<Response>, call: &Call<'_>) -> Result<Received, Error> {
        let place = place(&call.url);
        let response = sent.map_err(|error| {
            Error::Http(format!("the API at {place} could not be reached: {}", reasons(&error)))
        })?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_redirection()
            && let Some(target) = target(&response, &call.url)
        {
            let target = bounded(&crate::caller::place(&target));
            return Err(Error::Http(format!(
                "the API at {place} redirects to {target}, to which nothing was sent; redirects are followed only \
                 within the origin"
            )));
        }
        let body = bounded_body(response, MAX_ANSWER).await.map_err(|reason| {
            Error::Http(format!("the answer of the API at {place} could not be read: {reason}"))
        })?;
        Ok(Received { status, headers, body })
    }
}

/// The wait before a request is sent again, if the answer says that this may help.
fn wait(response: &Response, retries: u32) -> Option<Duration> {
    let is_busy = matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    is_busy.then(|| mcp::retry_after(response.headers()).unwrap_or(FIRST_WAIT * 2_u32.pow(retries)))
}

fn target(response: &Response, url: &Url) -> Option<Url> {
    url.join(response.headers().get(LOCATION)?.to_str().ok()?).ok()
}

/// Reads the body of a response, up to `limit` bytes.
pub(crate) async fn bounded_body(mut response: Response, limit: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| Error::Http(reasons(&error)))? {
        if body.len() + chunk.len() > limit {
            return Err(Error::Http(format!("it has more than {} MiB, the maximum", limit >> 20)));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// An address without query and password, which may be secrets.
pub(crate) fn place(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

/// An error with what caused it, without the address, which may have secrets.
pub(crate) fn reasons(error: &reqwest::Error) -> String {
    let mut reasons = Vec::new();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        reasons.push(cause.to_string());
        source = cause.source();
    }
    if reasons.is_empty() {
        reasons.push(if error.is_timeout() {
            "it took too long".to_owned()
        } else {
            "the request failed".to_owned()
        });
    }
    bounded(&mcp::masked(&reasons.join(": "), std::iter::empty()))
}
