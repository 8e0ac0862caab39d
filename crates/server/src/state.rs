//! The state that all clients of this process share: the engine, execution slots, outputs, and open questions. Clients
//! have no access to each other's data.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use config::{CodeMode, Glob};
use flows::State;
use gateway::cache;
use gateway::calls::CallServices;
use gateway::failure::Failure;
use gateway::permission::Remembered;
use gateway::sessions::{Room, SpareSessions};
use history::Durability;
use history::execution_history::ExecutionHistory;
use identity::Subject;
use parking_lot::Mutex;
use report::{Kind, Report};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use runner::{Cache, Engine, Holder, MIN_SPARE_MEMORY, Sink};
use terminal::Terminal;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::caller::Abilities;
use super::catalog_watcher::CatalogWatcher;
use super::client_host::ClientHost;
use super::execution_slots::{Client, Slots};
use super::metrics::Metrics;
use super::open_questions::OpenQuestions;
use super::output_store::OutputStore;
use super::pending::PendingRequests;
use super::pulse::Pulse;
use super::quota::{Amount, Quota};
use super::resource::Resource;
use super::shared_state::SharedState;
use super::sinks::Sinks;
use super::snapshot::{Settings, Snapshot};
use super::subject_tokens::SubjectTokens;
use super::subject_usage::SubjectUsage;
use super::subject_views::SubjectViews;
use super::upstreams::Upstreams;

/// Limit on notes about permissions: further ones are in the answers only.
const NOTES_REPORTED: usize = 1_000;

/// Limit on open questions: as many as a few users could ever answer, with pictures for a model (64 MiB).
pub(crate) const QUESTIONS: Amount = Amount { count: 256, bytes: 64 << 20 };

/// The limit for one client, a quarter, so that no client keeps others from asking.
pub(crate) const QUESTIONS_OF_CLIENT: Amount =
    Amount { count: QUESTIONS.count / 4, bytes: QUESTIONS.bytes / 4 };

/// Whether a spare session may be opened while these executions run.
fn room(slots: Arc<Slots>) -> impl Fn() -> Room + Send + Sync {
    move || {
        // If the available memory is unknown, it is no reason to refuse.
        if sandbox::available_memory().is_some_and(|available| available < MIN_SPARE_MEMORY) {
            return Room::NoMemory;
        }
        if slots.load() == (0, 0) { Room::Free } else { Room::Busy }
    }
}

/// The state that all clients share.
pub struct ServerState {
    /// The settings now.
    pub settings: watch::Receiver<Arc<Settings>>,
    /// The tools that the command line allows.
    pub(crate) allow: Vec<String>,
    pub(crate) cache: Cache,
    /// The cache of results, and the statistics.
    pub(crate) services: CallServices,
    pub(crate) slots: Arc<Slots>,
    pub(crate) metrics: Arc<Metrics>,
    /// The turns of the event loop that serves clients over HTTP.
    pub(crate) pulse: Arc<Pulse>,
    /// The history of executions.
    pub(crate) history: ExecutionHistory,
    /// Sessions with servers that were opened before an execution needs them.
    pub(crate) spares: Arc<SpareSessions>,
    /// The slots of a subagent's tasks, if this process serves one.
    pub tasks: OnceLock<Arc<Slots>>,
    /// The views that subjects have apart from others.
    pub(crate) subjects: SubjectViews,
    /// Their tokens, where servers need them.
    pub(crate) tokens: SubjectTokens,
    /// The usage of subjects.
    pub(crate) usage: SubjectUsage,
    /// The local page that shows and answers open questions, if there is one.
    pub(crate) page: OnceLock<Arc<OpenQuestions>>,
    /// The open questions to clients.
    pub(crate) questions: Arc<Quota>,
    /// The hashes of the notes about permissions that the user has seen.
    reported: Mutex<HashSet<blake3::Hash>>,
    pub(crate) kept: OutputStore,
    /// The state shared with other replicas.
    pub(crate) shared: Option<Arc<SharedState>>,
    pub(crate) held: Arc<PendingRequests>,
    pub(crate) terminal: Arc<Terminal>,
    /// Sends each new snapshot.
    pub(super) offered: watch::Sender<Option<Arc<Snapshot>>>,
    /// Work that continues after a response: sessions that end.
    pub afterwards: TaskTracker,
    /// Notified when a snippet was executed.
    pub(crate) executed: Notify,
    /// Notified when a snippet may have been compiled.
    pub(crate) compiled: Notify,
    /// Notified when a run used much processor time.
    pub(crate) heavy: Notify,
    /// Cancelled when the process is asked to end; it still accepts work for `serve.drainDelay`.
    pub(crate) leaving: CancellationToken,
    /// Cancelled when the process is about to end and accepts no new work.
    pub draining: CancellationToken,
    /// Requests that are being answered.
    pub(crate) answering: TaskTracker,
    /// Cancels all requests that are being answered.
    pub stop: CancellationToken,
    engine: tokio::sync::Mutex<Option<Opened>>,
    /// The offered tools for clients over HTTP, by their capabilities.
    lives: Mutex<BTreeMap<Abilities, Arc<CatalogWatcher>>>,
    /// The received answers of clients without a session, by owner.
    flows: Mutex<BTreeMap<String, State>>,
}

