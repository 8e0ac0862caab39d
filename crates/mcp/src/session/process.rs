//! The process of a session with a local server, killed with its group when the session is dropped.

use std::{io, sync::Arc, time::Duration};

use rmcp::{RoleClient, service::RunningService};
use tokio::{
    task::AbortHandle,
    time::{sleep, timeout},
};

use crate::{
    client::Client,
    error::{Error, ErrorKind, Evidence, Phase, SpawnError},
    process::{Process, Spawned, spawn},
    server_config::{Command, ServerConfig},
};

/// Time limit for reading the responses that a process wrote before its end.
const DRAIN_GRACE: Duration = Duration::from_secs(1);

/// Owns a process: kills its group when connecting fails or is cancelled, and when a session is dropped. Other holders
/// only watch the process.
pub(super) struct LocalServer {
    process: Arc<Process>,
    supervisor: Option<AbortHandle>,
    /// Whether the user has seen what it wrote to standard error.
    is_shown: bool,
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        if let Some(supervisor) = &self.supervisor {
            supervisor.abort();
        }
        self.process.kill();
    }
}

/// The process's pipes: standard output and input.
pub(super) type Pipes = (tokio::process::ChildStdout, tokio::process::ChildStdin);

impl LocalServer {
    /// Starts the process, within the connect timeout.
    pub(super) async fn start(
        config: &ServerConfig,
        command: &Command,
        client: &Client,
    ) -> Result<(Self, Pipes), Error> {
        let spawned = start(config, command).await?;
        let host = |error: io::Error| {
            let reason = format!("cannot use its pipes: {error}");
            Error::new(&config.name, ErrorKind::Host { reason })
        };
        let reporter = client.clone();
        let process =
            Process::adopt((spawned.group, spawned.tier), spawned.stderr, move |line| reporter.stderr(line));
        let process = process.map_err(host)?;
        let server = Self { process: Arc::new(process), supervisor: None, is_shown: client.shows_stderr() };
        let stdin = tokio::process::ChildStdin::from_std(spawned.stdin).map_err(host)?;
        let stdout = tokio::process::ChildStdout::from_std(spawned.stdout).map_err(host)?;
        Ok((server, (stdout, stdin)))
    }

    /// Ends the connection when the process has ended, even if an orphan holds the pipes open.
    pub(super) fn supervise(&mut self, service: &RunningService<RoleClient, Client>) {
        let connection = service.cancellation_token();
        let process = Arc::clone(&self.process);
        let task = tokio::spawn(async move {
            process.exited().await;
            process.kill_orphans();
            // The output from before the end is still being read; normally the stream then ends on its own.
            sleep(DRAIN_GRACE).await;
            connection.cancel();
        });
        self.supervisor = Some(task.abort_handle());
    }

    pub(super) fn group_id(&self) -> i32 {
        self.process.group_id()
    }

    pub(super) fn tier(&self) -> Option<&str> {
        self.process.tier()
    }

    pub(super) fn evidence(&self) -> Evidence {
        self.unless_shown(self.process.evidence())
    }

    fn unless_shown(&self, mut evidence: Evidence) -> Evidence {
        if self.is_shown {
            evidence.stderr.clear();
        }
        evidence
    }

    pub(super) async fn final_evidence(&self) -> Evidence {
        self.unless_shown(self.process.final_evidence().await)
    }

    pub(super) async fn end(&self) {
        self.process.end().await;
    }
}

/// Starts the process on a thread that may block on a slow file system.
async fn start(config: &ServerConfig, command: &Command) -> Result<Spawned, Error> {
    let fail = |kind| Error::new(&config.name, kind);
    let command = command.clone();
    let starting = tokio::task::spawn_blocking(move || spawn(&command));
    match timeout(config.connect_timeout, starting).await {
        Ok(Ok(Ok(spawned))) => Ok(spawned),
        Ok(Ok(Err(source))) => Err(fail(ErrorKind::Spawn { source })),
        Ok(Err(error)) => Err(fail(ErrorKind::Spawn { source: SpawnError::Interrupted(error) })),
        Err(_) => Err(fail(ErrorKind::Timeout {
            phase: Phase::Spawn,
            limit: config.connect_timeout,
            evidence: Evidence::default(),
        })),
    }
}
