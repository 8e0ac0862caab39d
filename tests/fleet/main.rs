//! Loads a fleet on this machine and breaks its parts: three replicas of `toolsmith serve --http` behind HAProxy, with an
//! S3 server, an issuer of tokens and an MCP server. `tests/fleet/run` starts it; CONTRIBUTING.md describes it.
//!
//! It prints a table, and fails if an answer was lost, or an execution ran twice. No time is asserted.

#![allow(clippy::print_stdout, reason = "a command-line program")]

mod client;
mod issuer;
mod load;
mod mix;
mod proxy;
mod replica;
mod scene;
mod tally;
mod trials;
mod upstream;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use scene::Scene;
use trials::Trials;

/// A result whose error is for the person who runs this.
pub(crate) type Checked<T> = Result<T, String>;

/// Time of each load, in seconds, if no other is requested.
const SECONDS: u64 = 20;

/// The command line.
struct Options {
    binary: PathBuf,
    seconds: u64,
    only: Vec<String>,
    faketime: Option<PathBuf>,
    capacity: f64,
    /// The processors of the replicas, as taskset(1) lists them.
    processors: Option<String>,
    keep: bool,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Checked<Self> {
        let mut options = Options {
            binary: PathBuf::new(),
            seconds: SECONDS,
            only: Vec::new(),
            faketime: None,
            capacity: 0.0,
            processors: None,
            keep: false,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                // Cargo adds it.
                "--bench" => {}
                "--keep" => options.keep = true,
                "--binary" => options.binary = value()?.into(),
                "--seconds" => options.seconds = value()?.parse().map_err(|_| "--seconds needs a number")?,
                "--capacity" => {
                    options.capacity = value()?.parse().map_err(|_| "--capacity needs a number")?;
                }
                "--processors" => options.processors = Some(value()?),
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                "--faketime" => options.faketime = Some(value()?.into()),
                other => return Err(format!("unknown option {other}; tests/fleet/run lists all of them")),
            }
        }
        if !options.binary.is_absolute() {
            return Err("--binary needs an absolute path".to_owned());
        }
        Ok(options)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    // Fails if it is installed already.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    match run().await {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            wrong.iter().for_each(|what| eprintln!("must not happen: {what}"));
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("fleet: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Checked<Vec<String>> {
    let Options { binary, seconds, only, faketime, capacity, processors, keep } =
        Options::read(std::env::args().skip(1))?;
    let mut scene = Scene::start(&binary, processors.as_deref()).await?;
    if keep {
        scene.folder.disable_cleanup(true);
        eprintln!("files are in {}", scene.folder.path().display());
    }
    let time = Duration::from_secs(seconds);
    let mut trials = Trials { scene, time, only, faketime, capacity, tallies: Vec::new() };
    trials.run().await
}
