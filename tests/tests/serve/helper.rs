//! `toolsmith serve` starts the sandbox helper of the next program ahead, and leaves none behind.

use end_to_end::harness::{descendants, unique};
use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of};
use rustix::process::Signal;

/// The command line of a helper that has left the namespaces that no policy needs, and of one that has not.
const AHEAD: &str = "sandbox-helper:ahead";
const PLAIN: &str = "sandbox-helper:confine";

/// A server that has executed a snippet.
fn executed(serve: Serve) -> Server {
    let mut server = serve.start();
    server.shake_hands();
    assert_runs(&mut server);
    server
}

/// A server that has executed a snippet, and its waiting helper.
fn serving() -> Server {
    let server = executed(Serve::new(DEMO));
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

/// The number of helpers with this name that have no program.
fn waiting(server: &Server, name: &str) -> usize {
    let commands = descendants(server.id());
    commands.iter().filter(|command| command.trim() == name).count()
}

#[track_caller]
fn wait_for_helper(server: &Server) {
    server.wait_until("one waiting helper", || waiting(server, AHEAD) == 1);
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

#[test]
fn without_a_sandbox_the_waiting_helper_is_used_too() {
    let config = format!("{DEMO}codeMode: {{ sandbox: {{ dangerouslyRunWithoutSandbox: true }} }}\n");
    let mut server = executed(Serve::new(&config));
    server.wait_until("one waiting helper", || waiting(&server, PLAIN) == 1);
    let first = server.tree().filter(|command| command.trim() == PLAIN);
    assert_runs(&mut server);
    first.is_gone();
    server.wait_until("the next one", || waiting(&server, PLAIN) == 1);
    assert_eq!(waiting(&server, AHEAD), 0);
}

/// The spare compiler is started after the helper would be, for the same execution.
#[track_caller]
fn assert_none_waits(server: &Server) {
    server.wait_until("a spare compiler", || server.tree().count("--crate-name=program") > 0);
    assert_eq!((waiting(server, AHEAD), waiting(server, PLAIN)), (0, 0));
}

#[test]
fn no_helper_waits_for_programs_that_share_scratch_space() {
    let scratch = format!("{DEMO}codeMode: {{ sandbox: {{ scratch: 1MiB }} }}\n");
    assert_none_waits(&executed(Serve::new(&scratch)));
}

#[test]
fn no_helper_waits_for_programs_that_are_linked_as_a_whole() {
    assert_none_waits(&executed(Serve::new(DEMO).variable("TOOLSMITH_LINK", "whole")));
}
