//! Runs the real `toolsmith` with a watchdog, and checks that it leaves no processes.
//!
//! The tests check the outcomes.

#![allow(clippy::unwrap_used, missing_docs, reason = "only tests use it")]

mod processes;
mod pseudoterminal;

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use serde_json::Value;
use tempfile::TempDir;

use self::processes::is_alive;
pub use self::processes::{
    assert_nothing_left, descendants, ends_within, forget, programs, spawn, wait_until,
};
use self::pseudoterminal::{collect_screen, pseudoterminal};

/// Time limit for a run on a warm cache, after which the harness kills it and fails.
pub const WATCHDOG: Duration = Duration::from_secs(120);
/// The same for runs that build everything from scratch, or make thousands of calls.
pub const COLD_WATCHDOG: Duration = Duration::from_secs(600);

/// The MCP server that misbehaves on request.
pub const FAULT_SERVER: Program = Program("fault-server");
/// The HTTP server that does.
pub const HTTP_FAULT_SERVER: Program = Program("http-fault-server");
/// The server that requires tokens.
pub const OAUTH_SERVER: Program = Program("oauth-server");
/// The scripted model.
pub const MODEL_SERVER: Program = Program("model-server");

/// Keeps the compiler busy indefinitely.
pub const FOREVER: &str = "#[allow(long_running_const_eval)]
const FOREVER: u64 = { let mut n = 1; while n != 0 { n = n * 3 % 1_000_003; } n };
FOREVER";

/// A program of this package, next to `toolsmith`.
#[derive(Clone, Copy)]
pub struct Program(&'static str);

impl Program {
    /// Its path.
    pub fn path(self) -> String {
        binary().with_file_name(self.0).into_os_string().into_string().unwrap()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path())
    }
}

impl fmt::Debug for Program {
    /// Writes its path in quotes, as YAML has it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().fmt(formatter)
    }
}

/// The binary next to the tests: `target/<profile>/toolsmith`.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let binary = programs_folder().join("toolsmith");
        assert!(
            binary.is_file(),
            "{} is missing: type `cargo test --workspace`, or `cargo build -p toolsmith-cli` before this",
            binary.display()
        );
        binary
    })
}

/// The folder of the programs next to the tests: `target/<profile>`.
pub fn programs_folder() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned()
}

/// A command line of `toolsmith`, not yet started.
pub struct Run {
    command: Command,
    input: Vec<u8>,
    watchdog: Duration,
    /// Whether standard input and standard error are a terminal.
    on_terminal: bool,
    /// Whether standard output is that terminal too.
    shows_output: bool,
    /// Contains the configuration; removed after the run.
    folder: TempDir,
}

impl Run {
    /// Without arguments, on the cache in `cache`.
    pub fn new(cache: &Path) -> Self {
        Run::of(Command::new(binary()), cache)
    }

    /// A command that starts `toolsmith` in its own way.
    pub fn of(mut command: Command, cache: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        command
            .env("TOOLSMITH_CACHE_DIR", cache)
            // Keeps the developer's own configuration out.
            .env("XDG_CONFIG_HOME", folder.path())
            .env("XDG_STATE_HOME", folder.path())
            .current_dir(folder.path());
        Run {
            command,
            input: Vec::new(),
            watchdog: WATCHDOG,
            on_terminal: false,
            shows_output: false,
            folder,
        }
    }

