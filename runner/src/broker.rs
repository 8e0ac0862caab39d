//! The host's end of the broker: reads what a program says, checks each call, carries it, answers.
//!
//! What a program may call is decided here and nowhere else; its stubs are only convenience.

mod watched;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bridge::wire::{
    CallFailure, FRAME_LIMIT, FailureKind, Finish, Question, ToHost, ToProgram, VERSION, WARNINGS_LIMIT,
    Warning, Welcome,
};
use futures::FutureExt;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::codec::FramedRead;

use crate::catalog::ToolName;
use crate::clock::Clock;
use crate::host::{Answer, ToolHost};
use crate::observer::Observer;
use crate::outcome::CallRecord;
use crate::protocol::{Protocol, ProtocolError};
use crate::refused::CallsRefused;
use watched::Watched;

/// Calls in flight beyond which the program's frames are left waiting.
pub const CALLS_IN_FLIGHT: usize = 256;
/// Bytes of arguments in flight beyond which the program's frames are left waiting (32 MiB): as many as the largest frame,
/// so that a single call leaves room for its cancellation to be read.
pub const BYTES_IN_FLIGHT: usize = FRAME_LIMIT;
/// Calls that an outcome names one by one; the rest is only counted.
pub const CALLS_KEPT: usize = 1000;
/// Bytes of content parts that a program may emit (16 MiB).
pub const CONTENT_LIMIT: usize = 16 << 20;
/// Content parts that a program may emit.
pub const PARTS_LIMIT: usize = 10_000;
/// Characters that are told of the identity of a tool that may not be called; a true one has 32.
const IDENTITY_TOLD: usize = 64;

/// What reading a resource is called among the tools of refused calls.
const RESOURCE: &str = "mcp_resource_read";

/// What a program has done so far; outlives a broker that is dropped in the middle.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) calls_total: u64,
    pub(crate) refused: CallsRefused,
    pub(crate) content: Vec<Box<RawValue>>,
    content_bytes: usize,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) finish: Option<Finish>,
}

/// Why a program was cut off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    /// A frame that should not be.
    #[error("the program broke the broker's protocol: {0}")]
    Protocol(String),
    /// More content parts than the outcome can hold.
    #[error("it emitted more than {CONTENT_LIMIT} bytes or {PARTS_LIMIT} parts of content and was stopped")]
    Content,
}

/// One execution's end of the broker.
pub(crate) struct Broker<'a> {
    pub(crate) token: String,
    pub(crate) args: BTreeMap<String, String>,
    /// The tools that may be called, by identity.
    pub(crate) allowed: HashMap<String, ToolName>,
    pub(crate) host: &'a dyn ToolHost,
    /// Stands still while a person is asked about a call.
    pub(crate) clock: &'a Clock,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) ledger: &'a Mutex<Ledger>,
}

/// A call that is no longer in flight.
struct Landed {
    id: u64,
    /// Bytes of its arguments.
    bytes: usize,
    /// What came of it, unless the program has cancelled it.
    completed: Option<Completed>,
}

/// What came of a call.
struct Completed {
    /// None of a question: it is no call.
    record: Option<CallRecord>,
    answer: Result<Box<RawValue>, CallFailure>,
}

/// The calls in flight. One that is cancelled counts until it has let go of its arguments.
#[derive(Default)]
struct Flight<'a> {
    running: FuturesUnordered<BoxFuture<'a, Landed>>,
    /// What ends a call early.
    handles: HashMap<u64, AbortHandle>,
    /// Bytes of arguments.
    bytes: usize,
}

impl<'a> Flight<'a> {
    fn has_room(&self) -> bool {
        self.running.len() < CALLS_IN_FLIGHT && self.bytes < BYTES_IN_FLIGHT
    }

    fn start(&mut self, id: u64, bytes: usize, call: impl Future<Output = Completed> + Send + 'a) {
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(id, handle);
        self.bytes += bytes;
        let call = Abortable::new(call, registration);
        self.running.push(call.map(move |ended| Landed { id, bytes, completed: ended.ok() }).boxed());
    }

    /// Ends a call early, if it is in flight: its answer may be under way already.
    fn cancel(&mut self, id: u64) {
        if let Some(handle) = self.handles.remove(&id) {
            handle.abort();
        }
    }

    /// The next call that is no longer in flight.
    async fn next(&mut self) -> Option<Landed> {
        let landed = self.running.next().await?;
        self.handles.remove(&landed.id);
        self.bytes -= landed.bytes;
        Some(landed)
    }
}

