//! Requests of a session and their ends, over a pipe to a peer that the test scripts line by line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

use std::{sync::Arc, time::Duration};

use futures::{FutureExt as _, future::BoxFuture};
use mcp::{ErrorKind, Host, MAX_ROUNDS, NoHost, Phase, QuestionError, ServerConfig, Session};
use serde_json::{Value, json, value::RawValue};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// The server's end of a session.
struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
}

impl Peer {
    /// The client's next message with this method; others are skipped.
    async fn next(&mut self, method: &str) -> Value {
        loop {
            let line = self.lines.next_line().await.unwrap().expect("the client is connected");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == method {
                return message;
            }
        }
    }

    async fn send(&mut self, message: Value) {
        self.output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn no_arguments() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap()
}

async fn connected(host: Arc<dyn Host>) -> (Session, Peer) {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(far);
    let mut peer = Peer { lines: BufReader::new(input).lines(), output };
    let config = ServerConfig::stdio("peer", "", Vec::<String>::new());
    let shaking = async {
        let initialize = peer.next("initialize").await;
        let version = initialize["params"]["protocolVersion"].clone();
        let info = json!({ "name": "peer", "version": "1" });
        let result =
            json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": info });
        peer.answer(&initialize, result).await;
        peer.next("notifications/initialized").await;
    };
    let connecting = Session::connect_over(&config, host, tokio::io::split(near));
    let (session, ()) = tokio::join!(connecting, shaking);
    (session.unwrap(), peer)
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_ignored_and_its_request_is_cancelled() {
    let (session, mut peer) = connected(Arc::new(NoHost)).await;
    let (called, late) = tokio::join!(session.call("slow", no_arguments()), peer.next("tools/call"));
    let error = called.unwrap_err();
    let ErrorKind::Timeout { phase, limit, .. } = *error.kind else { panic!("{error}") };
    assert_eq!((phase, limit), (Phase::Call("slow".to_owned()), mcp::DEFAULT_REQUEST_TIMEOUT));
    assert_eq!(peer.next("notifications/cancelled").await["params"]["requestId"], late["id"]);
    peer.answer(&late, text("too late")).await;
    let next = async {
        let request = peer.next("tools/call").await;
        assert_ne!(request["id"], late["id"]);
        peer.answer(&request, text("in time")).await;
    };
    let (called, ()) = tokio::join!(session.call("fast", no_arguments()), next);
    assert!(called.unwrap().raw().get().contains("in time"));
}

#[tokio::test(start_paused = true)]
async fn progress_extends_a_request_but_not_without_end() {
    let (session, mut peer) = connected(Arc::new(NoHost)).await;
    let limit = mcp::DEFAULT_REQUEST_TIMEOUT;
    let started = tokio::time::Instant::now();
    let reporting = async {
        let request = peer.next("tools/call").await;
        let token = request["params"]["_meta"]["progressToken"].clone();
        for progress in 1.. {
            tokio::time::sleep(limit / 2).await;
            let params = json!({ "progressToken": token, "progress": progress });
            let method = "notifications/progress";
            peer.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
        }
    };
    let error = tokio::select! {
        called = session.call("slow", no_arguments()) => called.unwrap_err(),
        () = reporting => unreachable!("reports have no end"),
    };
    assert!(matches!(*error.kind, ErrorKind::Timeout { .. }), "{error}");
    let (waited, most) = (started.elapsed(), limit * mcp::PROGRESS_FACTOR);
    assert!(waited >= most && waited < most + Duration::from_secs(1), "{waited:?}");
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_and_never_sent_again() {
    let (session, mut peer) = connected(Arc::new(NoHost)).await;
    let dropped = tokio::select! {
        _ = session.call("dropped", no_arguments()) => unreachable!("there is no answer"),
        request = peer.next("tools/call") => request,
    };
    assert_eq!(peer.next("notifications/cancelled").await["params"]["requestId"], dropped["id"]);
    let next = async {
        let request = peer.next("tools/call").await;
        assert_eq!(request["params"]["name"], "next");
        peer.answer(&request, text("answered")).await;
    };
    let (called, ()) = tokio::join!(session.call("next", no_arguments()), next);
    called.unwrap();
}

#[tokio::test]
async fn an_answer_with_repeated_names_is_a_protocol_error() {
    let (session, mut peer) = connected(Arc::new(NoHost)).await;
    let twice = async {
        let request = peer.next("tools/call").await;
        let result = r#"{ "content": [], "isError": false, "isError": true }"#;
        let line = format!("{{ \"jsonrpc\": \"2.0\", \"id\": {}, \"result\": {result} }}\n", request["id"]);
        peer.output.write_all(line.as_bytes()).await.unwrap();
    };
    let (called, ()) = tokio::join!(session.call("twice", no_arguments()), twice);
    let error = called.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn a_call_whose_connection_ends_is_closed() {
    let (session, mut peer) = connected(Arc::new(NoHost)).await;
    let ending = async {
        peer.next("tools/call").await;
        drop(peer);
    };
    let (called, ()) = tokio::join!(session.call("last", no_arguments()), ending);
    let error = called.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Closed { .. }), "{error}");
}

/// Answers forms as configured.
struct Answers(bool);

impl Host for Answers {
    fn elicits(&self) -> bool {
        true
    }

    fn elicit<'a>(&'a self, _: &'a str, _: Value) -> BoxFuture<'a, Result<Value, QuestionError>> {
        let answer = if self.0 {
            Ok(json!({ "action": "accept", "content": { "n": 7 } }))
        } else {
            Err(QuestionError::Form("it has no fields".to_owned()))
        };
        std::future::ready(answer).boxed()
    }
}

/// A result that asks for input.
fn input_required() -> Value {
    let question = json!({ "method": "elicitation/create", "params": { "message": "How many?" } });
    json!({ "resultType": "input_required", "inputRequests": { "q": question }, "requestState": "s" })
}

#[tokio::test]
async fn input_is_given_with_the_state_until_the_answer() {
    let (session, mut peer) = connected(Arc::new(Answers(true))).await;
    let asking = async {
        let first = peer.next("tools/call").await;
        assert_eq!(first["params"].get("requestState"), None);
        peer.answer(&first, input_required()).await;
        let second = peer.next("tools/call").await;
        assert_eq!(second["params"]["requestState"], "s");
        assert_eq!(second["params"]["inputResponses"]["q"]["content"], json!({ "n": 7 }));
        peer.answer(&second, text("done")).await;
    };
    let (called, ()) = tokio::join!(session.call("asks", no_arguments()), asking);
    assert!(called.unwrap().raw().get().contains("done"));
}

#[tokio::test]
async fn input_is_requested_only_so_often() {
    let (session, mut peer) = connected(Arc::new(Answers(true))).await;
    let mut requests = 0;
    let asking = async {
        loop {
            let request = peer.next("tools/call").await;
            requests += 1;
            peer.answer(&request, input_required()).await;
        }
    };
    let error = tokio::select! {
        called = session.call("asks", no_arguments()) => called.unwrap_err(),
        () = asking => unreachable!("it asks without end"),
    };
    assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{error}");
    assert_eq!(requests, MAX_ROUNDS);
}

#[tokio::test]
async fn a_question_without_an_answer_ends_the_call_with_its_reason() {
    for host in [Arc::new(Answers(false)) as Arc<dyn Host>, Arc::new(NoHost)] {
        let (session, mut peer) = connected(host).await;
        let asking = async {
            let request = peer.next("tools/call").await;
            peer.answer(&request, input_required()).await;
        };
        let (called, ()) = tokio::join!(session.call("asks", no_arguments()), asking);
        let error = called.unwrap_err();
        assert!(matches!(*error.kind, ErrorKind::Host { .. }), "{error}");
        let reason = error.to_string();
        assert!(reason.contains("it has no fields") || reason.contains("does not declare"), "{reason}");
    }
}
