//! A flood by one subject leaves room for another: of connections, of bytes of requests, and of compilations.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use end_to_end::harness::unique;
use end_to_end::serving::{Client, DEMO, Gate, execute, outcome_of};
use serde_json::json;

use super::{Team, accepted};
use crate::metrics::{refusals, scrape, separate};

/// A quarter of the connections is for others (`http::table::ADMITTED`).
const CONNECTIONS: usize = 512;
const OF_ONE: usize = 384;

/// The longest request, and how many of them one subject may have (`http::body_budget`).
pub(super) const LONGEST: usize = 4 << 20;
const BODIES_OF_ONE: usize = 16;
const BODIES: usize = 100;

/// Memory above idle, in bytes: the bodies of one subject, and buffers that are as long again.
const MEMORY_LIMIT: u64 = 2 * (BODIES_OF_ONE * LONGEST) as u64 + (32 << 20);

/// Begins a request with `sent` bytes of a body that is one byte longer, on a connection of its own.
pub(super) fn unfinished(authority: &str, token: &str, sent: usize) -> TcpStream {
    let mut stream = TcpStream::connect(authority).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
        sent + 1
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server may refuse the rest.
    let _ = stream.write_all(&vec![b' '; sent]);
    stream
}

/// Counts the requests that the server refuses for now.
fn refused(streams: &mut [TcpStream]) -> usize {
    let is_refused = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut begin = [0; 12];
        match stream.read_exact(&mut begin) {
            Ok(()) => begin == *b"HTTP/1.1 503",
            // It waits for the rest, or it has closed the connection.
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    };
    streams.iter_mut().map(is_refused).filter(|is_refused| *is_refused).count()
}

#[test]
fn connections_of_one_subject_leave_room_for_another() {
    let team = Team::new("", "", DEMO);
    let authority = team.server.address().replace("http://", "").replace("/mcp", "");
    let token = team.token(&json!({ "claims": { "sub": "ann", "scope": "" } }));
    let other = team.client("bob", "");
    assert!(accepted(&other));
    let mut of_one: Vec<_> = (0..CONNECTIONS).map(|_| unfinished(&authority, &token, 10)).collect();
    assert!((0..10).all(|_| accepted(&team.client("bob", ""))));
    // Some more, if they arrive faster than they are accepted.
    let refused = refused(&mut of_one);
    assert!((CONNECTIONS - OF_ONE..CONNECTIONS).contains(&refused), "{refused}");
    assert!(refusals(&team.server, "connections") >= refused as u64);
}

#[test]
fn bodies_of_one_subject_leave_memory_for_another() {
    let team = Team::new("", "", DEMO);
    let authority = team.server.address().replace("http://", "").replace("/mcp", "");
    let token = team.token(&json!({ "claims": { "sub": "ann", "scope": "" } }));
    let other = team.client("bob", "");
    assert!(accepted(&other));
    let idle = team.server.peak_memory();
    let mut of_one: Vec<_> = (0..BODIES).map(|_| unfinished(&authority, &token, LONGEST - 1)).collect();
    assert!((0..10).all(|_| accepted(&other)));
    // Some more, if parts of them take the memory.
    let refused = refused(&mut of_one);
    assert!((BODIES - BODIES_OF_ONE..BODIES).contains(&refused), "{refused}");
    assert!(refusals(&team.server, "request_bytes") >= (BODIES - BODIES_OF_ONE) as u64);
    let above = team.server.peak_memory().saturating_sub(idle);
    assert!(above <= MEMORY_LIMIT, "{} MiB above idle", above >> 20);
}

/// Assembled for ten seconds.
pub(super) const LONG: &str = "mod long { core::arch::global_asm!(\".rept 2000\\n.rept 2000\\n.rept 2000\\n.byte 1\\n.endr\\n.endr\\n.endr\"); }";

/// The number of them that one subject sends: three quarters of the executions.
const TEXTS: usize = 12;

