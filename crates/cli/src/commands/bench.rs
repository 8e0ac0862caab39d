//! `toolsmith bench`: measures what a snippet costs, relative to compiling "hello world" on the same machine.
//!
//! All measurements are interleaved in each round, so that a slow moment of the machine affects all of them, and each
//! figure is a median.

mod definitions;
mod figures;
mod report;
mod runs;
mod served;
mod snippets;
mod tools;

use std::collections::BTreeMap;
use std::path::Path;

use gateway::cache;
use gateway::failure::Failure;
use runner::{Engine, NoSink};
use terminal::Terminal;

use crate::arguments::BenchArguments;
use figures::Figures;
use report::Report;
use runs::Bench;
use served::Served;
use snippets::LARGE;

/// Runs the command and returns the exit code.
pub(crate) async fn bench(arguments: &BenchArguments) -> Result<u8, Failure> {
    // Reports a wrong file before anything is measured.
    let known = tools::known(&arguments.tools)?;
    let cache = cache::open(&config::CacheSettings::default())?;
    let engine = Engine::open(&config::CodeMode::default().engine(cache), &NoSink).await?;
    let folder = system::private::temporary().map_err(Failure::system)?;
    let program = std::env::current_exe().map_err(Failure::system)?;
    let bench = Bench { program, folder: folder.path(), environment: environment(folder.path()) };
    bench.warm().await?;
    let config = bench.config(&["demo", LARGE])?;
    let mut served = Served::start(&bench.program, &config, bench.environment.clone()).await?;
    let mut figures = Figures::default();
    for round in 0..arguments.rounds {
        // Makes the texts new, so that they are not in the cache.
        let unique = format!("{}-{round}", std::process::id());
        bench.round(engine.toolchain(), &unique, &mut figures).await?;
        served.round(&unique, &mut figures).await?;
    }
    served.add_typical(&mut figures);
    let memory = served.memory().await?;
    let load = served.load(arguments.rounds).await?;
    served.end().await;
    let calls = bench.calls().await?;
    let tools = tools::measure(&engine, &arguments.tools, arguments.rounds).await?;
    let definitions = definitions::measure(&known)?;
    let report = Report { figures, load, memory, calls, tools, definitions };
    let terminal = Terminal::new(true, false);
    if arguments.json {
        terminal.print_json(&report.json().to_string());
    } else {
        terminal.print(&report.table());
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(gateway::exit_code::OK)
}

/// The environment of measured processes: the user's, with folders of their own for settings and statistics.
fn environment(folder: &Path) -> BTreeMap<String, String> {
    let inherited = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let own = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"]
        .map(|name| (name.to_owned(), folder.to_string_lossy().into_owned()));
    inherited.chain(own).collect()
}
