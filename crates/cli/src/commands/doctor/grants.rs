//! Reports where programs may write, and which files there other programs execute or obey.

use std::path::PathBuf;

use runner::{Grants, ObeyedFiles};
use serde::Serialize;

use super::line::{Line, line};

/// Maximum number of names in a line; `--json` has all.
const SHOWN: usize = 8;

/// A path that is granted for writing.
#[derive(Serialize)]
pub(super) struct WriteGrant {
    path: PathBuf,
    /// The files and folders there that programs only read.
    read_only: Vec<PathBuf>,
    /// Whether all of it was searched for them.
    searched: bool,
    /// The names of such files that do not exist in the folder, so that a program can create them.
    creatable: Vec<&'static str>,
}

impl WriteGrant {
    /// Grants of a configuration.
    pub(super) fn all(grants: &Grants) -> Vec<Self> {
        let of = |path: &PathBuf| {
            let ObeyedFiles { paths, is_complete } = ObeyedFiles::beneath(path, &grants.write);
            WriteGrant {
                path: path.clone(),
                read_only: paths.into_iter().collect(),
                searched: is_complete,
                creatable: ObeyedFiles::missing_in(path),
            }
        };
        grants.write.iter().map(of).collect()
    }

    pub(super) fn line(&self) -> Line {
        let WriteGrant { path, read_only, searched, creatable } = self;
        let relative = |kept: &PathBuf| kept.strip_prefix(path).unwrap_or(kept).display().to_string();
        let mut text = path.display().to_string();
        if !read_only.is_empty() {
            text += &format!("; only read: {}", listed(read_only.iter().map(relative)));
        }
        if !creatable.is_empty() {
            let names = creatable.iter().map(|name| (*name).to_owned());
            text += &format!("; missing, so a program can create them: {}", listed(names));
        }
        if !searched {
            text += "; too large to search as a whole: grant a narrower path";
        }
        line(true, "write", printable::exact(&text))
    }
}

/// The first names, and how many others there are.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let others = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).collect();
    let shown = shown.join(", ");
    if others == 0 { shown } else { format!("{shown} and {others} others") }
}

/// Names in a project, as examples.
#[cfg(test)]
pub(super) fn examples() -> Vec<WriteGrant> {
    let path = PathBuf::from("/home/me/project");
    let grant = |read_only: &[&str], searched, creatable: &[&'static str]| WriteGrant {
        path: path.clone(),
        read_only: read_only.iter().map(|name| path.join(name)).collect(),
        searched,
        creatable: creatable.to_vec(),
    };
    let many = [".git", "a", "b", "c", "d", "e", "f", "g", "h", "i"];
    vec![
        grant(&[".git", "docs/CLAUDE.md"], true, &[".envrc"]),
        grant(&many, false, &[]),
        grant(&[], true, &[]),
    ]
}
