//! The client as servers see it: forwards their questions and notifications to the request in progress.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::resource_address::{is_view, of_resource};
use gateway::session_host::{self, SessionHost, Waiting};
use mcp::{Host, Notice, QuestionError, form};
use parking_lot::Mutex;
use queue::{Bounds, Broadcast};
use runner::Journal;
use serde_json::{Value, json};
use terminal::Notifier;
use tokio::sync::watch;

use super::caller::{Abilities, Caller, Unanswered};
use super::level::Level;

/// Limit of queued notices of servers for each listener (2 MiB). The oldest are dropped, and the listener is notified
/// of their count.
const WAITING: Bounds = Bounds { bytes: 2 << 20, items: 1_000 };

/// Maximum length of a line of a server's standard error, in characters.
const MAX_LINE: usize = 2_000;

/// Maximum length of a server's question on the local page, in characters.
const MAX_QUESTION: usize = 2_000;

/// The request for a form (MCP, client/elicitation).
const ELICIT: &str = "elicitation/create";

/// The member of a question's `_meta` that names the server; this process's own questions have none.
pub const ASKED_BY: &str = "io.toolsmith/server";

/// A server's notification for the client.
#[derive(Clone)]
pub(crate) enum ServerNotice {
    /// A log message of a server, and the request during which it arrived.
    Log { level: Level, logger: String, data: Value, caller: Option<Arc<Caller>> },
    /// A resource of a server has changed.
    ResourceUpdated(String),
    /// A list of a server has changed, other than its tools.
    ListChanged(mcp::ListKind),
}

impl ServerNotice {
    /// Approximate size in bytes.
    fn bytes(&self) -> usize {
        let texts = match self {
            ServerNotice::Log { logger, data, .. } => logger.len() + size_of_json(data),
            ServerNotice::ResourceUpdated(uri) => uri.len(),
            ServerNotice::ListChanged(_) => 0,
        };
        size_of::<ServerNotice>() + texts
    }
}

/// Approximate size of a value in memory, in bytes.
pub fn size_of_json(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of_json).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + size_of_json(value)).sum(),
    };
    size_of::<Value>() + inner
}

/// A request of the client in progress.
struct ActiveRequest {
    number: u64,
    /// The server that it is about; `None` means any server.
    server: Option<String>,
    caller: Arc<Caller>,
    /// Counts the open questions of the execution that the request is about, if sessions are shared.
    questions: Option<watch::Sender<usize>>,
}

/// The client behind sessions with servers.
pub(crate) struct ClientHost {
    abilities: Abilities,
    /// Has the questions of servers in an execution.
    journal: Journal,
    /// The requests in progress, the latest last.
    callers: Mutex<Vec<ActiveRequest>>,
    next: Mutex<u64>,
    questions: watch::Sender<usize>,
    notifier: Notifier,
    notices: Broadcast<ServerNotice>,
}

/// A request in progress. Dropping it removes it.
pub(crate) struct UnderWay {
    host: Arc<ClientHost>,
    number: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut callers = self.host.callers.lock();
        callers.retain(|request| request.number != self.number);
    }
}

impl ClientHost {
    /// For a client with these capabilities.
    pub(crate) fn new(abilities: Abilities, notifier: Notifier) -> Arc<Self> {
        ClientHost::of_execution(abilities, notifier, Journal::default())
    }

    /// For an execution with this journal.
    pub(crate) fn of_execution(abilities: Abilities, notifier: Notifier, journal: Journal) -> Arc<Self> {
        Arc::new(ClientHost {
            abilities,
            journal,
            callers: Mutex::default(),
            next: Mutex::default(),
            questions: watch::Sender::default(),
            notifier,
            notices: Broadcast::new(WAITING),
        })
    }

    /// The notices of servers from now on.
    pub(crate) fn notices(&self) -> queue::Receiver<ServerNotice> {
        self.notices.subscribe()
    }

    /// Sends questions of `server` to `caller` from now on; without a server, those of all.
    pub(crate) fn under_way(self: &Arc<Self>, server: Option<&str>, caller: Arc<Caller>) -> UnderWay {
        self.track(server.map(str::to_owned), caller, None)
    }

    /// Like [`ClientHost::under_way`], for a session that an execution shares with others. Questions also count as those
    /// of `execution`.
    pub(crate) fn under_way_in(
        self: &Arc<Self>,
        execution: &ClientHost,
        server: &str,
        caller: Arc<Caller>,
    ) -> UnderWay {
        self.track(Some(server.to_owned()), caller, Some(execution.questions.clone()))
    }

    fn track(
        self: &Arc<Self>,
        server: Option<String>,
        caller: Arc<Caller>,
        questions: Option<watch::Sender<usize>>,
    ) -> UnderWay {
        let mut next = self.next.lock();
        *next += 1;
        let number = *next;
        let mut callers = self.callers.lock();
        callers.push(ActiveRequest { number, server, caller, questions });
        UnderWay { host: self.clone(), number }
    }

    /// The latest request about `server`, unless it is known which request a question belongs to, and the count of
    /// questions of its execution.
    fn latest(&self, server: &str) -> Option<(Arc<Caller>, Option<watch::Sender<usize>>)> {
        if let Ok(caller) = ASKED_FOR.try_with(Arc::clone) {
            return Some((caller, None));
        }
        let callers = self.callers.lock();
        let about = |request: &&ActiveRequest| request.server.as_deref().is_none_or(|about| about == server);
        let latest = callers.iter().rev().find(about);
        latest.map(|request| (request.caller.clone(), request.questions.clone()))
    }

