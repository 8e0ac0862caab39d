//! `toolsmith serve --http` under inputs that take long to read: the event loop turns, and probes of health are answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use end_to_end::hard_inputs::{self, HardInput, Sizes};
use end_to_end::harness::FAULT_SERVER;
use end_to_end::serving::{DEMO, Serve, Server, execute};

/// The minimum ratio between the time of a request and the longest stay on the loop. If all of the work were on the
/// loop, the ratio would be between 1 and 3.
const RATIO: f64 = 4.0;

/// The number of attempts for an input. On a busy machine, the loop may wait for the processor, but not each time.
const ATTEMPTS: usize = 5;

fn authority(server: &Server) -> String {
    let address = server.address();
    address.trim_start_matches("http://").trim_end_matches("/mcp").to_owned()
}

/// Sends an input; returns the response, how long that took, and the longest stay of the loop meanwhile, in seconds.
fn tried(authority: &str, input: &HardInput) -> (String, f64, f64) {
    hard_inputs::longest_stay(authority).unwrap();
    let started = Instant::now();
    let response = input.send(authority).unwrap();
    let time = started.elapsed().as_secs_f64();
    (response, time, hard_inputs::longest_stay(authority).unwrap())
}

/// The result of an input.
fn summary(input: &HardInput, response: &str) -> String {
    let status = response.lines().next().unwrap_or_default();
    let result = hard_inputs::result_of(response).unwrap_or_default();
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let line: String = text.lines().next().unwrap_or_default().chars().take(60).collect();
    format!("{}: {status}, isError {}, {line}\n", input.name, result["isError"])
}

#[test]
fn no_input_holds_the_event_loop() {
    let server = Serve::http(&hard_inputs::configuration(&FAULT_SERVER.path(), Sizes::EIGHTH)).start();
    let authority = authority(&server);
    // What the first execution prepares is no input.
    server.client().stateless().ask("tools/call", &execute("1"));
    let (mut shown, mut held) = (String::new(), Vec::new());
    for input in hard_inputs::all(Sizes::EIGHTH).into_iter().filter(|input| !input.compiles) {
        let mut attempts = Vec::new();
        let is_short = (0..ATTEMPTS).any(|attempt| {
            let (response, time, stay) = tried(&authority, &input);
            if attempt == 0 {
                shown.push_str(&summary(&input, &response));
            }
            attempts.push(format!("{stay:.3} of {time:.3} s"));
            stay * RATIO <= time
        });
        if !is_short {
            held.push(format!("{}: {}", input.name, attempts.join(", ")));
        }
    }
    assert!(held.is_empty(), "the loop was held:\n{}\n{}", held.join("\n"), server.stderr());
    insta::assert_snapshot!(shown);
}

#[test]
fn probes_are_answered_while_clients_send_hard_requests() {
    let server = Serve::http(DEMO).start();
    let authority = authority(&server);
    let inputs = hard_inputs::all(Sizes::EIGHTH);
    let requests: Vec<&HardInput> =
        inputs.iter().filter(|input| input.name.starts_with("arguments")).collect();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let probing = scope.spawn(|| {
            let mut answered = 0;
            while !is_over.load(Ordering::Relaxed) {
                let answer = hard_inputs::get(&authority, "/healthz").unwrap();
                assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("ok\n"), "{answer}");
                answered += 1;
            }
            answered
        });
        let sending: Vec<_> =
            requests.iter().map(|input| scope.spawn(|| input.send(&authority).unwrap())).collect();
        let sent = sending.len();
        sending.into_iter().for_each(|one| drop(one.join().unwrap()));
        is_over.store(true, Ordering::Relaxed);
        assert!(probing.join().unwrap() > sent, "more probes than requests");
    });
}
