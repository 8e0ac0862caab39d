//! Spare sessions with servers over HTTP. The servers record their requests, and number their sessions.

use std::collections::BTreeSet;
use std::process::Command;

use end_to_end::protected_server::ProtectedServer;
use end_to_end::services::Service;
use end_to_end::serving::{Serve, Server, execute, outcome_of};
use serde_json::Value;

/// A snippet that returns the id of the session that it uses.
const SESSION: &str = "web::echo().await?.text()";

/// The watched session, that of the first execution, and two spare ones (the default of `perServer`).
const AFTER_THE_FIRST: usize = 4;

/// A configuration with the server `web`, and more keys of its entry.
fn config(web: &Service, more: &str) -> String {
    format!("mcpServers:\n  web: {{ type: http, url: {:?}, trust: true{more} }}\n", web.mcp_address())
}

fn serving(config: &str) -> Server {
    let mut server = Serve::new(config).start();
    server.shake_hands();
    server
}

/// The result of a snippet, which must be a text.
#[track_caller]
fn result_of(server: &mut Server, id: u32, code: &str) -> String {
    let answer = server.ask(id, "tools/call", &execute(code));
    let outcome = outcome_of(&answer);
    assert_eq!(outcome["status"], "ok", "{answer:#} {}", server.stderr());
    outcome["result"].as_str().unwrap().to_owned()
}

