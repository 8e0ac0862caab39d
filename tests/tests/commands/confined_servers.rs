//! Servers with `sandbox:`: attacks that each work without it and fail with it, in the best tier of this machine and in the
//! one without namespaces; and what the settings allow.
//!
//! `sandbox/tests/escape` tries the system calls behind them under every layer alone.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, Run, binary, forget, spawn, unique, wait_until};
use end_to_end::tiers::{has_namespaces, without_namespaces};

const SECRET: &str = "planted-secret-of-another-program";

/// A home with a key, a process with a secret in its environment, and listeners.
struct World {
    folder: tempfile::TempDir,
    victim: Child,
    tcp: TcpListener,
    _unix: UnixListener,
    token: String,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["home/.ssh", "home/.npm/_npx", "data/inner", "work"] {
            fs::create_dir_all(folder.path().join(inner)).unwrap();
        }
        fs::write(folder.path().join("home/.ssh/id_ed25519"), SECRET).unwrap();
        fs::write(folder.path().join("home/.bashrc"), "# mine\n").unwrap();
        fs::write(folder.path().join("data/notes"), "granted").unwrap();
        let victim = spawn(Command::new("cat").env("KEY", SECRET).stdin(Stdio::piped()));
        let unix = UnixListener::bind(folder.path().join("agent.socket")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        World { folder, victim, tcp, _unix: unix, token: format!("daemon-{}", unique()) }
    }

    fn path(&self, path: &str) -> String {
        self.folder.path().canonicalize().unwrap().join(path).display().to_string()
    }

    /// The attack with its targets in place of their names.
    fn attack(&self, attack: &str) -> String {
        let tcp = self.tcp.local_addr().unwrap().to_string();
        let victim = self.victim.id().to_string();
        let paths = ["home", "data", "agent.socket"].map(|name| (format!("@{name}"), self.path(name)));
        let others = [("@tcp", tcp), ("@victim", victim), ("@token", self.token.clone())];
        let others = others.map(|(name, value)| (name.to_owned(), value));
        paths
            .into_iter()
            .chain(others)
            .fold(attack.to_owned(), |attack, (name, value)| attack.replace(&name, &value))
    }

    /// The answer of a server with this entry for `sandbox`, or the error.
    fn answer(&self, run: Run, sandbox: &str, attack: &str) -> String {
        let config = self.config(sandbox);
        let run =
            run.arguments(&["mcp", "call", "hostile.echo", &self.message(attack)]).config_alone(&config);
        let done = run.variable("HOME", &self.path("home")).variable("OTHER_KEY", SECRET).done();
        format!("{}{}", done.stdout, done.stderr)
    }

    fn message(&self, attack: &str) -> String {
        format!("message={}", self.attack(attack))
    }

    fn config(&self, sandbox: &str) -> String {
        let sandbox = self.attack(sandbox);
        format!(
            "mcpServers:\n  hostile:\n    command: {FAULT_SERVER:?}\n    args: [attacks]\n    trust: true\n    \
             sandbox: {sandbox}\n"
        )
    }

    /// Has a server without a sandbox make an attempt that leaves a process, which a [`Run`] does not allow.
    fn call_and_leave(&self, attack: &str) {
        let file = self.path("given.yaml");
        fs::write(&file, self.config("false")).unwrap();
        let mut command = Command::new(binary());
        command.args(["mcp", "call", "hostile.echo", &self.message(attack), "--config", &file]);
        command.env("TOOLSMITH_CACHE_DIR", shared()).env("XDG_CONFIG_HOME", self.path("home"));
        command.env("XDG_STATE_HOME", self.path("home")).current_dir(self.path("work"));
        let mut child = spawn(command.stdout(Stdio::null()).stderr(Stdio::null()));
        assert!(child.wait().unwrap().success());
        forget(&child);
    }

    /// The processes of a daemon that it has left.
    fn daemons(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_daemon = |process: &PathBuf| {
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&self.token)
        };
        entries.filter(is_daemon).collect()
    }

    fn end_daemons(&self) {
        for process in self.daemons() {
            let id = process.file_name().unwrap().to_string_lossy().into_owned();
            let _ = Command::new("kill").args(["-9", &id]).status();
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        forget(&self.victim);
        self.end_daemons();
    }
}

/// Attacks, with the sandbox under which they fail. `@` names a target.
const ATTACKS: &[(&str, &str)] = &[
    ("read @home/.ssh/id_ed25519", "true"),
    ("read /proc/@victim/environ", "true"),
    ("append @home/.bashrc", "true"),
    ("append @home/.npm/_npx/package.json", "true"),
    ("append @data/notes", "{ read: [@data] }"),
    ("connect @tcp", "{ network: none }"),
    ("unix @agent.socket", "true"),
    ("unix @agent.socket", "{ network: none }"),
    ("memory 2048", "{ memory: 256MiB }"),
    ("signal @victim", "true"),
    ("link @data/link @home/.ssh/id_ed25519", "{ write: [@data] }"),
    ("rename @data @home/data", "{ write: [@data] }"),
    ("environment OTHER_KEY", "true"),
];

