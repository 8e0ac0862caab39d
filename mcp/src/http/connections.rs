//! Connections to servers and authorization servers: whom they trust, where they go, and how many there may be.

use std::time::Duration;

use reqwest::{Client, StatusCode, Url, redirect::Policy};

use super::failure::chain;

/// How many redirects within the server's origin are followed.
const MAX_REDIRECTS: usize = 5;

/// How many headers an answer may have: some proxies add many. Their bytes have the bound of reqwest's.
const MAX_HEADERS: usize = 1000;

/// How many connections to a server are kept for its next requests.
const MAX_IDLE_CONNECTIONS: usize = 8;

/// A client with the system's roots (and `SSL_CERT_FILE`), and the proxies that the environment names.
pub(crate) fn client(connect_timeout: Duration) -> Result<Client, String> {
    provide_cryptography();
    let redirects = Policy::custom(|attempt| {
        let keeps_method =
            matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let before = attempt.previous().last().map(Url::origin);
        if !keeps_method || before != Some(attempt.url().origin()) || attempt.previous().len() > MAX_REDIRECTS
        {
            attempt.stop()
        } else {
            attempt.follow()
        }
    });
    Client::builder()
        .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout)
        .redirect(redirects)
        // What other crates of a build turn on in reqwest changes nothing here.
        .http1_only()
        .http1_max_headers(MAX_HEADERS)
        .no_gzip()
        // A connection keeps its buffers, up to 400 KB after a long answer.
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .build()
        .map_err(|error| format!("an HTTP client can't be made: {}", chain(&error)))
}

/// Sets the process's provider of cryptography, unless the host of this crate has set one.
pub(crate) fn provide_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