/// The requests in a server's record so far.
fn requests(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The requests of a server with this JSON-RPC method.
fn requests_of(web: &Service, method: &str) -> Vec<Value> {
    requests(&web.lines()).into_iter().filter(|request| request["message"]["method"] == method).collect()
}

fn session_of(request: &Value) -> Option<String> {
    Some(request["headers"]["mcp-session-id"].as_str()?.to_owned())
}

/// The sessions whose tools were listed.
fn listed(web: &Service) -> BTreeSet<String> {
    requests_of(web, "tools/list").iter().filter_map(session_of).collect()
}

/// The sessions that were ended.
fn deleted(web: &Service) -> BTreeSet<String> {
    let requests = requests(&web.lines()).into_iter();
    requests
        .filter(|request| request["method"] == "DELETE")
        .filter_map(|request| session_of(&request))
        .collect()
}

#[test]
fn each_execution_has_its_own_session_which_was_opened_before() {
    let web = Service::fault("names-sessions");
    let mut server = serving(&config(&web, ""));
    let mut used = BTreeSet::from([result_of(&mut server, 1, SESSION)]);
    for (execution, id) in (2..7).enumerate() {
        server.wait_until("spare sessions", || listed(&web).len() >= AFTER_THE_FIRST + execution);
        let before = listed(&web);
        let session = result_of(&mut server, id, SESSION);
        assert!(before.contains(&session), "opened only now: {session} {before:?}");
        assert!(used.insert(session.clone()), "used before: {session} {used:?}");
        server.wait_until("the end of its session", || deleted(&web).contains(&session));
    }
    let calls: Vec<String> = requests_of(&web, "tools/call").iter().filter_map(session_of).collect();
    assert_eq!(calls.iter().cloned().collect::<BTreeSet<_>>(), used);
    assert_eq!(calls.len(), used.len(), "{calls:?}");
    // The server counts initialisations in its ids.
    assert!(listed(&web).len() <= requests_of(&web, "initialize").len());
}

#[test]
fn spare_sessions_are_ended_when_their_server_is_not_used() {
    let web = Service::fault("names-sessions");
    let mut server = serving(&(config(&web, "") + "serve: { spares: { idleTime: 2 } }\n"));
    let first = result_of(&mut server, 1, SESSION);
    // That of the execution, and the spare ones.
    let ended = AFTER_THE_FIRST - 1;
    server.wait_until("the end of all but the watched session", || deleted(&web).len() >= ended);
    let before = listed(&web);
    assert_eq!((before.len(), deleted(&web).len()), (AFTER_THE_FIRST, ended));
    assert!(deleted(&web).contains(&first));
    let session = result_of(&mut server, 2, SESSION);
    assert!(!before.contains(&session), "{session} {before:?}");
}

/// The server never answers the check of a spare session, and the snippet does not compile.
#[test]
fn a_spare_session_is_ended_if_its_execution_ends_during_the_check() {
    let fault = env!("CARGO_BIN_EXE_http-fault-server");
    let web = Service::start(Command::new(fault).args(["hangs", "other"]));
    let mut server = serving(&config(&web, ", pingInterval: 0"));
    let call = "web::echo().await.is_ok()";
    assert_eq!(outcome_of(&server.ask(1, "tools/call", &execute(call)))["status"], "ok");
    server.wait_until("spare sessions", || listed(&web).len() >= AFTER_THE_FIRST);
    let first: BTreeSet<String> = requests_of(&web, "tools/call").iter().filter_map(session_of).collect();
    let answer = server.ask(2, "tools/call", &execute(&format!("let _: u8 = \"\"; {call}")));
    assert_ne!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    server.wait_until("the end of the spare session", || !deleted(&web).is_subset(&first));
}

/// Servers of MCP 2026-07-28 have no sessions.
#[test]
fn servers_without_sessions_get_none() {
    let (web, other) = (Service::fault("stateless"), Service::fault("names-sessions"));
    let other_entry = config(&other, "").replace("mcpServers:\n  web", "  other");
    let idle = "serve: { spares: { idleTime: 2 } }\n";
    let mut server = serving(&(config(&web, "") + &other_entry + idle));
    result_of(&mut server, 1, "web::echo().await.is_ok(); other::echo().await?.text()");
    // By then, all spare sessions were opened, and ended.
    server.wait_until("the end of the other's", || deleted(&other).len() >= AFTER_THE_FIRST - 1);
    // The execution uses the watched session.
    assert_eq!(requests_of(&web, "tools/list").len(), 1);
    assert_eq!(requests_of(&web, "tools/call").len(), 1);
    assert!(requests_of(&web, "initialize").is_empty());
}

#[test]
fn a_spare_session_with_an_older_header_is_not_used() {
    let web = Service::fault("names-sessions");
    let mut server = serving(&config(&web, ", headers: { X-Key: first }"));
    result_of(&mut server, 1, SESSION);
    server.wait_until("spare sessions", || listed(&web).len() >= AFTER_THE_FIRST);
    let before = listed(&web);
    server.configure(&config(&web, ", headers: { X-Key: second }"));
    server.wait_until("the end of the old sessions", || before.is_subset(&deleted(&web)));
    server.wait_until("the list of the new configuration", || !listed(&web).is_subset(&before));
    let session = result_of(&mut server, 2, SESSION);
    assert!(!before.contains(&session), "{session} {before:?}");
    for request in requests(&web.lines()) {
        let key = if session_of(&request).is_some_and(|session| before.contains(&session)) {
            "first"
        } else {
            "second"
        };
        let has_session = session_of(&request).is_some();
        assert!(!has_session || request["headers"]["x-key"] == key, "{request:#}");
    }
}

#[test]
fn a_spare_session_whose_list_has_changed_is_listed_again() {
    let web = Service::fault("names-sessions");
    let mut server = serving(&config(&web, ""));
    result_of(&mut server, 1, SESSION);
    server.wait_until("spare sessions", || listed(&web).len() >= AFTER_THE_FIRST);
    let before = listed(&web);
    web.command("change");
    server.wait_until("the changed list", || server.stderr().contains("2 tools"));
    let listings = |session: &String| {
        let lists = requests_of(&web, "tools/list");
        lists.iter().filter(|request| session_of(request).as_ref() == Some(session)).count()
    };
    // All but that of the first execution.
    let again = || before.iter().filter(|session| listings(session) > 1).count();
    server.wait_until("the new lists of the sessions", || again() == AFTER_THE_FIRST - 1);
    let session = result_of(&mut server, 2, &SESSION.replace("echo", "late"));
    assert!(before.contains(&session), "{session} {before:?}");
}

/// The sessions of a server with logins whose tools were listed.
fn listed_with_login(guarded: &ProtectedServer) -> BTreeSet<String> {
    let lists =
        requests(&guarded.lines()).into_iter().filter(|request| request["json"]["method"] == "tools/list");
    lists.filter_map(|request| Some(request["session"].as_str()?.to_owned())).collect()
}

/// Session and credential of each call.
fn calls_with_login(guarded: &ProtectedServer) -> Vec<(String, String)> {
    let calls =
        requests(&guarded.lines()).into_iter().filter(|request| request["json"]["method"] == "tools/call");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    calls.map(|request| (text(&request["session"]), text(&request["authorization"]))).collect()
}

#[test]
fn a_spare_session_with_an_older_login_is_not_used() {
    const CALL: &str = "guarded::echo().await?.text()";
    let guarded = ProtectedServer::new();
    guarded.logged_in("0").0.exits(0);
    let mut server = guarded.serving();
    server.shake_hands();
    result_of(&mut server, 1, CALL);
    server.wait_until("spare sessions", || listed_with_login(&guarded).len() >= AFTER_THE_FIRST);
    let before = listed_with_login(&guarded);

    guarded.logged_in("0").0.exits(0);
    result_of(&mut server, 2, CALL);
    let calls = calls_with_login(&guarded);
    assert_eq!(calls.len(), 2);
    assert!(!before.contains(&calls[1].0), "{calls:?} {before:?}");
    assert_ne!(calls[0].1, calls[1].1, "the new login has another token");

    let opened = listed_with_login(&guarded).len();
    server.wait_until("spare sessions", || listed_with_login(&guarded).len() > opened);
    guarded.done(&["mcp", "logout", "guarded"], "0").exits(0);
    let answer = server.ask(3, "tools/call", &execute(CALL));
    assert_ne!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    assert!(answer.to_string().contains("toolsmith mcp login guarded"), "{answer:#}");
    assert_eq!(calls_with_login(&guarded).len(), 2);
}
