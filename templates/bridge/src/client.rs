//! The program's end of the broker: one socket, one reading thread, any number of calls in flight.
//!
//! Answers arrive on a thread of their own, so calls work under any executor and from any thread.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::mem::ManuallyDrop;
use std::net::Shutdown;
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::{
    BROKER_DESCRIPTOR, CallFailure, FailureKind, Question, ToHost, ToProgram, VERSION, Welcome, read_frame,
    write_frame,
};

static CONNECTION: OnceLock<Connection> = OnceLock::new();

type Answer = Result<Box<RawValue>, CallFailure>;

struct Connection {
    writer: Mutex<Writer>,
    calls: Mutex<Calls>,
    /// Signalled when no more answers will come.
    ended: Condvar,
}

struct Writer {
    stream: UnixStream,
    next_id: u64,
}

#[derive(Default)]
struct Calls {
    slots: HashMap<u64, Slot>,
    /// Why no more answers will come.
    ended: Option<String>,
}

enum Slot {
    Waiting(Option<Waker>),
    Answered(Answer),
}

/// Connects, says hello and starts the reading thread.
pub(crate) fn connect() -> io::Result<Welcome> {
    // SAFETY: the host starts programs with the broker's socket on this descriptor, and nothing else in
    // the program takes it.
    let stream = unsafe { UnixStream::from_raw_fd(BROKER_DESCRIPTOR) };
    // Started by somebody else, the descriptor is nothing that could be closed.
    let mut stream = ManuallyDrop::new(stream);
    let frame = read_frame(&mut *stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut stream = ManuallyDrop::into_inner(stream);
    let ToProgram::Welcome(welcome) = serde_json::from_slice(&frame)? else {
        return Err(io::Error::other("the host's first frame is not a welcome"));
    };
    let hello = ToHost::Hello { version: VERSION, token: welcome.token.clone() };
    write_frame(&mut stream, &hello)?;
    let reader = stream.try_clone()?;
    let connection = Connection {
        writer: Mutex::new(Writer { stream, next_id: 0 }),
        calls: Mutex::default(),
        ended: Condvar::new(),
    };
    if CONNECTION.set(connection).is_err() {
        return Err(io::Error::other("the program is connected already"));
    }
    std::thread::Builder::new()
        .name("broker".to_owned())
        .stack_size(256 * 1024)
        .spawn(move || read_answers(reader))?;
    Ok(welcome)
}

/// Sends a frame that has no answer.
pub(crate) fn send(message: &ToHost) -> io::Result<()> {
    let connection = connection()?;
    write_frame(&mut lock(&connection.writer).stream, message)
}

/// Says that nothing more will be sent, and waits until the host has taken everything and hung up.
pub(crate) fn finish(message: &ToHost) -> io::Result<()> {
    let connection = connection()?;
    let mut writer = lock(&connection.writer);
    write_frame(&mut writer.stream, message)?;
    writer.stream.shutdown(Shutdown::Write)?;
    drop(writer);
    // Answers that nobody waits for any more: closing before they are read would reset the connection.
    let mut calls = lock(&connection.calls);
    while calls.ended.is_none() {
        calls = connection.ended.wait(calls).unwrap_or_else(PoisonError::into_inner);
    }
    Ok(())
}

fn connection() -> io::Result<&'static Connection> {
    CONNECTION.get().ok_or_else(|| io::Error::other("the program was not started by its host"))
}

/// A sent call.
pub(crate) struct Ticket {
    id: u64,
    connection: &'static Connection,
    answered: bool,
}

impl Ticket {
    /// Sends a call to the tool whose identity is `mark`.
    pub(crate) fn send(mark: &[u8], arguments: &Value) -> Result<Ticket, CallFailure> {
        let arguments = serde_json::value::to_raw_value(arguments).map_err(|error| protocol(&error))?;
        let tool = String::from_utf8_lossy(mark).into_owned();
        Ticket::number(|id| ToHost::Call { id, tool, arguments })
    }

