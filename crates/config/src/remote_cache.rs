//! The keys of `cache.remote`: an object store whose entries several machines share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use url::Url;

use super::key_macros::{Kind, Written, filled, form, record};
use super::key_types::{Expanded, FilePath, Seconds, VariableName, text};

/// Time limit for an answer of the store, by default.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Length of an Ed25519 public key, in bytes (RFC 8032, section 5.1.5).
const PUBLIC_KEY: usize = 32;
/// The bytes that precede it in the form of other keys: `SubjectPublicKeyInfo` of Ed25519 (RFC 8410, section 4).
const PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

form! {
    /// An object store whose entries several machines share.
    #[serde(rename_all = "camelCase")]
    RemoteCacheForm {
        /// Where entries are: s3://bucket/prefix, gs://bucket/prefix, az://container/prefix, https://host/path,
        /// http://host/path or file:///folder.
        url: StoreUrl,
        /// Headers of each request to a store over HTTP.
        headers: Option<BTreeMap<String, Expanded>>,
        /// The private key that signs entries: an Ed25519 key in PEM.
        key: Option<KeyForm>,
        /// Public keys whose entries are used, in addition to that of `key`: base64, as in PEM.
        public_keys: Vec<StoreKey> = Vec::new(),
        /// Whether this machine only reads entries, and needs no `key`.
        read_only: bool = false,
        /// Time limit for an answer of the store, in seconds; after it, snippets are compiled without it.
        timeout: Seconds = TIMEOUT,
    }
}

record! {
    /// The private key that signs entries: one of these.
    #[serde(rename_all = "camelCase")]
    KeyPlace from KeyForm {
        /// A file that only its owner may read, relative to the folder of this file.
        file: Option<FilePath>,
        /// The name of an environment variable with the key.
        env: Option<VariableName>,
    }
}

/// An object store whose entries several machines share.
#[derive(Clone, PartialEq)]
pub struct RemoteCache {
    /// Where entries are.
    pub url: Url,
    /// Headers of each request over HTTP. The values are secrets.
    pub headers: BTreeMap<String, String>,
    /// Where the private key is; `None` to only read.
    pub key: Option<RemoteKey>,
    /// Ed25519 public keys whose entries are used, besides that of `key`.
    pub public_keys: Vec<[u8; PUBLIC_KEY]>,
    /// Time limit for an answer of the store.
    pub timeout: Duration,
}

/// Where a private key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteKey {
    /// In a file.
    File(PathBuf),
    /// In an environment variable.
    Environment(String),
}

impl std::fmt::Debug for RemoteCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RemoteCache { url, headers, key, public_keys, timeout } = self;
        let (names, keys): (Vec<&String>, usize) = (headers.keys().collect(), public_keys.len());
        let (scheme, host) = (url.scheme(), url.host_str());
        write!(
            formatter,
            "RemoteCache({scheme} {host:?}, headers {names:?}, {key:?}, {keys} keys, {timeout:?})"
        )
    }
}

impl Kind for RemoteCacheForm {
    type Value = RemoteCache;

    fn value(self) -> RemoteCache {
        let key = self.key.map(Kind::value).and_then(|KeyPlace { file, env }| {
            file.map(RemoteKey::File).or_else(|| env.map(RemoteKey::Environment))
        });
        RemoteCache {
            url: self.url.value(),
            headers: self.headers.value().unwrap_or_default(),
            key,
            public_keys: filled!(self.public_keys, Vec<StoreKey>, Vec::new()),
            timeout: filled!(self.timeout, Seconds, TIMEOUT),
        }
    }
}

impl RemoteCacheForm {
    /// The broken rules between its keys: the key at which each is reported, and what to do.
    pub(super) fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut problems = Vec::new();
        let only_reads = self.read_only == Some(true);
        let knows_keys = self.public_keys.as_ref().is_some_and(|keys| !keys.is_empty());
        match &self.key {
            Some(KeyForm { file, env }) if file.is_some() == env.is_some() => {
                problems.push(("key", "a key is in one place; write either `file` or `env`"));
            }
            Some(_) if only_reads => problems.push((
                "key",
                "a machine that only reads needs no private key; remove `key`, and write its public key in \
                 `publicKeys`",
            )),
            None if !only_reads => problems.push((
                "url",
                "entries are signed; write `key: { file: … }`, or `readOnly: true` and `publicKeys`",
            )),
            None if !knows_keys => problems.push((
                "readOnly",
                "no entry could be used; write the public key of the machines that sign entries in `publicKeys`",
            )),
            _ => {}
        }
        if self.headers.is_some() && !matches!(self.url.0.scheme(), "http" | "https") {
            problems.push((
                "headers",
                "only stores over HTTP have headers; set the variables of the store instead",
            ));
        }
        problems
    }
}