/// Limit on owners whose clients without a session are told apart in [`ServerState::flows_of`]; further ones share what
/// they have received with those that have no owner.
const FLOW_OWNERS: usize = 1_000;

/// The time for which the end of the process waits for new entries to reach the remote cache.
const FLUSH: Duration = Duration::from_secs(2);

/// An engine, and the setting that it was opened with.
struct Opened {
    confinement: sandbox::Confinement,
    engine: Arc<Engine>,
}

impl Opened {
    /// Whether it matches the configuration, and everything it needs still exists.
    fn fits(&self, code_mode: &CodeMode) -> bool {
        self.confinement == code_mode.confinement && self.engine.is_current()
    }
}

impl ServerState {
    /// Creates the state with these settings, which may change; the command line allows the tools in `allow`.
    ///
    /// # Errors
    /// If the cache can't be used.
    pub fn new(
        settings: watch::Receiver<Arc<Settings>>,
        allow: Vec<String>,
        terminal: Arc<Terminal>,
    ) -> Result<Arc<Self>, Failure> {
        let config = settings.borrow().config.clone();
        let (cache, objects) = cache::open_with_objects(&config.cache, terminal.notifier())?;
        let shared = config.serve.shared_state.as_ref();
        let shared = shared.map(|shared| SharedState::open(shared, &config.cache, objects).map(Arc::new));
        Remembered::retire_older().iter().for_each(|note| terminal.note(&format!("warning: {note}")));
        Self::with_cache((cache, shared.transpose()?), settings, allow, terminal)
    }

    /// Like [`ServerState::new`], with this cache, and what is shared with other replicas.
    pub fn with_cache(
        (cache, shared): (Cache, Option<Arc<SharedState>>),
        settings: watch::Receiver<Arc<Settings>>,
        allow: Vec<String>,
        terminal: Arc<Terminal>,
    ) -> Result<Arc<Self>, Failure> {
        let serve = settings.borrow().config.serve.clone();
        let slots = Slots::new(serve.max_executions, serve.max_waiting);
        slots.resize(serve.max_executions, serve.max_waiting, serve.subject_limits.executions);
        slots.require_memory(serve.min_memory);
        let spares = SpareSessions::new(room(slots.clone()), terminal.notifier());
        {
            let settings = settings.borrow();
            spares.configure(&settings.config, &settings.masker);
        }
        let metrics: Arc<Metrics> = Arc::default();
        Ok(Arc::new(ServerState {
            settings,
            allow,
            cache,
            services: CallServices::new(terminal.notifier()),
            slots,
            pulse: Arc::default(),
            history: ExecutionHistory::new(Durability::Synced, terminal.notifier()),
            spares,
            tasks: OnceLock::new(),
            subjects: SubjectViews::default(),
            tokens: SubjectTokens::default(),
            usage: SubjectUsage::default(),
            page: OnceLock::new(),
            reported: Mutex::default(),
            questions: Quota::new(
                "open questions",
                (QUESTIONS, QUESTIONS_OF_CLIENT),
                metrics.refusals.of(Resource::Questions),
            ),
            kept: OutputStore::new(metrics.refusals.of(Resource::KeptOutputs)),
            shared: shared.clone(),
            held: Arc::new(
                PendingRequests::new(serve.question_timeout, shared, &metrics.refusals)
                    .map_err(|error| Failure::new(Kind::System, error.to_string()).caused_by(error))?,
            ),
            terminal,
            offered: watch::Sender::default(),
            afterwards: TaskTracker::new(),
            executed: Notify::new(),
            compiled: Notify::new(),
            heavy: Notify::new(),
            leaving: CancellationToken::new(),
            draining: CancellationToken::new(),
            answering: TaskTracker::new(),
            stop: CancellationToken::new(),
            engine: tokio::sync::Mutex::default(),
            lives: Mutex::default(),
            flows: Mutex::default(),
            metrics,
        }))
    }

