//! Spare sessions: connected, initialised and listed before an execution needs them.
//!
//! An execution adopts a spare session as its own, and closes it at its end: no session serves two executions. After
//! an execution, one task opens the next sessions. A spare session replaces only one that the server could not
//! distinguish from it (`pool::Key`). `pool` decides; this module opens and closes.

mod adoption;
mod credentials;
mod host;
mod pool;

use std::collections::BTreeMap;
use std::sync::Arc;

use config::Config;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use mcp::{ServerConfig, Transport};
use parking_lot::{Mutex, MutexGuard};
use terminal::{Masker, Notifier};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::TaskTracker;

use super::attempt::{Attempt, Opening};
use super::connection::{self, Opened};
use crate::session_host::SessionHost;
use credentials::CredentialsVersion;
use host::{Declared, SpareHost};
use pool::{Key, Pool, Spare};

pub use pool::{CHECK_INTERVAL, QUIET, Room};

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

    /// Takes a session for an execution of `client`, which is behind `host`.
    pub(super) fn take(&self, config: &ServerConfig, host: &dyn SessionHost, client: &str) -> Option<Taken> {
        let spare = self.shared.pool().take(config, Declared::by(host), client, Instant::now())?;
        Some(Taken { shared: self.shared.clone(), config: config.clone(), spare: Some(spare) })
    }

    /// Records that an execution is over that used a session, or was still opening it (`None`), so that the next
    /// execution finds a spare session.
    pub(super) fn used(&self, config: &ServerConfig, host: &dyn SessionHost, opened: Option<&Opened>) {
        let declared = Declared::by(host);
        // Without a handshake, there is nothing to prepare but the process of a local server.
        let is_local = matches!(config.transport, Transport::Stdio(_));
        let has_handshake = match opened {
            Some(opened) => !opened.session.is_stateless(),
            // Only earlier executions know.
            None => self.shared.pool().knows(config, declared),
        };
        if !is_local && !has_handshake || !self.shared.pool().used(config, declared, Instant::now()) {
            return;
        }
        self.worker().get_or_insert_with(|| tokio::spawn(work(self.shared.clone())));
        self.shared.changed.notify_one();
    }

    /// Returns the number of sessions that can be adopted, by server.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        self.shared.pool().counts()
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
        self.worker.lock()
    }
}

/// A spare session that an execution is about to adopt. If it does not, the session is returned or closed.
pub(super) struct Taken {
    shared: Arc<Shared>,
    config: ServerConfig,
    spare: Option<Spare>,
}

impl Taken {
    /// The session, if it is open and only has to show that it still works: a program may start meanwhile.
    pub(super) fn promising(&self) -> Option<Opened> {
        adoption::promising(self.spare.as_ref()?, &self.config)
    }

    /// The session for the client behind `host`; `None` if it is not usable.
    pub(super) async fn adopt(mut self, host: &Arc<dyn SessionHost>) -> Option<Opened> {
        match adoption::checked(self.spare.as_ref()?, &self.config).await {
            Ok(opened) => {
                self.spare.take()?.host.adopt(host.clone());
                Some(opened)
            }
            Err(reason) => {
                let name = &self.config.name;
                self.shared.notifier.detail(&format!("{name}: a spare session was not usable: {reason}"));
                None
            }
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let Some(spare) = self.spare.take() else { return };
        // A session that is being opened was not used yet. An open one may be in the middle of its check.
        let superfluous = if spare.is_settled() {
            Some(spare)
        } else {
            let declared = spare.host.declared();
            self.shared.pool().put_back(&self.config, declared, spare)
        };
        self.shared.close(superfluous);
        self.shared.changed.notify_one();
    }
}

/// The event that the worker waits for.
struct Wait {
    /// One of these sessions is open.
    opening: Vec<Opening>,
    /// This time.
    until: Option<Instant>,
}

impl Wait {
    async fn finish(self) {
        let opened = async {
            let mut opening: FuturesUnordered<Opening> = self.opening.into_iter().collect();
            match opening.next().await {
                Some(opened) => drop(opened),
                None => std::future::pending().await,
            }
        };
        let time = async {
            match self.until {
                Some(time) => sleep_until(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = opened => {}
            () = time => {}
        }
    }
}

/// Opens missing sessions and closes superfluous ones until it is aborted.
async fn work(shared: Arc<Shared>) {
    loop {
        let wait = shared.tend();
        tokio::select! {
            () = wait.finish() => {}
            () = shared.changed.notified() => {}
        }
    }
}

impl Shared {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock()
    }

    /// Closes what must end, and opens the missing sessions that are due.
    fn tend(&self) -> Wait {
        let (now, room) = (Instant::now(), (self.room)());
        let mut pool = self.pool();
        self.close(pool.prune(now, room));
        pool.refresh();
        while let Some(key) = pool.due(now, room) {
            let spare = self.open(&key, pool.masker.clone());
            self.close(pool.add(&key, spare));
        }
        Wait { opening: pool.opening(), until: pool.next_look(now) }
    }

    fn open(&self, key: &Key, masker: Masker) -> Spare {
        let host = SpareHost::new(key.declared, masker.clone(), self.notifier.clone(), self.changed.clone());
        let credentials = CredentialsVersion::of(&key.config);
        let (config, client) = (key.config.clone(), host.clone());
        let connecting = async move { connection::connect(&config, &masker, client, None).await };
        Spare::new(Attempt::start(connecting), host, credentials)
    }

    fn close(&self, spares: impl IntoIterator<Item = Spare>) {
        // Without a runtime, the process is about to end, and dropping a session ends it.
        let Ok(runtime) = Handle::try_current() else { return };
        for spare in spares {
            self.closing.spawn_on(spare.attempt.close(), &runtime);
        }
    }
}

#[cfg(test)]
mod tests;
