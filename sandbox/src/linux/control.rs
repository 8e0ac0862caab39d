//! The conversation between parent and helper over one socket pair: the policy one way, with the broker
//! and scratch space beside it; what became of it the other way. The supervisor and the process that it supervises speak the same
//! way. Frames are a length (u32, little endian) and JSON.
//!
//! Leaves what the messages cause to `spawn` and `helper`.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Evidence, Failure, Layers, Policy, Report};

/// `argv[0]` of a helper, by which `entry` knows it. The command and its arguments follow.
pub(super) const HELPER_NAME: &str = "sandbox-helper:confine";

/// `argv[0]` of a helper that only tries what the machine allows.
pub(super) const PROBE_NAME: &str = "sandbox-helper:probe";

/// `argv[0]` of a helper that only makes scratch space.
pub(super) const SCRATCH_NAME: &str = "sandbox-helper:scratch";

/// The helper's exit code when it could not apply the policy.
pub(super) const EXIT_REFUSED: i32 = 125;

/// How long a helper may take for one step of the conversation. Measured: about 2 ms for all of it.
pub(super) const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of the longest frame: far above any policy, far below what could hurt.
const MAXIMUM_FRAME: usize = 4 << 20;

/// What the helper needs to know.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Handover {
    /// The parent's process id, to notice that it died before the helper was tied to it.
    pub(super) parent: u32,
    /// Whether the broker's descriptor travels beside this message.
    pub(super) broker: bool,
    /// Whether the namespace of shared scratch space travels beside this message, after the broker.
    pub(super) scratch: bool,
    /// The layers to apply: all of these, or nothing is executed.
    pub(super) layers: Layers,
    pub(super) policy: Policy,
}

/// What the helper answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Status {
    /// Refused system calls can be read from the descriptor beside this message. Stays with the supervisor.
    Listening,
    /// Every layer holds; the next thing is the exec.
    Confined(Report),
    /// The command has been executed. Without a process namespace, it leads the process group of this number.
    Started(Option<i32>),
    /// Nothing was executed.
    Failed(Failure),
    /// All processes of the child have ended.
    Ended(Evidence),
}

/// A message as the bytes of one frame.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - 4;
    if length > MAXIMUM_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a message of {length} bytes, at most {MAXIMUM_FRAME} are allowed"),
        ));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

/// Reads one frame; `None` at the end of the stream.
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
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the length of a message is out of bounds"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Most descriptors beside a message.
const MAXIMUM_DESCRIPTORS: usize = 2;

/// Sends a frame, at most [`MAXIMUM_DESCRIPTORS`] descriptors beside its first bytes.
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
    let sent = sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)?;
    stream.write_all(bytes.get(sent..).unwrap_or_default())
}

/// A message, and the descriptors beside it.
type Received<T> = (T, Vec<OwnedFd>);

/// Reads one frame and the descriptors beside it; `None` at the end of the stream.
pub(super) fn receive_with<S: AsFd, T: DeserializeOwned>(
    socket: &S,
    mut stream: impl Read,
) -> io::Result<Option<Received<T>>> {
    let mut prefix = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAXIMUM_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(socket, &mut [IoSliceMut::new(&mut prefix)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?.bytes;
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
