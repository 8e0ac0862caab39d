//! The host's end of the broker: reads a program's frames, checks each call, carries it, answers.
//!
//! What a program may call is decided here and nowhere else; its stubs are only convenience.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bridge::wire::{CallFailure, FRAME_LIMIT, FailureKind, Finish, ToHost, ToProgram, VERSION, Welcome};
use bytes::BytesMut;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::{FuturesUnordered, SplitStream, StreamExt};
use futures::{FutureExt, SinkExt};
use serde_json::value::RawValue;
use tokio::net::UnixStream;
use tokio_util::codec::{Framed, LengthDelimitedCodec};

use crate::catalog::ToolName;
use crate::host::{Answer, ToolHost};
use crate::observer::Observer;
use crate::outcome::CallRecord;

/// Calls in flight beyond which the program's frames are left waiting.
pub const CALLS_IN_FLIGHT: usize = 256;
/// Bytes of arguments in flight beyond which the program's frames are left waiting (64 MiB).
pub const BYTES_IN_FLIGHT: usize = 64 << 20;
/// Calls that an outcome names one by one; the rest is only counted.
pub const CALLS_KEPT: usize = 1000;
/// Bytes of content parts that a program may emit (16 MiB).
pub const CONTENT_LIMIT: usize = 16 << 20;
/// Content parts that a program may emit.
pub const PARTS_LIMIT: usize = 10_000;

/// What a program has done so far; outlives a broker that is dropped in the middle.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) calls_total: u64,
    pub(crate) content: Vec<Box<RawValue>>,
    content_bytes: usize,
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
    pub(crate) observer: &'a dyn Observer,
    pub(crate) ledger: &'a Mutex<Ledger>,
}

type Frames = Framed<UnixStream, LengthDelimitedCodec>;
type Running<'a> = FuturesUnordered<Abortable<BoxFuture<'a, Completed>>>;

/// A call that has come to its end.
struct Completed {
    id: u64,
    record: CallRecord,
    answer: Result<Box<RawValue>, CallFailure>,
}

/// The calls in flight.
#[derive(Default)]
struct Flight<'a> {
    running: Running<'a>,
    /// What ends a call early, and the bytes of its arguments.
    handles: HashMap<u64, (AbortHandle, usize)>,
    bytes: usize,
    next_id: u64,
}

impl Flight<'_> {
    fn has_room(&self) -> bool {
        self.running.len() < CALLS_IN_FLIGHT && self.bytes < BYTES_IN_FLIGHT
    }

    /// Takes a call out, if it is in flight.
    fn remove(&mut self, id: u64) -> Option<AbortHandle> {
        let (handle, bytes) = self.handles.remove(&id)?;
        self.bytes -= bytes;
        Some(handle)
    }
}

