//! The token file of one server: readable only by its owner, replaced atomically, locked during a renewal.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationMetadata, CredentialStore, OAuthClientConfig, OAuthTokenResponse,
    StoredCredentials,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use system::file::{self, Access, Durability};
use tokio::time::{Instant, sleep};

use super::secret_members::learn_members;
use crate::{http::failure::HttpFailure, secrets::learn, server_config::OAuth};

/// The version of the file format.
const VERSION: u32 = 1;

/// Maximum size of the file, in bytes (1 MiB): tokens are short, but a file may be anything.
const MAX_BYTES: u64 = 1 << 20;

/// The time before its expiry at which a token is renewed, so that it is still valid when its request arrives.
const AHEAD: Duration = Duration::from_secs(30);

/// Time limit on waiting for another process that renews the same tokens. That process finishes when its authorization
/// server has responded, or after [`super::exchange::EXCHANGE_TIMEOUT`].
const LOCK_TIMEOUT: Duration = Duration::from_secs(40);

/// Interval between attempts to lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(25);

/// Where the tokens of one server are stored: in a file, or without one in memory.
#[derive(Clone)]
pub(super) struct Store {
    file: Option<PathBuf>,
    url: String,
    memory: Arc<Mutex<Option<Record>>>,
}

/// Learns the tokens in a server's file, if there are any: other servers' texts may contain them before this server is
/// connected.
pub(super) fn learn_file(file: &Path) {
    if let Ok(Some(record)) = read(file) {
        record.learn();
    }
}

/// The stored data.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    /// The URL that the tokens are for.
    url: String,
    pub(super) client: Client,
    /// The authorization server's metadata when the tokens were issued.
    metadata: AuthorizationMetadata,
    credentials: StoredCredentials,
}

/// Common to all versions of the file.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

/// A client as registered with the authorization server.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) redirect_uri: String,
}

impl Client {
    /// Converts to the library's type.
    pub(super) fn config(&self) -> OAuthClientConfig {
        // The type requires an address, though a refresh does not send it.
        let redirect = if self.redirect_uri.is_empty() { "http://127.0.0.1/" } else { &self.redirect_uri };
        let config = OAuthClientConfig::new(self.id.clone(), redirect);
        match &self.secret {
            Some(secret) => config.with_client_secret(secret.clone()),
            None => config,
        }
    }
}

/// Keeps other processes from renewing until dropped.
pub(super) struct RenewalLock(Option<File>);

impl Drop for RenewalLock {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            let _ = file.unlock();
        }
    }
}

impl Record {
    pub(super) fn access_token(&self) -> Option<String> {
        self.text("access_token")
    }

    pub(super) fn refresh_token(&self) -> Option<String> {
        self.text("refresh_token")
    }

    pub(super) fn scopes(&self) -> &[String] {
        &self.credentials.granted_scopes
    }

    /// The endpoint for revocation (RFC 8414, section 2).
    pub(super) fn revocation_endpoint(&self) -> Option<&str> {
        self.metadata.additional_fields.get("revocation_endpoint")?.as_str()
    }

    /// Whether the access token has expired or expires soon. One with an unknown lifetime lasts until it is rejected.
    pub(super) fn ends_soon(&self) -> bool {
        // A token with a lifetime shorter than [`AHEAD`] is used for most of it.
        self.ends_within(|lifetime| AHEAD.as_secs().min(lifetime / 4))
    }

    /// Whether the access token has expired.
    pub(super) fn has_ended(&self) -> bool {
        self.ends_within(|_| 0)
    }

    /// When the access token expires, in seconds since 1970, if that is known.
    pub(super) fn expires(&self) -> Option<u64> {
        Some(self.credentials.token_received_at?.saturating_add(self.lifetime()?))
    }

    /// Whether the tokens were issued for the server at `url`.
    pub(super) fn is_for(&self, url: &str) -> bool {
        Url::parse(url).is_ok_and(|url| url.as_str() == self.url)
    }

