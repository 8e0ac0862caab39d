//! Prints how long the requests of one subject take alone, and beside another one that attacks a shared resource:
//! `cargo test --workspace --test serve shares_of_two_subjects -- --ignored --nocapture`. The tests of each resource
//! are in `floods`, `limits` and `isolation`; times depend on the machine, so they are printed and not asserted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use end_to_end::harness::unique;
use end_to_end::serving::{Client, DEMO, execute};
use serde_json::{Value, json};

use super::floods::{LONG, LONGEST, unfinished};
use super::{Team, accepted};

/// Requests of which the median is printed.
const REQUESTS: usize = 9;

/// The number of the attacker's threads that send requests at once.
const SENDERS: usize = 16;

/// The time by which the attacker begins before the other subject.
const AHEAD: Duration = Duration::from_secs(2);

/// An attack on a resource, and what the other subject does.
struct Row {
    resource: &'static str,
    attack: fn(&Team) -> Attack,
    request: fn(&Team, &Client),
}

/// Requests that are sent again and again until it is over, and connections that stay open.
struct Attack {
    is_over: Arc<AtomicBool>,
    senders: Vec<JoinHandle<()>>,
    _connections: Vec<std::net::TcpStream>,
}

impl Attack {
    /// Sends what `request` returns for each number.
    fn sending(team: &Team, request: fn(usize) -> Value) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let client = team.client("ann", "").stateless();
        let sender = |sender: usize| {
            let (client, is_over) = (client.clone(), is_over.clone());
            thread::spawn(move || {
                for number in (sender..).step_by(SENDERS) {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    client.ask("tools/call", &request(number));
                }
            })
        };
        Attack { senders: (0..SENDERS).map(sender).collect(), is_over, _connections: Vec::new() }
    }

    /// Keeps unfinished requests of this size open.
    fn holding(team: &Team, count: usize, bytes: usize) -> Self {
        let authority = team.server.address().replace("http://", "").replace("/mcp", "");
        let token = team.token(&json!({ "claims": { "sub": "ann", "scope": "" } }));
        let connections = (0..count).map(|_| unfinished(&authority, &token, bytes)).collect();
        Attack { is_over: Arc::default(), senders: Vec::new(), _connections: connections }
    }
}

/// A snippet that every subject has run before.
fn known(_: &Team, client: &Client) {
    let answer = client.ask("tools/call", &execute("6 * 7"));
    assert!(answer.to_string().contains("42"), "{answer:#}");
}

/// A snippet that is compiled.
fn new(_: &Team, client: &Client) {
    client.ask("tools/call", &execute(&format!("// {}\n6 * 7", unique())));
}

/// A call of a tool, in a session with the server of its own.
fn calls(_: &Team, client: &Client) {
    let answer = client.ask("tools/call", &execute("demo::echo(\"x\").await?"));
    assert!(answer.to_string().contains('x'), "{answer:#}");
}

/// A request on a connection of its own.
fn connected(team: &Team, _: &Client) {
    assert!(accepted(&team.client("bob", "")));
}

const ROWS: &[Row] = &[
    Row {
        resource: "execution slots, queue",
        attack: |team| {
            Attack::sending(team, |_| execute("std::thread::sleep(std::time::Duration::from_secs(2));"))
        },
        request: known,
    },
    Row {
        resource: "compilers",
        attack: |team| Attack::sending(team, |number| execute(&format!("{LONG}\n{number}"))),
        request: new,
    },
    Row {
        resource: "spare compilers",
        attack: |team| Attack::sending(team, |_| execute(&format!("// {}\n6 * 7", unique()))),
        request: new,
    },
    Row {
        resource: "spare sessions",
        attack: |team| Attack::sending(team, |_| execute("demo::echo(\"x\").await?")),
        request: calls,
    },
    Row { resource: "connections", attack: |team| Attack::holding(team, 512, 10), request: connected },
    Row {
        resource: "request bytes",
        attack: |team| Attack::holding(team, 100, LONGEST - 1),
        request: connected,
    },
    Row {
        resource: "event loop",
        attack: |team| {
            Attack::sending(team, |_| {
                let numbers = "1,".repeat(190_000);
                json!({ "name": "echo", "arguments": { "numbers": [numbers, vec![1; 190_000]] } })
            })
        },
        request: connected,
    },
    Row {
        resource: "processors",
        attack: |team| {
            Attack::sending(team, |_| {
                execute(
                    "for _ in 0..64 { let _ = std::thread::Builder::new().spawn(|| loop { std::hint::spin_loop() }); }\n\
                     std::thread::sleep(std::time::Duration::from_secs(5));",
                )
            })
        },
        request: known,
    },
    Row {
        resource: "memory",
        attack: |team| {
            Attack::sending(team, |_| {
                execute(
                    "let held = vec![1_u8; 400 << 20]; std::thread::sleep(std::time::Duration::from_secs(2)); held.len()",
                )
            })
        },
        request: known,
    },
];

/// The median time of the requests.
fn median(team: &Team, client: &Client, request: fn(&Team, &Client)) -> Duration {
    let mut times: Vec<Duration> = (0..REQUESTS)
        .map(|_| {
            let begin = Instant::now();
            request(team, client);
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[REQUESTS / 2]
}

#[test]
#[ignore = "prints a table of times"]
fn shares_of_two_subjects() {
    println!("| resource | alone | beside an attacker | ratio |\n| --- | --- | --- | --- |");
    for Row { resource, attack, request } in ROWS {
        let team = Team::new("", "", DEMO);
        let client = team.client("bob", "").stateless();
        known(&team, &client);
        let alone = median(&team, &client, *request);
        let attack = attack(&team);
        thread::sleep(AHEAD);
        let beside = median(&team, &client, *request);
        let ratio = beside.as_secs_f64() / alone.as_secs_f64();
        println!("| {resource} | {alone:.1?} | {beside:.1?} | {ratio:.1} |");
        attack.is_over.store(true, Ordering::Relaxed);
        // Ends what still runs.
        drop(team);
        attack.senders.into_iter().for_each(|sender| drop(sender.join()));
    }
}
