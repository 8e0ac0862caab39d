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