    fn ask<'a>(
        &'a self,
        server: &'a str,
        method: &'static str,
        mut parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        // Overwrites what the server wrote there, so that it can't claim another server's name.
        if let Some(parameters) = parameters.as_object_mut() {
            let meta = parameters.entry("_meta").or_insert_with(|| json!({}));
            if !meta.is_object() {
                *meta = json!({});
            }
            meta[ASKED_BY] = json!(server);
        }
        async move {
            let Some((caller, of_execution)) = self.latest(server) else {
                return Err(QuestionError::NoRequest);
            };
            let _waiting = Waiting::new(&self.questions);
            let _execution_waits = of_execution.as_ref().map(Waiting::new);
            let is_form = method == ELICIT && !asks_for_visit(&parameters);
            let answer = if is_form && caller.abilities.asks_on_page {
                fill_in(&caller, server, &parameters)?.await
            } else {
                caller.ask(method, parameters).await
            };
            answer.map_err(|unanswered| QuestionError::Client(Box::new(unanswered)))
        }
        .boxed()
    }

    fn notify(&self, notice: &ServerNotice) {
        self.notices.push(notice, notice.bytes());
    }
}

impl SessionHost for ClientHost {
    fn questions(&self) -> watch::Receiver<usize> {
        self.questions.subscribe()
    }

    fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }
}

tokio::task_local! {
    /// The request that questions belong to which are answered within its own future: those of its tasks.
    static ASKED_FOR: Arc<Caller>;
}

/// Sends the questions that are answered within this future to the client of this request.
pub(crate) async fn asking<T>(caller: Arc<Caller>, work: impl Future<Output = T>) -> T {
    ASKED_FOR.scope(caller, work).await
}

/// Whether an elicitation asks the user to visit an address, which only a client that declares it is asked.
pub(crate) fn asks_for_visit(parameters: &Value) -> bool {
    parameters.get("mode").and_then(Value::as_str) == Some("url")
}

/// Asks for the fields of a server's form on the local page.
fn fill_in<'a>(
    caller: &'a Caller,
    server: &str,
    parameters: &Value,
) -> Result<impl Future<Output = Result<Value, Unanswered>> + use<'a>, QuestionError> {
    let page = caller.page().ok_or(QuestionError::NoRequest)?;
    let schema = parameters.get("requestedSchema").unwrap_or(&Value::Null);
    let fields = form::fields(schema).map_err(|error| QuestionError::Form(error.to_string()))?;
    let message = parameters.get("message").and_then(Value::as_str).unwrap_or_default();
    let message: String = message.chars().take(MAX_QUESTION).collect();
    let text = format!(
        "The server {server} asks (in its own words; it receives your answers):\n  {}",
        printable::prose(&message)
    );
    let bytes = parameters.to_string().len();
    Ok(caller.ask_on_page(bytes, page.fill_in(text, fields)))
}

/// A line of a server's output, on one line and bounded.
fn line_of(server: &str, line: &str) -> String {
    let line: String = printable::prose(line).chars().take(MAX_LINE).collect();
    format!("{server}: {line}")
}

impl Host for ClientHost {
    fn elicits(&self) -> bool {
        self.abilities.elicits || self.abilities.asks_on_page
    }

    fn elicits_by_url(&self) -> bool {
        self.abilities.elicits_by_url
    }

    fn samples(&self) -> bool {
        self.abilities.samples
    }

    fn shows_apps(&self) -> bool {
        self.abilities.shows_apps
    }

    fn elicit<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        async move {
            let text = parameters["message"].clone();
            // The page shows forms only.
            let on_page = self.abilities.asks_on_page && !asks_for_visit(&parameters);
            let by = if on_page { "page" } else { "client" };
            let answer = self.ask(server, ELICIT, parameters);
            session_host::noted(&self.journal, (server, &text), by, answer, session_host::action).await
        }
        .boxed()
    }

    fn sample<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        async move {
            let text = parameters["systemPrompt"].clone();
            let answer = self.ask(server, "sampling/createMessage", parameters);
            session_host::noted(&self.journal, (server, &text), "client", answer, |_| "sampled").await
        }
        .boxed()
    }

    fn notice(&self, server: &str, notice: &Notice) {
        match notice {
            Notice::Stderr(line) => self.notifier.detail(&line_of(server, line)),
            Notice::Stray(line) => self.notifier.note(&line_of(server, line)),
            Notice::Log { level, logger, data } => self.notify(&ServerNotice::Log {
                level: Level::of(level).unwrap_or_default(),
                logger: logger.clone().unwrap_or_else(|| server.to_owned()),
                data: data.clone(),
                caller: self.latest(server).map(|(caller, _)| caller),
            }),
            Notice::ResourceUpdated(uri) => {
                let named = if is_view(uri) { of_resource(server, uri) } else { uri.clone() };
                self.notify(&ServerNotice::ResourceUpdated(named));
            }
            Notice::ListChanged(list) => self.notify(&ServerNotice::ListChanged(*list)),
            // Progress is sent to the request that it belongs to.
            _ => {}
        }
    }
}
