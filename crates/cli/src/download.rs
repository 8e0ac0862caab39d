//! Downloads what a command adds: over https, within a size, from an address that the user or a registry names.

use std::io::{self, Write};
use std::time::Duration;

use gateway::failure::Failure;
use report::Kind;
use reqwest::header::ACCEPT;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Url};

/// Time limit for a connection, and for a pause within an answer.
const PAUSE: Duration = Duration::from_secs(30);

/// Limit on redirects: hosts of releases redirect once or twice.
const MAX_REDIRECTS: usize = 5;

/// The address in a text, if it may be used: https, or http on this machine.
pub(crate) fn address(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(is_safe)
}

fn is_safe(url: &Url) -> bool {
    match url.scheme() {
        "https" => true,
        "http" => matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")),
        _ => false,
    }
}

/// Advice after a request without an answer.
pub(crate) const NETWORK: &str = "check the network, and HTTPS_PROXY if you need a proxy";

/// The reasons of a failed request, without its address.
pub(crate) fn reasons(error: reqwest::Error) -> String {
    let error = error.without_url();
    // reqwest's errors name their reasons one below the other.
    let all = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Writes the content of an address to `to`.
///
/// # Errors
/// If it can't be read, or has more than `limit` bytes.
pub(crate) async fn download(address: &Url, limit: u64, to: &mut impl Write) -> Result<(), Failure> {
    let broken = |error: reqwest::Error| failed(address, &reasons(error)).hint(NETWORK);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(PAUSE)
        .read_timeout(PAUSE)
        .redirect(Policy::custom(redirect))
        .build()
        .map_err(broken)?;
    let sent =
        client.get(address.clone()).header(ACCEPT, "application/json, application/zip, */*").send().await;
    let mut response = sent.map_err(broken)?;
    if !response.status().is_success() {
        return Err(failed(
            address,
            &format!("the server answers with status {}", response.status().as_u16()),
        ));
    }
    let mut bytes = 0;
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        bytes += chunk.len() as u64;
        if bytes > limit {
            return Err(failed(address, &format!("it has more than {limit} bytes, the limit")));
        }
        to.write_all(&chunk).map_err(|error: io::Error| failed(address, &error.to_string()))?;
    }
    Ok(())
}

fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        attempt.error(io::Error::other("too many redirects"))
    } else if is_safe(attempt.url()) {
        attempt.follow()
    } else {
        attempt.error(io::Error::other("a redirect to an address without https"))
    }
}

fn failed(address: &Url, what: &str) -> Failure {
    // The query may have a secret.
    let shown = format!("{}{}", address.origin().ascii_serialization(), address.path());
    Failure::new(Kind::CommandLine, format!("{shown} can't be read: {what}"))
}
