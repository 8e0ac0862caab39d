//! Reports of calls, tested with the program's end of the protocol in this process.

mod host;
mod pressure;

use std::os::unix::net::UnixStream as Program;

use bridge::frame::{read_frame, write_frame};

use self::host::Host;
use super::*;
use std::sync::Arc;

use futures::future::{BoxFuture, ready};

use crate::journal::{Begin, Refused, Sink};

const TOKEN: &str = "00112233445566778899aabbccddeeff";

/// Records what happens; refuses calls with this reason.
#[derive(Clone, Default)]
struct Notes {
    lines: Arc<Mutex<Vec<String>>>,
    refuses: Option<&'static str>,
}

impl Notes {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock())
    }

    fn journal(&self) -> Journal {
        Journal::new(vec![Arc::new(self.clone())])
    }
}

impl Sink for Notes {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        let refused = |message: &str| Refused {
            kind: FailureKind::Unavailable,
            reason: "test",
            message: message.to_owned(),
        };
        ready(match (begin, self.refuses) {
            (Begin::Call { .. }, Some("calls")) | (Begin::Answer(_), Some("answers")) => {
                Err(refused("it can't be recorded"))
            }
            _ => Ok(()),
        })
        .boxed()
    }

    fn note(&self, event: &Event<'_>) {
        let line = match event {
            Event::CallBegan(crate::CallBegun { number, server, tool, arguments }) => {
                format!("{number} {server}.{tool}({arguments})")
            }
            Event::CallEnded(number, CallRecord { server, tool, ok, bytes, .. }) => {
                format!("{number} {server}.{tool} ok={ok} {bytes}")
            }
            _ => return,
        };
        self.lines.lock().push(line);
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn call(id: u64, tool: &str) -> ToHost {
    call_with(id, tool, "{\"a\":1}")
}

fn call_with(id: u64, tool: &str, arguments: &str) -> ToHost {
    ToHost::Call { id, tool: tool.to_owned(), arguments: raw(arguments) }
}

/// A broker whose program may call `tools`.
fn broker<'a>(
    tools: &[&str],
    host: &'a dyn ToolHost,
    clock: &'a Clock,
    journal: &'a Journal,
    ledger: &'a Mutex<ProgramRecord>,
) -> Broker<'a> {
    let allowed = tools
        .iter()
        .map(|tool| {
            let name = ToolName { server: "demo".to_owned(), tool: (*tool).to_owned(), denied: false };
            ((*tool).to_owned(), name)
        })
        .collect();
    Broker { token: TOKEN.to_owned(), args: BTreeMap::new(), allowed, host, clock, journal, ledger }
}

/// The messages to a program that sends `messages` and reads `answers` answers before it ends.
async fn talk(journal: &Journal, messages: Vec<ToHost>, answers: usize) -> Vec<ToProgram> {
    talk_to(&Host::default(), journal, messages, answers).await
}

async fn talk_to(own: &Host, journal: &Journal, messages: Vec<ToHost>, answers: usize) -> Vec<ToProgram> {
    talk_with(own, journal, messages, answers, &Mutex::default()).await.unwrap()
}

/// The same, recording into `ledger`.
async fn talk_with(
    own: &Host,
    journal: &Journal,
    messages: Vec<ToHost>,
    answers: usize,
    ledger: &Mutex<ProgramRecord>,
) -> Result<Vec<ToProgram>, Violation> {
    let (host, program) = Program::pair().unwrap();
    let program = std::thread::spawn(move || {
        let mut program = program;
        let hello = ToHost::Hello { version: VERSION, token: TOKEN.to_owned() };
        for message in std::iter::once(&hello).chain(&messages) {
            write_frame(&mut program, message).unwrap();
        }
        let mut receive = || serde_json::from_slice(&read_frame(&mut program).unwrap().unwrap()).unwrap();
        assert!(matches!(receive(), ToProgram::Welcome(_)));
        (0..answers).map(|_| receive()).collect()
    });
    let clock = Clock::start();
    let broker = broker(&["quick", "late", "failing", "forbidden"], own, &clock, journal, ledger);
    broker.serve(Socket::new(host).unwrap()).await?;
    Ok(program.join().unwrap())
}

#[tokio::test]
async fn every_started_call_is_reported_to_end() {
    let notes = Notes::default();
    let messages = vec![call(0, "quick"), call(1, "failing"), call(2, "forbidden"), call(3, "un\nknown")];
    talk(&notes.journal(), messages, 4).await;
    let mut reported = notes.take();
    reported.sort();
    let expected = [
        "0 demo.quick ok=true 14",
        "0 demo.quick({\"a\":1})",
        "1 demo.failing ok=false 14",
        "1 demo.failing({\"a\":1})",
        "2 demo.forbidden ok=false 0",
        "2 demo.forbidden({\"a\":1})",
        "3 .unknown ok=false 0",
        "3 .unknown({\"a\":1})",
    ];
    assert_eq!(reported, expected);
}