    /// The holder of an execution of this client: of its own text, or of a saved program, which all subjects share.
    pub(crate) fn holder(&self, client: &Client, is_shared: bool) -> Holder {
        let settings = self.settings.borrow();
        let serve = &settings.config.serve;
        let subject = client.subject();
        Holder {
            key: client.key.clone(),
            subject: subject.filter(|_| !is_shared).map(str::to_owned),
            longest_wait: Some(serve.queue_timeout),
            compiler_time: self.usage.compiler_time(subject, &serve.subject_limits),
        }
    }

    /// Where the executions under these settings are recorded.
    pub(crate) fn sinks(&self, settings: Arc<Settings>) -> Sinks {
        Sinks { settings, metrics: self.metrics.clone(), notifier: self.terminal.notifier() }
    }

    /// The engine for a configuration; preparing the first one on a machine takes time.
    ///
    /// # Errors
    /// If nothing can be compiled or run here.
    pub(crate) async fn engine(
        &self,
        code_mode: &CodeMode,
        sink: &dyn Sink,
    ) -> Result<Arc<Engine>, runner::Error> {
        let mut opened = match self.engine.try_lock() {
            Ok(opened) => opened,
            Err(_) => {
                sink.progress("waiting for the toolchain to be ready");
                self.engine.lock().await
            }
        };
        if let Some(opened) = opened.as_ref().filter(|opened| opened.fits(code_mode)) {
            return Ok(opened.engine.clone());
        }
        // The folder may have been deleted.
        self.cache.create()?;
        let options = code_mode.engine(self.cache.clone());
        let engine = Arc::new(Engine::open(&options, sink).await?);
        *opened = Some(Opened { confinement: code_mode.confinement, engine: engine.clone() });
        Ok(engine)
    }

    /// The engine for a configuration, if it is already open.
    pub(super) async fn opened(&self, code_mode: &CodeMode) -> Option<Arc<Engine>> {
        let opened = self.engine.lock().await;
        let opened = opened.as_ref().filter(|opened| opened.fits(code_mode));
        opened.map(|opened| opened.engine.clone())
    }

    /// Prepares the engine before the first snippet, and again when the configuration requires another one; ends with
    /// the last sender of settings.
    pub async fn warm(self: Arc<Self>) {
        let mut settings = self.settings.clone();
        loop {
            let now = settings.borrow_and_update().clone();
            let code_mode = &now.config.code_mode;
            if code_mode.enabled {
                match self.engine(code_mode, &*self.terminal).await {
                    // Bindings may wait for it.
                    Ok(_) => self.offered.send_modify(|_| {}),
                    Err(error) => {
                        let why = Report::from(error).for_terminal();
                        self.terminal.notifier().error(&format!("no snippet can run: {why}"));
                    }
                }
            }
            if settings.changed().await.is_err() {
                return;
            }
        }
    }

