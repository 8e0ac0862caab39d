//! One replica: a `toolsmith serve --http` with its own folder, cache and log.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Checked;

/// The time limit until a replica is ready.
const READY: Duration = Duration::from_secs(120);
/// Interval of the requests that find out whether it is ready.
const POLL: Duration = Duration::from_millis(10);

/// The parameters that a replica is started with.
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    pub(crate) binary: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) address: SocketAddr,
    pub(crate) variables: Vec<(&'static str, String)>,
    pub(crate) config: Value,
    /// The processors that it may use, as taskset(1) lists them; all if there is no list.
    pub(crate) processors: Option<String>,
    /// A program that starts it with another clock, with its arguments.
    pub(crate) clock: Vec<String>,
}

/// A running replica; it is killed on drop.
pub(crate) struct Replica {
    pub(crate) plan: Plan,
    process: Child,
    /// The time that it took to become ready.
    pub(crate) ready_after: Duration,
}

impl Plan {
    /// The folder of its cache.
    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// Its log.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// A command in its folder, with nothing of this process's environment.
    fn command(&self, arguments: &[&str]) -> Command {
        let processors = self.processors.iter().flat_map(|list| ["taskset", "--cpu-list", list.as_str()]);
        let words: Vec<&str> = processors.chain(self.clock.iter().map(String::as_str)).collect();
        let mut command = match words.split_first() {
            Some((program, rest)) => {
                let mut command = Command::new(program);
                command.args(rest).arg(&self.binary);
                command
            }
            None => Command::new(&self.binary),
        };
        command.args(arguments).current_dir(&self.folder).env_clear();
        for name in ["PATH", "HOME", "RUSTUP_HOME", "CARGO_HOME"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("TOOLSMITH_CACHE_DIR", self.cache())
            .env("XDG_CONFIG_HOME", self.folder.join("config"))
            .env("XDG_STATE_HOME", self.folder.join("state"))
            .envs(self.variables.iter().map(|(name, value)| (*name, value)));
        command
    }

    /// Runs `toolsmith` with these arguments and this replica's configuration, to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Checked<()> {
        let config = self.write()?;
        let config = config.display().to_string();
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--config", &config]).collect();
        let output = self.command(&arguments).output().map_err(failed(&self.binary))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    fn write(&self) -> Checked<PathBuf> {
        fs::create_dir_all(&self.folder).map_err(failed(&self.folder))?;
        let file = self.folder.join("toolsmith.json");
        fs::write(&file, self.config.to_string()).map_err(failed(&file))?;
        Ok(file)
    }

    /// Starts it, and waits until it is ready.
    pub(crate) async fn start(self) -> Checked<Replica> {
        let config = self.write()?.display().to_string();
        let address = self.address.to_string();
        let log = File::options().create(true).append(true).open(self.log()).map_err(failed(&self.log()))?;
        let mut command =
            self.command(&["serve", "--http", &address, "--log-format", "json", "--config", &config]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let started = Instant::now();
        let process = command.spawn().map_err(failed(&self.binary))?;
        let mut replica = Replica { plan: self, process, ready_after: Duration::ZERO };
        replica.until_ready(started).await?;
        Ok(replica)
    }
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

impl Replica {
    async fn until_ready(&mut self, started: Instant) -> Checked<()> {
        let url = format!("http://{}/readyz", self.plan.address);
        let http = crate::client::http();
        while started.elapsed() < READY {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(format!(
                    "the replica {} has ended with {status}: {}",
                    self.plan.name,
                    self.log()
                ));
            }
            if let Ok(answer) = http.get(&url).send().await
                && answer.status().is_success()
            {
                self.ready_after = started.elapsed();
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
        Err(format!("the replica {} is not ready: {}", self.plan.name, self.log()))
    }

    /// Its log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.plan.log()).unwrap_or_default()
    }

    /// The value of a metric, summed over its labels.
    pub(crate) async fn metric(&self, name: &str) -> Option<f64> {
        let address = self.plan.config["serve"]["metrics"]["address"].as_str()?;
        let answer = crate::client::http().get(format!("http://{address}/metrics")).send().await.ok()?;
        let text = answer.text().await.ok()?;
        let values = text.lines().filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            (series == name || series.starts_with(&format!("{name}{{"))).then(|| value.parse::<f64>().ok())?
        });
        let values: Vec<f64> = values.collect();
        (!values.is_empty()).then(|| values.iter().sum())
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(id) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(id, signal);
        }
    }

    /// Waits until it has ended, and returns what is needed to start it again.
    pub(crate) async fn ended(mut self) -> Checked<(Plan, bool)> {
        loop {
            if let Some(status) = self.process.try_wait().map_err(|error| error.to_string())? {
                let plan = Plan {
                    name: self.plan.name,
                    binary: self.plan.binary.clone(),
                    folder: self.plan.folder.clone(),
                    address: self.plan.address,
                    variables: self.plan.variables.clone(),
                    config: self.plan.config.clone(),
                    processors: self.plan.processors.clone(),
                    clock: self.plan.clock.clone(),
                };
                return Ok((plan, status.success()));
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
