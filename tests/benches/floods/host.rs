//! Runs the real binary under a flood with a slow reader, and measures its memory.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The time during which a slow reader reads nothing.
const UNREAD: Duration = Duration::from_secs(4);

/// The interval at which the memory is sampled.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(2);

/// Shared by all rows: a folder with a cache, where the first layer is built once.
pub(crate) struct Scene {
    binary: PathBuf,
    folder: TempDir,
    cache: PathBuf,
}

/// The end of a run.
pub(crate) struct Ended {
    pub(crate) peak: u64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let default = || {
            let itself = std::env::current_exe().unwrap();
            itself.parent().and_then(Path::parent).unwrap().join("toolsmith")
        };
        let binary = std::env::var_os("TOOLSMITH_BINARY").map_or_else(default, PathBuf::from);
        assert!(binary.is_file(), "{} is missing: build it first, in the same profile", binary.display());
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("floods-cache");
        let scene = Scene { binary, folder: tempfile::tempdir().unwrap(), cache };
        // Builds the first layer if it is missing, which takes a minute.
        let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\n";
        let warm = scene.run(config, "\"quick\"", &[]);
        assert!(warm.stdout.contains("quick"), "{}{}", warm.stdout, warm.stderr);
        scene
    }

    fn command(&self, config: &str, arguments: &[&str]) -> Command {
        let file = self.folder.path().join("config.yaml");
        fs::write(&file, config).unwrap();
        let mut command = Command::new(&self.binary);
        command.args(arguments).arg("--config").arg(&file);
        command
            .env("TOOLSMITH_CACHE_DIR", &self.cache)
            .env("XDG_CONFIG_HOME", self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path())
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `toolsmith run` with a snippet; its output is read after the flood.
    pub(crate) fn run(&self, config: &str, code: &str, more: &[&str]) -> Ended {
        let arguments = [&["run", "-", "--allow", "*", "--timeout", "600"], more].concat();
        let mut child = self.command(config, &arguments).spawn().unwrap();
        child.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
        let peak = watch(&child);
        // The idle baseline is read at once.
        if code != "\"quick\"" {
            sleep(UNREAD);
        }
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (out, err) = (read(out), read(err));
        let (stdout, stderr) = (out.join().unwrap(), err.join().unwrap());
        child.wait().unwrap();
        Ended { peak: peak.join().unwrap(), stdout, stderr }
    }

    /// Starts `toolsmith serve` on pipes and completes the handshake.
    pub(crate) fn serve(&self, config: &str) -> Served {
        let mut child = self.command(config, &["serve", "--allow", "*"]).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut served = Served { child, input, output, next: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "flooded", "version": "1" }
        });
        served.ask("initialize", &hello).unwrap();
        served.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        served.ask("logging/setLevel", &json!({ "level": "debug" })).unwrap();
        served
    }
}

/// A `toolsmith serve` and its client.
pub(crate) struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Served {
    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// Sends a request.
    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Reads nothing for [`UNREAD`].
    pub(crate) fn pause(&self) {
        sleep(UNREAD);
    }

    /// Waits for an answer.
    pub(crate) fn answer(&mut self, id: u64) -> Result<Value, String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                return Err("toolsmith has ended".to_owned());
            }
            let message: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
            if message["id"] == id && message["method"].is_null() {
                return Ok(message);
            }
        }
    }

    /// Peak memory, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        peak_of(self.child.id()).unwrap_or_default()
    }

    /// Stops the process.
    pub(crate) fn end(self) {
        let Served { mut child, input, output, .. } = self;
        drop((input, output));
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Follows the peak of a process's memory until it ends.
fn watch(child: &Child) -> JoinHandle<u64> {
    let id = child.id();
    let peak = Arc::new(AtomicU64::new(0));
    std::thread::spawn(move || {
        while let Some(now) = peak_of(id) {
            peak.fetch_max(now, Ordering::Relaxed);
            sleep(SAMPLE_INTERVAL);
        }
        peak.load(Ordering::Relaxed)
    })
}

/// Peak private memory of a running process, in bytes: peak resident memory (`VmHWM`) without file pages (`RssFile`,
/// proc_pid_status(5)), which are its code and can be dropped at any time.
fn peak_of(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    };
    Some(bytes("VmHWM:")?.saturating_sub(bytes("RssFile:")?))
}

fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
