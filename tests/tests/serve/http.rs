//! `toolsmith serve --http`: authorization, isolation of sessions, lost connections.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use end_to_end::harness::{FAULT_SERVER, Run, fault_entry, unique};
use end_to_end::page::normal;
use end_to_end::serving::{Client, DEMO, HANDSHAKE, STATELESS, Serve, execute, outcome_of, recording};
use insta::assert_snapshot;
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::{Value, json};

const TOKEN: &str = "a-token-used-only-in-tests";

/// Makes a call that is recorded, and then continues for a while.
pub(crate) const CALLS_AND_CONTINUES: &str = "let call = rec::wait().message(\"x\"); let _ = tokio::time::timeout(Duration::from_millis(100), \
                                 call).await; demo::slow(3).await?; 42";

pub(crate) fn recorded(record: &Path, what: &str) -> usize {
    fs::read_to_string(record).unwrap_or_default().lines().filter(|line| line.starts_with(what)).count()
}

#[track_caller]
pub(crate) fn assert_ok(answer: &Value, result: &Value) {
    assert_eq!(outcome_of(answer)["status"], "ok", "{answer:#}");
    assert_eq!(&outcome_of(answer)["result"], result, "{answer:#}");
}

#[test]
fn clients_of_every_revision_are_served() {
    let server = Serve::http(DEMO).start();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", HANDSHAKE] {
        let (client, answer) = server.client().shake_hands_as(version, &json!({}));
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer:#}");
        let tools = client.ask("tools/list", &json!({}));
        assert_eq!(tools["result"]["tools"][0]["name"], "execute_code", "{tools:#}");
        assert_ok(&client.ask("tools/call", &execute("6 * 7")), &json!(42));
    }
    let client = server.client().stateless();
    let found = client.ask("server/discover", &json!({}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(STATELESS)), "{found:#}");
    let tools = client.ask("tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"][0]["name"], "execute_code", "{tools:#}");
    assert_ok(&client.ask("tools/call", &execute("6 * 7")), &json!(42));
    // A client of a future revision is offered the newest revision with a handshake.
    let (_, answer) = server.client().shake_hands_as("2099-01-01", &json!({}));
    assert_eq!(answer["result"]["protocolVersion"], HANDSHAKE, "{answer:#}");
}

