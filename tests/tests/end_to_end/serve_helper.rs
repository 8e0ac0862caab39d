//! `toolsmith serve` starts the sandbox helper of the next program ahead, and leaves none behind.

use rustix::process::Signal;

use crate::harness::{descendants, unique};
use crate::serving::{DEMO, Serve, Server, execute, outcome_of};

/// A server that has executed a snippet, and its waiting helper.
fn serving() -> Server {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    assert_runs(&mut server);
    wait_for_helper(&server);
    server
}

#[track_caller]
fn assert_runs(server: &mut Server) {
    let code = format!("// {}\ndemo::echo(\"a\").await?.text()", unique());
    for _ in 0..2 {
        let answer = server.ask(1, "tools/call", &execute(&code));
        assert_eq!(outcome_of(&answer)["result"], "a", "{answer:#}");
    }
}

/// The helpers without a program.
fn waiting(server: &Server) -> usize {
    let commands = descendants(server.id());
    commands.iter().filter(|command| command.trim() == "sandbox-helper:ahead").count()
}

#[track_caller]
fn wait_for_helper(server: &Server) {
    server.wait_until("one waiting helper", || waiting(server) == 1);
}

#[test]
fn one_helper_waits_between_executions_and_ends_with_the_server() {
    let mut server = serving();
    assert_runs(&mut server);
    wait_for_helper(&server);
    server.close_input();
    // No process may be left.
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
}

#[test]
fn the_waiting_helper_ends_with_a_killed_server() {
    let mut server = serving();
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None, "{}", server.stderr());
}
