//! The program's end of the broker: one socket, one reader thread, any number of calls in flight.
//!
//! Answers arrive on their own thread, so calls work under any executor and from any thread. Queued calls and
//! cancellations are also sent by their own thread, so that they do not block an executor.

mod queue;
mod reader;

use std::fmt;
use std::io::{self, BufReader, Write as _};
use std::mem::ManuallyDrop;
use std::net::Shutdown;
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use serde_json::{Map, Value};

use crate::frame::{
    frame_call, frame_message, has_frame, read_frame, read_frame_into, read_reply, write_frame,
};
use crate::wire::{
    BROKER_DESCRIPTOR, CallFailure, FailureKind, Question, ToHost, ToProgram, VERSION, Welcome,
};
use queue::{Answer, Calls, Next, unavailable};
use reader::Reader;

static CONNECTION: OnceLock<Connection> = OnceLock::new();

/// Stack size of these threads, in bytes.
const STACK: usize = 256 * 1024;

/// Size of one read from the host, and capacity to which buffers shrink after a large frame, in bytes (64 KiB).
const BUFFER: usize = 64 * 1024;

/// Lock order: `writer` first, then `calls`.
struct Connection {
    writer: Mutex<Writer>,
    calls: Mutex<Calls>,
    /// Notified when no more answers will arrive.
    ended: Condvar,
    /// Notified when there may be something to send.
    queued: Condvar,
    sender: OnceLock<bool>,
}

/// The stream to the host, with a buffer for the frame of a call: without one, musl's allocator would map and unmap
/// memory for each.
struct Writer {
    stream: UnixStream,
    frame: Vec<u8>,
}

/// Connects, sends the hello and starts the reader thread.
pub(crate) fn connect() -> io::Result<Welcome> {
    // SAFETY: the host starts programs with the broker's socket on this descriptor, and nothing else in the program
    // owns it.
    let stream = unsafe { UnixStream::from_raw_fd(BROKER_DESCRIPTOR) };
    // If the program was not started by its host, this descriptor must not be closed.
    let mut stream = ManuallyDrop::new(stream);
    let frame = read_frame(&mut *stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut stream = ManuallyDrop::into_inner(stream);
    let ToProgram::Welcome(welcome) = serde_json::from_slice(&frame)? else {
        return Err(io::Error::other("the host's first frame is not a welcome"));
    };
    let hello = ToHost::Hello { version: VERSION, token: welcome.token.clone() };
    write_frame(&mut stream, &hello)?;
    let reader = Reader(stream.try_clone()?);
    if CONNECTION.set(Connection::new(stream)).is_err() {
        return Err(io::Error::other("the program is connected already"));
    }
    keep_map_node();
    let connection = connection()?;
    thread("broker", move || connection.read(reader))?;
    Ok(welcome)
}

/// Sends a message without an answer.
pub(crate) fn send(message: &ToHost) -> io::Result<()> {
    write_frame(&mut lock(&connection()?.writer).stream, message)
}

/// The same for a message that a snippet does not depend on.
pub(crate) fn report(message: &ToHost) {
    if let Err(error) = send(message) {
        eprintln!("the host did not accept a message: {error}");
    }
}

/// Sends the last message, and waits until the host has read everything and closed the connection.
pub(crate) fn finish(message: &ToHost) -> io::Result<()> {
    let connection = connection()?;
    let mut writer = lock(&connection.writer);
    write_frame(&mut writer.stream, message)?;
    writer.stream.shutdown(Shutdown::Write)?;
    drop(writer);
    // Reads the remaining answers, although no one waits for them: closing earlier would reset the connection.
    let mut calls = lock(&connection.calls);
    while calls.end().is_none() {
        calls = connection.ended.wait(calls).unwrap_or_else(PoisonError::into_inner);
    }
    Ok(())
}

fn connection() -> io::Result<&'static Connection> {
    CONNECTION.get().ok_or_else(|| io::Error::other("the program was not started by its host"))
}

/// Keeps a node of a JSON object allocated. Otherwise musl's allocator maps a page for the only one and unmaps it
/// afterwards, for the arguments of each call.
fn keep_map_node() {
    std::mem::forget(Map::from_iter([(String::new(), Value::Null)]));
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work).map(drop)
}

impl Connection {
    fn new(stream: UnixStream) -> Self {
        Connection {
            writer: Mutex::new(Writer { stream, frame: Vec::new() }),
            calls: Mutex::default(),
            ended: Condvar::new(),
            queued: Condvar::new(),
            sender: OnceLock::new(),
        }
    }

    /// Sends a call or question with the next number: at once if there is room, otherwise later. `encode` appends its
    /// frame, and returns its size in flight in bytes.
    fn make(
        &'static self,
        encode: impl FnOnce(u64, &mut Vec<u8>) -> io::Result<usize>,
    ) -> Result<Ticket, CallFailure> {
        let mut writer = lock(&self.writer);
        let Writer { stream, frame } = &mut *writer;
        frame.clear();
        frame.shrink_to(BUFFER);
        let id = lock(&self.calls).number()?;
        let bytes = encode(id, frame).map_err(|error| protocol(&error))?;
        let is_sent = lock(&self.calls).add(id, bytes, frame);
        if is_sent {
            if let Err(error) = stream.write_all(frame) {
                lock(&self.calls).forget(id);
                return Err(protocol(&error));
            }
        } else {
            drop(writer);
            self.wake_sender();
        }
        Ok(self.ticket(id))
    }

