//! What a process is to those that it starts, and what a person may ask of it later: known before the configuration is
//! read, and handed to what reads it.

use terminal::Notifier;

use crate::subagent_log::{self, EventListener};

/// What a process is to others.
#[derive(Debug, Clone)]
pub struct ProcessContext {
    /// Whether it is an agent itself, and not something between two agents.
    is_agent: bool,
    /// Where subagents below post events: an address with its token.
    events_address: Option<String>,
    /// What shows the traffic of servers, where a person may ask for it later.
    trace_notifier: Option<Notifier>,
}

impl ProcessContext {
    /// A process between others: what it starts has the parent that it was given itself, and posts events where it
    /// would.
    pub fn of_this_process() -> Self {
        ProcessContext { is_agent: false, events_address: subagent_log::inherited(), trace_notifier: None }
    }

    /// The same, where events come to a listener of its own, if it has one.
    pub(crate) fn with_listener(self, listener: Option<&EventListener>) -> Self {
        let own = listener.map(|listener| listener.address().to_owned());
        ProcessContext { events_address: own.or(self.events_address), ..self }
    }

    /// The same, as an agent: what it starts is below itself.
    pub fn of_agent(self) -> Self {
        ProcessContext { is_agent: true, ..self }
    }

    /// The same, where a person may ask for the traffic of any server later (`mcp::switch_trace`), which `notifier` shows.
    pub fn with_trace(self, notifier: Notifier) -> Self {
        ProcessContext { trace_notifier: Some(notifier), ..self }
    }

    /// Whether it is an agent itself.
    pub(crate) fn is_agent(&self) -> bool {
        self.is_agent
    }

    /// Where subagents below post events.
    pub(crate) fn events_address(&self) -> Option<&str> {
        self.events_address.as_deref()
    }

    /// What shows the traffic of servers, where a person may ask for it later.
    pub(crate) fn trace_notifier(&self) -> Option<&Notifier> {
        self.trace_notifier.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_go_to_the_listener_of_the_process() {
        for token in ["one", "another"] {
            let listener = EventListener::start(token, |_| ()).await.unwrap();
            let process = ProcessContext::of_this_process().with_listener(Some(&listener));
            assert_eq!(process.events_address(), Some(listener.address()));
        }
    }
}
