//! The refusals of a confined server in a trial, and the settings that would allow it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use runner::Protected;
use sandbox::{Attempt, Network, Policy, system_call_name};
use serde::{Deserialize, Serialize};

use crate::{Settings, system_paths};

/// Folders of a home whose contents are secrets of other programs. They are reported, but never proposed.
const SECRET: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".password-store",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".local/share/kwalletd",
];

/// The number of files of one folder from which on the folder is proposed.
const SEVERAL: usize = 4;

/// Files that Python writes beside its sources if it can.
const BYTE_CODE: &str = "__pycache__";

/// Something that a confined server was refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Refusal {
    /// Reading a path that exists.
    Read(PathBuf),
    /// Creating or changing a path.
    Write(PathBuf),
    /// Connecting to an address; `None` if it has no sockets of the internet at all.
    Connect(Option<SocketAddr>),
    /// Connecting to a UNIX socket of another program.
    Socket(PathBuf),
    /// A system call, by its name.
    SystemCall(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Read(path) => write!(formatter, "read {}", path.display()),
            Refusal::Write(path) => write!(formatter, "write {}", path.display()),
            Refusal::Connect(Some(address)) => write!(formatter, "connect to {address}"),
            Refusal::Connect(None) => formatter.write_str("use the network"),
            Refusal::Socket(path) => write!(formatter, "connect to the socket {}", path.display()),
            Refusal::SystemCall(name) => write!(formatter, "call {name}"),
        }
    }
}

/// The refusals of a server and its processes, without duplicates, in the order in which they first happened. Complete when
/// its session is closed.
#[derive(Debug, Clone, Default)]
pub struct Record {
    refusals: Arc<Mutex<Vec<Refusal>>>,
    /// Where each is also written, as a line of JSON.
    file: Option<Arc<File>>,
}

impl Record {
    /// The refusals so far.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        self.refusals.lock().clone()
    }

    /// A record that is also written to a file.
    pub(crate) fn in_file(file: File) -> Self {
        Record { file: Some(Arc::new(file)), ..Record::default() }
    }

    fn add(&self, refusal: Refusal) {
        let mut refusals = self.refusals.lock();
        if refusals.contains(&refusal) {
            return;
        }
        if let (Some(mut file), Ok(line)) = (self.file.as_deref(), serde_json::to_string(&refusal)) {
            // A full disk loses a proposal.
            let _ = writeln!(file, "{line}");
        }
        refusals.push(refusal);
    }

    /// Adds the attempts of a server with this policy that were refused, until the server ends.
    pub(crate) fn follow(&self, policy: &Policy, attempts: impl Iterator<Item = Attempt> + Send + 'static) {
        let (record, judge) = (self.clone(), Judge::new(policy));
        std::thread::spawn(move || {
            attempts.filter_map(|attempt| judge.refusal(attempt)).for_each(|refusal| record.add(refusal));
        });
    }
}

/// Knows which attempts were refused: the supervisor of a server does not see the host's files.
struct Judge {
    granted: Vec<(PathBuf, bool)>,
    network: Network,
}

impl Judge {
    fn new(policy: &Policy) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let granted = policy.grants.iter();
        let granted =
            granted.map(|grant| (real(&grant.path), grant.access == sandbox::Access::Write)).collect();
        Judge { granted, network: policy.network }
    }

    fn refusal(&self, attempt: Attempt) -> Option<Refusal> {
        const SOCKET: &str = "socket";
        match attempt {
            Attempt::Read(path) => {
                let real = path.canonicalize().ok()?;
                // The folders on the way to a grant exist.
                let is_above = self.granted.iter().any(|(granted, _)| granted.starts_with(&real));
                (!is_above && !self.covers(&real, false)).then_some(Refusal::Read(path))
            }
            Attempt::Write(path) => {
                let folder = path.parent()?.canonicalize().ok()?;
                let is_byte_code = path.components().any(|part| part.as_os_str() == BYTE_CODE);
                (!is_byte_code && !self.covers(&folder, true)).then_some(Refusal::Write(path))
            }
            Attempt::Connect(address) => {
                let is_reachable = match self.network {
                    Network::Full => true,
                    Network::Loopback => address.ip().is_loopback(),
                    Network::None => false,
                };
                (!is_reachable).then_some(Refusal::Connect(Some(address)))
            }
            Attempt::Socket(path) => {
                let real = path.canonicalize().ok()?;
                (!self.covers(&real, false)).then_some(Refusal::Socket(path))
            }
            Attempt::Call(number, family) => match system_call_name(number) {
                Some(SOCKET) if [2, 10].contains(&(family as u32)) => Some(Refusal::Connect(None)),
                Some(name) => Some(Refusal::SystemCall(name.to_owned())),
                None => None,
            },
        }
    }

    fn covers(&self, path: &Path, writes: bool) -> bool {
        self.granted.iter().any(|(granted, for_writing)| path.starts_with(granted) && *for_writing >= writes)
    }
}

