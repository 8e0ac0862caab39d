//! The commands that the documentation shows do what it shows.
//!
//! Blocks of Markdown with the info string `console` are run: each line that begins with `$ ` is a command for `bash`,
//! and the lines below it are its whole output, standard error included. `…` stands for any text within a line, and alone
//! on a line for any number of lines. The first line of another block that is a comment with a file name, such as
//! `# tools.yaml` or `// top.rs`, names the file that the block is written to. The files and commands of one page share a
//! folder, which holds the repository's `examples`.
//!
//! With `UPDATE_DOCS=1`, outputs that differ are written into the pages.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::cache::shared;
use end_to_end::harness::{Run, binary};
use tempfile::TempDir;

/// A block between fences.
pub(crate) struct Block {
    /// The line of its fence, from 0.
    line: usize,
    pub(crate) info: String,
    pub(crate) text: String,
}

/// A command and the output that the page shows.
pub(crate) struct Step {
    /// Where the output begins, from 0.
    line: usize,
    pub(crate) command: String,
    pub(crate) output: Vec<String>,
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The README and all of `docs`.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(repository().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages.insert(0, repository().join("README.md"));
    pages
}

pub(crate) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in markdown.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(info)) => {
                open = Some(Block { line: index, info: info.to_owned(), text: String::new() });
            }
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

pub(crate) fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut continues = false;
    for (index, line) in block.text.lines().enumerate() {
        let after = block.line + index + 2;
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => {
                steps.push(Step { line: after, command: command.to_owned(), output: Vec::new() });
            }
            (None, Some(step)) if continues => {
                step.command.push('\n');
                step.command.push_str(line);
                step.line = after;
            }
            (None, Some(step)) => step.output.push(line.to_owned()),
            (None, None) => panic!("a console block begins with a command, not with {line:?}"),
        }
        // As in a shell, a command continues after a backslash.
        continues = line.ends_with('\\') && (continues || line.starts_with("$ "));
    }
    steps
}

/// The file that a block is written to, if its first line names one.
pub(crate) fn file_name(block: &Block) -> Option<&str> {
    let first = block.text.lines().next()?;
    let name = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
    let is_name = name.contains('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    is_name.then_some(name)
}

/// Whether a line is what the page shows, where `…` stands for any text.
fn line_fits(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Whether lines are what the page shows, where a line of `…` alone stands for any number of them.
pub(crate) fn fits(shown: &[&str], lines: &[&str]) -> bool {
    match (shown, lines) {
        ([], lines) => lines.is_empty(),
        (["…", shown @ ..], lines) => (0..=lines.len()).any(|skipped| fits(shown, &lines[skipped..])),
        ([_, ..], []) => false,
        ([first, shown @ ..], [line, lines @ ..]) => line_fits(first, line) && fits(shown, lines),
    }
}

/// The folder in which the commands of a page run.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(repository().join("examples"), folder.path().join("examples")).unwrap();
    folder
}

fn run(folder: &Path, command: &str) -> String {
    let programs = binary().parent().unwrap().to_str().unwrap();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("{{ {command}\n}} 2>&1")]);
    Run::of(bash, shared())
        .working_folder(folder)
        .variable("PATH", &path)
        .variable("HOME", folder.to_str().unwrap())
        .variable("XDG_CONFIG_HOME", folder.join(".config").to_str().unwrap())
        .variable("XDG_STATE_HOME", folder.join(".local/state").to_str().unwrap())
        .done()
        .stdout
}

/// An output without notes about waits, which depend on what else the machine runs.
pub(crate) fn without_waits(output: &str) -> String {
    let is_wait = |line: &&str| line.starts_with("toolsmith: waiting for ");
    output.split_inclusive('\n').filter(|line| !is_wait(line)).collect()
}

/// Runs the commands of a page; returns how many there are, and those whose output differs, with what they print.
fn check(text: &str) -> (usize, Vec<(Step, String)>) {
    let folder = folder();
    let (mut count, mut differences) = (0, Vec::new());
    for block in blocks(text) {
        if block.info != "console" {
            if let Some(name) = file_name(&block) {
                fs::write(folder.path().join(name), &block.text).unwrap();
            }
            continue;
        }
        for step in steps(&block) {
            count += 1;
            let output = without_waits(&run(folder.path(), &step.command));
            let shown: Vec<&str> = step.output.iter().map(String::as_str).collect();
            if !fits(&shown, &output.lines().collect::<Vec<_>>()) {
                differences.push((step, output));
            }
        }
    }
    (count, differences)
}

/// Writes what the commands print into the page.
fn update(page: &Path, text: &str, differences: &[(Step, String)]) {
    let mut lines: Vec<&str> = text.lines().collect();
    for (step, output) in differences.iter().rev() {
        lines.splice(step.line..step.line + step.output.len(), output.lines());
    }
    fs::write(page, lines.join("\n") + "\n").unwrap();
}

#[test]
fn commands_in_the_documentation_print_what_it_shows() {
    let (mut count, mut report) = (0, String::new());
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let (run, differences) = check(&text);
        count += run;
        if std::env::var_os("UPDATE_DOCS").is_some() {
            update(&page, &text, &differences);
            continue;
        }
        for (Step { line, command, output }, printed) in &differences {
            let page = page.strip_prefix(repository()).unwrap().display();
            let shown = output.join("\n");
            let _ =
                writeln!(report, "{page}:{line}: $ {command}\n-- shown:\n{shown}\n-- printed:\n{printed}");
        }
    }
    assert!(report.is_empty(), "{report}");
    assert!(count >= 40, "only {count} commands are run");
}

#[test]
fn an_ellipsis_stands_for_any_text_and_any_lines() {
    let fitting = [("a … c", "a b c"), ("…", "a\nb"), ("a\n…\nd", "a\nb\nc\nd"), ("a\n…", "a"), ("", "")];
    for (shown, text) in fitting {
        assert!(fits(&shown.lines().collect::<Vec<_>>(), &text.lines().collect::<Vec<_>>()), "{shown}");
    }
    for (shown, text) in [("a … c", "a b"), ("a", "a\nb"), ("a\n…\nd", "a\nb"), ("a", ""), ("a…", "b")]
    {
        assert!(!fits(&shown.lines().collect::<Vec<_>>(), &text.lines().collect::<Vec<_>>()), "{shown}");
    }
}
