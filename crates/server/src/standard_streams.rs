//! Standard input and output, read and written by the event loop itself if they are pipes or sockets, as with all clients
//! that start a server.
//!
//! `tokio::io::stdin` and `stdout` pass each read and write to another thread, which works with any file but wakes up two
//! threads for each message.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;

use rustix::fs::{FileType, Stat, fstat};
use rustix::net::sockopt::{socket_domain, socket_type};
use rustix::net::{AddressFamily, SocketType};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

pub(crate) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The standard input of this process.
pub(crate) fn input() -> Input {
    input_of(io::stdin().as_fd()).unwrap_or_else(|| Box::new(tokio::io::stdin()))
}

/// The standard output of this process.
pub(crate) fn output() -> Output {
    output_of(io::stdout().as_fd()).unwrap_or_else(|| Box::new(tokio::io::stdout()))
}

fn input_of(file: BorrowedFd<'_>) -> Option<Input> {
    match file_type(file)? {
        FileType::Fifo => Some(Box::new(pipe::OpenOptions::new().open_receiver(reopened(file)).ok()?)),
        FileType::Socket => Some(Box::new(socket(file)?)),
        _ => None,
    }
}

fn output_of(file: BorrowedFd<'_>) -> Option<Output> {
    match file_type(file)? {
        FileType::Fifo => Some(Box::new(pipe::OpenOptions::new().open_sender(reopened(file)).ok()?)),
        FileType::Socket => Some(Box::new(socket(file)?)),
        _ => None,
    }
}

fn file_type(file: BorrowedFd<'_>) -> Option<FileType> {
    Some(FileType::from_raw_mode(fstat(file).ok()?.st_mode))
}

/// The path that opens a pipe once more: only then is it this process's own whether its operations block (proc(5),
/// `/proc/pid/fd/`).
fn reopened(pipe: BorrowedFd<'_>) -> PathBuf {
    format!("/proc/self/fd/{}", pipe.as_raw_fd()).into()
}

/// The socket, which does not block from now on. It can't be opened once more, so this also applies to other processes that
/// have it; a client has the other end.
fn socket(file: BorrowedFd<'_>) -> Option<UnixStream> {
    let is_stream =
        socket_domain(file).ok()? == AddressFamily::UNIX && socket_type(file).ok()? == SocketType::STREAM;
    // Messages to standard error must not get lost.
    if !is_stream || is_same(file, io::stderr().as_fd()) {
        return None;
    }
    let stream = StdUnixStream::from(file.try_clone_to_owned().ok()?);
    stream.set_nonblocking(true).ok()?;
    UnixStream::from_std(stream).ok()
}

fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let identity = |stat: Stat| (stat.st_dev, stat.st_ino);
    let (one, other) = (fstat(one).map(identity), fstat(other).map(identity));
    one.is_ok() && one == other
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Returns the text that arrives at the end of `input` from `output`.
    async fn passed(input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> String {
        let (mut input, mut output) = (input_of(input).unwrap(), output_of(output).unwrap());
        output.write_all(b"sent").await.unwrap();
        output.shutdown().await.unwrap();
        let mut received = vec![0; 4];
        input.read_exact(&mut received).await.unwrap();
        String::from_utf8(received).unwrap()
    }

    #[tokio::test]
    async fn pipes_and_sockets_need_no_thread() {
        let (reader, writer) = io::pipe().unwrap();
        assert_eq!(passed(reader.as_fd(), writer.as_fd()).await, "sent");
        let flags = rustix::fs::fcntl_getfl(&reader).unwrap();
        assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK), "the given descriptor must keep its mode");
        let (near, far) = StdUnixStream::pair().unwrap();
        assert_eq!(passed(near.as_fd(), far.as_fd()).await, "sent");
    }

    #[tokio::test]
    async fn the_end_of_a_pipe_is_noticed() {
        let (reader, writer) = io::pipe().unwrap();
        let mut input = input_of(reader.as_fd()).unwrap();
        drop(writer);
        assert_eq!(input.read(&mut [0; 8]).await.unwrap(), 0);
        // A process that another test starts has the reader until it executes its program.
        let (reader, writer) = io::pipe().unwrap();
        let mut output = output_of(writer.as_fd()).unwrap();
        drop(reader);
        let error = loop {
            if let Err(error) = output.write_all(b"lost").await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn files_and_devices_are_left_to_a_thread() {
        let (file, device) = (tempfile::tempfile().unwrap(), File::open("/dev/null").unwrap());
        assert!(input_of(file.as_fd()).is_none() && output_of(file.as_fd()).is_none());
        assert!(input_of(device.as_fd()).is_none());
    }
}
