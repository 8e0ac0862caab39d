//! What all clients of this process share: the engine, places for executions, outputs, what waits for answers.
//! Nothing of one client's is another's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use config::CodeMode;
use gateway::cache;
use gateway::failure::Failure;
use gateway::permission::Remembered;
use runner::{Cache, Engine, Observer};
use terminal::Terminal;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::caller::Abilities;
use super::catalog_watcher::CatalogWatcher;
use super::client_host::ClientHost;
use super::execution_slots::Slots;
use super::output_store::OutputStore;
use super::pending::PendingRequests;
use super::quota::{Amount, Quota};
use super::snapshot::{Settings, Snapshot};
use super::upstreams::Upstreams;

/// The questions that are open at once: as many as a few people could ever answer, with pictures for a model (64 MiB).
const QUESTIONS: Amount = Amount { count: 256, bytes: 64 << 20 };

/// Those of one client, a quarter: so that no client keeps others from asking.
const QUESTIONS_OF_CLIENT: Amount = Amount { count: QUESTIONS.count / 4, bytes: QUESTIONS.bytes / 4 };

/// What all clients share.
pub struct ServerState {
    pub settings: watch::Receiver<Arc<Settings>>,
    /// What the command line allows.
    pub(crate) allow: Vec<String>,
    pub(crate) cache: Cache,
    pub(crate) slots: Arc<Slots>,
    /// The questions to clients that are open.
    pub(crate) questions: Arc<Quota>,
    pub(crate) kept: OutputStore,
    pub(crate) held: Arc<PendingRequests>,
    pub(crate) terminal: Arc<Terminal>,
    /// What is offered, whenever that is something else.
    pub(super) offered: watch::Sender<Option<Arc<Snapshot>>>,
    /// Work that goes on after an answer: sessions that end.
    pub(crate) afterwards: TaskTracker,
    /// The process is to end: nothing new is begun.
    pub(crate) draining: CancellationToken,
    /// Requests that are being answered.
    pub(crate) answering: TaskTracker,
    /// Ends all that is being answered.
    pub stop: CancellationToken,
    engine: tokio::sync::Mutex<Option<Opened>>,
    /// What is offered to clients over HTTP, by what they can do.
    lives: Mutex<BTreeMap<Abilities, Arc<CatalogWatcher>>>,
}

/// An engine, and what it was opened with.
struct Opened {
    confinement: sandbox::Confinement,
    engine: Arc<Engine>,
}

impl Opened {
    /// Whether it does what the configuration says, and everything that it needs is still there.
    fn fits(&self, code_mode: &CodeMode) -> bool {
        self.confinement == code_mode.confinement && self.engine.is_current()
    }
}

impl ServerState {
    /// The state of a server with these settings, which may change; the command line allows `allow`.
    ///
    /// # Errors
    /// Where the cache can't be used.
    pub fn new(
        settings: watch::Receiver<Arc<Settings>>,
        allow: Vec<String>,
        terminal: Arc<Terminal>,
    ) -> Result<Arc<Self>, Failure> {
        let cache = cache::open(&settings.borrow().config.cache)?;
        Remembered::retire_older().iter().for_each(|note| terminal.note(note));
        Self::with_cache(cache, settings, allow, terminal)
    }

    /// The same, with this cache.
    pub(crate) fn with_cache(
        cache: Cache,
        settings: watch::Receiver<Arc<Settings>>,
        allow: Vec<String>,
        terminal: Arc<Terminal>,
    ) -> Result<Arc<Self>, Failure> {
        let serve = settings.borrow().config.serve.clone();
        Ok(Arc::new(ServerState {
            settings,
            allow,
            cache,
            slots: Slots::new(serve.max_executions, serve.max_waiting),
            questions: Quota::new("open questions", QUESTIONS, QUESTIONS_OF_CLIENT),
            kept: OutputStore::default(),
            held: Arc::new(PendingRequests::new(serve.question_timeout).map_err(Failure::host)?),
            terminal,
            offered: watch::Sender::default(),
            afterwards: TaskTracker::new(),
            draining: CancellationToken::new(),
            answering: TaskTracker::new(),
            stop: CancellationToken::new(),
            engine: tokio::sync::Mutex::default(),
            lives: Mutex::default(),
        }))
    }

