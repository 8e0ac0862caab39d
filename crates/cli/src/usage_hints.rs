//! Adds advice to errors in the command line that are typical slips.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The error with advice, if it is a slip that many make.
pub(crate) fn advised(mut error: Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(&error, ContextKind::InvalidSubcommand).and_then(|word| of_command(&word)).inspect(|_| {
                error.remove(ContextKind::SuggestedSubcommand);
            })
        }
        ErrorKind::UnknownArgument => {
            text(&error, ContextKind::InvalidArg).and_then(|word| of_argument(&word))
        }
        _ => None,
    };
    if let Some(advice) = advice {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(advice)]));
    }
    error
}

/// Words that users of other programs try as a command, or that are a command one level deeper.
const OTHER_WORDS: [(&str, &str); 24] = [
    ("add", "mcp add"),
    ("call", "mcp call"),
    ("clean", "cache clean"),
    ("enable", "mcp enable"),
    ("disable", "mcp disable"),
    ("exec", "run"),
    ("export", "codegen --out FOLDER"),
    ("import", "mcp import"),
    ("init", "mcp add"),
    ("install", "setup"),
    ("list", "mcp list"),
    ("lock", "mcp lock"),
    ("login", "mcp login"),
    ("logout", "mcp logout"),
    ("logs", "history list"),
    ("ls", "mcp list"),
    ("programs", "program list"),
    ("remove", "mcp remove"),
    ("save", "program save"),
    ("servers", "mcp list"),
    ("start", "serve"),
    ("status", "mcp status"),
    ("tools", "mcp tools"),
    ("version", "--version"),
];

/// The words of the command line after the program's name.
pub(crate) fn words() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}

/// Advice on a word that is no command.
fn of_command(word: &str) -> Option<String> {
    if is_snippet(word) {
        return Some(format!("run a snippet with: toolsmith run {word}"));
    }
    let is_first = words().find(|other| !other.starts_with('-')).is_some_and(|first| first == word);
    let (_, command) = OTHER_WORDS.iter().find(|(other, _)| is_first && *other == word)?;
    Some(format!("there is: toolsmith {command}"))
}

/// Advice on an argument that `run` or `mcp call` does not have.
fn of_argument(word: &str) -> Option<String> {
    let words: Vec<String> = words().take(2).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let (["mcp", "call"], Some(name)) = (&words[..], word.strip_prefix("--")) {
        let name = name.split('=').next().unwrap_or_default();
        return Some(format!("arguments of the tool are written as: {name}=VALUE"));
    }
    if words.first() != Some(&"run") {
        return None;
    }
    match word {
        "-e" | "-c" | "--eval" | "--code" | "--exec" => {
            Some("pass code on standard input: echo 'CODE' | toolsmith run -".to_owned())
        }
        _ if word.starts_with('-') => None,
        _ if word.contains('=') => Some(format!("pass arguments to the snippet with: --arg {word}")),
        _ => Some("pass arguments to the snippet with: --arg KEY=VALUE".to_owned()),
    }
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Whether a word is the file of a snippet, or standard input.
fn is_snippet(word: &str) -> bool {
    word == "-" || Path::new(word).extension().is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn a_file_instead_of_a_command_is_a_snippet_to_run() {
        for (word, advice) in
            [("one.rs", Some("toolsmith run one.rs")), ("-", Some("toolsmith run -")), ("rum", None)]
        {
            let error = Arguments::try_parse_from(["toolsmith", word]).unwrap_err();
            let text = advised(error).to_string();
            match advice {
                Some(advice) => assert!(text.contains(advice) && !text.contains("similar"), "{text}"),
                None => assert!(text.contains("'run'"), "{text}"),
            }
        }
    }
}
