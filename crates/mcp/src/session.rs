//! One live connection to one server: handshake, lists, calls, end.
//!
//! Sessions are meant to be short: opened for an execution, closed after it. The caller decides when to open one and
//! what to call.

mod changes;
mod connect;
mod deadline;
mod exchange;
mod forward;
mod lists;
mod process;
mod task;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use parking_lot::Mutex;
use rmcp::{Peer, RoleClient, model::ServerPeerInfo, service::RunningService};
use serde_json::Value;
use tokio::{
    task::{AbortHandle, JoinHandle},
    time::timeout,
};

use self::{deadline::Timers, process::LocalServer};
use crate::{
    client::Client,
    error::{Error, ErrorKind, Evidence},
    host::Host,
    http::ParameterHeaders,
    keyring,
    process::STDIN_GRACE,
    server_config::ServerConfig,
    trace::Trace,
    wire::Health,
};

pub use connect::connect_all;
pub use deadline::PROGRESS_FACTOR;
pub use exchange::{CallOptions, CallResult, MAX_ROUNDS, RESERVED_META, TaskSink};
pub use forward::ForwardedRequest;
pub use lists::{Items, MAX_ITEMS};

/// Time limit for writing cancellations of calls before the connection is closed.
const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// A live connection. Clones share it; calls may run at the same time.
///
/// Dropping the last clone kills a local server's process group at once; [`Session::close`] lets it end in order, and
/// notifies a remote one that its session is over.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
    /// Answers what requests of this holder ask for; `None`: the host that the session was connected with.
    holder: Option<Arc<Client>>,
}

struct Inner {
    config: ServerConfig,
    client: Client,
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Client>>>,
    server: Arc<ServerPeerInfo>,
    health: Arc<Health>,
    trace: Trace,
    /// The process of a local server.
    local: Option<LocalServer>,
    /// The arguments of tools that are also sent in headers, by tool.
    parameter_headers: Mutex<BTreeMap<String, ParameterHeaders>>,
    closing: AtomicBool,
    /// The tasks that listen for changes of resources, by URI.
    subscriptions: Mutex<BTreeMap<String, AbortHandle>>,
    /// Cancellations that are being written.
    cancelling: Mutex<Vec<JoinHandle<()>>>,
    timers: Timers,
}

impl Session {
    /// The server's name in the configuration.
    pub fn name(&self) -> &str {
        &self.inner.config.name
    }

    /// The server's own name and version, which may be empty; untrusted. `None` if it has no name.
    pub fn server_info(&self) -> Option<(&str, &str)> {
        let info = self.inner.server.server_info.as_ref().filter(|info| !info.name.is_empty())?;
        Some((&info.name, &info.version))
    }

    /// The server's instructions for its use; untrusted text.
    pub fn instructions(&self) -> Option<&str> {
        self.inner.server.instructions.as_deref()
    }

    /// A short description of the server: the first sentence of its instructions, or else its title; untrusted text.
    pub fn about(&self) -> Option<String> {
        let title = self.inner.server.server_info.as_ref().and_then(|info| info.title.as_deref());
        let first = self.instructions().and_then(first_sentence).or(title)?;
        Some(first.chars().take(MAX_ABOUT).collect())
    }

    /// The negotiated protocol version.
    pub fn protocol_version(&self) -> &str {
        self.inner.server.protocol_version.as_str()
    }

    /// Whether the protocol has no handshake (MCP 2026-07-28 and later).
    pub fn is_stateless(&self) -> bool {
        !self.inner.server.protocol_version.has_initialize()
    }

    /// The same connection for another holder: `host` answers what its requests ask for (`input_required`), gets their
    /// progress, and alone pauses their time limits. It must declare what the session's own host declares. Requests
    /// that the server sends itself, as before MCP 2026-07-28, still go to the session's own host.
    #[must_use]
    pub fn for_host(&self, host: Arc<dyn Host>) -> Self {
        Session { inner: Arc::clone(&self.inner), holder: Some(Arc::new(self.inner.client.for_host(host))) }
    }

    /// The client side of this holder's requests.
    fn client(&self) -> &Client {
        self.holder.as_deref().unwrap_or(&self.inner.client)
    }

    /// Whether a session that is opened now with `config` would have the same secrets. Those in the user's keyring may
    /// have changed since.
    ///
    /// # Errors
    /// If the secrets can't be read, because the keyring is locked for example.
    pub async fn has_secrets_of(&self, config: &ServerConfig) -> Result<bool, Error> {
        Ok(*keyring::resolved(config).await? == self.inner.config)
    }

