//! Files that other programs execute or obey where they find them, without being asked: a program that may write to a
//! folder could leave orders in them for the user's tools. They are only read, unless a grant names them.
//!
//! Not in the list: what a user runs knowingly and reviews like other source, such as `Makefile`, `package.json`,
//! `build.rs` or the definitions of a CI system. Writing these is why a folder of source is granted.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Their names, at any depth: files, and folders with everything in them.
const NAMES: &[&str] = &[
    // Version control: hooks, and configurations that name commands (githooks(5), git-config(1)).
    ".git",
    ".gitmodules",
    ".githooks",
    ".husky",
    ".hg",
    ".jj",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    // Editors: tasks and settings that start programs when a folder is opened.
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".devcontainer.json",
    ".dir-locals.el",
    ".exrc",
    ".nvim.lua",
    ".vimrc",
    // Shells, and what sets up an environment when a folder is entered.
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    // Build tools and package managers: settings that replace the programs that they start.
    ".cargo",
    ".npmrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".bazelrc",
    // Agents: instructions, permissions, hooks, and servers to start.
    "AGENTS.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    ".mcp.json",
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".cursorrules",
    ".clinerules",
    ".gemini",
    ".github",
    ".roo",
    ".windsurf",
    ".windsurfrules",
];

/// The number of entries of folders that are read to find them, the highest folders first: a search takes at most about
/// 20 ms.
const ENTRIES: usize = 20_000;

/// Files and folders beneath those that are granted for writing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObeyedFiles {
    /// Their paths, in order.
    pub paths: BTreeSet<PathBuf>,
    /// Whether everything was searched.
    pub is_complete: bool,
}

impl ObeyedFiles {
    /// Finds those beneath `granted`, except those that one of the grants `write` is or is in. A link counts as the
    /// file or folder in the grant that it leads to. What can't be read is skipped.
    #[must_use]
    pub fn beneath(granted: &Path, write: &[PathBuf]) -> Self {
        let mut found = ObeyedFiles { paths: BTreeSet::new(), is_complete: true };
        let mut folders = VecDeque::from([granted.to_owned()]);
        let mut left = ENTRIES;
        while let Some(folder) = folders.pop_front() {
            for entry in fs_err::read_dir(&folder).into_iter().flatten().flatten() {
                let Some(rest) = left.checked_sub(1) else {
                    found.is_complete = false;
                    return found;
                };
                left = rest;
                let (path, name) = (entry.path(), entry.file_name());
                let kind = entry.file_type();
                if NAMES.iter().any(|known| name == *known) {
                    if !write.iter().any(|granted| granted.starts_with(&path)) {
                        found.paths.extend(target(granted, path));
                    }
                } else if kind.is_ok_and(|kind| kind.is_dir()) {
                    folders.push_back(path);
                }
            }
        }
        found
    }

    /// The paths of those beneath all of these folders, which are granted for writing.
    pub(crate) fn beneath_all(write: &[PathBuf]) -> BTreeSet<PathBuf> {
        write.iter().flat_map(|granted| ObeyedFiles::beneath(granted, write).paths).collect()
    }

    /// The names that a program could create in a granted folder, because nothing has them there yet.
    #[must_use]
    pub fn missing_in(granted: &Path) -> Vec<&'static str> {
        let is_missing = |name: &&str| granted.join(name).symlink_metadata().is_err();
        NAMES.iter().filter(|name| granted.is_dir() && is_missing(name)).copied().collect()
    }
}

/// The path in the granted folder that this one leads to, if it is a link; `None` if that is elsewhere, where the program
/// has no access through this grant.
fn target(granted: &Path, path: PathBuf) -> Option<PathBuf> {
    if !path.is_symlink() {
        return Some(path);
    }
    let (root, target) = (fs_err::canonicalize(granted).ok()?, fs_err::canonicalize(path).ok()?);
    target.strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty()).map(|rest| granted.join(rest))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn found(granted: &Path, write: &[&str]) -> Vec<String> {
        let write: Vec<PathBuf> = write.iter().map(|name| granted.join(name)).collect();
        let found = ObeyedFiles::beneath(granted, &write);
        assert!(found.is_complete);
        found.paths.iter().map(|path| path.strip_prefix(granted).unwrap().display().to_string()).collect()
    }

    #[test]
    fn they_are_found_at_any_depth_and_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["a/b/.git/hooks", ".vscode", "docs", "src"] {
            fs_err::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["CLAUDE.md", "docs/agents.txt", "Makefile", "package.json", "a/.envrc"] {
            fs_err::write(root.join(name), "").unwrap();
        }
        symlink("docs/agents.txt", root.join("AGENTS.md")).unwrap();
        symlink("/etc/hostname", root.join("GEMINI.md")).unwrap();
        // Not entered: what it leads to is granted under its own path, or not at all.
        symlink("a", root.join("src/link")).unwrap();
        let expected = [".vscode", "CLAUDE.md", "a/.envrc", "a/b/.git", "docs/agents.txt"];
        assert_eq!(found(root, &[""]), expected);
        // A grant that names one, or something in it, is meant.
        assert_eq!(
            found(root, &["", ".vscode", "a/b/.git/hooks"]),
            ["CLAUDE.md", "a/.envrc", "docs/agents.txt"]
        );
        assert!(!ObeyedFiles::missing_in(root).contains(&"CLAUDE.md"));
        assert!(ObeyedFiles::missing_in(root).contains(&".envrc"));
    }

    #[test]
    fn each_name_is_documented() {
        let page = include_str!("../../docs/sandbox.md");
        for name in NAMES {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn the_search_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("deep")).unwrap();
        fs_err::write(folder.path().join("deep/CLAUDE.md"), "").unwrap();
        fs_err::write(folder.path().join(".envrc"), "").unwrap();
        for number in 0..ENTRIES {
            fs_err::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let found = ObeyedFiles::beneath(folder.path(), &[]);
        assert!(!found.is_complete && found.paths.len() <= 1, "{:?}", found.paths);
    }
}
