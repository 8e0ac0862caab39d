//! Runs the bundle's own program as users do, with everything that makes its compiler do something else: all available
//! crates, bindings, errors, a panic, the ways of linking, optimization.
//!
//! The environment has no compiler, no home and no configuration, so a bundle that runs them needs nothing else.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use runner::bundle::PROGRAM;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use crate::error::{Result, failed, unusable};

/// Time limit of one command; the longest takes about five seconds, and some minutes on an emulated machine.
const TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Number of lines of a failed command's standard error to show.
const LINES: usize = 20;

/// A command of the bundle's program.
struct Exercise {
    arguments: &'static [&'static str],
    /// Its standard input.
    snippet: &'static str,
    variable: Option<(&'static str, &'static str)>,
    /// The exit code with which it must end.
    code: i32,
    /// Whether it prints the same each time.
    repeats: bool,
}

/// The commands. The first one is measured as the first result.
const EXERCISES: [Exercise; 11] = [
    run(include_str!("../exercises/statements.rs"), 0),
    run(include_str!("../exercises/crates.rs"), 0),
    run(include_str!("../exercises/tools.rs"), 0),
    run(include_str!("../exercises/type_error.rs"), 3),
    run(include_str!("../exercises/borrow_error.rs"), 3),
    run(include_str!("../exercises/panic.rs"), 1),
    run(include_str!("../exercises/long.rs"), 0),
    run(include_str!("../exercises/long.rs"), 0),
    Exercise {
        variable: Some(("TOOLSMITH_LINK", "whole")),
        ..run(include_str!("../exercises/crates.rs"), 0)
    },
    Exercise { arguments: &["explain", "E0308"], ..run("", 0) },
    // It prints how much space is free.
    Exercise { arguments: &["doctor"], repeats: false, ..run("", 0) },
];

const fn run(snippet: &'static str, code: i32) -> Exercise {
    // An emulated machine needs minutes for some of them; `TIMEOUT` ends the command.
    let arguments: &[&str] = &["run", "--demo", "--allow", "*", "--timeout", "900", "-"];
    Exercise { arguments, snippet, variable: None, code, repeats: true }
}

/// The results of all exercises.
#[derive(Debug)]
pub(crate) struct Results {
    /// The standard output of those programs that print the same each time.
    pub(crate) printed: Vec<Vec<u8>>,
    /// The time of the first result.
    pub(crate) first: Duration,
}

/// Runs all exercises with the bundle in `root` and a new cache, and calls `between` after each.
pub(crate) async fn run_all(root: &Path, mut between: impl FnMut() -> Result<()>) -> Result<Results> {
    // Not in the bundle. Its name is random, so an exercise that prints it must not be one that repeats.
    let folder = system::private::temporary().map_err(unusable)?;
    let mut results = Results { printed: Vec::new(), first: Duration::MAX };
    let begun = Instant::now();
    for exercise in &EXERCISES {
        let printed = exercise.run(root, folder.path()).await?;
        results.first = results.first.min(begun.elapsed());
        results.printed.extend(exercise.repeats.then_some(printed));
        between()?;
    }
    Ok(results)
}

impl Exercise {
    /// Runs it, and returns its standard output.
    async fn run(&self, root: &Path, folder: &Path) -> Result<Vec<u8>> {
        let program = root.join(PROGRAM);
        let did_not = |why: String| {
            failed(format!("the bundle does not work: `toolsmith {}` {why}", self.arguments.join(" ")))
        };
        let mut command = tokio::process::Command::new(&program);
        command
            .args(self.arguments)
            .env_clear()
            .envs(surroundings(folder))
            .envs(self.variable)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| did_not(format!("does not start: {error}")))?;
        if let Some(mut input) = child.stdin.take() {
            // A program that ends before it has read everything says why.
            let _ = input.write_all(self.snippet.as_bytes()).await;
        }
        let output = timeout(TIMEOUT, child.wait_with_output()).await;
        let output = output.map_err(|_| did_not(format!("did not end within {} s", TIMEOUT.as_secs())))?;
        let output = output.map_err(unusable)?;
        if output.status.code() == Some(self.code) {
            return Ok(output.stdout);
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(LINES)..].join("\n");
        let error =
            did_not(format!("ended with {} instead of exit code {}:\n{last}", output.status, self.code));
        match text.contains(runner::bundle::WITHOUT_CRATES) {
            true => Err(error.hint("the program must be the `toolsmith` of the same build; see --binary")),
            false => Err(error),
        }
    }
}

/// The environment: folders that belong to the exercises alone, and no search path.
fn surroundings(folder: &Path) -> [(&'static str, PathBuf); 5] {
    [
        ("HOME", folder.join("home")),
        ("PATH", PathBuf::new()),
        ("TOOLSMITH_CACHE_DIR", folder.join("cache")),
        ("XDG_CONFIG_HOME", folder.join("config")),
        ("XDG_STATE_HOME", folder.join("state")),
    ]
}
