//! The host's end of the broker: reads a program's messages, checks and forwards its calls, and answers them.
//!
//! Only this module decides what a program may call; its stubs are a convenience.

mod in_flight;
mod observed_call;
mod outbox;
mod record;
#[allow(unsafe_code, reason = "registers descriptors that it owns, and reads into uninitialized memory")]
mod socket;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use bridge::size::size;
use bridge::wire::{
    CallFailure, FRAME_LIMIT, FailureKind, Question, ToHost, ToProgram, VERSION, WARNINGS_LIMIT, Warning,
    Welcome,
};
use futures::FutureExt as _;
use futures::stream::StreamExt as _;
use serde_json::value::RawValue;
use system::event_loop::off_loop;
use tokio_util::codec::FramedRead;
use tracing::Instrument as _;

use crate::catalog::ToolName;
use crate::clock::Clock;
use crate::host::{Answer, ToolHost};
use crate::journal::{Event, Journal, READ, Sink as _};
use crate::outcome::{CachedAnswer, CallRecord, milliseconds};
use crate::protocol::{Protocol, ProtocolError};
use crate::refused::CallsRefused;
use in_flight::{Answered, CallsInFlight, Gate};
use observed_call::ObservedCall;
use outbox::{Outbox, Unread};
pub use record::CALLS_KEPT;
pub(crate) use record::{ProgramRecord, lock};
use socket::Reader;
pub(crate) use socket::Socket;

/// Maximum size of the content blocks that a program may emit, in bytes (16 MiB).
pub const CONTENT_LIMIT: usize = 16 << 20;
/// Maximum number of content blocks that a program may emit.
pub const PARTS_LIMIT: usize = 10_000;
/// Size of one read from the program, in bytes (64 KiB): many calls, which then leave for their server together.
const READ_BYTES: usize = 64 * 1024;
/// Maximum number of characters to show of the identity of an unknown tool; a valid identity has 32.
const IDENTITY_SHOWN: usize = 64;

/// The reason why a program was stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    /// An invalid frame.
    #[error("the program broke the broker's protocol: {0}")]
    Protocol(String),
    /// More content blocks than the outcome can hold.
    #[error(
        "it emitted more than {} or {PARTS_LIMIT} content blocks and was stopped; emit less",
        size(CONTENT_LIMIT)
    )]
    Content,
    /// An answer that the program does not read.
    #[error(transparent)]
    Unread(#[from] Unread),
}

/// The host's end of the broker for one execution.
pub(crate) struct Broker<'a> {
    pub(crate) token: String,
    pub(crate) args: BTreeMap<String, String>,
    /// The tools that may be called, by identity.
    pub(crate) allowed: HashMap<String, ToolName>,
    pub(crate) host: &'a dyn ToolHost,
    /// Paused while the user is asked about a call.
    pub(crate) clock: &'a Clock,
    pub(crate) journal: &'a Journal,
    pub(crate) ledger: &'a Mutex<ProgramRecord>,
}

