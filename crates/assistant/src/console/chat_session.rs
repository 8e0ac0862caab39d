//! The state of a conversation: configuration, servers, tools, model and record.

use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;

use crate::assistant::{Assistant, Tools};
use agent::{Answer, Block, History, Message, Role, Run, RunError, Toolset as _, Usage};
use futures::future::join_all;
use gateway::failure::Failure;
use mcp::ConnectionState;
use parking_lot::{Mutex, MutexGuard};
use report::Kind;
use server::caller::Abilities;
use server::catalog_watcher::CatalogWatcher;
use server::reload;
use server::runtime::Runtime;
use server::server_log;
use server::session::AgentIsolation;
use server::snapshot::Settings;
use terminal::{Terminal, Wait};
use tokio::sync::watch;

use super::host::ConsoleHost;
use super::record::{ConversationRecord, ResumedConversation};
use super::screen::{RunStats, Screen};
use super::servers::ServerControl;
use super::style::Style;
use super::turn_status::TurnStatus;
use crate::options::TalkOptions;

/// A conversation with its tools, model and record.
pub(crate) struct ChatSession {
    pub(crate) terminal: Arc<Terminal>,
    pub(crate) style: Style,
    pub(crate) settings: watch::Receiver<Arc<Settings>>,
    pub(crate) screen: Screen,
    pub(crate) status: Arc<TurnStatus>,
    pub(crate) conversation: History,
    pub(crate) tools: Tools,
    pub(crate) host: Arc<ConsoleHost>,
    /// The servers' tools, and the sessions with them.
    pub(crate) live: Arc<CatalogWatcher>,
    /// The model, and the settings it was created from.
    assistant: (Arc<Settings>, Assistant),
    /// The `ref` of the model that the user chose.
    chosen: Option<String>,
    /// Control of the servers.
    pub(crate) servers: ServerControl,
    record: Arc<Mutex<ConversationRecord>>,
    folder: PathBuf,
    /// The system prompt, and the settings it was created from.
    system: Option<(Arc<Settings>, String)>,
    /// The numbers of servers and tools that were logged last.
    counted: Option<String>,
}

/// The end of a turn.
pub(crate) enum TurnResult {
    Answered(Answer),
    Failed(RunError),
    Cancelled,
}

impl ChatSession {
    /// Opens the conversation and connects its tools.
    ///
    /// # Errors
    /// If the configuration is invalid, there is no model or no such conversation, or no server is available.
    pub(crate) async fn open(
        options: &TalkOptions,
        runtime: &mut Runtime,
        streams: bool,
    ) -> Result<Self, Failure> {
        let folder = std::env::current_dir().map_err(|error| {
            Failure::new(Kind::System, format!("the working folder can't be found: {error}"))
        })?;
        let terminal = runtime.process.terminal.clone();
        let source = reload::Source {
            process: runtime.process.context.clone(),
            options: options.load.clone(),
            token_variable: None,
            token: None,
        };
        let (first, stamps) = runtime.read(&source)?;
        let store = crate::conversations::store(&first.config)?;
        let (mut record, ResumedConversation { messages, model }) =
            ConversationRecord::open(store, terminal.notifier(), options, &folder).await?;
        let exists = |model: &String| first.config.models.iter().any(|known| known.reference == *model);
        let chosen = options.model.clone().or(model.filter(exists));
        let assistant = Assistant::of(&first.config, chosen.as_deref())?;
        record.set_model(&assistant.entry.reference);
        runtime.recording = Some(record.recording());
        let record = Arc::new(Mutex::new(record));
        let style = Style::of_stderr();
        let status = TurnStatus::new(terminal.clone());
        let screen = Screen::new(terminal.clone(), style, streams, record.clone(), status.clone());
        screen.recall(messages.messages());
        let state = runtime.serve_following(source, (first.clone(), stamps), &options.allow)?;
        let settings = state.settings.clone();
        let host = ConsoleHost::new(terminal.clone(), style, status.clone());
        let (progress_host, as_host) = (host.clone(), host.clone());
        let on_progress =
            Arc::new(move |tool: &str, made: mcp::ProgressMade| progress_host.progress(tool, &made));
        let tools = Tools::connect(&state, as_host, AgentIsolation::Alone, on_progress).await?;
        if !messages.messages().is_empty() {
            // The model reads what it received before.
            tools.inside().client.has_unknown_answers();
        }
        let elicits = mcp::Host::elicits(&*host);
        let abilities = Abilities { elicits, elicits_by_url: elicits, ..Abilities::default() };
        let live = tools.inside().client.live(abilities);
        let servers = ServerControl::new(terminal.clone(), settings.clone(), live.clone());
        let chat = ChatSession {
            terminal,
            style,
            settings,
            screen,
            status,
            conversation: messages,
            tools,
            host,
            live,
            assistant: (first, assistant),
            chosen,
            servers,
            record,
            folder,
            system: None,
            counted: None,
        };
        match chat.awaiting(chat.tools.any_server()).await {
            Ok(()) => Ok(chat),
            Err(error) => {
                chat.close().await;
                Err(Failure::new(Kind::Server, error.to_string()).caused_by(error))
            }
        }
    }

