//! The process of a command: its terminal, the events of subagents below it, and its relation to other processes, which
//! is known before the configuration is read.

use std::sync::Arc;

use gateway::failure::Failure;
use terminal::{Notifier, Terminal};

use crate::subagent_log::{self, EventListener};

/// The process of a command.
pub struct Process {
    /// The terminal for the user.
    pub terminal: Arc<Terminal>,
    /// Its relation to others.
    pub context: ProcessContext,
    /// Shows events of subagents until it is dropped.
    listener: Option<EventListener>,
}

impl Process {
    /// Starts what is needed before the configuration is read: the terminal, and the listener for events of subagents.
    pub async fn start(terminal: Terminal, context: ProcessContext) -> Self {
        let listener = subagent_log::listen(terminal.notifier()).await;
        Process { context: context.with_listener(listener.as_ref()), terminal: Arc::new(terminal), listener }
    }

    /// Ends it. By then, the last output of servers was shown.
    ///
    /// # Errors
    /// If writing to standard output failed, except because its reader is gone.
    pub async fn end(self) -> Result<(), Failure> {
        drop(self.listener);
        self.terminal.flush().await.map_err(Failure::output)
    }
}

/// Does the work of a command that is no agent, from the start of its process to the end.
///
/// # Errors
/// If the work fails, or standard output can't be written.
pub async fn run<T>(
    terminal: Terminal,
    work: impl AsyncFnOnce(&Process) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let process = Process::start(terminal, ProcessContext::of_this_process()).await;
    let done = work(&process).await;
    process.end().await?;
    done
}

/// The relation of a process to others.
#[derive(Debug, Clone)]
pub struct ProcessContext {
    /// Whether it is an agent itself, and not a process between two agents.
    is_agent: bool,
    /// Where subagents below it post events: an address with its token.
    events_address: Option<String>,
    /// Shows the traffic of servers, if the user may enable that later.
    trace_notifier: Option<Notifier>,
}

impl ProcessContext {
    /// For a process between others: processes that it starts get its own parent and its own address for events.
    pub fn of_this_process() -> Self {
        ProcessContext { is_agent: false, events_address: subagent_log::inherited(), trace_notifier: None }
    }

    /// Uses the address of this process's own listener, if there is one.
    fn with_listener(self, listener: Option<&EventListener>) -> Self {
        let own = listener.map(|listener| listener.address().to_owned());
        ProcessContext { events_address: own.or(self.events_address), ..self }
    }

    /// Marks this process as an agent: processes that it starts are below it.
    pub fn of_agent(self) -> Self {
        ProcessContext { is_agent: true, ..self }
    }

    /// Lets the user enable the traffic of any server later (`mcp::switch_trace`); `notifier` shows it.
    pub fn with_trace(self, notifier: Notifier) -> Self {
        ProcessContext { trace_notifier: Some(notifier), ..self }
    }

    /// Whether it is an agent itself.
    pub(crate) fn is_agent(&self) -> bool {
        self.is_agent
    }

    /// Where subagents below it post events.
    pub(crate) fn events_address(&self) -> Option<&str> {
        self.events_address.as_deref()
    }

    /// Shows the traffic of servers, if the user may enable that later.
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