impl Broker<'_> {
    /// Serves the program until it closes its end.
    ///
    /// Nothing here waits for anything else: a program that leaves an answer unread, or has too many calls in flight,
    /// delays the answers of servers and its own new calls, but neither questions to the user nor its time limit.
    pub(crate) async fn serve(&self, socket: Socket) -> Result<(), Violation> {
        let Socket { reader, writer } = socket;
        let gate = Gate::default();
        let mut outbox = Outbox::new(writer, &gate);
        let welcome = Welcome { version: VERSION, token: self.token.clone(), args: self.args.clone() };
        // If the program has ended before the welcome, its exit status says why.
        outbox.send(&ToProgram::Welcome(welcome));
        outbox.flush();
        let frames = FramedRead::with_capacity(reader, Protocol::new(self.token.as_str()), READ_BYTES);
        let mut incoming = Incoming { frames, paused: false };
        let mut flight = CallsInFlight::default();
        // The bridge sends no call without room for it. A program that does so anyway is not read until there is room.
        let mut waiting = None;
        loop {
            if let Some(call) = waiting.take_if(|call| flight.has_room(weight(call), outbox.len())) {
                self.begin(call, &gate, &mut flight);
            }
            tokio::select! {
                biased;
                written = outbox.written() => written?,
                Some(landed) = flight.next() => {
                    outbox.answer(landed);
                    // What has an answer by now is written with it, and wakes the program once.
                    while let Some(Some(landed)) = flight.next().now_or_never() {
                        outbox.answer(landed);
                    }
                    outbox.flush();
                }
                message = incoming.next(), if waiting.is_none() => {
                    let handled = match message {
                        Ok(None) => return Ok(()),
                        Ok(Some(call @ (ToHost::Call { .. } | ToHost::Ask { .. }))) => {
                            waiting = Some(call);
                            Ok(())
                        }
                        Ok(Some(message)) => self.take(message, &mut flight),
                        Err(violation) => Err(violation),
                    };
                    if let Err(Violation::Protocol(_)) = &handled {
                        self.refused(&CallsRefused::malform);
                    }
                    handled?;
                }
            }
        }
    }

    /// Starts a call or a question.
    fn begin<'a>(&'a self, message: ToHost, gate: &'a Gate, flight: &mut CallsInFlight<'a>) {
        let bytes = weight(&message);
        match message {
            ToHost::Call { id, tool, arguments } => {
                let name = self.allowed.get(&tool);
                // Keep no more of an identity than is shown.
                let tool = name.map_or_else(|| shown(&tool), |name| name.tool.clone());
                let server = name.map(|name| name.server.clone()).unwrap_or_default();
                // From here on, the arguments exist only in this form.
                let arguments = off_loop(bytes, || strict_json::canonical_object(&arguments));
                let sent = arguments.as_deref().ok();
                let watched = ObservedCall::begin(self.journal, self.ledger, id, server, tool.clone(), sent);
                flight.start(id, bytes, self.call(name, tool, arguments, watched, gate));
            }
            ToHost::Ask { id, question } => flight.start(id, bytes, self.look_up(question, gate)),
            _ => {}
        }
    }

    /// Handles a message that has no answer.
    fn take(&self, message: ToHost, flight: &mut CallsInFlight<'_>) -> Result<(), Violation> {
        match message {
            ToHost::Cancel { id } => flight.cancel(id),
            ToHost::Emit { content } => self.emit(&content)?,
            ToHost::Progress { done, total, message } => {
                self.journal.note(&Event::ProgramProgress { done, total, message: &message });
            }
            ToHost::Warn(warning) => self.warn(warning),
            ToHost::Finish(finish) => self.ledger().finish = Some(finish),
            // A second hello; the other messages have answers.
            ToHost::Hello { .. } | ToHost::Call { .. } | ToHost::Ask { .. } => {}
        }
        Ok(())
    }

    async fn call(
        &self,
        name: Option<&ToolName>,
        tool: String,
        arguments: Result<Box<RawValue>, strict_json::Error>,
        watched: ObservedCall<'_>,
        gate: &Gate,
    ) -> Answered {
        let (record, answer) = match name {
            Some(name) => self.carry(name, arguments, &watched, gate).await,
            None => {
                self.refused(&CallsRefused::forge);
                refuse(tool)
            }
        };
        if let (Some(ToolName { server, tool, .. }), Err(failure)) = (name, &answer) {
            self.refused(&|refused| refused.fail(server, tool, failure.kind));
        }
        watched.end(record);
        answer
    }

    async fn look_up(&self, question: Question, gate: &Gate) -> Answered {
        let answer = match &question {
            Question::Resource { uri, server } => self.read_resource(uri, server.as_deref(), gate).await,
            question => {
                let answer = gate.pass(self.host.look_up(question)).await;
                self.journal.note(&Event::LookedUp(question, answer.as_deref()));
                answer
            }
        };
        answer.and_then(fits)
    }

    async fn read_resource(&self, uri: &str, server: Option<&str>, gate: &Gate) -> Answered {
        let found = gate.pass(self.host.find_resource(uri, server)).await;
        self.journal.note(&Event::Located { uri, server, found: &found });
        let server = found?;
        let permitted = self.clock.while_asking(self.host.permit_read(&server, uri)).await;
        permitted.inspect_err(|failure| {
            self.refused(&|refused| refused.fail(&server, READ, failure.kind));
        })?;
        gate.pass(self.read(&server, uri)).await
    }

    /// Reads a resource. The journal can refuse to send the request, and to hand over the contents.
    async fn read(&self, server: &str, uri: &str) -> Answered {
        let call = self.clock.while_asking(self.journal.read(server, uri)).await?;
        let contents = self.host.read_resource(server, uri).instrument(call.span()).await;
        let answer = contents.map(|result| Answer { result, is_error: false, cached: None });
        call.end(&answer).await?;
        answer.map(|answer| answer.result)
    }

    /// Makes a call. The journal can refuse to send it, may ask the user before it leaves, and can refuse to hand over its
    /// answer.
    async fn send(
        &self,
        ToolName { server, tool, .. }: &ToolName,
        arguments: Box<RawValue>,
    ) -> Result<Answer, CallFailure> {
        let mut call = self.clock.while_asking(self.journal.call(server, tool, &arguments)).await?;
        let meta = call.take_meta();
        let answer = self.host.call(server, tool, arguments, meta).instrument(call.span()).await;
        call.end(&answer).await?;
        answer
    }

    async fn carry(
        &self,
        name: &ToolName,
        arguments: Result<Box<RawValue>, strict_json::Error>,
        watched: &ObservedCall<'_>,
        gate: &Gate,
    ) -> (CallRecord, Answered) {
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
            Ok(arguments) => {
                watched.sent();
                gate.pass(self.send(name, arguments)).await
            }
            Err(refused) => Err(refused),
        };
        watched.answered(&answer);
        if let Ok(answer) = &answer {
            self.warn_of_repairs(name, answer);
        }
        if matches!(&answer, Err(failure) if failure.kind.is_refusal()) {
            watched.refused();
        }
        let ms = milliseconds(started);
        let (ok, bytes, cached) = match &answer {
            Ok(Answer { result, is_error, cached }) => (!is_error, result.get().len(), *cached),
            Err(_) => (false, 0, None),
        };
        let cached = cached.map(CachedAnswer::of);
        let record = CallRecord { server: server.clone(), tool: tool.clone(), ok, ms, bytes, cached };
        (record, answer.and_then(|answer| fits(answer.result)))
    }

    /// Warns once of a tool whose answers are not in MCP's form.
    fn warn_of_repairs(&self, name: &ToolName, answer: &Answer) {
        let repairs = off_loop(answer.result.get().len(), || answer.repairs());
        if !repairs.is_empty() {
            let ToolName { server, tool, .. } = name;
            let message =
                format!("the answer of {server}.{tool} was not in MCP's form: {}", repairs.join("; "));
            self.warn(Warning { message, line: None, column: None });
        }
    }

    fn warn(&self, warning: Warning) {
        let warnings = &mut self.ledger().warnings;
        if warnings.len() < WARNINGS_LIMIT && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    fn emit(&self, content: &RawValue) -> Result<(), Violation> {
        let mut ledger = self.ledger();
        ledger.content_bytes += content.get().len();
        if ledger.content_bytes > CONTENT_LIMIT || ledger.content.len() >= PARTS_LIMIT {
            return Err(Violation::Content);
        }
        let content = off_loop(content.get().len(), || presentable_block(content))
            .map_err(|reason| Violation::Protocol(format!("an invalid content block: {reason}")))?;
        ledger.content.push(content);
        Ok(())
    }

    /// Counts a refused call, for the outcome and in the journal, which knows it even if the execution is dropped.
    fn refused(&self, count: &dyn Fn(&mut CallsRefused)) {
        count(&mut self.ledger().refused);
        self.journal.refuse(count);
    }

    fn ledger(&self) -> MutexGuard<'_, ProgramRecord> {
        lock(self.ledger)
    }
}

