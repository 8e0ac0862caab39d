//! A session that lasts: connected in the background, watched, and connected again when it breaks.
//!
//! For tools that are called directly and want a server that keeps its state. What runs for the length of one execution
//! uses a [`Session`] of its own. A call that a broken connection interrupts fails; it is never sent again.

mod alive;
mod pace;
mod watch;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use futures::FutureExt as _;
use system::random;
use tokio::{
    sync::{Notify, watch as channel},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until, timeout},
};

use self::{alive::check, pace::Pace, watch::Watching};
use crate::{
    error::{Error, ErrorKind},
    host::{Host, ListKind},
    listing::Tool,
    server_config::ServerConfig,
    session::Session,
};

/// The wait before the first new attempt; doubled after each failure up to [`LONGEST_WAIT`], and up to a quarter longer
/// by chance, so that many clients don't come back at once.
pub const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait between two attempts.
pub const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How many attempts in a row may fail before the server is given up: it is [`ConnectionState::Error`], and tried less often.
pub const MAX_ATTEMPTS: u32 = 5;

/// After how long a server that was given up is tried again: a missing command may be installed by then, or a person be
/// logged in.
pub const REVIVAL: Duration = Duration::from_secs(60);

/// After so long without a failure the count of attempts begins anew.
pub const HEALTHY: Duration = Duration::from_secs(60);

/// How often an idle server is asked whether it is alive.
pub const PING_INTERVAL: Duration = Duration::from_secs(30);

/// How long a server must say nothing new about its lists before they are asked for again: changes come in bursts.
const QUIET: Duration = Duration::from_millis(200);

/// The longest that a burst of changes holds the lists up.
const LONGEST_BURST: Duration = Duration::from_secs(2);

/// What a server is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// Its entry says that it is not used.
    Disabled,
    /// An attempt is under way, or about to be.
    Connecting,
    /// It wants a login.
    AuthRequired,
    /// It can be asked.
    Ready,
    /// It can't be reached, and is tried only now and then.
    Error,
    /// The session was ended on this side.
    Closed,
}

impl ConnectionState {
    /// As it is written in tables and JSON.
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

/// What is known of a server right now.
#[derive(Debug, Clone)]
pub struct Status {
    /// What it is doing.
    pub state: ConnectionState,
    /// Why it could not be reached the last time that it could not; none where that is not yet known.
    pub last_error: Option<String>,
    /// When it was connected to the last time.
    pub last_connected: Option<SystemTime>,
    /// When its tools were listed last.
    pub last_listed: Option<SystemTime>,
    /// Its tools as of the last listing, and what was wrong with the list.
    pub tools: Arc<Vec<Tool>>,
    /// The warnings of the last listing.
    pub warnings: Vec<String>,
    /// The protocol version that was agreed on.
    pub protocol_version: Option<String>,
    /// How long connecting and listing took the last time.
    pub latency: Option<Duration>,
    /// Whether it declared resources when it was connected to the last time.
    pub has_resources: bool,
    /// The same of prompts.
    pub has_prompts: bool,
    /// What it says of itself in short; untrusted text.
    pub about: Option<String>,
    /// How the tools changed when they did so last; empty as long as they have not.
    pub changes: Changes,
}

/// How a list of tools differs from the one before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Tools that are new, by name.
    pub added: Vec<String>,
    /// Tools that are gone.
    pub removed: Vec<String>,
    /// Tools that are not the same any more: schemas, description, annotations.
    pub changed: Vec<String>,
}