    /// The engine for a configuration; the first one on a machine takes its time.
    ///
    /// # Errors
    /// Why nothing can be compiled or run here.
    pub(crate) async fn engine(
        &self,
        code_mode: &CodeMode,
        observer: &dyn Observer,
    ) -> Result<Arc<Engine>, runner::Error> {
        let mut opened = match self.engine.try_lock() {
            Ok(opened) => opened,
            Err(_) => {
                observer.progress("waiting for the toolchain to be ready");
                self.engine.lock().await
            }
        };
        if let Some(opened) = opened.as_ref().filter(|opened| opened.fits(code_mode)) {
            return Ok(opened.engine.clone());
        }
        // Somebody may have deleted the folder.
        self.cache.create()?;
        let options = code_mode.engine(self.cache.clone());
        let engine = Arc::new(Engine::open(&options, observer).await?);
        *opened = Some(Opened { confinement: code_mode.confinement, engine: engine.clone() });
        Ok(engine)
    }

    /// The engine for a configuration, if there is one already.
    pub(super) async fn opened(&self, code_mode: &CodeMode) -> Option<Arc<Engine>> {
        let opened = self.engine.lock().await;
        let opened = opened.as_ref().filter(|opened| opened.fits(code_mode));
        opened.map(|opened| opened.engine.clone())
    }

    /// Has the engine ready before the first snippet comes, and again whenever the configuration wants another one;
    /// ends with the last sender of settings.
    pub async fn warm(self: Arc<Self>) {
        let mut settings = self.settings.clone();
        loop {
            let now = settings.borrow_and_update().clone();
            let code_mode = &now.config.code_mode;
            if code_mode.enabled {
                match self.engine(code_mode, &*self.terminal).await {
                    // Bindings may wait for it.
                    Ok(_) => self.offered.send_modify(|_| {}),
                    Err(error) => self.terminal.tell(&format!("toolsmith: no snippet can run: {error}")),
                }
            }
            if settings.changed().await.is_err() {
                return;
            }
        }
    }

    /// Why not everything can be had right now, in words for anybody; `None` where it can.
    pub(crate) fn unready(&self) -> Option<&'static str> {
        let code_mode = self.settings.borrow().config.code_mode.clone();
        let is_open = || {
            let opened = self.engine.try_lock();
            opened.is_ok_and(|opened| {
                opened.as_ref().is_some_and(|opened| opened.confinement == code_mode.confinement)
            })
        };
        if self.draining.is_cancelled() {
            return Some("it is stopping");
        }
        if code_mode.enabled && !is_open() {
            return Some("snippets can't be run yet");
        }
        let is_whole = self.live(Abilities::default()).now().is_whole;
        (!is_whole).then_some("not all servers have answered yet")
    }

    /// What is offered to clients that can do this much.
    pub(crate) fn live(&self, abilities: Abilities) -> Arc<CatalogWatcher> {
        let mut lives = self.lives.lock().unwrap_or_else(PoisonError::into_inner);
        lives.entry(abilities).or_insert_with(|| self.new_live(abilities)).clone()
    }

    /// What is offered to any client over HTTP.
    pub(crate) fn any_snapshot(&self) -> Option<Arc<Snapshot>> {
        let lives = self.lives.lock().unwrap_or_else(PoisonError::into_inner);
        lives.values().next().map(|live| live.now())
    }

    /// The same for one client alone.
    pub(crate) fn new_live(&self, abilities: Abilities) -> Arc<CatalogWatcher> {
        let host = ClientHost::new(abilities, self.terminal.notifier());
        let upstreams = Upstreams::new(host);
        let (cache, notifier) = (self.cache.clone(), self.terminal.notifier());
        CatalogWatcher::start(self.settings.clone(), upstreams, cache, notifier, self.offered.clone())
    }

    /// Ends all sessions with servers that clients share, and waits for what still ends.
    pub async fn close(&self) {
        let lives = std::mem::take(&mut *self.lives.lock().unwrap_or_else(PoisonError::into_inner));
        for live in lives.into_values() {
            live.upstreams.close().await;
        }
        self.afterwards.close();
        self.afterwards.wait().await;
    }
}
