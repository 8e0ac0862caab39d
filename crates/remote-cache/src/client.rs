//! The HTTP client of stores: the one that the rest of the program uses, with ring and without HTTP/2, so that the store's
//! library brings no other.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt as _;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::error::Error;

/// Limit on the headers of an answer.
const MOST_HEADERS: usize = 100;
/// Idle connections that are kept for the next requests.
const MOST_IDLE: usize = 4;

/// Creates clients with the given headers.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    headers: HeaderMap,
    connect_timeout: Duration,
}

impl Connector {
    /// # Errors
    /// If a header is not one of HTTP.
    pub(crate) fn new(headers: &BTreeMap<String, String>, connect_timeout: Duration) -> Result<Self, Error> {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            let (name, mut value) = header.ok_or_else(|| {
                Error::new(
                    format!("the header {name:?} (cache.remote.headers) is not one of HTTP"),
                    "write a name such as Authorization, and a value of one line",
                )
            })?;
            value.set_sensitive(true);
            all.insert(name, value);
        }
        Ok(Connector { headers: all, connect_timeout })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let plain =
            options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|value| value == "true");
        let client = reqwest::Client::builder()
            .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers.clone())
            .connect_timeout(self.connect_timeout)
            .https_only(!plain)
            // A redirect could send credentials to another server.
            .redirect(reqwest::redirect::Policy::none())
            // Overrides features that other crates of a build may enable in reqwest.
            .http1_only()
            .http1_max_headers(MOST_HEADERS)
            .no_gzip()
            .pool_max_idle_per_host(MOST_IDLE)
            .build();
        let failed = |error: reqwest::Error| object_store::Error::Generic {
            store: "HTTP",
            source: Box::new(error.without_url()),
        };
        Ok(HttpClient::new(Service(client.map_err(failed)?)))
    }
}

#[derive(Debug)]
struct Service(reqwest::Client);

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = reqwest::Url::parse(&parts.uri.to_string())
            .map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let mut request = reqwest::Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        let body = body.collect().await?.to_bytes();
        if !body.is_empty() {
            *request.body_mut() = Some(body.into());
        }
        let response: http::Response<reqwest::Body> = self.0.execute(request).await.map_err(failed)?.into();
        Ok(response.map(|body| HttpResponseBody::new(body.map_err(failed))))
    }
}

fn failed(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else {
        HttpErrorKind::Request
    };
    HttpError::new(kind, error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_headers_are_never_shown() {
        let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer secret".to_owned())]);
        let connector = Connector::new(&headers, Duration::from_secs(1)).unwrap();
        assert!(!format!("{connector:?}").contains("secret"));
        let wrong = BTreeMap::from([("Authorization".to_owned(), "secret\n".to_owned())]);
        let error = Connector::new(&wrong, Duration::from_secs(1)).unwrap_err();
        assert!(error.to_string().contains("Authorization") && !error.to_string().contains("secret"));
    }
}
