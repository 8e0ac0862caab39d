//! `toolsmith bench`: measures what a snippet costs, relative to compiling "hello world" on the same machine.
//!
//! All measurements are interleaved in each round, so that a slow moment of the machine affects all of them, and each
//! figure is a median. Whole processes are measured, from start to end, as a user starts them.

mod definitions;
mod tools;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gateway::cache;
use gateway::failure::Failure;
use report::Kind;
use runner::{Engine, TARGET, Toolchain, Unobserved};
use serde_json::{Value, json};
use terminal::Terminal;
use tokio::process::Command;

use crate::arguments::BenchArguments;
use definitions::Definitions;
use tools::Tools;

/// Number of calls in one measurement, through the broker and directly.
const CALLS: u32 = 1000;
/// Number of the demo server's tools, whose bindings are compiled.
const DEMO_TOOLS: f64 = 9.0;

const HELLO: &str = "fn main() { println!(\"hello world\"); }\n";

/// Measurements by name, in milliseconds.
#[derive(Default)]
struct Figures(BTreeMap<&'static str, Vec<f64>>);

impl Figures {
    fn add(&mut self, name: &'static str, milliseconds: f64) {
        self.0.entry(name).or_default().push(milliseconds);
    }

    fn median(&self, name: &str) -> f64 {
        let mut values = self.0.get(name).cloned().unwrap_or_default();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// The measurements by name, with their descriptions, in the order of the table.
const ROWS: [(&str, &str); 9] = [
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
const HELLO_ROW: &str = "hello";
/// Name of the server with many tools.
const LARGE: &str = "large";

/// Runs the command and returns the exit code.
pub(crate) async fn bench(arguments: &BenchArguments) -> Result<u8, Failure> {
    // Reports a wrong file before anything is measured.
    let known = tools::known(&arguments.tools)?;
    let cache = cache::open(&config::CacheSettings::default())?;
    let engine = Engine::open(&config::CodeMode::default().engine(cache), &Unobserved).await?;
    let folder = tempfile::tempdir().map_err(Failure::system)?;
    let bench = Bench { program: std::env::current_exe().map_err(Failure::system)?, folder: folder.path() };
    let mut figures = Figures::default();
    for round in 0..arguments.rounds {
        bench.round(engine.toolchain(), round, &mut figures).await?;
    }
    let calls = bench.calls().await?;
    let tools = tools::measure(&engine, &arguments.tools, arguments.rounds).await?;
    let definitions = definitions::measure(&known)?;
    let terminal = Terminal::new(true, false);
    if arguments.json {
        terminal.print_json(&json_object(&figures, calls, &tools, &definitions).to_string());
    } else {
        terminal.print(&table(&figures, calls, &tools, &definitions));
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(gateway::exit_code::OK)
}

struct Bench<'a> {
    program: PathBuf,
    folder: &'a Path,
}

/// Writes a configuration in which only the demo server is defined, as `name`, so that the user's own servers do not
/// affect the figures. The server [`LARGE`] has each tool 111 times.
fn demo_config(folder: &Path, name: &str) -> Result<String, Failure> {
    let copies = if name == LARGE { "110" } else { "0" };
    let args = ["demo-server", "--copies", copies];
    let server = json!({ "command": "toolsmith", "args": args, "trust": true });
    let file = folder.join(format!("{name}.yaml"));
    let text = json!({ "mcpServers": { name: server } }).to_string();
    fs_err::write(&file, text).map_err(Failure::system)?;
    Ok(file.to_string_lossy().into_owned())
}

/// Microseconds of one call.
#[derive(Clone, Copy)]
struct Calls {
    broker: f64,
    direct: f64,
}

impl Bench<'_> {
    async fn round(&self, toolchain: &Toolchain, round: u32, figures: &mut Figures) -> Result<(), Failure> {
        let lld = format!("-Clinker={}", toolchain.linker.display());
        figures.add(HELLO_ROW, self.hello(toolchain, &[&lld]).await?);
        // Without a C toolchain there is no default linker, and no figure.
        if let Ok(milliseconds) = self.hello(toolchain, &[]).await {
            figures.add("hello_cc", milliseconds);
        }
        // Makes the snippet's text new, so that it is not in the cache.
        let unique = format!("{}-{round}", std::process::id());
        let call = |kind: &str| format!("demo::echo(\"{kind} {unique}\").await?.text()");
        let wrong = format!("let number: i32 = demo::echo(\"{unique}\").await?.text(); number");
        figures.add("type_error", self.run(&["--check"], "demo", &wrong, 3).await?.0);
        figures.add("check", self.run(&["--check"], "demo", &call("check"), 0).await?.0);
        figures.add("new", self.run(&[], "demo", &call("run"), 0).await?.0);
        figures.add("again", self.run(&[], "demo", &call("run"), 0).await?.0);
        let call = |kind: &str| format!("{LARGE}::echo(\"{kind} {unique}\").await?.text()");
        if round == 0 {
            // Fills the cache: the tools are not listed yet, and the binding in use is not compiled.
            self.run(&[], LARGE, &call("first"), 0).await?;
        }
        figures.add("check_large", self.run(&["--check"], LARGE, &call("check"), 0).await?.0);
        figures.add("new_large", self.run(&[], LARGE, &call("run"), 0).await?.0);
        figures.add("binding", self.bindings(&unique).await?);
        Ok(())
    }

    async fn hello(&self, toolchain: &Toolchain, flags: &[&str]) -> Result<f64, Failure> {
        let source = self.folder.join("hello.rs");
        fs_err::write(&source, HELLO).map_err(Failure::system)?;
        let started = Instant::now();
        let output = Command::new(&toolchain.rustc)
            .arg(format!("--target={TARGET}"))
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(self.folder.join("hello"))
            .output()
            .await
            .map_err(Failure::system)?;
        let elapsed = milliseconds(started.elapsed());
        if output.status.success() {
            Ok(elapsed)
        } else {
            Err(Failure::new(Kind::Toolchain, String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// Runs a whole process of `run` with the demo server as `server`, which must exit with `code`. Returns the time in
    /// milliseconds and the outcome.
    async fn run(
        &self,
        flags: &[&str],
        server: &str,
        snippet: &str,
        code: i32,
    ) -> Result<(f64, Value), Failure> {
        let config = demo_config(self.folder, server)?;
        let file = self.folder.join("snippet.rs");
        fs_err::write(&file, snippet).map_err(Failure::system)?;
        let started = Instant::now();
        let output = Command::new(&self.program)
            .args(["run", "--quiet", "--json", "--config", &config])
            .args(flags)
            .arg(&file)
            .output()
            .await
            .map_err(Failure::system)?;
        let elapsed = milliseconds(started.elapsed());
        if output.status.code() != Some(code) {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let stdout = String::from_utf8_lossy(&output.stdout);
            return Err(Failure::new(
                Kind::System,
                format!("`run` ended with {}: {stderr}{stdout}", output.status),
            ));
        }
        Ok((elapsed, serde_json::from_slice(&output.stdout).map_err(Failure::system)?))
    }

    /// Measures compiling bindings, under a new server name so that they are not in the cache.
    async fn bindings(&self, unique: &str) -> Result<f64, Failure> {
        let name = format!("bench_{}", unique.replace('-', "_"));
        let snippet = format!("{name}::echo(\"bindings\").await?.text()");
        let (_, outcome) = self.run(&["--check"], &name, &snippet, 0).await?;
        Ok(outcome["phases_ms"]["bindings"].as_f64().unwrap_or(f64::NAN) / DEMO_TOOLS)
    }

    async fn calls(&self) -> Result<Calls, Failure> {
        let snippet = format!(
            "demo::echo(\"first\").await?;\nlet started = Instant::now();\n\
             for _ in 0..{CALLS} {{ demo::echo(\"call\").await?; }}\n\
             started.elapsed().as_secs_f64() * 1e6 / {CALLS}_f64"
        );
        let (mut broker, mut direct) = (f64::INFINITY, f64::INFINITY);
        // Takes the minimum of three: the cost of a call is a lower bound, and noise only adds to it.
        for _ in 0..3 {
            let (_, outcome) = self.run(&[], "demo", &snippet, 0).await?;
            broker = broker.min(outcome["result"].as_f64().unwrap_or(f64::NAN));
            direct = direct.min(self.direct_call().await?);
        }
        Ok(Calls { broker, direct })
    }

    /// Measures a call by the MCP client alone, without snippet and broker, in microseconds.
    async fn direct_call(&self) -> Result<f64, Failure> {
        let server = mcp::ServerConfig::stdio("demo", self.program.to_string_lossy(), ["demo-server"]);
        let session = mcp::Session::connect(&server).await?;
        let arguments =
            serde_json::value::to_raw_value(&json!({ "message": "call" })).map_err(Failure::system)?;
        session.call("echo", arguments.clone()).await?;
        let started = Instant::now();
        for _ in 0..CALLS {
            session.call("echo", arguments.clone()).await?;
        }
        let elapsed = started.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS);
        session.close().await;
        Ok(elapsed)
    }
}

/// The figures as one JSON object.
fn json_object(figures: &Figures, calls: Calls, tools: &Tools, definitions: &[Definitions]) -> Value {
    let floor = figures.median(HELLO_ROW);
    let Calls { broker, direct } = calls;
    let rows = ROWS.iter().map(|(name, _)| {
        let median = figures.median(name);
        ((*name).to_owned(), json!({ "ms": median, "ratio": median / floor }))
    });
    let calls = json!({ "broker_us": broker, "direct_us": direct, "over_us": broker - direct });
    let tools = json!({
        "tools": tools.count, "generate_ms_per_schema": tools.generate, "compile_cpu_ms_per_tool": tools.compile,
    });
    json!({
        "rows": rows.collect::<serde_json::Map<_, _>>(), "calls": calls, "tools": tools,
        "definitions": definitions,
    })
}

/// The figures as a table.
fn table(figures: &Figures, calls: Calls, tools: &Tools, definitions: &[Definitions]) -> String {
    let floor = figures.median(HELLO_ROW);
    let Calls { broker, direct } = calls;
    let mut lines = vec![format!("{:>9}  {:>6}", "median", "ratio")];
    for (name, meaning) in ROWS {
        let median = figures.median(name);
        if median.is_finite() {
            lines.push(format!("{median:>6.1} ms  {:>5.2}x  {meaning}", median / floor));
        }
    }
    lines.push(format!("{broker:>6.0} us          one call through the broker, of {CALLS} in a snippet"));
    lines.push(format!("{direct:>6.0} us          the same call without snippet and broker"));
    let Tools { count, generate, compile } = tools;
    lines.push(format!("{generate:>6.2} ms          generating the code of one schema, of {count} tools"));
    lines.push(format!(
        "{compile:>6.2} ms          CPU time of compiling the bindings of one tool, of {count}"
    ));
    for Definitions { tools, o200k, characters } in definitions {
        lines.push(format!(
            "{o200k:>6} tokens      tool definitions for a client's model with {tools} tools, in o200k_base ({characters} as characters / 4)"
        ));
    }
    lines.join("\n")
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_aligned() {
        let mut figures = Figures::default();
        for (number, (name, _)) in (1_u8..).zip(ROWS) {
            figures.add(name, f64::from(number) * 100.0);
        }
        let calls = Calls { broker: 123.4, direct: 45.6 };
        let tools = Tools { count: 9, generate: 0.25, compile: 6.5 };
        let definitions = [Definitions { tools: 10, o200k: 900, characters: 1000 }];
        insta::assert_snapshot!(table(&figures, calls, &tools, &definitions));
    }
}
