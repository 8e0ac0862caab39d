//! The queue of messages to a server that may not read them.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
};

use parking_lot::Mutex;
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

/// Limit on the lines of one write, far below the 1 024 parts that Linux takes at once.
const LINES_AT_ONCE: usize = 64;

/// Size at which a write takes no further lines, in bytes (64 KiB): as much as a pipe holds.
const BYTES_AT_ONCE: usize = 64 * 1024;

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
        let mut queue = self.queue.lock();
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

    /// Takes the lines for the next write; none at the end of the queue.
    fn take(&self) -> Vec<Vec<u8>> {
        let mut queue = self.queue.lock();
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < LINES_AT_ONCE && bytes < BYTES_AT_ONCE {
            let Some(line) = queue.lines.pop_front() else { break };
            bytes += line.len();
            lines.push(line);
        }
        queue.bytes -= bytes;
        lines
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
        loop {
            let lines = self.take();
            if lines.is_empty() {
                return writer.flush().await;
            }
            let written = tokio::select! {
                biased;
                written = write_all(writer, &lines) => written,
                _ = closed.wait_for(|closed| *closed) => Err(io::ErrorKind::BrokenPipe.into()),
            };
            if let Err(error) = written {
                // A line may be partly written: no valid line can follow.
                *slot = None;
                return Err(error);
            }
        }
    }
}

/// Writes the lines with as few system calls as the stream allows.
async fn write_all<W: AsyncWrite + Unpin>(writer: &mut W, lines: &[Vec<u8>]) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = lines.iter().map(|line| IoSlice::new(line)).collect();
    let mut rest = slices.as_mut_slice();
    while !rest.is_empty() {
        let written = writer.write_vectored(rest).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        IoSlice::advance_slices(&mut rest, written);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use futures::poll;
    use tokio::io::{AsyncReadExt as _, duplex};

    use super::*;

    fn line(index: usize) -> Vec<u8> {
        format!("{index} {}\n", "x".repeat(index % 7 * 100)).into_bytes()
    }

    #[tokio::test]
    async fn lines_arrive_whole_and_in_order_at_a_slow_reader() {
        let (ours, mut theirs) = duplex(50);
        let outbox = Outbox::new(ours);
        let expected: Vec<u8> = (0..3 * LINES_AT_ONCE).flat_map(line).collect();
        for index in 0..3 * LINES_AT_ONCE {
            outbox.push(line(index)).unwrap();
        }
        let mut received = vec![0; expected.len()];
        let (written, read) = tokio::join!(outbox.flush(), theirs.read_exact(&mut received));
        written.unwrap();
        read.unwrap();
        assert_eq!(received, expected);
        // All room is free again.
        outbox.push(vec![b'\n'; MAX_QUEUED_BYTES]).unwrap();
        assert_eq!(outbox.push(b"\n".to_vec()).unwrap_err().kind(), io::ErrorKind::QuotaExceeded);
    }

    #[tokio::test]
    async fn one_write_takes_a_bounded_part_of_the_queue() {
        let (ours, _theirs) = duplex(1);
        let outbox = Outbox::new(ours);
        for _ in 0..3 {
            outbox.push(vec![b'\n'; BYTES_AT_ONCE]).unwrap();
        }
        assert_eq!(outbox.take().len(), 1);
        for _ in 0..2 * LINES_AT_ONCE {
            outbox.push(b"\n".to_vec()).unwrap();
        }
        assert_eq!([outbox.take().len(), outbox.take().len(), outbox.take().len()], [1, 1, LINES_AT_ONCE]);
    }

    #[tokio::test]
    async fn closing_ends_a_blocked_write() {
        let (ours, _theirs) = duplex(10);
        let outbox = Outbox::new(ours);
        (0..LINES_AT_ONCE).for_each(|index| outbox.push(line(index)).unwrap());
        let mut blocked = Box::pin(outbox.flush());
        assert!(poll!(blocked.as_mut()).is_pending());
        let (written, ()) = tokio::join!(blocked, outbox.close());
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(outbox.flush().await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