#[tokio::test]
async fn a_cancelled_call_is_reported_to_end() {
    let notes = Notes::default();
    // One is cancelled; the other is in flight when the program ends.
    let messages = vec![call(0, "late"), call(1, "late"), ToHost::Cancel { id: 0 }, call(7, "quick")];
    let ledger = Mutex::default();
    talk_with(&Host::default(), &notes.journal(), messages, 1, &ledger).await.unwrap();
    let kept: Vec<_> = ledger.lock().calls.iter().map(|call| (call.tool.clone(), call.ok)).collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert_eq!(kept.iter().filter(|call| **call == ("late".to_owned(), false)).count(), 2, "{kept:?}");
    let reported = notes.take();
    for ended in ["0 demo.late ok=false 0", "1 demo.late ok=false 0", "7 demo.quick ok=true 14"] {
        assert_eq!(reported.iter().filter(|reported| *reported == ended).count(), 1, "{ended}: {reported:?}");
    }
    assert_eq!(reported.len(), 6, "{reported:?}");
    let place = |note: &str| reported.iter().position(|reported| reported == note).unwrap();
    assert!(place("0 demo.late ok=false 0") < place("1 demo.late ok=false 0"), "{reported:?}");
}

#[tokio::test]
async fn a_question_is_not_a_call_and_hosts_need_not_support_it() {
    let notes = Notes::default();
    let describe = Question::Describe { tools: vec!["demo::quick".to_owned()] };
    let received = talk(&notes.journal(), vec![ToHost::Ask { id: 0, question: describe }], 1).await;
    let [ToProgram::Failure { id: 0, failure }] = received.as_slice() else { panic!("{received:?}") };
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert!(failure.message.contains("can't be looked up"), "{}", failure.message);
    assert!(notes.take().is_empty());
}

#[tokio::test]
async fn a_resource_is_found_permitted_and_read_and_is_not_a_call() {
    let notes = Notes::default();
    let ask = |id, uri: &str, server: Option<&str>| {
        let question = Question::Resource { uri: uri.to_owned(), server: server.map(str::to_owned) };
        ToHost::Ask { id, question }
    };
    let messages =
        vec![ask(0, "a://1", Some("demo")), ask(1, "a://secret", Some("demo")), ask(2, "a://1", None)];
    let received = talk(&notes.journal(), messages, 3).await;
    let mut reported: Vec<String> = received
        .iter()
        .map(|message| match message {
            ToProgram::Reply { id, result } => format!("{id} {result}"),
            ToProgram::Failure { id, failure } => format!("{id} {:?} {}", failure.kind, failure.message),
            other => panic!("{other:?}"),
        })
        .collect();
    reported.sort();
    let expected = [
        "0 {\"of\":\"demo a://1\"}",
        "1 Denied demo refuses a://secret",
        "2 InvalidParams no server has a://1",
    ];
    assert_eq!(reported, expected);
    assert!(notes.take().is_empty());
}

#[tokio::test]
async fn a_journal_needs_no_sink() {
    let received = talk(&Journal::default(), vec![call(0, "quick")], 1).await;
    assert!(matches!(received.as_slice(), [ToProgram::Reply { id: 0, .. }]), "{received:?}");
}

#[tokio::test]
async fn a_sink_refuses_calls_before_they_leave_and_withholds_answers() {
    for (refuses, sent) in [("calls", 0), ("answers", 1)] {
        let (host, notes) = (Host::default(), Notes { refuses: Some(refuses), ..Notes::default() });
        let received = talk_to(&host, &notes.journal(), vec![call(0, "quick")], 1).await;
        let shown = format!("{received:?}");
        assert!(shown.contains("it can't be recorded") && shown.contains("Unavailable"), "{shown}");
        let requests = std::mem::take(&mut *host.requests.lock());
        assert_eq!(requests.iter().filter(|request| request.starts_with("send")).count(), sent);
        assert_eq!(notes.take().last().unwrap(), "0 demo.quick ok=false 0");
    }
}

