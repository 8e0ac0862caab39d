//! An HTTP API for tests: records its requests, and answers each as a function says.

#![allow(clippy::unwrap_used, missing_docs, reason = "only tests use it")]

use std::sync::Arc;

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;

/// Maximum size of a request's body, in bytes.
const MAX_BODY: usize = 1 << 20;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    /// Method, path and query.
    pub line: String,
    pub headers: HeaderMap,
    pub body: String,
}

impl ApiRequest {
    /// A header's value; empty if it is absent.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct ApiAnswer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl ApiAnswer {
    /// JSON with a status.
    #[must_use]
    pub fn json(status: u16, body: &str) -> Self {
        Self::of("application/json", body.as_bytes()).status(status)
    }

    /// A body of a media type.
    #[must_use]
    pub fn of(media_type: &str, body: &[u8]) -> Self {
        ApiAnswer { status: 200, headers: vec![("content-type", media_type.to_owned())], body: body.to_vec() }
    }

    #[must_use]
    pub fn status(self, status: u16) -> Self {
        ApiAnswer { status, ..self }
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A running API. It ends with the test's process.
pub struct Api {
    /// Its address, without a slash at the end.
    pub address: String,
    record: Arc<Mutex<Vec<ApiRequest>>>,
}

impl Api {
    /// Starts an API at a free port.
    ///
    /// # Panics
    /// If it can't be started.
    pub fn start(answer: impl Fn(&ApiRequest) -> ApiAnswer + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let record = Arc::new(Mutex::new(Vec::new()));
        let (answer, kept) = (Arc::new(answer), record.clone());
        let handle = move |request: Request| {
            let (answer, record) = (answer.clone(), kept.clone());
            async move {
                let line = format!("{} {}", request.method(), request.uri());
                let (head, body) = request.into_parts();
                let body: Bytes = to_bytes(body, MAX_BODY).await.unwrap_or_default();
                let body = String::from_utf8_lossy(&body).into_owned();
                let request = ApiRequest { line, headers: head.headers, body };
                let answer = answer(&request);
                record.lock().push(request);
                response(answer)
            }
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, Router::new().fallback(handle)).await.unwrap();
            });
        });
        Api { address, record }
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ApiRequest> {
        self.record.lock().clone()
    }

    /// The requests so far, one a line: method, address, and the body if there is one.
    #[must_use]
    pub fn lines(&self) -> String {
        let line = |request: &ApiRequest| format!("{} {}", request.line, request.body).trim().to_owned();
        self.requests().iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn response(answer: ApiAnswer) -> Response {
    let mut response = (StatusCode::from_u16(answer.status).unwrap(), answer.body).into_response();
    for (name, value) in answer.headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::try_from(value).unwrap());
    }
    response
}
