//! Messages between parent and helper over one socket pair: the policy in one direction, with the descriptors
//! of broker, scratch space, image and input; its result in the other. The supervisor and the supervised process use the
//! same messages. Frames are a length (u32, little endian) and JSON.
//!
//! `spawn` and `helper` act on the messages.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Attempt, Evidence, Failure, Layers, Policy, Report};

/// `argv[0]` of a helper, by which `entry` recognises it. The command and its arguments follow.
pub(super) const HELPER_NAME: &str = "sandbox-helper:confine";

/// `argv[0]` of a helper that is started before its policy is known. It leaves the namespaces that no policy needs, and
/// waits.
pub(super) const AHEAD_NAME: &str = "sandbox-helper:ahead";

/// `argv[0]` of a helper that only probes the machine.
pub(super) const PROBE_NAME: &str = "sandbox-helper:probe";

/// `argv[0]` of a helper that only creates scratch space.
pub(super) const SCRATCH_NAME: &str = "sandbox-helper:scratch";

/// The helper's exit code when it could not apply the policy.
pub(super) const EXIT_REFUSED: i32 = 125;

/// Time limit for a helper to send or receive a message. Measured: about 2 ms for all of them, and more than 10 s in an
/// emulated machine that shared its processors with four builds.
pub(super) const HANDOVER_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a frame, in bytes: far above any policy, far below harmful.
const MAXIMUM_FRAME: usize = 4 << 20;

/// The input of the helper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Handover {
    /// The parent's process id, to detect that it died before the helper was tied to it.
    pub(super) parent: u32,
    /// Whether the broker's descriptor comes with this message.
    pub(super) broker: bool,
    /// Whether the namespace of shared scratch space comes with this message, after the broker.
    pub(super) scratch: bool,
    /// Whether the file to execute comes with this message, after the scratch space.
    pub(super) image: bool,
    /// Whether standard input comes with this message, last.
    pub(super) input: bool,
    /// The layers to apply. If one fails, nothing is executed.
    pub(super) layers: Layers,
    /// The command and its arguments, if the helper may have been started before they were known. Otherwise they are
    /// the helper's own arguments.
    pub(super) command: Option<Vec<OsString>>,
    pub(super) policy: Policy,
}

/// A step of a start, and when it ended, in nanoseconds of the clock that all processes share (`CLOCK_MONOTONIC`).
#[cfg(feature = "timings")]
pub type Reading = (String, u64);

/// The helper's reports.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Status {
    /// Refused system calls can be read from the descriptor that comes with this message. Only the supervisor
    /// receives this.
    Listening,
    /// When the steps so far ended. Comes before the report.
    #[cfg(feature = "timings")]
    Timed(Vec<Reading>),
    /// All layers are applied. The exec is next.
    Confined(Report),
    /// The command has been executed. Without a process namespace, it leads the process group with this
    /// number.
    Started(Option<i32>),
    /// Nothing was executed.
    Failed(Failure),
    /// A server has tried this.
    Tried(Attempt),
    /// All processes of the child have ended, but for the supervisor; the command in this way.
    Ended(Evidence, End),
}

/// The end of a command.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum End {
    Code(i32),
    Signal(i32),
}

impl End {
    pub(super) fn status(self) -> ExitStatus {
        // As wait(2) encodes it.
        ExitStatus::from_raw(match self {
            End::Code(code) => (code & 0xff) << 8,
            End::Signal(signal) => signal,
        })
    }

    /// Ends this process in the same way. Its limits allow no core dump.
    pub(super) fn repeat(self) -> ! {
        let code = match self {
            End::Code(code) => code,
            End::Signal(signal) => {
                // SAFETY: both only affect this process, which has one thread. If it ignores or blocks the signal, it goes on.
                unsafe {
                    libc::signal(signal, libc::SIG_DFL);
                    libc::raise(signal);
                }
                EXIT_REFUSED
            }
        };
        // SAFETY: ends the process without running destructors or handlers, which is the intention.
        unsafe { libc::_exit(code) }
    }
}

/// A message as a frame.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - 4;
    if length > MAXIMUM_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the message has {length} bytes; the limit is {MAXIMUM_FRAME}"),
        ));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

/// Reads one frame. Returns `None` at the end of the stream.
pub(super) fn receive<T: DeserializeOwned>(mut from: impl Read) -> io::Result<Option<T>> {
    let mut prefix = [0; 4];
    match from.read_exact(&mut prefix) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    body(from, prefix).map(Some)
}

fn body<T: DeserializeOwned>(mut from: impl Read, prefix: [u8; 4]) -> io::Result<T> {
    let length = u32::from_le_bytes(prefix) as usize;
    if length > MAXIMUM_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the length of a message exceeds the limit"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Maximum number of descriptors sent with a message.
const MAXIMUM_DESCRIPTORS: usize = 4;

/// Sends a frame, with at most [`MAXIMUM_DESCRIPTORS`] descriptors attached to its first bytes.
pub(super) fn send_with<S: AsFd>(
    socket: &S,
    mut stream: impl Write,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAXIMUM_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let bytes_and_descriptors = [IoSlice::new(bytes)];
    let sent =
        retry_on_intr(|| sendmsg(socket, &bytes_and_descriptors, &mut ancillary, SendFlags::NOSIGNAL))?;
    stream.write_all(bytes.get(sent..).unwrap_or_default())
}

/// A message, and the descriptors sent with it.
type Received<T> = (T, Vec<OwnedFd>);

/// Reads one frame and its descriptors. Returns `None` at the end of the stream.
pub(super) fn receive_with<S: AsFd, T: DeserializeOwned>(
    socket: &S,
    mut stream: impl Read,
) -> io::Result<Option<Received<T>>> {
    let mut prefix = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAXIMUM_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    // With a time limit on the socket, the kernel does not restart it itself (signal(7)).
    let received = retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut prefix)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })?
    .bytes;
    if received == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut prefix[received..])?;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    Ok(Some((body(stream, prefix)?, descriptors)))
}
