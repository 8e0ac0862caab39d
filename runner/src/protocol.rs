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
    fn admit(&mut self, message: &ToHost) -> Result<(), String> {
        match (self.stage, message) {
            (Stage::Greeting, ToHost::Hello { version, token }) => {
                if *version != VERSION {
                    return Err(format!("it uses protocol version {version}, not {VERSION}"));
                }
                if *token != self.token {
                    return Err("its hello does not have the token of this execution".to_owned());
                }
                self.stage = Stage::Open;
            }
            (Stage::Greeting, _) => return Err("its first frame is not a hello".to_owned()),
            (Stage::Open, ToHost::Hello { .. }) => return Err("a second hello".to_owned()),
            (Stage::Open, ToHost::Call { id, .. } | ToHost::Ask { id, .. }) => {
                // Numbers may be skipped: a call that was too large to send has used one.
                let next = self.next_id;
                self.next_id = match id.checked_add(1) {
                    Some(after) if *id >= next => after,
                    _ => return Err(format!("call {id} where {next} was next")),
                };
            }
            (Stage::Open, ToHost::Cancel { id }) if *id >= self.next_id => {
                return Err(format!("a cancellation of call {id}, which it has not made"));
            }
            (Stage::Open, ToHost::Finish(_)) => self.stage = Stage::Finished,
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
        let message = off_loop(frame.len(), || serde_json::from_slice(&frame)).map_err(|error| {
            // The error quotes what the program sent.
            let error: String =
                error.to_string().chars().filter(|c| !c.is_control()).take(TEXT_SHOWN).collect();
            ProtocolError::Breach(format!("a frame that is not a message: {error}"))
        })?;
        self.admit(&message).map_err(ProtocolError::Breach)?;
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

/// Takes the next frame from `bytes` once it is complete. Memory is reserved for received bytes, not for the claimed
/// length.
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

#[cfg(test)]
mod tests {
    use bridge::frame::write_frame;
    use bridge::wire::{Finish, Question, Warning};
    use serde_json::value::RawValue;

    use super::*;

    const TOKEN: &str = "token";

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn hello() -> ToHost {
        ToHost::Hello { version: VERSION, token: TOKEN.to_owned() }
    }

    fn call(id: u64) -> ToHost {
        ToHost::Call { id, tool: "tool".to_owned(), arguments: raw("{}") }
    }

    fn ask(id: u64) -> ToHost {
        ToHost::Ask { id, question: Question::Describe { tools: Vec::new() } }
    }

    fn cancel(id: u64) -> ToHost {
        ToHost::Cancel { id }
    }

    fn finish() -> ToHost {
        ToHost::Finish(Finish::Ok { result: None, unmade: Vec::new() })
    }

    /// Messages that are valid at any time between hello and finish.
    fn reports() -> [ToHost; 3] {
        let warning = Warning { message: "careful".to_owned(), line: None, column: None };
        [
            ToHost::Emit { content: raw("{}") },
            ToHost::Progress { done: 1.0, total: 2.0, message: String::new() },
            ToHost::Warn(warning),
        ]
    }

    fn bytes(message: &ToHost) -> BytesMut {
        let mut frame = Vec::new();
        write_frame(&mut frame, message).unwrap();
        BytesMut::from(frame.as_slice())
    }

    /// The number of accepted messages, and the breach after them.
    fn accepted(messages: &[ToHost]) -> (usize, Option<String>) {
        let mut protocol = Protocol::new(TOKEN);
        for (index, message) in messages.iter().enumerate() {
            match protocol.decode(&mut bytes(message)) {
                Ok(Some(decoded)) => {
                    let sent = serde_json::to_string(message).unwrap();
                    assert_eq!(serde_json::to_string(&decoded).unwrap(), sent);
                }
                Ok(None) => panic!("the frame is complete: {message:?}"),
                Err(error) => return (index, Some(error.to_string())),
            }
        }
        (messages.len(), None)
    }

    #[test]
    fn messages_are_accepted_in_their_order() {
        let [emit, progress, warn] = reports();
        for messages in [
            vec![hello(), finish()],
            vec![hello(), emit, progress, warn, finish()],
            // Calls and questions share their numbers, and numbers may be skipped.
            vec![hello(), call(0), ask(1), call(5), ask(6), finish()],
            // Any earlier call may be cancelled, even twice.
            vec![hello(), call(3), cancel(3), cancel(0), cancel(3), finish()],
            vec![hello(), call(u64::MAX - 1), cancel(u64::MAX - 1)],
        ] {
            assert_eq!(accepted(&messages), (messages.len(), None));
        }
    }

    #[test]
    fn messages_out_of_order_are_refused() {
        let of_another = ToHost::Hello { version: VERSION, token: "other".to_owned() };
        let older = ToHost::Hello { version: VERSION - 1, token: TOKEN.to_owned() };
        for (messages, breach) in [
            (vec![of_another], "token"),
            (vec![older], "version"),
            (vec![call(0)], "not a hello"),
            (vec![finish()], "not a hello"),
            (vec![hello(), hello()], "second hello"),
            (vec![hello(), call(0), call(0)], "call 0 where 1 was next"),
            (vec![hello(), call(4), ask(2)], "call 2 where 5 was next"),
            (vec![hello(), call(u64::MAX)], "where 0 was next"),
            (vec![hello(), cancel(0)], "cancellation of call 0"),
            (vec![hello(), ask(2), cancel(3)], "cancellation of call 3"),
            (vec![hello(), finish(), finish()], "second end"),
            (vec![hello(), finish(), hello()], "after its end"),
            (vec![hello(), finish(), call(0)], "after its end"),
        ] {
            let (count, said) = accepted(&messages);
            let said = said.unwrap_or_else(|| panic!("accepted: {messages:?}"));
            assert_eq!(count, messages.len() - 1, "{said}");
            assert!(said.contains(breach), "{said}");
        }
    }

    #[test]
    fn no_report_is_accepted_before_the_hello_or_after_the_end() {
        for report in reports() {
            assert_eq!(accepted(&[report]).0, 0);
        }
        for report in reports() {
            assert_eq!(accepted(&[hello(), finish(), report]).0, 2);
        }
    }

    #[test]
    fn a_message_is_decoded_when_its_last_byte_arrives() {
        let frame = bytes(&hello());
        let mut protocol = Protocol::new(TOKEN);
        let mut received = BytesMut::new();
        for byte in &frame[..frame.len() - 1] {
            received.extend_from_slice(&[*byte]);
            assert!(protocol.decode(&mut received).unwrap().is_none());
        }
        received.extend_from_slice(&frame[frame.len() - 1..]);
        received.extend_from_slice(b"more");
        assert!(protocol.decode(&mut received).unwrap().is_some());
        assert_eq!(&received[..], b"more");
    }

    #[test]
    fn at_the_end_of_the_stream_whole_frames_are_decoded_and_a_part_is_dropped() {
        let mut protocol = Protocol::new(TOKEN);
        let mut received = bytes(&hello());
        received.extend_from_slice(&bytes(&finish())[..6]);
        assert!(protocol.decode_eof(&mut received).unwrap().is_some());
        assert_eq!(received.len(), 6);
        assert!(protocol.decode_eof(&mut received).unwrap().is_none());
        assert!(received.is_empty());
    }

    #[test]
    fn a_frame_is_refused_by_the_length_that_it_claims() {
        let claim = |length: usize| {
            let length = u32::try_from(length).unwrap().to_be_bytes();
            Protocol::new(TOKEN).decode(&mut BytesMut::from(&length[..]))
        };
        assert!(claim(FRAME_LIMIT).unwrap().is_none());
        assert!(matches!(claim(FRAME_LIMIT + 1), Err(ProtocolError::Breach(_))));
    }

    #[test]
    fn a_breach_shows_no_control_characters_and_little_of_the_text() {
        let text = format!("{{\"{}\":1}}", "\\u001b[31m".repeat(1_000));
        let length = u32::try_from(text.len()).unwrap().to_be_bytes();
        let mut received = BytesMut::from([&length[..], text.as_bytes()].concat().as_slice());
        let said = Protocol::new(TOKEN).decode(&mut received).unwrap_err().to_string();
        assert!(said.contains("not a message") && said.contains("[31m"), "{said}");
        assert!(said.chars().count() < 2 * TEXT_SHOWN && !said.contains('\u{1b}'), "{said}");
    }
}
