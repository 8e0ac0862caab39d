//! A long-lived session: connected in the background, monitored, and reconnected when it breaks.
//!
//! For tools that are called directly and need a server that keeps its state. An execution uses its own [`Session`]
//! instead. A call that a broken connection interrupts fails; it is never sent again.

mod alive;
mod pace;
mod watch;

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures::FutureExt as _;
use parking_lot::Mutex;
use system::random;
use tokio::{
    sync::{Notify, watch as channel},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until, timeout},
};

use self::{pace::Pace, watch::Watching};
use crate::{
    error::{Error, ErrorKind},
    host::{Host, ListKind},
    listing::Tool,
    server_config::ServerConfig,
    session::Session,
};

pub use alive::check;

/// The wait before the first reconnection; doubled after each failure up to [`MAX_WAIT`], plus a random part of up
/// to a quarter, so that many clients don't reconnect at once.
pub const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait between two attempts.
pub const MAX_WAIT: Duration = Duration::from_secs(30);

/// Consecutive failures before the server becomes [`ConnectionState::Error`] and is tried less often.
pub const MAX_ATTEMPTS: u32 = 5;

/// The interval between attempts for such a server: a missing command may have been installed, or the user logged in.
pub const REVIVAL: Duration = Duration::from_secs(60);

/// Time without a failure after which the count of failures is reset.
pub const HEALTHY: Duration = Duration::from_secs(60);

/// Time without list changes before a list is requested again: changes come in bursts.
const QUIET: Duration = Duration::from_millis(200);

/// Limit on the delay that a burst of changes causes.
const MAX_BURST: Duration = Duration::from_secs(2);

/// The state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// Its configuration disables it.
    Disabled,
    /// An attempt is in progress, or about to start.
    Connecting,
    /// It requires a login.
    AuthRequired,
    /// It accepts requests.
    Ready,
    /// It can't be reached, and is tried only at long intervals.
    Error,
    /// The session was closed on this side.
    Closed,
}

impl ConnectionState {
    /// The name in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Connecting => "connecting",
            Self::AuthRequired => "auth_required",
            Self::Ready => "ready",
            Self::Error => "error",
            Self::Closed => "closed",
        }
    }
}

/// The current status of a server.
#[derive(Debug, Clone)]
pub struct Status {
    /// Its state.
    pub state: ConnectionState,
    /// The reason why the last connection failed; `None` if not yet known.
    pub last_error: Option<String>,
    /// When it was last connected.
    pub last_connected: Option<SystemTime>,
    /// When its tools were last listed.
    pub last_listed: Option<SystemTime>,
    /// Its tools as of the last listing.
    pub tools: Arc<Vec<Tool>>,
    /// The warnings of the last listing.
    pub warnings: Vec<String>,
    /// The negotiated protocol version.
    pub protocol_version: Option<String>,
    /// Whether that version has no handshake, so that the server keeps nothing between requests.
    pub is_stateless: bool,
    /// The time that the last connection took, including listing.
    pub latency: Option<Duration>,
    /// Whether it declared resources at the last connection.
    pub has_resources: bool,
    /// Whether it declared skills at the last connection.
    pub has_skills: bool,
    /// Whether it declared prompts at the last connection.
    pub has_prompts: bool,
    /// Its short description of itself; untrusted text.
    pub about: Option<String>,
    /// The last changes of the tools; empty if there are none.
    pub changes: Changes,
}

/// The differences between a list of tools and the previous one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// New tools, by name.
    pub added: Vec<String>,
    /// Removed tools.
    pub removed: Vec<String>,
    /// Tools with a different schema, description or annotation.
    pub changed: Vec<String>,
}

impl Changes {
    /// The differences between `before` and `after`.
    #[must_use]
    pub fn between(before: &[Tool], after: &[Tool]) -> Self {
        let (known, left) = (by_name(before), by_name(after));
        let mut changes = Self::default();
        for tool in after {
            match known.get(tool.name.as_str()) {
                None => changes.added.push(tool.name.clone()),
                Some(known) if *known != tool => changes.changed.push(tool.name.clone()),
                Some(_) => {}
            }
        }
        let gone = before.iter().filter(|tool| !left.contains_key(tool.name.as_str()));
        changes.removed = gone.map(|tool| tool.name.clone()).collect();
        changes
    }

