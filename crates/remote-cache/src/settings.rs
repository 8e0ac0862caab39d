//! The settings of a remote cache.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use url::Url;

use crate::key::{KeySource, PublicKey};

/// Default time limit for an answer of the store: far more than a store in the same region needs, and about as long as
/// compiling a large snippet.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of a remote cache.
#[derive(Clone)]
pub struct Settings {
    /// Where entries are: `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`, `https://host/path`,
    /// `http://host/path` or `file:///folder`.
    pub url: Url,
    /// Headers of each request to a store over HTTP. The values are secrets.
    pub headers: BTreeMap<String, String>,
    /// The variables with settings and credentials of the store, by the names of its own tools ([`store_variables`]).
    pub variables: BTreeMap<String, String>,
    /// The key that signs entries; `None` to only read.
    pub key: Option<KeySource>,
    /// Keys whose entries are used, besides that of `key`.
    pub public_keys: Vec<PublicKey>,
    /// Time limit for an answer of the store.
    pub timeout: Duration,
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { url, headers, variables: _, key, public_keys, timeout } = self;
        let names: Vec<&String> = headers.keys().collect();
        let place = shown(url);
        write!(formatter, "Settings({place}, headers {names:?}, {key:?}, {public_keys:?}, {timeout:?})")
    }
}

/// The variables of this process that settings and credentials of stores are in.
#[must_use]
pub fn store_variables() -> BTreeMap<String, String> {
    let is_of_store = |name: &str| {
        ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix))
            || name == IDENTITY_ENDPOINT
    };
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| is_of_store(name))?;
        Some((name, value.into_string().ok()?))
    });
    variables.collect()
}

/// Where the machines of Azure get credentials.
pub(crate) const IDENTITY_ENDPOINT: &str = "IDENTITY_ENDPOINT";

/// The place of a store for users. A path over HTTP may be a secret.
pub(crate) fn shown(url: &Url) -> String {
    match url.scheme() {
        "file" => format!("file://{}", url.path()),
        scheme => {
            let port = url.port().map_or(String::new(), |port| format!(":{port}"));
            format!("{scheme}://{}{port}", url.host_str().unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_addresses_have_no_path_user_or_query() {
        for (url, place) in [
            ("https://me:password@host:8443/secret?token=1", "https://host:8443"),
            ("s3://bucket/prefix", "s3://bucket"),
            ("file:///var/cache", "file:///var/cache"),
        ] {
            assert_eq!(shown(&Url::parse(url).unwrap()), place);
        }
    }
}
