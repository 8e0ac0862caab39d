//! Measures how long inputs hold the event loop of `toolsmith serve --http`: for each input, the time of the request, the
//! longest stay of the loop with one task, the longest wait of a probe of health, and the memory above idle.
//!
//! Run it in release mode: `cargo build --release && cargo bench -p end-to-end --bench loop -- WORD`. Without a word, all
//! inputs are sent, one after the other, and then all requests with long arguments at once. Fails if a stay is longer than
//! [`STAY`].

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a command-line program; any failure ends it")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use end_to_end::hard_inputs::{self, HardInput, Sizes};
use end_to_end::processes;

/// Limit on a stay: other clients do not notice it.
const STAY: Duration = Duration::from_millis(50);

/// Time for the memory of the request before to be freed.
const PAUSE: Duration = Duration::from_millis(500);

/// A running `toolsmith serve --http`.
struct Served {
    child: Child,
    authority: String,
    _folder: tempfile::TempDir,
}

impl Served {
    fn start() -> Self {
        let default = || {
            let itself = std::env::current_exe().unwrap();
            itself.parent().and_then(Path::parent).unwrap().join("toolsmith")
        };
        let binary = std::env::var_os("TOOLSMITH_BINARY").map_or_else(default, PathBuf::from);
        assert!(binary.is_file(), "{} is missing: build it first, in the same profile", binary.display());
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.yaml");
        fs::write(&config, hard_inputs::configuration(env!("CARGO_BIN_EXE_fault-server"), Sizes::LIMITS))
            .unwrap();
        let mut child = Command::new(binary)
            .args(["serve", "--http", "127.0.0.1:0", "--config"])
            .arg(&config)
            .env("TOOLSMITH_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("loop-cache"))
            .env("XDG_CONFIG_HOME", folder.path())
            .env("XDG_STATE_HOME", folder.path())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("serving MCP at ")).unwrap();
        let authority = line.split("http://").nth(1).unwrap().trim_end_matches("/mcp").to_owned();
        thread::spawn(move || lines.for_each(drop));
        Served { child, authority, _folder: folder }
    }

    fn memory(&self) -> u64 {
        processes::private(self.child.id())
    }

    /// Forgets the peak so far (`clear_refs`, proc_pid_clear_refs(5)).
    fn forget_peak(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    /// Does some work and measures the loop meanwhile.
    fn measure(&self, work: impl FnOnce()) -> Measured {
        thread::sleep(PAUSE);
        self.forget_peak();
        let (idle, is_over) = (self.memory(), AtomicBool::new(false));
        hard_inputs::longest_stay(&self.authority).unwrap();
        thread::scope(|scope| {
            let probing = scope.spawn(|| self.longest_probe(&is_over));
            let started = Instant::now();
            work();
            let request = started.elapsed();
            is_over.store(true, Ordering::Relaxed);
            let stay = Duration::from_secs_f64(hard_inputs::longest_stay(&self.authority).unwrap());
            let peak = processes::peak(self.child.id()).saturating_sub(idle);
            Measured { request, stay, probe: probing.join().unwrap(), peak }
        })
    }

    /// The longest wait for the answer to a probe.
    fn longest_probe(&self, is_over: &AtomicBool) -> Duration {
        let mut longest = Duration::ZERO;
        while !is_over.load(Ordering::Relaxed) {
            let started = Instant::now();
            assert!(hard_inputs::get(&self.authority, "/healthz").unwrap().starts_with("HTTP/1.1 200"));
            longest = longest.max(started.elapsed());
            thread::sleep(Duration::from_millis(10));
        }
        longest
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Measured {
    request: Duration,
    stay: Duration,
    probe: Duration,
    /// Peak memory above idle, in bytes.
    peak: u64,
}

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let is_chosen = |name: &str| filter.as_ref().is_none_or(|word| name.contains(word.as_str()));
    let served = Served::start();
    let inputs = hard_inputs::all(Sizes::LIMITS);
    // Builds what is missing in the cache, and starts the servers.
    inputs.iter().filter(|input| !input.compiles).for_each(|input| drop(input.send(&served.authority)));
    println!("{:<60} {:>10} {:>12} {:>9} {:>9}", "input", "request", "longest stay", "probe", "memory");
    let mut over = 0;
    let mut row = |name: &str, work: &dyn Fn()| {
        if !is_chosen(name) {
            return;
        }
        let Measured { request, stay, probe, peak } = served.measure(work);
        over += u32::from(stay > STAY);
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        println!("{name:<60} {:>10} {:>12} {:>9} {:>5} MiB", ms(request), ms(stay), ms(probe), peak >> 20);
    };
    for input in hard_inputs::brief().iter().chain(&inputs) {
        row(&input.name, &|| drop(input.send(&served.authority).unwrap()));
    }
    let requests: Vec<&HardInput> =
        inputs.iter().filter(|input| input.name.starts_with("arguments")).collect();
    row("all requests with long arguments, four times at once", &|| {
        thread::scope(|scope| {
            for input in (0..4).flat_map(|_| &requests) {
                scope.spawn(|| input.send(&served.authority));
            }
        });
    });
    println!("at most {} ms are allowed; {over} rows are over it", STAY.as_millis());
    if over == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
