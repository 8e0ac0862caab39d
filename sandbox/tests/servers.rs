//! Servers: their supervisor stands for them, and reports what they try in a trial.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::io::{BufRead, BufReader, PipeWriter};
use std::path::PathBuf;

use common::{ESRCH, SIGKILL, again_as_an_ordinary_user, compiled, exactly, sandbox, tiers};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, test_kill_process, waitpid};
use sandbox::{Access, Attempt, Command, Layers, Network, Policy, Server};

const SIGTERM: i32 = 15;

fn policy(tier: Layers) -> Policy {
    exactly(Policy::server().grant(compiled("escape"), Access::ReadExecute), tier)
}

/// A server that makes one attempt, and the end of its input.
fn server(policy: Policy, attempt: &[&str]) -> (Server, PipeWriter) {
    let (input, writer) = std::io::pipe().unwrap();
    let command = Command::new(compiled("escape")).args(attempt).input(input);
    (sandbox(policy).spawn(command).unwrap().into_server().unwrap(), writer)
}

/// A server that waits for the end of its input.
fn waiting(tier: Layers) -> (Server, PipeWriter, BufReader<std::fs::File>) {
    let (server, writer) = server(policy(tier).variable("SECRET", "x"), &["victim"]);
    let mut output = BufReader::new(std::fs::File::from(server.stdout.try_clone().unwrap()));
    output.read_line(&mut String::new()).unwrap();
    (server, writer, output)
}

fn end(server: &Server) -> WaitStatus {
    waitpid(Some(id(server)), WaitOptions::empty()).unwrap().unwrap().1
}

fn id(server: &Server) -> Pid {
    Pid::from_raw(server.id.try_into().unwrap()).unwrap()
}

#[test]
fn a_supervisor_ends_like_its_server() {
    for tier in tiers() {
        let (failing, _writer) = server(policy(tier), &["read", "/no/such/file"]);
        assert_eq!(end(&failing).exit_status(), Some(1), "{tier}");
        let (ending, writer, _output) = waiting(tier);
        drop(writer);
        assert_eq!(end(&ending).exit_status(), Some(0), "{tier}");
    }
}

#[test]
fn a_supervisor_passes_sigterm_on() {
    for tier in tiers() {
        let (server, _writer, _output) = waiting(tier);
        kill_process(id(&server), Signal::TERM).unwrap();
        assert_eq!(end(&server).terminating_signal(), Some(SIGTERM), "{tier}");
    }
}

#[test]
fn a_server_ends_with_its_lifeline() {
    for tier in tiers() {
        let (server, _writer, _output) = waiting(tier);
        server.lifeline.cut();
        assert_eq!(end(&server).terminating_signal(), Some(SIGKILL), "{tier}");
        assert_eq!(test_kill_process(id(&server)).unwrap_err().raw_os_error(), ESRCH, "{tier}");
        let (server, _writer, _output) = waiting(tier);
        let dropped = id(&server);
        drop(server.lifeline);
        let status = waitpid(Some(dropped), WaitOptions::empty()).unwrap().unwrap().1;
        assert_eq!(status.terminating_signal(), Some(SIGKILL), "{tier}");
    }
}

#[test]
fn a_trial_reports_what_is_outside_the_grants() {
    let folder = tempfile::tempdir().unwrap();
    let granted = folder.path().join("granted");
    std::fs::write(&granted, "x").unwrap();
    let new = folder.path().join("new");
    let path = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let socket = 41;
    for tier in tiers() {
        let tried = |attempt: &[&str]| {
            let policy = policy(tier).grant(&granted, Access::Read).network(Network::None).record();
            let (server, _writer) = server(policy, attempt);
            let attempts: Vec<Attempt> = server.lifeline.attempts().unwrap().collect();
            end(&server);
            attempts
        };
        let hosts = PathBuf::from("/etc/hostname");
        assert!(tried(&["read", "/etc/hostname"]).contains(&Attempt::Read(hosts)), "{tier}");
        assert!(tried(&["create", &path(&new)]).contains(&Attempt::Write(new.clone())), "{tier}");
        let granted_again = tried(&["read", &path(&granted)]);
        assert!(!granted_again.contains(&Attempt::Read(granted.clone())), "{tier}: {granted_again:?}");
        assert!(tried(&["create", &path(&granted)]).contains(&Attempt::Write(granted.clone())), "{tier}");
        if cfg!(target_arch = "x86_64") {
            assert!(tried(&["tcp", "127.0.0.1:9"]).contains(&Attempt::Call(socket, 2)), "{tier}");
        }
        assert!(!new.exists());
    }
}

#[test]
fn all_of_this_holds_for_an_ordinary_user() {
    again_as_an_ordinary_user("all_of_this_holds_for_an_ordinary_user", &["escape"]);
}
