//! Parses what a program sends to its host: bytes in, messages out, in the order that the protocol requires.
//!
//! There is no input or output here, so that any bytes can be tested (`tests/fuzz/`). The broker handles the messages
//! and decides on calls.

use std::io;

use bridge::size::size;
use bridge::wire::{FRAME_LIMIT, ToHost, VERSION};
use bytes::{Buf, BytesMut};
use system::event_loop::off_loop;
use tokio_util::codec::Decoder;

/// Length of the size field before each frame, in bytes.
const HEAD: usize = size_of::<u32>();
/// Maximum number of characters of a program's own text to show.
const TEXT_SHOWN: usize = 200;

/// Parses what one program sends, from hello to finish. After an error it can't be used further.
#[derive(Debug)]
pub struct Protocol {
    token: String,
    stage: Stage,
    /// The lowest valid number for the next call.
    next_id: u64,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// Only the hello is valid.
    Greeting,
    /// Any message but another hello is valid.
    Open,
    /// No message is valid.
    Finished,
}

/// The reason why nothing more can be read from a program.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The program broke the protocol.
    #[error("{0}")]
    Breach(String),
    /// Reading from the stream failed.
    #[error(transparent)]
    Stream(#[from] io::Error),
}

impl Protocol {
    /// Expects a program that knows `token`.
    #[must_use]
    pub fn new(token: impl Into<String>) -> Self {
        Protocol { token: token.into(), stage: Stage::Greeting, next_id: 0 }
    }

    /// Checks that `message` is valid now.
    fn admit(&mut self, message: &ToHost) -> Result<(), ProtocolError> {
        match (self.stage, message) {
            (Stage::Greeting, ToHost::Hello { version, token }) => {
                if *version != VERSION {
                    return Err(breach(format!("it uses protocol version {version}, not {VERSION}")));
                }
                if *token != self.token {
                    return Err(breach("its hello does not have the token of this execution"));
                }
                self.stage = Stage::Open;
            }
            (Stage::Greeting, _) => return Err(breach("its first frame is not a hello")),
            (Stage::Open, ToHost::Hello { .. }) => return Err(breach("a second hello")),
            (Stage::Open, ToHost::Call { id, .. } | ToHost::Ask { id, .. }) => {
                // Numbers may be skipped: a call that was too large to send has used one.
                let next = self.next_id;
                self.next_id = match id.checked_add(1) {
                    Some(after) if *id >= next => after,
                    _ => return Err(breach(format!("call {id} where {next} was next"))),
                };
            }
            (Stage::Open, ToHost::Cancel { id }) if *id >= self.next_id => {
                return Err(breach(format!("a cancellation of call {id}, which it has not made")));
            }
            (Stage::Open, ToHost::Finish(_)) => self.stage = Stage::Finished,
            (
                Stage::Open,
                ToHost::Cancel { .. } | ToHost::Emit { .. } | ToHost::Progress { .. } | ToHost::Warn(_),
            ) => {}
            (Stage::Finished, ToHost::Finish(_)) => return Err(breach("a second end")),
            (Stage::Finished, _) => return Err(breach("a frame after its end")),
        }
        Ok(())
    }
}

impl Decoder for Protocol {
    type Item = ToHost;
    type Error = ProtocolError;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<ToHost>, ProtocolError> {
        let Some(frame) = frame(bytes)? else { return Ok(None) };
        let message = off_loop(frame.len(), || serde_json::from_slice(&frame)).map_err(|error| {
            // The error quotes what the program sent.
            let error: String =
                error.to_string().chars().filter(|c| !c.is_control()).take(TEXT_SHOWN).collect();
            breach(format!("a frame that is not a message: {error}"))
        })?;
        self.admit(&message)?;
        Ok(Some(message))
    }

    /// A program may be stopped in the middle of a frame; its exit status says the rest.
    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<ToHost>, ProtocolError> {
        let message = self.decode(bytes)?;
        if message.is_none() {
            bytes.clear();
        }
        Ok(message)
    }
}

fn breach(what: impl Into<String>) -> ProtocolError {
    ProtocolError::Breach(what.into())
}

/// Takes the next frame from `bytes` once it is complete. Memory is reserved for received bytes, not for the claimed
/// length.
fn frame(bytes: &mut BytesMut) -> Result<Option<BytesMut>, ProtocolError> {
    let Some(head) = bytes.first_chunk::<HEAD>() else { return Ok(None) };
    let length = u32::from_be_bytes(*head) as usize;
    if length > FRAME_LIMIT {
        return Err(breach(format!("a frame of {}, over the limit of {}", size(length), size(FRAME_LIMIT))));
    }
    if bytes.len() - HEAD < length {
        return Ok(None);
    }
    bytes.advance(HEAD);
    Ok(Some(bytes.split_to(length)))
}

#[cfg(test)]
mod tests;