    /// The lifetime of the access token, in seconds.
    fn lifetime(&self) -> Option<u64> {
        self.response().get("expires_in").and_then(Value::as_u64)
    }

    /// Whether the access token expires within `ahead` seconds, computed from its lifetime.
    fn ends_within(&self, ahead: impl Fn(u64) -> u64) -> bool {
        let lifetime = self.lifetime();
        match (lifetime, self.credentials.token_received_at) {
            (Some(lifetime), Some(received)) => now() + ahead(lifetime) >= received.saturating_add(lifetime),
            _ => false,
        }
    }

    /// Checks that these tokens may be used with the settings: they are bound to the client and the endpoints that they
    /// were issued for, so that no other configuration of the same server can have them sent elsewhere. The error says
    /// what differs, and what to do.
    pub(super) fn check(&self, settings: &OAuth) -> Result<(), HttpFailure> {
        let other = |configured: &Option<String>, known: Option<&str>| {
            configured.as_deref().is_some_and(|configured| Some(configured) != known)
        };
        let (id, metadata) = (self.client.id.as_str(), &self.metadata);
        let is_document = id.starts_with("https://");
        let differs = [
            ("oauth.client_id", other(&settings.client_id, Some(id))),
            (
                "oauth.client_secret",
                self.client.secret.is_some() && other(&settings.client_secret, self.client.secret.as_deref()),
            ),
            ("oauth.client_metadata_url", is_document && other(&settings.client_metadata_url, Some(id))),
            ("oauth.token_url", other(&settings.token_url, Some(&metadata.token_endpoint))),
            (
                "oauth.authorization_url",
                other(&settings.authorization_url, Some(&metadata.authorization_endpoint)),
            ),
        ];
        let differs: Vec<&str> =
            differs.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
        if differs.is_empty() {
            return Ok(());
        }
        Err(HttpFailure::OAuth(format!(
            "its tokens are not used, because they were issued with another {} than is configured now; if the \
             change is intended, log in again (`toolsmith mcp login`), otherwise remove it from the configuration",
            differs.join(" and ")
        )))
    }

    /// The endpoint that issued the tokens.
    pub(super) fn token_endpoint(&self) -> &str {
        &self.metadata.token_endpoint
    }

    /// Whether the metadata belong to the authorization server that issued the tokens.
    pub(super) fn is_from(&self, metadata: &AuthorizationMetadata) -> bool {
        self.credentials.issuer == metadata.issuer && self.metadata.token_endpoint == metadata.token_endpoint
    }

    /// Masks its secrets in all output from now on.
    fn learn(&self) {
        if let Some(secret) = &self.client.secret {
            learn(secret);
        }
        learn_members(&self.response());
    }

    fn text(&self, member: &str) -> Option<String> {
        self.response().get(member)?.as_str().map(str::to_owned)
    }

    /// The token response in its wire form (RFC 6749, section 5.1).
    fn response(&self) -> Value {
        let response: Option<&OAuthTokenResponse> = self.credentials.token_response.as_ref();
        serde_json::to_value(response).unwrap_or_default()
    }
}

impl Store {
    pub(super) fn new(file: Option<PathBuf>, url: &Url) -> Self {
        Self { file, url: url.to_string(), memory: Arc::default() }
    }

    /// Reads the tokens for the server's URL; ignores tokens for another one.
    pub(super) async fn read(&self) -> Result<Option<Record>, HttpFailure> {
        let Some(file) = self.file.clone() else {
            return Ok(self.memory.lock().clone());
        };
        let read = blocking(move || read(&file)).await.map_err(|error| self.wrong("read", &error))?;
        if let Some(record) = &read {
            record.learn();
        }
        Ok(read.filter(|record| record.url == self.url))
    }

    /// Checks that new tokens may replace the file. The tokens of a newer version of Toolsmith are kept for it.
    pub(super) async fn check_replaceable(&self) -> Result<(), HttpFailure> {
        let Some(file) = self.file.clone() else { return Ok(()) };
        blocking(move || refuse_newer(&file)).await.map_err(|error| self.wrong("replaced", &error))
    }