/// Simple clients send another `Accept` than the transport asks for, a slash at the end of the path, or a byte order mark.
#[test]
fn simple_clients_are_served() {
    let server = Serve::http(DEMO).start();
    let parameters = json!({ "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters });
    let asked = |accept: &str, slash: &str, mark: &str| {
        let client = Client::new(&format!("{}{slash}", server.address())).header("accept", accept);
        client.post(format!("{mark}{message}"))
    };
    for (accept, slash, mark) in [
        ("", "", ""),
        ("*/*", "", ""),
        ("application/*", "", ""),
        ("application/json", "", "\u{feff}"),
        ("text/*;q=0.5, application/*", "/", ""),
        ("application/json, text/event-stream", "/", "\u{feff}"),
    ] {
        let answer = asked(accept, slash, mark);
        assert_eq!(answer.status, StatusCode::OK, "{accept} {slash}: {answer:?}");
        let takes_events = !accept.starts_with("application/") || accept.contains("text/");
        let (kind, text) = if takes_events {
            ("text/event-stream", answer.text.lines().rfind(|line| line.starts_with("data: {")).unwrap())
        } else {
            ("application/json", answer.text.as_str())
        };
        assert_eq!(answer.headers["content-type"], kind, "{accept}");
        let answer: Value = serde_json::from_str(text.trim_start_matches("data: ")).unwrap();
        assert_eq!(answer["result"]["protocolVersion"], HANDSHAKE, "{answer:#}");
    }
    assert_eq!(asked("text/html", "", "").status, StatusCode::NOT_ACCEPTABLE);
}

#[test]
fn an_id_names_one_request_at_a_time() {
    let server = Serve::http(DEMO).start();
    let client = server.client().shake_hands();
    let mut first = client.begin("tools/call", &execute("demo::slow(2).await?; 42"));
    let again = |id: u32| client.post(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string());
    let refused = again(first.id());
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    insta::assert_snapshot!(refused.text, @r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"a request with the id 3 is not answered yet; give each request of a session an id of its own"}}"#);
    assert_ok(&first.end(), &json!(42));
    let id = first.id();
    drop(first);
    assert_eq!(again(id).status, StatusCode::OK);
}

#[test]
fn only_clients_with_the_token_are_served() {
    let server = Serve::http(DEMO)
        .arguments(&["--token-env", "DOOR"])
        // As read from a file with a trailing newline.
        .variable("DOOR", &format!("{TOKEN}\n"))
        .start();
    let client = server.client();
    let nothing = client.post("{}");
    assert_eq!(nothing.status, StatusCode::UNAUTHORIZED);
    assert_eq!(nothing.headers["www-authenticate"], "Bearer realm=\"toolsmith\"");
    let mut shown = Vec::new();
    for wrong in [
        client.clone().header("authorization", "Bearer wrong"),
        client.clone().header("authorization", &format!("Basic {TOKEN}")),
        client.clone().header("authorization", &format!("Bearer {TOKEN}x")),
    ] {
        let answer = wrong.post("{}");
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        shown.push(normal(&answer.headers["www-authenticate"].to_str().unwrap()));
        assert_eq!(wrong.delete().status, StatusCode::UNAUTHORIZED);
    }
    assert_snapshot!(shown.join("\n"), @r#"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is neither a known token nor a JSON Web Token"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is malformed"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is neither a known token nor a JSON Web Token"
    "#);
    for open in ["/healthz", "/readyz"] {
        let answer = client.get(open);
        assert_ne!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(!answer.text.contains("demo") && !answer.text.contains(TOKEN), "{answer:?}");
    }
    let right = client.header("authorization", &format!("Bearer {TOKEN}")).shake_hands();
    assert_ok(&right.ask("tools/call", &execute("6 * 7")), &json!(42));
    assert!(!server.stderr().contains(TOKEN));
}

#[test]
fn servers_do_not_inherit_the_token() {
    let seen = "env > seen; exec \"$0\" \"$@\"";
    let config = format!(
        "mcpServers:\n  faulty: {{ command: sh, args: [-c, {seen:?}, {FAULT_SERVER:?}, sound], cwd: . }}\n\
         serve: {{ listWait: 50 }}\n"
    );
    let server = Serve::http(&config)
        .arguments(&["--token-env", "DOOR"])
        .variable("DOOR", TOKEN)
        .variable("ANOTHER_VARIABLE", "is-inherited")
        .start();
    let client = server.client().header("authorization", &format!("Bearer {TOKEN}")).shake_hands();
    client.ask("tools/list", &json!({}));
    let environment = fs::read_to_string(server.path("seen")).unwrap();
    assert!(environment.contains("is-inherited"), "{environment}");
    assert!(!environment.contains(TOKEN) && !environment.contains("DOOR"), "{environment}");
}

#[test]
fn without_a_token_only_this_machine_is_served() {
    let refused = |arguments: &[&str], variable: Option<&str>, phrases: &[&str]| {
        let mut run =
            Run::new(end_to_end::cache::shared()).argument("serve").config_alone(DEMO).arguments(arguments);
        if let Some(value) = variable {
            run = run.variable("DOOR", value);
        }
        run.done().exits(2).says(phrases);
    };
    for address in ["0.0.0.0:0", "[::]:0"] {
        refused(&["--http", address], None, &["can be reached from other machines", "--token-env"]);
    }
    let with_token = ["--http", "0.0.0.0:0", "--token-env", "DOOR"];
    refused(&with_token, None, &["DOOR", "is not set"]);
    refused(&with_token, Some("  short \n"), &["DOOR", "can be guessed"]);
    refused(&with_token, Some("two words of some length"), &["DOOR", "spaces"]);
    let server = Serve::new(DEMO).arguments(&["--http", "[::1]:0"]).start();
    assert_snapshot!(normal(&server.address()), @"http://[::1]:[port]/mcp");
    server.client().shake_hands().ask("tools/list", &json!({}));
}

#[test]
fn foreign_origins_and_hosts_are_rejected() {
    let server = Serve::http(&format!(
        "{DEMO}serve:\n  hosts: [tools.example.com]\n  origins: [\"https://app.example.com:443\"]\n"
    ))
    .start();
    let client = server.client();
    let status = |name: &str, value: &str| client.clone().header(name, value).post("{}").status;
    for (name, wrong) in [
        ("origin", "https://evil.example.com"),
        ("origin", "http://app.example.com"),
        ("origin", "null"),
        ("host", "evil.example.com"),
        ("host", "evil.example.com:80"),
    ] {
        assert_eq!(status(name, wrong), StatusCode::FORBIDDEN, "{name}: {wrong}");
    }
    // A browser sends a preflight request without the token, and hides responses that do not allow the page.
    let page = client.clone().header("origin", "https://app.example.com");
    let asked = page.clone().header("access-control-request-method", "POST").options();
    assert_eq!(asked.status, StatusCode::NO_CONTENT);
    assert_snapshot!(normal(&asked.headers["access-control-allow-headers"].to_str().unwrap()), @r"
    accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id
    ");
    assert_eq!(page.post("{}").headers["access-control-allow-origin"], "https://app.example.com");
    let other = client.clone().header("origin", "https://evil.example.com");
    let asked = other.clone().header("access-control-request-method", "POST").options();
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    for refused in [asked, other.post("{}")] {
        assert!(!refused.headers.contains_key("access-control-allow-origin"), "{refused:?}");
    }
    for (name, right) in
        [("origin", "https://app.example.com"), ("host", "tools.example.com"), ("host", "localhost:1")]
    {
        client.clone().header(name, right).shake_hands();
    }
}

#[test]
fn requests_are_bounded() {
    let server = Serve::http(DEMO).start();
    let client = server.client();
    let long = client.post(vec![b' '; (4 << 20) + 1]);
    assert_eq!(long.status, StatusCode::PAYLOAD_TOO_LARGE, "{long:?}");
    let client = client.shake_hands();
    // A request with a snippet of one megabyte is accepted; only the snippet exceeds its limits.
    let answer = client.ask("tools/call", &execute(&format!("// {}\n6 * 7", "x".repeat(1 << 20))));
    assert!(answer["result"].is_object(), "{answer:#}");
}

#[test]
fn the_number_of_sessions_is_limited() {
    let server = Serve::http(&format!("{DEMO}serve: {{ maxSessions: 2 }}\n")).start();
    let first = server.client().shake_hands();
    let _second = server.client().shake_hands();
    let hello = json!({
        "jsonrpc": "2.0", "id": "seven", "method": "initialize",
        "params": { "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } },
    });
    let refused = server.client().post(hello.to_string());
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE, "{refused:?}");
    assert!(refused.headers.contains_key("retry-after"));
    let error: Value = serde_json::from_str(&refused.text).unwrap();
    assert_eq!(error["id"], "seven");
    assert_snapshot!(normal(&error["error"]["message"]), @r"
    the limit of 2 sessions (serve.maxSessions) is reached; end one, or try again later
    ");
    // Clients without sessions need none.
    let tools = server.client().stateless().ask("tools/list", &json!({}));
    assert!(tools["result"]["tools"].is_array(), "{tools:#}");
    assert!(first.delete().status.is_success());
    let third = server.client().shake_hands();
    assert_ok(&third.ask("tools/call", &execute("6 * 7")), &json!(42));
    let gone = first.post(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string());
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}

#[test]
fn a_sessions_outputs_are_not_visible_to_others() {
    let server = Serve::http(&format!("{DEMO}serve: {{ output: 1KiB }}\n")).start();
    let (one, other) = (server.client().shake_hands(), server.client().shake_hands());
    let answer = one.ask("tools/call", &execute("for n in 0..10_000 { println!(\"{n}\"); }"));
    let uri = &outcome_of(&answer)["truncated"]["stdout_resource"];
    assert!(uri.is_string(), "{answer:#}");
    let own = one.ask("resources/read", &json!({ "uri": uri }));
    assert!(own["result"]["contents"][0]["text"].as_str().unwrap().starts_with("0\n1\n"), "{own:#}");
    let listed = |client: &Client| {
        let listed = client.ask("resources/list", &json!({}));
        listed["result"]["resources"].as_array().unwrap().iter().any(|resource| &resource["uri"] == uri)
    };
    assert!(listed(&one) && !listed(&other));
    for foreign in [other, server.client().stateless()] {
        let refused = foreign.ask("resources/read", &json!({ "uri": uri }));
        assert!(refused["error"].is_object(), "{refused:#}");
    }
}

/// A permission for a session does not apply to other sessions.
#[test]
fn permissions_are_per_session() {
    let config = format!("mcpServers:\n{}", fault_entry("faulty", "sound", "    permission: ask\n"));
    let server = Serve::http(&config).start();
    let elicits = json!({ "elicitation": {} });
    let call = execute("faulty::echo().message(\"x\").await?.text()");
    let asked = |client: &Client, answer: &str| {
        let mut answering = client.begin("tools/call", &call);
        let mut is_asked = false;
        loop {
            let message = answering.next().unwrap();
            if message["method"] == "elicitation/create" {
                is_asked = true;
                let content = json!({ "action": "accept", "content": { "answer": answer } });
                client.answer(&message["id"], &content);
            } else if message["id"] == answering.id() {
                return (is_asked, outcome_of(&message)["status"].clone());
            }
        }
    };
    let (one, _) = server.client().shake_hands_as(HANDSHAKE, &elicits);
    let (other, _) = server.client().shake_hands_as(HANDSHAKE, &elicits);
    assert_eq!(asked(&one, "session"), (true, json!("ok")));
    assert_eq!(asked(&one, "no"), (false, json!("ok")));
    assert_eq!(asked(&other, "no"), (true, json!("denied")));
    assert_eq!(asked(&other, "once"), (true, json!("ok")));
    assert_eq!(asked(&other, "no"), (true, json!("denied")));
}

/// Each session has its own sessions with servers of direct tools.
#[test]
fn sessions_do_not_share_server_sessions() {
    let state = tempfile::tempdir().unwrap();
    let config = format!(
        "mcpServers:\n  counted: {{ command: sh, args: [-c, 'echo >> {}; exec \"$0\" sound', {FAULT_SERVER:?}], \
         codeMode: false, trust: true }}\n",
        state.path().join("starts").display()
    );
    let server = Serve::http(&config).start();
    let (one, other) = (server.client().shake_hands(), server.client().shake_hands());
    let starts = || fs::read_to_string(state.path().join("starts")).unwrap_or_default().lines().count();
    let call = json!({ "name": "echo", "arguments": { "message": "x" } });
    assert!(one.ask("tools/call", &call)["result"]["content"].is_array());
    let before = starts();
    assert!(one.ask("tools/call", &call)["result"]["content"].is_array());
    assert_eq!(starts(), before, "the second call must go to the same process");
    assert!(other.ask("tools/call", &call)["result"]["content"].is_array());
    assert_eq!(starts(), before + 1, "another session must have its own process");
}

#[test]
fn readyz_succeeds_once_snippets_can_run_and_servers_have_answered() {
    let server = Serve::http(DEMO).start();
    let client = server.client();
    assert_eq!(client.get("/healthz").status, StatusCode::OK);
    server.wait_until("readiness", || client.get("/readyz").status == StatusCode::OK);
    let silent =
        Serve::http(&format!("mcpServers:\n{}", fault_entry("faulty", "silent-initialize", ""))).start();
    let client = silent.client();
    assert_eq!(client.get("/healthz").status, StatusCode::OK);
    silent.wait_until("the reason", || {
        let answer = client.get("/readyz");
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        answer.text.contains("not all servers have answered")
    });
}

/// In a session, losing a connection cancels nothing: the client may resume.
#[test]
fn a_client_with_a_session_can_resume_a_lost_stream() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let server = Serve::http(&recording(&record)).start();
    let client = server.client().shake_hands();
    let mut call = execute(&format!("progress(1, 2, \"half\"); {CALLS_AND_CONTINUES}"));
    call["_meta"] = json!({ "progressToken": "p" });
    let mut answering = client.begin("tools/call", &call);
    answering.until(|message| message["params"]["message"] == "1 of 2 half");
    let (id, last) = (answering.id(), answering.last_event.clone().unwrap());
    server.wait_until("the call", || recorded(&record, "call") == 1);
    drop(answering);
    assert_ok(&client.resume(id, &last).end(), &json!(42));
}

/// Without a session, the client cannot resume, so the execution is cancelled.
#[test]
fn a_disconnect_without_a_session_cancels_the_execution() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let one_place = "serve: { maxExecutions: 1, maxWaiting: 0 }\n";
    let server = Serve::http(&format!("{}{one_place}", recording(&record))).start();
    let address = server.address();
    let authority = address.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "execute_code", "arguments": { "code": "rec::wait().message(\"x\").await?;" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": { "name": "x", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    })
    .to_string();
    let mut stream = TcpStream::connect(authority).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/call\r\nMcp-Name: \
         execute_code\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    server.wait_until("the call", || recorded(&record, "call") == 1);
    let client = server.client().stateless();
    let status = || {
        let answer = client.ask("tools/call", &execute("6 * 7"));
        outcome_of(&answer)["status"].clone()
    };
    assert_eq!(status(), "busy");
    drop(stream);
    server.wait_until("its place", || status() == "ok");
}

#[test]
fn ending_a_session_cancels_its_execution() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let server = Serve::http(&recording(&record)).start();
    let client = server.client().shake_hands();
    let _answering = client.begin("tools/call", &execute("rec::wait().message(\"x\").await?;"));
    server.wait_until("the call", || recorded(&record, "call") == 1);
    assert_eq!(client.delete().status, StatusCode::NO_CONTENT);
    let ping = client.post(json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }).to_string());
    assert_eq!(ping.status, StatusCode::NOT_FOUND, "{ping:?}");
    server.wait_until("the cancellation", || recorded(&record, "cancelled") == 1);
}

