//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use crate::Checked;

/// The default number of rounds.
const ROUNDS: usize = 15;
/// The maximum number of rounds: an evening's work.
const MAX_ROUNDS: usize = 1000;

/// The default pause before each measurement. A client's model takes longer to write a program.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The options; `tests/peers/bench/run` describes them.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) binary: PathBuf,
    pub(crate) rounds: usize,
    /// The keys of the peers to measure; empty for all.
    pub(crate) peers: Vec<String>,
    pub(crate) is_quick: bool,
    /// Time without requests before each measurement.
    pub(crate) pause: Duration,
    /// All arguments, for the report.
    pub(crate) line: String,
}

impl Options {
    /// Reads the command line. Cargo adds `--bench` to it.
    pub(crate) fn read() -> Checked<Self> {
        let given: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
        let mut options = Self {
            binary: beside()?,
            rounds: ROUNDS,
            peers: Vec::new(),
            is_quick: false,
            pause: PAUSE,
            line: shown(&given),
        };
        let mut rest = given.into_iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--binary" => options.binary = value()?.into(),
                "--rounds" => {
                    let rounds = value()?.parse().ok().filter(|rounds| (1..=MAX_ROUNDS).contains(rounds));
                    options.rounds =
                        rounds.ok_or_else(|| format!("--rounds: a number from 1 to {MAX_ROUNDS}"))?;
                }
                "--peers" => options.peers = value()?.split(',').map(str::to_owned).collect(),
                "--quick" => options.is_quick = true,
                "--pause" => {
                    let pause = value()?.parse().ok().map(Duration::from_millis);
                    options.pause = pause
                        .filter(|pause| *pause <= MAX_PAUSE)
                        .ok_or_else(|| format!("--pause: milliseconds, at most {}", MAX_PAUSE.as_millis()))?;
                }
                _ => {
                    return Err(format!(
                        "{name} is not an option; expected --binary FILE, --rounds N, --peers NAME,…, --pause MS or \
                         --quick"
                    ));
                }
            }
        }
        let binary = options.binary.canonicalize();
        options.binary = binary.map_err(|error| format!("{}: {error}", options.binary.display()))?;
        Ok(options)
    }
}

/// The arguments as typed, without a release build, which is the script's default, and without the folders of another
/// binary, which differ between machines.
fn shown(given: &[String]) -> String {
    let mut words = Vec::new();
    let mut rest = given.iter();
    while let Some(name) = rest.next() {
        if name != "--binary" {
            words.push(name.clone());
            continue;
        }
        let path = rest.next().map(PathBuf::from).unwrap_or_default();
        let ending: PathBuf = path.iter().skip(path.iter().count().saturating_sub(2)).collect();
        if !ending.starts_with("release") {
            words.extend([name.clone(), ending.display().to_string()]);
        }
    }
    words.join(" ")
}

/// The binary in the same target folder as this program.
fn beside() -> Checked<PathBuf> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = itself.parent().and_then(std::path::Path::parent).ok_or("this program has no folder")?;
    Ok(folder.join("toolsmith"))
}