    /// Asks the host something.
    pub(crate) fn ask(question: &Question) -> Result<Ticket, CallFailure> {
        Ticket::number(|id| ToHost::Ask { id, question: question.clone() })
    }

    /// Sends a message that has an answer under the next number.
    fn number(message: impl FnOnce(u64) -> ToHost) -> Result<Ticket, CallFailure> {
        let connection = connection().map_err(|error| unavailable(&error.to_string()))?;
        let mut writer = lock(&connection.writer);
        let id = writer.next_id;
        writer.next_id += 1;
        let mut calls = lock(&connection.calls);
        if let Some(reason) = &calls.ended {
            return Err(unavailable(reason));
        }
        calls.slots.insert(id, Slot::Waiting(None));
        drop(calls);
        match write_frame(&mut writer.stream, &message(id)) {
            Ok(()) => Ok(Ticket { id, connection, answered: false }),
            Err(error) => {
                lock(&connection.calls).slots.remove(&id);
                Err(protocol(&error))
            }
        }
    }

    /// The answer, once it is there.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Answer> {
        let mut calls = lock(&self.connection.calls);
        match calls.slots.remove(&self.id) {
            Some(Slot::Answered(answer)) => {
                self.answered = true;
                Poll::Ready(answer)
            }
            Some(Slot::Waiting(_)) if calls.ended.is_none() => {
                let waker = context.waker().clone();
                calls.slots.insert(self.id, Slot::Waiting(Some(waker)));
                Poll::Pending
            }
            _ => {
                self.answered = true;
                let reason = calls.ended.as_deref().unwrap_or("the call was given up");
                Poll::Ready(Err(unavailable(reason)))
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let slot = lock(&self.connection.calls).slots.remove(&self.id);
        if let Some(Slot::Waiting(_)) = slot {
            // A host that is gone needs no cancellation.
            let _ = send(&ToHost::Cancel { id: self.id });
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Ticket({})", self.id)
    }
}

fn read_answers(mut stream: UnixStream) {
    let reason = loop {
        match read_frame(&mut stream) {
            Ok(Some(frame)) => {
                if let Err(error) = deliver(&frame) {
                    break format!("the host sent a frame that is not understood: {error}");
                }
            }
            Ok(None) => break "the host has closed the connection".to_owned(),
            Err(error) => break format!("the connection to the host broke: {error}"),
        }
    };
    let Some(connection) = CONNECTION.get() else { return };
    let mut calls = lock(&connection.calls);
    calls.ended = Some(reason);
    connection.ended.notify_all();
    let slots: Vec<Slot> = calls.slots.drain().map(|(_, slot)| slot).collect();
    drop(calls);
    for slot in slots {
        if let Slot::Waiting(Some(waker)) = slot {
            waker.wake();
        }
    }
}

fn deliver(frame: &[u8]) -> io::Result<()> {
    let (id, answer) = match serde_json::from_slice(frame)? {
        ToProgram::Welcome(_) => return Err(io::Error::other("a second welcome")),
        ToProgram::Reply { id, result } => (id, Ok(result)),
        ToProgram::Failure { id, failure } => (id, Err(failure)),
    };
    let mut calls = lock(&connection()?.calls);
    // An unknown number is a call that was cancelled while its answer was under way.
    if let Some(slot) = calls.slots.get_mut(&id)
        && let Slot::Waiting(Some(waker)) = std::mem::replace(slot, Slot::Answered(answer))
    {
        drop(calls);
        waker.wake();
    }
    Ok(())
}

fn unavailable(reason: &str) -> CallFailure {
    CallFailure { kind: FailureKind::Unavailable, message: reason.to_owned() }
}

fn protocol(error: &dyn fmt::Display) -> CallFailure {
    CallFailure { kind: FailureKind::Protocol, message: format!("the call was not sent: {error}") }
}

/// A panic while a lock is held leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
