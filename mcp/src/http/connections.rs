//! HTTP connections to servers and authorization servers: trusted roots, proxies, redirects, and limits.

use std::time::Duration;

use reqwest::{Client, StatusCode, Url, redirect::Policy};

/// Limit on redirects within the server's origin.
const MAX_REDIRECTS: usize = 5;

/// Limit on the headers of a response: some proxies add many. Their size is limited by reqwest.
const MAX_HEADERS: usize = 1000;

/// Limit on idle connections kept for the next requests to a server.
const MAX_IDLE_CONNECTIONS: usize = 8;

/// A client with the system's trusted roots (and `SSL_CERT_FILE`), and the proxies from the environment.
pub(crate) fn client(connect_timeout: Duration) -> reqwest::Result<Client> {
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
        // Overrides features that other crates of a build may enable in reqwest.
        .http1_only()
        .http1_max_headers(MAX_HEADERS)
        .no_gzip()
        // A connection keeps its buffers, up to 400 KB after a long answer.
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .build()
}

/// Sets the process's provider of cryptography, unless the host of this crate has set one.
pub(crate) fn provide_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