/// The settings with the smallest grants that would allow what was refused. Paths that are `protected`, secrets of other
/// programs, sockets and system calls are not among them: those are for the user to decide.
#[must_use]
pub fn proposal(
    settings: &Settings,
    refusals: &[Refusal],
    home: Option<&Path>,
    cache: &Path,
    protected: &[Protected],
) -> Settings {
    let mut proposed = settings.clone();
    let (mut read, mut write) = (BTreeSet::new(), BTreeSet::new());
    for refusal in refusals {
        match refusal {
            Refusal::Read(path) if is_proposable(path, home) => read.extend([path.clone()]),
            Refusal::Write(path) => write.extend(existing(path).filter(|path| is_proposable(path, home))),
            Refusal::Connect(address) => {
                let is_local = address.is_some_and(|address| address.ip().is_loopback());
                let needed = if is_local && proposed.network != Network::Full {
                    Network::Loopback
                } else {
                    Network::Full
                };
                proposed.network = needed;
            }
            _ => {}
        }
    }
    write.retain(|path| runner::touched(std::slice::from_ref(path), cache, None, protected).is_none());
    let is_within = |path: &Path, others: &[PathBuf]| others.iter().any(|other| path.starts_with(other));
    for path in merged(&write, home) {
        if !is_within(&path, &proposed.write) {
            proposed.write.push(path);
        }
    }
    for path in merged(&read, home) {
        if !is_within(&path, &proposed.write) && !is_within(&path, &proposed.read) {
            proposed.read.push(path);
        }
    }
    proposed
}

/// The path, or the nearest folder above it that exists.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|path| path.exists()).map(Path::to_owned)
}

fn is_proposable(path: &Path, home: Option<&Path>) -> bool {
    let is_secret = |home: &Path| SECRET.iter().any(|secret| path.starts_with(home.join(secret)));
    !is_above(path, home) && !home.is_some_and(is_secret) && !system_paths::are_visible(path)
}

/// Whether a path contains the home, or everything.
fn is_above(path: &Path, home: Option<&Path>) -> bool {
    path.parent().is_none() || home.is_some_and(|home| home.starts_with(path))
}

/// The paths, with a folder in place of several of its files, and without paths within others.
fn merged(paths: &BTreeSet<PathBuf>, home: Option<&Path>) -> Vec<PathBuf> {
    let mut counts: BTreeMap<&Path, usize> = BTreeMap::new();
    for parent in paths.iter().filter_map(|path| path.parent()) {
        *counts.entry(parent).or_default() += 1;
    }
    let folder = |path: &Path| {
        let parent = path.parent().filter(|parent| counts[parent] >= SEVERAL && !is_above(parent, home));
        parent.unwrap_or(path).to_owned()
    };
    let folders: BTreeSet<PathBuf> = paths.iter().map(|path| folder(path)).collect();
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in folders {
        if !outer.iter().any(|other| path.starts_with(other)) {
            outer.push(path);
        }
    }
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_grants_are_proposed() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        for file in [".kube/config", ".ssh/id_rsa", "data/1", "data/2", "data/3", "data/4", "notes/a"] {
            std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            std::fs::write(home.join(file), "").unwrap();
        }
        let read = [".kube/config", ".ssh/id_rsa", "data/1", "data/2", "data/3", "data/4", ""];
        let read = read.map(|file| Refusal::Read(home.join(file)));
        let others = [
            Refusal::Write(home.join("notes/new/deep")),
            Refusal::Socket("/run/docker.sock".into()),
            Refusal::SystemCall("ptrace".to_owned()),
        ];
        let refusals = [&read[..], &others[..]].concat();
        let settings = Settings { network: Network::None, ..Settings::default() };
        let proposed = proposal(&settings, &refusals, Some(home), Path::new("/nowhere"), &[]);
        assert_eq!(proposed.read, [home.join(".kube/config"), home.join("data")]);
        assert_eq!(proposed.write, [home.join("notes")]);
        assert_eq!(proposed.network, Network::None);
        let local = Refusal::Connect(Some(SocketAddr::from(([127, 0, 0, 1], 80))));
        let proposed = proposal(&settings, std::slice::from_ref(&local), None, Path::new("/nowhere"), &[]);
        assert_eq!(proposed.network, Network::Loopback);
        let proposed =
            proposal(&settings, &[local, Refusal::Connect(None)], None, Path::new("/nowhere"), &[]);
        assert_eq!(proposed.network, Network::Full);
    }
}
