//! Starts a server's command confined.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use mcp::{Command, Launched, Launcher, SpawnError};
use runner::Protected;
use sandbox::{Child, Layers, Sandbox};

use crate::environment::Environment;
use crate::installation::{self, Installation, Lookup};
use crate::policy::Parts;
use crate::{Settings, package_managers};

/// The folder of the private folders of servers, in the cache.
const PRIVATE: &str = "servers";

/// The length of a private folder's name: that of a hash that nobody finds twice, in hexadecimal digits.
const NAME_LENGTH: usize = 32;

/// How one server is confined.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// The server's name.
    pub server: String,
    /// What it may use.
    pub settings: Settings,
    /// The lowest tier with which it is started.
    pub minimum: Layers,
    /// The folder of Toolsmith's cache.
    pub cache: PathBuf,
    /// Places that [`Settings::write`] may not touch, besides those of the machine.
    pub protected: Vec<Protected>,
}

impl Launcher for Confinement {
    fn launch(&self, command: &Command) -> Result<Launched, SpawnError> {
        let (stdin, writer) = io::pipe().map_err(failed)?;
        let child = self.start(command, stdin)?;
        let server = child.into_server().ok_or_else(|| failed("its output was taken"))?;
        let lifeline = server.lifeline;
        Ok(Launched {
            id: server.id,
            stdin: writer.into(),
            stdout: server.stdout,
            stderr: server.stderr,
            tier: server.report.tier,
            kill: Box::new(move || lifeline.cut()),
        })
    }

    fn identity(&self) -> String {
        format!("{:?} {}", self.settings, self.minimum)
    }
}

impl Confinement {
    fn start(&self, command: &Command, stdin: io::PipeReader) -> Result<Child, SpawnError> {
        let working_folder = working_folder(command)?;
        let layers = sandbox::probe().choose(self.minimum).map_err(failed)?;
        if let Some(touched) = runner::touched(&self.settings.write, &self.cache, None, &self.protected) {
            return Err(failed(format!("it may not write to {touched}; grant a narrower path, apart from it")));
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
        let words = installation::words(&installation);
        let confined = sandbox::Command::new(words[0]).args(&words[1..]).args(&command.args).input(stdin);
        Sandbox::new(policy).spawn(confined).map_err(failed)
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
        let settings = &self.settings;
        let key = format!("{:?}", (&self.server, command, args, cwd, settings));
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
