//! `toolsmith explain`: what an error's code, a status or an exit code means, and what to do. Codes of the Rust compiler
//! are passed on to the compiler of the toolchain that compiles snippets.
//!
//! The explanations are the sections of docs/error-codes.md.

use gateway::exit_code;
use gateway::failure::Failure;
use report::Kind;
use runner::Status;
use serde_json::json;
use terminal::{Terminal, bold, stdout_has_colours};

use crate::arguments::{EXIT_CODES, ExplainArguments};

/// The page with the explanations: a section for each code.
const PAGE: &str = include_str!("../../../../docs/error-codes.md");

/// An explanation.
#[derive(Debug, Clone, Copy)]
struct Section {
    code: &'static str,
    /// Its Markdown, without the heading.
    text: &'static str,
}

/// Runs the command and returns the exit code.
pub(crate) async fn explain(arguments: &ExplainArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    match &arguments.code {
        Some(code) => one(code.trim(), arguments.json, &terminal)?,
        None => all(arguments.json, &terminal),
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

/// Whether the explanation of a kind says more than the errors of this kind do themselves. Errors about trust and
/// permission say what to do, or follow the user's own answer.
pub(crate) fn helps_with(kind: Kind) -> bool {
    use Kind::{Cancelled, CommandLine, Denied, Output, System, Terminal, Trust};
    !matches!(kind, CommandLine | Trust | Denied | Cancelled | Output | Terminal | System)
}

/// The codes with an explanation of their own.
pub(crate) fn codes() -> impl Iterator<Item = &'static str> {
    sections().map(|section| section.code)
}

fn sections() -> impl Iterator<Item = Section> {
    PAGE.split("\n## ").skip(1).filter_map(|section| {
        let (heading, text) = section.split_once('\n')?;
        Some(Section { code: heading.trim_matches('`'), text: text.trim() })
    })
}

impl Section {
    /// The first paragraph on one line.
    fn summary(self) -> String {
        plain(self.text.split("\n\n").next().unwrap_or_default()).replace('\n', " ")
    }
}

/// Prints the explanation of a code.
fn one(code: &str, as_json: bool, terminal: &Terminal) -> Result<(), Failure> {
    let wanted = code.to_ascii_lowercase();
    let (title, text) = if let Some(section) = sections().find(|section| is_same(section.code, &wanted)) {
        (section.code.to_owned(), plain(section.text))
    } else if let Some(text) = wanted.parse().ok().and_then(of_exit_code) {
        (format!("exit code {wanted}"), text)
    } else if is_of_rustc(&wanted) {
        let code = code.to_ascii_uppercase();
        let text = runner::rustc_explanation(&code)?.ok_or_else(|| {
            Failure::command_line(format!("the Rust compiler has no error {code}")).hint(CODES)
        })?;
        (code, text.trim().to_owned())
    } else {
        return Err(unknown(code));
    };
    if as_json {
        terminal.print_json(&json!({ "code": title, "text": text }).to_string());
    } else if stdout_has_colours() {
        let text = printable::lines(&text);
        let heading = |line: &str| match line {
            "Causes" | "What to do" | "Example" => bold(line),
            _ => line.to_owned(),
        };
        let lines: Vec<String> = text.lines().map(heading).collect();
        terminal.print_painted(&format!("{}\n\n{}", bold(&title), lines.join("\n")));
    } else {
        terminal.print(&format!("{title}\n\n{text}"));
    }
    Ok(())
}

/// Prints all codes, each with its first paragraph.
fn all(as_json: bool, terminal: &Terminal) {
    if as_json {
        let codes: Vec<_> =
            sections().map(|section| json!({ "code": section.code, "summary": section.summary() })).collect();
        terminal.print_json(&json!(codes).to_string());
        return;
    }
    let width = sections().map(|section| section.code.len()).max().unwrap_or_default();
    for section in sections() {
        let summary = section.summary();
        let first = summary.split_inclusive(". ").next().unwrap_or_default().trim_end();
        terminal.print(&format!("{:<width$}  {first}", section.code));
    }
    terminal.print(
        "\nAlso: the exit codes of `run` (0 to 7, 130) and the codes of the Rust compiler (such as E0308).",
    );
}

/// Statuses are in snake_case and kinds in kebab-case; users need not know which.
fn is_same(code: &str, wanted: &str) -> bool {
    code.replace('_', "-") == wanted.replace('_', "-")
}

fn is_of_rustc(wanted: &str) -> bool {
    wanted
        .strip_prefix('e')
        .is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|c| c.is_ascii_digit()))
}

