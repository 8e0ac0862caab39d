//! What a program says to its host: bytes in, messages out, in no order but the one that the protocol allows.
//!
//! There is no input or output here, so that any bytes can be tried (`fuzz/`). What is done about a message, and
//! whether a call is allowed, is the broker's.

use std::io;

use bridge::size::size;
use bridge::wire::{FRAME_LIMIT, ToHost, VERSION};
use bytes::{Buf, BytesMut};
use tokio_util::codec::Decoder;

/// Bytes of the length before each frame.
const HEAD: usize = size_of::<u32>();
/// Characters of a program's own words that are told.
const WORDS_TOLD: usize = 200;

/// Reads what one program says, from its hello to its end. After an error it is of no more use.
#[derive(Debug)]
pub struct Protocol {
    token: String,
    prompt: Stage,
    /// The lowest number that the next call may have.
    next_id: u64,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// Only the hello may come.
    Greeting,
    /// Anything may come, except for another hello.
    Open,
    /// Nothing may come.
    Finished,
}

/// Why nothing more can be read of a program.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// It said what it may not say, in words.
    #[error("{0}")]
    Breach(String),
    /// The stream that it speaks on failed.
    #[error(transparent)]
    Stream(#[from] io::Error),
}

impl Protocol {
    /// For a program that must know `token`.
    #[must_use]
    pub fn new(token: impl Into<String>) -> Self {
        Protocol { token: token.into(), prompt: Stage::Greeting, next_id: 0 }
    }

    /// Whether `message` may come now.
    fn admit(&mut self, message: &ToHost) -> Result<(), String> {
        match (self.prompt, message) {
            (Stage::Greeting, ToHost::Hello { version, token }) => {
                if *version != VERSION {
                    return Err(format!("it speaks version {version}, not {VERSION}"));
                }
                if *token != self.token {
                    return Err("its hello has not the token of this execution".to_owned());
                }
                self.prompt = Stage::Open;
            }
            (Stage::Greeting, _) => return Err("its first frame is no hello".to_owned()),
            (Stage::Open, ToHost::Hello { .. }) => return Err("a second hello".to_owned()),
            (Stage::Open, ToHost::Call { id, .. } | ToHost::Ask { id, .. }) => {
                // A number may be left out: a call that was too large to send has taken one.
                let next = self.next_id;
                self.next_id = match id.checked_add(1) {
                    Some(after) if *id >= next => after,
                    _ => return Err(format!("call {id} where {next} was next")),
                };
            }
            (Stage::Open, ToHost::Cancel { id }) if *id >= self.next_id => {
                return Err(format!("a cancellation of call {id}, which it has not made"));
            }
            (Stage::Open, ToHost::Finish(_)) => self.prompt = Stage::Finished,
            (
                Stage::Open,
                ToHost::Cancel { .. } | ToHost::Emit { .. } | ToHost::Progress { .. } | ToHost::Warn(_),
            ) => {}
            (Stage::Finished, ToHost::Finish(_)) => return Err("a second end".to_owned()),
            (Stage::Finished, _) => return Err("a frame after its end".to_owned()),
        }
        Ok(())
    }
}

impl Decoder for Protocol {
    type Item = ToHost;
    type Error = ProtocolError;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<ToHost>, ProtocolError> {
        let Some(frame) = frame(bytes)? else { return Ok(None) };
        let message = serde_json::from_slice(&frame).map_err(|error| {
            // It quotes what the program wrote.
            let error: String =
                error.to_string().chars().filter(|c| !c.is_control()).take(WORDS_TOLD).collect();
            ProtocolError::Breach(format!("a frame that is no message: {error}"))
        })?;
        self.admit(&message).map_err(ProtocolError::Breach)?;
        Ok(Some(message))
    }

    /// A program may be ended in the middle of a frame; how it ended says the rest.
    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<ToHost>, ProtocolError> {
        let message = self.decode(bytes)?;
        if message.is_none() {
            bytes.clear();
        }
        Ok(message)
    }
}

/// Takes the next frame off `bytes`, once it is whole. Room is made for what has come, not for what a length claims.
fn frame(bytes: &mut BytesMut) -> Result<Option<BytesMut>, ProtocolError> {
    let Some(head) = bytes.first_chunk::<HEAD>() else { return Ok(None) };
    let length = u32::from_be_bytes(*head) as usize;
    if length > FRAME_LIMIT {
        let message = format!("a frame of {}, over the limit of {}", size(length), size(FRAME_LIMIT));
        return Err(ProtocolError::Breach(message));
    }
    if bytes.len() - HEAD < length {
        return Ok(None);
    }
    bytes.advance(HEAD);
    Ok(Some(bytes.split_to(length)))
}