    pub fn argument(self, argument: &str) -> Self {
        self.arguments(&[argument])
    }

    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets the standard input.
    pub fn input(mut self, input: impl AsRef<[u8]>) -> Self {
        self.input = input.as_ref().to_owned();
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn working_folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub fn watchdog(mut self, watchdog: Duration) -> Self {
        self.watchdog = watchdog;
        self
    }

    /// With its own terminal on standard input and standard error.
    pub fn on_terminal(cache: &Path) -> Self {
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(binary());
        Run::of(command, cache).terminal()
    }

    /// With its own terminal on standard input, output and error.
    pub fn on_whole_terminal(cache: &Path) -> Self {
        Run { shows_output: true, ..Run::on_terminal(cache) }
    }

    /// With a terminal on standard input and standard error that the command makes its controlling terminal (`setsid
    /// --ctty`).
    pub fn terminal(self) -> Self {
        Run { on_terminal: true, ..self }
    }

    /// Writes `text` to a file and passes it with `--config`; all tools that are not denied are allowed.
    pub fn config(self, text: &str) -> Self {
        let runs = self.command.get_args().any(|argument| argument == "run");
        let run = self.config_alone(text);
        if runs { run.arguments(&["--allow", "*"]) } else { run }
    }

    /// Writes `text` to a file and passes it with `--config`.
    pub fn config_alone(self, text: &str) -> Self {
        let file = self.folder.path().join("given.yaml");
        fs::write(&file, text).unwrap();
        self.arguments(&["--config", file.to_str().unwrap()])
    }

    /// With a server named `faulty`: the fault server in `mode`, and further lines of its entry.
    pub fn fault(self, mode: &str, more: &str) -> Self {
        self.config(&format!("mcpServers:\n{}", fault_entry("faulty", mode, more)))
    }

    /// Starts it.
    pub fn start(mut self) -> RunningProcess {
        set_child_subreaper(Some(getpid())).unwrap();
        let mut keyboard = None;
        let piped = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.on_terminal {
            let (ours, theirs) = pseudoterminal();
            if self.shows_output {
                piped.stdout(theirs.try_clone().unwrap());
            }
            piped.stdin(theirs.try_clone().unwrap()).stderr(theirs);
            keyboard = Some(ours);
        }
        let mut child = spawn(piped);
        let stdin = child.stdin.take();
        let input = std::mem::take(&mut self.input);
        // A process that exits before it has read everything breaks the pipe.
        let input = std::thread::spawn(move || drop(stdin.map(|mut stdin| stdin.write_all(&input))));
        let screen = Arc::default();
        let stderr = match &keyboard {
            Some(ours) => {
                // Closes this process's copies, without which the terminal would never report its end.
                self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                collect_screen(ours.try_clone().unwrap(), Arc::clone(&screen))
            }
            None => collect(child.stderr.take().unwrap()),
        };
        let stdout = child.stdout.take();
        let stdout = std::thread::spawn(move || stdout.map(read_all).unwrap_or_default());
        RunningProcess { child, input, stdout, stderr, keyboard, screen, run: self }
    }

    /// Runs it to its end.
    pub fn done(self) -> FinishedRun {
        self.start().done()
    }

    /// Runs it to its end and checks status and exit code; returns the outcome.
    #[track_caller]
    pub fn expect(self, status: &str, code: i32) -> Value {
        self.done().expect(status, code)
    }

    /// Runs it to its end, which must be `ok`; returns the result.
    #[track_caller]
    pub fn result(self) -> Value {
        let mut outcome = self.expect("ok", 0);
        outcome["result"].take()
    }
}

/// The configuration lines of a fault server.
pub fn fault_entry(name: &str, mode: &str, more: &str) -> String {
    format!("  {name}:\n    command: {FAULT_SERVER:?}\n    args: [{mode}]\n{more}")
}

/// A unique text, so that a snippet is not in the shared cache.
pub fn unique() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    format!("{}-{}", std::process::id(), now.as_nanos())
}

fn collect(pipe: impl std::io::Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || read_all(pipe))
}

fn read_all(mut pipe: impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).unwrap();
    bytes
}

/// A run in progress.
pub struct RunningProcess {
    /// The test's end of its terminal.
    keyboard: Option<fs::File>,
    /// The terminal's output so far.
    screen: Arc<Mutex<Vec<u8>>>,
    child: Child,
    input: JoinHandle<()>,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<Vec<u8>>,
    run: Run,
}

impl RunningProcess {
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the terminal has shown `text` `count` times, and types a line.
    #[track_caller]
    pub fn answer(&self, text: &str, count: usize, line: &str) {
        self.wait_until(text, || String::from_utf8_lossy(&self.screen.lock()).matches(text).count() >= count);
        self.keyboard.as_ref().unwrap().write_all(line.as_bytes()).unwrap();
    }

    /// Types keys at once.
    pub fn type_keys(&self, keys: &str) {
        self.keyboard.as_ref().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// The terminal's output so far, as text.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock()).into_owned()
    }

