//! Measures whole processes of `toolsmith run`, from start to end, as a user starts them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use runner::{TARGET, Toolchain};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::sleep;

use super::figures::{Figures, Row, milliseconds};
use super::served::PAUSE;
use super::snippets::LARGE;

/// Number of calls in one measurement, through the broker and directly.
pub(super) const CALLS: u32 = 1000;
/// Number of the demo server's tools, whose bindings are compiled.
const DEMO_TOOLS: f64 = 9.0;

const HELLO: &str = "fn main() { println!(\"hello world\"); }\n";

/// The measurements by name, with their descriptions, in the order of the table.
pub(super) const ROWS: [Row; 9] = [
    (HELLO_ROW, "rustc hello world, same target, rust-lld: the floor"),
    ("hello_cc", "rustc hello world, same target, its default linker"),
    ("type_error", "run --check of a new snippet with a type error"),
    ("check", "run --check of a new snippet"),
    ("new", "run of a new snippet with one tool call"),
    ("again", "run of the same snippet again"),
    ("check_large", "run --check of a new snippet, server with 999 tools"),
    ("new_large", "run of a new snippet with one tool call, server with 999 tools"),
    ("binding", "compiling the bindings of one tool"),
];
/// The row that the ratios refer to.
pub(super) const HELLO_ROW: &str = "hello";
/// The executable, the folder of its files, and the environment of its processes.
pub(super) struct Bench<'a> {
    pub(super) program: PathBuf,
    pub(super) folder: &'a Path,
    pub(super) environment: BTreeMap<String, String>,
}

/// Microseconds of one call.
#[derive(Clone, Copy)]
pub(super) struct Calls {
    pub(super) broker: f64,
    pub(super) direct: f64,
}

impl Bench<'_> {
    /// Writes a configuration in which only the demo server is defined, once with each of these names, so that the user's
    /// own servers do not affect the figures. The server [`LARGE`] has each tool 111 times.
    pub(super) fn config(&self, names: &[&str]) -> String {
        let server = |name: &str| {
            let copies = if name == LARGE { "110" } else { "0" };
            let args = ["demo-server", "--copies", copies];
            (name.to_owned(), json!({ "command": "toolsmith", "args": args, "trust": true }))
        };
        let servers: serde_json::Map<String, Value> = names.iter().copied().map(server).collect();
        let file = self.folder.join(format!("{}.yaml", names.join("-")));
        let text = json!({ "mcpServers": servers }).to_string();
        std::fs::write(&file, text).unwrap();
        file.to_string_lossy().into_owned()
    }

    /// Fills the cache: lists the tools of the large server and compiles the binding in use.
    pub(super) async fn warm(&self) -> () {
        let call = format!("{LARGE}::echo(\"first\").await?.text()");
        self.run(&[], LARGE, &call, 0).await;
    }

    /// Measures every row once. `unique` makes the texts new.
    pub(super) async fn round(&self, toolchain: &Toolchain, unique: &str, figures: &mut Figures) -> () {
        let lld = format!("-Clinker={}", toolchain.linker.display());
        figures.add(HELLO_ROW, self.hello(toolchain, &[&lld]).await.unwrap());
        // Without a C toolchain there is no default linker, and no figure.
        if let Some(milliseconds) = self.hello(toolchain, &[]).await {
            figures.add("hello_cc", milliseconds);
        }
        let call = |kind: &str| format!("demo::echo(\"{kind} {unique}\").await?.text()");
        let wrong = format!("let number: i32 = demo::echo(\"{unique}\").await?.text(); number");
        figures.add("type_error", self.run(&["--check"], "demo", &wrong, 3).await.0);
        figures.add("check", self.run(&["--check"], "demo", &call("check"), 0).await.0);
        figures.add("new", self.run(&[], "demo", &call("run"), 0).await.0);
        figures.add("again", self.run(&[], "demo", &call("run"), 0).await.0);
        let call = |kind: &str| format!("{LARGE}::echo(\"{kind} {unique}\").await?.text()");
        figures.add("check_large", self.run(&["--check"], LARGE, &call("check"), 0).await.0);
        figures.add("new_large", self.run(&[], LARGE, &call("run"), 0).await.0);
        figures.add("binding", self.bindings(unique).await);
    }

    /// Compiles hello world after the same pause as before a snippet in `serve`: memory is slower after a pause. `None`
    /// if that fails.
    async fn hello(&self, toolchain: &Toolchain, flags: &[&str]) -> Option<f64> {
        let source = self.folder.join("hello.rs");
        std::fs::write(&source, HELLO).unwrap();
        sleep(PAUSE).await;
        let started = Instant::now();
        let output = Command::new(&toolchain.rustc)
            .arg(format!("--target={TARGET}"))
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(self.folder.join("hello"))
            .output()
            .await
            .unwrap();
        let elapsed = milliseconds(started.elapsed());
        output.status.success().then_some(elapsed)
    }

    /// Runs a whole process of `run` with the demo server as `server`, which must exit with `code`. Returns the time in
    /// milliseconds and the outcome.
    async fn run(&self, flags: &[&str], server: &str, snippet: &str, code: i32) -> (f64, Value) {
        let config = self.config(&[server]);
        let file = self.folder.join("snippet.rs");
        std::fs::write(&file, snippet).unwrap();
        let started = Instant::now();
        let output = Command::new(&self.program)
            .envs(&self.environment)
            .args(["run", "--quiet", "--json", "--config", &config])
            .args(flags)
            .arg(&file)
            .output()
            .await
            .unwrap();
        let elapsed = milliseconds(started.elapsed());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "`run` ended with {}: {stderr}", output.status);
        (elapsed, serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Measures compiling bindings, under a new server name so that they are not in the cache.
    async fn bindings(&self, unique: &str) -> f64 {
        let name = format!("bench_{}", unique.replace('-', "_"));
        let snippet = format!("{name}::echo(\"bindings\").await?.text()");
        let (_, outcome) = self.run(&["--check"], &name, &snippet, 0).await;
        outcome["phases_ms"]["bindings"].as_f64().unwrap_or(f64::NAN) / DEMO_TOOLS
    }

    /// Measures one call in a snippet, and without one.
    pub(super) async fn calls(&self) -> Calls {
        let snippet = format!(
            "demo::echo(\"first\").await?;\nlet started = Instant::now();\n\
             for _ in 0..{CALLS} {{ demo::echo(\"call\").await?; }}\n\
             started.elapsed().as_secs_f64() * 1e6 / {CALLS}_f64"
        );
        let (mut broker, mut direct) = (f64::INFINITY, f64::INFINITY);
        // Takes the minimum of three: the cost of a call is a lower bound, and noise only adds to it.
        for _ in 0..3 {
            let (_, outcome) = self.run(&[], "demo", &snippet, 0).await;
            broker = broker.min(outcome["result"].as_f64().unwrap_or(f64::NAN));
            direct = direct.min(self.direct_call().await);
        }
        Calls { broker, direct }
    }

    /// Measures a call by the MCP client alone, without snippet and broker, in microseconds.
    async fn direct_call(&self) -> f64 {
        let server = mcp::ServerConfig::stdio("demo", self.program.to_string_lossy(), ["demo-server"]);
        let session = mcp::Session::connect(&server).await.unwrap();
        let arguments = serde_json::value::to_raw_value(&json!({ "message": "call" })).unwrap();
        session.call("echo", arguments.clone()).await.unwrap();
        let started = Instant::now();
        for _ in 0..CALLS {
            session.call("echo", arguments.clone()).await.unwrap();
        }
        let elapsed = started.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS);
        session.close().await;
        elapsed
    }
}
