//! The policy of a confined server.

use std::path::{Path, PathBuf};

use runner::ObeyedFiles;
use sandbox::{Access, Confinement, Layers, Policy};

use crate::Settings;
use crate::environment::Environment;
use crate::installation::Installation;
use crate::system_paths::{self, DEVICES, FOLDERS, PROCESSES, READ};

/// Sizes of the folders in memory, in bytes: `/tmp` (512 MiB), the home (128 MiB), shared memory (256 MiB).
const TEMPORARY: u64 = 512 << 20;
const HOME: u64 = 128 << 20;
const SHARED: u64 = 256 << 20;

/// The folder for temporary files in a private folder, which replaces `/tmp` where the server has none of its own.
const TEMPORARY_FOLDER: &str = "tmp";

/// The parts of a policy.
pub(crate) struct Parts<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) layers: Layers,
    pub(crate) installation: &'a Installation,
    pub(crate) working_folder: &'a Path,
    /// Its private folder, if it has one.
    pub(crate) private: Option<&'a Path>,
    pub(crate) niceness: u8,
}

impl Parts<'_> {
    /// The policy, with the folders that it needs created.
    pub(crate) fn policy(&self, mut environment: Environment) -> std::io::Result<Policy> {
        let home = environment.home();
        let memory = self.memory_folders(home.as_deref());
        let mut policy = self.limited().confinement(Confinement::Exactly(self.layers));
        for (folder, bytes) in &memory {
            policy = policy.memory_folder(folder, *bytes);
        }
        policy = with_system(policy, self.layers);
        for path in &self.installation.paths {
            policy = policy.grant(path, Access::ReadExecute);
        }
        let folder = self.working_folder;
        let is_above_own = memory.iter().any(|(own, _)| own.starts_with(folder))
            || home.as_ref().is_some_and(|home| home.starts_with(folder));
        let is_readable = !is_above_own && !system_paths::are_apart(folder);
        if is_readable {
            policy = policy.grant(folder, Access::ReadExecute);
        }
        let exists = is_readable || is_above_own;
        policy = policy.working_folder(if exists { folder } else { Path::new("/") });
        for path in outermost(&self.settings.read, &self.settings.write) {
            policy = policy.grant(path, Access::ReadExecute);
        }
        for path in outermost(&self.settings.write, &self.settings.write) {
            policy = with_write(policy, path);
            policy.read_only.extend(ObeyedFiles::beneath(path, &self.settings.write).paths);
        }
        if let Some(private) = self.private {
            policy = with_write(policy, private);
            let temporary = private.join(TEMPORARY_FOLDER);
            if !self.layers.namespaces {
                fs_err::create_dir_all(&temporary)?;
                environment.set_default("TMPDIR", &temporary);
            }
        }
        policy.environment = environment.into_variables().collect();
        Ok(policy.network(self.settings.network))
    }

    fn limited(&self) -> Policy {
        let Settings { processes, memory, .. } = *self.settings;
        Policy::server().limits(|limits| {
            let supervisors =
                |total: Option<u64>, own: Option<u64>| total.zip(own).map_or(0, |(total, own)| total - own);
            limits.total_memory = Some(memory + supervisors(limits.total_memory, limits.data));
            limits.total_tasks = Some(processes + supervisors(limits.total_tasks, limits.processes));
            limits.data = Some(memory);
            limits.processes = Some(processes);
            limits.niceness = self.niceness;
        })
    }

    /// The folders in memory, outer ones first, with their sizes. A folder that is granted is not replaced.
    fn memory_folders(&self, home: Option<&Path>) -> Vec<(PathBuf, u64)> {
        if !self.layers.namespaces {
            return Vec::new();
        }
        let fixed = [(PathBuf::from("/dev/shm"), SHARED), (PathBuf::from("/tmp"), TEMPORARY)];
        let home = home.map(|home| (home.to_owned(), HOME));
        let granted: Vec<&PathBuf> = self.settings.read.iter().chain(&self.settings.write).collect();
        let is_granted = |folder: &Path| granted.iter().any(|path| folder.starts_with(path));
        let mut folders: Vec<_> = fixed.into_iter().chain(home).collect();
        folders.retain(|(folder, _)| !is_granted(folder) && !system_paths::are_visible(folder));
        folders.sort();
        folders
    }
}

/// The paths that are not beneath one of the grants for writing. What is beneath is granted already, and the server may
/// have put a link in its place, which a grant of its own would follow.
fn outermost<'a>(paths: &'a [PathBuf], write: &'a [PathBuf]) -> impl Iterator<Item = &'a PathBuf> {
    let is_beneath = |path: &&PathBuf| write.iter().any(|outer| *path != outer && path.starts_with(outer));
    paths.iter().filter(move |path| !is_beneath(path))
}

fn with_write(policy: Policy, path: &Path) -> Policy {
    policy.grant(path, Access::Write).grant(path, Access::ReadExecute)
}

fn with_system(mut policy: Policy, layers: Layers) -> Policy {
    for folder in FOLDERS {
        policy = policy.grant_if_exists(folder, Access::ReadExecute);
    }
    for path in READ {
        policy = policy.grant_if_exists(path, Access::Read);
    }
    for device in DEVICES {
        policy = policy.grant_if_exists(device, Access::Write);
    }
    // With namespaces, it has its own.
    for path in PROCESSES.iter().filter(|_| !layers.namespaces) {
        policy = policy.grant_if_exists(path, Access::Read);
    }
    policy
}
