//! The frames of the broker's protocol: a 32-bit big-endian length and a JSON value of that many bytes.
//!
//! The host has its own reader and writer, which don't block; those of programs are here. This crate is compiled
//! without optimisation, so that it compiles fast: what runs for each byte of a call belongs to other crates.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde_json::Value;

use crate::size::size;
use crate::wire::FRAME_LIMIT;

/// The part of a [`ToProgram::Reply`](crate::wire::ToProgram::Reply) before its result. With it, neither side parses
/// the result as a part of the message.
#[must_use]
pub fn reply_head(id: u64) -> String {
    format!("{REPLY_ID}{id}{REPLY_RESULT}")
}

const REPLY_ID: &str = "{\"reply\":{\"id\":";
const REPLY_RESULT: &str = ",\"result\":";

/// The part of a [`ToProgram::Reply`](crate::wire::ToProgram::Reply) after its result.
pub const REPLY_END: &str = "}}";

/// The number and the result of a [`ToProgram::Reply`](crate::wire::ToProgram::Reply) that was written with
/// [`reply_head`]; `None` for any other message.
#[must_use]
pub fn read_reply(message: &str) -> Option<(u64, &str)> {
    let rest = message.strip_prefix(REPLY_ID)?;
    let (id, rest) = rest.split_at_checked(rest.find(',')?)?;
    Some((id.parse().ok()?, rest.strip_prefix(REPLY_RESULT)?.strip_suffix(REPLY_END)?))
}

/// Appends a [`ToHost::Call`](crate::wire::ToHost::Call) as one frame, without a copy of its arguments; returns their
/// size in bytes.
///
/// # Errors
/// `InvalidData` for a frame over [`FRAME_LIMIT`].
pub fn frame_call(frame: &mut Vec<u8>, id: u64, tool: &str, arguments: &Value) -> io::Result<usize> {
    let start = frame.len();
    frame.extend([0; 4]);
    write!(frame, "{{\"call\":{{\"id\":{id},\"tool\":")?;
    serde_json::to_writer(&mut *frame, tool)?;
    frame.extend_from_slice(b",\"arguments\":");
    let before = frame.len();
    // `Value`'s own text: the code that writes it is compiled with serde_json, which is optimised.
    write!(frame, "{arguments}")?;
    let bytes = frame.len() - before;
    frame.extend_from_slice(b"}}");
    finish_frame(frame, start)?;
    Ok(bytes)
}

/// Reads one frame; `None` at the end of the stream.
///
/// # Errors
/// Errors of the stream, and `InvalidData` for a frame over [`FRAME_LIMIT`].
pub fn read_frame(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut frame = Vec::new();
    Ok(read_frame_into(stream, &mut frame)?.then_some(frame))
}

/// Like [`read_frame`], into a buffer that is used again; false at the end of the stream.
///
/// # Errors
/// As for [`read_frame`].
pub fn read_frame_into(stream: &mut impl Read, frame: &mut Vec<u8>) -> io::Result<bool> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        other => other?,
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > FRAME_LIMIT {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame of {}; the limit is {}", size(length), size(FRAME_LIMIT)),
        ));
    }
    frame.resize(length, 0);
    stream.read_exact(frame)?;
    Ok(true)
}

/// Whether `received` begins with a whole frame.
#[must_use]
pub fn has_frame(received: &[u8]) -> bool {
    let Some((length, rest)) = received.split_first_chunk() else { return false };
    rest.len() >= u32::from_be_bytes(*length) as usize
}

/// Writes `message` as one frame.
///
/// # Errors
/// Errors of the stream, and `InvalidData` for a frame over [`FRAME_LIMIT`].
pub fn write_frame(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = Vec::new();
    frame_message(&mut frame, message)?;
    stream.write_all(&frame)
}

/// Appends `message` as one frame.
///
/// # Errors
/// `InvalidData` for a frame over [`FRAME_LIMIT`].
pub fn frame_message(frame: &mut Vec<u8>, message: &impl Serialize) -> io::Result<()> {
    let start = frame.len();
    frame.extend([0; 4]);
    serde_json::to_writer(&mut *frame, message)?;
    finish_frame(frame, start)
}

/// Writes the length of the frame that begins at `start`.
fn finish_frame(frame: &mut [u8], start: usize) -> io::Result<()> {
    let length = frame.len() - start - 4;
    if length > FRAME_LIMIT {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{} in one message; the limit is {}", size(length), size(FRAME_LIMIT)),
        ));
    }
    let prefix = u32::try_from(length).map_err(io::Error::other)?.to_be_bytes();
    frame[start..start + 4].copy_from_slice(&prefix);
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;
    use crate::wire::{ToHost, ToProgram};

    #[test]
    fn a_reply_is_read_as_serde_reads_it() {
        for result in ["null", "{\"a\":\"}},\\\"result\\\":\"}", "[1,{\"result\":{}}]"] {
            for id in [0, u64::MAX] {
                let message = format!("{}{result}{REPLY_END}", reply_head(id));
                let raw = RawValue::from_string(result.to_owned()).unwrap();
                assert_eq!(message, serde_json::to_string(&ToProgram::Reply { id, result: raw }).unwrap());
                assert_eq!(read_reply(&message), Some((id, result)));
            }
        }
        for other in ["{\"reply\":{\"id\":1}}", "{\"reply\":{\"id\":x,\"result\":1}}", "{\"failure\":{}}", ""]
        {
            assert_eq!(read_reply(other), None, "{other}");
        }
    }

    #[test]
    fn a_call_is_framed_as_serde_writes_it() {
        let arguments = json!({ "text": "a\"\u{1}\u{e9}", "number": 0.1, "list": [null, true] });
        let mut frame = b"earlier".to_vec();
        let bytes = frame_call(&mut frame, 7, "a\"b", &arguments).unwrap();
        assert_eq!(bytes, arguments.to_string().len());
        let raw = RawValue::from_string(arguments.to_string()).unwrap();
        let mut written = b"earlier".to_vec();
        frame_message(&mut written, &ToHost::Call { id: 7, tool: "a\"b".to_owned(), arguments: raw })
            .unwrap();
        assert_eq!(String::from_utf8(frame).unwrap(), String::from_utf8(written).unwrap());
    }

    #[test]
    fn a_call_over_the_limit_is_not_framed() {
        let arguments = Value::String("x".repeat(FRAME_LIMIT));
        let error = frame_call(&mut Vec::new(), 0, "tool", &arguments).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_frame_is_whole_when_its_last_byte_is_there() {
        let mut frame = Vec::new();
        frame_message(&mut frame, &"text").unwrap();
        assert!((0..frame.len()).all(|end| !has_frame(&frame[..end])));
        assert!(has_frame(&frame) && has_frame(&[frame.as_slice(), b"more"].concat()));
    }
}