#[test]
fn compilers_of_one_subject_keep_no_other_waiting() {
    let team = Team::new("", "  maxExecutions: 16\n", DEMO);
    let (one, other) = (team.client("ann", "").stateless(), team.client("bob", "").stateless());
    let compiled = Arc::new(AtomicUsize::new(0));
    let asking: Vec<_> = (0..TEXTS)
        .map(|number| {
            let (one, compiled) = (one.clone(), compiled.clone());
            thread::spawn(move || {
                one.ask("tools/call", &execute(&format!("{LONG}\n{number}")));
                compiled.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    team.server.wait_until("a compiler", || team.server.tree().count("--crate-name=program") > 0);
    let answer = other.ask("tools/call", &execute(&format!("// {}\n6 * 7", unique())));
    assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
    assert!(compiled.load(Ordering::Relaxed) < TEXTS, "all others were compiled before");
    drop(team);
    // Their answers are cut off.
    assert!(asking.into_iter().any(|asking| asking.join().is_err()));
}

#[test]
fn a_text_that_waits_too_long_for_a_compiler_is_busy() {
    let team = Team::new("", "  queueTimeout: 0.01\n", DEMO);
    let client = team.client("ann", "").stateless();
    let answers: Vec<_> = thread::scope(|scope| {
        let asking: Vec<_> = (0..TEXTS)
            .map(|_| scope.spawn(|| client.ask("tools/call", &execute(&format!("// {}\n6 * 7", unique())))))
            .collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    let outcomes = answers.iter().map(outcome_of);
    let busy: Vec<_> = outcomes.filter(|outcome| outcome["status"] == "busy").collect();
    assert!(!busy.is_empty(), "{answers:#?}");
    for outcome in &busy {
        assert!(outcome["error"]["evidence"]["retry_after_seconds"].as_u64() >= Some(1), "{outcome:#}");
    }
    assert_eq!(refusals(&team.server, "compilers"), busy.len() as u64);
}

/// A machine with less memory than `minMemory` runs one execution at a time.
#[test]
fn memory_is_shared_in_turns() {
    let gate = Gate::new();
    let team = Team::new("", "  minMemory: 100000GiB\n", &gate.config());
    let (one, other) = (team.client("ann", "").shake_hands(), team.client("bob", "").shake_hands());
    let begin = |client: &Client, name: &str| {
        let mut call = execute("gate::pass().message(args.get(\"name\").unwrap()).await?.text()");
        call["arguments"]["args"] = json!({ "name": name });
        client.begin("tools/call", &call)
    };
    let mut asking = vec![begin(&one, "first")];
    team.server.wait_until("the first at the gate", || gate.arrived() == ["first"]);
    asking.extend(["second", "third", "fourth"].map(|name| begin(&one, name)));
    asking.push(begin(&other, "the other's"));
    assert_eq!(gate.arrived(), ["first"]);
    gate.open();
    assert!(asking.iter_mut().all(|asking| outcome_of(&asking.end())["status"] == "ok"));
    let place = gate.arrived().iter().position(|name| name == "the other's");
    assert!(place <= Some(2), "{:?}", gate.arrived());
}

/// Assembled for about six seconds, again with each correction of its calls.
const COSTLY: &str = "mod long { core::arch::global_asm!(\".rept 600\\n.rept 2000\\n.rept 2000\\n.byte 1\\n.endr\\n.endr\\n.endr\"); }
demo::list_orders();
let f = || demo::list_orders();
f();
let calls: Vec<_> = (0..3).map(|_| demo::list_orders()).collect();
7";

/// Processor time of compilers after which no correction is tried, and that of one compiler, in seconds.
const LIMITS: f64 = 10.0 + 10.0;

#[test]
fn compilers_count_against_the_limit_of_their_subject() {
    let team = Team::new("", "  subjectLimits: { processorSecondsPerHour: 5 }\n", DEMO);
    let (one, other) = (team.client("ann", "").stateless(), team.client("bob", "").stateless());
    let costly = one.ask("tools/call", &execute(COSTLY));
    assert_eq!(outcome_of(&costly)["status"], "compile_error", "{costly:#}");
    let metrics = separate(&team.server);
    let name = "toolsmith_compiler_processor_time_seconds_total ";
    let used = || -> f64 {
        let text = scrape(&metrics);
        text.lines().find_map(|line| line.strip_prefix(name)).expect(name).parse().unwrap()
    };
    // A compiler's time is known when it has ended.
    team.server.wait_until("the time of compilers", || used() >= 5.0);
    let refused = one.ask("tools/call", &execute("6 * 7"));
    let refused = outcome_of(&refused);
    assert_eq!(refused["status"], "busy", "{refused:#}");
    let message = refused["error"]["message"].as_str().unwrap();
    let (message, _) = message.rsplit_once(" in ").unwrap();
    let whole = "the programs and compilers of this subject have used 5 s of processor time within an hour, its limit \
                 (serve.subjectLimits.processorSecondsPerHour); try again";
    assert_eq!(message, whole);
    assert_eq!(outcome_of(&other.ask("tools/call", &execute("6 * 7")))["result"], 42);
    // With a second for how far a compiler may exceed its limit before it is killed, and for the other snippet.
    assert!(used() < LIMITS + 2.0, "{}", used());
}
