//! Creates the git repository of the tasks, with the same commits and hashes in every run.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use crate::product::Checked;

/// The time of the first commit in seconds since 1970: 2025-01-06 09:00 UTC. The commits are five days apart.
const FIRST: u64 = 1_736_154_000;
const BETWEEN: u64 = 5 * 86_400;

/// Author, message and files of each commit. A file contains its path and the message of its last commit.
const COMMITS: [(&str, &str, &[&str]); 18] = [
    ("Ana Reyes", "feat: first shop", &["README.md", "src/checkout.rs"]),
    ("Ben Okafor", "feat: count the stock", &["src/stock.rs"]),
    ("Ana Reyes", "fix: round prices once (#3)", &["src/checkout.rs"]),
    ("Chen Li", "docs: how to begin", &["README.md"]),
    ("Dora Weiss", "feat: discounts", &["src/checkout.rs", "src/discount.rs"]),
    ("Ben Okafor", "fix: no stock below zero (#7)", &["src/stock.rs"]),
    ("Chen Li", "feat: search by name", &["src/search.rs"]),
    ("Ana Reyes", "chore: tidy up", &["src/checkout.rs", "src/search.rs", "src/stock.rs"]),
    ("Dora Weiss", "fix: a discount is used once (#9)", &["src/discount.rs"]),
    ("Chen Li", "docs: search", &["docs/search.md"]),
    ("Ben Okafor", "perf: ask for the stock at once", &["src/stock.rs"]),
    ("Ana Reyes", "fix: empty baskets (#12)", &["src/checkout.rs"]),
    ("Ana Reyes", "feat: gift cards", &["src/checkout.rs", "src/gift.rs"]),
    ("Chen Li", "fix: accents in names (#15)", &["src/search.rs"]),
    ("Dora Weiss", "chore: versions", &["README.md"]),
    ("Ben Okafor", "feat: two stores", &["src/stock.rs", "docs/stores.md"]),
    ("Chen Li", "docs: gift cards", &["docs/gift.md"]),
    ("Ana Reyes", "fix: gift cards expire (#18)", &["src/gift.rs"]),
];

/// Number of commits on the branch `release`, from the first one.
const RELEASED: usize = 12;

/// Creates the repository in a folder, with `main` checked out.
pub(super) fn make(folder: &Path) -> Checked<()> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    git(folder, &["init", "--quiet", "--initial-branch=main"], "")?;
    git(folder, &["fast-import", "--quiet"], &stream())?;
    git(folder, &["reset", "--quiet", "--hard", "main"], "")
}

/// The input of `git fast-import`.
fn stream() -> String {
    let mut stream = String::new();
    for (index, (author, message, files)) in COMMITS.iter().enumerate() {
        let address = author.to_lowercase().replace(' ', ".");
        let when = FIRST + index as u64 * BETWEEN;
        // Writing to a string does not fail.
        let _ = writeln!(stream, "commit refs/heads/main\nmark :{}", index + 1);
        for role in ["author", "committer"] {
            let _ = writeln!(stream, "{role} {author} <{address}@example.com> {when} +0000");
        }
        let _ = writeln!(stream, "data {}\n{message}", message.len());
        for file in *files {
            let text = format!("{file}\n{message}\n");
            let _ = writeln!(stream, "M 644 inline {file}\ndata {}\n{text}", text.len());
        }
    }
    let _ = writeln!(stream, "reset refs/heads/release\nfrom :{RELEASED}\n");
    stream
}

/// Runs git without the configuration of the user and of the system.
fn git(folder: &Path, arguments: &[&str], input: &str) -> Checked<()> {
    let failed = |error: std::io::Error| format!("git is needed for the repository: {error}");
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments).stdin(Stdio::piped()).stdout(Stdio::null());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    if status.success() { Ok(()) } else { Err(format!("git {}: {status}", arguments.join(" "))) }
}