/// The messages of the program.
struct Incoming {
    frames: FramedRead<Reader, Protocol>,
    /// The reader pauses once after each error.
    paused: bool,
}

impl Incoming {
    /// The next message; `None` at the end.
    ///
    /// A program that ends with unread answers resets the connection. That is a normal end: what it sent before is
    /// still there and is read.
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

/// Number of bytes that a message counts for while in flight.
fn weight(message: &ToHost) -> usize {
    match message {
        ToHost::Call { arguments, .. } => arguments.get().len(),
        ToHost::Ask { question, .. } => question.bytes(),
        _ => 0,
    }
}

/// Maximum number of values in a content block that is read. The blocks of MCP have about twenty, and a value takes up to
/// 24 times the memory of its text.
const BLOCK_VALUES: usize = 10_000;

/// The canonical form of a content block that every client reads.
fn presentable_block(content: &RawValue) -> Result<Box<RawValue>, strict_json::Error> {
    let canonical = strict_json::canonical(content)?;
    if values(canonical.get()) > BLOCK_VALUES {
        let text =
            format!("[a content block as text, because it has more than {BLOCK_VALUES} values] {canonical}");
        let block = serde_json::json!({ "type": "text", "text": text });
        return strict_json::canonical(&RawValue::from_string(block.to_string()).unwrap_or(canonical));
    }
    // What is nested too deeply to read is passed on as it is.
    let Ok(block) = strict_json::value_with_numbers(&canonical) else { return Ok(canonical) };
    let repaired = bridge::presentable(block.clone());
    if repaired == block {
        return Ok(canonical);
    }
    let text = strict_json::with_numbers(&repaired.to_string()).into_owned();
    strict_json::canonical(&RawValue::from_string(text).unwrap_or(canonical))
}

/// The number of values in a JSON text, roughly: its commas and colons outside strings.
fn values(json: &str) -> usize {
    let (mut count, mut in_string, mut escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b':' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

/// The part of an unknown tool's identity that is shown.
fn shown(identity: &str) -> String {
    identity.chars().filter(|c| !c.is_control()).take(IDENTITY_SHOWN).collect()
}

fn refuse(tool: String) -> (CallRecord, Answered) {
    let message = format!("the tool {tool:?} is not among those that this program may call");
    let record = CallRecord { server: String::new(), tool, ok: false, ms: 0.0, bytes: 0, cached: None };
    (record, Err(CallFailure { kind: FailureKind::Denied, message }))
}

/// An answer that fits into a frame, with some room for the envelope.
fn fits(result: Box<RawValue>) -> Result<Box<RawValue>, CallFailure> {
    const ROOM: usize = 1024;
    let length = result.get().len();
    if length + ROOM <= FRAME_LIMIT {
        return Ok(result);
    }
    let message = format!("the answer has {}, over the limit of {}", size(length), size(FRAME_LIMIT));
    Err(CallFailure { kind: FailureKind::Protocol, message })
}

#[cfg(test)]
mod tests;