    pub(super) async fn write(&self, record: Record) -> Result<(), HttpFailure> {
        record.learn();
        let Some(file) = self.file.clone() else {
            *self.memory.lock() = Some(record);
            return Ok(());
        };
        blocking(move || write(&file, &record)).await.map_err(|error| self.wrong("written", &error))
    }

    /// Deletes the tokens; returns whether there were any.
    pub(super) async fn forget(&self) -> Result<bool, HttpFailure> {
        let Some(file) = self.file.clone() else {
            return Ok(self.memory.lock().take().is_some());
        };
        let removed = blocking(move || match std::fs::remove_file(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        });
        removed.await.map_err(|error| self.wrong("removed", &error))
    }

    /// Waits until no other process renews these tokens, and locks them.
    pub(super) async fn hold(&self) -> Result<RenewalLock, HttpFailure> {
        let Some(file) = &self.file else { return Ok(RenewalLock(None)) };
        let wrong = |error: &io::Error| self.wrong("locked", error);
        let path = file.with_extension("lock");
        let lock = blocking(move || open_lock(&path)).await.map_err(|error| wrong(&error))?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(RenewalLock(Some(lock))),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(LOCK_INTERVAL).await,
                Err(TryLockError::WouldBlock) => return Err(wrong(&io::ErrorKind::TimedOut.into())),
                Err(TryLockError::Error(error)) => return Err(wrong(&error)),
            }
        }
    }

    /// A credential store for the library, which saves tokens with their client and metadata.
    pub(super) fn with(&self, client: Client, metadata: AuthorizationMetadata) -> Saving {
        Saving { store: self.clone(), client, metadata }
    }

    fn wrong(&self, what: &str, error: &io::Error) -> HttpFailure {
        let file = self.file.as_deref().unwrap_or(Path::new("")).display();
        HttpFailure::OAuth(format!("the file with its tokens, {file}, can't be {what}: {error}"))
    }
}

/// A store with the library's interface.
pub(super) struct Saving {
    store: Store,
    client: Client,
    metadata: AuthorizationMetadata,
}

impl Saving {
    /// Stores the answer to a token request that was made without the library.
    pub(super) async fn keep(&self, tokens: OAuthTokenResponse) -> Result<(), AuthError> {
        let granted = serde_json::to_value(&tokens).unwrap_or_default();
        let scopes = granted["scope"].as_str().unwrap_or_default().split_whitespace().map(str::to_owned);
        let mut credentials =
            StoredCredentials::new(self.client.id.clone(), Some(tokens), scopes.collect(), Some(now()));
        credentials.issuer.clone_from(&self.metadata.issuer);
        self.save(credentials).await
    }
}

