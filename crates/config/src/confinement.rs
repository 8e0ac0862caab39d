//! The part of a configuration that defines the sandbox and the limits of snippets.
//!
//! The runner applies it, and refuses what the machine does not support.

use std::path::PathBuf;
use std::time::Duration;

use runner::Protected;
use sandbox::{Confinement, Layers};
use schemars::JsonSchema;
use serde::Deserialize;

use super::error::Error;
use super::folders;
use super::key_macros::{Kind, Written, section};
use super::key_types::{Count, FilePath, InvalidValue, Seconds, ShownPath, Size, text};
use super::placed::At;

/// Minimum memory of a program, in bytes (16 MiB).
pub(super) const MIN_MEMORY: u64 = 16 << 20;
/// Minimum scratch space, in bytes (64 KiB): a page for each of a few files.
const MIN_SCRATCH: u64 = 64 << 10;

section! {
    /// How compilers and programs are confined, and the limits of programs.
    #[serde(rename_all = "camelCase")]
    SandboxKeys from SandboxForm {
        /// Time limit of an execution, in seconds.
        wall_clock: Seconds = Duration::from_secs(120),
        /// Memory limit of a program, such as 512MiB.
        memory: Size<u64, MIN_MEMORY> = runner::Limits::default().memory,
        /// Limit on the processor time of a program, in seconds.
        cpu: Count<u64> = runner::Limits::default().cpu_seconds,
        /// Maximum threads of a program.
        threads: Count<u64> = runner::Limits::default().threads,
        /// Processors that a program may keep busy while others need them (default: all).
        processors: Option<Count<u64>>,
        /// Maximum output of a program, such as 1MiB.
        output: Size<usize, 1> = runner::Limits::default().output,
        /// Size of a program's scratch folder, such as 64MiB (default: no folder).
        scratch: Option<Size<u64, MIN_SCRATCH>>,
        /// Paths that programs may read.
        read: Vec<GrantedPath> = Vec::new(),
        /// Paths that programs may read and write.
        write: Vec<At<GrantedPath>> = Vec::new(),
        /// The minimum tier of the sandbox; below it nothing runs.
        minimum: Tier = Layers::LANDLOCK_SECCOMP,
        /// Runs compilers and programs without any confinement.
        dangerously_run_without_sandbox: At<bool> = false,
    }
}

impl SandboxKeys {
    pub(super) fn limits(&self) -> runner::Limits {
        runner::Limits {
            memory: self.memory,
            cpu_seconds: self.cpu,
            threads: self.threads,
            processors: self.processors,
            output: self.output,
            ..runner::Limits::default()
        }
    }

    pub(super) fn grants(self) -> runner::Grants {
        runner::Grants {
            scratch: self.scratch,
            read: self.read,
            write: self.write,
            ..runner::Grants::default()
        }
    }

    pub(super) fn confinement(&self) -> Confinement {
        match self.dangerously_run_without_sandbox {
            true => Confinement::Exactly(Layers::OFF),
            false => Confinement::AtLeast(self.minimum),
        }
    }
}

/// Confines a server.
///
/// # Errors
/// If there is no folder for the cache.
pub(super) fn of_server(
    server: &str,
    settings: server_sandbox::Settings,
    minimum: Layers,
    protected: &[Protected],
) -> Result<server_sandbox::Confinement, Error> {
    let (server, cache) = (server.to_owned(), folders::cache_folder()?);
    // Without a state folder, nobody can watch it.
    let state = folders::state_path().ok();
    let protected = protected.to_vec();
    Ok(server_sandbox::Confinement { server, settings, minimum, cache, protected, state })
}

text! {
    /// A tier of the sandbox that confines.
    Tier(Layers) by tier;
}

fn tier(name: &str) -> Result<Layers, InvalidValue> {
    name.parse::<Layers>().map_err(InvalidValue::of)
}

impl Written for Tier {
    fn written(value: &Layers) -> serde_json::Value {
        value.name().into()
    }
}

/// A path that exists.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "PathToGrant")]
#[schemars(with = "String")]
pub struct GrantedPath(pub PathBuf);

/// A path to grant, and its form that is safe to show.
#[derive(Deserialize)]
#[serde(rename = "\0path to grant")]
struct PathToGrant {
    shown: ShownPath,
    path: FilePath,
}

impl TryFrom<PathToGrant> for GrantedPath {
    type Error = InvalidValue;

    fn try_from(given: PathToGrant) -> Result<Self, InvalidValue> {
        let (shown, path) = (given.shown.0.display(), given.path.value());
        match path.try_exists() {
            Ok(true) => Ok(GrantedPath(path)),
            Ok(false) => {
                Err(InvalidValue(format!("{shown} does not exist; create it, or grant another path")))
            }
            Err(error) => Err(InvalidValue(format!("{shown} can't be granted: {}", error.kind()))),
        }
    }
}

impl Kind for GrantedPath {
    type Value = PathBuf;

    fn value(self) -> PathBuf {
        self.0
    }
}

impl Written for GrantedPath {
    fn written(value: &PathBuf) -> serde_json::Value {
        value.display().to_string().into()
    }
}