    /// A public reason why the server is not fully available; `None` if it is.
    pub(crate) fn unready(&self) -> Option<&'static str> {
        let code_mode = self.settings.borrow().config.code_mode.clone();
        let is_open = || {
            let opened = self.engine.try_lock();
            opened.is_ok_and(|opened| {
                opened.as_ref().is_some_and(|opened| opened.confinement == code_mode.confinement)
            })
        };
        if self.leaving.is_cancelled() || self.draining.is_cancelled() {
            return Some("the server is stopping");
        }
        if code_mode.enabled && !is_open() {
            return Some("snippets can't be run yet");
        }
        let is_whole = self.live(Abilities::default()).now().is_whole;
        (!is_whole).then_some("not all servers have answered yet")
    }

    /// The offered tools for clients with these capabilities.
    pub fn live(&self, abilities: Abilities) -> Arc<CatalogWatcher> {
        let mut lives = self.lives.lock();
        lives.entry(abilities).or_insert_with(|| self.new_live(abilities)).clone()
    }

    /// The part of the offered tools that a subject with this access may call, for clients with these capabilities.
    pub(crate) fn restricted(
        &self,
        abilities: Abilities,
        whole: &Arc<CatalogWatcher>,
        tools: Vec<Glob>,
    ) -> Arc<CatalogWatcher> {
        let make = |tools| {
            let (cache, notifier) = (self.cache.clone(), self.terminal.notifier());
            CatalogWatcher::restricted(whole, tools, cache, notifier)
        };
        self.subjects.offered(abilities, tools, make)
    }

    /// The sessions with servers that all requests of a subject use whose client has no session.
    pub(crate) fn upstreams_of(&self, abilities: Abilities, subject: &Arc<Subject>) -> Arc<Upstreams> {
        let make = || {
            let host = ClientHost::new(abilities, self.terminal.notifier());
            Upstreams::of_subject(host, self.settings.clone(), Some(self.tokens.of(subject)))
        };
        let (upstreams, ended) = self.subjects.upstreams(abilities, subject, make);
        for ended in ended {
            self.afterwards.spawn(async move { ended.close().await });
        }
        upstreams
    }

    /// The received answers of an owner's clients that have no session. They are never forgotten.
    pub(crate) fn flows_of(&self, owner: &str) -> State {
        let mut flows = self.flows.lock();
        let is_full = flows.len() >= FLOW_OWNERS && !flows.contains_key(owner);
        flows.entry(if is_full { String::new() } else { owner.to_owned() }).or_default().clone()
    }

    /// Whether a local page answers the questions of clients that show no forms.
    pub(crate) fn answers_on_page(&self) -> bool {
        self.page.get().is_some_and(|page| page.is_answered_here())
    }

    /// The kinds of questions that the client of a request answers.
    pub fn abilities(&self, context: &RequestContext<RoleServer>) -> Abilities {
        Abilities::of(context, self.answers_on_page())
    }

    /// Shows the user notes about the permissions of clients, each only once.
    pub(crate) fn report(&self, notes: &[String]) {
        let notifier = self.terminal.notifier();
        let mut reported = self.reported.lock();
        for note in notes {
            if reported.len() < NOTES_REPORTED && reported.insert(blake3::hash(note.as_bytes())) {
                notifier.warning(note);
            }
        }
    }

    /// Any snapshot for clients over HTTP.
    pub(crate) fn any_snapshot(&self) -> Option<Arc<Snapshot>> {
        let lives = self.lives.lock();
        lives.values().next().map(|live| live.now())
    }

    /// Like [`ServerState::live`], for one client alone.
    pub(crate) fn new_live(&self, abilities: Abilities) -> Arc<CatalogWatcher> {
        let host = ClientHost::new(abilities, self.terminal.notifier());
        let upstreams = Upstreams::new(host, self.settings.clone());
        let (cache, notifier) = (self.cache.clone(), self.terminal.notifier());
        CatalogWatcher::start(self.settings.clone(), upstreams, cache, notifier, self.offered.clone())
    }

    /// Ends all shared and spare sessions with servers, waits for others that are ending, and writes the statistics.
    pub async fn close(&self) {
        let lives = std::mem::take(&mut *self.lives.lock());
        let watched = async {
            for live in lives.into_values() {
                live.upstreams.close().await;
            }
            self.subjects.close().await;
        };
        let afterwards = async {
            self.afterwards.close();
            self.afterwards.wait().await;
        };
        tokio::join!(watched, self.spares.close(), afterwards, self.cache.flush_remote(FLUSH));
        // An execution that has ended meanwhile may have returned a spare session.
        self.spares.close().await;
        self.services.statistics.flush().await;
        self.history.flush().await;
    }
}