    /// The capabilities that the server declares: MCP's `ServerCapabilities`.
    pub fn capabilities(&self) -> Value {
        serde_json::to_value(&self.inner.server.capabilities).unwrap_or_default()
    }

    /// The id of the process group that a local server leads.
    pub fn process_group(&self) -> Option<i32> {
        self.inner.local.as_ref().map(LocalServer::group_id)
    }

    /// The tier of the sandbox that confines a local server, if one does.
    pub fn tier(&self) -> Option<&str> {
        self.inner.local.as_ref().and_then(LocalServer::tier)
    }

    /// Whether either side has ended the connection.
    pub fn is_closed(&self) -> bool {
        self.inner.peer.is_transport_closed()
    }

    /// Closes the session for all its clones. Pending calls fail.
    ///
    /// A local server's standard input is closed; after [`STDIN_GRACE`], its group gets SIGTERM,
    /// and after another [`TERM_GRACE`](crate::TERM_GRACE) the rest of the group is killed. A remote server gets a
    /// `DELETE` request, with a time limit of [`STDIN_GRACE`].
    pub async fn close(self) {
        self.inner.closing.store(true, Ordering::Relaxed);
        let cancelling = std::mem::take(&mut *self.inner.cancelling.lock());
        // A server that does not read does not get its cancellations.
        let _ = timeout(CANCEL_GRACE, join_all(cancelling)).await;
        let service = self.inner.service.lock().take();
        if let Some(service) = service {
            // This takes no time, unless the server does not read and a request is stuck.
            let _ = timeout(STDIN_GRACE, service.cancel()).await;
        }
        if let Some(local) = &self.inner.local {
            local.end().await;
        }
    }

    fn fail(&self, kind: ErrorKind) -> Error {
        Error::new(self.name(), kind)
    }

    /// Everything known about the connection besides its messages.
    fn evidence(&self) -> Evidence {
        let evidence = self.inner.local.as_ref().map(LocalServer::evidence).unwrap_or_default();
        with_stray(evidence, &self.inner.health)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Session")
            .field("server", &self.name())
            .field("process_group", &self.process_group())
            .finish_non_exhaustive()
    }
}

fn with_stray(mut evidence: Evidence, health: &Health) -> Evidence {
    (evidence.stray_lines, evidence.first_stray_line) = health.stray();
    evidence.dropped_messages = health.dropped();
    evidence
}

/// Maximum length of a server's short description, in characters.
const MAX_ABOUT: usize = 200;

/// The text up to the first full stop before a space, or to the end of its first line with content.
fn first_sentence(text: &str) -> Option<&str> {
    let line = text.lines().map(str::trim).find(|line| line.chars().any(char::is_alphanumeric))?;
    Some(line.split_once(". ").map_or(line, |(sentence, _)| sentence).trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::{Session, first_sentence};
    use crate::{ErrorKind, NoHost, keyring, server_config::ServerConfig};

    /// The secret is in no keyring, and there may be no keyring at all.
    #[tokio::test]
    async fn secrets_that_cant_be_read_are_not_reported_as_changed() {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (input, mut output) = tokio::io::split(far);
        let serving = tokio::spawn(async move {
            let mut lines = BufReader::new(input).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let request: Value = serde_json::from_str(&line).unwrap();
                let result = json!({
                    "protocolVersion": "2025-11-25", "capabilities": {},
                    "serverInfo": { "name": "s", "version": "1" },
                });
                if let Some(id) = request.get("id") {
                    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                    output.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
                }
            }
        });
        let config = ServerConfig::stdio("s", "x", [""; 0]);
        let connecting = Session::connect_over(&config, Arc::new(NoHost), tokio::io::split(near));
        let session = connecting.await.unwrap();
        assert!(session.has_secrets_of(&config).await.unwrap());
        let secret = keyring::placeholder("toolsmith-test.absent-secret").unwrap();
        let other = ServerConfig::stdio("s", "x", [secret]);
        let error = session.has_secrets_of(&other).await.unwrap_err();
        assert!(matches!(*error.kind, ErrorKind::Keyring { .. }), "{error}");
        session.close().await;
        serving.await.unwrap();
    }

    #[test]
    fn the_first_sentence_is_extracted() {
        assert_eq!(first_sentence("Files of a folder. Use with care."), Some("Files of a folder"));
        assert_eq!(first_sentence("\n# Notes v1.2 here\nMore."), Some("# Notes v1.2 here"));
        assert_eq!(first_sentence("--\n \n"), None);
    }
}
