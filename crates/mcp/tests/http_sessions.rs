//! Sessions over HTTP with a scripted server: what is sent, sent again and never sent again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

use std::sync::Arc;

use axum::{
    Router,
    body::to_bytes,
    extract::Request,
    http::{Method, StatusCode},
    response::{IntoResponse as _, Response},
};
use mcp::{ErrorKind, OAuth, ServerConfig, Session, Transport};
use parking_lot::Mutex;
use serde_json::{Value, json, value::RawValue};

/// One request as the server received it.
#[derive(Debug, Clone, PartialEq)]
struct Received {
    /// The JSON-RPC method, or the HTTP method of a request without a message.
    method: String,
    session: Option<String>,
}

/// A server on this machine.
struct Server {
    config: ServerConfig,
    received: Arc<Mutex<Vec<Received>>>,
}

/// The answer to a call, from its session and the request's id.
type Call = fn(&str, &Value) -> Response;

/// Whether an error is of the expected kind.
type IsKind = fn(&ErrorKind) -> bool;

impl Server {
    async fn start(call: Call) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let log = received.clone();
        let app = Router::new().fallback(move |request: Request| {
            let log = log.clone();
            async move { answer(request, &log, call).await }
        });
        tokio::spawn(async move { axum::serve(listener, app).await });
        Server { config: ServerConfig::http("peer", url), received }
    }

    /// The sessions of the received requests with this method.
    fn sessions(&self, method: &str) -> Vec<Option<String>> {
        let received = self.received.lock();
        received.iter().filter(|one| one.method == method).map(|one| one.session.clone()).collect()
    }
}

fn json(value: &Value) -> Response {
    ([("content-type", "application/json")], value.to_string()).into_response()
}

