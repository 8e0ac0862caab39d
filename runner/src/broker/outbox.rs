//! Writes the host's messages to a program at the program's pace, concurrently with everything else.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bridge::wire::{FRAME_LIMIT, ToProgram};
use serde_json::value::RawValue;
use tokio::net::unix::OwnedWriteHalf;
use tokio::time::{Instant, timeout_at};

use super::in_flight::Gate;

/// Time limit for a program to read one answer. Its bridge reads at once, on its own thread, whatever the program does;
/// only a program written to stall its host does not.
const READING_TIME: Duration = Duration::from_secs(60);

/// An answer that a program did not read in that time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it left an answer unread for {} s and was stopped", READING_TIME.as_secs())]
pub(crate) struct Unread;

/// The end of a reply, after the result.
const REPLY_END: &[u8] = b"}}";

/// Frames for the program, in order. While there are any, the gate is closed, so there is at most one answer from a
/// server.
pub(super) struct Outbox<'a> {
    writer: OwnedWriteHalf,
    frames: VecDeque<Frame>,
    /// When the first frame became the first.
    since: Instant,
    /// The program accepts no more.
    is_gone: bool,
    gate: &'a Gate,
}

/// A frame, and the number of bytes already written.
struct Frame {
    head: Vec<u8>,
    /// The result of a reply, not copied because it may be large.
    result: Option<Box<RawValue>>,
    written: usize,
}

impl Frame {
    fn of(message: &ToProgram) -> io::Result<Self> {
        Frame::with(serde_json::to_vec(message)?, None)
    }

    /// A frame for [`ToProgram::Reply`].
    fn reply(id: u64, result: Box<RawValue>) -> io::Result<Self> {
        let head = format!("{{\"reply\":{{\"id\":{id},\"result\":");
        Frame::with(head.into_bytes(), Some(result))
    }

    fn with(text: Vec<u8>, result: Option<Box<RawValue>>) -> io::Result<Self> {
        let more = result.as_ref().map_or(0, |result| result.get().len() + REPLY_END.len());
        let length = text.len() + more;
        if length > FRAME_LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut head = u32::try_from(length).map_err(io::Error::other)?.to_be_bytes().to_vec();
        head.extend(text);
        Ok(Frame { head, result, written: 0 })
    }

    /// The next bytes to write; empty if all are written.
    fn rest(&self) -> &[u8] {
        let result = self.result.as_ref().map(|result| result.get().as_bytes());
        let end = if result.is_some() { REPLY_END } else { &[] };
        let mut at = self.written;
        for part in [self.head.as_slice(), result.unwrap_or_default(), end] {
            if let Some(rest) = part.get(at..).filter(|rest| !rest.is_empty()) {
                return rest;
            }
            at -= part.len();
        }
        &[]
    }
}

impl<'a> Outbox<'a> {
    pub(super) fn new(writer: OwnedWriteHalf, gate: &'a Gate) -> Self {
        Outbox { writer, frames: VecDeque::new(), since: Instant::now(), is_gone: false, gate }
    }

    /// The number of frames not yet read by the program.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn send(&mut self, message: &ToProgram) {
        self.push(Frame::of(message));
    }

    /// Sends [`ToProgram::Reply`].
    pub(super) fn reply(&mut self, id: u64, result: Box<RawValue>) {
        self.push(Frame::reply(id, result));
    }

    fn push(&mut self, frame: io::Result<Frame>) {
        // Answers were checked to fit, and the host's own messages are short.
        let Ok(frame) = frame else { return };
        if self.is_gone {
            return;
        }
        if self.frames.is_empty() {
            self.since = Instant::now();
        }
        self.frames.push_back(frame);
        self.write_on();
    }

    /// Writes as much as possible without waiting.
    fn write_on(&mut self) {
        while let Some(frame) = self.frames.front_mut() {
            match self.writer.try_write(frame.rest()) {
                Ok(count) => {
                    frame.written += count;
                    if frame.rest().is_empty() {
                        self.frames.pop_front();
                        self.since = Instant::now();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The program has ended; what it sent before is still to be read.
                Err(_) => {
                    self.is_gone = true;
                    self.frames.clear();
                }
            }
        }
        self.gate.set_closed(!self.frames.is_empty());
    }

    /// Returns when something was written. Without a frame it waits forever. Cancel-safe.
    pub(super) async fn written(&mut self) -> Result<(), Unread> {
        if self.frames.is_empty() {
            return std::future::pending().await;
        }
        let writable = timeout_at(self.since + READING_TIME, self.writer.writable()).await;
        // The write itself reports an unwritable socket.
        let _ = writable.map_err(|_| Unread)?;
        self.write_on();
        Ok(())
    }
}
