//! Logins: by command and by offer, what is kept of them, and what nobody is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::browser;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::cache::shared;
use crate::harness::{FinishedRun, Run, RunningProcess, binary};
use crate::services::Service;

/// A snippet that shows that it was let in.
const CALL: &str = "guarded::echo().await?.text()";

/// A server that wants tokens, and a home where they are kept.
struct ProtectedServer {
    server: Service,
    home: TempDir,
}

impl ProtectedServer {
    /// With a client that gets a secret when it registers.
    fn new() -> Self {
        ProtectedServer { server: Service::guarded("confidential"), home: tempfile::tempdir().unwrap() }
    }

    fn config(&self) -> String {
        format!("mcpServers:\n  guarded: {{ type: http, url: {:?} }}\n", self.server.guarded_address())
    }

    fn in_home(&self, run: Run) -> Run {
        run.variable("XDG_CONFIG_HOME", self.home.path().to_str().unwrap()).config(&self.config())
    }

    /// Runs a command of `toolsmith` with this home and server; what it shows holds no secret.
    fn done(&self, arguments: &[&str], debug: &str) -> FinishedRun {
        let run = Run::new(shared()).arguments(arguments).input(CALL).variable("TOOLSMITH_MCP_DEBUG", debug);
        without_secrets(self.in_home(run).done())
    }

    /// Starts a command with standard error in a file, which it gives.
    fn started(&self, arguments: &[&str], debug: &str) -> (RunningProcess, PathBuf) {
        let errors = self.home.path().join("errors");
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 2> \"$ERRORS\""]).arg(binary()).env("ERRORS", &errors);
        let run = Run::of(command, shared()).arguments(arguments).input(CALL);
        (self.in_home(run.variable("TOOLSMITH_MCP_DEBUG", debug)).start(), errors)
    }

    /// Starts `mcp login --no-browser`, in the same way.
    fn login(&self, debug: &str) -> (RunningProcess, PathBuf) {
        self.started(&["mcp", "login", "guarded", "--no-browser"], debug)
    }

    /// Logs in by the scripted browser; gives the end, and what stood on standard error.
    fn logged_in(&self, debug: &str) -> (FinishedRun, String) {
        let (login, errors) = self.login(debug);
        let told = || fs::read_to_string(&errors).unwrap_or_default();
        login.wait_until("the address", || address_in(&told()).is_some());
        visit(&address_in(&told()).unwrap());
        let done = without_secrets(login.done());
        assert_no_secret(&told());
        (done, told())
    }

    fn tokens(&self) -> PathBuf {
        self.home.path().join("toolsmith/tokens")
    }

    /// Without the locks, which hold nothing.
    fn token_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.tokens()).into_iter().flatten();
        let files = entries.map(|entry| entry.unwrap().path());
        files.filter(|file| file.extension().is_none_or(|extension| extension != "lock")).collect()
    }

    /// What `mcp status` says of the server, where it ends with this code.
    #[track_caller]
    fn state(&self, code: i32) -> Value {
        let done = self.done(&["mcp", "status", "--json"], "0").exits(code);
        done.outcome()[0]["state"].clone()
    }
}

/// The address that a person is to visit, once its line is whole.
fn address_in(told: &str) -> Option<String> {
    let (line, _) = told.split_once("to log in, visit\n")?.1.split_once('\n')?;
    Some(line.trim().to_owned())
}

/// Goes wherever the address leads; the last stop is the program that waits.
fn visit(address: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let opened = runtime.block_on(browser::visit(address)).unwrap();
    assert_eq!(opened.last().unwrap().path(), "/callback", "{opened:?}");
}

/// The server numbers what it gives away.
fn assert_no_secret(text: &str) {
    for kind in ["access-", "refresh-", "code-", "secret-"] {
        let numbered = text.split(kind).skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        assert!(!numbered, "{kind} stands in: {text}");
    }
    assert!(!text.contains("code_verifier"), "{text}");
}

