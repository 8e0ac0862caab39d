//! Reads an issuer's documents: its metadata, which names the place of its keys, and the keys.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::ACCEPT;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use serde::Deserialize;

use crate::key_set::{KeySet, Unusable};

/// Time limit of a request to the issuer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a document in bytes (512 KiB): that of a large issuer has 20 KB.
const MAX_DOCUMENT: usize = 512 << 10;

/// Where an issuer's keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) issuer: String,
    /// The address of the keys, if the configuration names it.
    pub(crate) keys: Option<String>,
}

/// The member of the metadata that is used (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3).
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

/// A client for requests to issuers. It follows no redirects: an issuer's addresses are final, and a redirect could lead
/// to a service that only this machine reaches.
///
/// # Errors
/// If the system's certificates can't be read.
pub(crate) fn client() -> Result<Client, Unusable> {
    // Another part of this process may have installed one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("toolsmith/", env!("CARGO_PKG_VERSION")))
        .timeout(TIMEOUT)
        .redirect(Policy::none())
        .build()
        .map_err(|error| Unusable(reasons(&error)))
}

/// Reads the keys of an issuer.
///
/// # Errors
/// If they can't be read.
pub(crate) async fn keys(client: &Client, source: &Source) -> Result<KeySet, Unusable> {
    let address = match &source.keys {
        Some(address) => address.clone(),
        None => place_of_keys(client, &source.issuer).await?,
    };
    let document = document(client, &address).await?;
    KeySet::parse(&document).map_err(|why| Unusable(format!("{address} can't be used: {why}")))
}

/// The address of the keys, from the first metadata of the issuer.
async fn place_of_keys(client: &Client, issuer: &str) -> Result<String, Unusable> {
    let mut failures = Vec::new();
    for address in addresses(issuer) {
        match document(client, &address).await {
            Ok(document) => {
                return from_metadata(&document, issuer)
                    .map_err(|why| Unusable(format!("{address} can't be used: {why}")));
            }
            Err(why) => failures.push(why.to_string()),
        }
    }
    Err(Unusable(failures.join("; ")))
}

fn from_metadata(document: &[u8], issuer: &str) -> Result<String, Unusable> {
    let metadata: Metadata =
        strict_json::from_slice(document).map_err(|error| Unusable(error.to_string()))?;
    // Otherwise one issuer could pose as another (RFC 8414, section 3.3).
    if metadata.issuer != issuer {
        let found = printable::name(&metadata.issuer);
        return Err(Unusable(format!("it is of the issuer {found:?}, not of {issuer:?}")));
    }
    match config::is_secure_address(&metadata.jwks_uri) {
        true => Ok(metadata.jwks_uri),
        false => Err(Unusable("its jwks_uri is no https address".to_owned())),
    }
}

/// The possible addresses of an issuer's metadata, in the order of MCP 2025-11-25 ("Authorization Server Metadata
/// Discovery").
fn addresses(issuer: &str) -> Vec<String> {
    let Ok(url) = Url::parse(issuer) else { return Vec::new() };
    let (origin, path) = (url.origin().ascii_serialization(), url.path().trim_end_matches('/'));
    let mut addresses = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        addresses.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    addresses
}

async fn document(client: &Client, address: &str) -> Result<Vec<u8>, Unusable> {
    let failed = |why: &str| Unusable(format!("{address} can't be read: {why}"));
    let sent = client.get(address).header(ACCEPT, "application/json").send().await;
    let mut response = sent.map_err(|error| failed(&reasons(&error.without_url())))?;
    if response.status() != StatusCode::OK {
        return Err(failed(&format!("status {}", response.status().as_u16())));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&reasons(&error.without_url())))? {
        if bytes.len() + chunk.len() > MAX_DOCUMENT {
            return Err(failed(&format!("it has more than {MAX_DOCUMENT} bytes")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// An error with its causes.
fn reasons(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(reason) = below {
        text = format!("{text}: {reason}");
        below = reason.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_where_the_protocol_says() {
        let root = addresses("https://a.example/");
        assert_eq!(
            root,
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration"
            ]
        );
        let tenant = addresses("https://a.example/realms/x");
        assert_eq!(tenant[0], "https://a.example/.well-known/oauth-authorization-server/realms/x");
        assert_eq!(tenant[2], "https://a.example/realms/x/.well-known/openid-configuration");
    }

    #[test]
    fn metadata_of_another_issuer_or_with_an_open_address_is_refused() {
        let read = |issuer: &str, keys: &str| {
            let document = serde_json::json!({ "issuer": issuer, "jwks_uri": keys }).to_string();
            from_metadata(document.as_bytes(), "https://a.example")
        };
        assert_eq!(read("https://a.example", "https://b.example/k").unwrap(), "https://b.example/k");
        assert!(read("https://a.example/", "https://b.example/k").is_err());
        for wrong in ["http://b.example/k", "file:///etc/passwd", "", "https://u:p@b.example/k"] {
            assert!(read("https://a.example", wrong).is_err(), "{wrong}");
        }
    }
}
