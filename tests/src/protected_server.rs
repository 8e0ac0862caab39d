//! A server that requires tokens, and the logins of `toolsmith` at it.

#![allow(clippy::new_without_default, clippy::unwrap_used, missing_docs, reason = "only tests use it")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::browser;
use crate::cache::shared;
use crate::harness::{FinishedRun, Run, RunningProcess, binary};
use crate::services::Service;
use crate::serving::{Serve, Server};

/// A snippet that succeeds only with a login.
pub const CALL: &str = "guarded::echo().await?.text()";

/// A server that requires tokens, and a home folder where they are stored.
pub struct ProtectedServer {
    /// The server.
    pub server: Service,
    /// The home folder.
    pub home: TempDir,
}

impl ProtectedServer {
    /// In the mode in which a client gets a secret at registration.
    pub fn new() -> Self {
        ProtectedServer { server: Service::guarded("confidential"), home: tempfile::tempdir().unwrap() }
    }

    pub fn config(&self) -> String {
        format!("mcpServers:\n  guarded: {{ type: http, url: {:?} }}\n", self.server.mcp_address())
    }

    pub fn in_home(&self, run: Run) -> Run {
        run.variable("XDG_CONFIG_HOME", self.home.path().to_str().unwrap()).config(&self.config())
    }

    /// A `toolsmith serve` with this home and server.
    pub fn serving(&self) -> Server {
        let serve = Serve::new(&self.config()).arguments(&["--allow", "*"]);
        serve.variable("XDG_CONFIG_HOME", self.home.path().to_str().unwrap()).start()
    }

    /// The server's record.
    pub fn lines(&self) -> Vec<String> {
        self.server.lines()
    }

    /// Runs a `toolsmith` command with this home and server, and checks that its output has no secret.
    pub fn done(&self, arguments: &[&str], debug: &str) -> FinishedRun {
        let run = Run::new(shared()).arguments(arguments).input(CALL).variable("TOOLSMITH_MCP_DEBUG", debug);
        without_secrets(self.in_home(run).done())
    }

    /// Starts a command with standard error in a file; returns the file's path too.
    pub fn started(&self, arguments: &[&str], debug: &str) -> (RunningProcess, PathBuf) {
        let errors = self.home.path().join("errors");
        // That of an earlier command has another address.
        let _ = fs::remove_file(&errors);
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 2> \"$ERRORS\""]).arg(binary()).env("ERRORS", &errors);
        let run = Run::of(command, shared()).arguments(arguments).input(CALL);
        (self.in_home(run.variable("TOOLSMITH_MCP_DEBUG", debug)).start(), errors)
    }

    /// Starts `mcp login --no-browser` like [`Self::started`].
    pub fn login(&self, debug: &str) -> (RunningProcess, PathBuf) {
        self.started(&["mcp", "login", "guarded", "--no-browser"], debug)
    }

    /// Logs in with the scripted browser; returns the finished run and its standard error.
    pub fn logged_in(&self, debug: &str) -> (FinishedRun, String) {
        let (login, errors) = self.login(debug);
        let errors_text = || fs::read_to_string(&errors).unwrap_or_default();
        login.wait_until("the address", || address_in(&errors_text()).is_some());
        visit(&address_in(&errors_text()).unwrap());
        let done = without_secrets(login.done());
        assert_no_secret(&errors_text());
        (done, errors_text())
    }

    pub fn tokens(&self) -> PathBuf {
        self.home.path().join("toolsmith/tokens")
    }

    /// The token files, without their empty locks.
    pub fn token_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.tokens()).into_iter().flatten();
        let files = entries.map(|entry| entry.unwrap().path());
        files.filter(|file| file.extension().is_none_or(|extension| extension != "lock")).collect()
    }

    /// The content of the file with the tokens.
    pub fn stored_tokens(&self) -> Vec<u8> {
        let files = self.token_files();
        let [file] = &files[..] else { panic!("{files:?}") };
        fs::read(file).unwrap()
    }

    pub fn address(&self) -> String {
        self.server.mcp_address()
    }

    /// The server's state in `mcp status`, which must exit with this code.
    #[track_caller]
    pub fn state(&self, code: i32) -> Value {
        let done = self.done(&["mcp", "status", "--json"], "0").exits(code);
        done.outcome()[0]["state"].clone()
    }
}

/// The login URL, once its line is complete.
pub fn address_in(errors_text: &str) -> Option<String> {
    let (line, _) = errors_text.split_once("to log in, visit\n")?.1.split_once('\n')?;
    Some(line.trim().to_owned())
}

/// Follows the address; the last stop is the waiting program.
pub fn visit(address: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let opened = runtime.block_on(browser::visit(address)).unwrap();
    assert_eq!(opened.last().unwrap().path(), "/callback", "{opened:?}");
}

/// The server numbers its secrets.
pub fn assert_no_secret(text: &str) {
    for kind in ["access-", "refresh-", "code-", "secret-"] {
        let numbered = text.split(kind).skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        assert!(!numbered, "{kind} is in: {text}");
    }
    assert!(!text.contains("code_verifier"), "{text}");
}

pub fn without_secrets(done: FinishedRun) -> FinishedRun {
    assert_no_secret(&done.stdout);
    assert_no_secret(&done.stderr);
    done
}
