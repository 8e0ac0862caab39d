//! Measures what a snippet costs, relative to compiling "hello world" on the same machine, with `run` and through
//! `serve`. It only prints.
//!
//! All measurements are interleaved in each round, so that a slow moment of the machine affects all of them, and each
//! figure is a median. `cargo bench -p end-to-end --bench speed -- [--rounds N] [--tools FILE]... [--json]` measures
//! `TOOLSMITH_BINARY`, or the binary in the same target folder.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a command-line program; any failure ends it")]

mod definitions;
mod figures;
mod options;
mod report;
mod runs;
mod served;
mod snippets;
mod tools;

use std::collections::BTreeMap;
use std::path::Path;

use runner::{Engine, NoSink};

use figures::Figures;
use options::Options;
use report::Report;
use runs::Bench;
use served::Served;
use snippets::LARGE;

fn main() {
    // Compilers are started as this program, and must take over before any thread exists.
    sandbox::entry();
    mcp::entry();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(measure(Options::read()));
}

async fn measure(options: Options) {
    let rounds = options.rounds;
    let known = tools::known(&options).await;
    let cache = gateway::cache::open(&config::CacheSettings::default()).unwrap();
    let engine = Engine::open(&config::CodeMode::default().engine(cache), &NoSink).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let environment = environment(folder.path());
    let bench = Bench { program: options.binary, folder: folder.path(), environment };
    bench.warm().await;
    let config = bench.config(&["demo", LARGE]);
    let mut served = Served::start(&bench.program, &config, bench.environment.clone()).await;
    let mut figures = Figures::default();
    for round in 0..rounds {
        // Makes the texts new, so that they are not in the cache.
        let unique = format!("{}-{round}", std::process::id());
        bench.round(engine.toolchain(), &unique, &mut figures).await;
        served.round(&unique, &mut figures).await;
    }
    served.add_typical(&mut figures);
    let memory = served.memory().await;
    let load = served.load(rounds).await;
    served.end().await;
    let calls = bench.calls().await;
    let tools = tools::measure(&engine, &known, rounds).await;
    let definitions = definitions::measure(&known);
    let report = Report { figures, load, memory, calls, tools, definitions };
    println!("{}", if options.json { report.json().to_string() } else { report.table() });
}

/// The environment of measured processes: the user's, with folders of their own for settings and statistics.
fn environment(folder: &Path) -> BTreeMap<String, String> {
    let inherited = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let own = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"]
        .map(|name| (name.to_owned(), folder.to_string_lossy().into_owned()));
    inherited.chain(own).collect()
}