/// The program calls a tool ten times a second while it runs.
#[test]
fn an_ended_session_makes_no_further_calls() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let server = Serve::http(&format!("{}serve: {{ maxExecutions: 1 }}\n", recording(&record))).start();
    let (client, other) = (server.client().shake_hands(), server.client().shake_hands());
    let code = "loop { let call = rec::wait().message(\"x\"); let _ = tokio::time::timeout(Duration::from_millis(100), \
                call).await; }";
    let _answering = client.begin("tools/call", &execute(code));
    server.wait_until("the calls", || recorded(&record, "call") >= 3);
    let before = recorded(&record, "call");
    assert!(client.delete().status.is_success());
    // There is one slot, so it waits for the other one to end.
    assert_ok(&other.ask("tools/call", &execute("6 * 7")), &json!(42));
    let calls = recorded(&record, "call") - before;
    assert!(calls < 20, "{calls} calls after the end of the session");
}

/// Neither the busy program, nor a server that ignores the end of its input.
#[test]
fn a_kill_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let deaf = fault_entry("deaf", "deaf", "");
    let mut server =
        Serve::http(&format!("{}{deaf}serve: {{ listWait: 0.1 }}\n", recording(&record))).start();
    let client = server.client().shake_hands();
    let code = format!("std::thread::spawn(|| loop {{}}); rec::wait().message(\"{}\").await?;", unique());
    let _answering = client.begin("tools/call", &execute(&code));
    server.wait_until("the call", || recorded(&record, "call") == 1);
    server.wait_until("the server", || server.has_started("fault-server deaf"));
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
}

#[test]
fn an_address_in_use_is_reported() {
    let server = Serve::http(DEMO).start();
    let address = server.address();
    let taken = address.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
    let mut second = Serve::new(DEMO).arguments(&["--http", taken]).start();
    assert_eq!(second.end(), Some(7));
    second.wait_for_log("can't listen on");
}

#[test]
fn a_silent_connection_does_not_affect_others() {
    let mut server = Serve::http(DEMO).start();
    let address = server.address();
    let authority = address.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
    let mut silent: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(authority).unwrap()).collect();
    for stream in &mut silent {
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
    }
    assert_ok(&server.client().shake_hands().ask("tools/call", &execute("6 * 7")), &json!(42));
    server.signal(Signal::TERM);
    assert_eq!(server.end(), Some(0));
    for mut stream in silent {
        // Closed, or reset.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
}
