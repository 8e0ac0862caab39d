//! Events of an execution.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use runner::{CallRecord, Phase, Sink};

/// Something that has happened in an execution.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// Long work has started: the first build of the crates for snippets, or waiting for another process.
    Working(String),
    /// A phase has started.
    Phase(Phase),
    /// The program printed to standard output.
    Stdout(Vec<u8>),
    /// The program printed to standard error.
    Stderr(Vec<u8>),
    /// The program reports progress.
    Progress {
        /// The units of work that are done.
        done: f64,
        /// About how many there are.
        total: f64,
        /// The work that is done.
        message: String,
    },
    /// The program makes a call, which may still be refused.
    CallBegan {
        /// Its number within the execution.
        number: u64,
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
        /// The arguments, as JSON.
        arguments: String,
    },
    /// A call has ended.
    CallEnded {
        /// Its number.
        number: u64,
        /// Its record.
        record: CallRecord,
    },
}

impl Event {
    fn of(event: &runner::Event<'_>) -> Option<Self> {
        Some(match event {
            runner::Event::Progress(message) => Event::Working((*message).to_owned()),
            runner::Event::Step { message, .. } => Event::Working((*message).to_owned()),
            runner::Event::Phase(phase) => Event::Phase(*phase),
            runner::Event::Stdout(bytes) => Event::Stdout(bytes.to_vec()),
            runner::Event::Stderr(bytes) => Event::Stderr(bytes.to_vec()),
            runner::Event::ProgramProgress { done, total, message } => {
                Event::Progress { done: *done, total: *total, message: (*message).to_owned() }
            }
            runner::Event::CallBegan(call) => Event::CallBegan {
                number: call.number,
                server: call.server.to_owned(),
                tool: call.tool.to_owned(),
                arguments: call.arguments.get().to_owned(),
            },
            runner::Event::CallEnded(number, record) => {
                Event::CallEnded { number: *number, record: (*record).clone() }
            }
            _ => return None,
        })
    }
}

/// Passes events on to a callback.
pub(crate) struct Callback<F>(pub(crate) F);

impl<F: Fn(Event) + Send + Sync> Sink for Callback<F> {
    fn note(&self, event: &runner::Event<'_>) {
        if let Some(event) = Event::of(event) {
            (self.0)(event);
        }
    }

    fn takes_output(&self) -> BoxFuture<'_, ()> {
        futures::future::ready(()).boxed()
    }
}