    /// Whether it is the program, not a shell that starts it, and handles `signal` itself.
    pub fn handles(&self, signal: Signal) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        status.starts_with("Name:\ttoolsmith\n") && caught & (1 << (signal.as_raw() - 1)) != 0
    }

    /// Waits for its end; returns its peak memory in bytes.
    pub fn peak_memory(&self) -> u64 {
        let (file, start) = (format!("/proc/{}/status", self.child.id()), Instant::now());
        let mut peak = 0;
        // A process that has ended has no memory.
        while start.elapsed() < self.run.watchdog {
            let status = fs::read_to_string(&file).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(kibibytes) = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok())
            else {
                break;
            };
            peak = peak.max(kibibytes << 10);
            std::thread::sleep(Duration::from_millis(2));
        }
        peak
    }

    /// Waits until `condition` holds while the run continues.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        let holds = || {
            let holds = condition();
            assert!(holds || is_alive(self.child.id()), "the run ended while waiting for: {what}");
            holds
        };
        wait_until(what, self.run.watchdog, holds, || self.shown());
    }

    /// The processes below the run, as command lines.
    pub fn descendants(&self) -> Vec<String> {
        descendants(self.child.id())
    }

    /// Waits for its end, and until none of its processes is left.
    #[track_caller]
    pub fn done(mut self) -> FinishedRun {
        let in_time = ends_within(&self.child, self.run.watchdog);
        if !in_time {
            let _ = self.child.kill();
        }
        let status = self.child.wait().unwrap();
        forget(&self.child);
        self.input.join().unwrap();
        if in_time {
            assert_nothing_left();
        }
        let text = |bytes: JoinHandle<Vec<u8>>| String::from_utf8(bytes.join().unwrap()).unwrap();
        let done = FinishedRun { status, stdout: text(self.stdout), stderr: text(self.stderr) };
        assert!(in_time, "no end after {:?}: {done:#?}", self.run.watchdog);
        done
    }
}

/// A run that has ended.
#[derive(Debug)]
pub struct FinishedRun {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl FinishedRun {
    /// The exit code; after a signal, there is none.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("{self:#?}"))
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self:#?}");
        self
    }

    /// Checks that standard error contains every phrase.
    #[track_caller]
    pub fn says(self, phrases: &[&str]) -> Self {
        for phrase in phrases {
            assert!(self.stderr.contains(phrase), "{phrase:?} not in {self:#?}");
        }
        self
    }

    /// Checks that standard output contains every phrase.
    #[track_caller]
    pub fn prints(self, phrases: &[&str]) -> Self {
        for phrase in phrases {
            assert!(self.stdout.contains(phrase), "{phrase:?} not in {self:#?}");
        }
        self
    }

    /// Checks that the run ended without an outcome: with `--json`, standard output has the failure instead.
    #[track_caller]
    pub fn has_no_outcome(&self) {
        if !self.stdout.is_empty() {
            let failed = self.outcome();
            assert_eq!(
                (&failed["success"], &failed["status"]),
                (&Value::Bool(false), &Value::Null),
                "{self:#?}"
            );
        }
    }

    /// The outcome printed as JSON; numbers keep their text.
    #[track_caller]
    pub fn outcome(&self) -> Value {
        let mut lines = self.stdout.lines();
        let raw = lines.next().and_then(|line| serde_json::from_str(line).ok());
        let outcome = raw.and_then(|raw| strict_json::value_with_numbers(raw).ok());
        assert_eq!(lines.next(), None, "more than one line: {self:#?}");
        outcome.unwrap_or_else(|| panic!("no outcome: {self:#?}"))
    }

    #[track_caller]
    pub fn expect(self, status: &str, code: i32) -> Value {
        let outcome = self.exits(code).outcome();
        assert_eq!(outcome["status"], status, "{outcome:#}");
        assert_eq!(outcome["error"].is_null(), status == "ok", "{outcome:#}");
        outcome
    }
}

/// Checks that `value` as text contains every phrase.
#[track_caller]
pub fn assert_says(value: &Value, phrases: &[&str]) {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for phrase in phrases {
        assert!(text.contains(phrase), "{phrase:?} not in {text}");
    }
}
