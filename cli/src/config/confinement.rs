//! The part of a configuration that says how snippets are confined, and within what they run.
//!
//! Leaves applying it to the runner, which refuses what the machine cannot hold.

use std::path::PathBuf;

use sandbox::{Confinement, Layers};
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::file::Checker;
use super::{CodeMode, Error};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "the keys of codeMode.sandbox")]
pub(super) struct SandboxEntry {
    wall_clock: Option<Spanned<f64>>,
    memory: Option<Spanned<String>>,
    cpu: Option<Spanned<u64>>,
    threads: Option<Spanned<u64>>,
    output: Option<Spanned<String>>,
    scratch: Option<Spanned<String>>,
    #[serde(default)]
    read: Vec<Spanned<String>>,
    #[serde(default)]
    write: Vec<Spanned<String>>,
    minimum: Option<Spanned<String>>,
    dangerously_run_without_sandbox: Option<Spanned<bool>>,
}

/// Least memory of a program.
const LEAST_MEMORY: u64 = 16 << 20;
/// Least scratch space: one page for each of a few files.
const LEAST_SCRATCH: u64 = 64 << 10;

impl Checker<'_> {
    pub(super) fn sandbox(&self, entry: &SandboxEntry, code_mode: &mut CodeMode) -> Result<(), Error> {
        if let Some(seconds) = &entry.wall_clock {
            code_mode.timeout = self.seconds(seconds)?;
        }
        self.limits(entry, &mut code_mode.limits)?;
        let grants = &mut code_mode.grants;
        grants.scratch = entry.scratch.as_ref().map(|size| self.size(size, LEAST_SCRATCH)).transpose()?;
        grants.read = self.paths(&entry.read)?;
        grants.write = self.paths(&entry.write)?;
        code_mode.confinement = self.confinement(entry)?;
        Ok(())
    }

    fn limits(&self, entry: &SandboxEntry, limits: &mut runner::Limits) -> Result<(), Error> {
        if let Some(memory) = &entry.memory {
            limits.memory = self.size(memory, LEAST_MEMORY)?;
        }
        if let Some(output) = &entry.output {
            limits.output = usize::try_from(self.size(output, 1)?).unwrap_or(usize::MAX);
        }
        if let Some(cpu) = &entry.cpu {
            limits.cpu_seconds = self.at_least_one(cpu)?;
        }
        if let Some(threads) = &entry.threads {
            limits.threads = self.at_least_one(threads)?;
        }
        Ok(())
    }

    /// Paths that exist, made absolute from the folder of the configuration.
    fn paths(&self, paths: &[Spanned<String>]) -> Result<Vec<PathBuf>, Error> {
        let path = |given: &Spanned<String>| {
            let path = self.folder.join(self.expand(given)?);
            match path.try_exists() {
                Ok(true) => Ok(path),
                Ok(false) => Err(self.wrong(given, &format!("{} does not exist", path.display()))),
                Err(error) => {
                    Err(self.wrong(given, &format!("{} can't be granted: {error}", path.display())))
                }
            }
        };
        paths.iter().map(path).collect()
    }

    fn confinement(&self, entry: &SandboxEntry) -> Result<Confinement, Error> {
        let off = entry.dangerously_run_without_sandbox.as_ref().filter(|off| off.value);
        match (off, &entry.minimum) {
            (None, None) => Ok(Confinement::default()),
            (None, Some(minimum)) => {
                let tier: Result<Layers, _> = minimum.value.parse();
                tier.map(Confinement::AtLeast).map_err(|error| self.wrong(minimum, &error.to_string()))
            }
            (Some(_), None) => Ok(Confinement::Exactly(Layers::OFF)),
            (Some(off), Some(_)) => Err(self.wrong(
                off,
                "dangerouslyRunWithoutSandbox and a minimum contradict each other; remove one of them",
            )),
        }
    }
}