    /// Whether there are no differences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

fn by_name(tools: &[Tool]) -> HashMap<&str, &Tool> {
    tools.iter().map(|tool| (tool.name.as_str(), tool)).collect()
}

/// A managed session. Dropping it ends the background task and kills a local server.
pub struct ManagedSession {
    shared: Arc<Shared>,
    work: JoinHandle<()>,
}

struct Shared {
    config: ServerConfig,
    host: Arc<Watching>,
    status: channel::Sender<Status>,
    session: Mutex<Option<Session>>,
    closing: Notify,
}

impl ManagedSession {
    /// Starts to connect. Needs a tokio runtime.
    pub fn start(config: ServerConfig, host: Arc<dyn Host>) -> Self {
        let status = Status {
            state: ConnectionState::Connecting,
            last_error: None,
            last_connected: None,
            last_listed: None,
            tools: Arc::default(),
            warnings: Vec::new(),
            protocol_version: None,
            is_stateless: false,
            latency: None,
            has_resources: false,
            has_skills: false,
            has_prompts: false,
            about: None,
            changes: Changes::default(),
        };
        let shared = Arc::new(Shared {
            config,
            host: Arc::new(Watching::new(host)),
            status: channel::Sender::new(status),
            session: Mutex::default(),
            closing: Notify::new(),
        });
        let work = tokio::spawn(keep(Arc::clone(&shared)));
        Self { shared, work }
    }

    /// The current status.
    pub fn status(&self) -> Status {
        self.shared.status.borrow().clone()
    }

    /// A receiver for the status and its changes.
    pub fn watch(&self) -> channel::Receiver<Status> {
        self.shared.status.subscribe()
    }

    /// Waits for the session.
    ///
    /// # Errors
    /// Returns an error if the server can't be reached, requires a login, or was closed.
    pub async fn session(&self) -> Result<Session, Error> {
        let mut status = self.shared.status.subscribe();
        // Lets a pending end of the connection take effect.
        tokio::task::yield_now().await;
        // A session that has just broken may still be reported as ready: the state follows, and then another session.
        let settled = status
            .wait_for(|status| match status.state {
                ConnectionState::Connecting => false,
                ConnectionState::Ready => !self.held().is_some_and(|session| session.is_closed()),
                _ => true,
            })
            .await;
        // An earlier failure is not the reason if the session was closed in order.
        let failed = settled.ok().filter(|status| status.state != ConnectionState::Closed);
        let reason = failed.and_then(|status| status.last_error.clone());
        let session = self.held();
        session.ok_or_else(|| {
            let reason = reason.unwrap_or_else(|| "the session was closed on this side".to_owned());
            Error::new(&self.shared.config.name, ErrorKind::Host { reason })
        })
    }

    /// The current session, even if it has broken.
    fn held(&self) -> Option<Session> {
        self.shared.session.lock().clone()
    }

    /// Closes the session in order.
    pub async fn close(mut self) {
        self.shared.closing.notify_one();
        // The task ends without being aborted: closing a session has its own deadlines.
        let _ = (&mut self.work).await;
    }
}

impl Drop for ManagedSession {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// Connects, monitors and reconnects until closed.
async fn keep(shared: Arc<Shared>) {
    let mut failures = 0;
    loop {
        let started = Instant::now();
        let ended = tokio::select! {
            biased;
            () = shared.closing.notified() => None,
            ended = shared.hold_one() => Some(ended),
        };
        let Some(error) = ended else {
            shared.set(|status| status.state = ConnectionState::Closed);
            shared.close_session().await;
            return;
        };
        if started.elapsed() >= HEALTHY {
            failures = 0;
        }
        failures += 1;
        let is_login = matches!(*error.kind, ErrorKind::Unauthorized { .. });
        let gives_up = is_login || failures >= MAX_ATTEMPTS || !may_pass(&error);
        // Before the session is closed, which may take seconds: no caller must get a broken session.
        shared.set(|status| {
            status.state = match (is_login, gives_up) {
                (true, _) => ConnectionState::AuthRequired,
                (false, true) => ConnectionState::Error,
                (false, false) => ConnectionState::Connecting,
            };
            status.last_error = Some(error.to_string());
        });
        shared.close_session().await;
        let wait = if gives_up { REVIVAL } else { wait_after(failures) };
        // From now on, each further failure counts as the last.
        failures = if gives_up { MAX_ATTEMPTS - 1 } else { failures };
        tokio::select! {
            () = shared.closing.notified() => {
                shared.set(|status| status.state = ConnectionState::Closed);
                return;
            }
            () = sleep(wait) => {}
        }
    }
}

/// Whether another attempt may help.
fn may_pass(error: &Error) -> bool {
    !matches!(*error.kind, ErrorKind::Spawn { .. } | ErrorKind::Host { .. })
}

fn wait_after(failures: u32) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(MAX_WAIT);
    doubled + random::jitter(doubled / 4)
}

impl Shared {
    fn set(&self, change: impl FnOnce(&mut Status)) {
        self.status.send_modify(change);
    }