fn without_secrets(done: FinishedRun) -> FinishedRun {
    assert_no_secret(&done.stdout);
    assert_no_secret(&done.stderr);
    done
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn before_a_login_everything_says_how_to_log_in() {
    let guarded = ProtectedServer::new();
    assert_eq!(guarded.state(7), "auth_required");
    let commands: [&[&str]; 4] = [
        &["run", "--json", "-"],
        &["mcp", "test", "guarded"],
        &["mcp", "status"],
        &["mcp", "info", "guarded"],
    ];
    for command in commands {
        guarded.done(command, "0").exits(7).says(&["toolsmith mcp login guarded"]);
    }
    guarded.done(&["mcp", "logout", "guarded"], "0").exits(0).says(&["no tokens"]);
    assert_eq!(guarded.token_files(), Vec::<PathBuf>::new());
}

#[test]
fn a_login_by_command_holds_until_the_logout() {
    let guarded = ProtectedServer::new();
    let (done, told) = guarded.logged_in("0");
    done.exits(0);
    assert!(told.contains("logged in at guarded"), "{told}");

    let tokens = guarded.token_files();
    assert_eq!(tokens.len(), 1, "{tokens:?}");
    assert!(fs::read_to_string(&tokens[0]).unwrap().contains("access-"));
    assert_eq!(mode(&guarded.tokens()), 0o700);
    // The lock beside them too.
    for entry in fs::read_dir(guarded.tokens()).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }

    assert_eq!(guarded.state(0), "ready");
    assert_eq!(guarded.done(&["run", "--json", "-"], "0").expect("ok", 0)["result"], "echo");

    guarded.done(&["mcp", "logout", "guarded"], "0").exits(0).says(&["forgotten"]);
    assert!(!tokens[0].exists());
    assert!(guarded.server.lines().iter().any(|line| line.contains("/revoke")));
    assert_eq!(guarded.state(7), "auth_required");
}

/// The authorization server has taken the old refresh token in when the signal comes, and has not yet answered.
#[test]
fn a_run_that_is_ended_while_a_login_is_renewed_keeps_the_login() {
    let guarded = ProtectedServer::new();
    guarded.logged_in("0").0.exits(0);
    for signals in [1, 2] {
        guarded.server.command("expire");
        guarded.server.command("hold");
        let is_renewal = |line: &String| line.contains(r#""grant_type":"refresh_token""#);
        let renewals = || guarded.server.lines().iter().filter(|line| is_renewal(line)).count();
        let before = renewals();
        let (run, errors) = guarded.started(&["run", "--json", "-"], "0");
        run.wait_until("the request for new tokens", || renewals() > before);
        (0..signals).for_each(|_| run.signal(Signal::INT));
        let told = || fs::read_to_string(&errors).unwrap_or_default();
        run.wait_until("that it waits", || told().contains("a login is being renewed"));
        guarded.server.command("answer");
        without_secrets(run.done()).exits(130);
        assert_no_secret(&told());
        assert_eq!(guarded.state(0), "ready");
        assert_eq!(renewals(), before + 1, "the renewed login is used");
    }
}

#[test]
fn debugging_tells_requests_but_no_token_code_or_secret() {
    let guarded = ProtectedServer::new();
    guarded.done(&["run", "--json", "-"], "1").exits(7).says(&["401", "guarded: POST"]);
    guarded.logged_in("1").0.exits(0);
    let done = guarded.done(&["run", "--json", "-"], "1").says(&["guarded: POST", "tools/call", "echo"]);
    done.expect("ok", 0);
    guarded.done(&["mcp", "logout", "guarded"], "1").exits(0);
}

/// What a program gets of a server that repeats its credentials in every way that it has.
const ECHO: &str = r#"
let echoed = guarded::echo().await?;
let texts = vec![
    echoed.text(),
    format!("{:?}", echoed),
    format!("{:?}", guarded::fail().await.unwrap_err()),
    format!("{:?}", guarded::refuse().await.unwrap_err()),
];
for text in &texts {
    eprintln!("{text}");
}
texts
"#;

/// Everything that the program got and that was told, and all that was written to files of this home.
fn everything(done: &FinishedRun, home: &Path) -> String {
    let mut all = format!("{}{}", done.stdout, done.stderr);
    let mut folders = vec![home.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.extend((!path.ends_with("tokens")).then_some(path));
            } else {
                all.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap()));
            }
        }
    }
    all
}

#[test]
fn a_token_that_its_server_repeats_reaches_no_program_log_or_file() {
    let guarded = ProtectedServer { server: Service::guarded("echoes"), home: tempfile::tempdir().unwrap() };
    guarded.logged_in("1").0.exits(0);
    for debug in ["0", "1"] {
        let run = Run::new(shared()).arguments(&["run", "--json", "-"]).input(ECHO);
        let done = guarded.in_home(run.variable("TOOLSMITH_MCP_DEBUG", debug)).done();
        assert_no_secret(&everything(&done, guarded.home.path()));
        let outcome = done.expect("ok", 0);
        let texts = outcome["result"].as_array().unwrap();
        assert!(texts.iter().all(|text| text.as_str().unwrap().contains("***")), "{outcome:#}");
    }
    let commands: [&[&str]; 4] = [
        &["mcp", "info", "guarded", "--json"],
        &["mcp", "list-tools", "guarded"],
        &["mcp", "call-tool", "--server", "guarded", "--tool", "echo"],
        &["mcp", "call-tool", "--server", "guarded", "--tool", "fail"],
    ];
    for command in commands {
        let done = guarded.done(command, "1");
        assert!(format!("{}{}", done.stdout, done.stderr).contains("***"), "{command:?} {done:#?}");
    }
}