    fn ticket(&'static self, id: u64) -> Ticket {
        Ticket { id, connection: self, answered: false }
    }

    /// Makes the sender thread send what is queued.
    fn wake_sender(&'static self) {
        let has_thread = self.sender.get_or_init(|| thread("sender", move || self.send_queued(true)).is_ok());
        if *has_thread {
            self.queued.notify_one();
        } else {
            // No thread could be started, so this one sends.
            self.send_queued(false);
        }
    }

    /// Sends what is queued; then waits for more if `waits`.
    fn send_queued(&self, waits: bool) {
        loop {
            {
                let mut calls = lock(&self.calls);
                while !calls.has_next() {
                    if !waits || calls.end().is_some() {
                        return;
                    }
                    calls = self.queued.wait(calls).unwrap_or_else(PoisonError::into_inner);
                }
            }
            let mut writer = lock(&self.writer);
            // In order of their numbers: later calls wait for the writer.
            let Some(next) = lock(&self.calls).next() else { continue };
            match next {
                Next::Call(id, frame) => {
                    if let Err(error) = writer.stream.write_all(&frame) {
                        let waker = lock(&self.calls).answer(id, Err(protocol(&error)));
                        // Waking may run the task, which may make a call.
                        drop(writer);
                        waker.into_iter().for_each(Waker::wake);
                    }
                }
                Next::Cancel(id, bytes) => {
                    // If the host is gone, there is nothing to cancel.
                    let _ = write_frame(&mut writer.stream, &ToHost::Cancel { id });
                    lock(&self.calls).give_back(bytes);
                }
            }
        }
    }

    /// Reads answers until no more arrive.
    fn read(&'static self, reader: Reader) {
        let mut stream = BufReader::with_capacity(BUFFER, reader);
        let (mut frame, mut wakers) = (Vec::new(), Vec::new());
        let reason = loop {
            match read_frame_into(&mut stream, &mut frame) {
                Ok(true) => match self.deliver(&frame) {
                    Ok(waker) => wakers.extend(waker),
                    Err(error) => break format!("the host sent a frame that can't be read: {error}"),
                },
                Ok(false) => break "the host has closed the connection".to_owned(),
                Err(error) => break format!("the connection to the host broke: {error}"),
            }
            frame.shrink_to(BUFFER);
            // Answers that arrived together wake their tasks together.
            if !has_frame(stream.buffer()) {
                self.woken(&mut wakers);
            }
        };
        wakers.extend(lock(&self.calls).set_end(reason));
        self.ended.notify_all();
        self.queued.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Wakes the tasks of answered calls, and the sender if there is room for queued ones.
    fn woken(&'static self, wakers: &mut Vec<Waker>) {
        if lock(&self.calls).has_next() {
            self.wake_sender();
        }
        wakers.drain(..).for_each(Waker::wake);
    }

    /// Stores an answer; returns the waker of the task that waits for it.
    fn deliver(&'static self, frame: &[u8]) -> io::Result<Option<Waker>> {
        let reply = std::str::from_utf8(frame).ok().and_then(read_reply);
        let (id, answer) = match reply {
            Some((id, result)) => (id, Ok(result.to_owned())),
            None => match serde_json::from_slice(frame)? {
                ToProgram::Welcome(_) => return Err(io::Error::other("a second welcome")),
                ToProgram::Reply { id, result } => (id, Ok(String::from(Box::<str>::from(result)))),
                ToProgram::Failure { id, failure } => (id, Err(failure)),
            },
        };
        Ok(lock(&self.calls).answer(id, answer))
    }
}

/// A pending call.
pub(crate) struct Ticket {
    id: u64,
    connection: &'static Connection,
    answered: bool,
}

impl Ticket {
    /// Calls the tool whose identity is `mark`.
    pub(crate) fn send(mark: &[u8], arguments: &Value) -> Result<Ticket, CallFailure> {
        let connection = connection().map_err(|error| unavailable(&error.to_string()))?;
        connection.make(|id, frame| frame_call(frame, id, &String::from_utf8_lossy(mark), arguments))
    }

    /// Sends a question to the host.
    pub(crate) fn ask(question: &Question) -> Result<Ticket, CallFailure> {
        let connection = connection().map_err(|error| unavailable(&error.to_string()))?;
        connection.make(|id, frame| {
            frame_message(frame, &ToHost::Ask { id, question: question.clone() })?;
            Ok(question.bytes())
        })
    }

    /// The answer, if it has arrived.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Answer> {
        let polled = lock(&self.connection.calls).poll(self.id, context);
        self.answered = polled.is_ready();
        polled
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // The socket may be full, and dropping a call must not block.
        if !self.answered && lock(&self.connection.calls).cancel(self.id) {
            self.connection.wake_sender();
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Ticket({})", self.id)
    }
}

fn protocol(error: &dyn fmt::Display) -> CallFailure {
    CallFailure { kind: FailureKind::Protocol, message: format!("the call was not sent: {error}") }
}

/// A panic while a lock is held leaves no inconsistent state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