    async fn close_session(&self) {
        let session = self.session.lock().take();
        if let Some(session) = session {
            session.close().await;
        }
    }

    /// Runs one connection from start to end; returns why it ended.
    async fn hold_one(&self) -> Error {
        let started = Instant::now();
        let session = match Session::connect_with(&self.config, self.host.clone()).await {
            Ok(session) => session,
            Err(error) => return error,
        };
        *self.session.lock() = Some(session.clone());
        if let Err(error) = self.list(&session).await {
            return error;
        }
        let capabilities = session.capabilities();
        let has = |name: &str| capabilities.get(name).is_some_and(serde_json::Value::is_object);
        let (has_resources, has_prompts) = (has("resources"), has("prompts"));
        self.set(|status| {
            status.state = ConnectionState::Ready;
            status.last_connected = Some(SystemTime::now());
            status.protocol_version = Some(session.protocol_version().to_owned());
            status.is_stateless = session.is_stateless();
            status.latency = Some(started.elapsed());
            status.has_resources = has_resources;
            status.has_skills = session.has_skills();
            status.has_prompts = has_prompts;
            status.about = session.about();
        });
        let listening = session.listen_for_changes();
        tokio::select! {
            error = self.watch(&session) => error,
            error = listening => error,
            () = session.closed() => {
                // Why it ended is not known at once, and until then there is no session to use.
                self.set(|status| {
                    status.state = ConnectionState::Connecting;
                    status.last_error = None;
                });
                session.why_closed().await
            }
        }
    }

    /// Reads the tool list and records the changes.
    async fn list(&self, session: &Session) -> Result<(), Error> {
        let listing = session.list_tools().await?;
        self.set(|status| {
            let is_first = status.last_connected.is_none();
            let changes = Changes::between(&status.tools, &listing.tools);
            if !is_first && !changes.is_empty() {
                status.changes = changes;
            }
            status.last_listed = Some(SystemTime::now());
            status.warnings = listing.warnings;
            status.tools = Arc::new(listing.tools);
        });
        Ok(())
    }

    /// Reads the tool list again when it changes, and pings the server; returns when it fails.
    async fn watch(&self, session: &Session) -> Error {
        let mut pace = Pace::new(Instant::now());
        // When to read the changed list.
        let mut due: Option<Instant> = None;
        loop {
            let is_due = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = is_due => {
                    due = None;
                    // All changes until now are in the list that is read now.
                    let _ = self.host.changed(ListKind::Tools).now_or_never();
                    pace.read(Instant::now());
                    if let Err(error) = self.list(session).await {
                        return error;
                    }
                }
                () = self.host.changed(ListKind::Tools), if due.is_none() => {
                    self.wait_for_quiet().await;
                    due = Some(pace.due(Instant::now()));
                }
                () = sleep(self.config.ping_interval) => {
                    if let Err(error) = check(session).await {
                        return error;
                    }
                }
            }
        }
    }

    async fn wait_for_quiet(&self) {
        let burst = async { while timeout(QUIET, self.host.changed(ListKind::Tools)).await.is_ok() {} };
        let _ = timeout(MAX_BURST, burst).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{Changes, FIRST_WAIT, MAX_WAIT, wait_after};
    use crate::listing::Listing;

    #[test]
    fn waits_grow_up_to_a_limit() {
        for failures in 1..40 {
            let wait = wait_after(failures);
            assert!(wait >= FIRST_WAIT && wait <= MAX_WAIT + MAX_WAIT / 4, "{failures}: {wait:?}");
        }
        assert!(wait_after(3) >= Duration::from_secs(4));
    }

    #[test]
    fn changes_are_reported_by_name() {
        let tools = |list: serde_json::Value| Listing::from_saved(&list.to_string()).unwrap().tools;
        let tool = |name: &str, description: &str| json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
        let before = tools(json!([tool("a", "1"), tool("b", "1"), tool("c", "1")]));
        let after = tools(json!([tool("b", "2"), tool("c", "1"), tool("d", "1")]));
        let changes = Changes::between(&before, &after);
        assert_eq!(
            (changes.added, changes.removed, changes.changed),
            (vec!["d".to_owned()], vec!["a".to_owned()], vec!["b".to_owned()])
        );
        assert!(Changes::between(&before, &before).is_empty());
    }
}
