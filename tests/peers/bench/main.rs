//! Measures `toolsmith serve` against other implementations of code mode and against direct calls.
//!
//! `tests/peers/bench/run` installs the peers and starts this; it lists the options. All peers are MCP servers over
//! stdio in front of the same server. They run at the same time and take turns in each round, so that a slow moment of
//! the machine affects all of them, and each figure is a median. Nothing is asserted about time.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

mod alone;
mod column;
mod definitions;
mod figures;
mod hello;
mod load;
mod options;
mod peers;
mod session;
mod table;
mod task;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use column::Column;
use figures::{Figures, milliseconds};
use hello::{Hello, printed};
use options::Options;
use peers::Installed;
use session::Running;
use task::TASKS;

/// The result of a step, or a description of its failure.
pub(crate) type Checked<T> = Result<T, String>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("against: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Checked<String> {
    let options = Options::read()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let installed = Installed::find(&options.binary, folder.path())?;
    let mut numbers = Numbers::new()?;
    let (mut columns, hello) = times(&options, &installed, folder.path(), &mut numbers).await?;
    let hello = hello.median().ok_or("hello world was not compiled")?;
    let mut report = head(&options, hello)?;
    if options.is_quick {
        return Ok(report + &table::render(&columns, hello, true));
    }
    tokens(&options, &installed, folder.path(), &mut columns).await?;
    report += &table::render(&columns, hello, false);
    if selected(&options, "toolsmith") {
        let first = numbers.next_block();
        let alone = alone::measure(&installed, &options, folder.path(), first).await?;
        report += "\n";
        report += &alone.table(hello);
    }
    Ok(report)
}

fn selected(options: &Options, key: &str) -> bool {
    options.peers.is_empty() || options.peers.iter().any(|peer| peer == key)
}

/// Starts the peers in front of the everything server, and measures everything that needs them running.
async fn times(
    options: &Options,
    installed: &Installed<'_>,
    folder: &Path,
    numbers: &mut Numbers,
) -> Checked<(Vec<Column>, Figures)> {
    let upstream = installed.everything();
    let compiler = Hello::find(folder)?;
    let peers = installed.peers(&upstream, "everything")?;
    let known: Vec<_> = peers.iter().map(|peer| peer.key).collect();
    if let Some(unknown) = options.peers.iter().find(|peer| !known.contains(&peer.as_str())) {
        return Err(format!("--peers: {unknown} is none of {}", known.join(", ")));
    }
    let mut columns = Vec::new();
    for peer in peers.into_iter().filter(|peer| selected(options, peer.key)) {
        eprintln!("starting {}", peer.name);
        columns.push(Column::start(peer, &upstream, folder).await);
    }
    let mut hello = Figures::default();
    // The first round is not counted: it builds what is built once.
    for round in 0..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        tokio::time::sleep(options.pause).await;
        let time = compiler.compile()?;
        if round > 0 {
            hello.add(time);
        }
        for (index, task) in TASKS.into_iter().enumerate() {
            // Each round begins with another peer, so that none always follows the same one.
            for place in 0..columns.len() {
                let place = (place + round) % columns.len();
                columns[place].measure(index, task, numbers.next(), options.pause, round > 0).await;
            }
        }
    }
    for column in &mut columns {
        if !options.is_quick {
            eprintln!("load and memory of {}", column.name);
            column.press(numbers.next(), options.rounds).await;
            column.weigh(&upstream).await;
        }
        column.end().await;
        if let Some(failure) = &column.failure {
            eprintln!("{}: {failure}", column.name);
        }
    }
    Ok((columns, hello))
}

/// Counts the tokens of the definitions of each peer in front of servers of different size.
async fn tokens(
    options: &Options,
    installed: &Installed<'_>,
    folder: &Path,
    columns: &mut [Column],
) -> Checked<()> {
    let catalogs = definitions::CATALOGS.map(alone::catalog);
    for (scene, upstream) in ["tools", "catalog", "large-catalog"]
        .iter()
        .zip(std::iter::once(installed.everything()).chain(catalogs))
    {
        let peers = installed.peers(&upstream, scene)?;
        let direct = peers.iter().find(|peer| peer.tool.is_none()).ok_or("no direct calls")?;
        let server = Running::start(direct.clone(), &upstream, folder).await?;
        let count = server.tools().await?.tools.len();
        server.end().await;
        for peer in peers.into_iter().filter(|peer| selected(options, peer.key)) {
            let Some(column) = columns.iter_mut().find(|column| column.peer.key == peer.key) else {
                continue;
            };
            eprintln!("definitions of {} with {count} tools", peer.name);
            let tokens = listed(peer, &upstream, folder).await;
            if let Err(error) = &tokens {
                eprintln!("{}: {error}", column.name);
            }
            column.tokens.insert(count, tokens);
        }
    }
    Ok(())
}

async fn listed(
    peer: peers::Peer,
    upstream: &peers::Upstream,
    folder: &Path,
) -> Checked<definitions::Tokens> {
    let running = Running::start(peer, upstream, folder).await?;
    let listing = running.tools().await;
    running.end().await;
    definitions::tokens(&listing?)
}

/// The lines above the tables: when, where and how they were measured, and how to read them.
fn head(options: &Options, hello: f64) -> Checked<String> {
    let date = printed(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let system = printed(Command::new("uname").args(["-srm"]))?;
    let rustc = printed(Command::new("rustc").arg("--version"))?;
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next());
    let memory = memory.and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or_default() >> 20;
    let rounds = options.rounds;
    Ok(format!(
        "{date}, {cores} cores, {memory} GiB, {system}, {rustc}: `tests/peers/bench/run {}`\n\n\
         Medians of {rounds} rounds. \"× hello\": the ratio to `rustc` on hello world ({}); \"× direct\": the ratio to the \
         same calls made directly. {} without requests before each measurement. Definitions: tokens of what a client \
         sends to its model, as o200k (estimated). Memory: resident, of all processes.\n\n",
        options.line,
        milliseconds(hello),
        milliseconds(options.pause.as_secs_f64() * 1e3),
    ))
}

/// Numbers that no earlier run used, so that texts with them are in no cache.
struct Numbers(u64);

/// The number of values that a run may use before it could meet those of a run that started a second later.
const BLOCK: u64 = 10_000;

impl Numbers {
    fn new() -> Checked<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
        // At most 10 digits, which all languages calculate with exactly.
        Ok(Self(now.as_secs() % 1_000_000 * BLOCK))
    }

    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }

    /// The first of enough numbers for a step that counts by itself.
    fn next_block(&mut self) -> u64 {
        self.0 += BLOCK;
        self.0
    }
}