impl Changes {
    /// How `after` differs from `before`.
    #[must_use]
    pub fn between(before: &[Tool], after: &[Tool]) -> Self {
        let (known, left) = (by_name(before), by_name(after));
        let mut changes = Self::default();
        for tool in after {
            match known.get(tool.name.as_str()) {
                None => changes.added.push(tool.name.clone()),
                Some(known) if known.raw != tool.raw => changes.changed.push(tool.name.clone()),
                Some(_) => {}
            }
        }
        let gone = before.iter().filter(|tool| !left.contains_key(tool.name.as_str()));
        changes.removed = gone.map(|tool| tool.name.clone()).collect();
        changes
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

fn by_name(tools: &[Tool]) -> HashMap<&str, &Tool> {
    tools.iter().map(|tool| (tool.name.as_str(), tool)).collect()
}

/// A session that is kept. Dropping it ends the work in the background and kills a local server.
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
    /// Begins to connect. Needs a tokio runtime.
    pub fn start(config: ServerConfig, host: Arc<dyn Host>) -> Self {
        let status = Status {
            state: ConnectionState::Connecting,
            last_error: None,
            last_connected: None,
            last_listed: None,
            tools: Arc::default(),
            warnings: Vec::new(),
            protocol_version: None,
            latency: None,
            has_resources: false,
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

    /// What is known right now.
    pub fn status(&self) -> Status {
        self.shared.status.borrow().clone()
    }

    /// The status, and each change of it.
    pub fn watch(&self) -> channel::Receiver<Status> {
        self.shared.status.subscribe()
    }

    /// The session, as soon as there is one.
    ///
    /// # Errors
    /// Why there is none, once the server is given up, wants a login, or was closed.
    pub async fn session(&self) -> Result<Session, Error> {
        let mut status = self.shared.status.subscribe();
        // One that has broken a moment ago may still be told as ready: the state follows, and then another session.
        let is_settled = |status: &Status| match status.state {
            ConnectionState::Connecting => false,
            ConnectionState::Ready => !self.held().is_some_and(|session| session.is_closed()),
            _ => true,
        };
        // What has arrived of the connection's end is to count.
        tokio::task::yield_now().await;
        let settled = status.wait_for(is_settled).await;
        // What went wrong before is no reason for what was ended in order.
        let failed = settled.ok().filter(|status| status.state != ConnectionState::Closed);
        let reason = failed.and_then(|status| status.last_error.clone());
        let session = self.held();
        session.ok_or_else(|| {
            let reason = reason.unwrap_or_else(|| "the session was closed on this side".to_owned());
            Error::new(&self.shared.config.name, ErrorKind::Host { reason })
        })
    }

    /// The session that there is, also where it has broken.
    fn held(&self) -> Option<Session> {
        self.shared.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the session in order.
    pub async fn close(mut self) {
        self.shared.closing.notify_one();
        // The work ends by itself: closing a session has deadlines of its own.
        let _ = (&mut self.work).await;
    }
}

impl Drop for ManagedSession {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// Connects, watches and connects again, until it is closed.
async fn keep(shared: Arc<Shared>) {
    let mut failures = 0;
    loop {
        let begun = Instant::now();
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
        if begun.elapsed() >= HEALTHY {
            failures = 0;
        }
        failures += 1;
        let is_login = matches!(*error.kind, ErrorKind::Unauthorized { .. });
        let gives_up = is_login || failures >= MAX_ATTEMPTS || !may_pass(&error);
        // Before the session is closed, which may take seconds: nobody is to be given one that has broken.
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
        // Whoever was given up has one attempt at a time.
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

/// Whether trying again may help.
fn may_pass(error: &Error) -> bool {
    !matches!(*error.kind, ErrorKind::Spawn { .. } | ErrorKind::Host { .. })
}

fn wait_after(failures: u32) -> Duration {
    let doubled =
        FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(LONGEST_WAIT);
    doubled + random::jitter(doubled / 4)
}

impl Shared {
    fn set(&self, change: impl FnOnce(&mut Status)) {
        self.status.send_modify(change);
    }

    async fn close_session(&self) {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(session) = session {
            session.close().await;
        }
    }

    /// One connection from its beginning to its end; says why it ended.
    async fn hold_one(&self) -> Error {
        let begun = Instant::now();
        let session = match Session::connect_with(&self.config, self.host.clone()).await {
            Ok(session) => session,
            Err(error) => return error,
        };
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.clone());
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
            status.latency = Some(begun.elapsed());
            status.has_resources = has_resources;
            status.has_prompts = has_prompts;
            status.about = session.about();
        });
        let listening = session.listen_for_changes();
        tokio::select! {
            error = self.watch(&session) => error,
            error = listening => error,
            () = session.closed() => {
                // Why it has ended is not known at once, and meanwhile there is nothing to be asked.
                self.set(|status| {
                    status.state = ConnectionState::Connecting;
                    status.last_error = None;
                });
                session.why_closed().await
            }
        }
    }

    /// Reads the tool list, and notes how it has changed.
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

    /// Reads the lists again when they change, and asks whether the server lives; returns when it does not.
    async fn watch(&self, session: &Session) -> Error {
        let mut pace = Pace::new(Instant::now());
        // When the list is to be read that has changed.
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
                    // What has changed until now is in the list that is read now.
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
                () = sleep(PING_INTERVAL) => {
                    if let Err(error) = check(session).await {
                        return error;
                    }
                }
            }
        }
    }

    async fn wait_for_quiet(&self) {
        let burst = async { while timeout(QUIET, self.host.changed(ListKind::Tools)).await.is_ok() {} };
        let _ = timeout(LONGEST_BURST, burst).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{Changes, FIRST_WAIT, LONGEST_WAIT, wait_after};
    use crate::listing::Listing;

    #[test]
    fn waits_grow_up_to_a_limit() {
        for failures in 1..40 {
            let wait = wait_after(failures);
            assert!(wait >= FIRST_WAIT && wait <= LONGEST_WAIT + LONGEST_WAIT / 4, "{failures}: {wait:?}");
        }
        assert!(wait_after(3) >= Duration::from_secs(4));
    }

    #[test]
    fn changes_are_told_by_name() {
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
