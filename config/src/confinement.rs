//! The part of a configuration that says how snippets are confined, and within what they run.
//!
//! Leaves applying it to the runner, which refuses what the machine cannot hold.

use std::path::PathBuf;

use sandbox::{Confinement, Layers};
use schemars::JsonSchema;
use serde::Deserialize;

use super::checker::Checker;
use super::decode::{At, Problem};
use super::settings::CodeModeSettings;
use super::tree::Place;

/// How compilers and programs are confined, and within what programs run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct SandboxEntry {
    /// Longest time of an execution, in seconds (default 120).
    pub(super) wall_clock: Option<At<f64>>,
    /// Memory of a program, such as 512MiB.
    pub(super) memory: Option<At<String>>,
    /// Processor time of a program, in seconds.
    cpu: Option<At<u64>>,
    /// Threads of a program.
    threads: Option<At<u64>>,
    /// What a program may print, such as 1MiB.
    output: Option<At<String>>,
    /// Space for files of a program, such as 64MiB; none without it.
    scratch: Option<At<String>>,
    /// Paths that programs may read.
    read: Option<Vec<At<String>>>,
    /// Paths that programs may read and write.
    write: Option<Vec<At<String>>>,
    /// The least tier of the sandbox without which nothing runs.
    minimum: Option<At<String>>,
    /// Whether compilers and programs run without any confinement.
    dangerously_run_without_sandbox: Option<At<bool>>,
}

/// Least memory of a program.
pub(super) const LEAST_MEMORY: u64 = 16 << 20;
/// Least scratch space: one page for each of a few files.
const LEAST_SCRATCH: u64 = 64 << 10;

impl Checker<'_> {
    pub(super) fn sandbox(&self, entry: &SandboxEntry, settings: &mut CodeModeSettings) {
        let size = |size: &Option<At<String>>, least| {
            size.as_ref().and_then(|size| self.keep(self.size(size, least)))
        };
        let number = |number: &Option<At<u64>>| {
            number.as_ref().and_then(|number| self.keep(self.at_least_one(number)))
        };
        let seconds = entry.wall_clock.as_ref().and_then(|seconds| self.keep(self.seconds(seconds)));
        settings.timeout = seconds;
        settings.memory = size(&entry.memory, LEAST_MEMORY);
        settings.output = size(&entry.output, 1).map(|output| usize::try_from(output).unwrap_or(usize::MAX));
        settings.cpu_seconds = number(&entry.cpu);
        settings.threads = number(&entry.threads);
        settings.scratch = size(&entry.scratch, LEAST_SCRATCH);
        settings.read = entry.read.as_ref().map(|paths| self.paths(paths));
        settings.write = entry.write.as_ref().map(|paths| self.paths(paths));
        settings.confinement = self.keep(self.confinement(entry)).flatten();
    }

    /// The paths that programs may write to, with their places.
    pub(super) fn writable(&self, entry: &SandboxEntry) -> Vec<(Place, PathBuf)> {
        let given = entry.write.iter().flatten();
        given
            .filter_map(|given| Some((given.place, self.paths(std::slice::from_ref(given)).pop()?)))
            .collect()
    }

    /// Paths that exist, made absolute from the folder of the configuration.
    fn paths(&self, paths: &[At<String>]) -> Vec<PathBuf> {
        let path = |given: &At<String>| {
            let path = self.source.folder.join(self.expand(given)?);
            // As it is written: a variable's value stands in no text.
            let shown = self.source.folder.join(&given.value);
            match path.try_exists() {
                Ok(true) => Ok(path),
                Ok(false) => Err(self.wrong(given, &format!("{} does not exist", shown.display()))),
                Err(error) => {
                    let message = format!("{} can't be granted: {}", shown.display(), error.kind());
                    Err(self.wrong(given, &message))
                }
            }
        };
        paths.iter().filter_map(|given| self.keep(path(given))).collect()
    }

    fn confinement(&self, entry: &SandboxEntry) -> Result<Option<Confinement>, Problem> {
        match (&entry.dangerously_run_without_sandbox, &entry.minimum) {
            (Some(off), Some(_)) if off.value => Err(self.wrong(
                off,
                "dangerouslyRunWithoutSandbox and a minimum contradict each other; remove one of them",
            )),
            (_, Some(minimum)) => {
                let tier: Result<Layers, _> = minimum.value.parse();
                let tier = tier.map_err(|error| self.wrong(minimum, &error.to_string()))?;
                Ok(Some(Confinement::AtLeast(tier)))
            }
            (Some(off), None) if off.value => Ok(Some(Confinement::Exactly(Layers::OFF))),
            // Said in words: whatever a weaker layer has switched off is on again.
            (Some(_), None) => Ok(Some(Confinement::default())),
            (None, None) => Ok(None),
        }
    }
}
