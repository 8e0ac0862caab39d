//! Places that programs may never write to, whatever the configuration grants: the inputs of later programs, what other
//! programs start, and what decides on permissions.
//!
//! The caller adds places that only the command line knows, such as its configuration.

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::bundle::{self, Bundle};
use crate::toolchain;

/// Maximum number of links to follow on a path, as in the kernel (path_resolution(7)).
const LINKS: usize = 40;

/// A place that no write grant may contain, be in or equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// Its path, which need not exist.
    pub path: PathBuf,
    /// Its description, such as `the cache`.
    pub what: String,
    /// The reason why it is protected; follows a comma.
    pub why: &'static str,
}

impl Protected {
    /// Creates a protected place.
    pub fn new(path: impl Into<PathBuf>, what: impl Into<String>, why: &'static str) -> Self {
        Protected { path: path.into(), what: what.into(), why }
    }

    /// Whether a program that may write to `granted`, a path without links, could change this place or a link on the
    /// way to it.
    fn is_touched_by(&self, granted: &Path) -> bool {
        steps(&self.path).iter().any(|step| step.starts_with(granted) || granted.starts_with(step))
    }
}

/// The first of these paths whose grant for writing touches a protected place: of this machine, with the cache in `cache`
/// and the toolchain in `sysroot`, or one of `others`. Links are resolved in their current state. The text names the path,
/// the place and the reason.
#[must_use]
pub fn touched(
    write: &[PathBuf],
    cache: &Path,
    sysroot: Option<&Path>,
    others: &[Protected],
) -> Option<String> {
    if write.is_empty() {
        return None;
    }
    let places = of_machine(cache, sysroot);
    write.iter().find_map(|path| {
        let granted = resolved(path);
        let mut all = places.iter().chain(others);
        let Protected { path: place, what, why } = all.find(|place| place.is_touched_by(&granted))?;
        Some(format!("{}: {what} {} is there, {why}", path.display(), place.display()))
    })
}

/// The protected places of this machine: the cache, rustup's and cargo's folders, the toolchain, this program's folder
/// and bundle, and all folders of the search path.
fn of_machine(cache: &Path, sysroot: Option<&Path>) -> Vec<Protected> {
    const PROGRAMS: &str = "from which later programs are made";
    const COMPILERS: &str = "whose compilers make later programs";
    const STARTED: &str = "whose programs others start";
    let mut places = vec![Protected::new(cache, "the cache", PROGRAMS)];
    places.extend(toolchain::rustup_home().map(|home| Protected::new(home, "rustup's folder", COMPILERS)));
    places.extend(toolchain::cargo_home().map(|home| Protected::new(home, "cargo's folder", COMPILERS)));
    places.extend(sysroot.map(|sysroot| Protected::new(sysroot, "the Rust toolchain", COMPILERS)));
    let own = env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    places.extend(own.map(|folder| Protected::new(folder, "Toolsmith's own program", STARTED)));
    let bundle = Bundle::folder_of_this_program();
    places.extend(
        bundle.map(|folder| Protected::new(folder.join(bundle::PARTS), "Toolsmith's bundle", PROGRAMS)),
    );
    let path = env::var_os("PATH").unwrap_or_default();
    places.extend(
        env::split_paths(&path)
            .map(|folder| Protected::new(folder, "a folder of the search path (PATH)", STARTED)),
    );
    places
}

/// The path without links; missing components are kept.
fn resolved(path: &Path) -> PathBuf {
    steps(path).pop().unwrap_or_else(|| path.to_owned())
}

/// The links on the way to a path, each with the links before it resolved, and the final target.
fn steps(path: &Path) -> Vec<PathBuf> {
    // A relative path is resolved in the working folder, as the system does.
    let absolute = env::current_dir().unwrap_or_else(|_| PathBuf::from("/")).join(path);
    let (mut rest, mut at) = (parts(&absolute), PathBuf::from("/"));
    let mut steps = Vec::new();
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        match fs_err::read_link(&next) {
            Ok(target) if steps.len() < LINKS => {
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                let mut all = parts(&target);
                all.append(&mut rest);
                rest = all;
                steps.push(next);
            }
            _ => at = next,
        }
    }
    steps.push(at);
    steps
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_place_is_touched_from_above_within_and_by_links_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = resolved(folder.path());
        for name in ["real/bin", "links", "other"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        symlink("../real", root.join("links/way")).unwrap();
        let place = Protected::new(root.join("links/way/bin"), "a place", "");
        for touching in ["", "real", "real/bin", "real/bin/tool", "links", "links/way"] {
            assert!(place.is_touched_by(&root.join(touching)), "{touching}");
        }
        for apart in ["other", "real/binary", "real/lib", "linksX"] {
            assert!(!place.is_touched_by(&root.join(apart)), "{apart}");
        }
        assert_eq!(resolved(&root.join("links/way/../other/./new")), root.join("other/new"));
        // A cycle of links ends.
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        assert!(Protected::new(root.join("a/x"), "", "").is_touched_by(&root));
    }
}
