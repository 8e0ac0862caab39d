//! The host's end of the socket to a program.
//!
//! A `tokio::net::UnixStream` always waits for both directions, so the host would wake up whenever the program reads an
//! answer. Here, the kernel reports room for writing only while something could not be written.

use std::io::{self, IoSlice, Write as _};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, Interest, ReadBuf};
use tokio::time::sleep;

/// Interval between attempts to write while the kernel can't report when there is room (no memory, too many files).
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// The socket, in its two directions.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
}

impl Socket {
    /// Takes the host's end. Must be called within the event loop.
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let writer = Writer { stream: stream.try_clone()?, room: None };
        Ok(Socket { reader: Reader(registered(stream, Interest::READABLE)?), writer })
    }
}

fn registered(stream: UnixStream, interest: Interest) -> io::Result<AsyncFd<UnixStream>> {
    // SAFETY: a `UnixStream` is open and stays the same descriptor for as long as it lives, and the `AsyncFd` owns it.
    let registered = unsafe { AsyncFd::register_with_interest(stream, interest) };
    registered.map_err(io::Error::from)
}

/// Reads what the program sends.
#[derive(Debug)]
pub(super) struct Reader(AsyncFd<UnixStream>);

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: nothing is written to the buffer but what is read.
        let unfilled = unsafe { buffer.unfilled_mut() };
        let read = loop {
            let mut ready = ready!(self.0.poll_read_ready(context))?;
            let read = ready.try_io(|stream| Ok(rustix::io::read(stream, &mut *unfilled)?.0.len()));
            let Ok(read) = read else { continue };
            let read = read?;
            if (1..unfilled.len()).contains(&read) {
                // There was no more, so the kernel reports what follows (epoll(7), question 9).
                ready.clear_ready();
            }
            break read;
        };
        // SAFETY: so many bytes were read.
        unsafe { buffer.assume_init(read) };
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }
}

/// Writes to the program.
#[derive(Debug)]
pub(super) struct Writer {
    stream: UnixStream,
    /// Reports when there is room.
    room: Option<AsyncFd<UnixStream>>,
}

impl Writer {
    /// Writes as much as there is room for, at least one byte; otherwise the error is [`io::ErrorKind::WouldBlock`].
    pub(super) fn try_write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.stream.write_vectored(parts)
    }

    /// Waits until there may be room. Cancel-safe.
    pub(super) async fn writable(&mut self) {
        match self.wait_for_room().await {
            Ok(()) => {}
            Err(_) => sleep(RETRY_INTERVAL).await,
        }
    }

    async fn wait_for_room(&mut self) -> io::Result<()> {
        let room = match &mut self.room {
            Some(room) => room,
            // The kernel also reports room that is there already.
            none => none.insert(registered(self.stream.try_clone()?, Interest::WRITABLE)?),
        };
        // The next write finds out how much there is, and further room is reported again.
        room.writable().await?.clear_ready();
        Ok(())
    }

    /// Ends the reports: everything was written.
    pub(super) fn forget_room(&mut self) {
        self.room = None;
    }
}
