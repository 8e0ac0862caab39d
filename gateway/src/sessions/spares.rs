//! Spare sessions: connected, initialised and listed before an execution needs them.
//!
//! An execution adopts a spare session as its own, and closes it at its end: no session serves two executions. After
//! an execution, one task opens the next sessions, one after the other. A spare session replaces only one that the
//! server could not distinguish from it (`pool::Key`). `pool` decides; this module opens and closes.

mod credentials;
mod host;
mod pool;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use config::Config;
use mcp::{ServerConfig, Transport};
use terminal::{Masker, Notifier};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::task::TaskTracker;

use super::attempt::{Attempt, Opening};
use super::connection::{self, Opened};
use crate::session_host::SessionHost;
use credentials::CredentialsVersion;
use host::{Declared, SpareHost};
use pool::{Key, Pool, Spare};

pub use pool::Room;

/// Time limit for a spare session to show that it works. A server that takes longer is connected as usual.
const CHECK_LIMIT: Duration = Duration::from_secs(1);

/// The spare sessions of this process.
pub struct SpareSessions {
    shared: Arc<Shared>,
    /// Opens and closes sessions; started when a session is first used.
    worker: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    pool: Mutex<Pool>,
    /// Something may have to be opened or closed.
    changed: Arc<Notify>,
    room: Box<dyn Fn() -> Room + Send + Sync>,
    notifier: Notifier,
    /// The sessions that are being closed.
    closing: TaskTracker,
}

impl Drop for SpareSessions {
    fn drop(&mut self) {
        if let Some(worker) = self.worker().take() {
            worker.abort();
        }
    }
}

impl SpareSessions {
    /// Creates it without sessions. Before each start, `room` is asked whether a process may be started.
    pub fn new(room: impl Fn() -> Room + Send + Sync + 'static, notifier: Notifier) -> Arc<Self> {
        let shared = Shared {
            pool: Mutex::default(),
            changed: Arc::default(),
            room: Box::new(room),
            notifier,
            closing: TaskTracker::new(),
        };
        Arc::new(SpareSessions { shared: Arc::new(shared), worker: Mutex::default() })
    }

    /// Applies a configuration: ends the sessions with servers that it does not have, or has with other settings.
    pub fn configure(&self, config: &Config, masker: &Masker) {
        self.shared.pool().configure(config, masker.clone());
        self.shared.changed.notify_one();
    }

    /// A session for an execution whose client is behind `host`; `None` if none is usable.
    pub(super) async fn adopt(&self, config: &ServerConfig, host: &Arc<dyn SessionHost>) -> Option<Opened> {
        let declared = Declared::by(&**host);
        let spare = self.shared.pool().take(config, declared, Instant::now())?;
        match adopted(&spare, config, host).await {
            Ok(opened) => Some(opened),
            Err(reason) => {
                let name = &config.name;
                self.shared.notifier.detail(&format!("{name}: a spare session was not usable: {reason}"));
                self.shared.close(vec![spare]);
                None
            }
        }
    }

    /// Records that an execution has used a session and is over, so that the next one finds a spare session.
    pub(super) fn used(&self, config: &ServerConfig, host: &dyn SessionHost, opened: &Opened) {
        // Without a handshake, there is nothing to prepare but the process of a local server.
        let is_local = matches!(config.transport, Transport::Stdio(_));
        if opened.session.is_stateless() && !is_local {
            return;
        }
        if !self.shared.pool().used(config, Declared::by(host), Instant::now()) {
            return;
        }
        self.worker().get_or_insert_with(|| tokio::spawn(work(self.shared.clone())));
        self.shared.changed.notify_one();
    }

    /// Ends all sessions, and waits until their processes have ended.
    pub async fn close(&self) {
        let worker = self.worker().take();
        let spares = self.shared.pool().clear();
        if let Some(worker) = worker {
            worker.abort();
            let _ = worker.await;
        }
        self.shared.close(spares);
        self.shared.closing.close();
        self.shared.closing.wait().await;
    }

    fn worker(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session of a spare, for the client behind `host`; or why it can't be used.
async fn adopted(
    spare: &Spare,
    config: &ServerConfig,
    host: &Arc<dyn SessionHost>,
) -> Result<Opened, String> {
    let was_open = spare.is_settled();
    let opened = spare.attempt.opening.clone().await.map_err(|error| error.report.message())?;
    if opened.session.is_closed() {
        return Err("it has ended".to_owned());
    }
    if CredentialsVersion::of(config) != spare.credentials {
        return Err("the stored login has changed".to_owned());
    }
    let late = |_| format!("no answer within {} s", CHECK_LIMIT.as_secs());
    timeout(CHECK_LIMIT, works(&opened, spare, config, was_open)).await.map_err(late)??;
    let tools = spare.host.tools().unwrap_or_else(|| opened.tools.clone());
    spare.host.adopt(host.clone());
    Ok(Opened { tools, ..opened })
}

/// Checks that a session has the present secrets and, if it `was_open` before, that it still works. Reads its list of
/// tools again if that may have changed.
async fn works(opened: &Opened, spare: &Spare, config: &ServerConfig, was_open: bool) -> Result<(), String> {
    let session = &opened.session;
    if !session.has_secrets_of(config).await {
        return Err("the secrets in the keyring have changed".to_owned());
    }
    if !was_open {
        return Ok(());
    }
    let failed = |error: mcp::Error| error.kind.to_string();
    // Without a handshake, a server does not announce changes.
    let announces = !session.is_stateless();
    if announces && !spare.host.is_outdated() {
        mcp::check_alive(session).await.map_err(failed)?;
    }
    // A change may have been announced before that answer.
    if !announces || spare.host.is_outdated() {
        spare.host.list_again(session).await.map_err(failed)?;
    }
    Ok(())
}

/// What the worker waits for.
enum Wait {
    Opening(Opening),
    Until(Option<Instant>),
}

/// Opens missing sessions and closes superfluous ones until it is aborted.
async fn work(shared: Arc<Shared>) {
    loop {
        let waiting = shared.tend();
        let done = async {
            match waiting {
                Wait::Opening(opening) => drop(opening.await),
                Wait::Until(Some(time)) => sleep_until(time).await,
                Wait::Until(None) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = done => {}
            () = shared.changed.notified() => {}
        }
    }
}

impl Shared {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes what must end, and opens the next missing session.
    fn tend(&self) -> Wait {
        let (now, room) = (Instant::now(), (self.room)());
        let mut pool = self.pool();
        self.close(pool.prune(now, room));
        pool.refresh();
        if let Some(opening) = pool.opening() {
            return Wait::Opening(opening);
        }
        let Some(key) = pool.due(now, room) else { return Wait::Until(pool.next_look(now)) };
        let spare = self.open(&key, pool.masker.clone());
        let opening = spare.attempt.opening.clone();
        self.close(pool.add(&key, spare));
        Wait::Opening(opening)
    }

    fn open(&self, key: &Key, masker: Masker) -> Spare {
        let host = SpareHost::new(key.declared, self.notifier.clone(), self.changed.clone());
        let credentials = CredentialsVersion::of(&key.config);
        let (config, client) = (key.config.clone(), host.clone());
        let connecting = async move { connection::connect(&config, &masker, client, None).await };
        Spare::new(Attempt::start(connecting, false), host, credentials)
    }

    fn close(&self, spares: impl IntoIterator<Item = Spare>) {
        for spare in spares {
            self.closing.spawn(spare.attempt.close());
        }
    }
}