#[async_trait]
impl CredentialStore for Saving {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let record = self.store.read().await.map_err(|failure| store_error(&failure))?;
        Ok(record.map(|record| record.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let record = Record {
            version: VERSION,
            url: self.store.url.clone(),
            client: self.client.clone(),
            metadata: self.metadata.clone(),
            credentials,
        };
        self.store.write(record).await.map_err(|failure| store_error(&failure))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.store.forget().await.map(drop).map_err(|failure| store_error(&failure))
    }
}

fn store_error(failure: &HttpFailure) -> AuthError {
    AuthError::CredentialStoreError(failure.to_string())
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// Reads the tokens in a file; `None` if it is missing.
pub(super) fn read(path: &Path) -> io::Result<Option<Record>> {
    let found = file::read(path, MAX_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::Other => io::Error::other(format!("{error}; remove it and log in again")),
        _ => error,
    });
    let Some(text) = found? else { return Ok(None) };
    // The parser's message could quote a token.
    let wrong = || io::Error::other("it is damaged; remove it and log in again");
    match strict_json::from_slice::<Header>(&text).map_err(|_| wrong())?.version {
        VERSION => strict_json::from_slice(&text).map(Some).map_err(|_| wrong()),
        newer if newer > VERSION => Err(newer_version()),
        _ => Err(wrong()),
    }
}

fn newer_version() -> io::Error {
    io::Error::other(
        "a newer version of Toolsmith has written it; update Toolsmith, or move the file away and log in again",
    )
}

/// Fails if a newer version has written the file.
fn refuse_newer(path: &Path) -> io::Result<()> {
    // Another file, such as a damaged one, has nothing to keep.
    let Ok(Some(text)) = file::read(path, MAX_BYTES) else { return Ok(()) };
    match strict_json::from_slice::<Header>(&text) {
        Ok(header) if header.version > VERSION => Err(newer_version()),
        _ => Ok(()),
    }
}

fn write(path: &Path, record: &Record) -> io::Result<()> {
    make_folder_of(path)?;
    refuse_newer(path)?;
    file::replace(path, &serde_json::to_vec(record)?, Access::Owner, Durability::Synced)
}

fn open_lock(path: &Path) -> io::Result<File> {
    make_folder_of(path)?;
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Creates the folder of the file, accessible only to its owner.
fn make_folder_of(path: &Path) -> io::Result<()> {
    let folder = file::folder_of(path);
    if folder.is_dir() { Ok(()) } else { DirBuilder::new().recursive(true).mode(0o700).create(folder) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"version":1,"url":"https://a/","client":{"id":"c","secret":null,"redirect_uri":""},
        "metadata":{"authorization_endpoint":"https://a/a","token_endpoint":"https://a/t","issuer":"https://a/"},
        "credentials":{"client_id":"c","token_response":{"access_token":"first","token_type":"bearer"}}}"#;

    fn read_text(text: &str) -> io::Result<Option<Record>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn files_with_duplicate_members_are_rejected() {
        let sound = read_text(RECORD).unwrap().unwrap();
        assert_eq!(sound.access_token().as_deref(), Some("first"));
        for (one, twice) in [
            (r#""access_token":"first""#, r#""access_token":"first","access_token":"second""#),
            (r#""url":"https://a/""#, r#""url":"https://a/","\u0075rl":"https://b/""#),
            (r#""issuer":"https://a/""#, r#""issuer":"https://a/","x":1,"x":2"#),
        ] {
            let text = RECORD.replacen(one, twice, 1);
            assert_ne!(text, RECORD);
            let error = read_text(&text).err().unwrap().to_string();
            assert!(error.contains("damaged") && !error.contains("second"), "{error}");
        }
    }

    #[test]
    fn the_tokens_of_a_newer_version_are_neither_read_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let newer = r#"{"version":2,"sessions":[]}"#;
        std::fs::write(&path, newer).unwrap();
        let record = read_text(RECORD).unwrap().unwrap();
        for failed in [read(&path).map(drop), write(&path, &record)] {
            assert!(failed.unwrap_err().to_string().contains("newer version"));
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), newer);
        // A damaged file can be replaced by a login.
        std::fs::write(&path, "{").unwrap();
        write(&path, &record).unwrap();
        assert!(read(&path).unwrap().is_some());
    }

    /// The library parses the responses of authorization servers only once, and rejects duplicate members.
    #[test]
    fn responses_with_duplicate_members_are_rejected() {
        let token = r#"{"access_token":"first","token_type":"bearer","scope":"a"}"#;
        assert!(serde_json::from_str::<OAuthTokenResponse>(token).is_ok());
        for member in [r#""access_token":"x","#, r#""token_type":"bearer","#, r#""scope":"b","#] {
            let twice = format!("{{{member}{}", &token[1..]);
            assert!(serde_json::from_str::<OAuthTokenResponse>(&twice).is_err(), "{twice}");
        }
        let metadata = r#"{"issuer":"https://a/","authorization_endpoint":"https://a/a","token_endpoint":"https://a/t"}"#;
        assert!(serde_json::from_str::<AuthorizationMetadata>(metadata).is_ok());
        for member in [r#""issuer":"https://b/","#, r#""token_endpoint":"https://b/t","#] {
            let twice = format!("{{{member}{}", &metadata[1..]);
            assert!(serde_json::from_str::<AuthorizationMetadata>(&twice).is_err(), "{twice}");
        }
    }
}
