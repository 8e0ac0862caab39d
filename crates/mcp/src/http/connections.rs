//! HTTP connections to servers and authorization servers: trusted roots, proxies, redirects, and limits.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, StatusCode, Url, redirect::Policy};
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls_platform_verifier::ConfigVerifierExt as _;

/// Limit on redirects within the server's origin.
const MAX_REDIRECTS: usize = 5;

/// Limit on the headers of a response: some proxies add many. Their size is limited by reqwest.
const MAX_HEADERS: usize = 1000;

/// Limit on idle connections kept for the next requests to a server.
const MAX_IDLE_CONNECTIONS: usize = 8;

/// A client that follows redirects within an origin.
pub(crate) fn client(connect_timeout: Duration) -> reqwest::Result<Client> {
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
    builder(connect_timeout).redirect(redirects).build()
}

/// A client for HTTP with the system's trusted roots (and `SSL_CERT_FILE`), and the proxies from the environment. It
/// speaks HTTP/1.1 and decompresses nothing.
pub fn http_client(connect_timeout: Duration) -> ClientBuilder {
    builder(connect_timeout)
}

/// A client with the system's trusted roots (and `SSL_CERT_FILE`), and the proxies from the environment.
pub(crate) fn builder(connect_timeout: Duration) -> ClientBuilder {
    provide_cryptography();
    let builder = match tls() {
        Some(tls) => Client::builder().tls_backend_preconfigured(tls),
        // The builder tries again, and reports why it fails.
        None => Client::builder(),
    };
    builder
        .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout)
        // Overrides features that other crates of a build may enable in reqwest.
        .http1_only()
        .http1_max_headers(MAX_HEADERS)
        .no_gzip()
        // A connection keeps its buffers, up to 400 KB after a long answer.
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
}

/// The settings of TLS. The trusted roots are read once: that takes 5 ms for the 150 of a distribution, and each session
/// has a client of its own.
fn tls() -> Option<ClientConfig> {
    static KNOWN: OnceLock<ClientConfig> = OnceLock::new();
    let known = match KNOWN.get() {
        Some(known) => known,
        None => {
            let mut new = ClientConfig::with_platform_verifier().ok()?;
            new.alpn_protocols = vec![b"http/1.1".to_vec()];
            KNOWN.get_or_init(|| new)
        }
    };
    let mut own = known.clone();
    // Sessions of TLS are not shared, as they can show a server that two clients are the same.
    own.resumption = Resumption::default();
    Some(own)
}

/// Sets the process's provider of cryptography, unless the host of this crate has set one.
pub(crate) fn provide_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
