//! Starts a server's command confined.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp::{Command, Launched, Launcher, SpawnError};
use runner::Protected;
use sandbox::{Layers, Policy, Sandbox};

use crate::environment::Environment;
use crate::installation::{Installation, Lookup};
use crate::policy::Parts;
use crate::{Record, Settings, package_managers, watch};

/// The folder of the private folders of servers, in the cache.
const PRIVATE: &str = "servers";

/// The length of a private folder's name: that of a hash that nobody finds twice, in hexadecimal digits.
const NAME_LENGTH: usize = 32;

/// How one server is confined.
#[derive(Debug, Clone, PartialEq)]
pub struct Confinement {
    /// The server's name.
    pub server: String,
    /// The grants of the server.
    pub settings: Settings,
    /// The lowest tier with which it is started.
    pub minimum: Layers,
    /// The folder of Toolsmith's cache.
    pub cache: PathBuf,
    /// Places that [`Settings::write`] may not touch, besides those of the machine.
    pub protected: Vec<Protected>,
    /// The user's state folder, in which the user may [watch](crate::Watch) the server.
    pub state: Option<PathBuf>,
}

impl Launcher for Confinement {
    fn launch(&self, command: &Command) -> Result<Launched, SpawnError> {
        let watched = self.state.as_deref().map(|state| watch::file(state, &self.server)).transpose();
        let record = watched.map_err(failed)?.flatten().map(Record::in_file);
        self.start(command, record.as_ref())
    }

    fn identity(&self) -> String {
        let is_watched = self.state.as_deref().is_some_and(|state| watch::is_watched(state, &self.server));
        let watched = if is_watched { "watched " } else { "" };
        format!("{watched}{:?} {}", self.settings, self.minimum)
    }
}

/// Confines a server in the same way, and records what it is refused.
struct Trial {
    confinement: Confinement,
    record: Record,
}

impl Launcher for Trial {
    fn launch(&self, command: &Command) -> Result<Launched, SpawnError> {
        self.confinement.start(command, Some(&self.record))
    }

    fn identity(&self) -> String {
        format!("trial {}", self.confinement.identity())
    }
}

impl Confinement {
    /// A launcher for a trial: it confines in the same way, slowly, and records what was refused.
    #[must_use]
    pub fn recording(self) -> (Arc<dyn Launcher>, Record) {
        let record = Record::default();
        (Arc::new(Trial { confinement: self, record: record.clone() }), record)
    }

    fn start(&self, command: &Command, record: Option<&Record>) -> Result<Launched, SpawnError> {
        let (stdin, writer) = io::pipe().map_err(failed)?;
        let (mut policy, words) = self.prepared(command)?;
        policy.records = record.is_some();
        let confined = sandbox::Command::new(&words[0]).args(&words[1..]).input(stdin);
        let child = Sandbox::new(policy.clone()).spawn(confined).map_err(failed)?;
        let server = child.into_server().ok_or_else(|| failed("its output was taken"))?;
        let lifeline = server.lifeline;
        if let Some(record) = record {
            record.follow(&policy, lifeline.attempts().map_err(failed)?);
        }
        Ok(Launched {
            id: server.id,
            stdin: writer.into(),
            stdout: server.stdout,
            stderr: server.stderr,
            tier: server.report.tier,
            kill: Box::new(move || lifeline.cut()),
        })
    }

    /// The policy of a command, and the words to execute.
    fn prepared(&self, command: &Command) -> Result<(Policy, Vec<OsString>), SpawnError> {
        let working_folder = working_folder(command)?;
        let layers = sandbox::probe().choose(self.minimum).map_err(failed)?;
        if let Some(touched) = runner::touched(&self.settings.write, &self.cache, None, &self.protected) {
            return Err(failed(format!(
                "it may not write to {touched}; grant a narrower path, apart from it"
            )));
        }
        let mut environment = Environment::inherited(&self.settings);
        environment.set(&command.env);
        let home = environment.home();
        let lookup = Lookup { path: environment.path(), folder: &working_folder, home: home.as_deref() };
        let installation = lookup.find(&command.command, &command.args)?;
        // Other servers must not learn how to reach this process.
        if is_this_program(&installation) {
            environment.set(&command.handed_on);
        }
        let private = self.private(command, layers, &mut environment).map_err(failed)?;
        let parts = Parts {
            settings: &self.settings,
            layers,
            installation: &installation,
            working_folder: &working_folder,
            private: private.as_deref(),
            niceness: command.niceness,
        };
        let policy = parts.policy(environment).map_err(failed)?;
        let words = installation.words().map(|word| word.as_os_str().to_owned());
        Ok((policy, words.chain(command.args.iter().map(OsString::from)).collect()))
    }

    /// The private folder that the command needs, and the variables that lead its package manager there.
    fn private(
        &self,
        command: &Command,
        layers: Layers,
        environment: &mut Environment,
    ) -> io::Result<Option<PathBuf>> {
        let caches = package_managers::caches(&command.command);
        if caches.is_empty() && layers.namespaces {
            return Ok(None);
        }
        let Command { command, args, cwd, .. } = command;
        let key = format!("{:?}", (&self.server, command, args, cwd));
        let name = &blake3::hash(key.as_bytes()).to_hex()[..NAME_LENGTH];
        let folder = self.cache.join(PRIVATE).join(name);
        fs_err::create_dir_all(&self.cache)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        for (variable, inner) in caches {
            environment.set_default(variable, &folder.join(inner));
        }
        Ok(Some(folder))
    }
}

fn working_folder(command: &Command) -> Result<PathBuf, SpawnError> {
    let folder = match &command.cwd {
        Some(folder) => std::path::absolute(folder),
        None => std::env::current_dir(),
    };
    let folder = folder.map_err(failed)?;
    if folder.is_dir() { Ok(folder) } else { Err(SpawnError::Folder(folder.display().to_string())) }
}

fn is_this_program(installation: &Installation) -> bool {
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    let started: &Path = &installation.program;
    matches!((own, started.canonicalize()), (Ok(own), Ok(started)) if own == started)
}

fn failed(error: impl std::fmt::Display) -> SpawnError {
    SpawnError::Confined(error.to_string())
}
