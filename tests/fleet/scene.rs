//! Everything that a fleet needs on one machine: store, issuer, server, replicas and proxy.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use end_to_end::fault_proxy::FaultProxy;
use end_to_end::s3_server::{BUCKET, S3Server, variables};
use parking_lot::RwLock;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::Checked;
use crate::client::{Client, http};
use crate::issuer::Issuer;
use crate::load::Clients;
use crate::mix::Mix;
use crate::proxy::Proxy;
use crate::replica::{Plan, Replica};
use crate::upstream::Upstream;

/// The names of the replicas.
pub(crate) const NAMES: [&str; 3] = ["a", "b", "c"];
/// The subjects, each with this many clients of both kinds.
const SUBJECTS: usize = 6;
const CLIENTS: usize = 2;
/// The limits of a replica: small, because all of them share one machine.
const RUNNING: usize = 3;
const WAITING: usize = 6;

/// A fleet and what it needs.
pub(crate) struct Scene {
    pub(crate) clients: Clients,
    pub(crate) replicas: Vec<Option<Replica>>,
    pub(crate) upstream: Upstream,
    pub(crate) issuer: Issuer,
    pub(crate) store: FaultProxy,
    pub(crate) folder: TempDir,
    tokens: Vec<(String, Arc<RwLock<String>>)>,
    _proxy: Proxy,
    pub(crate) server: S3Server,
}

/// A port that was free a moment ago.
fn free() -> Checked<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map_err(|error| error.to_string())
}

fn key(folder: &Path) -> Checked<PathBuf> {
    let document = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new());
    let body = STANDARD.encode(document.map_err(|error| error.to_string())?.as_ref());
    let file = folder.join("key.pem");
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
    let written = fs::write(&file, pem)
        .and_then(|()| fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).map(|()| file.clone()));
    written.map_err(|error| error.to_string())
}

impl Scene {
    /// Fills the store, and starts everything with empty caches.
    pub(crate) async fn start(binary: &Path, processors: Option<&str>) -> Checked<Self> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (server, upstream, issuer) = (S3Server::start(), Upstream::start().await?, Issuer::start()?);
        let store = FaultProxy::start(server.address());
        let key = key(folder.path())?;
        let plan = |name: &'static str, metrics: SocketAddr| {
            let folder = folder.path().join(name);
            let config = configuration(&upstream, &issuer, &key, &folder, metrics);
            let variables = variables(store.address()).to_vec();
            Ok::<_, String>(Plan {
                name,
                binary: binary.to_owned(),
                folder,
                address: free()?,
                variables,
                config,
                processors: processors.map(str::to_owned),
                clock: Vec::new(),
            })
        };
        fill(plan("first", free()?)?)?;
        let mut replicas = Vec::new();
        for name in NAMES {
            replicas.push(Some(plan(name, free()?)?.start().await?));
        }
        let addresses: Vec<(&str, SocketAddr)> =
            replicas.iter().flatten().map(|replica| (replica.plan.name, replica.plan.address)).collect();
        let proxy = Proxy::start(folder.path(), free()?, &addresses).await?;
        let mut tokens = Vec::new();
        for number in 0..SUBJECTS {
            tokens.push((format!("subject-{number}"), Arc::default()));
        }
        let clients = clients(proxy.address, &tokens);
        let scene =
            Scene { clients, replicas, upstream, issuer, store, folder, tokens, _proxy: proxy, server };
        scene.log_in().await?;
        Ok(scene)
    }

    /// Gets tokens for all subjects.
    pub(crate) async fn log_in(&self) -> Checked<()> {
        for (subject, token) in &self.tokens {
            let new = self.issuer.token(subject).await?;
            *token.write() = new;
        }
        Ok(())
    }

    /// A replica that runs.
    pub(crate) fn replica(&self, index: usize) -> Checked<&Replica> {
        self.replicas[index].as_ref().ok_or_else(|| format!("the replica {} does not run", NAMES[index]))
    }

    /// Takes a replica out of the scene, to end it.
    pub(crate) fn take(&mut self, index: usize) -> Checked<Replica> {
        self.replicas[index].take().ok_or_else(|| format!("the replica {} does not run", NAMES[index]))
    }
}

/// Clients of both kinds for each subject, in turn.
fn clients(proxy: SocketAddr, tokens: &[(String, Arc<RwLock<String>>)]) -> Clients {
    let (http, mut all) = (http(), Vec::new());
    for number in 0..SUBJECTS * CLIENTS * 2 {
        let (_, token) = &tokens[number % SUBJECTS];
        let session = (number / SUBJECTS % 2 == 1).then(Mutex::default);
        let (url, token) = (format!("http://{proxy}/mcp"), token.clone());
        all.push(Arc::new(Client { http: http.clone(), url, next: AtomicU64::new(1), token, session }));
    }
    Clients { all, next: AtomicUsize::new(0), mix: Mix::new() }
}

fn configuration(
    upstream: &Upstream,
    issuer: &Issuer,
    key: &Path,
    folder: &Path,
    metrics: SocketAddr,
) -> Value {
    json!({
        "mcpServers": { "up": {
            "type": "http", "url": format!("http://{}/mcp", upstream.address), "requestTimeout": 5,
            "permissions": { "*": "allow" },
        } },
        "codeMode": { "timeout": 30 },
        "serve": {
            "auth": { "issuer": issuer.address, "resource": "https://tools.example.com/mcp" },
            "maxExecutions": RUNNING, "maxWaiting": WAITING, "queueTimeout": 10, "drainDelay": 6, "grace": 20,
            "audit": { "file": folder.join("audit.jsonl") },
            "metrics": { "address": metrics.to_string() },
        },
        "cache": { "remote": { "url": format!("s3://{BUCKET}/fleet"), "key": { "file": key } } },
    })
}

/// Writes the crates for snippets and the bindings to the store. The crates come from a cache under `target/`, so that
/// they are compiled once.
fn fill(mut plan: Plan) -> Checked<()> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-cache");
    fs::create_dir_all(&cache)
        .and_then(|()| fs::create_dir_all(&plan.folder))
        .map_err(|error| error.to_string())?;
    std::os::unix::fs::symlink(&cache, plan.cache()).map_err(|error| error.to_string())?;
    // A server that writes everything may take its time.
    plan.config["cache"]["remote"]["timeout"] = json!(20);
    plan.run(&["cache", "warm"])
}