impl Broker<'_> {
    /// Serves the program until it closes its end.
    pub(crate) async fn serve(&self, stream: UnixStream) -> Result<(), Violation> {
        let codec = LengthDelimitedCodec::builder().max_frame_length(FRAME_LIMIT).new_codec();
        let mut frames: Frames = Framed::new(stream, codec);
        let welcome = Welcome { version: VERSION, token: self.token.clone(), args: self.args.clone() };
        // A program that ended before it was welcomed says by its end what there is to say.
        let _ = send(&mut frames, &ToProgram::Welcome(welcome)).await;
        let (mut sink, stream) = frames.split();
        let mut incoming = Incoming { stream, paused: false };
        match incoming.next().await? {
            None => return Ok(()),
            Some(frame) => self.check_hello(&frame)?,
        }
        let mut flight = Flight::default();
        loop {
            tokio::select! {
                frame = incoming.next(), if flight.has_room() => match frame? {
                    None => return Ok(()),
                    Some(frame) => self.handle(decode(&frame)?, &mut flight)?,
                },
                Some(completed) = flight.running.next(), if !flight.running.is_empty() => {
                    if let Ok(completed) = completed {
                        let reply = self.complete(completed, &mut flight);
                        // A program that takes no answers has ended; what it sent before is still to be read.
                        let _ = send(&mut sink, &reply).await;
                    }
                }
            }
        }
    }

    fn check_hello(&self, frame: &[u8]) -> Result<(), Violation> {
        match decode(frame)? {
            ToHost::Hello { version: VERSION, token } if token == self.token => Ok(()),
            ToHost::Hello { version, .. } if version != VERSION => {
                Err(Violation::Protocol(format!("it speaks version {version}, not {VERSION}")))
            }
            _ => Err(Violation::Protocol("its first frame is not the hello of this execution".to_owned())),
        }
    }

    fn handle<'a>(&'a self, message: ToHost, flight: &mut Flight<'a>) -> Result<(), Violation> {
        match message {
            ToHost::Hello { .. } => return Err(Violation::Protocol("a second hello".to_owned())),
            ToHost::Call { id, tool, arguments } => {
                // A number may be left out: a call that was too large to send has taken one.
                let next = flight.next_id;
                flight.next_id = match id.checked_add(1) {
                    Some(after) if id >= next => after,
                    _ => return Err(Violation::Protocol(format!("call {id} where {next} was next"))),
                };
                let bytes = arguments.get().len();
                let (abort, registration) = AbortHandle::new_pair();
                flight.handles.insert(id, (abort, bytes));
                flight.bytes += bytes;
                flight.running.push(Abortable::new(self.call(id, &tool, arguments), registration));
            }
            ToHost::Cancel { id } => {
                if let Some(handle) = flight.remove(id) {
                    handle.abort();
                }
            }
            ToHost::Emit { content } => self.emit(content)?,
            ToHost::Progress { done, total, message } => {
                self.observer.program_progress(done, total, &message);
            }
            ToHost::Finish(finish) => {
                let mut ledger = self.ledger();
                if ledger.finish.is_some() {
                    return Err(Violation::Protocol("a second end".to_owned()));
                }
                ledger.finish = Some(finish);
            }
        }
        Ok(())
    }

    fn call<'a>(&'a self, id: u64, tool: &str, arguments: Box<RawValue>) -> BoxFuture<'a, Completed> {
        self.ledger().calls_total += 1;
        match self.allowed.get(tool) {
            Some(name) => self.carry(id, name, arguments).boxed(),
            None => std::future::ready(self.refuse(id, tool)).boxed(),
        }
    }

    async fn carry(&self, id: u64, name: &ToolName, arguments: Box<RawValue>) -> Completed {
        let started = Instant::now();
        let answer = self.host.call(&name.server, &name.tool, arguments).await;
        let ms = milliseconds(started);
        let (ok, bytes) = match &answer {
            Ok(Answer { result, is_error }) => (!is_error, result.get().len()),
            Err(_) => (false, 0),
        };
        let record = CallRecord { server: name.server.clone(), tool: name.tool.clone(), ok, ms, bytes };
        let answer = answer.and_then(|answer| fits(answer.result));
        Completed { id, record, answer }
    }

    fn refuse(&self, id: u64, tool: &str) -> Completed {
        let tool: String = tool.chars().filter(|c| !c.is_control()).take(64).collect();
        let message = format!("the tool {tool:?} is not among those that this program may call");
        let record = CallRecord { server: String::new(), tool, ok: false, ms: 0.0, bytes: 0 };
        Completed { id, record, answer: Err(CallFailure { kind: FailureKind::Denied, message }) }
    }

    fn complete(&self, completed: Completed, flight: &mut Flight<'_>) -> ToProgram {
        let Completed { id, record, answer } = completed;
        flight.remove(id);
        let mut ledger = self.ledger();
        if ledger.calls.len() < CALLS_KEPT {
            ledger.calls.push(record);
        }
        match answer {
            Ok(result) => ToProgram::Reply { id, result },
            Err(failure) => ToProgram::Failure { id, failure },
        }
    }

    fn emit(&self, content: Box<RawValue>) -> Result<(), Violation> {
        // Read as what it must be, which also bounds how deep it nests.
        if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(content.get()).is_err() {
            return Err(Violation::Protocol("a content part that is no object".to_owned()));
        }
        let mut ledger = self.ledger();
        ledger.content_bytes += content.get().len();
        if ledger.content_bytes > CONTENT_LIMIT || ledger.content.len() >= PARTS_LIMIT {
            return Err(Violation::Content);
        }
        ledger.content.push(content);
        Ok(())
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(self.ledger)
    }
}

/// The program's frames.
struct Incoming {
    stream: SplitStream<Frames>,
    /// The reader pauses once after each error.
    paused: bool,
}

impl Incoming {
    /// The next frame; `None` at the end.
    ///
    /// A program that ends with answers unread resets the connection. That is its end, not a breach: what it sent
    /// before is still there, and is read on.
    async fn next(&mut self) -> Result<Option<BytesMut>, Violation> {
        loop {
            match self.stream.next().await {
                Some(Ok(frame)) => return Ok(Some(frame)),
                Some(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(Violation::Protocol(error.to_string()));
                }
                Some(Err(_)) => self.paused = true,
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

async fn send<S>(sink: &mut S, message: &ToProgram) -> io::Result<()>
where
    S: futures::Sink<bytes::Bytes, Error = io::Error> + Unpin,
{
    sink.send(serde_json::to_vec(message)?.into()).await
}

fn decode(frame: &[u8]) -> Result<ToHost, Violation> {
    serde_json::from_slice(frame)
        .map_err(|error| Violation::Protocol(format!("a frame that is no message: {error}")))
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
    (since.elapsed().as_secs_f64() * 1e6).round() / 1e3
}
