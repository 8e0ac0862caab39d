//! What must hold of the broker's protocol for any bytes: the bodies of the fuzz targets. They panic where it does not.
//!
//! The ordinary tests run them as well, on the corpus and on bytes of their own: see `runner/tests/protocol.rs`.

use bridge::wire::{ToHost, VERSION, write_frame};
use bytes::BytesMut;
use runner::protocol::Protocol;
use tokio_util::codec::Decoder;

/// The token of the execution that the bytes are meant for.
pub const TOKEN: &str = "00112233445566778899aabbccddeeff";

/// What a buffer may hold beyond twice the bytes that have come.
const SLACK: usize = 1024;

/// What was read of bytes: the messages as JSON, and the breach that ended it.
#[derive(Debug, PartialEq, Eq)]
pub struct Heard {
    /// The messages.
    pub messages: Vec<String>,
    /// The breach, in words.
    pub breach: Option<String>,
}

/// The right hello as a frame.
pub fn greeting() -> Vec<u8> {
    framed(&ToHost::Hello { version: VERSION, token: TOKEN.to_owned() })
}

/// A message as a frame.
pub fn framed(message: &ToHost) -> Vec<u8> {
    let mut frame = Vec::new();
    write_frame(&mut frame, message).expect("it is small");
    frame
}

/// Any bytes after the right hello: there is no panic, the order of what is let through is the protocol's, and it
/// does not matter how the bytes are split. The first byte says how.
pub fn frames(data: &[u8]) {
    let Some((split, data)) = data.split_first() else { return };
    let bytes = [greeting().as_slice(), data].concat();
    let whole = hear([bytes.as_slice()]);
    assert_eq!(whole, hear(bytes.chunks(usize::from(*split) + 1)), "split after every {split} and one");
    assert_eq!(whole, hear(bytes.chunks(1)), "byte by byte");
    assert!(!whole.messages.is_empty(), "the hello was right: {whole:?}");
    assert_order(&whole.messages);
}

/// Any bytes as the first frame: only the hello of this execution is let through.
pub fn hello(data: &[u8]) {
    let length = u32::try_from(data.len()).expect("it is small");
    let bytes = [length.to_be_bytes().as_slice(), data].concat();
    let heard = hear([bytes.as_slice()]);
    let message = serde_json::from_slice::<ToHost>(data);
    let is_right = matches!(&message, Ok(ToHost::Hello { version: VERSION, token }) if token == TOKEN);
    assert_eq!(is_right, heard.messages.len() == 1, "{heard:?}");
    assert_eq!(is_right, heard.breach.is_none(), "{heard:?}");
}

/// Reads what comes in pieces, up to the first breach or the end.
pub fn hear<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut protocol = Protocol::new(TOKEN);
    let mut heard = Heard { messages: Vec::new(), breach: None };
    let (mut buffer, mut came) = (BytesMut::new(), 0);
    for piece in pieces {
        came += piece.len();
        buffer.extend_from_slice(piece);
        if !heard.take(|| protocol.decode(&mut buffer)) {
            return heard;
        }
        assert!(buffer.capacity() <= 2 * came + SLACK, "{} for {came}", buffer.capacity());
    }
    heard.take(|| protocol.decode_eof(&mut buffer));
    heard
}

impl Heard {
    /// Takes what there is; false after a breach.
    fn take<E: std::fmt::Display>(&mut self, mut next: impl FnMut() -> Result<Option<ToHost>, E>) -> bool {
        loop {
            match next() {
                Ok(Some(message)) => {
                    self.messages.push(serde_json::to_string(&message).expect("it was JSON"));
                }
                Ok(None) => return true,
                Err(breach) => {
                    self.breach = Some(breach.to_string());
                    return false;
                }
            }
        }
    }
}

fn assert_order(messages: &[String]) {
    let (mut next, mut has_finished) = (0, false);
    for (index, message) in messages.iter().enumerate() {
        assert!(!has_finished, "after the end: {message}");
        match serde_json::from_str(message).expect("it was a message") {
            ToHost::Hello { .. } => assert_eq!(index, 0, "a hello in the middle"),
            ToHost::Call { id, .. } | ToHost::Ask { id, .. } => {
                assert!(id >= next, "call {id} after {next}");
                next = id + 1;
            }
            ToHost::Cancel { id } => assert!(id < next, "{id} was cancelled before it was called"),
            ToHost::Emit { .. } | ToHost::Progress { .. } | ToHost::Warn(_) => {}
            ToHost::Finish(_) => has_finished = true,
        }
    }
}