fn done(id: &Value) -> Response {
    let result = json!({ "content": [{ "type": "text", "text": "done" }] });
    json(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

async fn answer(request: Request, log: &Mutex<Vec<Received>>, call: Call) -> Response {
    let (head, body) = request.into_parts();
    let session = head.headers.get("mcp-session-id").map(|session| session.to_str().unwrap().to_owned());
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or(head.method.as_str()).to_owned();
    let number = {
        let mut log = log.lock();
        log.push(Received { method: method.clone(), session: session.clone() });
        log.iter().filter(|one| one.method == "initialize").count()
    };
    match (head.method, method.as_str()) {
        (Method::POST, "initialize") => {
            let version = &message["params"]["protocolVersion"];
            let info = json!({ "name": "peer", "version": "1" });
            let result =
                json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": info });
            let mut answer = json(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            answer.headers_mut().insert("mcp-session-id", format!("s{number}").parse().unwrap());
            answer
        }
        (Method::POST, "tools/call") => call(session.as_deref().unwrap_or_default(), &message["id"]),
        (Method::POST, _) if message.get("id").is_none() => StatusCode::ACCEPTED.into_response(),
        (Method::POST, _) => {
            let error = json!({ "code": -32601, "message": "unknown method" });
            json(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
        }
        (Method::DELETE, _) => StatusCode::NO_CONTENT.into_response(),
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

async fn call(session: &Session) -> Result<mcp::CallResult, mcp::Error> {
    session.call("tool", RawValue::from_string("{}".to_owned()).unwrap()).await
}

fn ids(ids: &[&str]) -> Vec<Option<String>> {
    ids.iter().map(|id| Some((*id).to_owned())).collect()
}

#[tokio::test]
async fn a_call_in_a_lost_session_is_sent_once_more_in_a_new_one() {
    let not_found: Call = |session, id| match session {
        "s1" => StatusCode::NOT_FOUND.into_response(),
        _ => done(id),
    };
    // Many servers answer 400 after a restart, before they read the request.
    let bad_request: Call = |session, id| match session {
        "s1" => (StatusCode::BAD_REQUEST, "Bad Request: No valid session ID provided").into_response(),
        _ => done(id),
    };
    for lost in [not_found, bad_request] {
        let server = Server::start(lost).await;
        let session = Session::connect(&server.config).await.unwrap();
        assert!(call(&session).await.unwrap().raw().get().contains("done"));
        assert_eq!(server.sessions("tools/call"), ids(&["s1", "s2"]));
        session.close().await;
        assert_eq!(server.sessions("DELETE"), ids(&["s2"]));
    }
}

#[tokio::test]
async fn a_call_whose_new_session_is_lost_too_fails() {
    let server = Server::start(|_, _| StatusCode::NOT_FOUND.into_response()).await;
    let session = Session::connect(&server.config).await.unwrap();
    let error = call(&session).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Http { .. }), "{error}");
    assert_eq!(server.sessions("tools/call"), ids(&["s1", "s2"]));
}

#[tokio::test]
async fn failures_that_are_not_about_the_session_are_not_repeated() {
    let cases: [(Call, IsKind); 5] = [
        (
            |_, _| (StatusCode::BAD_REQUEST, "wrong arguments").into_response(),
            |kind| matches!(kind, ErrorKind::Http { reason, .. } if reason.contains("HTTP 400")),
        ),
        (
            |_, id| {
                let error = json!({ "code": -32602, "message": "no such session" });
                let body = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
                (StatusCode::BAD_REQUEST, [("content-type", "application/json")], body).into_response()
            },
            |kind| matches!(kind, ErrorKind::Rpc { code: -32602, .. }),
        ),
        (
            |_, _| StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            |kind| matches!(kind, ErrorKind::Http { reason, .. } if reason.contains("HTTP 500")),
        ),
        (
            |_, _| ([("content-type", "text/html")], "<p>hello").into_response(),
            |kind| matches!(kind, ErrorKind::Http { reason, .. } if reason.contains("text/html")),
        ),
        (
            |_, _| (StatusCode::FOUND, [("location", "http://elsewhere.example/mcp?key=1")]).into_response(),
            |kind| {
                matches!(kind, ErrorKind::Http { reason, .. }
                    if reason.contains("http://elsewhere.example/mcp,") && !reason.contains("key"))
            },
        ),
    ];
    for (index, (answer, is_expected)) in cases.into_iter().enumerate() {
        let server = Server::start(answer).await;
        let session = Session::connect(&server.config).await.unwrap();
        let error = call(&session).await.unwrap_err();
        assert!(is_expected(&error.kind), "{index}: {error}");
        assert_eq!(server.sessions("tools/call"), ids(&["s1"]), "{index}");
    }
}

#[tokio::test]
async fn a_rejected_call_reports_the_challenge_if_a_login_may_help() {
    let rejects: Call = |_, _| {
        let challenge = [("www-authenticate", "Bearer scope=\"orders\"")];
        (StatusCode::UNAUTHORIZED, challenge, "log in").into_response()
    };
    let mut server = Server::start(rejects).await;
    let session = Session::connect(&server.config).await.unwrap();
    let error = call(&session).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Http { .. }), "{error}");

    let Transport::Http(remote) = &mut server.config.transport else { unreachable!() };
    // No metadata is published: the configuration says how to log in.
    remote.oauth = Some(OAuth { token_url: Some("http://127.0.0.1:9/token".to_owned()), ..OAuth::default() });
    let session = Session::connect(&server.config).await.unwrap();
    let error = call(&session).await.unwrap_err();
    let ErrorKind::Unauthorized { challenge, .. } = &*error.kind else { panic!("{error}") };
    assert_eq!(challenge.header(), Some("Bearer scope=\"orders\""));
    assert_eq!(server.sessions("tools/call"), ids(&["s1", "s2"]));
}

#[tokio::test]
async fn a_stream_may_contain_other_messages_before_the_answer() {
    let server = Server::start(|_, id| {
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": "info", "data": "halfway" } });
        let result = json!({ "content": [{ "type": "text", "text": "done" }] });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let events = format!("data: {log}\n\nevent: other\ndata: dropped\n\ndata: {answer}\n\n");
        ([("content-type", "text/event-stream")], events).into_response()
    })
    .await;
    let session = Session::connect(&server.config).await.unwrap();
    assert!(call(&session).await.unwrap().raw().get().contains("done"));
}