    /// Awaits `work`, and shows the servers that are awaited meanwhile.
    pub(crate) async fn awaiting<T>(&self, work: impl Future<Output = T>) -> T {
        let (settings, notifier) = (self.now(), self.terminal.notifier());
        // A server that has failed would be started again.
        let is_awaited = |server: &&config::Server| {
            let status = self.live.upstreams.status(&server.connection.name);
            status.is_none_or(|status| status.state == ConnectionState::Connecting)
        };
        let waits = settings.config.servers.iter().filter(is_awaited).map(async |server| {
            let wait = Wait::start("waiting for", server.connection.name.clone());
            notifier.awaiting(&wait, self.live.upstreams.settled(server)).await
        });
        tokio::select! {
            biased;
            done = work => done,
            never = async { join_all(waits).await; pending().await } => never,
        }
    }

    /// The current configuration.
    pub(crate) fn now(&self) -> Arc<Settings> {
        self.settings.borrow().clone()
    }

    /// The current model.
    pub(crate) fn model(&self) -> &Assistant {
        &self.assistant.1
    }

    /// Switches to another model from the next message on.
    ///
    /// # Errors
    /// If there is no such model, or it can't be used.
    pub(crate) fn choose(&mut self, name: &str) -> Result<(), Failure> {
        let settings = self.now();
        let assistant = Assistant::of(&settings.config, Some(name))?;
        self.record().set_model(&assistant.entry.reference);
        self.chosen = Some(name.to_owned());
        self.assistant = (settings, assistant);
        Ok(())
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, ConversationRecord> {
        self.record.lock()
    }

    /// Sends a message, and runs the turn until it is answered or `cancelled` completes.
    pub(crate) async fn turn(
        &mut self,
        blocks: Vec<Block>,
        cancelled: impl Future<Output = ()>,
    ) -> (TurnResult, RunStats) {
        self.refresh();
        self.screen.begin();
        let (status, name) = (self.status.clone(), &self.assistant.1.entry.reference);
        status.begin(format!("waiting for {name}"));
        let questions = self.host.begin();
        let message = Message { role: Role::User, blocks };
        let running = async {
            let system = Self::system(&mut self.system, &self.assistant, &self.tools, &self.folder).await;
            let counts = server_log::counts(&self.live.now());
            if let Some(counts) = counts.filter(|counts| self.counted.as_ref() != Some(counts)) {
                self.terminal.notifier().info(&counts);
                self.counted = Some(counts);
            }
            let run = Run {
                model: &self.assistant.1.model,
                tools: &self.tools,
                system,
                limits: &self.assistant.1.limits,
                final_answer: None,
                watcher: &self.screen,
            };
            run.go_on(&mut self.conversation, message).await
        };
        let done = tokio::select! {
            biased;
            () = cancelled => None,
            done = running => Some(done),
            never = status.run() => match never {},
        };
        questions.cancel();
        let (tally, partial) = self.screen.end();
        status.end();
        let turn = match done {
            Some(Ok(answer)) => TurnResult::Answered(answer),
            Some(Err(error)) => TurnResult::Failed(error),
            None => TurnResult::Cancelled,
        };
        if !matches!(turn, TurnResult::Answered(_)) && !partial.trim().is_empty() {
            // Keep an incomplete answer.
            let message = Message::text(Role::Assistant, partial);
            self.record().keep(&message, Usage::default());
            self.conversation.push(message, Usage::default());
        }
        (turn, tally)
    }

    /// Updates the model if the configuration has changed.
    fn refresh(&mut self) {
        let settings = self.now();
        if Arc::ptr_eq(&settings, &self.assistant.0) {
            return;
        }
        match Assistant::of(&settings.config, self.chosen.as_deref()) {
            Ok(assistant) => self.assistant = (settings, assistant),
            Err(failure) => {
                let message = format!("toolsmith: the model is unchanged: {}", failure.report.for_terminal());
                self.terminal.eprint(&message);
                self.assistant.0 = settings;
            }
        }
    }

    async fn system<'a>(
        system: &'a mut Option<(Arc<Settings>, String)>,
        (settings, assistant): &(Arc<Settings>, Assistant),
        tools: &Tools,
        folder: &std::path::Path,
    ) -> &'a str {
        if system.as_ref().is_none_or(|(with, _)| !Arc::ptr_eq(with, settings)) {
            // An error of the list is reported when the run lists the tools.
            let names = tools.tools().await.unwrap_or_default();
            let names = names.into_iter().map(|tool| tool.name).collect();
            let text = assistant.prompt.begin(folder, tools, names, "").await;
            *system = Some((settings.clone(), text));
        }
        system.as_ref().map_or("", |(_, text)| text)
    }

    /// Closes the sessions, and returns the id of the conversation if it is saved.
    pub(crate) async fn close(self) -> Option<String> {
        let id = self.record().id();
        self.live.upstreams.close().await;
        self.tools.close().await;
        id
    }
}