#[test]
fn a_configured_header_that_its_server_repeats_reaches_no_program() {
    let server = Service::guarded("echoes");
    let address = server.guarded_address();
    for header in ["Bearer configured-token-1", "Basic bWU6Y29uZmlndXJlZC1wYXNzd29yZC0x"] {
        let config = format!(
            "mcpServers:\n  guarded: {{ type: http, url: {address:?}, headers: {{ Authorization: {header:?} }} }}\n"
        );
        let run = Run::new(shared()).arguments(&["run", "--json", "-"]).input(ECHO).config(&config);
        let done = run.variable("TOOLSMITH_MCP_DEBUG", "1").done();
        for part in ["configured-token-1", "configured-password-1", "bWU6Y29uZmlndXJlZC1wYXNzd29yZC0x"] {
            assert!(!done.stdout.contains(part) && !done.stderr.contains(part), "{part}: {done:#?}");
        }
        assert!(done.expect("ok", 0)["result"].to_string().contains("***"));
    }
}

#[test]
fn a_login_that_is_declined_leaves_nothing() {
    let guarded =
        ProtectedServer { server: Service::guarded("declines"), home: tempfile::tempdir().unwrap() };
    let (done, told) = guarded.logged_in("0");
    done.exits(7);
    assert!(told.contains("access_denied") && told.contains("not today"), "{told}");
    assert_eq!(guarded.state(7), "auth_required");
}

#[test]
fn a_client_with_a_secret_of_its_own_needs_no_person_and_does_not_tell_it() {
    const SECRET: &str = "secret-of-machine";
    let server = Service::guarded("sound");
    for secret in [SECRET, "${TOOLSMITH_TEST_SECRET}"] {
        let home = tempfile::tempdir().unwrap();
        let config = format!(
            "mcpServers:\n  guarded:\n    url: {:?}\n    oauth: {{ client_id: machine, client_secret: {secret:?}, grant: \
             client_credentials }}\n",
            server.guarded_address()
        );
        let run = |arguments: &[&str]| {
            let run = Run::new(shared()).arguments(arguments).input(CALL).config(&config);
            let run = run.variable("XDG_CONFIG_HOME", home.path().to_str().unwrap());
            let run = run.variable("TOOLSMITH_TEST_SECRET", SECRET).variable("TOOLSMITH_MCP_DEBUG", "1");
            let done = without_secrets(run.done());
            assert!(!done.stdout.contains(SECRET) && !done.stderr.contains(SECRET), "{done:#?}");
            done
        };
        assert_eq!(run(&["run", "--json", "-"]).expect("ok", 0)["result"], "echo");
        run(&["mcp", "login", "guarded"]).exits(0).says(&["logged in at guarded"]);
        run(&["mcp", "info", "guarded", "--json"]).exits(0);
        run(&["config", "show"]).exits(0);
    }
    // One that the authorization server does not know.
    let wrong = format!(
        "mcpServers:\n  guarded:\n    url: {:?}\n    oauth: {{ client_id: machine, client_secret: \
         another-secret-1, grant: client_credentials }}\n",
        server.guarded_address()
    );
    let done = Run::new(shared()).arguments(&["mcp", "test", "guarded"]).config(&wrong).done().exits(7);
    without_secrets(done).says(&["guarded", "invalid_client"]);
}

/// A folder with an opener for addresses that goes where it is sent.
fn opener() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "#!/bin/sh\nexec curl --silent --noproxy '*' --location --max-time 30 --output /dev/null \"$1\"\n";
    let file = folder.path().join("xdg-open");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

#[test]
fn a_run_at_a_terminal_offers_the_login() {
    let (guarded, opener) = (ProtectedServer::new(), opener());
    let snippet = guarded.home.path().join("snippet.rs");
    fs::write(&snippet, CALL).unwrap();
    let path = format!("{}:{}", opener.path().display(), std::env::var("PATH").unwrap());
    let answered = |answer: &str| {
        let run = Run::on_terminal(shared()).arguments(&["run", "--json", snippet.to_str().unwrap()]);
        let started = guarded.in_home(run.variable("PATH", &path)).start();
        started.answer("Open it in the browser? [y/N] ", 1, answer);
        without_secrets(started.done())
    };
    for no in ["n\n", "\n", "\x04"] {
        answered(no).exits(7).says(&["guarded wants a login", "toolsmith mcp login guarded"]);
    }
    assert_eq!(answered("y\n").expect("ok", 0)["result"], "echo");
    assert_eq!(guarded.done(&["run", "--json", "-"], "0").expect("ok", 0)["result"], "echo");
}
