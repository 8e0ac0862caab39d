//! Machines that share a store.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use end_to_end::s3_server::{BUCKET, S3Server, variables};
use parking_lot::Mutex;
use remote_cache::{KeySource, PublicKey, Remote, Settings, SigningKey};
use ring::signature::Ed25519KeyPair;
use runner::{ArtifactId, Bucket, Claim, Fetched, Offered, RemoteCache as _, RemoteStatistics, Wanted};
use tempfile::TempDir;

/// A time limit that no answer of a working server reaches, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);
/// The time limit on the wait until new entries are written.
const FLUSH: Duration = Duration::from_secs(60);
/// Maximum size of an entry.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

/// A key pair in files.
pub(crate) struct Key {
    folder: TempDir,
}

impl Key {
    pub(crate) fn new() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let document = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new()).unwrap();
        let body = STANDARD.encode(document.as_ref());
        let file = folder.path().join("key.pem");
        std::fs::write(&file, format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"))
            .unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        Key { folder }
    }

    pub(crate) fn source(&self) -> KeySource {
        KeySource::File(self.folder.path().join("key.pem"))
    }

    pub(crate) fn public(&self) -> PublicKey {
        SigningKey::read(&self.source()).unwrap().public()
    }
}

/// The settings of a machine that uses the S3 server, or a proxy before it, at `address`.
pub(crate) fn s3(address: SocketAddr) -> Settings {
    let variables = variables(address).map(|(name, value)| (name.to_owned(), value));
    Settings { variables: variables.into(), ..at(&format!("s3://{BUCKET}/some/prefix")) }
}

/// The settings of a machine that uses the store at `url`.
pub(crate) fn at(url: &str) -> Settings {
    Settings {
        url: url::Url::parse(url).unwrap(),
        headers: BTreeMap::new(),
        variables: BTreeMap::new(),
        key: None,
        public_keys: Vec::new(),
        timeout: LIMIT,
    }
}

/// A machine.
pub(crate) struct Machine {
    remote: Remote,
    notes: Arc<Mutex<Vec<String>>>,
}

/// A machine's findings.
#[derive(Debug)]
pub(crate) enum Found {
    /// The contents of the file `program`.
    Program(String),
    Here,
    Missing(Option<Claim>),
}

impl Found {
    #[track_caller]
    pub(crate) fn claim(self) -> Claim {
        match self {
            Found::Missing(Some(claim)) => claim,
            other => panic!("no claim: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn program(self) -> String {
        match self {
            Found::Program(text) => text,
            other => panic!("no program: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn expect_missing(self) {
        assert!(matches!(self, Found::Missing(_)), "{self:?}");
    }
}

impl Machine {
    pub(crate) fn new(settings: &Settings) -> Self {
        let notes: Arc<Mutex<Vec<String>>> = Arc::default();
        let shown = notes.clone();
        let notify = Arc::new(move |line: &str| shown.lock().push(line.to_owned()));
        Machine { remote: Remote::open(settings, notify).unwrap(), notes }
    }

    /// A machine that signs with `key`, on the S3 server.
    pub(crate) fn writer(server: &S3Server, key: &Key) -> Self {
        Machine::new(&Settings { key: Some(key.source()), ..s3(server.address()) })
    }

    /// A machine that only reads what was signed with `key`.
    pub(crate) fn reader(server: &S3Server, key: &Key) -> Self {
        Machine::new(&Settings { public_keys: vec![key.public()], ..s3(server.address()) })
    }

    /// Asks for an entry that this machine would not build.
    pub(crate) async fn look(&self, key: &str) -> Found {
        self.fetch(key, false, MAX_BYTES, &|| false).await
    }

    /// Asks for an entry that this machine builds if it is missing.
    pub(crate) async fn want(&self, key: &str) -> Found {
        self.fetch(key, true, MAX_BYTES, &|| false).await
    }

    pub(crate) async fn fetch(
        &self,
        key: &str,
        builds: bool,
        max_bytes: u64,
        is_here: &(dyn Fn() -> bool + Send + Sync),
    ) -> Found {
        let id = ArtifactId::new(Bucket::Programs, key);
        self.fetch_id(id, builds, max_bytes, is_here).await
    }

    /// Like [`Machine::look`], for any entry.
    pub(crate) async fn look_for(&self, id: ArtifactId) -> Found {
        self.fetch_id(id, false, MAX_BYTES, &|| false).await
    }

    async fn fetch_id(
        &self,
        id: ArtifactId,
        builds: bool,
        max_bytes: u64,
        is_here: &(dyn Fn() -> bool + Send + Sync),
    ) -> Found {
        let folder = tempfile::tempdir().unwrap();
        let wanted = Wanted { id, folder: folder.path(), max_bytes, builds, is_here, waits: &|| {} };
        match self.remote.fetch(wanted).await {
            Fetched::Written => {
                Found::Program(std::fs::read_to_string(folder.path().join("program")).unwrap())
            }
            Fetched::Here => Found::Here,
            Fetched::Missing(claim) => {
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files were left");
                Found::Missing(claim)
            }
        }
    }

    /// Offers a program, and waits until it is written or not.
    pub(crate) async fn share(&self, key: &str, program: &str, claim: Option<Claim>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("program"), program).unwrap();
        self.offer(key, folder.path(), claim);
        self.flush().await;
    }

    pub(crate) fn offer(&self, key: &str, folder: &Path, claim: Option<Claim>) {
        self.remote.offer(Offered::new(ArtifactId::new(Bucket::Programs, key), folder.to_owned(), claim));
    }

    pub(crate) async fn flush(&self) {
        self.remote.flush(FLUSH).await;
    }

    pub(crate) fn statistics(&self) -> RemoteStatistics {
        self.remote.statistics()
    }

    /// Returns the notes to its user.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lock().clone()
    }

    pub(crate) async fn state(&self) -> remote_cache::StoreState {
        self.remote.state(LIMIT).await
    }
}
