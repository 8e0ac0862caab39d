//! The answers that one execution or one client's session has received, and the flows that its user has allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::flow::{Flow, Pair};
use crate::labels::Labels;
use crate::provenance::Answers;

/// Maximum number of tools whose answers are distinguished. Those of further tools count as private and untrusted
/// answers of any tool: a server that renames its tools without end takes no more memory, and hides nothing.
pub const MAX_SOURCES: usize = 1_000;

/// The name of [`Source::Others`]. Names of tools contain a dot.
const OTHERS: &str = "other tools";

/// The received answers, and the flows that the user has allowed for as long. Clones are the same state.
#[derive(Debug, Clone, Default)]
pub struct State {
    received: Arc<Mutex<Received>>,
    allowed: Arc<Mutex<BTreeSet<Pair>>>,
    /// The answers with which arguments are compared.
    answers: Arc<Mutex<Answers>>,
}

#[derive(Debug, Default)]
struct Received {
    /// The labels that answers carried, by server and tool.
    tools: BTreeMap<(String, String), Labels>,
    /// Whether there were answers of further or unknown tools.
    has_others: bool,
}

/// Where answers came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A tool, with the labels that its answers carried besides its own.
    Tool { server: String, tool: String, carried: Labels },
    /// Tools beyond [`MAX_SOURCES`], or unknown ones.
    Others,
}

impl Source {
    /// The name, as `server.tool`.
    pub(crate) fn name(&self) -> String {
        match self {
            Source::Tool { server, tool, .. } => format!("{server}.{tool}"),
            Source::Others => OTHERS.to_owned(),
        }
    }
}

impl State {
    /// An answer of a tool, with the labels that it carries from the calls of a subagent.
    pub fn receive(&self, server: &str, tool: &str, carried: Labels) {
        let mut received = self.received.lock();
        let key = (server.to_owned(), tool.to_owned());
        let is_full = received.tools.len() >= MAX_SOURCES;
        match received.tools.get_mut(&key) {
            Some(known) => *known = known.and(carried),
            None if is_full => received.has_others = true,
            None => drop(received.tools.insert(key, carried)),
        }
    }

    /// Allows these flows to the end of the session; not those of [`Source::Others`], which may be more tomorrow.
    pub fn allow(&self, flows: &[Flow]) {
        let of_tools = flows.iter().filter(|flow| flow.from != OTHERS);
        self.allowed.lock().extend(of_tools.map(Flow::pair));
    }

    /// Whether the user has allowed a flow.
    #[must_use]
    pub fn allows(&self, flow: &Flow) -> bool {
        self.allowed.lock().contains(&flow.pair())
    }

    /// A state that has received nothing, and shares the user's answers.
    #[must_use]
    pub fn fresh(&self) -> State {
        State { allowed: self.allowed.clone(), ..State::default() }
    }

    /// Keeps an answer of a tool, a JSON text, to compare arguments with it.
    pub fn keep(&self, server: &str, tool: &str, answer: &str) {
        self.answers.lock().add(&format!("{server}.{tool}"), answer);
    }

    /// The kept answers.
    #[must_use]
    pub fn answers(&self) -> Answers {
        self.answers.lock().clone()
    }

    /// Answers of unknown tools were received before: those of a conversation that goes on.
    pub fn receive_unknown(&self) {
        self.received.lock().has_others = true;
    }

    pub(crate) fn sources(&self) -> Vec<Source> {
        let received = self.received.lock();
        let tools = received.tools.iter().map(|((server, tool), carried)| Source::Tool {
            server: server.clone(),
            tool: tool.clone(),
            carried: *carried,
        });
        tools.chain(received.has_others.then_some(Source::Others)).collect()
    }
}