#[tokio::test]
async fn permitted_shown_and_sent_arguments_are_the_same() {
    let (host, notes) = (Host::default(), Notes::default());
    let messages =
        vec![call_with(0, "quick", "{ \"p\\u0061th\" : \"\\/tmp\",\n\"n\": [ 9007199254740993.0, -0 ] }")];
    talk_to(&host, &notes.journal(), messages, 1).await;
    let form = "{\"path\":\"/tmp\",\"n\":[9007199254740993.0,-0]}";
    assert_eq!(*host.requests.lock(), [format!("permit {form}"), format!("send {form}")]);
    assert_eq!(notes.take()[0], format!("0 demo.quick({form})"));
}

#[tokio::test]
async fn ambiguous_arguments_are_neither_shown_nor_sent() {
    for (arguments, says) in [
        (r#"{"path":"/etc/DANGEROUS","path":"/tmp/safe"}"#, "\"path\" appears twice"),
        (r#"{"path":"/etc/DANGEROUS","p\u0061th":"/tmp/safe"}"#, "\"path\" appears twice"),
        (r#"{"a":[{"b":{"c":1,"c":2}}]}"#, "\"c\" appears twice"),
        (r#"{"a":1e400}"#, "out of range"),
        (r#"{"a":"\ud800"}"#, "surrogate"),
        ("[]", "not an object"),
    ] {
        let (host, notes) = (Host::default(), Notes::default());
        let received = talk_to(&host, &notes.journal(), vec![call_with(0, "quick", arguments)], 1).await;
        let [ToProgram::Failure { id: 0, failure }] = received.as_slice() else {
            panic!("{arguments}: {received:?}")
        };
        assert_eq!(failure.kind, FailureKind::InvalidParams);
        assert!(failure.message.contains(says), "{}", failure.message);
        assert!(host.requests.lock().is_empty(), "{arguments}");
        assert_eq!(notes.take(), ["0 demo.quick(null)", "0 demo.quick ok=false 0"]);
    }
}

#[tokio::test]
async fn a_content_block_is_kept_in_its_canonical_form_and_repaired() {
    let ledger = Mutex::default();
    let clock = Clock::start();
    let host = Host::default();
    let journal = Journal::default();
    let broker = broker(&[], &host, &clock, &journal, &ledger);
    for (sent, kept) in [
        (
            r#"{ "type": "t\u0065xt", "text": "a", "_meta": { "n": 1e2 } }"#,
            r#"{"type":"text","text":"a","_meta":{"n":1e2}}"#,
        ),
        (r#"{ "text": null, "type": "text" }"#, r#"{"text":"","type":"text"}"#),
        (r#""a""#, r#"{"text":"a","type":"text"}"#),
    ] {
        broker.emit(&raw(sent)).unwrap();
        let last = ledger.lock().content.pop().unwrap();
        let [last, kept] =
            [last.get(), kept].map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
        assert_eq!(last, kept);
    }
    let refused = broker.emit(&raw(r#"{"type":"text","type":"image"}"#));
    assert!(matches!(refused, Err(Violation::Protocol(reason)) if reason.contains("\"type\" appears twice")));
}

#[tokio::test]
async fn refused_calls_are_counted_by_reason_and_by_name() {
    let ask = |id| {
        let question = Question::Resource { uri: "a://secret".to_owned(), server: Some("demo".to_owned()) };
        ToHost::Ask { id, question }
    };
    let repeated = ToHost::Call { id: 5, tool: "quick".to_owned(), arguments: raw("[1]") };
    let mut messages =
        vec![call(0, "quick"), call(1, "forbidden"), call(2, "forged"), call(3, "forbidden"), ask(4)];
    messages.extend([repeated, call(6, "forged again")]);
    let ledger = Mutex::default();
    talk_with(&Host::default(), &Journal::default(), messages, 7, &ledger).await.unwrap();
    let ledger = ledger.lock();
    let CallsRefused { forged, denied, invalid, malformed, tools } = &ledger.refused;
    assert_eq!((*forged, *denied, *invalid, *malformed), (2, 3, 1, 0), "{:?}", ledger.refused);
    let named: Vec<_> = tools.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(named, [("demo.forbidden", 2), ("demo.mcp_resource_read", 1), ("demo.quick", 1)]);
    assert_eq!(
        (ledger.calls_total, ledger.calls.len()),
        (1, 1),
        "refused calls are not made, and a resource is not a call"
    );
}

#[tokio::test]
async fn an_unexpected_frame_is_counted() {
    let ledger = Mutex::default();
    let messages = vec![call(3, "quick"), call(3, "quick")];
    let ended = talk_with(&Host::default(), &Journal::default(), messages, 0, &ledger).await;
    assert!(matches!(ended, Err(Violation::Protocol(_))), "{ended:?}");
    assert_eq!(ledger.lock().refused, CallsRefused { malformed: 1, ..CallsRefused::default() });
}
