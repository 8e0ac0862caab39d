//! The client as servers see it: what they ask goes to the request that is under way, and so does what they tell.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::session_host::{SessionHost, Waiting};
use mcp::{Host, Notice};
use queue::{Bounds, Broadcast};
use serde_json::{Value, json};
use terminal::Notifier;
use tokio::sync::watch;

use super::caller::{Abilities, Caller};
use super::level::Level;

/// How much of what servers tell waits for each who listens (2 MiB); the oldest is left out, and whoever listens is told
/// how many messages that were.
const WAITING: Bounds = Bounds { bytes: 2 << 20, items: 1_000 };

/// Most characters of one line that a server tells.
const LONGEST_TOLD: usize = 2_000;

/// The member of a question's `_meta` with the server that asks; those of this process have none.
pub const ASKED_BY: &str = "io.toolsmith/server";

/// What servers tell the client.
#[derive(Clone)]
pub(crate) enum ServerNotice {
    /// A log message of a server, and the request that it came in the middle of.
    Log { level: Level, logger: String, data: Value, caller: Option<Arc<Caller>> },
    /// A resource of a server has changed.
    ResourceUpdated(String),
    /// A list of a server other than that of its tools has changed.
    ListChanged(mcp::ListKind),
}

impl ServerNotice {
    /// About as many bytes as it has.
    fn bytes(&self) -> usize {
        let texts = match self {
            ServerNotice::Log { logger, data, .. } => logger.len() + size_of_json(data),
            ServerNotice::ResourceUpdated(uri) => uri.len(),
            ServerNotice::ListChanged(_) => 0,
        };
        size_of::<ServerNotice>() + texts
    }
}

/// About as many bytes as a value takes in memory.
pub(crate) fn size_of_json(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of_json).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + size_of_json(value)).sum(),
    };
    size_of::<Value>() + inner
}

/// A number, the server that a request is about, and the request.
type Asked = (u64, Option<String>, Arc<Caller>);

/// The client behind sessions with servers.
pub(crate) struct ClientHost {
    abilities: Abilities,
    /// The requests under way, with the server that each is about, the latest last; without one it is about any.
    callers: Mutex<Vec<Asked>>,
    next: Mutex<u64>,
    questions: watch::Sender<usize>,
    notifier: Notifier,
    told: Broadcast<ServerNotice>,
}

/// A request that is under way. Dropping it ends that.
pub(crate) struct UnderWay {
    host: Arc<ClientHost>,
    number: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut callers = self.host.callers.lock().unwrap_or_else(PoisonError::into_inner);
        callers.retain(|(number, _, _)| *number != self.number);
    }
}

impl ClientHost {
    /// A client that can do this much.
    pub(crate) fn new(abilities: Abilities, notifier: Notifier) -> Arc<Self> {
        Arc::new(ClientHost {
            abilities,
            callers: Mutex::default(),
            next: Mutex::default(),
            questions: watch::Sender::default(),
            notifier,
            told: Broadcast::new(WAITING),
        })
    }

    /// What servers tell from now on.
    pub(crate) fn told(&self) -> queue::Receiver<ServerNotice> {
        self.told.subscribe()
    }

    /// From now on, questions of `server` go to `caller`; without a server, those of all.
    pub(crate) fn under_way(self: &Arc<Self>, server: Option<&str>, caller: Arc<Caller>) -> UnderWay {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        let number = *next;
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        callers.push((number, server.map(str::to_owned), caller));
        UnderWay { host: self.clone(), number }
    }

    /// The latest request about `server`.
    fn caller(&self, server: &str) -> Option<Arc<Caller>> {
        let callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let about = |about: &Option<String>| about.as_deref().is_none_or(|about| about == server);
        callers.iter().rev().find(|(_, server, _)| about(server)).map(|(_, _, caller)| caller.clone())
    }

    fn ask<'a>(
        &'a self,
        server: &'a str,
        method: &'static str,
        mut parameters: Value,
    ) -> BoxFuture<'a, Result<Value, String>> {
        // Whatever the server itself writes there, nobody takes its words for another's.
        if let Some(parameters) = parameters.as_object_mut() {
            let meta = parameters.entry("_meta").or_insert_with(|| json!({}));
            if !meta.is_object() {
                *meta = json!({});
            }
            meta[ASKED_BY] = json!(server);
        }
        async move {
            let Some(caller) = self.caller(server) else {
                return Err("no request of a client is under way that this could belong to".to_owned());
            };
            let _waiting = Waiting::new(&self.questions);
            caller.ask(method, parameters).await.map_err(|unanswered| unanswered.to_string())
        }
        .boxed()
    }

    fn tell(&self, told: &ServerNotice) {
        self.told.push(told, told.bytes());
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

impl Host for ClientHost {
    fn elicits(&self) -> bool {
        self.abilities.elicits
    }

    fn elicits_by_url(&self) -> bool {
        self.abilities.elicits_by_url
    }

    fn samples(&self) -> bool {
        self.abilities.samples
    }

    fn elicit<'a>(&'a self, server: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, String>> {
        self.ask(server, "elicitation/create", parameters)
    }

    fn sample<'a>(&'a self, server: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, String>> {
        self.ask(server, "sampling/createMessage", parameters)
    }

    fn notice(&self, server: &str, notice: &Notice) {
        match notice {
            Notice::Stderr(line) | Notice::Stray(line) => {
                let line: String = printable::prose(line).chars().take(LONGEST_TOLD).collect();
                self.notifier.note(&format!("{server}: {line}"));
            }
            Notice::Log { level, logger, data } => self.tell(&ServerNotice::Log {
                level: Level::of(level).unwrap_or_default(),
                logger: logger.clone().unwrap_or_else(|| server.to_owned()),
                data: data.clone(),
                caller: self.caller(server),
            }),
            Notice::ResourceUpdated(uri) => self.tell(&ServerNotice::ResourceUpdated(uri.clone())),
            Notice::ListChanged(list) => self.tell(&ServerNotice::ListChanged(*list)),
            // Progress goes to the very request that it belongs to.
            _ => {}
        }
    }
}
