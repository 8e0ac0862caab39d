//! Requests on their way to a server that may not read them.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, PoisonError},
};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::watch,
};

/// How many bytes of messages may wait for a server that does not read its input (32 MiB): the largest call of a program.
pub const MAX_QUEUED_BYTES: usize = 32 * 1024 * 1024;

/// How many messages may wait for it: more than calls can be under way, and few beside what answers to a flood of pings
/// would be.
pub const MAX_QUEUED_LINES: usize = 4096;

/// Lines on their way out. Whoever holds the writer writes all that is queued.
pub(super) struct Outbox<W> {
    queue: Mutex<Queue>,
    writer: tokio::sync::Mutex<Option<W>>,
    /// Frees the writer from a write that a server does not take.
    closed: watch::Sender<bool>,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl<W> Outbox<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            queue: Mutex::default(),
            writer: tokio::sync::Mutex::new(Some(writer)),
            closed: watch::Sender::new(false),
        }
    }

    /// Closes the stream, even if a write to it is under way.
    pub(super) async fn close(&self) {
        self.closed.send_replace(true);
        drop(self.writer.lock().await.take());
    }

    /// Appends a line. Fails with [`io::ErrorKind::QuotaExceeded`] if too much is waiting.
    pub(super) fn push(&self, line: Vec<u8>) -> io::Result<()> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.bytes + line.len() > MAX_QUEUED_BYTES || queue.lines.len() >= MAX_QUEUED_LINES {
            return Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                format!(
                    "more than {MAX_QUEUED_BYTES} bytes or {MAX_QUEUED_LINES} messages wait to be read by it"
                ),
            ));
        }
        queue.bytes += line.len();
        queue.lines.push_back(line);
        Ok(())
    }

    fn pop(&self) -> Option<Vec<u8>> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let line = queue.lines.pop_front()?;
        queue.bytes -= line.len();
        Some(line)
    }
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    /// Writes what is queued, in order.
    pub(super) async fn flush(&self) -> io::Result<()> {
        let mut slot = self.writer.lock().await;
        let Some(writer) = slot.as_mut() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut closed = self.closed.subscribe();
        while let Some(line) = self.pop() {
            let written = tokio::select! {
                biased;
                written = writer.write_all(&line) => written,
                _ = closed.wait_for(|closed| *closed) => Err(io::ErrorKind::BrokenPipe.into()),
            };
            if let Err(error) = written {
                // A line may be half written: nothing sensible can follow.
                *slot = None;
                return Err(error);
            }
        }
        writer.flush().await
    }
}