/// The address of an object store, variables expanded.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "Expanded")]
#[schemars(inline)]
#[allow(unreachable_pub, reason = "the type of a public record names it")]
pub struct StoreUrl(#[schemars(with = "String")] Url);

impl TryFrom<Expanded> for StoreUrl {
    type Error = &'static str;

    /// The errors do not have the text, which may have a variable's value.
    fn try_from(text: Expanded) -> Result<Self, &'static str> {
        const FORMS: &str = "this is not the address of an object store; write s3://bucket/prefix, \
                             gs://bucket/prefix, az://container/prefix, https://host/path, http://host/path or \
                             file:///folder";
        let url = Url::parse(&text.0).map_err(|_| FORMS)?;
        let fits = match url.scheme() {
            "s3" | "gs" | "az" | "http" | "https" => url.has_host(),
            "file" => url.to_file_path().is_ok(),
            _ => false,
        };
        if !fits {
            return Err(FORMS);
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(
                "an address of an object store must not contain a user name, a password or a query; use \
                        `headers`, or the variables of the store",
            );
        }
        Ok(StoreUrl(url))
    }
}

impl Kind for StoreUrl {
    type Value = Url;

    fn value(self) -> Url {
        self.0
    }
}

text! {
    /// An Ed25519 public key.
    StoreKey([u8; PUBLIC_KEY]) by public_key;
}

impl Written for StoreKey {
    fn written(value: &Self::Value) -> Json {
        STANDARD.encode([&PREFIX[..], value].concat()).into()
    }
}

/// Reads a public key: base64 as in PEM, with or without the lines around it.
fn public_key(text: &str) -> Result<[u8; PUBLIC_KEY], &'static str> {
    let lines = text.lines().filter(|line| !line.starts_with("-----"));
    let base64: String = lines.flat_map(str::split_ascii_whitespace).collect();
    let bytes = STANDARD.decode(base64).ok();
    let key = bytes.as_deref().and_then(|bytes| bytes.strip_prefix(&PREFIX)?.try_into().ok());
    key.ok_or(
        "this is not an Ed25519 public key; write the line between BEGIN and END of: openssl pkey -in key.pem -pubout",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 8410, section 10.1.
    const KEY: &str = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";

    #[test]
    fn public_keys_are_read_with_and_without_their_lines() {
        let key = public_key(KEY).unwrap();
        assert_eq!(key[..4], [0x19, 0xbf, 0x44, 0x09]);
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{KEY}\n-----END PUBLIC KEY-----\n");
        assert_eq!(public_key(&pem).unwrap(), key);
        assert_eq!(StoreKey::written(&key), KEY);
        for wrong in ["", "abc", &KEY[4..], "MCowBQYDK2VuAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="] {
            assert!(public_key(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_of_stores_have_a_place_and_no_secrets() {
        let read = |text: &str| StoreUrl::try_from(Expanded(text.to_owned())).map(|url| url.0.to_string());
        for url in ["s3://bucket/a", "gs://bucket", "az://container/a/b", "https://host/a", "file:///a/b"] {
            assert_eq!(read(url).unwrap(), url);
        }
        for wrong in ["", "bucket/a", "s3:///a", "ftp://host/a", "file://host/a", "https://me:secret@host/a"]
        {
            let error = read(wrong).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(read("https://host/a?token=secret").is_err());
    }

    #[test]
    fn debug_output_has_no_secrets() {
        let remote = RemoteCache {
            url: Url::parse("https://host/secret").unwrap(),
            headers: [("Authorization".to_owned(), "Bearer secret".to_owned())].into(),
            key: Some(RemoteKey::Environment("CACHE_KEY".to_owned())),
            public_keys: Vec::new(),
            timeout: TIMEOUT,
        };
        let output = format!("{remote:?}");
        assert!(output.contains("CACHE_KEY") && !output.contains("secret"), "{output}");
    }
}