impl Broker<'_> {
    /// Serves the program until it closes its end.
    pub(crate) async fn serve(&self, stream: UnixStream) -> Result<(), Violation> {
        let (reader, writer) = stream.into_split();
        let mut answers = Answers(writer);
        let welcome = Welcome { version: VERSION, token: self.token.clone(), args: self.args.clone() };
        // A program that ended before it was welcomed says by its end what there is to say.
        let _ = answers.send(&ToProgram::Welcome(welcome)).await;
        let frames = FramedRead::new(reader, Protocol::new(self.token.as_str()));
        let mut incoming = Incoming { frames, paused: false };
        let mut flight = Flight::default();
        loop {
            tokio::select! {
                message = incoming.next(), if flight.has_room() => {
                    let handled = match message {
                        Ok(None) => return Ok(()),
                        Ok(Some(message)) => self.handle(message, &mut flight),
                        Err(violation) => Err(violation),
                    };
                    if let Err(Violation::Protocol(_)) = &handled {
                        self.refused(&CallsRefused::malform);
                    }
                    handled?;
                }
                Some(landed) = flight.next() => {
                    if let Some(completed) = landed.completed {
                        // A program that takes no answers has ended; what it sent before is still to be read. Until this
                        // one is taken, the other calls are not polled, so their answers stay with their servers.
                        let _ = match self.complete(completed) {
                            Ok(result) => answers.reply(landed.id, &result).await,
                            Err(failure) => answers.send(&ToProgram::Failure { id: landed.id, failure }).await,
                        };
                    }
                }
            }
        }
    }

    fn handle<'a>(&'a self, message: ToHost, flight: &mut Flight<'a>) -> Result<(), Violation> {
        match message {
            // It was the right one.
            ToHost::Hello { .. } => {}
            ToHost::Call { id, tool, arguments } => {
                self.ledger().calls_total += 1;
                let name = self.allowed.get(&tool);
                let bytes = arguments.get().len();
                // Only as much is kept of an identity as is told of it.
                let tool = name.map_or_else(|| shown(&tool), |name| name.tool.clone());
                let server = name.map(|name| name.server.clone()).unwrap_or_default();
                // From here on there is no other form of them.
                let arguments = strict_json::canonical_object(&arguments);
                let watched =
                    Watched::begin(self.observer, id, (server, tool.clone()), arguments.as_deref().ok());
                flight.start(id, bytes, self.call(name, tool, arguments, watched));
            }
            ToHost::Ask { id, question } => {
                flight.start(id, size(&question), self.look_up(question));
            }
            ToHost::Cancel { id } => flight.cancel(id),
            ToHost::Emit { content } => self.emit(&content)?,
            ToHost::Progress { done, total, message } => {
                self.observer.program_progress(done, total, &message);
            }
            ToHost::Warn(warning) => {
                let warnings = &mut self.ledger().warnings;
                if warnings.len() < WARNINGS_LIMIT {
                    warnings.push(warning);
                }
            }
            ToHost::Finish(finish) => self.ledger().finish = Some(finish),
        }
        Ok(())
    }

    async fn call(
        &self,
        name: Option<&ToolName>,
        tool: String,
        arguments: Result<Box<RawValue>, strict_json::Error>,
        watched: Watched<'_>,
    ) -> Completed {
        let completed = match name {
            Some(name) => self.carry(name, arguments).await,
            None => {
                self.refused(&CallsRefused::forge);
                refuse(tool)
            }
        };
        if let (Some(ToolName { server, tool, .. }), Err(failure)) = (name, &completed.answer) {
            self.refused(&|refused| refused.fail(server, tool, failure.kind));
        }
        if let Some(record) = &completed.record {
            watched.end(record);
        }
        completed
    }

    async fn look_up(&self, question: Question) -> Completed {
        let answer = match &question {
            Question::Resource { uri, server } => self.read_resource(uri, server.as_deref()).await,
            question => self.host.look_up(question).await,
        };
        Completed { record: None, answer: answer.and_then(fits) }
    }

    async fn read_resource(&self, uri: &str, server: Option<&str>) -> Result<Box<RawValue>, CallFailure> {
        let server = self.host.find_resource(uri, server).await?;
        let permitted = self.clock.while_asking(self.host.permit_read(&server, uri)).await;
        permitted.inspect_err(|failure| {
            self.refused(&|refused| refused.fail(&server, RESOURCE, failure.kind));
        })?;
        self.host.read_resource(&server, uri).await
    }

    async fn carry(
        &self,
        name: &ToolName,
        arguments: Result<Box<RawValue>, strict_json::Error>,
    ) -> Completed {
        let ToolName { server, tool, .. } = name;
        let permitted = match arguments {
            Ok(arguments) => {
                let permitted = self.host.permit_call(server, tool, &arguments);
                self.clock.while_asking(permitted).await.map(|()| arguments)
            }
            Err(reason) => Err(CallFailure {
                kind: FailureKind::InvalidParams,
                message: format!("the arguments can't be sent: {reason}"),
            }),
        };
        let started = Instant::now();
        let answer = match permitted {
            Ok(arguments) => self.host.call(server, tool, arguments).await,
            Err(refused) => Err(refused),
        };
        let ms = milliseconds(started);
        let (ok, bytes) = match &answer {
            Ok(Answer { result, is_error }) => (!is_error, result.get().len()),
            Err(_) => (false, 0),
        };
        let record = CallRecord { server: server.clone(), tool: tool.clone(), ok, ms, bytes };
        let answer = answer.and_then(|answer| fits(answer.result));
        Completed { record: Some(record), answer }
    }

    fn complete(&self, completed: Completed) -> Result<Box<RawValue>, CallFailure> {
        let Completed { record, answer } = completed;
        let mut ledger = self.ledger();
        if let Some(record) = record.filter(|_| ledger.calls.len() < CALLS_KEPT) {
            ledger.calls.push(record);
        }
        answer
    }

    fn emit(&self, content: &RawValue) -> Result<(), Violation> {
        let mut ledger = self.ledger();
        ledger.content_bytes += content.get().len();
        if ledger.content_bytes > CONTENT_LIMIT || ledger.content.len() >= PARTS_LIMIT {
            return Err(Violation::Content);
        }
        let content = strict_json::canonical_object(content)
            .map_err(|reason| Violation::Protocol(format!("a content part that is none: {reason}")))?;
        ledger.content.push(content);
        Ok(())
    }

    /// Counts what was refused, here and with the host.
    fn refused(&self, count: &dyn Fn(&mut CallsRefused)) {
        count(&mut self.ledger().refused);
        self.host.refused(count);
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(self.ledger)
    }
}