/// Explains an exit code, and the statuses and kinds of errors that end with it.
fn of_exit_code(code: u8) -> Option<String> {
    let line = EXIT_CODES.lines().find_map(|line| {
        let (number, meaning) = line.trim().split_once(' ')?;
        (number.parse() == Ok(code)).then(|| meaning.trim())
    })?;
    let statuses = Status::ALL.iter().filter(|status| exit_code::of(**status) == code);
    let statuses: Vec<String> = statuses.map(Status::to_string).collect();
    let kinds = Kind::ALL.iter().filter(|kind| Failure::new(**kind, "").code == code);
    let kinds: Vec<String> = kinds.map(|kind| kind.code().to_owned()).collect();
    let mut text = format!("`toolsmith run` ends with {code}: {line}.");
    for (what, codes) in [("Statuses of an outcome", statuses), ("Kinds of errors", kinds)] {
        if !codes.is_empty() {
            text.push_str(&format!("\n{what}: {}", codes.join(", ")));
        }
    }
    text.push_str("\n\nThe exit codes of the other commands: docs/command-line.md");
    Some(text)
}

/// Advice for an unknown code.
const CODES: &str = "list all codes: toolsmith explain";

fn unknown(code: &str) -> Failure {
    let failure = Failure::command_line(format!("there is no code {code:?}"));
    let near =
        codes().map(|known| (strsim::jaro_winkler(code, known), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    // Below this, two words have little in common.
    let failure = match near.filter(|(likeness, _)| *likeness > 0.75) {
        Some((_, near)) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    failure.hint(CODES)
}

/// Markdown as plain text: no marks around words, a link as its text and page, code indented.
fn plain(markdown: &str) -> String {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            lines.push(format!("    {line}").trim_end().to_owned());
        } else {
            lines.push(without_links(&line.replace("**", "")));
        }
    }
    lines.join("\n")
}

/// A line whose links `[text](page.md#part)` are `text (docs/page.md)`.
fn without_links(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once('[')
        && let Some((text, after)) = link.split_once("](")
        && let Some((target, after)) = after.split_once(')')
    {
        plain.push_str(before);
        let page = target.split('#').next().unwrap_or_default();
        match page {
            "" => plain.push_str(text),
            page if page == text => plain.push_str(&format!("docs/{page}")),
            page => plain.push_str(&format!("{text} (docs/{page})")),
        }
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All kinds and statuses, except `ok`.
    fn all_codes() -> Vec<String> {
        let kinds = Kind::ALL.iter().map(|kind| kind.code().to_owned());
        kinds.chain(Status::ALL.iter().skip(1).map(Status::to_string)).collect()
    }

    #[test]
    fn every_kind_and_every_status_has_an_explanation_with_all_parts() {
        for code in all_codes() {
            let section = sections().find(|section| section.code == code);
            let text = section.unwrap_or_else(|| panic!("docs/error-codes.md has no section `{code}`")).text;
            for part in ["\n**Causes**\n", "\n**What to do**\n", "\n**Example**\n"] {
                assert!(text.contains(part), "{code}: {part:?}");
            }
        }
        let known = all_codes();
        let stray: Vec<_> = sections()
            .map(|section| section.code)
            .filter(|code| !known.iter().any(|one| one == code))
            .collect();
        assert!(stray.is_empty(), "{stray:?}");
    }

    #[test]
    fn links_and_marks_are_plain() {
        let text = "See [Trust](configuration.md#trust), [above](#denied).\n\n**Causes**\n\n```text\n[a](b) **c**\n```";
        let expected = "See Trust (docs/configuration.md), above.\n\nCauses\n\n    [a](b) **c**";
        assert_eq!(plain(text), expected);
    }

    #[test]
    fn exit_codes_name_their_statuses_and_kinds() {
        let text = of_exit_code(6).unwrap();
        assert!(
            text.contains("denied, sandbox_violation") && text.contains("Kinds of errors: denied"),
            "{text}"
        );
        assert!(of_exit_code(130).unwrap().contains("cancelled"));
        assert_eq!(of_exit_code(99), None);
    }

    #[test]
    fn codes_are_found_in_either_case() {
        assert!(is_same("compile_error", "compile-error") && is_same("command-line", "command_line"));
        assert!(is_of_rustc("e0308") && !is_of_rustc("e308") && !is_of_rustc("e03o8"));
        assert!(unknown("truts").report.hints[0].contains("trust"));
        assert_eq!(unknown("xyzzy").report.hints.len(), 1);
    }
}
