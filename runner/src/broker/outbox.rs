//! Writes the host's messages to a program at the program's pace, concurrently with everything else.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::time::Duration;

use bridge::frame::{REPLY_END, reply_head};
use bridge::wire::{FRAME_LIMIT, ToProgram};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use super::in_flight::{FinishedCall, Gate};
use super::socket::Writer;

/// Time limit for a program to read one answer. Its bridge reads at once, on its own thread, whatever the program does;
/// only a program written to stall its host does not.
const READING_TIME: Duration = Duration::from_secs(60);

/// An answer that a program did not read in that time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it left an answer unread for {} s and was stopped", READING_TIME.as_secs())]
pub(crate) struct Unread;

/// Size from which frames are written at once, in bytes (64 KiB): smaller ones wait for those that are ready with them.
const BATCH_BYTES: usize = 64 * 1024;

/// Limit on the frames of one write: of three parts each, they are far below the 1 024 parts that Linux takes at once.
const FRAMES_AT_ONCE: usize = 64;

/// Frames for the program, in order. While some can't be written, the gate is closed, so there are at most
/// [`BATCH_BYTES`] and one answer from a server.
pub(super) struct Outbox<'a> {
    writer: Writer,
    frames: VecDeque<Frame>,
    /// The bytes of frames that were added since the last write.
    fresh: usize,
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
        Frame::with(reply_head(id).into_bytes(), Some(result))
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

    fn parts(&self) -> [&[u8]; 3] {
        let result = self.result.as_ref().map(|result| result.get().as_bytes());
        [
            self.head.as_slice(),
            result.unwrap_or_default(),
            if result.is_some() { REPLY_END.as_bytes() } else { &[] },
        ]
    }

    fn length(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }

    /// The parts that are not yet written.
    fn rest(&self) -> impl Iterator<Item = IoSlice<'_>> {
        let mut written = self.written;
        self.parts().into_iter().filter_map(move |part| {
            let rest = part.get(written..).filter(|rest| !rest.is_empty());
            written = written.saturating_sub(part.len());
            rest.map(IoSlice::new)
        })
    }
}

impl<'a> Outbox<'a> {
    pub(super) fn new(writer: Writer, gate: &'a Gate) -> Self {
        Outbox { writer, frames: VecDeque::new(), fresh: 0, since: Instant::now(), is_gone: false, gate }
    }

    /// The number of frames not yet read by the program.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Adds a message; [`Outbox::flush`] writes it.
    pub(super) fn send(&mut self, message: &ToProgram) {
        self.push(Frame::of(message));
    }

    /// Sends the answer of a call, unless it was cancelled.
    pub(super) fn answer(&mut self, FinishedCall { id, answer, .. }: FinishedCall) {
        match answer {
            Some(Ok(result)) => self.push(Frame::reply(id, result)),
            Some(Err(failure)) => self.send(&ToProgram::Failure { id, failure }),
            None => {}
        }
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
        self.fresh += frame.length();
        self.frames.push_back(frame);
        if self.fresh >= BATCH_BYTES {
            self.write_on();
        }
    }

    /// Writes what was added, as much as possible without waiting.
    pub(super) fn flush(&mut self) {
        if self.fresh > 0 {
            self.write_on();
        }
    }

    /// Writes as much as possible without waiting.
    fn write_on(&mut self) {
        self.fresh = 0;
        while !self.frames.is_empty() {
            let parts: Vec<IoSlice<'_>> =
                self.frames.iter().take(FRAMES_AT_ONCE).flat_map(Frame::rest).collect();
            match self.writer.try_write(&parts) {
                Ok(count) => self.remove(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The program has ended; what it sent before is still to be read.
                Err(_) => {
                    self.is_gone = true;
                    self.frames.clear();
                }
            }
        }
        let waits = !self.frames.is_empty();
        if !waits {
            self.writer.forget_room();
        }
        self.gate.set_closed(waits);
    }

    /// Removes the frames of which all bytes were written, after `count` more.
    fn remove(&mut self, mut count: usize) {
        while let Some(frame) = self.frames.front_mut() {
            let rest = frame.length() - frame.written;
            if count < rest {
                frame.written += count;
                break;
            }
            count -= rest;
            self.frames.pop_front();
            self.since = Instant::now();
        }
    }

    /// Returns when something was written. Without a frame it waits forever. Cancel-safe.
    pub(super) async fn written(&mut self) -> Result<(), Unread> {
        if self.frames.is_empty() {
            return std::future::pending().await;
        }
        let writable = timeout_at(self.since + READING_TIME, self.writer.writable()).await;
        writable.map_err(|_| Unread)?;
        self.write_on();
        Ok(())
    }
}
