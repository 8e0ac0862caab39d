//! A fault server to connect to, with a check that none of its processes is left.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use end_to_end::harness::{WATCHDOG, wait_until};
use mcp::{Command, Error, ServerConfig, Session, Transport};

/// Long enough for a correct answer on a busy machine, short enough to wait for in a test.
pub(crate) const SHORT: Duration = Duration::from_secs(1);

/// A server in one of its modes, identified by a variable that all of its descendants inherit.
pub(crate) struct Fixture {
    pub(crate) config: ServerConfig,
    pub(crate) marker: String,
}

impl Fixture {
    pub(crate) fn new(mode: &str) -> Self {
        Self::with_argument(mode, "")
    }

    pub(crate) fn with_argument(mode: &str, argument: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let marker = format!("FAULT_SERVER_MARKER={}-{number}", std::process::id());
        let (name, value) = marker.split_once('=').unwrap();
        let config = ServerConfig::new(
            "faulty",
            Transport::Stdio(Command {
                command: env!("CARGO_BIN_EXE_fault-server").to_owned(),
                args: vec![mode.to_owned(), argument.to_owned()],
                env: BTreeMap::from([(name.to_owned(), value.to_owned())]),
                ..Command::default()
            }),
        );
        Self { config, marker }
    }

    pub(crate) fn impatient(mut self) -> Self {
        self.config.request_timeout = SHORT;
        self
    }

    pub(crate) async fn connect(&self) -> Session {
        Session::connect(&self.config).await.unwrap()
    }

    pub(crate) async fn connect_error(&self) -> Error {
        let error = Session::connect(&self.config).await.unwrap_err();
        self.assert_nothing_left();
        error
    }

    pub(crate) async fn close(&self, session: Session) {
        session.close().await;
        self.assert_nothing_left();
    }

    /// The running descendants of this fixture's server.
    pub(crate) fn processes(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| self.owns(path))
            .map(|path| path.display().to_string())
            .collect()
    }

    /// Whether a process has the variable; a zombie has no environment.
    fn owns(&self, process: &Path) -> bool {
        fs::read(process.join("environ")).is_ok_and(|environment| {
            environment.split(|byte| *byte == 0).any(|variable| variable == self.marker.as_bytes())
        })
    }

    /// Waits for a grandchild: a process that was just started may not have its environment yet.
    pub(crate) fn assert_grandchild(&self) {
        let has_two = || self.processes().len() >= 2;
        wait_until("a grandchild", WATCHDOG, has_two, || format!("{:?}", self.processes()));
    }

    /// Waits until no process is left: a killed process that is not our child may take a moment to vanish.
    pub(crate) fn assert_nothing_left(&self) {
        let is_empty = || self.processes().is_empty();
        wait_until("the end of its processes", WATCHDOG, is_empty, || format!("{:?}", self.processes()));
    }
}
