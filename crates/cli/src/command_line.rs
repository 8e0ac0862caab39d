//! Reads the command line of this process, applies the options of all commands, and reports errors as text or as JSON.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use report::{Kind, Report};
use serde_json::json;
use terminal::{Colours, Verbosity};

use crate::arguments::{Arguments, ColorArgument, Command};
use crate::commands::explain;
use crate::usage_hints;

/// Reads the command, and whether it prints JSON.
///
/// # Errors
/// The exit code, after help, the version or an error was printed.
pub(crate) fn read() -> Result<(Command, bool), ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    // An error in the command line has the chosen colours too.
    terminal::use_colours(colours_in(&words));
    let matches = Arguments::command().try_get_matches_from(&words);
    let read = matches.and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, wants_json(&matches))));
    match read {
        Ok((arguments, as_json)) => {
            terminal::use_colours(colours(arguments.color));
            terminal::set_verbosity(match (arguments.quiet, arguments.verbose) {
                (true, _) => Verbosity::Quiet,
                (false, true) => Verbosity::Verbose,
                (false, false) => Verbosity::Normal,
            });
            Ok((arguments.command, as_json))
        }
        Err(error) => {
            let error = usage_hints::advised(error);
            if error.use_stderr() && options(&words).any(|word| word == "--json") {
                print_failure(&of_usage(&error.render().to_string()));
            }
            // If that fails, nothing is left to report on.
            let _ = error.print();
            Err(u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from))
        }
    }
}

/// Reports a failure: on standard error, and with `as_json` also as an object on standard output.
pub(crate) fn report(report: &Report, as_json: bool) {
    if as_json {
        print_failure(report);
    }
    let mut text = format!("toolsmith: {}\n", report.for_terminal());
    if std::io::stderr().is_terminal() && explain::helps_with(report.kind) {
        text.push_str(&format!("more: toolsmith explain {}\n", report.kind.code()));
    }
    terminal::say_error(&text);
}

fn print_failure(report: &Report) {
    let failed = json!({ "success": false, "error": report.for_model(), "report": report });
    // Standard error has the failure as well.
    let _ = terminal::print_json(&failed.to_string());
}

/// An error of clap, from its text: the message, tips, and the usage.
fn of_usage(text: &str) -> Report {
    let mut parts = text.split("\n\n").map(str::trim);
    let message = parts.next().unwrap_or_default();
    let mut report = Report::new(Kind::CommandLine, message.strip_prefix("error: ").unwrap_or(message));
    for part in parts.filter(|part| !part.is_empty()) {
        report = report.hint(part.strip_prefix("tip: ").unwrap_or(part));
    }
    report
}

/// Whether a command has `--json`, or is followed by a program whose words have it.
fn wants_json(matches: &ArgMatches) -> bool {
    let own = matches.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(false);
    // clap keeps the words after an external subcommand, here a program's name, under this id.
    let words = matches.try_get_many::<String>("").ok().flatten();
    let is_among_words = words.is_some_and(|mut words| words.any(|word| word == "--json"));
    own || is_among_words || matches.subcommand().is_some_and(|(_, matches)| wants_json(matches))
}

fn colours(argument: ColorArgument) -> Colours {
    match argument {
        ColorArgument::Auto => Colours::Auto,
        ColorArgument::Always => Colours::Always,
        ColorArgument::Never => Colours::Never,
    }
}

/// The words before `--`.
fn options(words: &[OsString]) -> impl Iterator<Item = &OsStr> {
    words.iter().map(OsString::as_os_str).take_while(|word| *word != "--")
}

/// Reads `--color` before the command line is parsed.
fn colours_in(words: &[OsString]) -> Colours {
    let mut words = options(words);
    while let Some(word) = words.next() {
        let value = match word.to_str() {
            Some("--color") => words.next().and_then(OsStr::to_str),
            Some(word) => word.strip_prefix("--color="),
            None => None,
        };
        match value {
            Some("always") => return Colours::Always,
            Some("never") => return Colours::Never,
            _ => {}
        }
    }
    Colours::Auto
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_command_line_has_message_and_hints() {
        let error =
            Arguments::command().try_get_matches_from(["toolsmith", "run", "-", "--jsn"]).unwrap_err();
        let report = of_usage(&error.render().to_string());
        assert_eq!(report.message(), "unexpected argument '--jsn' found");
        assert_eq!(report.hints[0], "a similar argument exists: '--json'");
        assert!(report.hints.iter().any(|hint| hint.starts_with("Usage: ")), "{:?}", report.hints);
    }

    #[test]
    fn the_innermost_command_decides_on_json() {
        let wants = |words: &[&str]| wants_json(&Arguments::command().try_get_matches_from(words).unwrap());
        assert!(wants(&["toolsmith", "mcp", "list", "--json"]));
        assert!(wants(&["toolsmith", "run", "-", "--json"]));
        assert!(!wants(&["toolsmith", "mcp", "list"]));
        assert!(!wants(&["toolsmith", "serve"]));
        assert!(wants(&["toolsmith", "program", "run", "--json", "a"]));
        assert!(wants(&["toolsmith", "program", "run", "a", "--b", "1", "--json"]));
        assert!(!wants(&["toolsmith", "program", "run", "a", "--b", "1"]));
    }

    #[test]
    fn colours_are_chosen_before_the_rest_is_parsed() {
        let chosen = |words: &[&str]| colours_in(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(chosen(&["toolsmith", "--color=always", "rum"]), Colours::Always);
        assert_eq!(chosen(&["toolsmith", "rum", "--color", "never"]), Colours::Never);
        assert_eq!(chosen(&["toolsmith", "mcp", "add", "a", "--", "ls", "--color=always"]), Colours::Auto);
    }
}