/// What the host says.
struct Answers(OwnedWriteHalf);

impl Answers {
    async fn send(&mut self, message: &ToProgram) -> io::Result<()> {
        self.frame(&[&serde_json::to_vec(message)?]).await
    }

    /// Sends [`ToProgram::Reply`] without a copy of the result, which may be large.
    async fn reply(&mut self, id: u64, result: &RawValue) -> io::Result<()> {
        let head = format!("{{\"reply\":{{\"id\":{id},\"result\":");
        self.frame(&[head.as_bytes(), result.get().as_bytes(), b"}}"]).await
    }

    /// Sends a frame that consists of these parts.
    async fn frame(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > FRAME_LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let length = u32::try_from(length).map_err(io::Error::other)?.to_be_bytes();
        self.0.write_all(&length).await?;
        for part in parts {
            self.0.write_all(part).await?;
        }
        Ok(())
    }
}

/// What the program says.
struct Incoming {
    frames: FramedRead<OwnedReadHalf, Protocol>,
    /// The reader pauses once after each error.
    paused: bool,
}

impl Incoming {
    /// The next message; `None` at the end.
    ///
    /// A program that ends with answers unread resets the connection. That is its end, not a breach: what it sent
    /// before is still there, and is read on.
    async fn next(&mut self) -> Result<Option<ToHost>, Violation> {
        loop {
            match self.frames.next().await {
                Some(Ok(message)) => return Ok(Some(message)),
                Some(Err(ProtocolError::Breach(message))) => return Err(Violation::Protocol(message)),
                Some(Err(ProtocolError::Stream(_))) => self.paused = true,
                None if std::mem::take(&mut self.paused) => {}
                None => return Ok(None),
            }
        }
    }
}

/// A panic while the lock is held leaves nothing half done here.
pub(crate) fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a question's texts.
fn size(question: &Question) -> usize {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match question {
        Question::Search { query, server, .. } => query.len() + optional(server),
        Question::Resources { server, query } => optional(server) + optional(query),
        Question::Resource { uri, server } => uri.len() + optional(server),
        Question::Describe { tools } => tools.iter().map(|name| size_of::<String>() + name.len()).sum(),
    }
}

/// As much of the identity of a tool that may not be called as is told.
fn shown(identity: &str) -> String {
    identity.chars().filter(|c| !c.is_control()).take(IDENTITY_TOLD).collect()
}

fn refuse(tool: String) -> Completed {
    let message = format!("the tool {tool:?} is not among those that this program may call");
    let record = CallRecord { server: String::new(), tool, ok: false, ms: 0.0, bytes: 0 };
    Completed { record: Some(record), answer: Err(CallFailure { kind: FailureKind::Denied, message }) }
}

/// An answer that fits into a frame, with some room for what stands around it.
fn fits(result: Box<RawValue>) -> Result<Box<RawValue>, CallFailure> {
    const ROOM: usize = 1024;
    let length = result.get().len();
    if length + ROOM <= FRAME_LIMIT {
        return Ok(result);
    }
    let message = format!("the answer has {length} bytes, over the limit of {FRAME_LIMIT}");
    Err(CallFailure { kind: FailureKind::Protocol, message })
}

pub(crate) fn milliseconds(since: Instant) -> f64 {
    in_milliseconds(since.elapsed())
}

pub(crate) fn in_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests;
