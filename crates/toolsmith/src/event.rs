//! Events of an execution.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt as _, Stream, StreamExt as _};
use queue::{Bounds, Received};
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
    /// A server, or a function of this program, reports the progress of a call.
    ToolProgress {
        /// The server's name.
        server: String,
        /// The units of work that are done.
        done: f64,
        /// About how many there are, if that is known.
        total: Option<f64>,
        /// The current step; may be empty. Untrusted text, if the server is not this program.
        message: String,
    },
    /// A call has ended.
    CallEnded {
        /// Its number.
        number: u64,
        /// Its record.
        record: CallRecord,
    },
    /// This many events before the next one were dropped, because the [stream](crate::Execute::events) was read too
    /// slowly.
    Missed(u64),
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

/// Learns of events.
pub(crate) trait Listener: Send + Sync {
    /// Receives an event. Must not block for long.
    fn happened(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> Listener for F {
    fn happened(&self, event: Event) {
        self(event);
    }
}

/// Passes the events of a journal on to a listener.
pub(crate) struct Listening(pub(crate) Arc<dyn Listener>);

impl Sink for Listening {
    fn note(&self, event: &runner::Event<'_>) {
        if let Some(event) = Event::of(event) {
            self.0.happened(event);
        }
    }

    fn takes_output(&self) -> BoxFuture<'_, ()> {
        futures::future::ready(()).boxed()
    }
}

/// Limits on events that wait to be read: 1 MiB, which is a whole output or many calls, and 1 024 events.
const BOUNDS: Bounds = Bounds { bytes: 1 << 20, items: 1_024 };

/// The events of an execution, until its end.
pub struct Events(BoxStream<'static, Event>);

impl Stream for Events {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.0.poll_next_unpin(context)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Events").finish_non_exhaustive()
    }
}

/// Returns a listener that fills a stream. The stream ends when the listener is gone.
pub(crate) fn stream() -> (Arc<dyn Listener>, Events) {
    let (sender, receiver) = queue::bounded(BOUNDS);
    let listener = Arc::new(move |event: Event| {
        let bytes = event.size();
        sender.push(event, bytes);
    });
    let events = stream::unfold(receiver, |mut receiver| async move {
        let Received { missed, item } = receiver.receive().await?;
        let missed = (missed > 0).then_some(Event::Missed(missed));
        Some((stream::iter(missed.into_iter().chain(item)), receiver))
    });
    (listener, Events(events.flatten().boxed()))
}

impl Event {
    /// The approximate size in memory, in bytes.
    fn size(&self) -> usize {
        let text = match self {
            Event::Working(message)
            | Event::Progress { message, .. }
            | Event::ToolProgress { message, .. } => message.len(),
            Event::Stdout(bytes) | Event::Stderr(bytes) => bytes.len(),
            Event::CallBegan { arguments, .. } => arguments.len(),
            Event::Phase(_) | Event::CallEnded { .. } | Event::Missed(_) => 0,
        };
        size_of::<Self>() + text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_reader_learns_how_many_events_it_missed() {
        let (listener, mut events) = stream();
        for number in 0..BOUNDS.items + 10 {
            listener.happened(Event::Working(number.to_string()));
        }
        drop(listener);
        assert!(matches!(events.next().await, Some(Event::Missed(10))));
        assert!(matches!(events.next().await, Some(Event::Working(first)) if first == "10"));
        assert_eq!(events.count().await, BOUNDS.items - 1);
    }
}
