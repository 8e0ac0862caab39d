//! The queue of messages to a server that may not read them.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, PoisonError},
};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::watch,
};

/// Limit on messages that wait for a server that does not read its input, in bytes (32 MiB): the largest call of a
/// program.
pub const MAX_QUEUED_BYTES: usize = 32 * 1024 * 1024;

/// Limit on the number of these messages: more than there can be pending calls, but few compared with the responses to
/// a flood of pings.
pub const MAX_QUEUED_LINES: usize = 4096;

/// The queue of outgoing lines. The task that holds the writer writes the whole queue.
pub(super) struct Outbox<W> {
    queue: Mutex<Queue>,
    writer: tokio::sync::Mutex<Option<W>>,
    /// Cancels a blocked write.
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

    /// Closes the stream, even during a write.
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
                    "more than {MAX_QUEUED_BYTES} bytes or {MAX_QUEUED_LINES} messages wait for it to read them"
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
    /// Writes the queue, in order.
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
                // A line may be partly written: no valid line can follow.
                *slot = None;
                return Err(error);
            }
        }
        writer.flush().await
    }
}