/// Whether a secret was read, or a file of the user changed.
fn has_worked(world: &World, answer: &str) -> bool {
    let profile = fs::read_to_string(world.path("home/.bashrc")).unwrap();
    let is_changed =
        profile.contains("attacked") || PathBuf::from(world.path("home/.npm/_npx/package.json")).exists();
    // In its own home, a server writes what it wants; nothing of it remains.
    is_changed || answer.contains(SECRET)
}

#[test]
fn attacks_work_only_without_a_sandbox() {
    for (attack, sandbox) in ATTACKS {
        let world = World::new();
        let answer = world.answer(Run::new(shared()), "false", attack);
        assert!(answer.contains("done"), "without a sandbox, {attack}: {answer}");
        let tiers: [fn() -> Run; 2] = [|| Run::new(shared()), without_namespaces];
        for run in tiers {
            let world = World::new();
            let answer = world.answer(run(), sandbox, attack);
            let is_own_home = attack.starts_with("append @home");
            let is_refused = answer.contains("refused") || is_own_home && answer.contains("done");
            assert!(is_refused && !has_worked(&world, &answer), "{attack} with {sandbox}: {answer}");
        }
    }
}

#[test]
fn a_server_leaves_no_process() {
    let world = World::new();
    world.call_and_leave("daemon @token");
    assert!(!world.daemons().is_empty(), "without a sandbox, a daemon remains");
    world.end_daemons();
    for run in [Run::new(shared()), without_namespaces()] {
        let world = World::new();
        world.answer(run, "true", "daemon @token");
        let all_end = || world.daemons().is_empty();
        wait_until("daemons end", Duration::from_secs(60), all_end, || format!("{:?}", world.daemons()));
    }
}

/// Without namespaces, nothing limits the processes of root.
#[test]
fn a_server_has_a_limit_of_processes() {
    if !has_namespaces() {
        return;
    }
    let world = World::new();
    assert!(world.answer(Run::new(shared()), "false", "fork 200").contains("done"));
    let answer = world.answer(Run::new(shared()), "{ processes: 64 }", "fork 200");
    assert!(answer.contains("refused"), "{answer}");
}

#[test]
fn a_server_inherits_no_descriptors() {
    let world = World::new();
    for run in [Run::new(shared()), without_namespaces()] {
        let answer = world.answer(run, "true", "descriptors");
        assert!(answer.contains("refused"), "{answer}");
    }
}

/// A grant follows links, so what a server has replaced by a link would be granted to its next session.
#[test]
fn a_grant_within_another_is_no_link_out_of_it() {
    let world = World::new();
    let sandbox = "{ read: [@data/inner], write: [@data, @data/deeper] }";
    std::fs::create_dir(world.path("data/deeper")).unwrap();
    for inner in ["inner", "deeper"] {
        let swap = format!("swap @data/{inner} @home/.ssh");
        assert!(world.answer(Run::new(shared()), sandbox, &swap).contains("done"));
        for run in [Run::new(shared()), without_namespaces()] {
            let answer = world.answer(run, sandbox, &format!("read @data/{inner}/id_ed25519"));
            assert!(answer.contains("refused") && !answer.contains(SECRET), "{answer}");
        }
    }
}

#[test]
fn no_grant_reaches_what_decides_for_toolsmith() {
    let world = World::new();
    let sandbox = "{ write: [@home] }";
    fs::create_dir_all(world.path("home/.cache")).unwrap();
    let run = || Run::new(shared()).variable("XDG_CONFIG_HOME", &world.path("home"));
    let answer = world.answer(run(), sandbox, "append @home/.bashrc");
    assert!(answer.contains("it may not write to"), "{answer}");
    assert!(!has_worked(&world, &answer));
}

#[test]
fn settings_allow_what_they_name() {
    for (attack, sandbox) in [
        ("read @data/notes", "{ read: [@data] }"),
        ("append @data/notes", "{ write: [@data] }"),
        ("append @data/new", "{ write: [@data] }"),
        ("connect @tcp", "true"),
        ("environment OTHER_KEY", "{ env: [OTHER_KEY] }"),
        ("environment HOME", "true"),
        ("memory 64", "{ memory: 256MiB }"),
    ] {
        for run in [Run::new(shared()), without_namespaces()] {
            let world = World::new();
            let answer = world.answer(run, sandbox, attack);
            assert!(answer.contains("done"), "{attack} with {sandbox}: {answer}");
        }
    }
}

/// A machine that lacks the required tier does not start it unconfined.
#[test]
fn below_the_minimum_nothing_starts() {
    let world = World::new();
    let config = format!(
        "mcpServers:\n  hostile: {{ command: {FAULT_SERVER:?}, args: [attacks], sandbox: true }}\n\
         codeMode: {{ sandbox: {{ minimum: full }} }}\n"
    );
    let run = without_namespaces().arguments(&["mcp", "tools", "hostile"]).config_alone(&config);
    let done = run.variable("HOME", &world.path("home")).done();
    let text = format!("{}{}", done.stdout, done.stderr);
    assert!(text.contains("it can't be confined") && text.contains("the tier `full` is required"), "{text}");
}
